// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_run.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>
#include <vector>

#include "app/engine.hpp"
#include "cli/joined_thread.hpp"
#include "kafka/raw_consume.hpp"
#include "process/signals.hpp"
#include "text/json_writer.hpp"

namespace ratchet::cli {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_look_every{5};

[[nodiscard]] double seconds_between(steady::time_point from, steady::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

[[nodiscard]] process_usage between(const process_usage& from, const process_usage& to) {
  return {to.cpu_seconds - from.cpu_seconds, to.most_rss_bytes, to.written_bytes - from.written_bytes};
}

/// Looks on from another thread while the owner works, and notes when how many records were durable.
class durable_watch {
 public:
  durable_watch(const run_meter& meter, std::optional<std::uint64_t> kill_at)
      : meter_{meter}, kill_at_{kill_at}, thread_{[this] { look_on(); }} {}
  ~durable_watch() { over_.store(true, std::memory_order_relaxed); }
  durable_watch(const durable_watch&) = delete;
  durable_watch& operator=(const durable_watch&) = delete;
  durable_watch(durable_watch&&) = delete;
  durable_watch& operator=(durable_watch&&) = delete;

  struct mark {
    steady::time_point when;
    std::uint64_t records{0};
  };

  /// Ends the watch and tells what it saw.
  [[nodiscard]] std::vector<mark> take() {
    stop();
    return std::move(marks_);
  }

 private:
  void stop() {
    over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }

  void look_on() {
    while (!over_.load(std::memory_order_relaxed)) {
      const state_sample sample = meter_.state();
      std::uint64_t records = 0;
      for (const stream_sample& s : sample.streams) records += s.counters.consumed;
      if (kill_at_ && records >= *kill_at_) ::kill(::getpid(), SIGKILL);
      if (marks_.empty() || marks_.back().records != records) marks_.push_back({steady::now(), records});
      std::this_thread::sleep_for(k_look_every);
    }
  }

  const run_meter& meter_;
  std::optional<std::uint64_t> kill_at_;
  std::vector<mark> marks_;
  std::atomic<bool> over_{false};
  joined_thread thread_;  // last: it uses the rest
};

/// When so many were durable, between two marks in proportion.
[[nodiscard]] steady::time_point when_durable(const std::vector<durable_watch::mark>& marks, double records) {
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const auto [before, had] = marks[i - 1];
    const auto [after, has] = marks[i];
    if (static_cast<double>(has) < records) continue;
    const double part = (records - static_cast<double>(had)) / static_cast<double>(has - had);
    return before + std::chrono::duration_cast<steady::duration>((after - before) * part);
  }
  return marks.back().when;
}

void fill_fifths(state_run& run, std::vector<durable_watch::mark> marks, const flow_times& times) {
  const std::uint64_t before = run.records - run.handled;
  std::erase_if(marks, [&](const auto& m) { return m.records <= before || m.when >= *times.all_durable; });
  marks.insert(marks.begin(), {*times.first_record, before});
  marks.push_back({*times.all_durable, run.records});
  const double fifth = static_cast<double>(run.handled) / static_cast<double>(run.fifths.size());
  auto begin = *times.first_record;
  for (std::size_t i = 0; i < run.fifths.size(); ++i) {
    const auto end = when_durable(marks, static_cast<double>(before) + fifth * static_cast<double>(i + 1));
    const double took = seconds_between(begin, end);
    run.fifths[i] = took > 0 ? fifth / took : 0;
    begin = end;
  }
}

[[nodiscard]] reported<workload_digest> flush_and_read(engine& opened, const std::filesystem::path& into) {
  const auto failed = [](std::error_code code) {
    return problem{code, "the state cannot be read after the run: " + code.message(), "", {}};
  };
  if (const auto flushed = opened.state().checkpoint(into); !flushed) return failed(flushed.error());
  workload_digest digest;
  const auto view = opened.state().view();
  if (!view) return failed(view.error());
  const auto read = view.value()->scan(opened.streams().front()->id, [&digest](const scanned_row& r) {
    if (!r.row.deleted) digest.row(r.aggregate, r.row.snapshot);
    return true;
  });
  if (!read) return failed(read.error());
  return digest;
}

void append_usage(json_writer& out, const process_usage& used) {
  out.key("cpu_seconds").raw(std::to_string(used.cpu_seconds));
  out.key("max_rss_bytes").number(used.most_rss_bytes).key("written_bytes").number(used.written_bytes);
}

void append_counters(json_writer& out, const counters& c) {
  out.key("counters").begin_object();
  out.key("applied").number(c.applied).key("superseded").number(c.superseded);
  out.key("duplicate").number(c.duplicate).key("stale").number(c.stale);
  out.key("rejected").number(c.rejected()).end_object();
}

}  // namespace

