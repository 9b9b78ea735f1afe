// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Where passwords may come from, and that they go nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* k_secret = "open-sesame-4711";

class config_secret : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("RATCHET_TEST_SECRET"); }
  /// Makes a file that its owner alone can read.
  [[nodiscard]] std::string file(const std::string& content, ::mode_t mode = 0600) const {
    const auto path = directory_ / "secret";
    std::ofstream{path, std::ios::binary} << content;
    chmod(path.c_str(), mode);
    return path.string();
  }
  /// A config whose line 4 is the password.
  static std::string text(const std::string& password, const std::string& property = "sasl.password") {
    return "version: 1\nkafka: {brokers: [localhost:9092], group: g, properties: {\n\n  " + property + ": " +
           password +
           "\n}}\nstate: {path: s}\nstreams:\n"
           "- {name: a, dedup: off, envelope: {aggregate: /a, sequence: /s}}\n";
  }
  static reported<config> parse(const std::string& password, config_use use = config_use::everything) {
    return parse_config(text(password), "f.yaml", {}, use);
  }
  static std::string password_of(const std::string& password) {
    const auto parsed = parse(password);
    return parsed ? parsed.value().kafka.properties.at("sasl.password") : to_text(parsed.error());
  }
  static std::string errors_of(const std::string& password) {
    const auto parsed = parse(password);
    return parsed ? "no error" : to_text(parsed.error());
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
};

TEST_F(config_secret, comes_from_a_file_without_the_line_feed_at_its_end) {
  for (const std::string end : {"", "\n", "\r\n"}) {
    EXPECT_EQ(password_of("{file: " + file(k_secret + end) + "}"), k_secret);
  }
  EXPECT_EQ(password_of("{file: " + file("two words \n\n") + "}"), "two words \n") << "one line feed alone";
}

TEST_F(config_secret, comes_from_the_environment) {
  setenv("RATCHET_TEST_SECRET", k_secret, 1);
  EXPECT_EQ(password_of("{env: RATCHET_TEST_SECRET}"), k_secret);
}

TEST_F(config_secret, may_be_any_property_and_an_override) {
  setenv("RATCHET_TEST_SECRET", k_secret, 1);
  const auto parsed =
      parse_config(text("x", "client.id"), "f.yaml",
                   {.set = {"kafka.properties.client.id={env: RATCHET_TEST_SECRET}",
                            "kafka.properties.ssl.key.password={file: " + file(k_secret) + "}"},
                    .kafka_properties = {}});
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  EXPECT_EQ(parsed.value().kafka.properties.at("client.id"), k_secret);
  EXPECT_EQ(parsed.value().kafka.properties.at("ssl.key.password"), k_secret);
}

