// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/aggregate_hash.hpp"
#include "core/merge_patch.hpp"

namespace ratchet {
namespace {

constexpr std::uint64_t k_mul = (std::uint64_t{0xc6a4a793} << 32U) + 0x5bd1e995U;

std::uint64_t mixed(std::uint64_t v) {
  return v ^ (v >> 47U);
}

/// Names of 16 bytes with one std::hash: that of libstdc++ is not seeded, and can be calculated backwards. So
/// a producer can make any number of them; in valid UTF-8, which takes longer and is no matter here.
std::vector<std::string> colliding_names(std::size_t count) {
  std::uint64_t inverse = k_mul;
  for (int i = 0; i < 6; ++i) inverse *= 2 - k_mul * inverse;
  const std::uint64_t start = 0xc70f6907U ^ (16 * k_mul);
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::vector<std::string> names;
  for (std::uint64_t number = 1; names.size() < count; ++number) {
    std::uint64_t rest = number * 0x9E3779B97F4A7C15U;
    std::string name(16, ' ');
    for (std::size_t i = 0; i < 8; ++i, rest >>= 6U) name[i] = letters[rest & 63U];
    std::uint64_t half = 0;
    std::memcpy(&half, name.data(), 8);
    half = (start ^ (mixed(half * k_mul) * k_mul)) * k_mul;
    half = mixed((half ^ 0x1234567890abcdefU) * inverse) * inverse;
    std::memcpy(name.data() + 8, &half, 8);
    if (name.find_first_of("\"\\") == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

TEST(core_seeded_hash, tells_names_apart_that_share_one_std_hash) {
  constexpr std::size_t k_names = 10'000;
  const std::vector<std::string> names = colliding_names(k_names);
  std::set<std::size_t> unseeded;
  std::set<std::size_t> seeded;
  for (const std::string& name : names) {
    unseeded.insert(std::hash<std::string>{}(name));
    seeded.insert(seeded_hash{}(name));
  }
#ifdef __GLIBCXX__
  EXPECT_EQ(unseeded.size(), 1U) << "they are what they are made for";
#endif
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), k_names);
  EXPECT_EQ(seeded.size(), k_names);
}

TEST(core_seeded_hash, is_what_merging_uses) {
  // Where they share one hash this takes 20 billion comparisons.
  std::string object = "{";
  for (const std::string& name : colliding_names(200'000)) object += "\"" + name + "\":1,";
  object.back() = '}';
  EXPECT_EQ(merge_patch(object, "{}"), object);
}

}  // namespace
}  // namespace ratchet
