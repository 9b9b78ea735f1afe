// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/slot_log.hpp"

/// The slot log's port in memory, with what brokers and producers may do to records: they land late, twice,
/// never, after their writer is dead, or without anybody being told where.
namespace ratchet::testing {

/// What one producer has under way. It goes on when its writer is dead.
class memory_producer {
 public:
  [[nodiscard]] bool is_idle() const { return under_way_.empty(); }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }

 private:
  friend class memory_log;
  friend class memory_slot_log;
  std::deque<replicate::append_request> under_way_;
  std::vector<append_report> reports_;
  std::size_t bytes_{0};
};

/// One partition, as its brokers keep it: what any number of memory_slot_logs append to and read.
class memory_log {
 public:
  /// What becomes of a record that is under way.
  enum class how : std::uint8_t {
    kept,      ///< it is there, and its writer hears where
    unsaid,    ///< it is there, and its writer hears no more than that
    repeated,  ///< it is there, and will be there once more
    lost,      ///< it never will be there, and its writer hears so
  };

  /// What the brokers have against a record; none, and by default: nothing. It fails for good.
  std::function<std::error_code(const replicate::append_request&)> refuses;

  /// Somebody appends. Its offset.
  std::int64_t append(std::string record) {
    const std::int64_t at = end();
    records_.emplace_back(std::move(record));
    progress();  // whoever is told may append, too
    return at;
  }
  /// An offset without a record.
  void skip() {
    records_.emplace_back();
    progress();
  }
  /// Ends the journey of a producer's first record. False: it has none.
  bool land(memory_producer& of, how what = how::kept) {
    if (of.under_way_.empty()) return false;
    const std::error_code refused = refuses ? refuses(of.under_way_.front()) : std::error_code{};
    if (refused) what = how::lost;
    if (what == how::repeated) {
      append(of.under_way_.front().record);
      return true;
    }
    const replicate::append_request request = std::move(of.under_way_.front());
    of.under_way_.pop_front();
    append_report report{request.ticket, {}, {}};
    if (what == how::lost) {
      report.failed = refused ? refused : std::make_error_code(std::errc::message_size);
    } else {
      report.offset = append(request.record);
    }
    if (what == how::unsaid) report.offset.reset();
    of.bytes_ -= request.record.size();
    of.reports_.push_back(report);
    progress();
    return true;
  }
  void land_all() {
    for (const auto& each : producers_) {
      while (land(*each)) {
      }
    }
  }
  /// All that were ever made, in this order; those that were given up and are idle are of no use any more.
  [[nodiscard]] const std::vector<std::shared_ptr<memory_producer>>& producers() const { return producers_; }

  /// DeleteRecords.
  void delete_before(std::int64_t offset) { first_ = std::clamp(offset, first_, end()); }
  /// Brokers that lose what they acknowledged.
  void lose_from(std::int64_t offset) {
    records_.resize(static_cast<std::size_t>(std::clamp(offset, first_, end())));
  }
  /// The topic is deleted; `false`: it is there again, and empty.
  void set_missing(bool missing) {
    missing_ = missing;
    records_.clear();
    first_ = 0;
  }
  /// No leader: nothing lands by itself, and nothing is read.
  void set_led(bool led) {
    led_ = led;
    progress();
  }

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(records_.size()); }
  /// None: there is no record at that offset, which must be below end().
  [[nodiscard]] const std::optional<std::string>& at(std::int64_t offset) const {
    return records_.at(static_cast<std::size_t>(offset));
  }

 private:
  friend class memory_slot_log;
  void progress() {
    for (const auto& [whose, told] : told_) told();
  }
  std::vector<std::optional<std::string>> records_;
  std::int64_t first_{0};
  bool missing_{false};
  bool led_{true};
  std::vector<std::shared_ptr<memory_producer>> producers_;
  std::vector<std::pair<const void*, std::function<void()>>> told_;
};

/// One instance's way to a memory_log, which must outlive it. Its records are under way until land() of the
/// log is called, or reports(), where `lands` says so.
class memory_slot_log final : public slot_log {
 public:
  explicit memory_slot_log(memory_log& of, bool lands_by_itself = true) : lands{lands_by_itself}, of_{of} {
    renew();
  }
  ~memory_slot_log() override { on_progress({}); }
  memory_slot_log(const memory_slot_log&) = delete;
  memory_slot_log& operator=(const memory_slot_log&) = delete;

