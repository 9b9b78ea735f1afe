// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/engine.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "kafka/kafka_source.hpp"
#include "store/rocks_store.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_close_deadline{10'000};
constexpr std::chrono::milliseconds k_new_client_pause{1'000};
/// Stores that were opened again without one durable step between them: the disk is not coming back by
/// itself.
constexpr int k_reopen_limit = 5;
/// Of the memory limit, the share of fetched bytes; librdkafka's own overhead may double it. The store has
/// half.
constexpr std::uint64_t k_queue_share = 4;

const system_clock_port k_system_clock;

[[nodiscard]] std::uint64_t draw_random() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

constexpr int k_syslog_error = 3;

/// The client's own error lines, from any of its threads: one in a while is enough.
class paced_errors {
 public:
  [[nodiscard]] bool due() {
    const std::lock_guard lock{mutex_};
    return pace_.due(std::chrono::steady_clock::now());
  }

 private:
  std::mutex mutex_;
  log_pace pace_;
};

/// True where a store cannot be opened because of what is in it: damaged, or made with another meaning (whose
/// changed lines are listed). Another group's directory, or something that is no store at all, is not put
/// aside.
[[nodiscard]] bool rebuild_mends(const problem& p) {
  return p.code == make_error_code(errc::state_damaged) ||
         (p.code == make_error_code(errc::state_foreign) && !p.diagnostics.empty());
}

/// Ends a client with its deadline, whichever way its session ended.
class open_source_guard {
 public:
  explicit open_source_guard(std::unique_ptr<source> s) : source_{std::move(s)} {}
  ~open_source_guard() { source_->close(k_close_deadline); }
  open_source_guard(const open_source_guard&) = delete;
  open_source_guard& operator=(const open_source_guard&) = delete;
  open_source_guard(open_source_guard&&) = delete;
  open_source_guard& operator=(open_source_guard&&) = delete;
  [[nodiscard]] source& get() noexcept { return *source_; }

 private:
  std::unique_ptr<source> source_;
};

}  // namespace

engine::engine(config c, stream_list streams, engine_options options)
    : config_{std::move(c)},
      streams_{std::move(streams)},
      options_{std::move(options)},
      board_{options_.clock->now()} {}

engine::~engine() = default;

reported<std::unique_ptr<engine>> engine::open(config c, const reducers& own, engine_options options) {
  if (!options.log) options.log = silent_log();
  if (options.clock == nullptr) options.clock = &k_system_clock;
  RATCHET_TRY(auto streams, make_streams(c, own));
  std::unique_ptr<engine> made{new engine{std::move(c), std::move(streams), std::move(options)}};
  auto failed = made->open_store();
  if (failed && made->options_.resume == resume_option::rebuild && rebuild_mends(*failed)) {
    made->options_.log->warn("{}", failed->message);
    failed = made->move_aside();
    if (!failed) failed = made->open_store();
  }
  if (failed) return std::move(*failed);
  return made;
}

std::optional<problem> engine::open_store() {
  store_options wanted;
  wanted.path = config_.state.path;
  wanted.group = config_.kafka.group;
  wanted.streams = meanings_of(streams_);
  wanted.memory_bytes = config_.memory_limit;  // it takes its half
  auto opened = ratchet::open_store(wanted);
  if (!opened) return std::move(opened.error());
  {
    const std::unique_lock lock{store_mutex_};
    store_ = std::move(opened.value());
  }
  if (const auto loaded = load_states(streams_, *store_); !loaded) {
    return problem{
        loaded.error(),
        "the state in " + config_.state.path.string() + " cannot be read: " + loaded.error().message(),
        "run `ratchet verify --state " + config_.state.path.string() + "`",
        {}};
  }
  return std::nullopt;
}

void engine::close_store() {
  control_.reset();  // reads the store
  const std::unique_lock lock{store_mutex_};
  store_.reset();
}

result<snapshot> engine::read(std::string_view stream, std::string_view aggregate) const {
  const std::shared_lock lock{store_mutex_};
  if (!store_) return make_error_code(errc::not_found);  // being opened again
  RATCHET_TRY(const auto view, store_->view());
  RATCHET_TRY(const auto known, view->streams());
  const auto at =
      std::find_if(known.begin(), known.end(), [&](const named_stream& s) { return s.name == stream; });
  if (at == known.end()) return make_error_code(errc::not_found);
  RATCHET_TRY(auto row, view->get(at->id, aggregate));
  snapshot found{row.last, row.id, row.time, std::nullopt};
  if (!row.deleted) found.value = std::move(row.snapshot);
  return found;
}

