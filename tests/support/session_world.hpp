// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "core/output.hpp"
#include "streams/partition_task.hpp"
#include "support/all_rows.hpp"
#include "support/fake_disk_space.hpp"
#include "support/fake_source.hpp"
#include "support/topic_partitions.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {

constexpr const char* k_own_uuid = "11111111-1111-4111-8111-111111111111";
constexpr const char* k_other_uuid = "22222222-2222-4222-8222-222222222222";

/// A store in memory that writes down its calls, can be told to fail, and knows what is durable of each
/// partition.
class watched_store final : public store {
 public:
  watched_store(journal& calls, std::vector<std::string> streams, std::string uuid)
      : calls_{calls}, under_{std::move(streams), std::move(uuid)} {}

  int writes_until_failure{-1};  ///< 0: the next write fails
  int syncs_until_failure{-1};
  bool holds_syncs{false};   ///< request_sync() does nothing
  std::size_t looked_up{0};  ///< aggregates, over all calls

  /// The next offset of a partition that survives a power cut.
  [[nodiscard]] std::optional<std::int64_t> durable_offset(const topic_partition& where) const {
    const auto known = durable_.find(where);
    return known == durable_.end() ? std::nullopt : std::optional{known->second};
  }
  [[nodiscard]] memory_store& under() noexcept { return under_; }
  [[nodiscard]] std::vector<audit_row> audits() const {
    return support::all_audits(*under_.view().value()).value();
  }
  [[nodiscard]] std::string snapshot_of(const std::string& stream, const std::string& aggregate) const {
    const auto row = under_.view().value()->get(id_of(stream), aggregate);
    return row ? row.value().snapshot.str() : "nothing";
  }

  [[nodiscard]] stream_id id_of(std::string_view stream) const override { return under_.id_of(stream); }
  [[nodiscard]] result<stream_state> load(stream_slot id) const override { return under_.load(id); }
  [[nodiscard]] result<void> lookup(stream_slot id, const step_plan& plan, step_rows& out) override {
    looked_up += plan.aggregates.size();
    return under_.lookup(id, plan, out);
  }
  [[nodiscard]] result<due_aggregates> due(stream_slot id, timestamp now, std::optional<timestamp> gaps,
                                           std::size_t limit) override {
    return under_.due(id, now, gaps, limit);
  }
  [[nodiscard]] result<std::vector<std::string>> due_behind(stream_slot id, timestamp until,
                                                            std::size_t limit) override {
    return under_.due_behind(id, until, limit);
  }
  [[nodiscard]] result<forgotten_aggregates> find_forgotten(stream_slot id, const retention_state& of,
                                                            const std::optional<std::string>& after,
                                                            std::size_t rows) override {
    return under_.find_forgotten(id, of, after, rows);
  }
  [[nodiscard]] outbox_lanes outboxes() const override { return under_.outboxes(); }
  [[nodiscard]] std::uint64_t outbox_epoch() const override { return under_.outbox_epoch(); }
  [[nodiscard]] result<std::vector<output_row>> outputs(std::string_view lane, std::uint64_t from,
                                                        std::uint64_t until, std::size_t limit,
                                                        std::uint64_t bytes) const override {
    return under_.outputs(lane, from, until, limit, bytes);
  }

