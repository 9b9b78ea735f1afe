// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/consumer_session.hpp"

#include <algorithm>
#include <utility>

#include "consumer/access.hpp"
#include "consumer/store_failure.hpp"
#include "pipeline/field_counts.hpp"
#include "pipeline/stop_messages.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The longest wait for records; bounds how late a stop is seen.
constexpr milliseconds k_poll_timeout{100};
/// The offsets are in the state as well; Kafka's copy of them is for others to see.
constexpr milliseconds k_last_commit_timeout{2'000};
constexpr seconds k_idle_check_interval{1};
/// A member that waits for partitions for so long was forgotten by its client: no rebalance takes longer than
/// the slowest member's `max.poll.interval.ms`, by default as long.
constexpr std::chrono::minutes k_unassigned_limit{5};

/// Whether it happened behind records, which must be handled first. The end of a commit, several times a
/// second, did not, nor did the answer to a question; to wait for the batches under way each time would be to
/// decode beside nothing.
[[nodiscard]] bool is_about_records(const source_notice& n) noexcept {
  return !std::holds_alternative<notice::commit_done>(n) && !std::holds_alternative<notice::bounds_told>(n);
}

}  // namespace

consumer_session::consumer_session(dependencies deps, session_options options)
    : deps_{std::move(deps)},
      options_{std::move(options)},
      topics_{input_topics(deps_.streams)},
      pipeline_{deps_.tasks, deps_.store, deps_.clock},
      delivery_{{deps_.settings, deps_.streams, deps_.store, deps_.source, deps_.clock, deps_.status,
                 deps_.meter, deps_.log, pipeline_, deps_.publish_to, deps_.sinks,
                 [this] { return stop_requested(); }}},
      flow_{{deps_.settings, deps_.tasks, deps_.store, deps_.status, deps_.log, pipeline_, delivery_,
             deps_.space}},
      durability_{deps_.store, deps_.settings.state.commit_interval, deps_.clock.steady()},
      commits_{{deps_.settings, deps_.store, deps_.source, deps_.clock, deps_.status, deps_.meter, deps_.log,
                topics_, [this](const topic_partition& where) { return stream_name(where); }}},
      brokers_{{deps_.source, deps_.clock, deps_.status, deps_.log}},
      requests_{{deps_.settings, deps_.tasks, deps_.store, deps_.source, deps_.meter, pipeline_, delivery_,
                 flow_, deps_.inbox}},
      reporter_{{deps_.settings, deps_.streams, deps_.tasks, deps_.store, deps_.source, deps_.clock,
                 deps_.status, deps_.meter, deps_.log, durability_, flow_}},
      questions_{{deps_.settings, deps_.streams, deps_.store, deps_.source, deps_.clock, topics_,
                  options_.resume.option, [this] { return stop_requested(); },
                  [this] { return stored(requests_.serve(ownership_.has_taken())); }}},
      ownership_{{deps_.settings, deps_.store, deps_.source, deps_.clock, deps_.status, deps_.log, pipeline_,
                  commits_, partitions_, questions_, options_.resume, options_.random,
                  [this] { return stop_requested(); }}},
      trace_{deps_.settings.state.path},
      worker_{deps_.streams, options_.decoding} {
  last_idle_check_ = deps_.clock.steady();
  pipeline_.on_written([this](const step_batch& step) { reporter_.note(step); });
  pipeline_.between_steps([this] {
    deps_.meter.beat();
    return !stop_requested();
  });
  durable_moves_ = deps_.store.durable().on_move([this] {
    if (delivery_.has_lanes() || requests_.await_sync()) deps_.source.wake();
  });
}

consumer_session::~consumer_session() {
  durable_moves_.end();
}

session_result consumer_session::run() {
  if (stop_requested()) return finish(session_end::drained);
  flow_.begin();
  deps_.status.set_ready(false, "connecting");
  tell_of_held();
  reporter_.watch_clock();
  {
    const run_meter::long_work connecting{deps_.meter, "connecting"};
    if (auto ended = connect(); !ended) {
      if (ended.error().end == session_end::drained) return finish(session_end::drained);
      return std::move(ended).error();
    }
  }
  for (;;) {
    if (auto ended = turn(); !ended) return std::move(ended).error();
  }
}

