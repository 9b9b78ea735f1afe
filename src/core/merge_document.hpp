// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_scan.hpp"

namespace ratchet {

/// A JSON text, taken apart as far as JSON Merge Patches (RFC 7396) reach into it: any number of them cost
/// one reading and one writing of it. See merge_patch() for what becomes of the text; merge_document{t}, p1,
/// p2 is merge_patch(merge_patch(t, p1), p2), byte for byte.
///
/// Borrows the text and the patches as long as it lives. Thread-safety: none.
class merge_document {
 public:
  /// An empty `text` is nothing.
  explicit merge_document(std::string_view text) : text_{json_scan::trimmed(text)} {}

  void apply(std::string_view patch);
  /// What a patch of nothing comes to.
  [[nodiscard]] static std::string of_new(std::string_view patch);
  /// Of text().
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::string text() const;
  /// About what it holds beside what it borrows.
  [[nodiscard]] std::size_t memory() const noexcept { return memory_; }

 private:
  using long_values = json_scan::long_values;
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  /// As small as it can be: a text of some megabytes may have millions of them.
  struct member {
    const char* spelt;         ///< its name with the quotes; null: it was removed
    const char* value;         ///< null: taken apart, see child
    std::uint32_t spelt_size;  ///< of the name
    std::uint32_t size;        ///< of the value, or which child
    [[nodiscard]] std::string_view name() const noexcept { return {spelt, spelt_size}; }
    [[nodiscard]] std::string_view text() const noexcept { return {value, size}; }
  };
  /// By name, under a hash that nobody outside can foresee; open addressing.
  struct slot {
    std::uint32_t hash;
    std::uint32_t at;
  };
  /// Members in their order, each name once.
  struct object {
    std::vector<member> list;
    std::vector<slot> index;  ///< of more than a few
    std::size_t live{0};      ///< that were not removed
    std::size_t bytes{0};     ///< of these, as they are written, but for commas
    [[nodiscard]] std::size_t size() const noexcept { return 2 + bytes + (live > 0 ? live - 1 : 0); }
  };

  static void read(object&, std::string_view text, const long_values&);
  [[nodiscard]] static std::uint32_t hash_for(const object&, std::string_view spelt);
  static void add(object&, const member&, std::uint32_t hash);
  static void enter(object&, slot);
  static void make_room(object&, std::size_t likely);
  static void grow_index(object&, std::size_t members);
  [[nodiscard]] static std::uint32_t find(const object&, std::string_view spelt, std::uint32_t hash);
  static void write_new(std::string& out, std::string_view patch, const long_values&);
  [[nodiscard]] std::string_view own_new(std::string_view patch, const long_values&);
  void merge(object&, std::string_view patch, const long_values&);
  void change(member&, std::string_view patch, const long_values&);
  [[nodiscard]] std::uint32_t take_apart(std::string_view text);
  [[nodiscard]] const long_values& ends_in(std::string_view text);
  [[nodiscard]] std::size_t size_of(const member&) const noexcept;
  void write(std::string& out, const object&) const;

  std::string_view text_;  ///< unless it is taken apart
  bool apart_{false};      ///< into the first of objects_
  std::vector<std::unique_ptr<object>> objects_;
  std::vector<std::unique_ptr<std::string>> written_;  ///< objects that patches added
  /// The ends of values in texts of which more than the outermost level was read: by begin, behind its end.
  std::map<const char*, std::pair<const char*, long_values>, std::greater<>> ends_;
  std::size_t memory_{0};
};

}  // namespace ratchet