  [[nodiscard]] std::optional<timestamp> oldest_rejected(stream_id id) const override {
    return under_.oldest_rejected(id);
  }
  [[nodiscard]] result<void> write(const step_batch& batch) override {
    calls_.add("write " + std::to_string(batch.step));
    if (writes_until_failure >= 0 && writes_until_failure-- == 0) {
      return make_error_code(errc::write_indeterminate);
    }
    for (const step_part& part : batch.parts) {
      for (const auto& [where, state] : part.change->after.partitions) written_[where] = state.next_offset;
    }
    return under_.write(batch);
  }
  [[nodiscard]] std::uint64_t last_step() const noexcept override { return under_.last_step(); }
  [[nodiscard]] std::uint64_t durable_step() const noexcept override { return under_.durable_step(); }
  void request_sync() override {
    if (holds_syncs) return;
    calls_.add("request_sync");
    durable_ = written_;
    under_.request_sync();
  }
  [[nodiscard]] result<void> sync() override {
    calls_.add("sync");
    if (syncs_until_failure >= 0 && syncs_until_failure-- == 0) {
      return make_error_code(errc::write_indeterminate);
    }
    durable_ = written_;
    return under_.sync();
  }
  [[nodiscard]] std::string uuid() const override { return under_.uuid(); }
  [[nodiscard]] std::string cluster_id() const override { return under_.cluster_id(); }
  [[nodiscard]] result<void> set_cluster_id(std::string_view id) override {
    return under_.set_cluster_id(id);
  }
  [[nodiscard]] result<incarnation> draw_incarnation(std::uint64_t past, std::uint64_t random) override {
    auto drawn = under_.draw_incarnation(past, random);
    calls_.add("draw_incarnation " + std::to_string(drawn.value().counter));
    durable_ = written_;
    return drawn;
  }
  [[nodiscard]] std::vector<incarnation> incarnations() const override { return under_.incarnations(); }
  [[nodiscard]] std::optional<copy_mark> copy() const override { return under_.copy(); }
  [[nodiscard]] result<std::uint64_t> checkpoint(const std::filesystem::path& directory) override {
    calls_.add("checkpoint");
    return under_.checkpoint(directory);
  }
  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override { return under_.view(); }

 private:
  journal& calls_;
  memory_store under_;
  std::map<topic_partition, std::int64_t> written_;
  std::map<topic_partition, std::int64_t> durable_;
};

inline stream_config payments(std::string name = "payments", std::string topic = "t") {
  stream_config s;
  s.name = std::move(name);
  s.topics = {std::move(topic)};
  s.start = start_position::earliest;
  s.envelope.aggregate = "/p";
  s.envelope.sequence = "/n";
  s.dedup.ids = id_kind::none;
  s.reducer.from = "/v";
  s.record_times = record_times::trusted;  // one record moves the floor
  return s;
}

inline std::string event(const std::string& aggregate, int n) {
  return R"({"p":")" + aggregate + R"(","n":)" + std::to_string(n) + R"(,"v":)" + std::to_string(n) + "}";
}

/// One store in front of a scripted group: run() is one life of a session; what a crash leaves is what the
/// next run() finds. Every commit is checked: durable, and marked as ours.
class session_world {
 public:
  explicit session_world(std::vector<stream_config> streams = {payments()}, const reducers& own = {})
      : settings{make_settings(std::move(streams))},
        store{calls, names(settings), k_own_uuid},
        source{calls, clock},
        status{clock.now()},
        meter{clock},
        log{std::make_shared<spdlog::logger>("test",
                                             std::make_shared<spdlog::sinks::ostream_sink_mt>(text_))} {
    auto made = make_streams(settings, own);
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    source.on_commit = [this](const commit_request& r) { check(r); };
    source.at_end = [this] {
      live_at_stop = status.snapshot();
      stop = true;
    };
  }

  session_result run(session_options options = {}) {
    EXPECT_TRUE(load_tasks(streams_, tasks_, store));
    options.stop = &stop;
    options.random = ++random_;
    consumer_session session{{settings, streams_, tasks_, store, source, clock, status, meter, log, inbox,
                              &disk, publish_to, sinks, accept},
                             options};
    session_result ended = session.run();
    times = session.times();
    if (!stop) live_at_stop = status.snapshot();
    return ended;
  }
  session_result run_with(resume_option option) {
    session_options options;
    options.resume.option = option;
    return run(options);
  }
  session_result run_until_end() {
    session_options options;
    options.until_end = true;
    return run(options);
  }
  [[nodiscard]] stream_list& streams() { return streams_; }
  [[nodiscard]] task_list& tasks() { return tasks_; }
  /// These numbers of an aggregate of the partition's own.
  void produce(const topic_partition& where, int from, int to) {
    produce(where, from, to, "a" + place(where));
  }
  void produce(const topic_partition& where, int from, int to, const std::string& aggregate) {
    for (int n = from; n <= to; ++n) source.produce(where, event(aggregate, n));
  }
  /// What the process that crashed had not synced is lost, and the next run starts afresh.
  void power_cut() { store.under().lose_unsynced(); }