TEST_F(config_secret, that_cannot_be_read_is_an_error_at_its_place) {
  EXPECT_THAT(errors_of("{file: /nowhere/x}"),
              HasSubstr("  f.yaml:4:25: kafka.properties.sasl.password.file: cannot read the secret in "
                        "/nowhere/x: No such file or directory; write the secret into that file"));
  EXPECT_THAT(errors_of("{file: " + directory_.string() + "}"), HasSubstr("Is a directory"));
  EXPECT_THAT(errors_of("{file: /dev/null}"), HasSubstr("/dev/null is not a regular file"));
  EXPECT_THAT(errors_of("{file: " + file("\n") + "}"), HasSubstr("is empty; it must hold the secret"));
  EXPECT_THAT(errors_of("{file: " + file(std::string{"a\0b", 3}) + "}"), HasSubstr("holds a zero byte"));
  EXPECT_THAT(errors_of("{file: " + file(std::string(70'000, 'x')) + "}"), HasSubstr("larger than 64 KiB"));
  EXPECT_THAT(errors_of("{env: RATCHET_TEST_SECRET}"),
              HasSubstr("  f.yaml:4:24: kafka.properties.sasl.password.env: the environment variable "
                        "RATCHET_TEST_SECRET is not set; set it for this process"));
  setenv("RATCHET_TEST_SECRET", "", 1);
  EXPECT_THAT(errors_of("{env: RATCHET_TEST_SECRET}"), HasSubstr("RATCHET_TEST_SECRET is empty"));
}

TEST_F(config_secret, has_one_source) {
  for (const char* source : {"{}", "{file: a, env: b}", "{fil: a}", "{open-sesame-4711}"}) {
    EXPECT_THAT(errors_of(source), HasSubstr("does not name exactly one source of its value")) << source;
    EXPECT_THAT(errors_of(source), Not(HasSubstr(k_secret)));
  }
  EXPECT_THAT(errors_of("{file: [a]}"), HasSubstr("sasl.password.file: is a list; it must be text"));
  EXPECT_THAT(errors_of("{env: ''}"), HasSubstr("sasl.password.env: is empty"));
}

TEST_F(config_secret, is_not_looked_for_where_only_the_state_is_read) {
  const auto parsed = parse("{env: RATCHET_TEST_SECRET}", config_use::state_only);
  ASSERT_TRUE(parsed) << to_text(parsed.error());
  EXPECT_THAT(parsed.value().kafka.properties, IsEmpty());
  EXPECT_FALSE(parse("{env: }", config_use::state_only)) << "its form is checked all the same";
}

TEST_F(config_secret, that_everybody_can_read_is_a_warning) {
  const auto loose = parse("{file: " + file(k_secret, 0644) + "}");
  ASSERT_TRUE(loose) << to_text(loose.error());
  ASSERT_EQ(loose.value().warnings.size(), 1U);
  EXPECT_EQ(loose.value().warnings[0].line, 4);
  EXPECT_THAT(loose.value().warnings[0].message, HasSubstr("can be read by every user of this machine"));
  EXPECT_THAT(loose.value().warnings[0].hint, HasSubstr("chmod 600"));
  EXPECT_THAT(parse("{file: " + file(k_secret, 0640) + "}").value().warnings, IsEmpty()) << "a group may";
}

TEST_F(config_secret, in_a_config_that_everybody_can_read_is_a_warning) {
  const auto path = directory_ / "r.yaml";
  std::ofstream{path} << text(k_secret);
  chmod(path.c_str(), 0644);
  const auto loose = load_config(path);
  ASSERT_TRUE(loose) << to_text(loose.error());
  ASSERT_EQ(loose.value().warnings.size(), 1U);
  EXPECT_EQ(loose.value().warnings[0].path, "kafka.properties.sasl.password");
  EXPECT_THAT(loose.value().warnings[0].hint, Not(HasSubstr(k_secret)));
  chmod(path.c_str(), 0600);
  EXPECT_THAT(load_config(path).value().warnings, IsEmpty());
}

TEST_F(config_secret, on_a_command_line_is_refused_and_the_other_ways_are_named) {
  const std::string secret{k_secret};
  const config_overrides ways[] = {
      {.set = {}, .kafka_properties = {"sasl.password=" + secret}},
      {.set = {"kafka.properties.sasl.password=" + secret}, .kafka_properties = {}},
      {.set = {"kafka.properties={sasl.password: " + secret + "}"}, .kafka_properties = {}},
      {.set = {"kafka={brokers: [a], group: g, properties: {ssl.key.pem: " + secret + "}}"},
       .kafka_properties = {}}};
  for (const config_overrides& way : ways) {
    const auto parsed = parse_config(text("x", "client.id"), "f.yaml", way);
    ASSERT_FALSE(parsed);
    const std::string errors = to_text(parsed.error());
    EXPECT_THAT(errors, HasSubstr("every user of this machine can read a command line"));
    EXPECT_THAT(errors, HasSubstr("={env: NAME}', or {file: PATH}"));
    EXPECT_THAT(errors, Not(HasSubstr(secret)));
  }
}

TEST_F(config_secret, is_in_no_message_about_the_property) {
  setenv("RATCHET_TEST_SECRET", k_secret, 1);
  // librdkafka would quote the value.
  const auto parsed = parse_config(text("{env: RATCHET_TEST_SECRET}", "security.protocol"), "f.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(to_text(parsed.error()), HasSubstr("librdkafka does not take this value"));
  EXPECT_THAT(to_text(parsed.error()), Not(HasSubstr(k_secret)));
}

}  // namespace

}  // namespace ratchet
