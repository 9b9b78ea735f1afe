// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/world.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace ratchet::sim {

namespace {

/// The pipeline's own log, as lines of the trace.
class trace_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit trace_sink(world& to) : to_{to} {}

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    to_.trace("  log: " + std::string{m.payload.data(), m.payload.size()});
  }
  void flush_() override {}
  world& to_;
};

/// Fails where the payload says so: {"retry":2} twice, {"throw":1} once, {"give_up":true} for ever,
/// {"stop":true} until the reducer is mended.
[[nodiscard]] outcome fail_as_told(const event& e, const running& now) {
  const auto times = [&e](std::string_view key) -> std::uint32_t {
    const std::size_t at = e.payload.find(key);
    return at == std::string_view::npos ? 0 : static_cast<std::uint32_t>(e.payload[at + key.size()] - '0');
  };
  if (now.on_call) now.on_call();
  if (e.attempt <= times(R"("retry":)")) return retry(make_error_code(errc::reducer_failed));
  if (e.attempt <= times(R"("throw":)")) throw std::runtime_error{"as its payload asks for"};
  if (times(R"("stop":)") != 0 && !now.mended) return stop(make_error_code(errc::reducer_failed));
  if (times(R"("give_up":)") != 0) return give_up(make_error_code(errc::reducer_failed));
  return done();
}

struct replacing {
  static constexpr reducer_traits traits{
      .name = "replacing", .version = 1, .full_state = true, .has_effects = false};
  outcome apply(const event& e, state& s, effects&) const {
    s.assign("half done");  // what a failure leaves must not be seen
    const outcome ended = fail_as_told(e, *now);
    if (ended.how == ending::done) s.assign(e.payload);
    return ended;
  }
  const running* now;
};

/// Its result depends on every event before, so that one that is applied twice or in another order shows.
/// What it publishes counts only where it does not fail.
struct folding {
  static constexpr reducer_traits traits{
      .name = "folding", .version = 1, .full_state = false, .has_effects = true};
  outcome apply(const event& e, state& s, effects& fx) const {
    s.assign(fold(std::string{s.value()}, std::string{e.payload}));
    tell(fx, std::string{e.aggregate}, std::string{e.stream}, std::string{e.payload});
    return fail_as_told(e, *now);
  }
  const running* now;
};

[[nodiscard]] stream_config configured(const stream_setup& setup, std::size_t index) {
  stream_config s;
  s.name = "s" + std::to_string(index);
  s.topics = {"t" + std::to_string(index)};
  s.start = setup.starts_at_end ? start_position::latest : start_position::earliest;
  s.order = setup.arrival ? order::arrival : setup.strict ? order::strict : order::latest;
  s.first = setup.first;
  s.epoch_change = setup.accepts_epochs ? epoch_change::accept : epoch_change::park;
  s.gap = {setup.gap, std::chrono::milliseconds{setup.gap_timeout}};
  s.waiting.per_aggregate = setup.most_of_aggregate;
  s.retry = setup.retry;
  s.handling = setup.deferred ? handling::deferred : handling::direct;
  if (setup.is_cloudevents) {
    s.envelope.format = envelope_format::cloudevents;
    s.envelope.sequence_as = sequence_kind::integer;
    if (!setup.arrival) s.envelope.sequence = "attribute:sequence";
  } else {
    s.envelope.aggregate = setup.in_headers ? "key" : "/p";
    if (setup.ids != id_kind::none) s.envelope.event_id = setup.in_headers ? "header:id" : "/id";
    if (!setup.arrival) s.envelope.sequence = setup.in_headers ? "header:seq" : "/n";
    if (setup.has_epochs) s.envelope.epoch = "/e";
  }
  constexpr std::array k_each{each_kind::none, each_kind::array, each_kind::array, each_kind::lines,
                              each_kind::none};
  s.envelope.each.kind = k_each.at(static_cast<std::size_t>(setup.bundles));
  if (setup.bundles == bundling::member) s.envelope.each.pointer = "/records";
  s.dedup.ids = setup.ids;
  s.dedup.window = std::chrono::milliseconds{setup.window};
  s.dedup.max_skew = std::chrono::milliseconds{setup.skew};
  if (setup.retention) s.retention = std::chrono::milliseconds{*setup.retention};
  if (setup.parks_too_old) s.too_old = too_old::park;
  s.record_times = setup.checks_times ? record_times::checked : record_times::trusted;
  s.reducer.from = setup.in_headers || setup.is_cloudevents ? "" : "/v";
  s.outputs = {"out", "sink:side"};
  s.tables = {{"own-" + s.name, key_encoding::text}, {"shared-" + s.name, key_encoding::bytes}};
  s.poison = 0;
  return s;
}

