// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that answers the group: assigned, revoked, the end and the death of
// partitions.
#include <algorithm>
#include <iterator>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "core/shown_text.hpp"
#include "pipeline/audit_rows.hpp"
#include "ports/error_class.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

/// Of one assignment; each rebalance says them again.
constexpr std::size_t k_most_lines = 64;
constexpr std::chrono::milliseconds k_revoke_commit_timeout{5'000};

}  // namespace

turn_result<> consumer_session::on_assigned(const notice::assigned& a) {
  if (!times_.assigned) times_.assigned = deps_.clock.steady();
  brokers_.note_answer();
  // Partitions may have been added to a topic since the start.
  partitions_.know_more(a.partitions);
  note_found_topics();
  RATCHET_TRY(ownership_.check_first_assignment(a.partitions));
  partitions_.release_all();
  return take_up(a.partitions, false);
}

turn_result<> consumer_session::take_up(std::span<const topic_partition> partitions, bool more) {
  RATCHET_TRY(auto resolved, ownership_.resolve(partitions, more));
  if (!resolved) return go_on();  // they are asked about again
  resolved_assignment& r = *resolved;
  const bool none_is_known = r.start.empty() && r.stops.empty();
  const bool is_first = !ownership_.has_taken();
  if (!r.held.empty() && (ownership_.needs_all_answers() || (is_first && none_is_known)))
    return hold_all(r, partitions, more);
  return start_reading(std::move(r), more);
}

/// Nothing is claimed yet: what has to be known first is not known.
turn_result<> consumer_session::hold_all(const resolved_assignment& r,
                                         std::span<const topic_partition> partitions, bool more) {
  const std::string why = r.held.front().second.message();
  for (const topic_partition& where : partitions) hold(where, why);
  tell_of_held();
  if (more) return go_on();
  unassigned_since_.reset();
  deps_.status.set_ready(false, "waiting for the brokers to answer for the partitions");
  if (const auto answered = deps_.source.assign({}); !answered)
    return questions_.resume_failed(answered.error());
  return go_on();
}

/// What the brokers do not answer for, what is stopped and what others hold may have more to read, and so may
/// what is read anew beside partitions that were held: it tells its end again.
std::vector<topic_partition> consumer_session::not_at_their_end(const resolved_assignment& r) const {
  std::set<topic_partition> ended;
  for (const position& p : r.start) {
    if (r.logs.at(p.where).last() <= p.offset) ended.insert(p.where);
  }
  std::vector<topic_partition> others;
  std::set_difference(partitions_.all().begin(), partitions_.all().end(), ended.begin(), ended.end(),
                      std::back_inserter(others));
  return others;
}

turn_result<> consumer_session::start_reading(resolved_assignment r, bool more) {
  const bool first = !ownership_.has_taken();
  if (first) {
    RATCHET_TRY(accept_start());
  }
  if (more) expect_ends_anew();
  RATCHET_TRY(const bool is_taken, ownership_.take(r, not_at_their_end(r), more));
  if (!is_taken) return go_on();
  if (first) {
    // Behind the claim: what the config says is in force from here on, and its topics are there.
    RATCHET_TRY(stored(pipeline_.leave_out_unread(pipeline::plain_files::are_not_read)));
  }
  if (!more) forget_assignment();
  for (const position& p : r.start) {
    // One that was held may have been stopped meanwhile, with its stream.
    if (!partitions_.is_stopped(p.where)) deps_.status.clear_stopped(stream_name(p.where), p.where);
    partitions_.assign(p);
  }
  commits_.also_assigned(r.start);
  for (const auto& [where, why] : r.held) hold(where, why.message());
  for (const auto& [where, why] : r.stopped) {
    partitions_.release(where);
    tell_of_stop(where, why);
    stop_partition(where, why);
  }
  ask(r);
  for (const auto& [where, log] : r.logs) deps_.status.set_log_end(stream_name(where), where, log.last());
  tell_of_held();
  show_assignment();
  tell_resumed(r, first);
  assigned_at_ = deps_.clock.steady();
  deps_.meter.assigned();
  if (const auto begun = deps_.source.assign(more ? positions_to_read() : r.start); !begun) {
    return session_result{
        session_end::client_lost,
        problem{begun.error(), "the assignment cannot be read: " + begun.error().message(), "", {}}};
  }
  return go_on();
}

