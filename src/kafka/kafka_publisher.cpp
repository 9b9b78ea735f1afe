// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/kafka_publisher.hpp"

#include <mutex>
#include <utility>

#include "kafka/callback_edge.hpp"
#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/produce_parts.hpp"
#include "kafka/settings.hpp"
#include "ports/error_class.hpp"
#include "ports/thread_edge.hpp"

namespace ratchet {

namespace {

delivery ended(std::uint64_t position, rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {position, delivery::how::done, {}};
  const bool is_refused = kafka_error(code) == source_condition::message_refused;
  return {position, is_refused ? delivery::how::refused : delivery::how::again, rd_kafka_err2str(code)};
}

/// Positions travel as librdkafka's opaque pointers, which never are followed.
void* as_opaque(std::uint64_t position) {
  return reinterpret_cast<void*>(position);  // NOLINT(performance-no-int-to-ptr)
}
static_assert(sizeof(void*) >= sizeof(std::uint64_t));

class delivery_reports final : public client_callbacks {
 public:
  /// While the owner polls.
  void on_delivery(const rd_kafka_message_t& message) override {
    add(reinterpret_cast<std::uint64_t>(message._private), message.err);
  }
  void on_error(rd_kafka_t*, rd_kafka_resp_err_t code, const char* reason) override {
    if (code == RD_KAFKA_RESP_ERR__FATAL) lost_ = true;
    log(k_syslog_warning, words_of_error(kafka_error(code), reason));
  }
  [[nodiscard]] std::vector<delivery> take() { return std::exchange(ended_, {}); }
  void add(std::uint64_t position, rd_kafka_resp_err_t code) {
    // A topic that was deleted and made anew meanwhile may stay without partitions to the client until its
    // next look at all topics, minutes later.
    knows_all_ = knows_all_ && classify(kafka_error(code)) != error_class::missing;
    ended_.push_back(ended(position, code));
  }
  /// No topic was unknown so far.
  [[nodiscard]] bool knows_all() const noexcept { return knows_all_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  static constexpr int k_syslog_warning = 4;
  std::vector<delivery> ended_;
  bool lost_{false};
  bool knows_all_{true};
};

/// What is called when the brokers answered; outlives the client, whose threads call it.
struct progress {
  std::mutex mutex;
  std::function<void()> told;
};

class kafka_publisher final : public publisher {
 public:
  kafka_publisher(kafka_properties settings, kafka_publisher_options options)
      : settings_{std::move(settings)}, options_{std::move(options)} {}
  ~kafka_publisher() override {
    on_progress({});
    close();
  }
  kafka_publisher(const kafka_publisher&) = delete;
  kafka_publisher& operator=(const kafka_publisher&) = delete;

  [[nodiscard]] reported<void> open() {
    auto reports = std::make_shared<delivery_reports>();
    reports->set_log(options_.log);
    RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_PRODUCER, settings_, reports));
    reports_ = std::move(reports);
    client_ = std::move(client);
    main_queue_.reset(rd_kafka_queue_get_main(client_->get()));
    rd_kafka_queue_cb_event_enable(
        main_queue_.get(),
        [](rd_kafka_t*, void* opaque) {
          auto& p = *static_cast<progress*>(opaque);
          const std::lock_guard lock{p.mutex};
          // On a thread of librdkafka's. What it throws ends here: no message depends on it.
          if (p.told) at_edge(p.told, [](const char*) {});
        },
        progress_.get());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] bool send(const output_row& row) override {
    // A new client looks anew; messages that are under way come to their end first.
    if (client_ != nullptr && under_way_ == 0 && !reports_->knows_all()) close();
    if (client_ == nullptr && !open()) return false;
    produce_parts parts;
    parts.topic(row.topic.c_str());
    parts.key(row.key);
    parts.value(row.value);
    if (row.time) parts.time(*row.time);
    for (const auto& [name, value] : row.headers) parts.header(name.c_str(), value);
    parts.opaque(as_opaque(row.position));
    const auto code = parts.produce(client_->get());
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
    ++under_way_;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) reports_->add(row.position, code);
    return true;
  }

  [[nodiscard]] std::vector<delivery> delivered() override {
    if (client_ == nullptr) return {};
    rd_kafka_poll(client_->get(), 0);
    rethrow_kept();
    std::vector<delivery> all = reports_->take();
    if (reports_->lost()) {
      close();
      for (delivery& late : reports_->take()) all.push_back(std::move(late));
    }
    under_way_ -= all.size();
    return all;
  }

  void wait(std::chrono::milliseconds most) override {
    if (client_ != nullptr) rd_kafka_poll(client_->get(), to_ms(most));
  }

  void on_progress(std::function<void()> told) override {
    const std::lock_guard lock{progress_->mutex};
    progress_->told = std::move(told);
  }

 private:
  /// Every message that is under way comes to its end; the next send() makes a new client.
  void close() {
    if (client_ == nullptr) return;
    constexpr int k_own_answers = 1000;
    rd_kafka_purge(client_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client_->get(), k_own_answers);
    rd_kafka_queue_cb_event_enable(main_queue_.get(), nullptr, nullptr);
    main_queue_.reset();
    reports_->set_log({});
    client_.reset();
  }

  kafka_properties settings_;
  kafka_publisher_options options_;
  std::unique_ptr<progress> progress_{std::make_unique<progress>()};
  std::shared_ptr<delivery_reports> reports_;
  std::shared_ptr<kafka_client> client_;
  kafka_handle<rd_kafka_queue_t> main_queue_;
  std::size_t under_way_{0};  ///< sent, and not told of
};

}  // namespace

reported<std::unique_ptr<publisher>> make_kafka_publisher(const kafka_config& config,
                                                          kafka_publisher_options options) {
  auto made = std::make_unique<kafka_publisher>(producer_settings(config), std::move(options));
  RATCHET_TRY(made->open());
  return std::unique_ptr<publisher>{std::move(made)};
}

}  // namespace ratchet
