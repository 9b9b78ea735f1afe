// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "process/unique_fd.hpp"
#include "ratchet/error.hpp"

/// The unix socket in a state directory, and bounded reads and writes on it.
namespace ratchet {

constexpr const char* k_control_socket_name = "control.sock";

/// Listens on the socket of `state_dir` with mode 0600. A socket that nobody listens on any more is replaced;
/// the caller holds the directory's lock, so that no two do this at once. Paths longer than a socket address
/// holds are reached through /proc/self/fd.
/// Errors: state_busy, where somebody listens; io.
[[nodiscard]] reported<unique_fd> listen_in(const std::filesystem::path& state_dir, int backlog);

/// Removes the socket of `state_dir`; it need not be there.
void remove_socket_in(const std::filesystem::path& state_dir) noexcept;

/// Connects to the socket of `state_dir`. None where nobody listens: no socket, or one left by a process that
/// died. Errors: source_unavailable, where somebody listens and does not accept in time; io.
[[nodiscard]] reported<std::optional<unique_fd>> connect_in(const std::filesystem::path& state_dir,
                                                            std::chrono::milliseconds timeout);

/// How a bounded read or write ended.
enum class transfer : std::uint8_t {
  done,
  closed,     ///< the other side has gone
  timed_out,  ///< not done by the deadline
  stopped,    ///< the stop descriptor became readable
};

using steady_deadline = std::chrono::steady_clock::time_point;

/// Reads exactly `size` bytes. `stop` may be -1. Works on blocking and non-blocking sockets alike.
[[nodiscard]] transfer read_exactly(int fd, void* into, std::size_t size, steady_deadline, int stop);
[[nodiscard]] transfer write_exactly(int fd, const void* from, std::size_t size, steady_deadline, int stop);

/// Whether the other side has gone altogether: one that only writes no more has not.
[[nodiscard]] bool has_hung_up(int fd);
/// Sleeps until `deadline` or until `stop` is readable; true where it is.
[[nodiscard]] bool stopped_before(steady_deadline, int stop);

}  // namespace ratchet
