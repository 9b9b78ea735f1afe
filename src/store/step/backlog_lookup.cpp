// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/backlog_lookup.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/sequence_range.hpp"
#include "store/layout/io.hpp"
#include "store/layout/waiting.hpp"

namespace ratchet {

namespace {

using layout::damaged;

/// Of an event with a range: it may pass what waits there.
[[nodiscard]] bool covers(const decoded_event& e, sequence s) {
  return e.begins_at && sequence{e.sequence.epoch, *e.begins_at} <= s;
}

/// One look-up's way through `waiting`, with one iterator for all aggregates.
class backlog_search {
 public:
  backlog_search(const database& db, stream_slot in, const step_plan& plan)
      : db_{&db},
        in_{in},
        plan_{&plan},
        end_{layout::end_of_prefix(layout::waiting_prefix(layout::waiting_kind::event, in.stream, in.slot))},
        upper_{end_} {
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &upper_;
    at_.reset(db.db().NewIterator(options, db.handle(family::waiting)));
  }

  result<void> run(std::span<const std::uint32_t> waits, step_rows& out) {
    for (const std::uint32_t aggregate : waits) out.backlogs.emplace_back(aggregate, backlog_rows{});
    RATCHET_TRY(get_backlogs(out));
    group_events(waits);
    const auto has_events = [this](const auto& b) { return events_to_read(b.second.backlog) != 0; };
    const auto firsts =
        static_cast<std::size_t>(std::count_if(out.backlogs.begin(), out.backlogs.end(), has_events));
    left_ = k_queue_events - std::min(k_queue_events, firsts);
    for (std::size_t i = 0; i < out.backlogs.size(); ++i) {
      auto& [aggregate, rows] = out.backlogs[i];
      if (events_to_read(rows.backlog) == 0) continue;
      const std::span<const std::uint32_t> events = events_of(i);
      RATCHET_TRY(read_queue(aggregate, *out.aggregates[aggregate], events, rows));
      RATCHET_TRY(read_asked(aggregate, rows));
      if (rows.complete || events.empty()) continue;
      RATCHET_TRY(plan_->order == order::arrival ? find_ids(aggregate, events, rows)
                                                 : find_sequences(events, rows));
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  [[nodiscard]] std::string_view name(std::uint32_t aggregate) const { return plan_->aggregates[aggregate]; }

  result<void> get_backlogs(step_rows& out) {
    std::vector<std::size_t> sorted(out.backlogs.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
      return name(out.backlogs[a].first) < name(out.backlogs[b].first);
    });
    std::vector<std::string> keys(sorted.size());
    std::vector<rocksdb::Slice> slices(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      layout::append_backlog_key(keys[i], in_.stream, in_.slot, name(out.backlogs[sorted[i]].first));
      slices[i] = keys[i];
    }
    std::vector<rocksdb::PinnableSlice> values(sorted.size());
    std::vector<rocksdb::Status> statuses(sorted.size());
    constexpr bool k_sorted = true;
    db_->db().MultiGet(rocksdb::ReadOptions{}, db_->handle(family::waiting), slices.size(), slices.data(),
                       values.data(), statuses.data(), k_sorted);
    for (const rocksdb::Status& s : statuses) {
      if (s.IsNotFound()) return damaged();  // its row says that it is there
      if (!s.ok()) return read_error(s);
    }
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      RATCHET_TRY(out.backlogs[sorted[i]].second.backlog, layout::decode_backlog(values[i].ToStringView()));
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// Which events of the step each of them has.
  void group_events(std::span<const std::uint32_t> waits) {
    events_.assign(waits.size(), {});
    if (plan_->events.empty()) return;
    std::vector<std::uint32_t> place_of(plan_->aggregates.size(), k_no_index);
    for (std::uint32_t i = 0; i < waits.size(); ++i) place_of[waits[i]] = i;
    for (std::uint32_t e = 0; e < plan_->events.size(); ++e) {
      const std::uint32_t aggregate = plan_->aggregate_of[e];
      if (aggregate != k_no_index && place_of[aggregate] != k_no_index) {
        events_[place_of[aggregate]].push_back(e);
      }
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> events_of(std::size_t place) const { return events_[place]; }

  /// Accepted ones are nothing that a gate could come upon.
  [[nodiscard]] std::uint64_t events_to_read(const backlog& b) const {
    return plan_->runs_accepted ? b.events() : b.not_accepted();
  }

  /// Whether a step has use for more than the first of the queue.
  [[nodiscard]] bool wants_queue(const backlog_rows& rows, std::span<const std::uint32_t> events) const {
    if (plan_->resumes || rows.backlog.goes_on() || plan_->order == order::latest) return true;
    // Below the first one an event may close the gap, and the queue follows it.
    return plan_->order == order::strict && std::any_of(events.begin(), events.end(), [&](std::uint32_t e) {
             const decoded_event& event = plan_->events[e];
             const sequence lowest = rows.queue.front().head.sequence;
             const bool is_below = event.sequence < lowest;
             return event.has_sequence && (is_below || covers(event, lowest));
           });
  }

  result<void> read_queue(std::uint32_t aggregate, const aggregate_row& row,
                          std::span<const std::uint32_t> events, backlog_rows& rows) {
    prefix_.clear();
    layout::append_waiting_events_prefix(prefix_, in_.stream, in_.slot, name(aggregate));
    // What was handled has left its tombstones below. In `latest` events that a newer one made needless may
    // lie there, too, where the step that took it could not load them all.
    if (!plan_->runs_accepted && rows.backlog.accepted) {
      seek(behind(rows.backlog.accepted->sequence));
    } else {
      seek(row.has_last && plan_->order != order::latest ? row.last : sequence{});
    }
    const std::uint64_t events_in_all = events_to_read(rows.backlog);
    RATCHET_TRY(read_events(rows, events_in_all, events));
    rows.complete = rows.queue.size() == events_in_all;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// Adds the event at hand to the queue, and as many of those behind it as it may have.
  result<void> read_events(backlog_rows& rows, std::uint64_t most, std::span<const std::uint32_t> events) {
    const std::size_t had = rows.queue.size();
    std::uint64_t wanted = 1;
    while (rows.queue.size() - had < wanted) {
      if (!is_at_event()) return missing();
      RATCHET_TRY(const sequence s, sequence_here());
      RATCHET_TRY(rows.queue.emplace_back(), layout::decode_waiting_event(s, at_->value().ToStringView()));
      const std::size_t read = rows.queue.size() - had;
      if (read == 1 && wants_queue(rows, events))
        wanted = std::min<std::uint64_t>({most, 1 + left_, plan_->most_queued});
      const std::uint64_t bytes = rows.queue.back().bytes();
      left_bytes_ -= std::min(left_bytes_, bytes);
      if (left_bytes_ == 0) wanted = read;
      if (read < wanted) at_->Next();
    }
    left_ -= rows.queue.size() - had - 1;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// The events that the plan asks for, where the queue ends before them; and first those behind the accepted
  /// ones, where it ends among these.
  result<void> read_asked(std::uint32_t aggregate, backlog_rows& rows) {
    std::vector<sequence> wanted;
    for (const asked_event& asked : plan_->asked) {
      if (asked.aggregate == aggregate) wanted.push_back(asked.sequence);
    }
    if (rows.complete || wanted.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const std::uint64_t in_queue = rows.queue.size();
    const sequence end = rows.queue.back().head.sequence;
    const auto& accepted = rows.backlog.accepted;
    if (accepted && in_queue <= accepted->events) {
      RATCHET_TRY(read_asked_accepted(wanted, rows, end, in_queue));
      const std::uint64_t others = rows.backlog.not_accepted();
      if (others > 0) {
        seek(behind(accepted->sequence));
        RATCHET_TRY(read_events(rows, others, {}));
      }
      rows.complete = rows.queue.size() - in_queue == others;
    }
    for (const sequence s : wanted) {
      if (rows.complete || s <= rows.queue.back().head.sequence) continue;
      seek(s);
      if (!is_at_event()) break;
      RATCHET_TRY(const sequence here, sequence_here());
      if (here != s) continue;
      RATCHET_TRY(add_asked(s, rows, 0));
    }
    return at_->status().ok() ? success() : read_error(at_->status());
  }

  /// Of an accepted one it is to be known how many lie below: all of them are passed.
  result<void> read_asked_accepted(std::span<const sequence> wanted, backlog_rows& rows, sequence end,
                                   std::uint64_t below) {
    const sequence last = rows.backlog.accepted->sequence;
    seek(behind(end));
    for (const sequence s : wanted) {
      if (s <= end || s > last) continue;
      std::optional<sequence> here;
      for (; is_at_event(); at_->Next(), ++below) {
        RATCHET_TRY(here, sequence_here());
        if (*here >= s) break;
      }
      if (!is_at_event()) break;
      if (here != s) continue;
      RATCHET_TRY(add_asked(s, rows, below));
    }
    return at_->status().ok() ? success() : read_error(at_->status());
  }

  /// The iterator stands on it, and does so afterwards.
  result<void> add_asked(sequence s, backlog_rows& rows, std::uint64_t accepted_below) {
    asked_row row;
    row.accepted_below = accepted_below;
    RATCHET_TRY(row.event, layout::decode_waiting_event(s, at_->value().ToStringView()));
    at_->Prev();
    if (!is_at_event()) return missing();
    RATCHET_TRY(const sequence before_it, sequence_here());
    RATCHET_TRY(row.previous, layout::decode_waiting_head(before_it, at_->value().ToStringView()));
    rows.asked.push_back(std::move(row));
    at_->Next();
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// Of each sequence behind the queue, the first waiting event at or above it.
  result<void> find_sequences(std::span<const std::uint32_t> events, backlog_rows& rows) {
    std::vector<sequence> wanted;
    for (const std::uint32_t e : events) {
      const decoded_event& event = plan_->events[e];
      // All that wait of an aggregate that begins again are of one life.
      const sequence last = rows.queue.back().head.sequence;
      const sequence s = plan_->restarts ? sequence{last.epoch, event.sequence.number} : event.sequence;
      // Most come above all that wait.
      if (event.has_sequence && s > last && s <= rows.backlog.highest) wanted.push_back(s);
    }
    std::sort(wanted.begin(), wanted.end());
    for (const sequence s : wanted) {
      if (!rows.near.empty() && rows.near.back().sequence >= s) continue;  // the same one
      seek(s);
      if (!is_at_event()) return at_->status().ok() ? success() : read_error(at_->status());
      RATCHET_TRY(const sequence here, sequence_here());
      RATCHET_TRY(rows.near.emplace_back(), layout::decode_waiting_head(here, at_->value().ToStringView()));
    }
    return success();
  }

  /// Those that wait under an id of the step's events.
  result<void> find_ids(std::uint32_t aggregate, std::span<const std::uint32_t> events, backlog_rows& rows) {
    std::vector<event_id> ids;
    for (const std::uint32_t e : events) {
      if (plan_->events[e].has_id) ids.push_back(plan_->events[e].id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::string key;
    for (const event_id& id : ids) {
      key.clear();
      layout::append_waiting_id_key(key, in_.stream, in_.slot, name(aggregate), id);
      RATCHET_TRY(const auto filed, db_->get({}, family::waiting, key));
      if (!filed) continue;
      RATCHET_TRY(const sequence s, layout::decode_sequence(*filed));
      if (s <= rows.queue.back().head.sequence) continue;
      key.clear();
      layout::append_waiting_event_key(key, in_.stream, in_.slot, name(aggregate), s);
      RATCHET_TRY(const auto event, db_->get({}, family::waiting, key));
      if (!event) return damaged();
      RATCHET_TRY(rows.near.emplace_back(), layout::decode_waiting_head(s, *event));
    }
    std::sort(rows.near.begin(), rows.near.end(),
              [](const waiting_head& a, const waiting_head& b) { return a.sequence < b.sequence; });
    return success();
  }

  void seek(sequence s) {
    key_ = prefix_;
    layout::append_sequence(key_, s);
    at_->Seek(key_);
  }
  /// The iterator stands on an event of the aggregate.
  [[nodiscard]] bool is_at_event() const { return at_->Valid() && at_->key().starts_with(prefix_); }
  [[nodiscard]] result<sequence> sequence_here() const {
    return layout::parse_sequence(at_->key().ToStringView().substr(prefix_.size()));
  }
  /// The backlog counts more events than there are.
  [[nodiscard]] std::error_code missing() const {
    return at_->status().ok() ? damaged() : read_error(at_->status());
  }
  static result<void> success() { return BOOST_OUTCOME_V2_NAMESPACE::success(); }

  const database* db_;
  stream_slot in_;
  const step_plan* plan_;
  std::string end_;
  rocksdb::Slice upper_;  ///< borrowed from end_
  std::unique_ptr<rocksdb::Iterator> at_;
  std::vector<std::vector<std::uint32_t>> events_;  ///< by place among those that wait
  std::string prefix_;                              ///< of the aggregate's events
  std::string key_;
  std::size_t left_{0};  ///< so many events may still be read, beside each one's first
  std::uint64_t left_bytes_{k_queue_bytes};
};

}  // namespace

result<void> find_backlogs(const database& db, stream_slot in, const step_plan& plan,
                           std::span<const std::uint32_t> waits, step_rows& out) {
  return backlog_search{db, in, plan}.run(waits, out);
}

}  // namespace ratchet