void consumer_session::forget_assignment() {
  pipeline_.forget_stops();
  partitions_.forget();
  ends_.forget();
  forget_transactions();
  troubles_.forget();
  unassigned_since_.reset();
  commits_.unassigned();
}

std::vector<position> consumer_session::positions_to_read() const {
  std::vector<position> positions;
  for (const auto& [where, unused] : partitions_.assigned()) {
    if (!partitions_.is_stopped(where)) positions.push_back({where, pipeline_.find(where)->next_offset});
  }
  return positions;
}

void consumer_session::tell_resumed(const resolved_assignment& r, bool first) {
  if (first) ownership_.tell_of_option(r);
  for (const std::string& warning : r.warnings) tell(deps_.log, log_kind::resume_told, "{}", warning);
  const bool few = r.start.size() <= k_most_lines;
  if (!few)
    tell(deps_.log, log_kind::resumed, "resuming {} partitions; at level debug each is named",
         r.start.size());
  for (const position& p : r.start) {
    tell_of(deps_.log, few ? log_kind::resumed : log_kind::resumed_of_many,
            {.stream = stream_name(p.where), .where = &p.where, .offset = p.offset},
            "resuming " + to_string(p.where) + " at offset " + std::to_string(p.offset));
    if (options_.until_end) goals_.set(p.where, r.logs.at(p.where).last());
  }
}

void consumer_session::tell_what_is_held(const std::set<topic_partition>& all) {
  for (const auto& task : deps_.tasks) {
    std::vector<topic_partition> held;
    for (const topic_partition& where : all) {
      if (pipeline_.task_of(where.topic) == task.get()) held.push_back(where);
    }
    deps_.status.set_assigned(task->stream.config.name, held);
  }
}

void consumer_session::show_assignment() {
  tell_what_is_held(partitions_.given());
  const std::size_t missing = partitions_.missing();
  if (missing == 0) {
    deps_.status.set_ready(true);
    return;
  }
  const std::size_t all = partitions_.all().size();
  deps_.status.set_ready(false, std::to_string(missing) + " of " + std::to_string(all) +
                                    " partitions are not read by this instance");
  tell(deps_.log, log_kind::partitions_elsewhere, "{} of {} partitions are not read by this instance",
       missing, all);
}

turn_result<> consumer_session::on_revoked(const notice::revoked& r) {
  const std::string how_many =
      counted(r.partitions.size(), "partition") + (r.partitions.size() == 1 ? " was" : " were");
  if (r.lost) {
    tell(deps_.log, log_kind::partitions_lost,
         "{} lost: the group removed this member; the state is unchanged, and reading goes on when the group "
         "assigns them again",
         how_many);
  } else {
    tell(deps_.log, log_kind::partitions_given_back, "{} revoked", how_many);
  }
  deps_.status.set_ready(false, "waiting for the group to assign partitions");
  if (!r.lost && !partitions_.assigned().empty()) {
    RATCHET_TRY(stored(deps_.store.sync()));
    if (const auto done = commits_.commit_all(k_revoke_commit_timeout); !done) {
      tell(deps_.log, log_kind::commit_failed, "offsets were not committed before the rebalance: {}",
           done.error().message());
    }
  }
  commits_.unassigned();
  partitions_.give_back();
  ends_.give_back();
  forget_transactions();
  tell_of_held();
  tell_what_is_held({});
  unassigned_since_ = deps_.clock.steady();
  if (const auto done = deps_.source.unassign(); !done) {
    return session_result{
        session_end::client_lost,
        problem{done.error(), "the assignment cannot be given back: " + done.error().message(), "", {}}};
  }
  return go_on();
}

turn_result<> consumer_session::on_end_of_partition(const notice::end_of_partition& e) {
  if (!partitions_.is_assigned(e.where)) return go_on();
  // Transaction markers take offsets but are never delivered: without this the lag would never be 0.
  RATCHET_TRY(stored(pipeline_.move_to(e.where, e.offset)));
  note_moves();
  const std::int64_t last = std::max(e.offset, deps_.source.known_end(e.where).value_or(0));
  deps_.status.set_log_end(stream_name(e.where), e.where, last);
  ends_.reach(e.where, e.offset, deps_.clock.steady());
  goals_.reach(e.where, e.offset);
  return go_on();
}