turn_result<> consumer_session::connect() {
  if (topics_.empty()) return start_alone();
  RATCHET_TRY(questions_.find_cluster());
  ownership_.meet_other_cluster(questions_.other_cluster());
  brokers_.note_answer();
  RATCHET_TRY(auto all, deps_.settings.replicate ? await_partitions() : find_partitions());
  partitions_.know(std::move(all));
  RATCHET_TRY(ownership_.check_before_joining());
  RATCHET_TRY(ownership_.sign());
  if (const auto joined = deps_.source.join(topics_); !joined) {
    return questions_.failed("group `" + deps_.settings.kafka.group + "` cannot be joined", joined.error(),
                             session_end::refused);
  }
  tell(deps_.log, log_kind::group_joining, "joining group `{}` for {} of {}", deps_.settings.kafka.group,
       counted(partitions_.all().size(), "partition"), counted(topics_.size(), "topic"));
  unassigned_since_ = deps_.clock.steady();
  deps_.status.set_ready(false, "waiting for the group to assign partitions");
  return go_on();
}

turn_result<> consumer_session::turn() {
  deps_.meter.beat();
  if (stop_requested()) return finish(session_end::drained);
  // What was fetched by then waits, too, as long as it can: a batch may make many times its bytes of
  // messages.
  const bool holds = flow_.holds_all();
  const milliseconds wait = worker_.busy() && !holds ? milliseconds{0} : longest_wait();
  // The group waits for who is between two polls: a slow reducer is given fewer records at once.
  auto got = deps_.source.poll(std::min(deps_.settings.step_records, pipeline_.records_in_time()), wait);
  if (!got) {
    return session_result{session_end::client_lost, problem{got.error(), "the Kafka client failed", "", {}}};
  }
  const bool is_next = got.value().batch ? worker_.is_full() : worker_.busy() && !holds;
  decoded_input* ready = is_next ? &worker_.take() : nullptr;
  if (got.value().batch) {
    brokers_.note_records();
    if (!times_.first_record) times_.first_record = deps_.clock.steady();
    trace_.note(got.value().batch->records());
    reporter_.look_at(got.value().batch->records());
    worker_.submit(std::move(got.value().batch));
  }
  if (ready != nullptr) {
    RATCHET_TRY(handle(*ready));
    RATCHET_TRY(end_where_records_were_left());
  }
  if (!got.value().notices.empty()) {
    const run_meter::long_work answering{deps_.meter, "answering the group"};
    if (std::any_of(got.value().notices.begin(), got.value().notices.end(), is_about_records)) {
      // What the notices are about lies behind these.
      RATCHET_TRY(drain_to_go_on());
    }
    for (const source_notice& n : got.value().notices) {
      RATCHET_TRY(on_notice(n));
    }
  }
  RATCHET_TRY(on_timers());
  RATCHET_TRY(stored(requests_.serve(ownership_.has_taken())));
  if (options_.until_end && !worker_.busy() && caught_up() && !pipeline_.has_deferred())
    return finish(session_end::caught_up);
  return go_on();
}

milliseconds consumer_session::longest_wait() const {
  const milliseconds wait = std::min(k_poll_timeout, deps_.settings.state.commit_interval);
  if (!may_resume_waiting()) return wait;
  const auto wake = pipeline_.next_wake();
  if (!wake) return wait;
  return std::clamp(*wake - deps_.clock.now(), milliseconds{0}, wait);
}

/// While the disk or the outbox is nearly full, nothing is written that can wait; before the claim, nothing
/// at all.
bool consumer_session::may_resume_waiting() const {
  return ownership_.has_taken() && !flow_.holds_all();
}

turn_result<> consumer_session::resume_waiting() {
  if (!may_resume_waiting()) return go_on();
  RATCHET_TRY(stored(pipeline_.resume_waiting()));
  note_new_stops();
  return go_on();
}

turn_result<> consumer_session::handle(decoded_input& input) {
  const time_point begin = deps_.clock.steady();
  do {
    RATCHET_TRY(stored(pipeline_.handle(input)));
    note_fields(input, deps_.tasks, deps_.status, deps_.log);
  } while (!pipeline_.has_left() && worker_.go_on(input));
  const time_point end = deps_.clock.steady();
  if (!times_.first_step) times_.first_step = end;
  deps_.meter.step(end - begin, input.batch->records().size());
  note_moves();
  note_new_stops();
  if (deps_.settings.state.sync == sync_mode::every_step) {
    RATCHET_TRY(stored(deps_.store.sync()));
  }
  return go_on();
}

turn_result<> consumer_session::drain() {
  while (worker_.busy()) {
    RATCHET_TRY(handle(worker_.take()));
  }
  return go_on();
}

turn_result<> consumer_session::end_where_records_were_left() {
  if (pipeline_.has_left()) return finish(session_end::drained);
  return go_on();
}

turn_result<> consumer_session::drain_to_go_on() {
  RATCHET_TRY(drain());
  return end_where_records_were_left();
}

