// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/due_index.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "store/layout/waiting.hpp"

namespace ratchet {

namespace {

/// A way through one of the two indexes, in the order of time.
class due_walk {
 public:
  due_walk(const row_reader& rows, layout::waiting_kind kind, stream_slot in)
      : kind_{kind},
        in_{in},
        end_{layout::end_of_prefix(layout::waiting_prefix(kind, in.stream))},
        upper_{end_} {
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &upper_;
    at_ = rows.iterate(options, family::waiting);
  }

  result<void> start(timestamp from) {
    at_->Seek(layout::due_start(kind_, in_.stream, from));
    return read();
  }
  result<void> next() {
    at_->Next();
    return read();
  }
  [[nodiscard]] bool is_at_end() const { return !entry_; }
  [[nodiscard]] timestamp time() const { return entry_->time; }
  [[nodiscard]] std::string_view aggregate() const { return entry_->aggregate; }
  [[nodiscard]] std::optional<timestamp> time_here() const {
    return entry_ ? std::optional{entry_->time} : std::nullopt;
  }

 private:
  /// Those of other slots lie between, as the keys go by time.
  result<void> read() {
    entry_.reset();
    for (; at_->Valid(); at_->Next()) {
      RATCHET_TRY(entry_, layout::parse_due_key(kind_, at_->key().ToStringView()));
      if (entry_->slot == in_.slot) break;
      entry_.reset();
    }
    if (!at_->status().ok()) {
      return read_error(at_->status());
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  layout::waiting_kind kind_;
  stream_slot in_;
  std::string end_;
  rocksdb::Slice upper_;  ///< borrowed from end_
  std::unique_ptr<rocksdb::Iterator> at_;
  std::optional<layout::parsed_due_key> entry_;
};

/// The names so far, none twice.
class due_names {
 public:
  due_names(std::vector<std::string>& names, std::size_t limit) : names_{&names}, limit_{limit} {}
  [[nodiscard]] bool full() const { return names_->size() >= limit_; }
  [[nodiscard]] bool has(std::string_view name) const { return seen_.contains(name); }
  void add(std::string_view name) {
    if (seen_.emplace(name).second) names_->emplace_back(name);
  }

 private:
  std::vector<std::string>* names_;
  std::size_t limit_;
  std::set<std::string, std::less<>> seen_;
};

/// Takes what is not behind `until`.
result<void> take_due(due_walk& walk, std::optional<timestamp> until, due_names& names) {
  while (until && !walk.is_at_end() && walk.time() <= *until && !names.full()) {
    names.add(walk.aggregate());
    RATCHET_TRY(walk.next());
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// The first time of one that is not named.
result<std::optional<timestamp>> next_of(due_walk& walk, const due_names& names) {
  while (!walk.is_at_end() && names.has(walk.aggregate())) {
    RATCHET_TRY(walk.next());
  }
  return walk.time_here();
}

}  // namespace

void due_bounds::note(const backlog& written) {
  if (written.wake) wake_ = std::min(wake_, *written.wake);
  if (written.gap_since) gap_ = std::min(gap_, *written.gap_since);
}

result<due_aggregates> find_due(const row_reader& rows, stream_slot in, due_bounds& bounds, timestamp now,
                                std::optional<timestamp> gaps, std::size_t limit) {
  due_aggregates out;
  due_names names{out.names, limit};
  due_walk wakes{rows, layout::waiting_kind::wake, in};
  RATCHET_TRY(wakes.start(bounds.wake()));
  bounds.raise_wake(wakes.time_here());
  RATCHET_TRY(take_due(wakes, now, names));
  due_walk oldest{rows, layout::waiting_kind::gap, in};
  RATCHET_TRY(oldest.start(bounds.gap()));
  bounds.raise_gap(oldest.time_here());
  RATCHET_TRY(take_due(oldest, gaps, names));
  RATCHET_TRY(out.next_wake, next_of(wakes, names));
  RATCHET_TRY(out.next_gap, next_of(oldest, names));
  return out;
}

result<std::vector<std::string>> find_due_behind(const row_reader& rows, stream_slot in, timestamp until,
                                                 std::size_t limit) {
  std::vector<std::string> out;
  if (until == timestamp::max()) return out;
  due_names names{out, limit};
  due_walk wakes{rows, layout::waiting_kind::wake, in};
  RATCHET_TRY(wakes.start(until + timestamp::duration{1}));
  RATCHET_TRY(take_due(wakes, timestamp::max(), names));
  return out;
}

}  // namespace ratchet
