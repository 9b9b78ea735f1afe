// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "control/protocol.hpp"
#include "control/requests.hpp"
#include "control/sink_request.hpp"
#include "fuzz/fuzz_input.hpp"

/// What comes over the control socket. The first byte says which end reads: a request is refused, or is
/// encoded again as the same bytes, and what it asks for as words that ask for the same; a response is taken
/// for what a plain reading of the protocol makes of it, and never for a short answer where it was cut.

using namespace ratchet;

namespace {

void check_request(std::string_view body) {
  const fuzz::exact_copy copy{body};
  const auto words = decode_request(copy.view());
  if (!words) return;
  RATCHET_FUZZ_CHECK(encode_request(*words).substr(4) == body);
  if (const auto of_sinks = parse_sink_words(*words))
    RATCHET_FUZZ_CHECK(parse_sink_words(to_words(*of_sinks)) == of_sinks);
  const auto request = parse_words(*words);
  if (!request) return;
  const auto again = parse_words(to_words(request.value()));
  RATCHET_FUZZ_CHECK(again && again.value() == request.value());
}

/// 1 status byte, then chunks of u32 length and bytes; 0 ends them, 0xFFFFFFFF says that an error follows.
struct plain_response {
  explicit plain_response(std::string_view bytes)
      : in{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()} {
    if (in.left() == 0) return;
    good = in.u8() == 0;
    whole = good ? read_chunks(answer) : read_error();
  }
  fuzz::fuzz_input in;
  bool good{false};   ///< the status says so
  bool whole{false};  ///< it ended with an end
  bool failed_half_way{false};
  std::string answer;

 private:
  bool read_chunks(std::string& to) {
    while (in.left() >= 4) {
      std::uint32_t length = in.u32();
      if (length == 0) return true;
      if (length == 0xFFFFFFFF) {
        failed_half_way = true;
        return false;
      }
      if (length > k_max_chunk_bytes || length > in.left()) return false;
      while (length-- > 0) to += static_cast<char>(in.u8());
    }
    return false;
  }
  bool read_error() {
    std::string ignored;
    return read_chunks(ignored);
  }
};

void check_response(std::string_view bytes) {
  int ends[2];
  RATCHET_FUZZ_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  RATCHET_FUZZ_CHECK(::send(ends[0], bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  ::close(ends[0]);
  std::string answer;
  const auto got = read_response(ends[1], {}, [&answer](std::string_view piece) {
    answer += piece;
    return true;
  });
  ::close(ends[1]);
  const plain_response want{bytes};
  RATCHET_FUZZ_CHECK(got.has_value() == (want.good && want.whole));
  if (got) RATCHET_FUZZ_CHECK(answer == want.answer);
  if (!got) RATCHET_FUZZ_CHECK(exit_code(got.error().code) != 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t k_fits_a_socket_buffer = 60'000;
  fuzz::fuzz_input in{data, std::min(size, k_fits_a_socket_buffer)};
  if (in.flag()) {
    check_request(in.rest());
  } else {
    check_response(in.rest());
  }
  return 0;
}
