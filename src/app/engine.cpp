// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/engine.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "app/descriptors.hpp"
#include "app/open_source.hpp"
#include "app/random_bits.hpp"
#include "app/sink_outlets.hpp"
#include "app/start_step.hpp"
#include "app/wait_or_stop.hpp"
#include "config/memory_budget.hpp"
#include "consumer/life_lines.hpp"
#include "consumer/null_source.hpp"
#include "core/typed_command.hpp"
#include "decode/envelope_preset.hpp"
#include "kafka/kafka_publisher.hpp"
#include "kafka/kafka_source.hpp"
#include "pipeline/audit_rows.hpp"
#include "ports/error_class.hpp"
#include "ports/thread_edge.hpp"
#include "process/refusal_of_thread.hpp"
#include "reports/table_reading.hpp"
#include "reports/wait_explanation.hpp"
#include "store/engine/open_files.hpp"
#include "store/files/private_directory.hpp"
#include "store/rocks_store.hpp"
#include "telemetry/state_sampler.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_leave_patience{400};
const system_clock_port k_system_clock;

}  // namespace

engine::engine(config c, stream_list streams, engine_options options)
    : config_{std::move(c)},
      streams_{std::move(streams)},
      tasks_{make_tasks(streams_)},
      options_{std::move(options)},
      client_log_{std::make_shared<client_log>(options_.log)},
      status_{options_.clock->now()},
      meter_{*options_.clock},
      pages_{status_, meter_},
      handover_{desk_, *options_.clock, options_.log, config_.kafka.group},
      names_{config_.replicate ? config_.replicate->instance : std::string{}},
      checkpoints_{config_.state.path, as_owner(), *options_.clock, options_.log} {}

engine::~engine() {
  stop_serving();
  store_.reset();
  put_back();
}

reported<std::unique_ptr<engine>> engine::open(config c, const reducers& own, engine_options options) {
  if (!options.log) options.log = silent_log();
  if (options.clock == nullptr) options.clock = &k_system_clock;
  for (const diagnostic& w : c.warnings) {
    tell(options.log, log_kind::config_warning, "{}: {}{}{}", w.path, w.message, w.hint.empty() ? "" : "; ",
         w.hint);
  }
  if (auto too_few = refusal_of_descriptors(descriptor_limit())) return std::move(*too_few);
  RATCHET_TRY(auto streams, make_streams(c, own));
  if (auto refused = check_sinks(c, options.sinks)) return std::move(*refused);
  if (auto refused = refusal_of_replicate(c, options)) return std::move(*refused);
  std::unique_ptr<engine> made{new engine{std::move(c), std::move(streams), std::move(options)}};
  std::optional<problem> failed;
  try {
    failed = made->open_or_rebuild();
  } catch (const std::system_error& thrown) {
    auto refused = refusal_of_thread(thrown);
    if (!refused) throw;
    return std::move(*refused);
  }
  // A replica's directory may be behind the log: it is asked for where the log was read.
  if (!failed && !made->config_.replicate) failed = check_lanes(made->config_, made->store_->outboxes());
  if (failed) return std::move(*failed);
  return made;
}

/// Behind the opening, which takes the rights of others. Some file systems say yes to that, and keep the
/// mode.
void engine::tell_of_mode(const std::string& before) {
  const auto now = mode_open_to_others(config_.state.path);
  tell(options_.log, log_kind::state_mode, "the state directory {} had the mode {}{}",
       config_.state.path.string(), before,
       now ? ", and the file system keeps it: other users of this machine may read the state"
           : ": Ratchet set it to 700, for its owner alone");
}

