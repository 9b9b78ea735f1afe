// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that answers the group: assigned, revoked, the end and the death of
// partitions.
#include <algorithm>
#include <utility>

#include "app/consumer_session.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_query_timeout{10'000};
constexpr std::chrono::milliseconds k_claim_timeout{10'000};
constexpr std::chrono::milliseconds k_revoke_commit_timeout{5'000};

}  // namespace

result<std::optional<problem>> consumer_session::must_leave(const std::vector<topic_partition>& held) {
  const std::optional<problem> stays;
  if (held.size() == all_partitions_.size()) return stays;
  RATCHET_TRY(const auto committed, around_.from.committed(all_partitions_, k_query_timeout));
  if (has_own_claim(around_.to, committed)) return stays;  // who has claimed stays
  const auto lowest = std::min_element(all_partitions_.begin(), all_partitions_.end());
  if (std::find(held.begin(), held.end(), *lowest) != held.end()) return stays;
  return std::optional{
      problem{make_error_code(errc::group_taken),
              "another instance is joining group `" + around_.settings.kafka.group +
                  "` with a state directory of its own and holds " + to_string(*lowest),
              "run one instance for each state directory, and give each its own `kafka.group`",
              {}}};
}

session_result consumer_session::questions_failed(std::error_code code) const {
  return {session_end::client_lost,
          problem{code, "where to resume cannot be found out: " + code.message(), "", {}}};
}

std::optional<session_result> consumer_session::on_assigned(const notice::assigned& a) {
  // Partitions may have been added to a topic since the start.
  for (const topic_partition& where : a.partitions) {
    const auto at = std::lower_bound(all_partitions_.begin(), all_partitions_.end(), where);
    if (at == all_partitions_.end() || *at != where) all_partitions_.insert(at, where);
  }
  if (!assigned_once_) {
    auto leave = must_leave(a.partitions);
    if (!leave) return questions_failed(leave.error());
    if (leave.value()) return session_result{session_end::refused, std::move(*leave.value())};
  }
  // What the operator said holds for the first assignment of this start, and only there.
  const resume_option option = assigned_once_ ? resume_option::none : options_.resume;
  auto resolved =
      resolve_assignment(around_.from, around_.to, pipeline_, a.partitions, option, around_.clock.now());
  if (!resolved) return questions_failed(resolved.error());
  resolved_assignment& r = resolved.value();
  // Who has claimed never leaves: a partition that may not be read is stopped, and the rest goes on.
  if (r.refused && !assigned_once_) return session_result{session_end::refused, std::move(*r.refused)};
  if (r.rebuild) return session_result{session_end::rebuild, std::nullopt};
  if (r.takeover) {
    if (auto failed = draw(r.takeover_counter)) return failed;
  }
  return start_reading(std::move(r), !assigned_once_);
}

std::optional<session_result> consumer_session::start_reading(resolved_assignment r, bool first) {
  // The resolved start is durable before anything is claimed: whoever reads the claim can rely on it.
  if (const auto entered = pipeline_.enter_positions(r.start, std::move(r.audits)); !entered) {
    return store_failed(entered.error());
  }
  if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  if (!r.start.empty()) {
    const auto claim = committer_->claim(r.start, around_.to.durable_step());
    if (const auto claimed = around_.from.commit_and_wait(claim, k_claim_timeout); !claimed) {
      // An assignment that is not answered blocks the member, and one without a claim must not be read.
      return session_result{session_end::client_lost,
                            problem{claimed.error(), "the claim on the group was not committed", "", {}}};
    }
    for (const commit_request& c : claim)
      around_.board.set_committed(stream_name(c.where), c.where, c.next_offset);
  }
  pipeline_.forget_stops();
  for (const position& p : r.start) around_.board.clear_stopped(stream_name(p.where), p.where);
  reported_stops_.clear();
  read_again_.clear();
  unassigned_since_.reset();
  at_end_.clear();
  assigned_.clear();
  for (const position& p : r.start) assigned_[p.where] = p.offset;
  committer_->assigned(r.start);
  show_assignment();
  for (const std::string& warning : r.warnings) around_.log->warn("{}", warning);
  for (const problem& stop : r.stops) around_.log->error("{} -> {}", stop.message, stop.hint);
  for (const auto& [where, why] : r.stopped) stop_partition(where, why);
  for (const position& p : r.start) {
    around_.log->info("resuming {} at offset {}", to_string(p.where), p.offset);
    if (!first || !options_.until_end) continue;
    const auto log = around_.from.bounds(p.where, k_query_timeout);
    end_at_start_[p.where] = log ? log.value().end : p.offset;
  }
  assigned_once_ = true;
  if (const auto begun = around_.from.assign(r.start); !begun) {
    return session_result{
        session_end::client_lost,
        problem{begun.error(), "the assignment cannot be read: " + begun.error().message(), "", {}}};
  }
  return std::nullopt;
}

void consumer_session::show_assignment() {
  for (const auto& s : around_.streams) {
    std::vector<topic_partition> held;
    for (const auto& [where, unused] : assigned_) {
      if (pipeline_.stream_of(where.topic) == s.get()) held.push_back(where);
    }
    around_.board.set_assigned(s->config.name, held);
  }
  const std::size_t missing = all_partitions_.size() - assigned_.size();  // it holds every assigned one
  if (missing == 0) {
    around_.board.set_ready(true);
    return;
  }
  around_.board.set_ready(false, std::to_string(missing) + " of " + std::to_string(all_partitions_.size()) +
                                     " partitions are not read by this instance");
  around_.log->warn("{} of {} partitions are not read by this instance", missing, all_partitions_.size());
}

std::optional<session_result> consumer_session::on_revoked(const notice::revoked& r) {
  around_.log->info("{} partitions were {}", r.partitions.size(), r.lost ? "lost" : "revoked");
  around_.board.set_ready(false, "waiting for the group to assign partitions");
  if (!r.lost && !assigned_.empty()) {
    if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
    const auto requests = committer_->all_due(around_.to.durable_step());
    if (!requests.empty()) {
      if (const auto done = around_.from.commit_and_wait(requests, k_revoke_commit_timeout); !done) {
        around_.log->warn("offsets were not committed before the rebalance: {}", done.error().message());
      }
    }
  }
  committer_->unassigned();
  assigned_.clear();
  at_end_.clear();
  unassigned_since_ = around_.clock.steady();
  if (const auto done = around_.from.unassign(); !done) {
    return session_result{
        session_end::client_lost,
        problem{done.error(), "the assignment cannot be given back: " + done.error().message(), "", {}}};
  }
  return std::nullopt;
}

std::optional<session_result> consumer_session::on_end_of_partition(const notice::end_of_partition& e) {
  if (!assigned_.contains(e.where)) return std::nullopt;
  // Transaction markers take offsets but are never delivered: without this the lag would never be 0.
  if (const auto moved = pipeline_.move_to(e.where, e.offset); !moved) return store_failed(moved.error());
  note_moves();
  around_.board.set_log_end(stream_name(e.where), e.where, e.offset);
  at_end& end = at_end_.try_emplace(e.where, at_end{e.offset, around_.clock.steady()}).first->second;
  if (end.next_offset != e.offset) end = {e.offset, around_.clock.steady()};
  const auto goal = end_at_start_.find(e.where);
  if (goal != end_at_start_.end() && e.offset >= goal->second) reached_.insert(e.where);
  return std::nullopt;
}

std::optional<session_result> consumer_session::on_out_of_range(const notice::out_of_range& o) {
  if (!assigned_.contains(o.where) || reported_stops_.contains(o.where)) return std::nullopt;
  const auto resolved = resolve_assignment(around_.from, around_.to, pipeline_, std::span{&o.where, 1},
                                           resume_option::none, around_.clock.now());
  const std::int64_t offset = pipeline_.find(o.where)->next_offset;
  const auto before = read_again_.find(o.where);
  // The same offset twice: the log and its bounds contradict each other, and it would never end.
  const bool again = before != read_again_.end() && before->second == offset;
  if (!resolved || !resolved.value().stops.empty() || again) {
    on_dead_partition(o.where, o.text);
    return std::nullopt;
  }
  read_again_[o.where] = offset;
  around_.log->warn("{} was out of range ({}); the log has its offset {}, and it is read again from there",
                    to_string(o.where), o.text, offset);
  std::vector<position> positions;
  for (const auto& [where, unused] : assigned_) {
    if (!reported_stops_.contains(where)) positions.push_back({where, pipeline_.find(where)->next_offset});
  }
  if (const auto begun = around_.from.assign(positions); !begun) return questions_failed(begun.error());
  return std::nullopt;
}

void consumer_session::on_dead_partition(const topic_partition& where, const std::string& text) {
  if (!assigned_.contains(where)) {  // a notice of a whole topic names none of its partitions
    around_.log->warn("{} cannot be read: {}", where.topic, text);
    return;
  }
  std::string why = to_string(where) + " cannot be read any more: " + text;
  std::string hint = "start again: the offsets are then checked, and what can be done is said";
  const auto resolved = resolve_assignment(around_.from, around_.to, pipeline_, std::span{&where, 1},
                                           resume_option::none, around_.clock.now());
  if (resolved && !resolved.value().stops.empty()) {
    why = resolved.value().stops.front().message;
    hint = resolved.value().stops.front().hint;
  }
  around_.log->error("{} -> {}", why, hint);
  partition_stop stop;
  stop.where = where;
  stop.code = make_error_code(errc::resume_refused);
  pipeline_.stop_partition(std::move(stop));
  stop_partition(where, why);
}

}  // namespace ratchet
