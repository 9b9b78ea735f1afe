// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_latency.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "app/engine.hpp"
#include "cli/joined_thread.hpp"
#include "kafka/raw_consume.hpp"
#include "kafka/record_producer.hpp"
#include "text/json_writer.hpp"

namespace ratchet::cli {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::microseconds k_sample_every{200};
constexpr std::chrono::seconds k_assignment_limit{60};
constexpr std::chrono::seconds k_flush_limit{10};

/// By partition: when the record of each offset was sent, or seen. The topic began empty, and the idempotent
/// producer keeps the order, so that the n-th record of a partition has offset n.
using record_times = std::vector<std::vector<steady::time_point>>;
using offsets = std::vector<std::int64_t>;

/// At this time, everything below these offsets was durable and readable.
struct durable_mark {
  steady::time_point when;
  offsets below;
};

[[nodiscard]] result<offsets> offsets_of(const store_view& view, stream_id stream, std::size_t partitions) {
  RATCHET_TRY(const auto state, view.load(stream));
  offsets below(partitions, 0);
  for (const auto& [where, partition] : state.partitions) {
    if (!where.topic.empty() && partition.has_position())
      below.at(static_cast<std::size_t>(where.partition)) = partition.next_offset;
  }
  return below;
}

/// Reads the store again whenever it has a new step, and notes when the step that was read is durable.
class observer {
 public:
  observer(const readable_store& from, stream_id stream, std::size_t partitions)
      : store_{from}, stream_{stream}, partitions_{partitions} {}

  void look_on(const std::atomic<bool>& over) {
    while (!over.load(std::memory_order_relaxed)) {
      look();
      std::this_thread::sleep_for(k_sample_every);
    }
  }
  /// Reading the store failed: the figures mean nothing.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] const std::vector<durable_mark>& marks() const noexcept { return marks_; }

 private:
  struct read_step {
    std::uint64_t step;
    offsets below;
  };

  void look() {
    if (store_.last_step() != seen_) {
      const auto view = store_.view();
      auto below = view ? offsets_of(*view.value(), stream_, partitions_) : view.error();
      if (!below) {
        failed_ = true;
        return;
      }
      seen_ = view.value()->step();
      waiting_.push_back({seen_, std::move(below.value())});
    }
    const std::uint64_t durable = store_.durable_step();
    const auto now = steady::now();
    while (!waiting_.empty() && waiting_.front().step <= durable) {
      marks_.push_back({now, std::move(waiting_.front().below)});
      waiting_.pop_front();
    }
  }

  const readable_store& store_;
  stream_id stream_;
  std::size_t partitions_;
  std::uint64_t seen_{0};
  std::deque<read_step> waiting_;
  std::vector<durable_mark> marks_;
  bool failed_{false};
};

[[nodiscard]] reported<record_times> send_evenly(const kafka_target& target, workload_stream& stream,
                                                 double per_second) {
  RATCHET_TRY(const auto producer, record_producer::make(target.brokers, {{"linger.ms", "0"}}));
  const auto failed = [](std::error_code code) {
    return problem{code, "sending failed: " + code.message(), "", {}};
  };
  record_times sent(target.partitions);
  const std::chrono::duration<double> pause{1.0 / per_second};
  const auto begin = steady::now();
  workload_record record;
  std::string value;
  for (std::uint64_t number = 0; stream.next(record); ++number) {
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<steady::duration>(pause * static_cast<double>(number)));
    const std::string key = workload_stream::key(record.event);
    value.clear();
    stream.render(record.event, value);
    const auto partition = workload_partition(key, target.partitions);
    sent[partition].push_back(steady::now());
    const auto done =
        producer->send(target.topic, partition_id{static_cast<std::int32_t>(partition)}, key, value);
    if (!done) return failed(done.error());
  }
  if (const auto done = producer->flush(k_flush_limit); !done) return failed(done.error());
  return sent;
}

/// Until the consumer was given its partitions; records sent before would wait for that. False: never.
[[nodiscard]] bool wait_for_assignment(const run_meter& meter) {
  const auto until = steady::now() + k_assignment_limit;
  while (meter.counts().rebalances == 0) {
    if (steady::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return true;
}

/// When each record that was sent was first seen in durable state. Empty where one never was.
[[nodiscard]] record_times durable_times(const record_times& sent, const std::vector<durable_mark>& marks) {
  record_times seen(sent.size());
  for (std::size_t partition = 0; partition < sent.size(); ++partition) {
    auto mark = marks.begin();
    for (std::size_t offset = 0; offset < sent[partition].size(); ++offset) {
      while (mark != marks.end() && mark->below[partition] <= static_cast<std::int64_t>(offset)) ++mark;
      if (mark == marks.end()) return {};
      seen[partition].push_back(mark->when);
    }
  }
  return seen;
}

/// From one time of each record to another, of those sent behind `begin`.
[[nodiscard]] latency_sample between(const record_times& from, const record_times& to,
                                     const record_times& sent, steady::time_point begin) {
  latency_sample all;
  for (std::size_t partition = 0; partition < sent.size(); ++partition) {
    for (std::size_t offset = 0; offset < sent[partition].size(); ++offset) {
      if (sent[partition][offset] < begin) continue;
      const auto took = to[partition][offset] - from[partition][offset];
      all.milliseconds.push_back(std::max(0.0, std::chrono::duration<double, std::milli>(took).count()));
    }
  }
  std::sort(all.milliseconds.begin(), all.milliseconds.end());
  return all;
}

[[nodiscard]] bool same_records(const record_times& a, const record_times& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& other) { return one.size() == other.size(); });
}

