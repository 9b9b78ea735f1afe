// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/protocol.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "control/requests.hpp"

/// The bytes between a client and a server.
namespace ratchet {
namespace {

using namespace std::chrono_literals;

TEST(control_protocol, reads_back_the_words_it_wrote) {
  const std::vector<std::string> words{"get", "", std::string("\0\xFF", 2), std::string(3000, 'x')};
  const std::string bytes = encode_request(words);
  EXPECT_EQ(decode_request(std::string_view{bytes}.substr(4)), words);
  for (std::size_t cut = 4; cut < bytes.size(); ++cut) {
    ASSERT_FALSE(decode_request(std::string_view{bytes}.substr(4, cut - 4))) << cut;
  }
  EXPECT_FALSE(decode_request(bytes.substr(4) + "x"));
}

TEST(control_protocol, never_takes_a_cut_answer_for_a_whole_one) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  std::string whole;
  {
    const unique_fd reader{pair[0]};
    const unique_fd writer{pair[1]};
    response_writer response{writer.get(), 5s, -1};
    ASSERT_EQ(response.send("some bytes"), transfer::done);
    ASSERT_EQ(response.finish(), transfer::done);
    whole.resize(200);
    const ssize_t count = ::recv(reader.get(), whole.data(), whole.size(), 0);
    ASSERT_GT(count, 0);
    whole.resize(static_cast<std::size_t>(count));
  }
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    const unique_fd reader{pair[0]};
    {
      const unique_fd writer{pair[1]};
      ASSERT_EQ(::send(writer.get(), whole.data(), cut, 0), static_cast<ssize_t>(cut));
    }
    const auto read = read_response(reader.get(), {}, [](std::string_view) { return true; });
    EXPECT_EQ(read.has_value(), cut == whole.size()) << cut;
  }
}

TEST(control_protocol, takes_a_reason_that_is_no_error_of_ours_for_an_internal_one) {
  using namespace std::string_literals;
  const std::string text = "\0\0\0\x03why\0\0\0\0"s;
  // Answers that fail half way for the reason 0, which would be success, and 200; and one that is 200 from
  // its start.
  for (const std::string& bytes :
       {"\0\xFF\xFF\xFF\xFF\0"s + text, "\0\xFF\xFF\xFF\xFF\xC8"s + text, "\xC8"s + text}) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    const unique_fd reader{pair[0]};
    {
      const unique_fd writer{pair[1]};
      ASSERT_EQ(::send(writer.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    const auto read = read_response(reader.get(), {}, [](std::string_view) { return true; });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, errc::internal);
    EXPECT_EQ(read.error().message, "why");
  }
}

TEST(control_protocol, passes_on_every_reason_of_ours) {
  for (int value = 1; ratchet_category().message(value) != "unknown"; ++value) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    const unique_fd reader{pair[0]};
    const unique_fd writer{pair[1]};
    response_writer response{writer.get(), std::chrono::seconds{5}, -1};
    ASSERT_EQ(response.fail({static_cast<errc>(value), "why", "", {}}), transfer::done);
    const auto read = read_response(reader.get(), {}, [](std::string_view) { return true; });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, static_cast<errc>(value)) << "a new one: errc_of() wants to know it";
  }
}

TEST(control_requests, are_the_same_after_their_way_over_the_socket) {
  std::vector<read_request> requests(6);
  requests[0].kind = read_request::kind_of::get;
  requests[0].stream = "s";
  requests[0].aggregate = "a\nb";
  requests[1] = requests[0];
  requests[1].json = true;
  requests[2].kind = read_request::kind_of::scan;
  requests[2].stream = "s";
  requests[3] = requests[2];
  requests[3].deleted = true;
  requests[3].table.prefix = "a b";
  requests[3].table.limit = 7;
  requests[4].json = true;
  requests[5].rejected = 20;
  requests[5].audit = true;
  for (const read_request& request : requests) {
    const auto parsed = parse_words(to_words(request));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed.value(), request);
  }
  EXPECT_FALSE(parse_words(std::vector<std::string>{"status", "json", "rejected=1x"}));
}

}  // namespace
}  // namespace ratchet