void consumer_session::note_moves() {
  std::vector<position> moved;
  for (const auto& [where, noted] : partitions_.assigned()) {
    const partition_state* state = pipeline_.find(where);
    if (state != nullptr && state->next_offset != noted) moved.push_back({where, state->next_offset});
  }
  for (const position& p : moved) partitions_.note(p);
  commits_.moved(deps_.store.last_step(), moved);
}

std::string_view consumer_session::stream_name(const topic_partition& where) const {
  const partition_task* task = pipeline_.task_of(where.topic);
  return task != nullptr ? std::string_view{task->stream.config.name} : std::string_view{};
}

void consumer_session::stop_partition(const topic_partition& where, const std::string& why) {
  partitions_.stop(where);
  deps_.status.set_stopped(stream_name(where), where, why);
}

void consumer_session::tell_of_stop(const topic_partition& where, const std::string& stopped,
                                    log_facts facts) {
  facts.stream = stream_name(where);
  facts.where = &where;
  const std::size_t known = told_to_do_.size();
  add_new(told_to_do_, stopped);
  const bool is_new = told_to_do_.size() > known;
  tell_of(deps_.log, log_kind::partition_stopped, facts,
          is_new ? std::string_view{stopped} : message_of_stop(stopped).what);
}

void consumer_session::stop_outside_a_step(const topic_partition& where, std::error_code code,
                                           std::int64_t offset, const std::string& why) {
  partition_stop stop;
  stop.where = where;
  stop.offset = offset;
  stop.code = code;
  pipeline_.stop_partition(std::move(stop));
  stop_partition(where, why);
}

void consumer_session::pause(const topic_partition& where) {
  if (const auto paused = deps_.source.pause(std::span{&where, 1}); !paused)
    tell(deps_.log, log_kind::pause_failed, "{} could not be paused: {}", to_string(where),
         paused.error().message());
}

void consumer_session::note_new_stops() {
  for (const auto& [where, stop] : pipeline_.stopped()) {
    if (partitions_.is_stopped(where)) continue;
    const std::string why = describe(stop);
    tell_of_stop(where, why, {.aggregate = stop.aggregate, .offset = stop.offset});
    stop_partition(where, why);
    // It keeps its place in the assignment; what still comes of it is passed over.
    pause(where);
  }
}

turn_result<> consumer_session::on_timers() {
  const time_point now = deps_.clock.steady();
  RATCHET_TRY(count_unread());
  RATCHET_TRY(resume_waiting());
  requests_.answer();  // also those of the session before
  // Before the claim the state may be another's to change.
  if (ownership_.has_taken()) {
    RATCHET_TRY(stored(requests_.transact()));
  }
  RATCHET_TRY(take_up_held(now));
  // Before the claim it may be another's to send.
  if (ownership_.has_taken()) {
    RATCHET_TRY(stored(delivery_.turn(now)));
  }
  RATCHET_TRY(stored(durability_.turn(now)));
  RATCHET_TRY(keep_flow(now));
  if (!partitions_.assigned().empty()) commits_.turn(now);
  RATCHET_TRY(look_for_others(now));
  tell_of_waiting(now);
  tell_log_ends(now);
  RATCHET_TRY(look_at_transactions(now));
  ask_brokers(now);
  reporter_.turn(now);
  if (unassigned_since_ && now - *unassigned_since_ >= k_unassigned_limit) {
    return session_result{
        session_end::client_lost,
        problem{
            make_error_code(errc::source_unavailable), "the group assigned nothing for 5 minutes", "", {}}};
  }
  // What is paused for want of room may have more to read: it holds the floor back.
  if (flow_.holds_any() || now - last_idle_check_ < k_idle_check_interval) return go_on();
  last_idle_check_ = now;
  reporter_.watch_clock();
  return leave_out_idle(now);
}

turn_result<> consumer_session::count_unread() {
  if (!ownership_.has_taken()) return go_on();  // nothing is written before the claim
  std::vector<topic_partition> unread;
  const auto add = [&](const topic_partition& where) {
    const partition_state* state = pipeline_.find(where);
    if (state != nullptr && state->idle) unread.push_back(where);
  };
  for (const auto& [where, unused] : partitions_.held()) add(where);
  for (const topic_partition& where : partitions_.stopped()) add(where);
  return stored(pipeline_.hold_floor_back(unread));
}

turn_result<> consumer_session::count_again(std::span<const topic_partition> partitions) {
  for (const topic_partition& where : partitions) expect_end_anew(where);
  return stored(pipeline_.hold_floor_back(partitions));
}

void consumer_session::expect_end_anew(const topic_partition& where) {
  const partition_state* state = pipeline_.find(where);
  const bool is_left_out = state != nullptr && state->idle;
  ends_.expect_anew(where, is_left_out ? std::optional{state->next_offset} : std::nullopt);
}

