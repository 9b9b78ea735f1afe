// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace ratchet {

namespace {

constexpr mode_t k_socket_mode = 0600;

/// A socket address, and what must stay open while it is used.
struct socket_address {
  sockaddr_un address{};
  unique_fd directory;
};

problem io_problem(const std::filesystem::path& path, const char* what, int error) {
  return {errc::io, std::string{what} + " " + path.string() + ": " + std::strerror(error), "", {}};
}

bool fill_address(sockaddr_un& address, const std::string& path) {
  if (path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  return true;
}

/// The address as it stands, or by way of the directory's descriptor where it is too long for sun_path.
reported<socket_address> address_in(const std::filesystem::path& state_dir) {
  socket_address made;
  const auto path = state_dir / k_control_socket_name;
  if (fill_address(made.address, path.string())) return made;
  made.directory.reset(::open(state_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.directory.valid()) return io_problem(state_dir, "cannot open", errno);
  const std::string way =
      "/proc/self/fd/" + std::to_string(made.directory.get()) + "/" + k_control_socket_name;
  fill_address(made.address, way);
  return made;
}

const sockaddr* as_sockaddr(const socket_address& a) {
  return reinterpret_cast<const sockaddr*>(&a.address);  // NOLINT: the sockets API demands it
}

int milliseconds_until(steady_deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Waits for `events` on `fd`.
transfer wait_for(int fd, short events, steady_deadline deadline, int stop) {
  pollfd waited[2] = {{fd, events, 0}, {stop, POLLIN, 0}};  // a negative descriptor is passed over
  for (;;) {
    const int left = milliseconds_until(deadline);
    const int count = ::poll(waited, 2, left);
    if (count < 0 && errno != EINTR) return transfer::closed;
    if (count > 0 && waited[1].revents != 0) return transfer::stopped;
    if (count > 0 && waited[0].revents != 0) return transfer::done;
    if (std::chrono::steady_clock::now() >= deadline) return transfer::timed_out;
  }
}

/// Moves `size` bytes by `call`, which must not block.
template <class Call>
transfer move_exactly(int fd, short events, std::size_t size, steady_deadline deadline, int stop, Call call) {
  for (std::size_t moved = 0; moved < size;) {
    const transfer ready = wait_for(fd, events, deadline, stop);
    if (ready != transfer::done) return ready;
    const ssize_t count = call(moved);
    if (count > 0) {
      moved += static_cast<std::size_t>(count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      return transfer::closed;
    }
  }
  return transfer::done;
}

}  // namespace

reported<unique_fd> listen_in(const std::filesystem::path& state_dir, int backlog) {
  const auto path = state_dir / k_control_socket_name;
  RATCHET_TRY(const auto address, address_in(state_dir));
  unique_fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!listener.valid()) return io_problem(path, "cannot make a socket for", errno);
  int error = ::bind(listener.get(), as_sockaddr(address), sizeof address.address) == 0 ? 0 : errno;
  if (error == EADDRINUSE) {
    RATCHET_TRY(const auto other, connect_in(state_dir, std::chrono::milliseconds{1000}));
    if (other) return problem{errc::state_busy, "another process listens on " + path.string(), "", {}};
    remove_socket_in(state_dir);
    error = ::bind(listener.get(), as_sockaddr(address), sizeof address.address) == 0 ? 0 : errno;
  }
  if (error != 0) return io_problem(path, "cannot listen on", error);
  // Nobody can connect before listen(), so that nobody slips in before the mode is set.
  if (::chmod(address.address.sun_path, k_socket_mode) != 0 || ::listen(listener.get(), backlog) != 0) {
    error = errno;
    remove_socket_in(state_dir);
    return io_problem(path, "cannot listen on", error);
  }
  return listener;
}

void remove_socket_in(const std::filesystem::path& state_dir) noexcept {
  const unique_fd directory{::open(state_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory.valid()) return;
  struct stat found {};
  if (::fstatat(directory.get(), k_control_socket_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISSOCK(found.st_mode)) ::unlinkat(directory.get(), k_control_socket_name, 0);
}

reported<std::optional<unique_fd>> connect_in(const std::filesystem::path& state_dir,
                                              std::chrono::milliseconds timeout) {
  const auto path = state_dir / k_control_socket_name;
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<unique_fd>{};
  }
  RATCHET_TRY(const auto address, address_in(state_dir));
  unique_fd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!made.valid()) return io_problem(path, "cannot make a socket for", errno);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timeval limit{seconds.count(), std::chrono::microseconds{timeout - seconds}.count()};
  ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // bounds connect(), too
  int error = 0;
  do {
    error = ::connect(made.get(), as_sockaddr(address), sizeof address.address) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == ENOENT || error == ECONNREFUSED) return std::optional<unique_fd>{};
  if (error == EAGAIN || error == EINPROGRESS || error == ETIMEDOUT) {
    return problem{errc::source_unavailable,
                   "the running instance is busy: it does not answer on " + path.string(),
                   "try again in a moment",
                   {}};
  }
  if (error != 0) {
    problem failed = io_problem(path, "cannot connect to", error);
    if (error == EACCES) {
      failed.hint = "the instance answers its owner alone: run the command as the user that owns " +
                    path.parent_path().string();
    }
    return failed;
  }
  return std::optional<unique_fd>{std::move(made)};
}

transfer read_exactly(int fd, void* into, std::size_t size, steady_deadline deadline, int stop) {
  return move_exactly(fd, POLLIN, size, deadline, stop, [&](std::size_t moved) {
    return ::recv(fd, static_cast<char*>(into) + moved, size - moved, MSG_DONTWAIT);
  });
}

/// What the socket has room for goes out also while the server ends: an answer that is made is an answer.
transfer write_exactly(int fd, const void* from, std::size_t size, steady_deadline deadline, int stop) {
  const auto put = [&](std::size_t moved) {
    return ::send(fd, static_cast<const char*>(from) + moved, size - moved, MSG_DONTWAIT | MSG_NOSIGNAL);
  };
  const ssize_t at_once = put(0);
  const std::size_t done = at_once > 0 ? static_cast<std::size_t>(at_once) : 0;
  if (done == size) return transfer::done;
  return move_exactly(fd, POLLOUT, size - done, deadline, stop,
                      [&](std::size_t moved) { return put(done + moved); });
}

bool has_hung_up(int fd) {
  pollfd asked{fd, 0, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLHUP | POLLERR)) != 0;
}

bool stopped_before(steady_deadline deadline, int stop) {
  return wait_for(-1, 0, deadline, stop) == transfer::stopped;
}

}  // namespace ratchet