reported<void> engine::serve() {
  std::vector<std::string> names;
  for (const auto& s : streams_) names.push_back(s->config.name);
  RATCHET_TRY(control_, control_server::start(config_.state.path, *store_, std::move(names), board_));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::optional<problem> engine::reopen_store(const problem& why) {
  reopened_in_a_row_ = store_->durable_step() > durable_at_reopen_ ? 1 : reopened_in_a_row_ + 1;
  durable_at_reopen_ = store_->durable_step();
  if (reopened_in_a_row_ > k_reopen_limit) return why;
  options_.log->error("{}; the store is opened again, and what it holds is taken for the truth", why.message);
  std::vector<stream_state> starts;
  for (const auto& s : streams_) starts.push_back(s->at_start);
  close_store();
  std::this_thread::sleep_for(k_new_client_pause);
  if (auto failed = open_store()) return failed;
  for (std::size_t i = 0; i < starts.size(); ++i) streams_[i]->at_start = std::move(starts[i]);
  if (auto serving = serve(); !serving) return std::move(serving.error());
  return std::nullopt;
}

std::optional<problem> engine::move_aside() {
  const auto stamp =
      std::chrono::duration_cast<std::chrono::seconds>(options_.clock->now().time_since_epoch()).count();
  std::filesystem::path old = config_.state.path;
  if (!old.has_filename()) old = old.parent_path();  // a slash at the end
  old += ".old-" + std::to_string(stamp);
  std::error_code code;
  std::filesystem::rename(config_.state.path, old, code);
  if (code) {
    return problem{code,
                   "the state directory " + config_.state.path.string() + " cannot be moved to " +
                       old.string() + ": " + code.message(),
                   "move it away by hand, and start again with `--resume rebuild`",
                   {}};
  }
  options_.log->warn("the old state is kept in {}; building a new one from the log's start", old.string());
  // A rebuild begins at the log's start, also where a new stream would begin at its end.
  for (const auto& s : streams_) s->config.start = start_position::earliest;
  return std::nullopt;
}

std::optional<problem> engine::rebuild() {
  close_store();
  if (auto failed = move_aside()) return failed;
  if (auto failed = open_store()) return failed;
  if (auto serving = serve(); !serving) return std::move(serving.error());
  return std::nullopt;
}

session_result engine::one_session(bool until_end, const std::atomic<bool>& stop) {
  kafka_source_options wanted;
  wanted.memory_bytes = config_.memory_limit / k_queue_share;
  for (const auto& s : streams_) {
    const envelope_config& e = s->config.envelope;
    for (const std::string& field : {e.event_id, e.aggregate, e.sequence, e.epoch, e.type, e.time}) {
      wanted.wants_headers = wanted.wants_headers || field.starts_with("header:");
    }
  }
  // What concerns the owner comes as a notice too; these lines tell the cause while nothing is polled yet.
  wanted.log = [log = options_.log, errors = std::make_shared<paced_errors>()](int level,
                                                                               std::string_view text) {
    const bool shown = text.starts_with("CONFWARN") || (level <= k_syslog_error && errors->due());
    log->log(shown ? spdlog::level::warn : spdlog::level::debug, "librdkafka: {}", text);
  };
  auto made = make_kafka_source(config_.kafka, wanted);
  if (!made) return {session_end::refused, std::move(made.error())};
  open_source_guard from{std::move(made.value())};
  consumer_session session{{config_, streams_, *store_, from.get(), *options_.clock, board_, options_.log},
                           {until_end, options_.resume, &stop, draw_random()}};
  session_result ended = session.run();
  times_ = session.times();
  if (session.was_assigned()) {
    has_consumed_ = true;
    options_.resume = resume_option::none;  // it holds for the first assignment
  }
  return ended;
}

std::optional<problem> engine::run(bool until_end, const std::atomic<bool>& stop) {
  bool reads = false;
  for (const auto& s : streams_) reads = reads || !s->config.topics.empty();
  if (!reads || config_.kafka.brokers.empty() || config_.kafka.group.empty()) {
    return problem{make_error_code(errc::config_invalid),
                   "there is nothing to read from Kafka: `kafka.brokers`, `kafka.group` and the `topics` of "
                   "at least one stream are needed",
                   "add them to the config, or use `ratchet apply` for files",
                   {}};
  }
  if (auto serving = serve(); !serving) return std::move(serving.error());
  for (;;) {
    session_result ended = one_session(until_end, stop);
    std::optional<problem> failed;
    switch (ended.end) {
      case session_end::drained:
      case session_end::caught_up:
        return stopped_partitions();
      case session_end::refused:
        if (!has_consumed_ || ended.why->code != make_error_code(errc::source_unavailable))
          return std::move(ended.why);
        options_.log->warn("{}; it is tried again", ended.why->message);  // an outage is ridden out
        std::this_thread::sleep_for(k_new_client_pause);
        break;
      case session_end::rebuild:
        failed = rebuild();
        break;
      case session_end::store_lost:
        failed = reopen_store(*ended.why);
        break;
      case session_end::client_lost:
        options_.log->error("{} ({}); a new client goes on from the state", ended.why->message,
                            ended.why->code.message());
        std::this_thread::sleep_for(k_new_client_pause);
        break;
    }
    if (failed) return failed;
  }
}

std::optional<problem> engine::stopped_partitions() const {
  std::string list;
  for (const auto& [name, partitions] : board_.snapshot().streams) {
    for (const auto& [where, live] : partitions) {
      if (live.stopped) list += "\n  " + *live.stopped;
    }
  }
  if (list.empty()) return std::nullopt;
  return problem{make_error_code(errc::partition_stopped),
                 "some partitions are stopped; the rest is handled:" + list,
                 "",
                 {}};
}

std::vector<stream_report> engine::reports() const {
  std::vector<stream_report> reports;
  const live_status live = board_.snapshot();
  for (const auto& s : streams_) {
    const auto at = live.streams.find(s->config.name);
    reports.push_back(report_of_run(s->config.name, s->at_start, s->state,
                                    at == live.streams.end() ? live_partitions{} : at->second));
  }
  return reports;
}

}  // namespace ratchet
