// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ratchet/types.hpp"

/// A second reader of a replicated log, written from the table of docs/internals/replicated-log.md and
/// sharing no code with src/replicate. It begins at the log's start, keeps every step, and answers with the
/// words of the page.
namespace ratchet::plain_log {

/// Takes bytes apart from the front. Behind the end: zeros, and `short_of` is set.
struct cutter {
  std::string_view left;
  bool short_of{false};

  std::string_view text(std::size_t size) {
    if (size > left.size()) {
      short_of = true;
      left = {};
      return {};
    }
    const std::string_view out = left.substr(0, size);
    left.remove_prefix(size);
    return out;
  }
  std::uint64_t number(unsigned size) {
    std::uint64_t value = 0;
    for (const char c : text(size)) value = value * 256 + static_cast<unsigned char>(c);
    return value;
  }
};

inline std::string big_endian(std::uint64_t value, unsigned size) {
  std::string out;
  while (size-- > 0) out += static_cast<char>(value >> (8U * size) & 0xFFU);
  return out;
}

/// A hash as the 16 bytes that it is written as.
inline std::string hash_bytes(std::string_view of) {
  const XXH128_hash_t hash = XXH3_128bits(of.data(), of.size());
  return big_endian(hash.high64, 8) + big_endian(hash.low64, 8);
}
inline std::string hash_bytes(const hash128& hash) {
  return big_endian(hash.high, 8) + big_endian(hash.low, 8);
}

inline bool are_rows(std::string_view bytes) {
  cutter in{bytes};
  while (!in.left.empty()) {
    in.number(1);
    const std::uint64_t op = in.number(1);
    const std::string_view key = in.text(in.number(4));
    const std::string_view value = op == 2 ? std::string_view{} : in.text(in.number(4));
    if (in.short_of || op < 1 || op > 3 || (op == 3 && value < key)) return false;
  }
  return true;
}

struct options {
  std::uint32_t slot{0};
  std::uint64_t newest_layout{0};
  std::size_t longest_chunk{512U << 10U};
  std::size_t longest_name{255};
  std::optional<hash128> lineage;
  std::optional<hash128> meaning;
};

struct step {
  std::string chain;
  std::string rows;
  std::int64_t offset{0};
};

class reader {
 public:
  explicit reader(const options& with) : with_{with} {}

  /// What became of the record: its fate, or a refusal. Behind a refusal it answers with that for ever.
  std::string take(std::int64_t offset, std::string_view bytes) {
    if (refused_.empty()) {
      std::string word = judge(offset, bytes);
      if (word.starts_with('!')) {
        refused_ = word.substr(1);
      } else {
        return word;
      }
    }
    return refused_;
  }

  const std::map<std::uint64_t, step>& steps() const { return steps_; }
  std::uint64_t last_step() const { return steps_.empty() ? 0 : steps_.rbegin()->first; }
  const std::string& refused() const { return refused_; }
  /// It has met a fence that counts.
  bool began() const { return !lineage_.empty(); }

 private:
  using epoch = std::pair<std::uint64_t, std::uint64_t>;

  std::string judge(std::int64_t offset, std::string_view bytes) {
    cutter in{bytes};
    if (in.text(1) != "R") return "unreadable";
    const std::uint64_t version = in.number(1);
    const std::uint64_t kind = in.number(1);
    const std::uint64_t flags = in.number(1);
    const std::string lineage{in.text(16)};
    epoch its;
    its.first = in.number(4);
    its.second = in.number(4);
    const std::uint64_t writer = in.number(8);
    const std::uint64_t layout = in.number(4);
    if (in.short_of || version == 0) return "unreadable";
    if (!lineage_.empty() && lineage != lineage_) return "foreign";
    const bool its_turn = its == highest_ && writer == writer_ && highest_ != epoch{};
    const bool above = kind == 1 && its > highest_;
    if (version > 1) return its_turn || above ? "!newer_version" : "unreadable";
    const bool no_flag_beside = flags == 0 || (flags == 1 && kind == 2);
    if (!no_flag_beside || kind < 1 || kind > 4 || its == epoch{}) {
      return its_turn ? "!damaged" : "unreadable";
    }
    if (kind == 1) return judge_fence(in, lineage, its, writer, layout, its_turn);
    if (kind > 2) return judge_note(in, kind, its, writer, its_turn);
    return judge_step(in, offset, flags == 1, its, writer, layout, its_turn);
  }

