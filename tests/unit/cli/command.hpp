// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_paths.hpp"

extern char** environ;  // NOLINT: POSIX wants it declared by the program

/// The real command, run to its end.
namespace ratchet::cli_testing {

struct ended {
  int status{-1};
  std::string out;
  std::string err;
};

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Runs `ratchet` with these arguments. `scratch`: a directory for what it prints. `out_fd`: where its
/// standard output goes; -1: into the answer.
inline ended run_ratchet(const std::filesystem::path& scratch, std::vector<std::string> arguments,
                         int out_fd = -1) {
  const auto out = scratch / "out";
  const auto err = scratch / "err";
  constexpr int k_flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (out_fd < 0) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), k_flags, 0600);
  } else {
    posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), k_flags, 0600);
  arguments.insert(arguments.begin(), RATCHET_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, RATCHET_BINARY, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error{"cannot start " RATCHET_BINARY};
  ended result_of;
  int status = 0;
  ::waitpid(child, &status, 0);
  result_of.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (out_fd < 0) result_of.out = content_of(out);
  result_of.err = content_of(err);
  return result_of;
}

}  // namespace ratchet::cli_testing
