// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "layout_bytes.hpp"
#include "replicate/chain.hpp"
#include "replicate/log_record.hpp"
#include "replicate/row_buffer.hpp"
#include "support/replicate_log_file.hpp"
#include "test_paths.hpp"

/// Every byte of a replicated log, and what tools/slot-log prints of one.
namespace ratchet::replicate {
namespace {

using layout::hex;
using layout::k_hash;
using layout::k_hash_hex;

constexpr hash128 k_lineage{0x2122232425262728, 0x292a2b2c2d2e2f30};
const std::string k_lineage_hex =
    "2122232425262728"
    "292a2b2c2d2e2f30";

record_head head(record_kind kind, bool last) {
  return {kind, last, k_lineage, {0x01020304, 0x05060708}, 0x090a0b0c0d0e0f10, 0x11121314};
}
std::string head_hex(const std::string& kind_and_flags) {
  return "5201" + kind_and_flags + k_lineage_hex +
         "01020304"
         "05060708"
         "090a0b0c0d0e0f10"
         "11121314";
}

TEST(a_replicated_log, has_fences_of_these_bytes) {
  std::string bytes;
  append_fence(bytes, head(record_kind::fence, false), {258, k_hash, "one", "one:9187"});
  EXPECT_EQ(hex(bytes), head_hex("0100") + "0000000000000102" + k_hash_hex +
                            "00000003"
                            "6f6e65"
                            "00000008"
                            "6f6e653a39313837");
}

TEST(a_replicated_log, has_parts_of_steps_of_these_bytes) {
  std::string bytes;
  append_chunk(bytes, head(record_kind::step, false), {258, 3, 257, {}, "rows"});
  EXPECT_EQ(hex(bytes), head_hex("0200") +
                            "0000000000000102"
                            "0003"
                            "0000000000000101"
                            "726f7773");
  bytes.clear();
  append_chunk(bytes, head(record_kind::step, true), {258, 3, 257, k_hash, "rows"});
  EXPECT_EQ(hex(bytes), head_hex("0201") +
                            "0000000000000102"
                            "0003"
                            "0000000000000101" +
                            k_hash_hex + "726f7773");
}

TEST(a_replicated_log, has_points_and_digests_of_these_bytes) {
  std::string bytes;
  append_point(bytes, head(record_kind::point, false), {259, 260, 6, "key"});
  EXPECT_EQ(hex(bytes), head_hex("0300") +
                            "0000000000000103"
                            "0000000000000104"
                            "06"
                            "00000003"
                            "6b6579");
  bytes.clear();
  append_digest(bytes, head(record_kind::digest, false), {259, 258, k_hash, 261});
  EXPECT_EQ(hex(bytes), head_hex("0400") +
                            "0000000000000103"
                            "0000000000000102" +
                            k_hash_hex + "0000000000000105");
}

TEST(a_replicated_log, has_rows_of_these_bytes) {
  row_buffer rows;
  rows.put(1, "key", "value");
  rows.erase(255, std::string{"a\0", 2});
  rows.erase_range(0, "a", "b");
  EXPECT_EQ(hex(rows.bytes()),
            "0101"
            "00000003"
            "6b6579"
            "00000005"
            "76616c7565"
            "ff02"
            "00000002"
            "6100"
            "0003"
            "00000001"
            "61"
            "00000001"
            "62");
}

TEST(a_replicated_log, has_these_chains) {
  const hash128 first = founding_chain(k_lineage, 3);
  const hash128 second = next_chain(first, "rows");
  const auto text = [](const hash128& h) {
    char out[33];
    std::snprintf(out, sizeof out, "%016llx%016llx", static_cast<unsigned long long>(h.high),
                  static_cast<unsigned long long>(h.low));
    return std::string{out};
  };
  EXPECT_EQ(text(first), "eb357bea40445456cda182cd3c9b9b82");
  EXPECT_EQ(text(second), "040df28111efe94726ab6e9f0663add5");
}

/// Two owners, a zombie, a step in two parts, a gap, and what somebody else appended.
std::string make_log() {
  log_file log;
  const auto by = [](std::uint32_t generation, std::uint64_t writer, record_kind kind, bool last) {
    return record_head{kind, last, k_lineage, {generation, 0}, writer, 6};
  };
  const auto fence = [&](std::uint32_t generation, std::uint64_t writer, std::uint64_t known,
                         const char* name) {
    std::string out;
    append_fence(out, by(generation, writer, record_kind::fence, false), {known, k_hash, name, "host:9187"});
    log.add(out);
  };
  row_buffer rows;
  rows.put(1, "order \x01", "paid");
  rows.erase(4, "waiting");
  hash128 chain = founding_chain(k_lineage, 0);
  const auto step = [&](std::uint32_t generation, std::uint64_t writer, std::uint64_t number,
                        std::string_view bytes, std::size_t parts) {
    const hash128 next = next_chain(chain, bytes);
    for (std::size_t i = 0; i < parts; ++i) {
      const bool last = i + 1 == parts;
      std::string out;
      append_chunk(out, by(generation, writer, record_kind::step, last),
                   {number, static_cast<std::uint16_t>(i), std::min(number - 1, std::uint64_t{3}),
                    last ? next : hash128{}, last ? bytes.substr(5 * i) : bytes.substr(5 * i, 5)});
      log.add(out);
    }
    return next;
  };
  fence(1, 71, 0, "one");
  chain = step(1, 71, 1, rows.bytes(), 1);
  chain = step(1, 71, 2, rows.bytes(), 2);
  fence(2, 82, 1, "two");
  step(1, 71, 3, rows.bytes(), 1);
  log.add("hello");
  chain = step(2, 82, 3, "", 1);
  step(2, 82, 5, rows.bytes(), 1);
  fence(3, 71, 3, "one");
  rows.clear();
  rows.erase_range(5, "a", "b");
  step(3, 71, 4, rows.bytes(), 1);
  std::string note;
  append_point(note, by(3, 71, record_kind::point, false), {1, 1'000, 2, "order"});
  log.add(note);
  note.clear();
  append_digest(note, by(3, 71, record_kind::digest, false), {1, 4, k_hash, 640});
  log.add(note);
  note.clear();
  append_point(note, by(2, 82, record_kind::point, false), {2, UINT64_MAX, 0, ""});
  log.add(note);
  fence(4, 93, 9, "three");
  return log.bytes();
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// What a command prints, and its exit code behind it.
std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen((command + " 2>&1; echo exit $?").c_str(), "r"),
                                                   &::pclose};
  std::string out;
  std::array<char, 4096> bytes{};
  while (pipe) {
    const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), pipe.get());
    if (size == 0) break;
    out.append(bytes.data(), size);
  }
  return out;
}

TEST(a_replicated_log, is_the_file_that_was_kept) {
  const std::string folder = RATCHET_SOURCE_DIR "/tests/golden/";
  EXPECT_EQ(hex(make_log()), hex(read_file(folder + "replicate_log.kcat")));
  EXPECT_EQ(output_of(RATCHET_SOURCE_DIR "/tools/slot-log --rows " + folder + "replicate_log.kcat"),
            read_file(folder + "replicate_log.txt"));
}

}  // namespace
}  // namespace ratchet::replicate
