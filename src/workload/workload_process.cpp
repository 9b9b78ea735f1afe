// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

namespace ratchet {
namespace {

constexpr int k_exit_not_executable = 127;  // as shells have it

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;  // the first of a name is the one that counts
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

/// Between fork and exec only what is safe in a signal handler may be called: other threads held locks.
[[noreturn]] void become(pid_t parent, int log, char* const* arguments, char* const* environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(k_exit_not_executable);  // it died before the line above
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execve(arguments[0], arguments, environment);
  ::_exit(k_exit_not_executable);
}

}  // namespace

reported<workload_process> workload_process::start(const std::vector<std::string>& arguments,
                                                   const std::vector<std::string>& environment,
                                                   const std::filesystem::path& log) {
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return problem{errc::io, "cannot write " + log.string() + ": " + std::strerror(errno), {}, {}};
  auto argument_texts = arguments;
  auto environment_texts = environment_with(environment);
  const auto argument_pointers = pointers_to(argument_texts);
  const auto environment_pointers = pointers_to(environment_texts);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(parent, fd, argument_pointers.data(), environment_pointers.data());
  ::close(fd);
  if (pid < 0)
    return problem{errc::io, std::string{"cannot start a process: "} + std::strerror(errno), {}, {}};
  return workload_process{pid};
}

workload_process::workload_process(workload_process&& other) noexcept
    : pid_{std::exchange(other.pid_, 0)}, status_{other.status_} {}

workload_process::~workload_process() {
  if (pid_ > 0) kill();
}

std::optional<int> workload_process::ended() {
  return wait(std::chrono::milliseconds{0});
}

std::optional<int> workload_process::wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!status_) {
    int status = 0;
    const pid_t done = ::waitpid(pid_, &status, WNOHANG);
    if (done == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
  }
  return status_;
}

bool workload_process::signal(int number) {
  return !ended() && ::kill(pid_, number) == 0;
}

bool workload_process::kill() {
  if (ended()) return false;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return *status_ == 128 + SIGKILL;
}

std::string tail_of(const std::filesystem::path& log, std::size_t bytes) {
  std::ifstream file{log, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (text.size() <= bytes) return text;
  const auto line = text.find('\n', text.size() - bytes);
  return text.substr(line == std::string::npos ? text.size() - bytes : line + 1);
}

}  // namespace ratchet
