// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/kafka_slot_log.hpp"

#include <utility>

#include "kafka/log_reader.hpp"
#include "kafka/log_topic.hpp"
#include "kafka/log_writer.hpp"
#include "kafka/queue_signal.hpp"
#include "kafka/settings.hpp"

namespace ratchet {

namespace {

class kafka_slot_log final : public slot_log {
 public:
  kafka_slot_log(kafka_config config, topic_partition where)
      : config_{std::move(config)}, where_{std::move(where)} {}
  ~kafka_slot_log() override { signal_.on_progress({}); }
  kafka_slot_log(const kafka_slot_log&) = delete;
  kafka_slot_log& operator=(const kafka_slot_log&) = delete;

  [[nodiscard]] reported<void> open(const kafka_slot_log_options& options) {
    RATCHET_TRY(auto&& writer, log_writer::make(log_writer_settings(config_, options.compression), where_,
                                                options.queue_bytes, options.log, signal_));
    RATCHET_TRY(auto&& reader, log_reader::make(log_reader_settings(config_), where_, options.log, signal_));
    writer_ = std::move(writer);
    reader_ = std::move(reader);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  void append(replicate::append_request request) override { writer_->append(std::move(request)); }
  [[nodiscard]] bool has_room() const override { return writer_->has_room(); }
  void give_up() override { writer_->give_up(); }
  [[nodiscard]] std::vector<append_report> reports() override { return writer_->reports(); }

  [[nodiscard]] result<log_read> read(const replicate::read_range& range) override {
    return reader_->read(range);
  }
  void stop_reading() override { reader_->stop(); }

  void ask_bounds(std::int64_t known) override { reader_->ask_bounds(known); }
  [[nodiscard]] std::optional<result<told_bounds>> take_bounds() override { return reader_->take_bounds(); }

  /// With a client of its own: the others are the owner thread's, and may be replaced meanwhile.
  [[nodiscard]] result<void> delete_before(std::int64_t offset) override {
    return delete_records(config_, where_, offset, k_delete_timeout);
  }

  [[nodiscard]] std::optional<complaint> take_complaint() override {
    auto said = writer_->take_complaint();
    auto also = reader_->take_complaint();
    return said && (said->access || !also) ? said : also;
  }
  void wait(std::chrono::milliseconds most) override { signal_.wait(most); }
  void on_progress(std::function<void()> told) override { signal_.on_progress(std::move(told)); }

 private:
  static constexpr std::chrono::milliseconds k_delete_timeout{5'000};

  kafka_config config_;
  topic_partition where_;
  queue_signal signal_;  // outlives the clients, whose threads raise it
  std::unique_ptr<log_writer> writer_;
  std::unique_ptr<log_reader> reader_;
};

}  // namespace

reported<std::unique_ptr<slot_log>> make_kafka_slot_log(const kafka_config& config,
                                                        const topic_partition& where,
                                                        const kafka_slot_log_options& options) {
  auto made = std::make_unique<kafka_slot_log>(config, where);
  RATCHET_TRY(made->open(options));
  return std::unique_ptr<slot_log>{std::move(made)};
}

}  // namespace ratchet
