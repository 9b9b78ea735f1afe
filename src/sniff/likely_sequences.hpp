// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ratchet/types.hpp"
#include "sniff/columns.hpp"
#include "sniff/sniffed_record.hpp"

/// Which places may order the events of an aggregate, and whether their name says so.
namespace ratchet::sniff {

/// Of each record, by its index. Producers and brokers deliver twice, and late: neither says anything of what
/// orders the events.
struct occurrences {
  std::span<const sniffed_record> records;  ///< borrowed
  std::vector<bool> again;                  ///< repeats an earlier record
  /// When its event was, as it says itself. Empty: no field says so.
  std::vector<std::optional<timestamp>> when;
  std::string when_is;  ///< that field
};

/// An event that came behind a newer one of its aggregate.
struct late_event {
  std::string at;      ///< the record's place
  std::string has;     ///< its number or time, as it is spelt
  std::string behind;  ///< the highest one that had come
};

/// How a column goes on within each aggregate, from one event to another one. Repeats are left out.
struct growth {
  std::size_t events{0};
  std::size_t late{0};  ///< below the highest one that had come of their aggregate
  std::optional<late_event> first_late;
  std::size_t pairs{0};  ///< of events of one aggregate, one behind the other
  std::size_t up{0};
  std::size_t by_one{0};
  std::size_t equal{0};

  [[nodiscard]] bool grows() const noexcept { return pairs > 0 && up == pairs; }
  [[nodiscard]] bool never_falls() const noexcept { return up > 0 && up + equal == pairs; }
  [[nodiscard]] std::size_t falls() const noexcept { return pairs - up - equal; }
};

/// What the numbers of each aggregate are, in whatever order they came. Repeats are left out.
struct numbering {
  /// They count by 1, and some aggregate has two. What may lie before the first record or behind the last
  /// one, because events come late, is not missing.
  bool counts_by_one{false};
  std::size_t shared{0};    ///< events with the number of another one of their aggregate
  std::size_t missing{0};   ///< numbers between those of an aggregate, but for the ones above
  std::size_t at_edges{0};  ///< the ones above
  std::size_t aggregates{0};
  std::size_t begin_at_0{0};  ///< aggregates
  std::size_t begin_at_1{0};
};

/// A place whose values are versions of one kind.
struct likely_sequence {
  std::size_t column{0};
  sequence_kind kind{sequence_kind::integer};
  bool is_wide{false};  ///< integers of more than 64 bits
  bool is_time{false};
  bool is_coarse{false};        ///< two events may share it: a time, or the number of a transaction
  bool is_named{false};         ///< its name, or its form, says that it orders
  bool is_surely_named{false};  ///< such a name has hardly another meaning
  std::size_t missing{0};       ///< records without it, or with something else there
  bool is_rare{false};          ///< most records are without it
  numbering numbers;
  sniff::growth growth;   ///< as the records came
  sniff::growth in_time;  ///< as the events were, by their time; without pairs where no time says it
  int score{0};           ///< only which is higher counts

  /// Whether the records bear out that it orders their events, in whatever order they came.
  [[nodiscard]] bool is_believable() const noexcept;
  /// Whether several events have one number so often that it is coarser than they are.
  [[nodiscard]] bool is_shared() const noexcept { return numbers.shared * 5 > growth.events; }
};

/// What the versions of a column are, all but as many as may fail; none where they are of several kinds, or
/// of none.
[[nodiscard]] std::optional<sequence_kind> kind_of_versions(const column&, std::size_t may_fail = 0);

/// Within the aggregates that these columns name together, as the records came, and as their events were.
[[nodiscard]] growth growth_of(const column&, sequence_kind, const std::vector<const column*>& by,
                               const occurrences&);
[[nodiscard]] growth growth_in_time(const column&, sequence_kind, const std::vector<const column*>& by,
                                    const occurrences&);

/// As the records came, by the time that their events name.
[[nodiscard]] growth growth_of_times(const column& times, const column& by, const occurrences&);

[[nodiscard]] numbering numbers_of(const column&, sequence_kind, const std::vector<const column*>& by,
                                   const occurrences&);

/// The likeliest first. `records` and `values` say in how many a column should be.
[[nodiscard]] std::vector<likely_sequence> likely_sequences(const std::vector<column>&, std::size_t by,
                                                            std::size_t records, std::size_t values,
                                                            const occurrences&);

/// For people. The second name is that of the events' time.
[[nodiscard]] std::string words_of(const likely_sequence&, const std::string& when);

/// Of numbers that count by 1.
[[nodiscard]] std::string words_of_missing(const numbering&);

/// How many came late, and which was the first. Some did.
[[nodiscard]] std::string words_of_late(const growth&, bool is_time);

/// Whether a name as bare_name() has it says that the field counts or orders something.
[[nodiscard]] bool names_order(std::string_view name) noexcept;

/// The last token of a pointer, or the header's name, in lower case and without _ and -.
[[nodiscard]] std::string bare_name(std::string_view source);

}  // namespace ratchet::sniff
