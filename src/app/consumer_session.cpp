// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/consumer_session.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How long a start waits for brokers before it gives up, 30 s in all; a supervisor tries again. Between the
/// attempts it looks whether it is told to stop.
constexpr milliseconds k_connect_attempt{1'000};
constexpr int k_connect_attempts = 30;
constexpr milliseconds k_connect_timeout{30'000};
/// The longest wait for records; bounds how late a stop is seen.
constexpr milliseconds k_poll_timeout{100};
constexpr milliseconds k_last_commit_timeout{10'000};
/// A partition that had nothing to read for so long no longer holds the window's floor back.
constexpr seconds k_idle_after{10};
constexpr seconds k_idle_check_interval{1};
/// Syncs in the background that bring nothing for so long are followed by one that is waited for.
constexpr seconds k_sync_patience{10};
/// Of the broker's troubles one line in so many seconds is logged.
constexpr seconds k_trouble_interval{10};
/// A member that waits for partitions for so long was forgotten by its client: no rebalance takes longer than
/// the slowest member's `max.poll.interval.ms`, by default as long.
constexpr std::chrono::minutes k_unassigned_limit{5};

}  // namespace

bool log_pace::due(std::chrono::steady_clock::time_point now) {
  if (++count_ != 1 && now - last_ < k_trouble_interval) return false;
  last_ = now;
  return true;
}

consumer_session::consumer_session(surroundings around, session_options options)
    : around_{std::move(around)},
      options_{options},
      pipeline_{around_.streams, around_.to, around_.clock},
      trace_{around_.settings.state.path},
      worker_{around_.streams} {
  for (const auto& s : around_.streams) {
    topics_.insert(topics_.end(), s->config.topics.begin(), s->config.topics.end());
  }
  last_sync_ = last_commit_ = last_idle_check_ = durable_moved_ = around_.clock.steady();
}

session_result consumer_session::run() {
  if (stop_requested()) return finish(session_end::drained);
  around_.board.set_ready(false, "connecting");
  if (auto ended = connect()) return std::move(*ended);
  for (;;) {
    if (auto ended = turn()) return std::move(*ended);
  }
}

std::optional<session_result> consumer_session::check_cluster() {
  auto cluster = around_.from.cluster_id(k_connect_attempt);
  for (int attempt = 1; !cluster && attempt < k_connect_attempts; ++attempt) {
    if (stop_requested()) return finish(session_end::drained);
    cluster = around_.from.cluster_id(k_connect_attempt);
  }
  std::string brokers;
  for (const std::string& b : around_.settings.kafka.brokers) brokers += (brokers.empty() ? "" : ",") + b;
  if (!cluster) {
    return session_result{
        session_end::refused,
        problem{cluster.error(),
                "no broker of " + brokers + " answered within 30 s: " + cluster.error().message(),
                "check `kafka.brokers`, the network, and the security settings; then start again",
                {}}};
  }
  const std::string known = around_.to.cluster_id();
  if (known.empty()) {
    if (const auto set = around_.to.set_cluster_id(cluster.value()); !set) return store_failed(set.error());
    return std::nullopt;
  }
  if (known == cluster.value()) return std::nullopt;
  return session_result{
      session_end::refused,
      problem{make_error_code(errc::state_foreign),
              "the state in " + around_.settings.state.path.string() + " was read from the cluster " + known +
                  ", but " + brokers + " is the cluster " + cluster.value(),
              "point `kafka.brokers` at the cluster it came from, or name another `state.path` for this one",
              {}}};
}

std::optional<session_result> consumer_session::draw(std::uint64_t past_counter) {
  const auto drawn = around_.to.draw_incarnation(past_counter, options_.random);
  if (!drawn) return store_failed(drawn.error());
  committer_.emplace(around_.to.uuid(), drawn.value());
  return std::nullopt;
}

std::optional<session_result> consumer_session::connect() {
  if (auto refused = check_cluster()) return refused;
  auto all = around_.from.partitions(topics_, k_connect_timeout);
  if (!all) {
    std::string names;
    for (const std::string& t : topics_) names += (names.empty() ? "`" : ", `") + t + "`";
    const bool missing = all.error() == make_error_code(errc::topic_missing);
    return session_result{
        session_end::refused,
        problem{all.error(),
                "of the topics " + names + " at least one cannot be read: " + all.error().message(),
                missing
                    ? "create the topic, or correct `topics` in the config"
                    : "check the brokers and what this user may read (ACL: Describe and Read on the topics)",
                {}}};
  }
  all_partitions_ = std::move(all.value());
  auto refusal = refusal_before_joining(around_.from, around_.to, pipeline_, all_partitions_, options_.resume,
                                        around_.settings.kafka.group);
  if (!refusal) {
    const bool passing = refusal.error() == make_error_code(errc::source_unavailable);
    return session_result{
        passing ? session_end::client_lost : session_end::refused,
        problem{refusal.error(),
                "the offsets of group `" + around_.settings.kafka.group +
                    "` cannot be read: " + refusal.error().message(),
                passing ? "" : "check what this user may read (ACL: Read on the group and the topics)",
                {}}};
  }
  if (refusal.value()) return session_result{session_end::refused, std::move(*refusal.value())};
  if (auto failed = draw(0)) return failed;
  if (const auto joined = around_.from.join(topics_); !joined) {
    return session_result{
        session_end::refused,
        problem{joined.error(),
                "group `" + around_.settings.kafka.group + "` cannot be joined: " + joined.error().message(),
                "check the brokers and what this user may read (ACL: Read on the group)",
                {}}};
  }
  around_.log->info("joining group `{}` for {} partitions of {} topics", around_.settings.kafka.group,
                    all_partitions_.size(), topics_.size());
  unassigned_since_ = around_.clock.steady();
  around_.board.set_ready(false, "waiting for the group to assign partitions");
  return std::nullopt;
}

std::optional<session_result> consumer_session::turn() {
  if (stop_requested()) return finish(session_end::drained);
  const milliseconds wait =
      worker_.busy() ? milliseconds{0} : std::min(k_poll_timeout, around_.settings.state.commit_interval);
  auto got = around_.from.poll(around_.settings.step_records, wait);
  if (!got) {
    return session_result{session_end::client_lost, problem{got.error(), "the Kafka client failed", "", {}}};
  }
  decoded_input* ready = worker_.busy() ? &worker_.take() : nullptr;
  if (got.value().batch) {
    if (!times_.first_record) times_.first_record = around_.clock.steady();
    if (std::exchange(in_trouble_, false)) around_.log->info("records flow again");
    trace_.note(got.value().batch->records());
    worker_.submit(std::move(got.value().batch));
  }
  if (ready != nullptr) {
    if (auto ended = handle(*ready)) return ended;
  }
  if (!got.value().notices.empty()) {
    if (auto ended = settle()) return ended;
    for (const source_notice& n : got.value().notices) {
      if (auto ended = on_notice(n)) return ended;
    }
  }
  if (auto ended = on_timers()) return ended;
  if (options_.until_end && !worker_.busy() && caught_up()) return finish(session_end::caught_up);
  return std::nullopt;
}

std::optional<session_result> consumer_session::handle(decoded_input& input) {
  if (const auto done = pipeline_.handle(input); !done) return store_failed(done.error());
  note_moves();
  note_new_stops();
  if (around_.settings.state.sync == sync_mode::every_step) {
    if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  }
  return std::nullopt;
}

std::optional<session_result> consumer_session::settle() {
  return worker_.busy() ? handle(worker_.take()) : std::nullopt;
}

void consumer_session::note_moves() {
  std::vector<position> moved;
  for (auto& [where, noted] : assigned_) {
    const partition_state* state = pipeline_.find(where);
    if (state == nullptr || state->next_offset == noted) continue;
    noted = state->next_offset;
    moved.push_back({where, noted});
  }
  committer_->moved(around_.to.last_step(), moved);
}

std::string_view consumer_session::stream_name(const topic_partition& where) const {
  const stream_runtime* stream = pipeline_.stream_of(where.topic);
  return stream != nullptr ? std::string_view{stream->config.name} : std::string_view{};
}

void consumer_session::stop_partition(const topic_partition& where, const std::string& why) {
  reported_stops_.insert(where);
  around_.board.set_stopped(stream_name(where), where, why);
  around_.board.set_ready(false, to_string(where) + " is stopped: " + why);
}

void consumer_session::note_new_stops() {
  for (const auto& [where, stop] : pipeline_.stopped()) {
    if (reported_stops_.contains(where)) continue;
    const std::string why = describe(stop);
    around_.log->error("{}", why);
    stop_partition(where, why);
    // It keeps its place in the assignment; what still comes of it is passed over.
    if (const auto paused = around_.from.pause(std::span{&where, 1}); !paused) {
      around_.log->warn("{} could not be paused: {}", to_string(where), paused.error().message());
    }
  }
}

std::optional<session_result> consumer_session::on_timers() {
  const time_point now = around_.clock.steady();
  if (auto failed = keep_durable(now)) return failed;
  commit_due(now);
  if (unassigned_since_ && now - *unassigned_since_ >= k_unassigned_limit) {
    return session_result{
        session_end::client_lost,
        problem{
            make_error_code(errc::source_unavailable), "the group assigned nothing for 5 minutes", "", {}}};
  }
  if (now - last_idle_check_ < k_idle_check_interval) return std::nullopt;
  last_idle_check_ = now;
  return leave_out_idle(now);
}

std::optional<session_result> consumer_session::keep_durable(time_point now) {
  const std::uint64_t durable = around_.to.durable_step();
  if (around_.to.last_step() <= durable || durable != durable_seen_) {
    durable_seen_ = durable;
    durable_moved_ = now;
  }
  if (around_.to.last_step() <= durable || now - last_sync_ < around_.settings.state.commit_interval) {
    return std::nullopt;
  }
  last_sync_ = now;
  if (now - durable_moved_ < k_sync_patience) {
    around_.to.request_sync();
    return std::nullopt;
  }
  // A sync in the background fails without a word; one that is waited for says so.
  if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  return std::nullopt;
}

void consumer_session::commit_due(time_point now) {
  if (assigned_.empty() || now - last_commit_ < around_.settings.state.commit_interval) return;
  const auto requests = committer_->due(around_.to.durable_step());
  if (requests.empty()) return;
  last_commit_ = now;
  if (const auto begun = around_.from.commit(requests)) {
    committer_->started();
  } else if (commit_failures_.due(now)) {
    around_.log->warn("offsets were not committed and will be tried again: {}", begun.error().message());
  }
}

std::optional<session_result> consumer_session::leave_out_idle(time_point now) {
  std::vector<topic_partition> idle;
  // One that moved on is told its next end. One that is stopped has more to read, so that its events may
  // still come: it holds the floor back.
  std::erase_if(at_end_, [this](const auto& entry) {
    const partition_state* state = pipeline_.find(entry.first);
    return state == nullptr || state->next_offset != entry.second.next_offset ||
           reported_stops_.contains(entry.first);
  });
  for (const auto& [where, end] : at_end_) {
    if (!pipeline_.find(where)->idle && now - end.since >= k_idle_after) idle.push_back(where);
  }
  if (idle.empty()) return std::nullopt;
  if (const auto done = pipeline_.leave_out_of_floor(idle); !done) return store_failed(done.error());
  return std::nullopt;
}

bool consumer_session::stop_requested() const {
  return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
}

bool consumer_session::caught_up() const {
  if (!assigned_once_) return false;
  return std::all_of(end_at_start_.begin(), end_at_start_.end(), [this](const auto& entry) {
    return reached_.contains(entry.first) || reported_stops_.contains(entry.first);
  });
}

session_result consumer_session::finish(session_end how) {
  if (auto ended = settle()) return std::move(*ended);
  if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  times_.all_durable = around_.clock.steady();
  if (!assigned_.empty()) {
    const auto requests = committer_->all_due(around_.to.durable_step());
    if (!requests.empty()) {
      if (const auto done = around_.from.commit_and_wait(requests, k_last_commit_timeout); !done) {
        around_.log->warn(
            "the last offsets were not committed ({}); nothing is lost, the next start goes on from the "
            "state",
            done.error().message());
      } else {
        for (const commit_request& r : requests)
          around_.board.set_committed(stream_name(r.where), r.where, r.next_offset);
      }
    }
  }
  return {how, std::nullopt};
}

session_result consumer_session::store_failed(std::error_code code) const {
  return {session_end::store_lost,
          problem{code,
                  "a write to " + around_.settings.state.path.string() + " failed: " + code.message(),
                  "look at the disk; what was not durable is read from Kafka again",
                  {}}};
}

std::optional<session_result> consumer_session::on_notice(const source_notice& n) {
  if (const auto* a = std::get_if<notice::assigned>(&n)) return on_assigned(*a);
  if (const auto* r = std::get_if<notice::revoked>(&n)) return on_revoked(*r);
  if (const auto* e = std::get_if<notice::end_of_partition>(&n)) return on_end_of_partition(*e);
  if (const auto* o = std::get_if<notice::out_of_range>(&n)) return on_out_of_range(*o);
  if (const auto* g = std::get_if<notice::topic_gone>(&n)) on_dead_partition(g->where, g->text);
  if (const auto* c = std::get_if<notice::commit_done>(&n)) on_commit_done(*c);
  if (const auto* t = std::get_if<notice::trouble>(&n);
      t != nullptr && troubles_.due(around_.clock.steady())) {
    in_trouble_ = true;
    around_.log->warn("brokers: {} (so far {} such notices; it goes on by itself)", t->text,
                      troubles_.count());
  }
  if (const auto* f = std::get_if<notice::fatal>(&n)) {
    return session_result{session_end::client_lost,
                          problem{f->code, "the Kafka client gave up: " + f->text, "", {}}};
  }
  return std::nullopt;
}

void consumer_session::on_commit_done(const notice::commit_done& c) {
  committer_->finished(c.offsets, !c.code);
  if (c.code) {
    if (commit_failures_.due(around_.clock.steady()))
      around_.log->warn("a commit of offsets failed and will be tried again: {}", c.code.message());
    return;
  }
  for (const committed_offset& o : c.offsets) {
    if (o.offset) around_.board.set_committed(stream_name(o.where), o.where, *o.offset);
  }
}

}  // namespace ratchet
