// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// init, validate and version as a person calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_directory.hpp"
#include "test_paths.hpp"

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct finished {
  int status{-1};
  std::string out;
  std::string err;
};

class config_command : public ::testing::Test {
 protected:
  /// Runs `ratchet ARGUMENTS` in the test's directory.
  [[nodiscard]] finished run(const std::string& arguments) const {
    const std::string command =
        "cd '" + directory_.string() + "' && '" RATCHET_BINARY "' " + arguments + " 2>stderr";
    finished done;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return done;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      done.out.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    if (WIFEXITED(status)) done.status = WEXITSTATUS(status);
    std::ifstream error{directory_ / "stderr"};
    done.err.assign(std::istreambuf_iterator<char>{error}, {});
    return done;
  }
  void write(const std::string& text) const { std::ofstream{directory_ / "r.yaml"} << text; }

  ratchet::support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(config_command, init_prints_what_validate_accepts) {
  const finished init = run("init");
  EXPECT_EQ(init.status, 0);
  EXPECT_THAT(init.err, IsEmpty());
  write(init.out);
  const finished validate = run("validate -c r.yaml");
  EXPECT_EQ(validate.status, 0) << validate.err;
  EXPECT_THAT(validate.out, StartsWith("r.yaml is valid; state in ratchet-state, memory up to 1GiB\n"
                                       "  payments: reads payment-status; "));
  EXPECT_THAT(validate.out, HasSubstr("mind: "));
  EXPECT_THAT(validate.err, IsEmpty());
}

TEST_F(config_command, validate_prints_every_error_to_stderr_and_exits_78) {
  write("version: 1\nstat: {}\nstreams: []\n");
  const finished validate = run("validate -c r.yaml --set memory_limit=1KiB");
  EXPECT_EQ(validate.status, 78);
  EXPECT_THAT(validate.out, IsEmpty());
  EXPECT_EQ(validate.err,
            "ratchet: r.yaml has 3 errors\n"
            "  r.yaml:2:1: stat: is not a known key; did you mean \"state\"?\n"
            "  r.yaml:3:10: streams: names no stream; ratchet init shows one\n"
            "  --set memory_limit: memory_limit: 1KiB is out of range; it goes from 64MiB to 16TiB\n");
}

TEST_F(config_command, validate_prints_errors_as_json_to_stdout) {
  write("version: 1\nstate: {path: s}\nstreams: []\n");
  const finished validate = run("validate -c r.yaml --output json");
  EXPECT_EQ(validate.status, 78);
  EXPECT_EQ(
      validate.out,
      R"({"valid":false,"message":"r.yaml has an error","errors":[{"file":"r.yaml","line":3,"column":10,)"
      R"("path":"streams","message":"names no stream","hint":"ratchet init shows one"}]})"
      "\n");
  EXPECT_THAT(validate.err, IsEmpty());
}

TEST_F(config_command, validate_takes_overrides_one_by_one) {
  write(run("init").out);
  const finished validate =
      run("validate --set streams[0].name=orders -X client.id=x --set 'streams[0].topics=[a, b]' -c r.yaml");
  EXPECT_EQ(validate.status, 0) << validate.err;
  EXPECT_THAT(validate.out, HasSubstr("  orders: reads a, b; "));
}

TEST_F(config_command, validate_of_a_file_that_is_not_there_exits_74) {
  const finished validate = run("validate -c nope.yaml");
  EXPECT_EQ(validate.status, 74);
  EXPECT_THAT(validate.err, HasSubstr("cannot read the config nope.yaml: No such file or directory"));
}

TEST_F(config_command, without_what_it_needs_exits_64) {
  EXPECT_EQ(run("validate").status, 64);
  EXPECT_EQ(run("validate -c r.yaml --output xml").status, 64);
  EXPECT_EQ(run("validate -c r.yaml --banana").status, 64);
}

TEST_F(config_command, says_what_is_wrong_in_the_words_of_a_command_line_and_where_help_is) {
  EXPECT_EQ(run("").err, "ratchet: a command is required\n  -> see ratchet --help\n");
  EXPECT_EQ(run("validate").err, "ratchet: --config is required\n  -> see ratchet validate --help\n");
  EXPECT_EQ(run("validate -c r.yaml --output xml").err,
            "ratchet: --output: xml not in {text,json}\n  -> see ratchet validate --help\n");
}

TEST_F(config_command, exits_74_where_standard_output_takes_no_more) {
  const finished init = run("init >/dev/full");
  EXPECT_EQ(init.status, 74);
  EXPECT_THAT(init.err, StartsWith("ratchet: cannot write to standard output"));
}

TEST_F(config_command, names_init_only_where_there_is_no_config) {
  EXPECT_THAT(run("validate -c nope.yaml").err, HasSubstr("ratchet init"));
  EXPECT_THAT(run("validate -c .").err, Not(HasSubstr("ratchet init")));
}

TEST_F(config_command, shows_an_example_in_its_help) {
  for (const std::string command : {"init", "validate", "version"}) {
    const finished help = run(command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("Example:\n  ratchet " + command));
  }
}

TEST_F(config_command, version_names_ratchet_and_its_libraries) {
  const finished version = run("version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(run("--version").out, version.out);
  EXPECT_THAT(version.out, ::testing::ContainsRegex("^ratchet [0-9]+\\.[0-9]+\\.[0-9]+"));
  for (const char* library : {"librdkafka 2", "RocksDB ", "simdjson ", "yaml-cpp 0"}) {
    EXPECT_THAT(version.out, HasSubstr(library));
  }
  EXPECT_THAT(version.out, Not(HasSubstr(" ,"))) << "a version was not found at configuration";
}

}  // namespace
