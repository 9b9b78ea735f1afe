// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/hex.hpp"
#include "replicate/log_reader.hpp"
#include "support/replicate_log_file.hpp"
#include "support/replicate_random_record.hpp"
#include "support/temporary_directory.hpp"
#include "test_paths.hpp"

/// tools/slot-log, which is written in another language and shares no code with Ratchet, says of each record
/// of many random logs what Ratchet's reader says, and comes to the same history. RATCHET_SEED sets the seed.
namespace ratchet::replicate::testing {
namespace {

constexpr int k_logs = 400;

struct judged_log {
  std::string bytes;
  std::string words;  ///< as `tools/slot-log --judge` prints them
};

class log_maker {
 public:
  explicit log_maker(std::uint64_t seed) : random_{seed} {}

  judged_log make() {
    reader_options with;
    with.slot = k_slot;
    with.newest_layout = k_layout;
    reader_ = log_reader{with};
    file_ = {};
    offset_ = 0;
    words_.clear();
    if (below(8) != 0) add({0x03, static_cast<std::uint8_t>(below(8))});
    for (int i = 0; i < 30 && !reader_.refused(); ++i) {
      const unsigned what = below(20);
      if (what < 10) {
        add_step();
      } else if (what < 13) {
        add({0x07, static_cast<std::uint8_t>(below(256))});
      } else if (what == 13) {  // who begins at a step that is there
        add({0x07, static_cast<std::uint8_t>(below(8))});
        add({0x00, k_its_writer, 0x00});
      } else if (what == 14 && i > 15) {
        add_step(0x60);  // with another chain
      } else {
        std::vector<std::uint8_t> bytes;
        for (int k = 0; k < 6; ++k) bytes.push_back(static_cast<std::uint8_t>(below(256)));
        add(bytes);
      }
    }
    const log_position& at = reader_.position();
    return {file_.bytes(), words_ + std::to_string(at.step) + " " + (at.lineage ? to_hex(at.chain) : "-")};
  }
  const std::map<std::string, int>& seen() const { return seen_; }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  void add(const std::vector<std::uint8_t>& bytes) {
    if (reader_.refused()) return;
    fuzz::fuzz_input in{bytes.data(), bytes.size()};
    const std::string record = make_record(in, reader_.position(), k_slot);
    file_.add(record);
    const fate f = reader_.take(offset_++, record);
    const std::string word = f == fate::refused ? std::string{"!"} + name_of(*reader_.refused()) : name_of(f);
    ++seen_[word];
    words_ += word + " ";
  }

  /// All parts of the next step, by the writer that counts.
  void add_step(unsigned how = 0) {
    const std::uint64_t parts = 1 + (reader_.position().step + 1) % 3;
    for (unsigned part = 0; part < parts; ++part)
      add({0x00, k_its_writer, static_cast<std::uint8_t>(1U | part << 2U | how)});
  }

  std::mt19937_64 random_;
  log_reader reader_{reader_options{}};
  log_file file_;
  std::int64_t offset_{0};
  std::string words_;
  std::map<std::string, int> seen_;
};

TEST(slot_log, says_of_every_record_what_the_reader_says) {
  const char* given = std::getenv("RATCHET_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "RATCHET_SEED=" << seed << "\n";
  const support::temporary_directory files;
  log_maker maker{seed};
  std::vector<judged_log> logs;
  std::string command = RATCHET_SOURCE_DIR "/tools/slot-log --judge --slot " + std::to_string(k_slot) +
                        " --layout " + std::to_string(k_layout);
  for (int i = 0; i < k_logs; ++i) {
    logs.push_back(maker.make());
    const std::string path = files.path() / std::to_string(i);
    std::ofstream{path, std::ios::binary} << logs.back().bytes;
    command += " " + path;
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), &::pclose};
  ASSERT_NE(pipe, nullptr);
  std::string printed;
  std::array<char, 4096> bytes{};
  for (std::size_t size = 0; (size = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) > 0;) {
    printed.append(bytes.data(), size);
  }
  std::istringstream lines{printed};
  for (const judged_log& log : logs) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << printed;
    EXPECT_EQ(line, log.words);
  }
  for (const char* word :
       {"fence", "chunk", "step", "again", "zombie", "rival", "gap", "foreign", "unreadable",
        "!fence_missing", "!steps_lost", "!steps_missing", "!other_chain", "!epochs_used_up"}) {
    EXPECT_GT(maker.seen().count(word), 0U) << "no log has " << word;
  }
}

}  // namespace
}  // namespace ratchet::replicate::testing