config bench_config(const bench_setup& setup, const kafka_target& target) {
  config c;
  c.kafka.brokers = {target.brokers};
  c.kafka.group = setup.group;
  // Raw is measured with the same setting: it takes the wait for more records off the end of a run.
  c.kafka.properties["fetch.wait.max.ms"] = "10";
  if (!setup.session_timeout_ms.empty()) c.kafka.properties["session.timeout.ms"] = setup.session_timeout_ms;
  if (setup.memory_limit != 0) c.memory_limit = setup.memory_limit;
  c.state.path = setup.state;
  c.state.sync = setup.every_step ? sync_mode::every_step : sync_mode::interval;
  stream_config s;
  s.name = "payments";
  s.topics = {target.topic};
  s.start = start_position::earliest;
  s.envelope.event_id = "/id";
  s.envelope.aggregate = "/payment/id";
  s.envelope.sequence = "/sequence";
  s.envelope.type = "/type";
  s.envelope.time = "/occurred_at";
  s.order = setup.order;
  s.reducer.from = "/payment";
  if (!setup.dedup) s.dedup.ids = id_kind::none;
  c.streams.push_back(std::move(s));
  return c;
}

reported<raw_run> run_raw(const kafka_target& target, std::uint64_t expected_records) {
  const process_usage before = usage_of_process();
  const auto raw = raw_consume(target.brokers, target.topic, {}, expected_records);
  if (!raw) return problem{raw.error(), "raw consumption failed: " + raw.error().message(), "", {}};
  return raw_run{raw.value().records, raw.value().seconds, between(before, usage_of_process())};
}

reported<state_outcome> run_state(const bench_setup& setup, const kafka_target& target,
                                  const state_run_options& options) {
  state_outcome outcome;
  state_run& run = outcome.run;
  const process_usage before = usage_of_process();
  const auto opening = steady::now();
  RATCHET_TRY(auto opened, engine::open(bench_config(setup, target), {}, {}));
  run.open_seconds = seconds_between(opening, steady::now());
  std::vector<durable_watch::mark> marks;
  {
    durable_watch watch{opened->meter(), options.kill_at};
    const stop_signals signals;
    if (auto failed = opened->run(true, signals.requested())) return std::move(*failed);
    marks = watch.take();
  }
  run.used = between(before, usage_of_process());
  run.counters = opened->tasks().front()->state.counters;
  run.records = run.counters.consumed;
  run.handled = run.records - opened->tasks().front()->at_start.counters.consumed;
  const flow_times& times = opened->times();
  if (run.records != options.expected_records || run.records != run.counters.accounted() ||
      !times.first_record || !times.first_step || !times.all_durable) {
    return problem{make_error_code(errc::check_failed),
                   "the run took in " + std::to_string(run.records) + " of " +
                       std::to_string(options.expected_records) + " records: its figures mean nothing",
                   "look whether the topic holds other records, or whether the broker dropped some",
                   {}};
  }
  run.seconds = seconds_between(*times.first_record, *times.all_durable);
  run.first_step_seconds = seconds_between(*times.assigned, *times.first_step);
  fill_fifths(run, std::move(marks), times);
  if (!options.flush_into.empty()) {
    RATCHET_TRY(const auto digest, flush_and_read(*opened, options.flush_into));
    outcome.found = state_found{digest, between(before, usage_of_process())};
  }
  return outcome;
}

std::string json_of(const raw_run& run) {
  json_writer out;
  out.begin_object().key("records").number(run.records).key("seconds").raw(std::to_string(run.seconds));
  out.key("per_second").raw(std::to_string(run.per_second()));
  append_usage(out, run.used);
  return out.end_object().take();
}

std::string json_of(const state_outcome& outcome) {
  const state_run& run = outcome.run;
  json_writer out;
  out.begin_object().key("records").number(run.records).key("handled").number(run.handled);
  out.key("seconds").raw(std::to_string(run.seconds));
  out.key("per_second").raw(std::to_string(run.per_second()));
  append_usage(out, run.used);
  out.key("open_seconds").raw(std::to_string(run.open_seconds));
  out.key("first_step_seconds").raw(std::to_string(run.first_step_seconds));
  append_counters(out, run.counters);
  out.key("fifths_per_second").begin_array();
  for (const double rate : run.fifths) out.raw(std::to_string(rate));
  out.end_array();
  if (outcome.found) {
    out.key("aggregates").number(outcome.found->digest.rows());
    out.key("digest").number(outcome.found->digest.sum());
    out.key("flushed").begin_object();
    append_usage(out, outcome.found->used);
    out.end_object();
  }
  return out.end_object().take();
}

}  // namespace ratchet::cli