[[nodiscard]] bool has_letters(const history& h) {
  return h.seed % 4 != 0;
}
[[nodiscard]] bool has_answers(const history& h) {
  return h.seed % 8 < 5;
}

[[nodiscard]] config configured(const history& h) {
  config c;
  c.kafka.brokers = {"broker:9092"};
  c.kafka.group = "group-1";
  c.kafka.properties["session.timeout.ms"] = "3000";
  c.kafka.connect_timeout = std::chrono::milliseconds{3'000};
  c.state.path = "/nowhere/state";
  c.state.sync = h.sync_every_step ? sync_mode::every_step : sync_mode::interval;
  c.step_records = h.step_records;
  c.sinks.emplace_back().name = "side";
  for (std::size_t i = 0; i < h.streams.size(); ++i) {
    stream_config& s = c.streams.emplace_back(configured(h.streams[i], i));
    if (has_letters(h)) s.dead_letter = "letters";
    if (has_answers(h)) s.rejections = "answers";
  }
  return c;
}

[[nodiscard]] reducers own_reducers(const history& h, const running& now) {
  reducers own;
  for (std::size_t i = 0; i < h.streams.size(); ++i) {
    if (h.streams[i].folds) {
      own.add("s" + std::to_string(i), folding{&now});
    } else if (h.streams[i].fails) {
      own.add("s" + std::to_string(i), replacing{&now});
    }
  }
  return own;
}

[[nodiscard]] std::string describe(const step_part& part, const backlog_change& change) {
  const auto number = [](sequence s) {
    return " " + (s.epoch == 0 ? "" : std::to_string(s.epoch) + ".") + std::to_string(s.number);
  };
  std::string text{part.plan->aggregates.at(change.aggregate)};
  text += part.plan->resumes ? " resumes:" : ":";
  for (const waiting_event& e : change.puts)
    text += number(e.head.sequence) + " " + name_of(e.head.state) +
            (e.head.since ? " since " + std::to_string(e.head.since->time_since_epoch().count()) : "");
  if (!change.removals.empty()) text += ", gone are";
  for (const waiting_head& gone : change.removals) text += number(gone.sequence);
  if (change.after && change.after->ready) text += ", more are ready";
  if (change.after && change.after->held) text += ", held";
  return text;
}

[[nodiscard]] std::string uuid_of(std::uint32_t number) {
  std::string digits = std::to_string(number);
  return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

[[nodiscard]] std::uint64_t seed_of_run(const history& h) {
  return h.seed ^ 0x5EED'0F0F'0F0F'5EEDU;  // other dice than those that wrote the history
}

}  // namespace

world::world(const history& h, std::vector<std::string>* trace)
    : history_{h},
      trace_{trace},
      dice_{seed_of_run(h)},
      clock_{k_begin},
      cluster_{h},
      book_{h, running_},
      callers_{h, *this, book_, disk_},
      settings_{configured(h)},
      last_turn_{static_cast<std::uint32_t>(h.log.size()) / h.records_per_turn + 40} {
  auto made = make_streams(settings_, own_reducers(h, running_));
  if (!made) throw broken(made.error().message);
  streams_ = std::move(*made);
  running_.retention.resize(streams_.size());
  tasks_ = make_tasks(streams_);
  log_ = silent_log();
  if (trace_ != nullptr) {
    log_ = std::make_shared<spdlog::logger>("sim", std::make_shared<trace_sink>(*this));
  }
  new_directory();
}

world::~world() = default;

void world::trace(std::string line) {
  if (trace_ != nullptr) trace_->push_back("turn " + std::to_string(turn_) + ": " + std::move(line));
}

void world::new_directory() {
  disk_.emplace(uuid_of(++uuids_), history_.streams.size());
  book_ = step_book{history_, running_};
  mail_ = mail_book{history_.sink_refuses};
  callers_.forget_promises();
  if (traces()) trace("a new state directory, " + disk_->now().uuid);
}

history_result world::run() {
  try {
    while (!finished_) {
      ++result_.met.processes;
      live();
      // What its last turn has published may be left for the next start: who is told to stop ends soon.
      if (!older_at_the_end_ && !mail_.is_all_that_is_left(disk_->now().outbox.lanes)) finished_ = false;
    }
    book_.compare(disk_->now(), cluster_);
    if (!older_at_the_end_) mail_.compare(disk_->now().outbox.lanes);
    if (history_.well_behaved) book_.compare_with_all(history_);
  } catch (const broken& what) {
    result_.broken = what.what();
  }
  book_.count(result_.met.fates);
  result_.met.forgotten = book_.forgotten();
  result_.met.old_decided = book_.old_decided();
  result_.met.calls = callers_.met();
  return result_;
}

// The process, and who runs it.

bool world::open_store() {
  store_.reset();
  if (disk_->rotten) return false;
  disk_->open(*this);
  note_lost_steps();
  book_.compare(disk_->now(), cluster_);
  store_ = std::make_unique<simulated_store>(*disk_, disk_faults_, *this, *this, history_.queue_events);
  if (!load_tasks(streams_, tasks_, *store_)) throw broken("the streams' states cannot be read");
  book_.begin_process();
  for (const stream_rows& stream : disk_->now().streams) {
    for (const auto& [where, partition] : stream.state.partitions)
      result_.met.restarts_within += partition.next_index != 0 ? 1 : 0;
  }
  return true;
}

void world::note_lost_steps() {
  if (!std::exchange(disk_->lost_steps, false)) return;
  ++result_.met.lost_steps;
  if (traces()) trace("the directory is back at step " + std::to_string(disk_->now().step));
  book_.take_back_to(disk_->now().step);
  mail_.take_back_to(disk_->now().step);
  callers_.check_promises(disk_->now().step);
}

/// One process, from its start to its end.
void world::live() {
  bool killed = false;
  try {
    stop_ = false;
    wish_ = {std::exchange(typed_, resume_option::none), ""};
    if (traces()) {
      trace("== a process starts, at step " + std::to_string(disk_->now().step) +
            (wish_.option == resume_option::none ? "" : std::string{", --resume "} + name_of(wish_.option)));
    }
    choose_running();
    status_.emplace(clock_.now());
    meter_.emplace(clock_);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i]->config.start =
          history_.streams[i].starts_at_end ? start_position::latest : start_position::earliest;
    }
    if (!open_store()) {  // damaged: an operator has it put aside
      new_directory();
      wish_ = {resume_option::rebuild, ""};
      for (const auto& s : streams_) s->config.start = start_position::earliest;
      (void)open_store();
    }
    inbox_ = callers_.start();
    session_loop loop;
    for (bool goes_on = true; goes_on;) {
      const auto [ended, was_assigned] = one_session();
      ++result_.met.session_ends.at(static_cast<std::size_t>(ended.end));
      if (traces()) {
        trace("the session ended (" + std::to_string(static_cast<int>(ended.end)) + ")" +
              (ended.why ? ": " + ended.why->message + " -> " + ended.why->hint : ""));
      }
      goes_on = follow(loop.after(ended, was_assigned, disk_->durable()), ended);
    }
    callers_.stop();
  } catch (const process_died&) {
    killed = true;
    callers_.killed();
  }
  inbox_ = nullptr;
  be_down(killed);
}