std::optional<problem> engine::try_to_open_store() {
  store_options wanted;
  wanted.path = config_.state.path;
  wanted.group = config_.kafka.group;
  wanted.streams = meanings_of(streams_);
  wanted.adopts_at_once = false;
  if (config_.replicate) wanted.replicated = wanted.adopts_at_once = true;
  wanted.leaves_log = options_.resume == resume_option::takeover;
  const memory_budget shares = memory_budget::of(config_.memory_limit);
  wanted.database_bytes = shares.database;
  wanted.remembered_bytes = shares.remembered;
  const auto was_open = mode_open_to_others(wanted.path);
  auto opened = ratchet::open_store(wanted);
  if (!opened) return std::move(opened.error());
  if (was_open) tell_of_mode(*was_open);
  if (config_.replicate) opened = make_replicated(std::move(opened.value()));
  if (!opened) return std::move(opened.error());
  {
    const std::unique_lock lock{store_mutex_};
    store_ = std::move(opened.value());
  }
  auto failed = read_opened_store();
  // The streams would go on from what is in memory, which may be ahead of the disk.
  if (failed) close_store();
  return failed;
}

std::optional<problem> engine::read_opened_store() {
  if (const auto loaded = load_tasks(streams_, tasks_, *store_); !loaded) {
    return problem{
        loaded.error(),
        "the state in " + config_.state.path.string() + " cannot be read: " + loaded.error().message(),
        "run `ratchet verify --state " + shell_word(config_.state.path.string()) + "`",
        {}};
  }
  handled_at_opening_ = handled_in(tasks_);
  tell_unread_topics();
  return std::nullopt;
}

/// A standby takes no tasks, as it has no session. A copy of its state needs none.
at_owner engine::as_owner() {
  return [this, by_task = by_task(inbox_.tasks)](const std::function<void(checkpointable&)>& job,
                                                 std::chrono::milliseconds patience) {
    if (!replicated_) return by_task(job, patience);
    return replicated_->jobs().run([&] { job(*replicated_); }, patience);
  };
}

void engine::stop_serving() {
  inbox_.tasks.close();  // who waits for this thread would else be waited for
  if (replicated_) replicated_->jobs().close();
  control_.reset();
}

void engine::close_store() {
  stop_serving();  // it reads the store
  const std::unique_lock lock{store_mutex_};
  store_.reset();
  replicated_ = nullptr;
}

result<stored_aggregate> engine::read(std::string_view stream, std::string_view aggregate) const {
  const std::shared_lock lock{store_mutex_};
  if (!store_) return make_error_code(errc::not_running);  // being opened again
  RATCHET_TRY(const auto view, store_->view());
  RATCHET_TRY(const auto known, view->streams());
  const auto at =
      std::find_if(known.begin(), known.end(), [&](const named_stream& s) { return s.name == stream; });
  if (at == known.end()) return make_error_code(errc::not_found);
  RATCHET_TRY(auto row, view->get(at->id, aggregate));
  stored_aggregate found{row.last, row.id, row.time, std::nullopt};
  if (!row.deleted) found.value = std::move(row.snapshot);
  return found;
}

result<std::string> engine::read(const table_key& at) const {
  const std::shared_lock lock{store_mutex_};
  if (!store_) return make_error_code(errc::not_running);  // being opened again
  RATCHET_TRY(const auto view, store_->view());
  return read_table_row(*view, at);
}

result<table_page> engine::scan(const table_range& range) const {
  const std::shared_lock lock{store_mutex_};
  if (!store_) return make_error_code(errc::not_running);
  RATCHET_TRY(const auto view, store_->view());
  return read_table_page(*view, range);
}

