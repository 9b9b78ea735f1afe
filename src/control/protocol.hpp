// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/socket.hpp"
#include "ratchet/error.hpp"
#include "text/byte_sink.hpp"

/// What is spoken on the control socket: one request and its response, then the connection ends. Integers are
/// big-endian.
///
///     request  = length:u32 version:u8 count:u32 *( length:u32 bytes )    first length: of all that follows
///     response = status:u8 *chunk end
///     chunk    = length:u32 bytes                                         1 .. k_max_chunk_bytes
///     end      = 0:u32 | 0xFFFFFFFF:u32 response
///
/// Status 0: the chunks are the answer. Another status is an errc, and the chunks are the message, a NUL and
/// the hint. What ends without an end was cut, and is never taken for a short answer. The end 0xFFFFFFFF says
/// that the answer failed half way; a response with the reason follows.
///
/// The words of any request may begin with k_of_group and the consumer group of whose config it is asked: an
/// instance of another group refuses it.
namespace ratchet {

constexpr std::uint8_t k_control_version = 1;
constexpr const char* k_of_group = "of-group";
/// Answered by a line that says whose standby the instance is, and how old its state may be; by nothing where
/// it is none.
constexpr const char* k_standby_note = "standby-note";
constexpr std::size_t k_max_request_bytes = std::size_t{64} << 10;
constexpr std::size_t k_max_chunk_bytes = std::size_t{64} << 10;

[[nodiscard]] std::string encode_request(std::span<const std::string> words);
/// `body` is what follows the first length. None where it is not a request of this version.
[[nodiscard]] std::optional<std::vector<std::string>> decode_request(std::string_view body);

/// The server's end of a response. After a call that did not end with `done` the connection is of no use.
class response_writer {
 public:
  /// `stall`: how long one chunk may take.
  response_writer(int fd, std::chrono::milliseconds stall, int stop) : fd_{fd}, stall_{stall}, stop_{stop} {}

  /// Sends a part of the answer, in chunks.
  [[nodiscard]] transfer send(std::string_view bytes);
  /// Ends the answer.
  [[nodiscard]] transfer finish();
  /// Ends the answer, or what was sent of it, with an error. A code that is not an errc is sent as
  /// errc::internal or errc::io.
  [[nodiscard]] transfer fail(const problem&);

 private:
  [[nodiscard]] transfer begin(std::uint8_t status);
  [[nodiscard]] transfer put(std::string_view bytes);

  int fd_;
  std::chrono::milliseconds stall_;
  int stop_;
  bool begun_{false};
};

struct response_timeouts {
  std::chrono::milliseconds first_byte{20'000};
  std::chrono::milliseconds stall{60'000};  ///< between two pieces
};

/// The client's end: passes the answer on to `sink` as it comes. Ends early, as success, once the sink wants
/// no more.
/// Errors: those that the server sent; source_unavailable where it is too slow, or the connection was cut.
[[nodiscard]] reported<void> read_response(int fd, const response_timeouts&, const byte_sink&);

}  // namespace ratchet