void consumer_session::expect_ends_anew() {
  for (const auto& [where, unused] : partitions_.assigned()) expect_end_anew(where);
}

turn_result<> consumer_session::count_all_again() {
  return count_again(partitions_.names_of_assigned());
}

turn_result<> consumer_session::leave_out_idle(time_point now) {
  std::vector<topic_partition> idle;
  // One that moved on is told its next end. One that is stopped has more to read, so that its events may
  // still come: it holds the floor back.
  ends_.keep([this](const topic_partition& where, std::int64_t end) {
    const partition_state* state = pipeline_.find(where);
    return state != nullptr && state->next_offset == end && !partitions_.is_stopped(where);
  });
  for (const topic_partition& where : ends_.quiet(now)) {
    if (!pipeline_.find(where)->idle && !goes_on(where)) idle.push_back(where);
  }
  if (idle.empty()) return go_on();
  return stored(pipeline_.leave_out_of_floor(idle));
}

bool consumer_session::stop_requested() const {
  const auto is_set = [](const std::atomic<bool>* flag) {
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  };
  return is_set(options_.stop) || is_set(options_.leave);
}

bool consumer_session::caught_up() const {
  if (!partitions_.held().empty() || (!ownership_.has_taken() && partitions_.stopped().empty())) return false;
  const auto is_stopped = [this](const topic_partition& where) { return partitions_.is_stopped(where); };
  const bool holds_all =
      std::all_of(partitions_.all().begin(), partitions_.all().end(),
                  [&](const topic_partition& where) { return goals_.has(where) || is_stopped(where); });
  // The rest may be held by a member who was killed, until its session ends.
  if (!holds_all && deps_.clock.steady() - assigned_at_ < ownership_.longest_absence()) return false;
  return goals_.all_reached(is_stopped);
}

session_result consumer_session::finish(session_end how) {
  const run_meter::long_work draining{deps_.meter, "draining"};
  if (how == session_end::drained) deps_.status.set_ready(false, "stopping");
  if (auto ended = drain(); !ended) return std::move(ended).error();
  if (const auto synced = deps_.store.sync(); !synced) return store_failed(synced.error());
  requests_.answer();
  if (ownership_.has_taken() || sends_unclaimed_) {
    if (const auto sent = delivery_.send_the_rest(); !sent) return store_failed(sent.error());
  }
  times_.all_durable = deps_.clock.steady();
  reporter_.end(*times_.all_durable);
  if (!partitions_.assigned().empty()) {
    if (const auto done = commits_.commit_all(k_last_commit_timeout); !done)
      tell(deps_.log, log_kind::commit_failed,
           "the last offsets were not committed ({}); nothing is lost, the next start goes on from the "
           "state",
           done.error().message());
  }
  return {how, std::nullopt};
}

session_result consumer_session::store_failed(std::error_code code) const {
  return store_failure(deps_.store, deps_.settings, code);
}

turn_result<> consumer_session::on_notice(const source_notice& n) {
  if (const auto* a = std::get_if<notice::assigned>(&n)) return on_assigned(*a);
  if (const auto* r = std::get_if<notice::revoked>(&n)) return on_revoked(*r);
  if (const auto* e = std::get_if<notice::end_of_partition>(&n)) return on_end_of_partition(*e);
  if (const auto* o = std::get_if<notice::out_of_range>(&n)) return on_out_of_range(*o);
  if (const auto* g = std::get_if<notice::topic_gone>(&n)) on_topic_gone(*g);
  if (const auto* u = std::get_if<notice::unreadable>(&n)) return on_unreadable(*u);
  if (const auto* c = std::get_if<notice::commit_done>(&n)) {
    commits_.ended(*c);
    if (!c->code) brokers_.note_answer();
  }
  if (const auto* t = std::get_if<notice::trouble>(&n); t != nullptr && t->access) {
    // Of a login or a certificate another broker may think otherwise; what was joined shows.
    const bool of_all = t->access == access_kind::topic || t->access == access_kind::group;
    if (!ownership_.has_taken() && of_all) {
      return session_result{session_end::refused,
                            describe_refusal(*t->access, t->text, deps_.settings.kafka, topics_, t->topic)};
    }
    commits_.note_denied(*t->access, t->text, t->topic);
  } else if (t != nullptr) {
    brokers_.note_trouble(*t);
  }
  if (const auto* b = std::get_if<notice::bounds_told>(&n)) on_bounds_told(*b);
  if (const auto* f = std::get_if<notice::fatal>(&n)) {
    return session_result{session_end::client_lost,
                          problem{f->code, "the Kafka client gave up: " + f->text, "", {}}};
  }
  return go_on();
}

}  // namespace ratchet
