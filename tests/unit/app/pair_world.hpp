// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/engine.hpp"
#include "consumer/member_name.hpp"
#include "ports/source.hpp"
#include "support/each_answer.hpp"
#include "support/memory_slot_log.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/apply_world.hpp"

/// A cluster in memory with one topic, a replicated log and a group, and instances that are run one after the
/// other on the test's thread. An instance that is killed leaves the records that it has under way, which may
/// land at any time.
namespace ratchet::pair_support {

inline constexpr const char* k_log_topic = "payments.ratchet";
inline const topic_partition k_slot{k_log_topic, partition_id{0}};
inline const topic_partition k_input{"t", partition_id{0}};

struct cluster {
  testing::memory_log log;
  testing::memory_log bases;
  std::deque<std::string> records;  ///< of the input
  std::int64_t input_begins{0};     ///< those before it are deleted
  std::map<topic_partition, committed_offset> committed;
  const void* owner{nullptr};  ///< who has the slot
  std::string refusal;         ///< why the group lets nobody in; empty: it does
  std::set<std::string> gone;  ///< topics that the brokers do not know
  std::uint32_t generation{0};
  std::map<std::string, std::string> claims;  ///< who committed on the slot last
  std::vector<group_member> others;           ///< in the group, beside those that run
};

class pair_batch final : public record_batch {
 public:
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }
  void add(std::int64_t offset, const std::string& value) {
    record r;
    r.where = &where_;
    r.offset = offset;
    r.time = k_noon_time;
    r.value = bytes_.emplace_back(value);
    records_.push_back(r);
  }

 private:
  topic_partition where_{k_input};
  std::deque<std::string> bytes_;
  std::vector<record> records_;
};

/// A member of the group. What it may do: `on_poll` is asked first, and may kill it, stop it or take the
/// slot.
class pair_source final : public source {
 public:
  pair_source(cluster& of, std::string name, std::function<void(pair_source&)> on_poll)
      : of_{of}, name_{std::move(name)}, on_poll_{std::move(on_poll)} {}
  ~pair_source() override { leave(); }

  void kill() { is_dead_ = true; }
  /// The group gives the slot to somebody else.
  void lose() {
    if (of_.owner != this) return;
    of_.owner = nullptr;
    notices_.push_back(notice::revoked{{k_slot}, true});
    positions_.clear();
  }
  /// The group gives it to this member.
  void win() { give(); }
  /// The group asks for it back, and gives it to the same member.
  void rebalance() {
    if (of_.owner != this) return;
    notices_.push_back(notice::revoked{{k_slot}, false});
    comes_back_ = true;
  }
  [[nodiscard]] bool has_joined() const { return has_joined_; }
  [[nodiscard]] bool has_read_all() const {
    const auto at = positions_.find(k_input);
    return at != positions_.end() && at->second == static_cast<std::int64_t>(of_.records.size());
  }

  result<std::string> cluster_id(std::chrono::milliseconds) override { return std::string{"cluster-1"}; }
  result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                  std::chrono::milliseconds) override {
    std::vector<topic_partition> all;
    for (const std::string& t : topics) {
      if (of_.gone.contains(t)) return errc::topic_missing;
      all.push_back({t, partition_id{0}});
    }
    return all;
  }
  result<std::vector<committed_offset>> committed(std::span<const topic_partition> all,
                                                  std::chrono::milliseconds) override {
    std::vector<committed_offset> out;
    for (const topic_partition& where : all) {
      const auto at = of_.committed.find(where);
      out.push_back(at == of_.committed.end() ? committed_offset{where, {}, {}} : at->second);
    }
    return out;
  }
  result<std::vector<group_member>> members(std::chrono::milliseconds) override {
    std::vector<group_member> all = of_.others;
    const std::string name = member_name({}, k_noon_time, name_);
    if (has_joined_) all.push_back({name + "-uuid", name, "host", true});
    return all;
  }
  std::vector<result<log_bounds>> bounds(std::span<const topic_partition> all,
                                         std::chrono::milliseconds) override {
    const auto end = static_cast<std::int64_t>(of_.records.size());
    return {all.size(), result<log_bounds>{log_bounds{of_.input_begins, end, end}}};
  }
  std::vector<result<std::optional<owned_record>>> read_at(std::span<const position> all,
                                                           std::chrono::milliseconds) override {
    return testing::each_answer(all, [this](const position& at) -> result<std::optional<owned_record>> {
      return std::optional{owned_record{{}, of_.records.at(static_cast<std::size_t>(at.offset))}};
    });
  }
  result<void> join(std::span<const std::string> topics) override {
    if (!of_.refusal.empty()) {
      notices_.push_back(notice::trouble{make_error_code(errc::source_unavailable), of_.refusal, {}});
      return success();
    }
    has_joined_ = true;
    if (topics.front() != k_log_topic) {  // without a log: it reads the input by itself
      of_.owner = this;
      ++of_.generation;
      notices_.push_back(notice::assigned{{k_input}});
      return success();
    }
    if (of_.owner == nullptr) {
      give();
    } else {
      notices_.push_back(notice::assigned{{}});
    }
    return success();
  }
  result<void> assign(std::span<const position> all) override {
    positions_.clear();
    for (const position& p : all) positions_[p.where] = p.offset;
    return success();
  }
  result<void> unassign() override {
    positions_.clear();
    if (std::exchange(comes_back_, false)) give();
    return success();
  }
  result<void> pause(std::span<const topic_partition>) override { return success(); }
  result<void> resume(std::span<const topic_partition>) override { return success(); }
  result<polled> poll(std::size_t most, std::chrono::milliseconds) override {
    on_poll_(*this);
    if (is_dead_) return errc::source_fatal;
    polled out;
    out.notices = std::exchange(notices_, {});
    const auto at = positions_.find(k_input);
    if (at == positions_.end() || !out.notices.empty()) return out;
    const auto end = static_cast<std::int64_t>(of_.records.size());
    if (at->second == end) return out;
    auto batch = std::make_unique<pair_batch>();
    for (std::size_t i = 0; i < most && at->second < end; ++i, ++at->second)
      batch->add(at->second, of_.records[static_cast<std::size_t>(at->second)]);
    out.batch = std::move(batch);
    return out;
  }
  void wake() noexcept override {}
  result<void> commit(std::span<const commit_request> all) override {
    RATCHET_TRY(commit_and_wait(all, {}));
    notice::commit_done done;
    for (const commit_request& r : all) done.offsets.push_back({r.where, r.next_offset, r.metadata});
    notices_.emplace_back(std::move(done));
    return success();
  }
  result<void> commit_and_wait(std::span<const commit_request> all, std::chrono::milliseconds) override {
    if (is_dead_) return errc::source_fatal;
    for (const commit_request& r : all) of_.committed[r.where] = {r.where, r.next_offset, r.metadata};
    return success();
  }
  [[nodiscard]] std::optional<std::uint32_t> generation() const override { return of_.generation; }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return 0; }
  void close(std::chrono::milliseconds) noexcept override { leave(); }

 private:
  void give() {
    of_.owner = this;
    ++of_.generation;
    notices_.push_back(notice::assigned{{k_slot}});
  }
  void leave() {
    if (of_.owner == this) of_.owner = nullptr;
  }

  cluster& of_;
  std::string name_;
  std::function<void(pair_source&)> on_poll_;
  bool has_joined_{false};
  std::vector<source_notice> notices_;
  std::map<topic_partition, std::int64_t> positions_;
  bool is_dead_{false};
  bool comes_back_{false};
};