/// What has stopped is looked at by somebody, sooner or later; and may come back with the next release.
void world::choose_running() {
  running_.mended = healed_at_ != 0 || draw(3) == 0;
  running_.lifted = healed_at_ != 0 || draw(3) == 0;
  const waiting_config no_limit{.events = ~0ULL, .bytes = ~0ULL};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const stream_setup& setup = history_.streams[i];
    waiting_config& limits = tasks_[i]->rules.waiting;
    limits.events = running_.lifted ? no_limit.events : setup.most_events.value_or(no_limit.events);
    limits.bytes = running_.lifted ? no_limit.bytes : setup.most_bytes.value_or(no_limit.bytes);
    auto& retention = running_.retention[i];
    retention = setup.retention;
    if (setup.changes_retention && draw(2) == 0) {
      retention = draw(3) == 0 ? std::nullopt : std::optional{*setup.retention + draw(4'000)};
    }
    auto& kept = tasks_[i]->rules.retention;
    kept.reset();
    if (retention) kept = std::chrono::milliseconds{*retention};
    if (setup.retention && traces())
      trace("s" + std::to_string(i) + " forgets after " + std::to_string(retention.value_or(-1)) + " ms");
  }
}

std::pair<session_result, bool> world::one_session() {
  book_.forget_deliveries();
  source_ = std::make_unique<simulated_source>(cluster_, *this, *this);
  inbox_->tasks.close();  // what the session before left undone
  inbox_->tasks.open();
  session_options options;
  options.resume = wish_;
  options.stop = &stop_;
  options.random = ++incarnations_;
  options.decoding = decode_on::owner_thread;
  outlet_ = std::make_unique<simulated_outlet>(*disk_, mail_, *this, healed_at_ != 0);
  sink_ = std::make_unique<simulated_outlet>(*disk_, mail_, *this, healed_at_ != 0, history_.sink_refuses);
  const sink_outlet side{"side", sink_.get(), std::chrono::milliseconds{500}, std::chrono::seconds{10}};
  consumer_session session{{settings_,
                            streams_,
                            tasks_,
                            *store_,
                            *source_,
                            clock_,
                            *status_,
                            *meter_,
                            log_,
                            inbox_,
                            &space_,
                            outlet_.get(),
                            {side}},
                           options};
  session_result ended = session.run();
  if (session.was_assigned()) wish_ = {};
  return {std::move(ended), session.was_assigned()};
}

/// Does what the engine does between two sessions. False: the process ends.
bool world::follow(next_move move, const session_result& ended) {
  switch (move) {
    case next_move::end:
      return false;
    case next_move::give_up:
      choose_option(ended.why->message + ended.why->hint);
      return false;
    case next_move::ride_out:
    case next_move::make_client:
      pass_turn(std::chrono::seconds{1});
      return !stop_;
    case next_move::open_store:
      callers_.store_lost();
      pass_turn(std::chrono::seconds{1});
      return open_store();
    case next_move::rebuild:
      wish_.replaced_uuid = disk_->now().uuid;
      new_directory();
      for (const auto& s : streams_) s->config.start = start_position::earliest;
      return open_store();
  }
  throw broken("a move that the world does not know");
}

/// Somebody reads what was said, and types one of the answers that it names.
void world::choose_option(const std::string& told) {
  constexpr std::array k_options{resume_option::store, resume_option::kafka, resume_option::rebuild,
                                 resume_option::takeover, resume_option::cluster};
  std::vector<resume_option> named;
  for (const resume_option o : k_options) {
    if (told.find(std::string{"--resume "} + name_of(o)) != std::string::npos) named.push_back(o);
  }
  // Where nothing is named it is tried again, and perhaps built anew.
  if (named.empty()) named = {resume_option::none, resume_option::rebuild};
  typed_ = named[draw(static_cast<std::uint32_t>(named.size()))];
}

/// Between two processes.
void world::be_down(bool killed) {
  store_.reset();
  source_.reset();
  outlet_.reset();
  sink_.reset();
  dies_in_.reset();
  stopped_since_ = 0;
  if (killed) {
    if (with_power_) (void)disk_->power_cut(*this);
    if (traces()) trace(with_power_ ? "== the power is cut" : "== the process is killed");
    note_lost_steps();
    cluster_.others.push_back({"killed", "ratchet", "here"});  // until its session ends
    spells_.push_back({turn_ + 1 + draw(8), fault_kind::kill});
  } else {
    ++cluster_.generation;  // it left
  }
  with_power_ = false;
  for (const fault& f : std::exchange(while_down_, {})) apply_while_down(f);
  if (finished_) return;
  for (std::uint32_t i = draw(3); i > 0; --i) pass_turn(std::chrono::seconds{1});
}

// Calls.

void world::pass_call() {
  if (!dies_in_) return;
  if (*dies_in_ == 0) {
    dies_in_.reset();
    throw process_died{};
  }
  --*dies_in_;
}

void world::on_commit(const commit_request& r) {
  const std::size_t log = cluster_.index_of(r.where);
  const auto durable = book_.next_offset(log, disk_->durable());
  if (!durable || r.next_offset > *durable) {
    throw broken(r.where.topic + ": offset " + std::to_string(r.next_offset) +
                 " is committed, but durable is " + (durable ? std::to_string(*durable) : "nothing"));
  }
  const auto mark = parse_metadata(r.metadata);
  const auto own = disk_->now().incarnations;
  const bool ours = mark && mark->store_uuid == disk_->now().uuid && !own.empty() &&
                    mark->incarnation == own.back() && mark->step <= disk_->durable();
  if (!ours) throw broken("a commit with the mark `" + r.metadata + "`");
}

void world::on_delivery(std::vector<std::pair<std::size_t, log_entry>> records) {
  if (traces()) {
    std::string line = "delivered";
    for (const auto& [log, entry] : records) {
      line += " " + cluster_.logs[log].where.topic + "/" +
              std::to_string(static_cast<int>(cluster_.logs[log].where.partition)) + "@" +
              std::to_string(entry.offset) + describe(*entry.what);
    }
    trace(std::move(line));
  }
  book_.delivered(cluster_, records);
}

void world::on_write(const step_batch& batch, const simulated_disk::contents& before) {
  ++result_.met.steps;
  for (const audit_row& row : batch.audits) ++result_.met.audits[row.kind];
  for (const step_part& part : batch.parts) {
    const auto& partitions = part.change->after.partitions;
    result_.met.ends_within += static_cast<std::uint64_t>(std::count_if(
        partitions.begin(), partitions.end(), [](const auto& p) { return p.second.next_index != 0; }));
    for (const partition_stop& stop : part.change->stops)
      ++(stop.code == make_error_code(errc::waiting_full) ? result_.met.full : result_.met.reducer_stops);
  }
  if (traces()) {
    trace("step " + std::to_string(batch.step) + ", durable is " + std::to_string(disk_->durable()));
    for (const audit_row& row : batch.audits) trace("  audit: " + row.text);
    for (const step_part& part : batch.parts) {
      for (const backlog_change& b : part.change->backlogs) trace("  " + describe(part, b));
    }
  }
  std::vector<const request*> asked;
  for (const step_part& part : batch.parts) {
    if (part.plan != nullptr && part.plan->wants_answers)
      asked = callers_.asked_in(static_cast<std::uint32_t>(part.stream), *part.plan);
  }
  book_.write(batch, before, cluster_, clock_.now().time_since_epoch().count(), asked);
  result_.met.outputs += batch.outbox.puts.size();
  for (const step_part& part : batch.parts)
    result_.met.table_changes += part.change != nullptr ? part.change->tables.size() : 0;
  mail_.write(batch, before, history_, has_letters(history_), has_answers(history_));
}

void world::on_look_up(stream_id id, const step_plan& plan) {
  if (!plan.wants_answers) return;
  const auto stream = static_cast<std::uint32_t>(id);
  const std::vector<const request*> asked = callers_.asked_in(stream, plan);
  callers_.expect(asked, book_.try_out(stream, asked, clock_.now().time_since_epoch().count()));
}

history_result play(const history& h, std::vector<std::string>* trace) {
  return world{h, trace}.run();
}

}  // namespace ratchet::sim