  /// Nobody can write one behind it.
  static bool is_last(const epoch& of) { return of.first == 0xFFFFFFFF; }

  std::string judge_note(cutter in, std::uint64_t kind, epoch its, std::uint64_t writer, bool its_turn) {
    if (kind == 3) {
      in.text(8 + 8 + 1);
      if (in.text(in.number(4)).size() > with_.longest_chunk) in.short_of = true;
    } else {
      in.text(8 + 8 + 16 + 8);
    }
    if (in.short_of || !in.left.empty()) return its_turn ? "!damaged" : "unreadable";
    if (its < highest_) return "zombie";
    if (its > highest_) return is_last(its) ? "!epochs_used_up" : "!fence_missing";
    if (writer != writer_) return "rival";
    return kind == 3 ? "point" : "digest";
  }

  std::string judge_fence(cutter in, const std::string& lineage, epoch its, std::uint64_t writer,
                          std::uint64_t layout, bool its_turn) {
    const std::uint64_t known = in.number(8);
    const std::string_view meaning = in.text(16);
    const std::string_view instance = in.text(in.number(4));
    const std::string_view address = in.text(in.number(4));
    if (in.short_of || !in.left.empty() || instance.size() > with_.longest_name ||
        address.size() > with_.longest_name) {
      return its_turn ? "!damaged" : "unreadable";
    }
    if (its < highest_) return "zombie";
    if (its == highest_) return its_turn ? "again" : "rival";
    if (is_last(its)) return "!epochs_used_up";
    if (with_.lineage && lineage != hash_bytes(*with_.lineage)) return "!other_lineage";
    if (layout > with_.newest_layout) return "!newer_layout";
    if (with_.meaning && meaning != hash_bytes(*with_.meaning)) return "!other_meaning";
    if (known > last_step()) return "!steps_missing";
    lineage_ = lineage;
    highest_ = its;
    writer_ = writer;
    at_fence_ = last_step();
    parts_.clear();
    return "fence";
  }

  std::string judge_step(cutter in, std::int64_t offset, bool last, epoch its, std::uint64_t writer,
                         std::uint64_t layout, bool its_turn) {
    const std::uint64_t number = in.number(8);
    const std::uint64_t part = in.number(2);
    const std::uint64_t confirmed = in.number(8);
    const std::string chain{last ? in.text(16) : std::string_view{}};
    if (in.short_of || number == 0 || confirmed >= number || in.left.size() > with_.longest_chunk) {
      return its_turn ? "!damaged" : "unreadable";
    }
    if (its < highest_) return "zombie";
    if (its > highest_) return is_last(its) ? "!epochs_used_up" : "!fence_missing";
    if (writer != writer_) return "rival";
    if (layout > with_.newest_layout) return "!newer_layout";
    if (number <= at_fence_) return "!steps_lost";
    if (confirmed > last_step()) return "!steps_missing";
    if (number <= last_step()) return "again";
    if (number != last_step() + 1) return "gap";
    if (part < parts_.size()) return "again";
    if (part > parts_.size()) return "gap";
    parts_[part] = in.left;
    if (!last) return "chunk";
    std::string rows;
    for (const auto& each : parts_) rows += each.second;
    const std::string before =
        steps_.empty() ? hash_bytes(lineage_ + big_endian(with_.slot, 4)) : steps_.rbegin()->second.chain;
    if (hash_bytes(before + rows) != chain) return "!other_chain";
    if (!are_rows(rows)) return "!damaged";
    parts_.clear();
    steps_[number] = {chain, rows, offset};
    return "step";
  }

  options with_;
  std::string lineage_;
  epoch highest_;
  std::uint64_t writer_{0};
  std::uint64_t at_fence_{0};
  std::map<std::uint64_t, std::string> parts_;
  std::map<std::uint64_t, step> steps_;
  std::string refused_;
};

}  // namespace ratchet::plain_log