/// One instance with a directory of its own.
class instance {
 public:
  instance(cluster& of, std::string name) : of_{of}, name_{std::move(name)} {}

  std::function<void(config&)> change;    ///< of its config
  const clock_port* clock{nullptr};       ///< none: the system's
  const disk_space_port* space{nullptr};  ///< none: the system's
  resume_option resume{resume_option::none};
  ratchet::sinks sinks;

  /// Runs it until `on_poll` sets the stop, or kills it.
  std::optional<problem> run(const std::function<void(pair_source&, std::atomic<bool>&)>& on_poll,
                             const std::function<void(testing::memory_slot_log&)>& with_log = {}) {
    std::atomic<bool> stop{false};
    engine_options options;
    options.replicates = true;
    options.resume = resume;
    options.sinks = sinks;
    options.clock = clock;
    options.space = space;
    options.make_source = [&]() -> reported<std::unique_ptr<source>> {
      ++clients_;
      return std::unique_ptr<source>{
          std::make_unique<pair_source>(of_, name_, [&](pair_source& s) { on_poll(s, stop); })};
    };
    options.bases_on = std::launch::deferred;
    options.make_log = [&](const std::string& topic) -> reported<std::unique_ptr<slot_log>> {
      if (topic != k_log_topic) {
        auto bases = std::make_unique<testing::memory_slot_log>(of_.bases);
        bases->most_entries = 1;  // so that an instance may be killed in the middle of one
        return std::unique_ptr<slot_log>{std::move(bases)};
      }
      auto made = std::make_unique<testing::memory_slot_log>(of_.log);
      if (with_log) with_log(*made);
      return std::unique_ptr<slot_log>{std::move(made)};
    };
    auto opened = engine::open(settings(), {}, options);
    if (!opened) return std::move(opened.error());
    running_ = opened.value().get();
    auto failed = opened.value()->run(false, stop);
    running_ = nullptr;
    seen_ = text_of(*opened.value());
    step_ = opened.value()->state().durable_step();
    return failed;
  }
  /// In run(): what it says of itself.
  [[nodiscard]] status_snapshot shown() const { return running_->status().snapshot(); }
  /// In run(): why it is not ready; empty: it is.
  [[nodiscard]] std::string why_not_ready() const {
    const auto shown = running_->status().snapshot();
    return shown.ready ? "" : shown.ready_reason;
  }
  /// Behind run(): what the state has.
  [[nodiscard]] const std::map<std::string, std::string>& seen() const { return seen_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  /// How many it has made.
  [[nodiscard]] int clients() const { return clients_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return files_.path(); }
  [[nodiscard]] config settings() const {
    config c;
    c.state.path = files_.path() / "state";
    c.kafka.brokers = {"broker:9092"};
    c.kafka.group = "g";
    c.streams = {stream_named("payments", k_input.topic)};
    c.memory_limit = std::uint64_t{64} << 20;
    c.step_records = 3;
    c.replicate = replicate_config{k_log_topic, name_, {}, "lz4", {}, {}};
    if (change) change(c);
    return c;
  }

 private:
  static std::map<std::string, std::string> text_of(engine& e) {
    std::map<std::string, std::string> all;
    const auto view = e.state().view();
    if (!view && view.error() == make_error_code(errc::state_restoring)) return all;
    EXPECT_TRUE(view);
    const stream_id stream = e.state().id_of("payments");
    EXPECT_TRUE(view.value()->scan(stream, [&](const scanned_row& row) {
      all[std::string{row.aggregate}] = row.row.snapshot.str();
      return true;
    }));
    all["consumed"] = std::to_string(view.value()->load(stream).value().counters.consumed);
    return all;
  }

  cluster& of_;
  std::string name_;
  support::temporary_directory files_;
  std::map<std::string, std::string> seen_;
  std::uint64_t step_{0};
  int clients_{0};
  engine* running_{nullptr};
};

}  // namespace ratchet::pair_support
