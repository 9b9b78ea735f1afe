// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/beast/http/write.hpp>
#include <sstream>

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t k_far_too_long = 70'000;  // more than Boost.Beast takes

http_request_form form() {
  return {
      .method = boost::beast::http::verb::post, .url = *parse_http_url("http://a.example/in"), .headers = {}};
}

output_row row_with(std::string name, std::string value) {
  output_row r;
  r.value = "{}";
  r.headers = {{"ce_id", "the-id"}, {std::move(name), std::move(value)}};
  return r;
}

/// Why it is refused; "written" where it is not.
std::string verdict(const http_request_form& f, const output_row& r) {
  std::string why;
  return write_request(f, r, why) ? "written" : why;
}

std::string bytes_of(const http_request& r) {
  std::ostringstream out;
  out << r;
  return out.str();
}

TEST(media_type, has_the_form_of_the_standard) {
  for (const char* good : {"application/json", "text/plain; charset=utf-8", "text/plain;charset=\"utf-8\"",
                           "a/b ; c=\"d;e \\\" f\"", "application/vnd.x+json;v=1; w=2", "text/plain;",
                           "text/plain; ;\tx=y", "x/y;z=\"\"", "x/y;z=\"\xc3\xa9\""}) {
    EXPECT_TRUE(is_media_type(good)) << good;
  }
  for (const char* bad : {"",
                          "json",
                          "/",
                          "a/",
                          "/b",
                          "a/b/c",
                          "a /b",
                          "a/b c",
                          "a/b,c/d",
                          " a/b",
                          "a/b ",
                          "a/b;c",
                          "a/b;c=",
                          "a/b;c =d",
                          "a/b;=d",
                          "a/b;c=\"d",
                          "a/b;c=\"d\\",
                          "a/b;c=\"d\"e",
                          "a/b\r\nX: y",
                          "a/b;c=\"\r\nX: y\"",
                          "a/b;c=\"\\\r\n\"",
                          "a/b;c=\"\x7f\"",
                          "\xc3\xa9/b",
                          "a/b\n"}) {
    EXPECT_FALSE(is_media_type(bad)) << bad;
  }
  EXPECT_FALSE(is_media_type(std::string_view{"a/b\0", 4}));
}

TEST(a_request, is_refused_where_a_header_is_too_long) {
  for (const char* name : {"ce_id", "ce_type", "ce_subject", "ce_source", "ce_anything"}) {
    EXPECT_THAT(verdict(form(), row_with(name, std::string(k_far_too_long, 'x'))),
                HasSubstr(" has 70000 bytes"))
        << name;
  }
  EXPECT_THAT(verdict(form(), row_with("ce_subject", std::string(k_far_too_long / 3, '\x80'))),
              StartsWith("its header ce-subject has 69999 bytes"))
      << "as it is written";
  EXPECT_THAT(verdict(form(), row_with("content-type", "text/" + std::string(k_far_too_long, 'x'))),
              HasSubstr("Content-Type has 70005 bytes"));
}

TEST(a_request, takes_headers_as_long_as_may_be) {
  const std::string most(k_longest_http_field, 'x');
  for (const char* name : {"ce_type", "ce_subject"})
    EXPECT_EQ(verdict(form(), row_with(name, most)), "written") << name;
  EXPECT_EQ(verdict(form(), row_with("ce_id", most.substr(2))), "written") << "quotes count";
  EXPECT_THAT(verdict(form(), row_with("ce_id", most)),
              StartsWith("its header Idempotency-Key has 64002 bytes"));
  EXPECT_EQ(verdict(form(), row_with("content-type", "a/" + most.substr(2))), "written");
  http_request_form of = form();
  of.headers = {{most, most}};
  EXPECT_EQ(verdict(of, output_row{}), "written");
}

TEST(a_request, is_refused_where_its_content_type_is_none) {
  const std::string smuggled =
      "text/plain\r\nContent-Length: 0\r\n\r\nPOST /admin/refund HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(verdict(form(), row_with("content-type", smuggled)),
            "its content type `" +
                std::string{"text/plain..Content-Length: 0....POST /admin/refund HTTP/1.1..Host: x.."} +
                "` is not a media type, as in application/json");
  output_row tombstone = row_with("content-type", smuggled);
  tombstone.value.reset();
  std::string why;
  EXPECT_THAT(bytes_of(*write_request(form(), tombstone, why)), ::testing::Not(HasSubstr("text/plain")));
}

TEST(a_request, is_refused_where_the_configs_headers_are_none) {
  const auto with = [](std::string name, std::string value) {
    http_request_form f = form();
    f.headers = {{std::move(name), std::move(value)}};
    return verdict(f, output_row{});
  };
  EXPECT_EQ(with("X-Tenant", "caf\xc3\xa9 \t1"), "written");
  EXPECT_THAT(with("X-Tenant", "a\r\nX: y"), HasSubstr("has a control character"));
  EXPECT_THAT(with("X Tenant", "a"), HasSubstr("has an invalid name"));
  EXPECT_THAT(with("X:\r\n", "a"), HasSubstr("`X:..` has an invalid name"));
  EXPECT_THAT(with("", "a"), HasSubstr("has an invalid name"));
  EXPECT_THAT(with(std::string(k_far_too_long, 'x'), "a"), HasSubstr("has an invalid name"));
  EXPECT_THAT(with("Authorization", std::string(k_far_too_long, 'x')), HasSubstr("has 70000 bytes"));
}

}  // namespace
}  // namespace ratchet::testing