  bool lands;
  std::size_t room{std::size_t{64} << 20};  ///< in bytes
  std::size_t most_entries{100};            ///< of one read
  bool answers_bounds{true};
  /// So many reads find nothing yet, each time that the log has grown or that reading begins anew.
  std::size_t reads_late{0};
  std::function<void()> on_wait;

  /// Of the records that were appended last.
  [[nodiscard]] memory_producer& producer() { return *producer_; }

  void append(replicate::append_request request) override {
    if (request.ticket.writer != writer_) give_up();
    writer_ = request.ticket.writer;
    producer_->bytes_ += request.record.size();
    producer_->under_way_.push_back(std::move(request));
  }
  [[nodiscard]] bool has_room() const override { return producer_->bytes_ < room; }
  void give_up() override {
    if (!producer_->is_idle()) renew();
    producer_->reports_.clear();
    producer_->bytes_ = 0;
  }
  [[nodiscard]] std::vector<append_report> reports() override {
    if (of_.missing_) {
      for (const replicate::append_request& each : producer_->under_way_) {
        producer_->reports_.push_back({each.ticket, {}, errc::topic_missing});
      }
      producer_->under_way_.clear();
      producer_->bytes_ = 0;
    }
    while (lands && of_.led_ && of_.land(*producer_)) {
    }
    return std::exchange(producer_->reports_, {});
  }

  [[nodiscard]] result<log_read> read(const replicate::read_range& range) override {
    entries_.clear();
    log_read out;
    if (of_.missing_) return errc::topic_missing;
    if (!of_.led_) return out;
    if (range.first < of_.first() || range.first > of_.end()) {
      out.at = log_read::state::out_of_range;
      return out;
    }
    if (std::exchange(seen_end_, of_.end()) != of_.end()) waits_ = reads_late;
    if (waits_ > 0) {
      --waits_;
      out.through = range.first - 1;
      return out;
    }
    std::int64_t next = range.first;
    const std::int64_t behind = range.last ? std::min(*range.last + 1, of_.end()) : of_.end();
    for (; next < behind && entries_.size() < most_entries; ++next) {
      if (const auto& record = of_.at(next)) entries_.push_back({next, *record});
    }
    out.through = next - 1;
    if (next == of_.end()) out.at = log_read::state::at_end;
    out.entries = entries_;
    return out;
  }
  void stop_reading() override { waits_ = reads_late; }

  void ask_bounds(std::int64_t known) override {
    if (!asked_with_) asked_with_ = known;
  }
  [[nodiscard]] std::optional<result<told_bounds>> take_bounds() override {
    if (!asked_with_ || !answers_bounds || !of_.led_) return std::nullopt;
    const std::int64_t known = *std::exchange(asked_with_, std::nullopt);
    if (of_.missing_) return result<told_bounds>{errc::topic_missing};
    return result<told_bounds>{told_bounds{known, of_.first(), of_.end()}};
  }

  [[nodiscard]] result<void> delete_before(std::int64_t offset) override {
    if (of_.missing_) return errc::topic_missing;
    of_.delete_before(offset);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] std::optional<complaint> take_complaint() override {
    return std::exchange(complains, std::nullopt);
  }
  std::optional<complaint> complains;
  void wait(std::chrono::milliseconds) override {
    if (on_wait) on_wait();
  }
  void on_progress(std::function<void()> told) override {
    std::erase_if(of_.told_, [this](const auto& each) { return each.first == this; });
    if (told) of_.told_.emplace_back(this, std::move(told));
  }

 private:
  /// A producer that has something under way goes on without anybody.
  void renew() {
    producer_ = std::make_shared<memory_producer>();
    of_.producers_.push_back(producer_);
  }

  memory_log& of_;
  std::shared_ptr<memory_producer> producer_;
  std::uint64_t writer_{0};
  std::vector<slot_record> entries_;
  std::optional<std::int64_t> asked_with_;
  std::int64_t seen_end_{0};
  std::size_t waits_{0};
};

}  // namespace ratchet::testing
