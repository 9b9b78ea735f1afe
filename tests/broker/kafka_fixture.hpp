// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_paths.hpp"

extern char** environ;  // NOLINT: POSIX wants it declared

/// A real Apache Kafka for tests, brought up by tools/kafka.
namespace ratchet::testing {

/// Runs tools/kafka with the arguments; its output goes to a file that is shown where it fails.
inline void run_kafka_tool(const std::string& dir, const std::string& arguments) {
  const std::string output = dir + ".out";
  const std::string command = std::string{RATCHET_SOURCE_DIR} + "/tools/kafka --dir '" + dir + "' " +
                              arguments + " >'" + output + "' 2>&1 </dev/null";
  if (std::system(command.c_str()) == 0) {
    std::filesystem::remove(output);
    return;
  }
  std::ifstream in{output};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  throw std::runtime_error{"tools/kafka " + arguments + " failed: " + text};
}

inline std::string read_bootstrap(const std::string& dir) {
  std::ifstream in{dir + "/broker.properties"};
  const std::string name = "advertised.listeners=PLAINTEXT://";
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(name, 0) == 0) return line.substr(name.size(), line.find(',') - name.size());
  }
  throw std::runtime_error{"no broker in " + dir};
}

/// A broker of a test's own, in a temporary directory and on free ports: it may be killed and started again.
/// A guard process removes it even where the test itself is killed.
class local_broker {
 public:
  explicit local_broker(const std::string& options = "--set log.cleaner.backoff.ms=200") {
    std::string name = (std::filesystem::temp_directory_path() / "ratchet-kafka-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"mkdtemp failed"};
    dir_ = name;
    start_guard();
    run_kafka_tool(dir_, "--port auto " + options + " start");
  }
  local_broker(const local_broker&) = delete;
  local_broker& operator=(const local_broker&) = delete;
  ~local_broker() {
    close(guard_pipe_);
    int status = 0;
    waitpid(guard_, &status, 0);
  }

  [[nodiscard]] std::string bootstrap() const { return read_bootstrap(dir_); }
  [[nodiscard]] const std::string& dir() const noexcept { return dir_; }
  void start() { run_kafka_tool(dir_, "start"); }
  void kill() { run_kafka_tool(dir_, "kill"); }
  void pause() { run_kafka_tool(dir_, "pause"); }
  void resume() { run_kafka_tool(dir_, "resume"); }
  void run(const std::string& class_and_arguments) { run_kafka_tool(dir_, "run " + class_and_arguments); }

 private:
  /// The guard waits for the end of its standard input, which this process holds open and no other inherits.
  void start_guard() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"pipe failed"};
    guard_pipe_ = ends[1];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::string script =
        "trap '' INT TERM; read -r nothing; \"$1\" --dir \"$2\" kill; \"$1\" --dir \"$2\" delete; rm -f "
        "\"$2.out\"";
    std::string tool = std::string{RATCHET_SOURCE_DIR} + "/tools/kafka";
    std::string shell = "sh";
    std::string flag = "-c";
    std::array<char*, 6> arguments{shell.data(), flag.data(), script.data(),
                                   shell.data(), tool.data(), dir_.data()};
    std::array<char*, 7> terminated{};
    std::copy(arguments.begin(), arguments.end(), terminated.begin());
    const int failed = posix_spawn(&guard_, "/bin/sh", &actions, nullptr, terminated.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed != 0) throw std::runtime_error{"the guard did not start"};
  }

  std::string dir_;
  int guard_pipe_{-1};
  pid_t guard_{-1};
};

/// The brokers that tests share: those named by RATCHET_TEST_BROKERS, else the one that ctest started
/// (RATCHET_TEST_BROKER_DIR), else one that lives as long as this process.
inline std::string shared_brokers() {
  if (const char* named = std::getenv("RATCHET_TEST_BROKERS"); named != nullptr && *named != '\0')
    return named;
  if (const char* dir = std::getenv("RATCHET_TEST_BROKER_DIR"); dir != nullptr && *dir != '\0') {
    return read_bootstrap(dir);
  }
  static const local_broker own;
  return own.bootstrap();
}

/// A name that no other run uses, for topics and groups on a shared cluster.
inline std::string fresh_name(const std::string& what) {
  static std::atomic<int> count{0};
  return what + "-" + std::to_string(getpid()) + "-" +
         std::to_string(std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'000) + "-" +
         std::to_string(count++);
}

}  // namespace ratchet::testing
