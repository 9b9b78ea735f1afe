// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/ordered_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ratchet {

namespace {

__extension__ using number = unsigned __int128;

/// A set of bytes, each with the count of those below it.
class alphabet {
 public:
  constexpr explicit alphabet(std::string_view letters) {
    for (const char c : letters) has_[static_cast<unsigned char>(c)] = true;
    count();
  }
  constexpr alphabet(unsigned char first, unsigned char last) {
    for (unsigned c = first; c <= last; ++c) has_[c] = true;
    count();
  }
  [[nodiscard]] constexpr bool has(unsigned char c) const noexcept { return has_[c]; }
  [[nodiscard]] constexpr unsigned below(unsigned char c) const noexcept { return below_[c]; }
  [[nodiscard]] constexpr unsigned size() const noexcept { return size_; }

 private:
  constexpr void count() {
    for (std::size_t c = 0; c < has_.size(); ++c) {
      below_[c] = static_cast<std::uint8_t>(size_);
      size_ += has_[c] ? 1U : 0U;
    }
  }
  std::array<bool, 256> has_{};
  std::array<std::uint8_t, 256> below_{};
  unsigned size_{0};
};

/// Every byte that UTF-8 has, but for zero.
constexpr alphabet k_any{0x01, 0xF4};
constexpr alphabet k_digits{"0123456789"};
constexpr alphabet k_of_times{"-./0123456789:TZ"};
constexpr alphabet k_of_positions{"0123456789:abcdef"};
constexpr alphabet k_lower{"-0123456789abcdefghijklmnopqrstuvwxyz"};
constexpr alphabet k_upper{"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"};
constexpr alphabet k_crockford{"0123456789ABCDEFGHJKMNPQRSTVWXYZ"};
constexpr alphabet k_hex{"0123456789abcdef"};
constexpr alphabet k_zero{"0"};
constexpr alphabet k_dash{"-"};
constexpr alphabet k_seven{"7"};
constexpr alphabet k_variant{"89ab"};

constexpr std::size_t k_most = 37;  // characters

/// A set of words: at each place one of an alphabet's letters.
class language {
 public:
  /// All words of these letters, of 1 to `most` of them.
  constexpr language(const alphabet& letters, std::size_t most) : most_{most} {
    at_.fill(&letters);
    count();
  }
  /// Those of one length.
  template <std::size_t Length>
  constexpr explicit language(const std::array<const alphabet*, Length>& places)
      : most_{Length}, fixed_{true} {
    for (std::size_t i = 0; i < Length; ++i) at_[i] = places[i];
    count();
  }

  [[nodiscard]] constexpr number size() const noexcept { return tree_[0]; }
  [[nodiscard]] constexpr bool is_word(std::string_view text) const noexcept {
    if (text.empty() || text.size() > most_ || (fixed_ && text.size() != most_)) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!at_[i]->has(static_cast<unsigned char>(text[i]))) return false;
    }
    return true;
  }
  /// So many words are less than the text, which need be none.
  [[nodiscard]] constexpr number below(std::string_view text) const noexcept {
    number count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (may_end(i)) ++count;  // what stands before this character is a word, and less
      if (i == most_) break;
      const auto c = static_cast<unsigned char>(text[i]);
      count += at_[i]->below(c) * tree_[i + 1];
      if (!at_[i]->has(c)) break;
    }
    return count;
  }

  /// below(), as a text grows.
  struct counting {
    number count{0};
    bool goes_on{true};  ///< what there is of the text is the beginning of a word
  };
  [[nodiscard]] constexpr counting step(counting so_far, std::size_t at, unsigned char c) const noexcept {
    if (!so_far.goes_on) return so_far;
    if (may_end(at)) ++so_far.count;
    if (at == most_) return {so_far.count, false};
    return {so_far.count + at_[at]->below(c) * tree_[at + 1], at_[at]->has(c)};
  }

 private:
  [[nodiscard]] constexpr bool may_end(std::size_t length) const noexcept {
    return fixed_ ? length == most_ : length > 0;
  }
  constexpr void count() {
    for (std::size_t i = most_ + 1; i-- > 0;) {
      tree_[i] = may_end(i) ? 1 : 0;
      if (i < most_) tree_[i] += at_[i]->size() * tree_[i + 1];
    }
  }
  std::size_t most_;
  bool fixed_{false};
  std::array<const alphabet*, k_most> at_{};
  std::array<number, k_most + 1> tree_{};  ///< by length: so many words begin with a given beginning of it
};