/// What the log's syncs took on the average.
[[nodiscard]] double mean_ms(const histogram_counts& seconds) {
  std::uint64_t count = 0;
  for (const std::uint64_t of_bucket : seconds.counts) count += of_bucket;
  return count == 0 ? 0 : seconds.sum * 1000 / static_cast<double>(count);
}

[[nodiscard]] steady::time_point first_of(const record_times& times) {
  auto first = steady::time_point::max();
  for (const auto& of_partition : times) {
    if (!of_partition.empty()) first = std::min(first, of_partition.front());
  }
  return first;
}

/// However a scope is left, it is over then.
class ends_with {
 public:
  explicit ends_with(std::atomic<bool>& over) : over_{over} {}
  ~ends_with() { over_.store(true, std::memory_order_relaxed); }
  ends_with(const ends_with&) = delete;
  ends_with& operator=(const ends_with&) = delete;
  ends_with(ends_with&&) = delete;
  ends_with& operator=(ends_with&&) = delete;

 private:
  std::atomic<bool>& over_;
};

[[nodiscard]] double rate_of(const record_times& sent) {
  std::size_t records = 0;
  auto last = steady::time_point::min();
  for (const auto& of_partition : sent) {
    if (of_partition.empty()) continue;
    records += of_partition.size();
    last = std::max(last, of_partition.back());
  }
  return records < 2 ? 0
                     : static_cast<double>(records - 1) /
                           std::chrono::duration<double>(last - first_of(sent)).count();
}

}  // namespace

double latency_sample::percentile(double share) const {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(milliseconds.size()));
  return milliseconds[std::min(at, milliseconds.size() - 1)];
}

reported<latency_figures> run_latency(const bench_setup& setup, const kafka_target& target,
                                      const workload_dials& dials, const latency_options& options) {
  workload_dials paced = dials;
  paced.rate = options.per_second;
  paced.events = static_cast<std::uint64_t>(options.per_second *
                                            static_cast<double>((options.warm_up + options.time).count()));
  paced.start = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  RATCHET_TRY(auto stream, workload_stream::make(paced));
  const process_usage before = usage_of_process();
  RATCHET_TRY(auto opened, engine::open(bench_config(setup, target), {}, {}));
  std::atomic<bool> over{false};
  observer seen{opened->state(), opened->streams().front()->id, target.partitions};
  std::optional<reported<record_times>> sent;
  record_times arrived(target.partitions);
  result<void> followed = BOOST_OUTCOME_V2_NAMESPACE::success();
  joined_thread following{[&] {
    followed = raw_follow(
        target.brokers, target.topic,
        [&arrived](partition_id partition, std::int64_t) {
          arrived[static_cast<std::size_t>(partition)].push_back(steady::now());
        },
        over);
  }};
  const ends_with without_looking{over};  // where a thread cannot be had, the others do not wait for it
  joined_thread looking{[&] { seen.look_on(over); }};
  const ends_with without_sending{over};
  joined_thread sending{[&] {
    const ends_with ends{over};
    if (wait_for_assignment(opened->meter())) sent.emplace(send_evenly(target, stream, options.per_second));
    // Time for the last records to become durable; a consumer that stops would hasten them.
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }};
  auto failed = opened->run(false, over);
  over.store(true, std::memory_order_relaxed);
  sending.join();
  looking.join();
  following.join();
  if (failed) return std::move(*failed);
  if (sent && !*sent) return sent->error();
  if (!followed)
    return problem{followed.error(), "the bare client failed: " + followed.error().message(), "", {}};
  record_times durable;
  if (sent && !seen.failed()) durable = durable_times(sent->value(), seen.marks());
  if (durable.empty() || !same_records(sent->value(), arrived)) {
    return problem{make_error_code(errc::check_failed),
                   "not every record was seen to arrive and to become durable",
                   "the topic must have been empty; look whether the broker is healthy",
                   {}};
  }
  const auto begin = first_of(sent->value()) + options.warm_up;
  latency_figures figures;
  figures.whole = between(sent->value(), durable, sent->value(), begin);
  figures.bare = between(sent->value(), arrived, sent->value(), begin);
  figures.added = between(arrived, durable, sent->value(), begin);
  figures.sync_mean_ms = mean_ms(opened->state().statistics().sync_seconds);
  figures.sent_per_second = rate_of(sent->value());
  figures.cpu_seconds = usage_of_process().cpu_seconds - before.cpu_seconds;
  return figures;
}

std::string json_of(const latency_figures& figures) {
  json_writer out;
  const auto number = [&out](const char* name, double value) { out.key(name).raw(std::to_string(value)); };
  out.begin_object().key("records").number(figures.whole.milliseconds.size());
  number("sent_per_second", figures.sent_per_second);
  for (const auto& [name, sample] :
       {std::pair{"", &figures.whole}, {"bare_", &figures.bare}, {"added_", &figures.added}}) {
    const std::string prefix = name;
    number((prefix + "p50_ms").c_str(), sample->percentile(0.5));
    number((prefix + "p90_ms").c_str(), sample->percentile(0.9));
    number((prefix + "p99_ms").c_str(), sample->percentile(0.99));
    number((prefix + "p999_ms").c_str(), sample->percentile(0.999));
    number((prefix + "max_ms").c_str(), sample->milliseconds.back());
  }
  number("sync_mean_ms", figures.sync_mean_ms);
  number("cpu_seconds", figures.cpu_seconds);
  return out.end_object().take();
}

}  // namespace ratchet::cli
