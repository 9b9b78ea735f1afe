// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"

/// Both hashes are on disk: a change here is a change of the format.
namespace ratchet {
namespace {

std::string hex(hash128 h) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(h.high),
                static_cast<unsigned long long>(h.low));
  return text;
}

TEST(payload_hash_golden, is_xxh3_128_as_xxhsum_prints_it) {
  EXPECT_EQ(hex(payload_hash("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex(payload_hash("{}")), "dc7048f8f8747f561349cde127705c16");
  EXPECT_EQ(hex(payload_hash(R"({"id":"p1","status":"paid"})")), "9e3c10f26fc7d27574e837658e34596d");
  EXPECT_EQ(hex(payload_hash(std::string(1000, 'x'))), "50a1af5a5f2dcf01c0a4877b962cba82");
}

TEST(record_hash_golden, is_xxh3_128_of_presence_length_and_bytes) {
  EXPECT_EQ(hex(record_hash(std::nullopt, std::nullopt)), "c7f568b6986be940ff7821ddf836d020");
  EXPECT_EQ(hex(record_hash("k", "v")), "d7a2464f8b7ee3c506f27ede2d42ab52");
  EXPECT_EQ(hex(record_hash(std::nullopt, "v")), "c590f53ce27f244d2c05c615bd1f6c3a");
  EXPECT_EQ(hex(record_hash("k", std::nullopt)), "06b23bd1ec40a3c212d2fc08ccdabe99");
  EXPECT_EQ(hex(record_hash("", "")), "ed3ae19c8e40dae6c6028b3cf65b62d0");
}

/// The layout spelt out: what is hashed is this very string of bytes.
TEST(record_hash_golden, hashes_the_bytes_that_its_comment_names) {
  const std::string bytes{std::string("\x01\0\0\0\0\0\0\0\x02", 9) + "k1" +
                          std::string("\x01\0\0\0\0\0\0\x01\x2C", 9) + std::string(300, 'v')};
  EXPECT_EQ(record_hash("k1", std::string(300, 'v')), payload_hash(bytes));
  EXPECT_EQ(record_hash(std::nullopt, ""),
            payload_hash(std::string(9, '\0') + std::string("\x01\0\0\0\0\0\0\0\0", 9)));
}

TEST(record_hash_golden, tells_null_from_empty_and_key_from_value) {
  EXPECT_NE(record_hash(std::nullopt, "v"), record_hash("", "v"));
  EXPECT_NE(record_hash("k", std::nullopt), record_hash("k", ""));
  EXPECT_NE(record_hash("ab", "c"), record_hash("a", "bc"));
}

/// What is filed for an id with a source is on disk, too. XXH3-128 of "https://pay.example/terminals/7" is
/// mixed into the id behind its time.
TEST(id_of_source_golden, keeps_time_version_and_variant_and_mixes_all_other_bits) {
  constexpr event_id k_id{0x018F2B7C12347ABC, 0x89AB0123456789AB};
  const std::string source = "https://pay.example/terminals/7";
  EXPECT_EQ(hex(payload_hash(source)), "46322f0544948b083bc7121d80eaa867");
  const auto text = [&](id_kind kind) {
    const event_id id = id_of_source(kind, k_id, source);
    return hex({id.high, id.low});
  };
  EXPECT_EQ(text(id_kind::uuidv7), "018f2b7c123471b4b26c133ec58d21cc");
  EXPECT_EQ(text(id_kind::ulid), "018f2b7c1234f1b4b26c133ec58d21cc");
}

/// What is filed for an opaque id: XXH3-128 of its text; with a source, of both hashes in a row.
TEST(opaque_id_golden, is_xxh3_of_its_text_and_of_both_hashes_with_a_source) {
  const event_id id = hash_opaque_id("evt_1").value();
  EXPECT_EQ(to_text(id_kind::opaque, id), "xxh3:ac2d96d674608b5e59eeb3784b9e718c");
  EXPECT_EQ(hex(payload_hash("/a")), "1bca2a8cd650a9f0e292ab48a6b06805");
  EXPECT_EQ(to_text(id_kind::opaque, id_of_source(id_kind::opaque, id, "/a")),
            "xxh3:546f55ba32058bdddc46693694a758cd");
}

/// What counts as a monotonic id: XXH3-128 of the topic's hash, the partition, the source's hash and the
/// number.
TEST(monotonic_id_golden, is_xxh3_of_partition_source_and_number) {
  const auto text = [](const topic_partition& where, std::string_view source, sequence number) {
    return to_text(id_kind::monotonic, id_of_number(where, source, number));
  };
  EXPECT_EQ(text({"t", partition_id{3}}, "/a", {1, 17}), "xxh3:59443ce96832b7a2f8afbefc8674b719");
  std::set<std::string> all;
  for (const int partition : {0, 1}) {
    for (const char* const topic : {"t", "u"}) {
      for (const char* const source : {"", "/a"}) {
        for (const sequence number : {sequence{0, 1}, sequence{1, 0}, sequence{0, 2}})
          all.insert(text({topic, partition_id{partition}}, source, number));
      }
    }
  }
  EXPECT_EQ(all.size(), 24U);
}

TEST(id_of_source_golden, never_makes_two_ids_of_one_source_the_same) {
  constexpr event_id k_id{0x018F2B7C12347ABC, 0x89AB0123456789AB};
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const id_kind kind : {id_kind::uuidv7, id_kind::ulid}) {
      const event_id low = id_of_source(kind, {k_id.high, k_id.low ^ std::uint64_t{1} << bit}, "/a");
      const event_id high = id_of_source(kind, {k_id.high ^ std::uint64_t{1} << bit, k_id.low}, "/a");
      EXPECT_NE(low, id_of_source(kind, k_id, "/a"));
      EXPECT_NE(high, id_of_source(kind, k_id, "/a"));
      EXPECT_EQ(id_of_source(kind, id_of_source(kind, k_id, "/a"), "/a"), k_id);
    }
  }
}

}  // namespace
}  // namespace ratchet