turn_result<> consumer_session::on_out_of_range(const notice::out_of_range& o) {
  if (!partitions_.is_read(o.where)) return go_on();
  const auto resolved = resolve_assignment(deps_.source, deps_.store, pipeline_, std::span{&o.where, 1},
                                           options_.resume.without_option(), deps_.clock.now());
  const std::int64_t offset = pipeline_.find(o.where)->next_offset;
  // The same offset twice: it would never end.
  const bool again = troubles_.was_read_again(o.where, offset);
  const bool is_answered = resolved ? resolved.value().held.empty() : !passes(classify(resolved.error()));
  if (!is_answered) {
    hold(o.where, o.text);
    tell_of_held();
    show_assignment();
    return go_on();
  }
  if (!resolved || !resolved.value().stops.empty() || again) {
    on_dead_partition(o.where, o.text, resolved);
    return go_on();
  }
  troubles_.note_read_again(o.where, offset);
  tell(deps_.log, log_kind::partition_read_again,
       "{} was out of range ({}); the log still has offset {}, so reading goes on there", to_string(o.where),
       o.text, offset);
  return read_again();
}

turn_result<> consumer_session::read_again() {
  RATCHET_TRY(count_all_again());
  if (const auto begun = deps_.source.assign(positions_to_read()); !begun)
    return questions_.resume_failed(begun.error());
  return go_on();
}

void consumer_session::on_topic_gone(const notice::topic_gone& g) {
  if (!partitions_.is_assigned(g.where)) {  // a notice of a whole topic names none of its partitions
    if (topic_troubles_.due(deps_.clock.steady()))
      tell(deps_.log, log_kind::topic_unreadable, "{} cannot be read: {}{}", g.where.topic, g.text,
           topic_troubles_.suppressed());
    return;
  }
  if (partitions_.is_stopped(g.where)) return;
  // Brokers that have just come back say so too. It is looked at once they know its log again.
  hold(g.where, g.text);
  tell_of_held();
  show_assignment();
}

void consumer_session::on_dead_partition(const topic_partition& where, const std::string& text,
                                         const result<resolved_assignment>& resolved) {
  std::string why = to_string(where) + " can no longer be read: " + text;
  std::string hint = "start again: Ratchet then checks the offsets and prints what can be done";
  if (resolved && !resolved.value().stops.empty()) {
    why = resolved.value().stops.front().message;
    hint = resolved.value().stops.front().hint;
  }
  why = shown_text(why) + "\n" + hint;
  tell_of_stop(where, why);
  stop_outside_a_step(where, make_error_code(errc::resume_refused), 0, why);
  if (resolved) ask(resolved.value());
}

void consumer_session::ask(const resolved_assignment& r) const {
  for (const problem& stop : r.stops) {
    for (const question& q : stop.questions) deps_.status.ask(q);
  }
}

void consumer_session::tell_of_waiting(time_point now) {
  constexpr std::chrono::seconds k_long{5};
  if (!unassigned_since_ || now - *unassigned_since_ < k_long || told_of_waiting_ == unassigned_since_)
    return;
  told_of_waiting_ = unassigned_since_;
  const auto gone = ownership_.gone_among(topics_);
  const bool none_is_left = gone && !gone->empty() && gone->size() == topics_.size();
  const std::string why =
      none_is_left ? "waiting for the group to assign partitions: " + group_ownership::no_broker_knows(*gone)
                   : "waiting for the group to assign partitions: it first waits for its other members, and "
                     "for the one that this instance was before; a member that is gone counts until its "
                     "session ends, up to " +
                         std::to_string(
                             std::chrono::ceil<std::chrono::seconds>(ownership_.session_timeout()).count()) +
                         " s";
  tell(deps_.log, log_kind::group_waiting, "group `{}`: {}", deps_.settings.kafka.group, why);
  deps_.status.set_ready(false, why);
}

turn_result<> consumer_session::look_for_others(time_point now) {
  if (partitions_.missing() == 0 || unassigned_since_) {
    ownership_.forget_others();
    return go_on();
  }
  if (!ownership_.is_time_to_look(now)) return go_on();
  const std::vector<topic_partition> not_given = partitions_.not_given();
  if (not_given.empty()) {  // what is missing is held, or stopped
    ownership_.forget_others();
    return go_on();
  }
  const run_meter::long_work looking{deps_.meter, "looking who else is in the group"};
  return ownership_.look_for_others(not_given, now);
}

turn_result<> consumer_session::accept_start() {
  if (!deps_.accept) return go_on();
  auto failed = deps_.accept();
  if (!failed) return go_on();
  return session_result{session_end::store_lost, std::move(failed)};
}

}  // namespace ratchet
