// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/replicate_plain_reader.hpp"

/// A second reader of a topic of bases, written from the tables of docs/internals/replicated-log.md and
/// sharing no code with src/replicate.
namespace ratchet::plain_log {

struct base {
  std::uint64_t step{0};
  std::string chain;
  std::int64_t offset{0};  ///< of the log, at which it is
  std::string rows;
};

/// Takes the records of a topic in their order; those that are whole come out.
class base_collector {
 public:
  void take(std::string_view bytes) {
    cutter in{bytes};
    if (in.text(1) != "B" || in.number(1) != 1) return;
    const std::uint64_t kind = in.number(1);
    const std::string name{in.text(16 + 8)};
    if (kind == 1) {
      begun_[name] = {std::string{in.left}, {}, 0, std::string(16, '\0')};
    } else if (kind == 2) {
      const auto at = begun_.find(name);
      if (at == begun_.end() || in.number(8) != at->second.parts) return;
      ++at->second.parts;
      at->second.rows += in.left;
      at->second.hash = hash_bytes(at->second.hash + std::string{in.left});
    } else if (kind == 3) {
      const auto at = begun_.find(name);
      if (at == begun_.end()) return;
      const open& o = at->second;
      const std::string want = o.content + big_endian(o.parts, 8) + big_endian(o.rows.size(), 8) + o.hash;
      if (in.left != want) return;  // somebody else's
      whole_.push_back(read(o));
      begun_.erase(at);
    }
  }
  [[nodiscard]] const std::vector<base>& whole() const { return whole_; }

 private:
  struct open {
    std::string content;
    std::string rows;
    std::uint64_t parts{0};
    std::string hash;
  };
  static base read(const open& o) {
    cutter in{o.content};
    in.text(4 + 16 + 8 + 4 + 4 + 8 + 8);
    base made;
    made.step = in.number(8);
    made.chain = in.text(16);
    made.offset = static_cast<std::int64_t>(in.number(8));
    made.rows = o.rows;
    return made;
  }
  std::map<std::string, open> begun_;
  std::vector<base> whole_;
};

}  // namespace ratchet::plain_log
