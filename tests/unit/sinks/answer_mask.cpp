// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/answer_mask.hpp"

#include <gtest/gtest.h>

namespace ratchet::testing {
namespace {

answer_mask mask(std::map<std::string, std::string> headers, const char* url = "http://h/in") {
  return {headers, *parse_http_url(url)};
}

TEST(what_a_server_says, is_shown_as_it_is_where_it_quotes_nothing) {
  const answer_mask of = mask({{"Authorization", "Bearer s3cr3t"}}, "http://h/in/v1?a=b");
  EXPECT_EQ(of.excerpt("no such account: /in/v1?a=b, Bearer"), "no such account: /in/v1?a=b, ***")
      << "what may be the beginning of a secret is hidden";
  EXPECT_EQ(of.excerpt("Bearer of bad news\n\x80"), "Bearer of bad news..");
  EXPECT_EQ(mask({{"X", "abc"}, {"Y", ""}}).excerpt("abc"), "abc") << "too short to be one";
  EXPECT_EQ(of.excerpt(std::string(500, 'x')), std::string(200, 'x'));
}

TEST(what_a_server_says, is_masked_where_it_quotes_a_header) {
  const answer_mask bearer = mask({{"Authorization", "Bearer s3cr3t"}});
  EXPECT_EQ(bearer.excerpt("bad Authorization: Bearer s3cr3t!"), "bad Authorization: ***!");
  EXPECT_EQ(bearer.excerpt("bad token s3cr3t, s3cr3ts3cr3t"), "bad token ***, ******");
  const answer_mask basic = mask({{"Authorization", "basic Ym9iOmh1bnRlcjI="}});
  EXPECT_EQ(basic.excerpt("Ym9iOmh1bnRlcjI= bob:hunter2 hunter2 bob Ym9iOmh1bnRlcjI"), "*** *** *** bob ***");
  const answer_mask cookie =
      mask({{"Cookie", "sid=0123456789; theme=dark"}, {"X-Signature", "a,b=\"qwertyuiop\""}});
  EXPECT_EQ(cookie.excerpt("[0123456789] dark qwertyuiop"), "[***] dark ***");
}

TEST(what_a_server_says, is_masked_where_it_quotes_the_url) {
  const answer_mask of = mask({}, "http://h/services/T024/B7/x9Qa%2Bz?key=a%26b1&flag&plainword");
  EXPECT_EQ(of.excerpt("no /services/T024/B7/x9Qa%2Bz here"), "no *** here");
  EXPECT_EQ(of.excerpt("x9Qa+z x9Qa%2Bz services"), "*** *** services");
  EXPECT_EQ(of.excerpt("key=a%26b1&flag&plainword; a&b1 a%26b1 plainword"), "***; *** *** ***");
}

TEST(what_a_server_says, is_masked_however_it_spells_a_secret) {
  const answer_mask of =
      mask({{"X-Api-Key", "hunter2/\"Zq9+Value=="}}, "http://h/in?token=Qs%2Fecret99%3D%3D");
  EXPECT_EQ(of.excerpt("[hunter2%2F%22Zq9%2BValue%3D%3D]"), "[***]");
  EXPECT_EQ(of.excerpt("[hunter2%2f%22Zq9%2bValue%3d%3d]"), "[***]");
  EXPECT_EQ(of.excerpt(R"([hunter2/\"Zq9+Value==])"), "[***]");
  EXPECT_EQ(of.excerpt(R"([hunter2\/\u0022Zq9\u002BValue==])"), "[***]");
  EXPECT_EQ(of.excerpt("[hunter2/&quot;Zq9&#43;Value&#x3D;=]"), "[***]");
  EXPECT_EQ(of.excerpt("[HUNTER2/\"ZQ9+VALUE==]"), "[***]");
  EXPECT_EQ(of.excerpt("[aHVudGVyMi8iWnE5K1ZhbHVlPT0=]").find("aHVudGVy"), std::string::npos);
  EXPECT_EQ(of.excerpt("[Qs/ecret99== Qs%2fecret99%3d%3d]"), "[*** ***]");
}

TEST(what_a_server_says, shows_no_secret_in_part) {
  const answer_mask of = mask({{"X-Api", "0123456789"}});
  EXPECT_GE(of.needed(), 280U);
  for (std::size_t before = 190; before <= 200; ++before) {
    const std::string text = std::string(before, 'x') + "0123456789 and more";
    const std::string shown = of.excerpt(std::string_view{text}.substr(0, of.needed()));
    EXPECT_EQ(shown.find('0'), std::string::npos) << before;
  }
  EXPECT_EQ(of.excerpt("cut off: 01234"), "cut off: ***");
  EXPECT_EQ(of.excerpt("0123456789" + std::string(195, 'x') + "0123456789"), "***" + std::string(190, 'x'))
      << "what is hidden makes no room for what lies behind the 200 bytes";
}

}  // namespace
}  // namespace ratchet::testing
