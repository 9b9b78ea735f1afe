// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ratchet/error.hpp"

namespace ratchet {

/// A program that runs beside this one, to be killed. It dies with this process, and at the latest with this
/// object. Thread-safety: one thread, the one that started it.
class workload_process {
 public:
  /// Starts arguments[0]; its output, standard and error, is appended to `log`. `environment` is added to
  /// ours, as NAME=VALUE. Errors: io, where there can be no log or no process. A program that cannot be
  /// executed ends with 127.
  [[nodiscard]] static reported<workload_process> start(const std::vector<std::string>& arguments,
                                                        const std::vector<std::string>& environment,
                                                        const std::filesystem::path& log);
  workload_process(workload_process&& other) noexcept;
  workload_process& operator=(workload_process&&) = delete;
  ~workload_process();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// How it ended: its exit code, or 128 and the signal's number as a shell says it. None: it still runs.
  [[nodiscard]] std::optional<int> ended();
  /// Waits for its end. None: the time is over and it still runs.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds timeout);
  /// Sends a signal, such as SIGTERM. False: it had ended.
  bool signal(int number);
  /// SIGKILL, and waits until it is gone. False: it had ended by itself.
  bool kill();

 private:
  explicit workload_process(pid_t pid) : pid_{pid} {}

  pid_t pid_;
  std::optional<int> status_;
};

/// The last lines of a log, for an error message; empty where there is none.
[[nodiscard]] std::string tail_of(const std::filesystem::path& log, std::size_t bytes = 2000);

}  // namespace ratchet