  [[nodiscard]] std::string logged() const { return text_.str(); }
  [[nodiscard]] std::size_t logged(const std::string& part) const {
    const std::string all = text_.str();
    std::size_t found = 0;
    for (std::size_t i = all.find(part); i != std::string::npos; i = all.find(part, i + 1)) ++found;
    return found;
  }
  [[nodiscard]] counters counted(const std::string& stream = "payments") const {
    return store.load(store.id_of(stream)).value().counters;
  }
  [[nodiscard]] partition_state state_of(const topic_partition& where,
                                         const std::string& stream = "payments") const {
    return store.load(store.id_of(stream)).value().partitions.at(where);
  }
  [[nodiscard]] std::optional<std::string> stop_of(const topic_partition& where,
                                                   const std::string& stream = "payments") const {
    const status_snapshot shown = status.snapshot();
    return shown.streams.at(stream).at(where).stopped;
  }
  /// The mark that this store would write, of an incarnation that it knows or not.
  [[nodiscard]] static std::string mark(const char* uuid, incarnation i) { return to_metadata({uuid, i, 1}); }

  journal calls;
  fake_clock clock;
  config settings;
  watched_store store;
  fake_source source;
  instance_status status;
  run_meter meter;
  fake_disk_space disk;
  mailbox* inbox{nullptr};
  publisher* publish_to{nullptr};
  std::vector<sink_outlet> sinks;
  std::function<std::optional<problem>()> accept;
  std::atomic<bool> stop{false};
  status_snapshot live_at_stop;  ///< before it was told to stop, or where it ended by itself
  flow_times times;

 private:
  static config make_settings(std::vector<stream_config> streams) {
    config c;
    c.kafka.brokers = {"broker:9092"};
    c.kafka.group = "group-1";
    c.state.path = "/nowhere/state";
    c.streams = std::move(streams);
    for (const stream_config& s : c.streams) {
      for (const std::string& to : topics_published_to(s)) {
        const std::string name{sink_of(to)};
        const auto is_it = [&](const sink_config& known) { return known.name == name; };
        if (name.empty() || std::any_of(c.sinks.begin(), c.sinks.end(), is_it)) continue;
        c.sinks.emplace_back().name = name;
      }
    }
    c.step_records = 10;
    return c;
  }
  static std::vector<std::string> names(const config& c) {
    std::vector<std::string> out;
    for (const stream_config& s : c.streams) out.push_back(s.name);
    return out;
  }
  void check(const commit_request& r) {
    const auto durable = store.durable_offset(r.where);
    EXPECT_TRUE(durable && r.next_offset <= *durable)
        << place(r.where) << "@" << r.next_offset << " is committed, but durable is "
        << (durable ? std::to_string(*durable) : "nothing");
    const auto written = parse_metadata(r.metadata);
    ASSERT_TRUE(written) << r.metadata;
    EXPECT_EQ(written->store_uuid, k_own_uuid);
    EXPECT_EQ(written->incarnation, store.incarnations().back());
    EXPECT_LE(written->step, store.durable_step());
  }

  std::ostringstream text_;
  std::uint64_t random_{0};
  stream_list streams_;
  task_list tasks_;

 public:
  log_ptr log;
};

/// Three records in each.
struct two_partitions : session_world {
  two_partitions() {
    produce(k_p0, 1, 3);
    produce(k_p1, 1, 3);
  }
};

/// Record times nine hours apart, so that the window tells the partitions apart.
struct floors : session_world {
  explicit floors(std::vector<stream_config> streams = {payments()}, const reducers& own = {})
      : session_world{std::move(streams), own} {
    clock.advance(std::chrono::hours{24 * 365});
    early = clock.now() - std::chrono::hours{10};
    late = clock.now() - std::chrono::hours{1};
  }
  [[nodiscard]] std::optional<timestamp> floor() const {
    return store.load(store.id_of("payments")).value().floor;
  }
  timestamp early;
  timestamp late;
};

constexpr std::chrono::hours k_window{24};

}  // namespace ratchet::testing
