// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `ratchet topics`, run to its end on an embedded broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kafka/embedded_broker.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(topics_of_a_log, need_as_many_brokers_as_replicas) {
  support::temporary_directory root;
  auto broker = embedded_broker::start().value();
  const std::string file = (root.path() / "ratchet.yaml").string();
  std::ofstream{file}
      << "version: 1\nkafka: {brokers: [\"" + broker->bootstrap() +
             "\"], group: g}\nstate: {path: state}\nreplicate: {topic: log, instance: a}\n"
             "streams:\n  - {name: s, topics: [t], start: earliest, dedup: off, order: latest, "
             "envelope: {aggregate: key, sequence: /v}}\n";
  const auto ended = cli_testing::run_ratchet(root.path(), {"topics", "-c", file, "--replicas", "9"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("9 replicas need as many brokers, and this cluster has "),
                               HasSubstr("ratchet topics -c "), HasSubstr("--replicas "),
                               Not(HasSubstr("user with the right"))));
}

}  // namespace
}  // namespace ratchet
