// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/protocol.hpp"

#include <algorithm>

namespace ratchet {

namespace {

constexpr std::uint32_t k_end = 0;
constexpr std::uint32_t k_failed_half_way = 0xFFFFFFFF;
constexpr std::uint8_t k_status_ok = 0;
constexpr std::size_t k_max_error_bytes = std::size_t{64} << 10;

void append_u32(std::string& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFF);
}

std::uint32_t read_u32(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

/// The errc that stands for `code` on the wire.
std::uint8_t status_of(const std::error_code& code) {
  if (code.category() == ratchet_category() && code.value() > 0 && code.value() < 256) {
    return static_cast<std::uint8_t>(code.value());
  }
  return static_cast<std::uint8_t>(errc::io);
}

problem cut_off(transfer how) {
  if (how == transfer::timed_out) {
    return {errc::source_unavailable, "the running instance does not answer in time", "try again", {}};
  }
  return {errc::source_unavailable,
          "the running instance ended the connection in the middle of its answer",
          "it may have been stopped, or have given up on a reader that was too slow; try again",
          {}};
}

}  // namespace

std::string encode_request(std::span<const std::string> words) {
  std::string body;
  body += static_cast<char>(k_control_version);
  append_u32(body, words.size());
  for (const std::string& word : words) {
    append_u32(body, word.size());
    body += word;
  }
  std::string request;
  append_u32(request, body.size());
  return request + body;
}

std::optional<std::vector<std::string>> decode_request(std::string_view body) {
  constexpr std::size_t k_head = 5;
  if (body.size() < k_head || static_cast<std::uint8_t>(body[0]) != k_control_version) return std::nullopt;
  const std::uint32_t count = read_u32(body.data() + 1);
  body.remove_prefix(k_head);
  if (count > body.size() / 4) return std::nullopt;
  std::vector<std::string> words;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (body.size() < 4) return std::nullopt;
    const std::uint32_t length = read_u32(body.data());
    body.remove_prefix(4);
    if (body.size() < length) return std::nullopt;
    words.emplace_back(body.substr(0, length));
    body.remove_prefix(length);
  }
  if (!body.empty()) return std::nullopt;
  return words;
}

transfer response_writer::put(std::string_view bytes) {
  return write_exactly(fd_, bytes.data(), bytes.size(), std::chrono::steady_clock::now() + stall_, stop_);
}

transfer response_writer::begin(std::uint8_t status) {
  begun_ = true;
  return put({reinterpret_cast<const char*>(&status), 1});  // NOLINT: a byte is a char
}

transfer response_writer::send(std::string_view bytes) {
  if (!begun_) {
    if (const transfer t = begin(k_status_ok); t != transfer::done) return t;
  }
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, k_max_chunk_bytes);
    std::string chunk;
    chunk.reserve(piece.size() + 4);
    append_u32(chunk, piece.size());
    chunk += piece;
    if (const transfer t = put(chunk); t != transfer::done) return t;
    bytes.remove_prefix(piece.size());
  }
  return transfer::done;
}

transfer response_writer::finish() {
  if (!begun_) {
    if (const transfer t = begin(k_status_ok); t != transfer::done) return t;
  }
  std::string end;
  append_u32(end, k_end);
  return put(end);
}

transfer response_writer::fail(const problem& p) {
  if (begun_) {
    std::string mark;
    append_u32(mark, k_failed_half_way);
    if (const transfer t = put(mark); t != transfer::done) return t;
  }
  if (const transfer t = begin(status_of(p.code)); t != transfer::done) return t;
  std::string text = p.message.empty() ? p.code.message() : p.message;
  text += '\0';
  text += p.hint;
  if (const transfer t = send(std::string_view{text}.substr(0, k_max_error_bytes)); t != transfer::done) {
    return t;
  }
  return finish();
}

namespace {

/// Reads a response piece by piece.
class response_reader {
 public:
  response_reader(int fd, const response_timeouts& timeouts) : fd_{fd}, timeouts_{timeouts} {}

  reported<std::uint8_t> status(std::chrono::milliseconds timeout) {
    char byte = 0;
    RATCHET_TRY(read(&byte, 1, timeout));
    return static_cast<std::uint8_t>(byte);
  }
  /// Passes chunks on. The mark that ended them, or k_end where the sink wants no more.
  reported<std::uint32_t> chunks(const byte_sink& sink) {
    std::string chunk;
    for (;;) {
      char head[4];
      RATCHET_TRY(read(head, sizeof head, timeouts_.stall));
      const std::uint32_t length = read_u32(head);
      if (length == k_end || length == k_failed_half_way) return length;
      if (length > k_max_chunk_bytes) {
        return problem{errc::internal,
                       "the program that listens on the control socket does not use Ratchet's protocol",
                       "",
                       {}};
      }
      chunk.resize(length);
      RATCHET_TRY(read(chunk.data(), length, timeouts_.stall));
      if (!sink(chunk)) return k_end;
    }
  }

 private:
  reported<void> read(char* into, std::size_t size, std::chrono::milliseconds timeout) {
    const transfer t = read_exactly(fd_, into, size, std::chrono::steady_clock::now() + timeout, -1);
    if (t != transfer::done) return cut_off(t);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  int fd_;
  const response_timeouts& timeouts_;
};

/// The errc of a status. What is none of ours must not become one that nobody knows, least of all 0, "no
/// error".
errc errc_of(std::uint8_t status) {
  const bool known = status != k_status_ok && status <= static_cast<std::uint8_t>(errc::no_standby);
  return known ? static_cast<errc>(status) : errc::internal;
}

/// The problem that a response of another status than 0 speaks of.
reported<void> read_failure(response_reader& reader, std::uint8_t status) {
  std::string text;
  RATCHET_TRY(reader.chunks([&](std::string_view piece) {
    text += piece;
    return text.size() <= k_max_error_bytes;
  }));
  const std::size_t nul = text.find('\0');
  problem sent{errc_of(status), text.substr(0, nul), "", {}};
  if (nul != std::string::npos) sent.hint = text.substr(nul + 1);
  return sent;
}

}  // namespace

reported<void> read_response(int fd, const response_timeouts& timeouts, const byte_sink& sink) {
  response_reader reader{fd, timeouts};
  RATCHET_TRY(const std::uint8_t status, reader.status(timeouts.first_byte));
  if (status != k_status_ok) return read_failure(reader, status);
  RATCHET_TRY(const std::uint32_t mark, reader.chunks(sink));
  if (mark == k_end) return BOOST_OUTCOME_V2_NAMESPACE::success();
  RATCHET_TRY(const std::uint8_t reason, reader.status(timeouts.stall));
  return read_failure(reader, reason);
}

}  // namespace ratchet