reported<void> engine::serve() {
  std::vector<std::string> names;
  for (const auto& s : streams_) names.push_back(s->config.name);
  inbox_.tasks.open();  // first: who asks in the first moment waits for the owner
  if (replicated_) replicated_->jobs().open();
  RATCHET_TRY(control_,
              control_server::start(config_.state.path, *store_, std::move(names), status_, {}, &checkpoints_,
                                    actor_of(inbox_.tasks, *store_), sink_actor_of(inbox_.tasks),
                                    config_.kafka.group, handover_actor_of(config_, desk_)));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::optional<problem> engine::serve_http() {
  if (!config_.http) return std::nullopt;
  auto started = http_server::start(config_.http->host, config_.http->port,
                                    [this](std::string_view path) { return pages_.answer(path); });
  if (!started) return std::move(started.error());
  http_ = std::move(started.value());
  tell(options_.log, log_kind::http_listening, "/livez, /readyz and /metrics on http://{}", http_->address());
  return std::nullopt;
}

std::optional<problem> engine::reopen_store(const problem& why) {
  const run_meter::long_work opening{meter_, "opening the state directory again"};
  status_.set_ready(false, "opening the state directory again after a failed write");
  meter_.store_opened_again();
  if (lost_stores_.due(options_.clock->steady()))
    tell(options_.log, log_kind::store_reopened,
         "{}; reopening the store: synced steps are kept, and the rest is read from Kafka again{}",
         why.message, lost_stores_.suppressed());
  std::vector<stream_state> starts;
  for (const auto& task : tasks_) starts.push_back(task->at_start);
  close_store();
  std::this_thread::sleep_for(k_new_client_pause);
  if (auto failed = open_store()) return failed;
  for (std::size_t i = 0; i < starts.size(); ++i) tasks_[i]->at_start = std::move(starts[i]);
  if (auto serving = serve(); !serving) return std::move(serving.error());
  return std::nullopt;
}

reported<std::unique_ptr<publisher>> engine::make_outlet() const {
  // What an earlier config has put there is sent, too.
  if (output_topics(streams_).empty() && store_->outbox().rows() == 0) return std::unique_ptr<publisher>{};
  kafka_publisher_options wanted;
  wanted.log = [to = client_log_](int level, std::string_view text) { to->write(level, text); };
  wanted.on_smaller_batches = [log = options_.log](const std::string& text) {
    tell(log, log_kind::client, "{}", text);
  };
  return make_kafka_publisher(config_.kafka, std::move(wanted));
}

reported<std::unique_ptr<source>> engine::make_source() {
  kafka_source_options wanted;
  wanted.memory_bytes = memory_budget::of(config_.memory_limit).queue;
  for (const auto& s : streams_) {
    wanted.wants_headers = wanted.wants_headers || reads_headers(s->config.envelope) ||
                           is_of_header(s->config.ignore_having) || !s->config.dead_letter.empty();
  }
  // What concerns the owner comes as a notice too; these lines tell the cause while nothing is polled yet.
  wanted.log = [to = client_log_](int level, std::string_view text) { to->write(level, text); };
  if (options_.make_source) return options_.make_source();
  if (config_.replicate) return make_kafka_source(settings_of_member(), wanted);
  if (reads_topics(streams_)) return make_kafka_source(config_.kafka, wanted);
  return std::unique_ptr<source>{std::make_unique<null_source>([this, wanted]() -> std::unique_ptr<source> {
    auto made = make_kafka_source(config_.kafka, wanted);
    return made ? std::move(made.value()) : nullptr;
  })};
}

bool engine::coordinator_answers(source& from) const {
  for (const auto& s : streams_) {
    if (s->config.topics.empty()) continue;
    const topic_partition any{s->config.topics.front(), partition_id{0}};
    return from.committed(std::span{&any, 1}, k_leave_patience).has_value();
  }
  return false;
}

engine::session_end_of engine::one_session(bool until_end, const std::atomic<bool>& stop) {
  auto made = make_source();
  if (!made) return {{session_end::refused, std::move(made.error())}, false};
  open_source_guard from{std::move(made.value())};
  session_end_of session = one_session(from.get(), until_end, stop);
  if (session.was_assigned && coordinator_answers(from.get())) from.has_joined();
  return session;
}

engine::session_end_of engine::one_session(source& from, bool until_end, const std::atomic<bool>& stop) {
  auto outlet = make_outlet();
  if (!outlet) return {{session_end::refused, std::move(outlet.error())}, false};
  auto sinks = open_all_sinks(config_, note_callers(options_.sinks));
  if (!sinks) return {{session_end::refused, std::move(sinks.error())}, false};
  consumer_session session{
      {config_, streams_, tasks_, *store_, from, *options_.clock, status_, meter_, options_.log, &inbox_,
       options_.space, outlet.value().get(), sinks.value().outlets, [this] { return accept_start(); }},
      {until_end,
       {options_.resume,
        replaced_uuid_,
        options_.resumed_by,
        has_rebuilt_,
        {},
        config_.replicate.has_value()},
       &stop,
       &handover_.is_leaving(),
       random_bits()}};
  session_result ended = session.run();
  times_ = session.times();
  if (session.was_assigned()) options_.resume = resume_option::none;  // it holds for the first assignment
  return {std::move(ended), session.was_assigned()};
}

void engine::answer(resume_option option, decider who) {
  options_.resume = option;
  options_.resumed_by = std::move(who);
  has_rebuilt_ = false;
}

std::vector<question> engine::questions() const {
  std::vector<question> open;
  {
    const std::scoped_lock lock{questions_mutex_};
    open = refused_for_;
  }
  for (const auto& [name, partitions] : status_.snapshot().streams) {
    for (const auto& [where, live] : partitions) {
      if (live.asked) open.push_back(*live.asked);
    }
  }
  return open;
}

std::optional<problem> engine::run(bool until_end, const std::atomic<bool>& stop) {
  {
    const std::scoped_lock lock{questions_mutex_};
    refused_for_.clear();
  }
  status_.forget_questions();
  auto failed = run_once(until_end, stop);
  // A stopped partition asks by itself, in the status.
  if (failed && failed->code != make_error_code(errc::partition_stopped)) {
    const std::scoped_lock lock{questions_mutex_};
    refused_for_ = failed->questions;
  }
  return failed;
}

std::optional<problem> engine::run_once(bool until_end, const std::atomic<bool>& stop) {
  if (!store_) {  // the run before could not open it again
    if (auto failed = open_or_rebuild()) return failed;
  }
  const bool uses_kafka =
      reads_topics(streams_) || !output_topics(streams_).empty() || store_->outbox().rows() > 0;
  if (uses_kafka && (config_.kafka.brokers.empty() || config_.kafka.group.empty())) {
    return problem{make_error_code(errc::config_invalid),
                   "streams with topics and published messages need `kafka.brokers` and `kafka.group`",
                   "add them to the config",
                   {}};
  }
  meter_.beat();           // opening the state may have taken its time
  loop_ = session_loop{};  // what the run before met is no fault of this one
  auto failed = run_and_answer(until_end, stop);
  // The next run() listens anew, at the same places.
  stop_serving();
  http_.reset();
  return failed;
}

std::optional<problem> engine::run_and_answer(bool until_end, const std::atomic<bool>& stop) {
  if (auto failed = serve_http()) return failed;
  meter_.publish(sample_of(tasks_, store_->last_step(), store_->outboxes()));
  if (auto serving = serve(); !serving) return std::move(serving.error());
  tell_start(options_.log, config_, *store_);
  if (!config_.replicate) inbox_.transactions.open();  // else while it owns the state
  std::optional<problem> failed;
  bool lacks_thread = false;
  const auto work = [&] {
    try {
      failed = config_.replicate ? run_replicated(until_end, stop) : run_sessions(until_end, stop);
    } catch (const std::system_error& thrown) {
      failed = refusal_of_thread(thrown);
      if (!failed) throw;
      lacks_thread = true;
    }
  };
  const bool ended_by_itself = at_edge(work, [&](const char* thrown) {
    failed = problem{make_error_code(errc::internal),
                     std::string{"an exception ended the run: "} + thrown,
                     "start again: nothing that was durable is lost",
                     {}};
  });
  inbox_.transactions.close();
  if (!ended_by_itself || lacks_thread) {
    // Whatever the owner was at, nobody knows how much of it is done in memory: the disk tells the next run.
    if (auto worse = reopen_store(*failed)) return worse;
  }
  if (store_) tell_end(options_.log, *store_, tasks_);
  return failed;
}

std::optional<problem> engine::run_sessions(bool until_end, const std::atomic<bool>& stop) {
  for (;;) {
    auto [ended, was_assigned] = one_session(until_end, stop);
    if (ended.end == session_end::refused || ended.end == session_end::client_lost)
      status_.set_ready(false, "making a new Kafka client: " + ended.why->message);
    std::optional<problem> failed;
    switch (loop_.after(ended, was_assigned, handled_at_opening_)) {
      case next_move::end:
        return stopped_partitions();
      case next_move::give_up:
        return std::move(ended.why);
      case next_move::ride_out:
        if (outages_.due(options_.clock->steady()))
          tell(options_.log, log_kind::brokers_away, "{}; Ratchet tries again{}", ended.why->message,
               outages_.suppressed());
        wait_or_stop(classify(ended.why->code) == error_class::denied ? k_denied_pause : k_new_client_pause,
                     stop);
        break;
      case next_move::rebuild:
        failed = rebuild(ended.why ? ended.why->message : std::string{});
        break;
      case next_move::open_store:
        inbox_.transactions.store_lost();
        failed = reopen_store(*ended.why);
        break;
      case next_move::make_client:
        meter_.client_made_anew();
        if (lost_clients_.due(options_.clock->steady()))
          tell(options_.log, log_kind::client_renewed, "{} ({}); a new client goes on from the state{}",
               ended.why->message, ended.why->code.message(), lost_clients_.suppressed());
        std::this_thread::sleep_for(k_new_client_pause);
        break;
    }
    if (failed) return failed;
  }
}

std::optional<problem> engine::stopped_partitions() const {
  problem p{
      make_error_code(errc::partition_stopped), "partitions are stopped; all others are handled:", "", {}};
  std::vector<std::string> to_do;
  for (const auto& [name, partitions] : status_.snapshot().streams) {
    for (const auto& [where, live] : partitions) {
      if (!live.stopped) continue;
      p.diagnostics.push_back({"", 0, 0, "", std::string{message_of_stop(*live.stopped).what}, ""});
      add_new(to_do, *live.stopped);
      if (live.asked) p.questions.push_back(*live.asked);
    }
  }
  p.hint = joined(to_do);
  return p.diagnostics.empty() ? std::nullopt : std::optional{std::move(p)};
}

std::vector<stream_report> engine::reports() const {
  std::vector<stream_report> reports;
  const status_snapshot live = status_.snapshot();
  for (const auto& task : tasks_) {
    const std::string& name = task->stream.config.name;
    const auto at = live.streams.find(name);
    reports.push_back(report_of_run(name, task->at_start, task->state,
                                    at == live.streams.end() ? live_partitions{} : at->second));
    const auto fields = live.fields.find(name);
    if (fields != live.fields.end()) reports.back().fields = fields->second;
  }
  add_gaps(reports);
  return reports;
}

/// What cannot be read has been told of already, or is met by whoever goes on.
void engine::add_gaps(std::vector<stream_report>& reports) const {
  const auto view = store_->view();
  if (!view) return;
  const auto known = view.value()->streams();
  if (!known) return;
  for (const named_stream& stream : known.value()) {
    const auto at = std::find_if(reports.begin(), reports.end(),
                                 [&](const stream_report& r) { return r.name == stream.name; });
    if (at == reports.end()) continue;
    if (auto gap = oldest_gap_of(*view.value(), stream)) at->oldest_gap = std::move(gap).value();
  }
}

}  // namespace ratchet
