// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sniff/known_names.hpp"
#include "sniff/likely.hpp"

namespace ratchet::sniff {

/// Guesses of one set of records. Scores are relative: only which is higher counts. What the records are is
/// in likely_look.cpp, who an event is in likely_ids.cpp, whose it is and what orders it in
/// likely_aggregates.cpp, all else in likely.cpp. Thread-safety: none. Records and columns are borrowed.
class guesser {
 public:
  guesser(std::span<const sniffed_record> records, const std::vector<column>& columns,
          std::optional<look> known)
      : records_{records}, columns_{columns}, known_{known} {}
  [[nodiscard]] likely run();

 private:
  struct scored {
    int score;
    candidate what;
  };
  [[nodiscard]] bool has(std::size_t record, std::string_view source) const;
  [[nodiscard]] std::size_t having(words sources) const;
  void find_look();
  void find_start();
  [[nodiscard]] std::size_t nulls() const noexcept { return records_.size() - values_; }
  [[nodiscard]] bool any_header() const;
  [[nodiscard]] std::size_t ydb_debezium() const;
  [[nodiscard]] std::size_t unwrapped();
  void note_changes();
  /// The best first; of equals those that came first in the records.
  static std::vector<candidate> take(std::vector<scored>& all);
  [[nodiscard]] bool is_in_nearly_all(const column& c) const noexcept;
  /// What is malformed is no sign that the others have nothing to go by.
  [[nodiscard]] bool is_in_most(const column& c) const noexcept;
  [[nodiscard]] static bool is_nearly_all(std::size_t part, const column& c) noexcept;
  /// How many records could have it: a null value has no members, nor has one that is no object.
  [[nodiscard]] std::size_t expected(const column& c) const noexcept;
  [[nodiscard]] static bool names_time(std::string_view name) noexcept;
  void find_times();
  static std::string words_of_unit(time_unit unit);
  [[nodiscard]] bool is_time(std::size_t column) const;
  /// The same bytes with the same key and headers are one record that came twice.
  void find_repeats();
  /// Of events that say who they are, no other byte counts.
  void note_repeats_by_id(const column& ids);
  /// Whether nearly all values there that come again do so in records that are the same: events that came
  /// again. What an object is called stands in records that differ. A word such as "unknown" is one value of
  /// many.
  [[nodiscard]] bool is_shared_by_repeats(const column& c) const;
  [[nodiscard]] bool comes_again(const column& c) const;
  /// Of names that end as an id: the event's own.
  [[nodiscard]] static bool names_event(std::string_view name) noexcept;
  /// The event's own, or what it has in common with others that happened with it.
  [[nodiscard]] static bool names_events_together(std::string_view name) noexcept;
  /// Several events may share them: of a request, of a transaction, of whoever the event is about.
  [[nodiscard]] static bool names_something_else(std::string_view name) noexcept;
  void find_ids();
  /// What is the same for the events of a transaction, with their place in it.
  void find_joined_ids();
  [[nodiscard]] std::size_t joined_distinct(std::initializer_list<std::size_t> parts) const;
  /// Connect's description of the values, which stands in each record.
  [[nodiscard]] bool is_of_schema(const column& c) const;
  [[nodiscard]] bool is_id_by_format(std::string_view source) const noexcept;
  void find_attributes();
  [[nodiscard]] std::string name_in_events(const std::string& source) const;
  /// What is the aggregate of a CloudEvent unless a config says otherwise.
  [[nodiscard]] bool is_subject(const column& c) const noexcept;
  /// Members of the payload that are in some events only. What a format needs is not the payload.
  void find_parts_of_states();
  void find_parts_of(const std::string& root, std::size_t objects);
  /// Of CockroachDB's envelopes without an operation.
  void find_after_image();
  /// Of producers whose form of row changes is known.
  void find_rows();
  void find_aggregates();
  void find_sequences();
  /// An id that grows orders events by when they were made up, which is no version.
  [[nodiscard]] bool is_the_id(const likely_sequence& s) const;
  /// Where a version grows in the aggregates of another field, or in those of two: the orders of a customer
  /// who is the key, numbers of several tenants.
  void join_aggregates(std::vector<likely_sequence>& all);
  void find_types();
  std::span<const sniffed_record> records_;
  const std::vector<column>& columns_;
  std::optional<look> known_;
  std::size_t values_{0};
  std::size_t objects_{0};  ///< of the values
  occurrences seen_;
  std::size_t marks_{0};  ///< records that only say how far a changefeed is
  std::string root_;      ///< of Debezium's, beside a schema
  likely out_;
};

}  // namespace ratchet::sniff