constexpr std::size_t k_ulid = 26;
constexpr std::array<const alphabet*, k_ulid> k_places_of_ulid = [] {
  std::array<const alphabet*, k_ulid> places{};
  places.fill(&k_crockford);
  places[0] = &k_zero;
  return places;
}();
constexpr std::size_t k_uuid = 36;
constexpr std::array<const alphabet*, k_uuid> k_places_of_uuid = [] {
  std::array<const alphabet*, k_uuid> places{};
  places.fill(&k_hex);
  for (const std::size_t i : {8U, 13U, 18U, 23U}) places[i] = &k_dash;
  places[14] = &k_seven;
  places[19] = &k_variant;
  return places;
}();

/// The place of a text is the count of words below it, in all of these together.
constexpr std::array k_languages{
    language{k_any, 16},          language{k_digits, k_most}, language{k_of_times, 30},
    language{k_of_positions, 30}, language{k_lower, 24},      language{k_upper, 24},
    language{k_places_of_ulid},   language{k_places_of_uuid},
};

/// Below are whole numbers.
constexpr number k_first = number{1} << 64U;

/// A text of digits that grows, and its place.
class digits_so_far {
 public:
  constexpr void add(unsigned char digit) noexcept {
    for (std::size_t i = 0; i < k_languages.size(); ++i)
      counts_[i] = k_languages[i].step(counts_[i], size_, digit);
    ++size_;
  }
  [[nodiscard]] constexpr number place() const noexcept {
    number place = k_first;
    for (const language::counting& c : counts_) place += c.count;
    return place;
  }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

 private:
  std::array<language::counting, k_languages.size()> counts_{};
  std::size_t size_{0};
};

/// Whether the places go up to 2^128 - 1 at most: each size has room above those before it.
constexpr bool has_room_for_all() {
  number free = ~number{0} - k_first;
  for (const language& l : k_languages) {
    if (l.size() > free) return false;
    free -= l.size();
  }
  return true;
}
static_assert(has_room_for_all());

constexpr number place_of(std::string_view text) noexcept {
  number place = k_first;
  for (const language& l : k_languages) place += l.below(text);
  return place;
}

constexpr bool is_any_word(std::string_view text) noexcept {
  for (const language& l : k_languages) {
    if (l.is_word(text)) return true;
  }
  return false;
}

}  // namespace

std::optional<sequence> sequence_of_text(std::string_view text) noexcept {
  if (!is_any_word(text)) return std::nullopt;
  const number place = place_of(text);
  return sequence{static_cast<std::uint64_t>(place >> 64U), static_cast<std::uint64_t>(place)};
}

std::string text_of_sequence(sequence s) {
  const number place = number{s.epoch} << 64U | s.number;
  std::string text;
  while (text.size() < k_most && !(is_any_word(text) && place_of(text) == place)) {
    // The greatest character with which the text is not behind the place.
    unsigned low = 1;
    unsigned high = 0xF4;
    while (low < high) {
      const unsigned middle = (low + high + 1) / 2;
      text.push_back(static_cast<char>(middle));
      (place_of(text) <= place ? low : high) = place_of(text) <= place ? middle : middle - 1;
      text.pop_back();
    }
    text.push_back(static_cast<char>(low));
  }
  return text;
}

std::size_t digits_in_text(sequence s) noexcept {
  const number place = number{s.epoch} << 64U | s.number;
  digits_so_far text;
  while (text.size() == 0 || text.place() < place) {
    if (text.size() == k_most) return 0;
    // The greatest digit with which the text is not behind the place.
    unsigned char low = '0';
    unsigned char high = '9';
    while (low < high) {
      const auto middle = static_cast<unsigned char>((low + high + 1) / 2);
      digits_so_far longer = text;
      longer.add(middle);
      (longer.place() <= place ? low : high) =
          static_cast<unsigned char>(longer.place() <= place ? middle : middle - 1);
    }
    text.add(low);
  }
  return text.place() == place ? text.size() : 0;
}

}  // namespace ratchet
