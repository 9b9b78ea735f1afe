// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_answers.hpp"

#include <gtest/gtest.h>

#include "sinks/http_url.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using how = delivery::how;

TEST(http_status, says_what_became_of_the_message) {
  for (const unsigned done : {200U, 201U, 202U, 204U, 299U})
    EXPECT_EQ(meaning_of_status(done), how::done) << done;
  for (const unsigned again : {408U, 425U, 429U, 500U, 502U, 503U, 504U, 599U})
    EXPECT_EQ(meaning_of_status(again), how::again) << again;
  for (const unsigned no :
       {300U, 301U, 304U, 308U, 400U, 401U, 403U, 404U, 409U, 410U, 413U, 422U, 499U, 600U})
    EXPECT_EQ(meaning_of_status(no), how::refused) << no;
}

TEST(retry_after, is_seconds_or_a_date) {
  using std::chrono::sys_days;
  const auto noon = sys_days{std::chrono::year{1994} / 11 / 6} + std::chrono::hours{8} +
                    std::chrono::minutes{49} + seconds{7};
  EXPECT_EQ(read_retry_after("0", noon), milliseconds{0});
  EXPECT_EQ(read_retry_after("120", noon), seconds{120});
  EXPECT_EQ(read_retry_after("99999999999999999999999", noon), seconds{100'000}) << "bounded";
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", noon), seconds{30});
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:07 GMT", noon), std::nullopt) << "over";
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 9994 08:49:37 GMT", noon), seconds{100'000});
  for (const char* other :
       {"", "-1", "1.5", "soon", "Sun, 06 Nov 1995 08:49:37 UTC", "Sun, 06 Nix 1995 08:49:37 GMT",
        "Sun, 31 Feb 1995 08:49:37 GMT", "Sun, 06 Nov 1995 28:49:37 GMT", "Sun, 0x Nov 1995 08:49:37 GMT",
        "Sunday, 06-Nov-95 08:49:37 GMT"}) {
    EXPECT_EQ(read_retry_after(other, noon), std::nullopt) << other;
  }
}

TEST(header_text, is_percent_encoded_as_cloudevents_say) {
  EXPECT_EQ(to_header_text("p-1/a!~"), "p-1/a!~");
  EXPECT_EQ(to_header_text("Euro € 😀"), "Euro%20%E2%82%AC%20%F0%9F%98%80")
      << "the specification's own example";
  EXPECT_EQ(to_header_text("\"50%\"\r\n"), "%2250%25%22%0D%0A") << "no header begins within another";
}

TEST(excerpt, is_short_and_printable) {
  EXPECT_EQ(to_excerpt("bad\nrequest\x80 \x1b[0m"), "bad.request. .[0m");
  EXPECT_EQ(to_excerpt(std::string(500, 'x')).size(), 200U);
}

TEST(http_url_text, is_read) {
  const auto url = parse_http_url("https://pay.example/receipts?tenant=5");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "pay.example");
  EXPECT_EQ(url->port, "443");
  EXPECT_EQ(url->target, "/receipts?tenant=5");
  EXPECT_EQ(url->authority(), "pay.example");
  EXPECT_EQ(url->shown(), "https://pay.example/receipts") << "a query may hold a secret";
  EXPECT_EQ(parse_http_url("http://[::1]:8080")->authority(), "[::1]:8080");
  EXPECT_EQ(parse_http_url("http://[::1]:8080")->host, "::1");
  EXPECT_EQ(parse_http_url("http://h")->target, "/");
  EXPECT_EQ(parse_http_url("http://h?a")->target, "/?a");
  EXPECT_EQ(parse_http_url("http://h:80/x")->authority(), "h");
  EXPECT_EQ(parse_http_url("http://h")->shown(), "http://h/");
  EXPECT_EQ(parse_http_url("https://h/services/T024/b7/xQa/?a=b")->shown(),
            "https://h/services/***/***/***/");
  EXPECT_EQ(parse_http_url("https://h/api/v2/new-receipts")->shown(), "https://h/api/v2/new-receipts");
  EXPECT_EQ(parse_http_url("https://h/v20251/abcdefghijklmnopqrstuvwxyz")->shown(), "https://h/***/***");
  for (const char* other :
       {"", "pay.example", "ftp://h/", "http://", "http:///x", "http://u:p@h/", "http://h:0/",
        "http://h:65536/", "http://h:/", "http://h:8x/", "http://[::1/", "http://[::1]x/", "http://h/a b",
        "http://h/\r\nX: y", "http://h/#f", "http://hö/"}) {
    EXPECT_FALSE(parse_http_url(other)) << other;
  }
}

}  // namespace
}  // namespace ratchet::testing
