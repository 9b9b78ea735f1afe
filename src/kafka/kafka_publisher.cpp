// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/kafka_publisher.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "kafka/callback_edge.hpp"
#include "kafka/client.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/learned_limit.hpp"
#include "kafka/produce_parts.hpp"
#include "kafka/queue_signal.hpp"
#include "kafka/settings.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

constexpr int k_syslog_warning = 4;
constexpr std::size_t k_librdkafka_batch = 1'000'000;

/// Positions travel as librdkafka's opaque pointers, which never are followed.
void* as_opaque(std::uint64_t position) {
  return reinterpret_cast<void*>(position);  // NOLINT(performance-no-int-to-ptr)
}
static_assert(sizeof(void*) >= sizeof(std::uint64_t));

bool is_for_its_size(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

std::size_t size_of(const output_row& row) {
  std::size_t sum = (row.key ? row.key->size() : 0) + (row.value ? row.value->size() : 0);
  for (const auto& [name, value] : row.headers) sum += name.size() + (value ? value->size() : 0);
  return sum;
}

std::size_t size_of(const rd_kafka_message_t& message) {
  std::size_t sum = message.len + message.key_len;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return sum;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    sum += std::string_view{name}.size() + size;
  return sum;
}

/// The size of a batch with these settings.
std::size_t batch_bytes_of(const kafka_properties& settings) {
  std::size_t least = k_librdkafka_batch;
  for (const char* name : {"batch.size", "message.max.bytes"}) {
    const auto at = settings.find(name);
    if (at == settings.end()) continue;
    std::size_t set = least;
    std::from_chars(at->second.data(), at->second.data() + at->second.size(), set);
    least = std::string_view{name} == "batch.size" ? set : std::min(least, set);
  }
  return least;
}

struct outlet;

/// How messages of one topic go.
struct topic_way {
  learned_limit limit;
  std::size_t under_way{0};
  outlet* via{nullptr};
};
using topic_ways = std::map<std::string, topic_way, std::less<>>;

class delivery_reports final : public client_callbacks {
 public:
  delivery_reports(std::shared_ptr<topic_ways> topics, std::size_t batch_bytes,
                   std::function<void(const std::string&)> on_smaller)
      : topics_{std::move(topics)}, batch_bytes_{batch_bytes}, on_smaller_{std::move(on_smaller)} {}

  /// While the owner polls.
  void on_delivery(const rd_kafka_message_t& message) override {
    const bool by_itself = learn(message);
    add(reinterpret_cast<std::uint64_t>(message._private), message.err, by_itself);
  }
  void on_error(rd_kafka_t*, rd_kafka_resp_err_t code, const char* reason) override {
    if (code == RD_KAFKA_RESP_ERR__FATAL) lost_ = true;
    log(k_syslog_warning, words_of_error(kafka_error(code), reason));
  }
  [[nodiscard]] bool empty() const noexcept { return ended_.empty(); }
  [[nodiscard]] std::vector<delivery> take() { return std::exchange(ended_, {}); }
  void add(std::uint64_t position, rd_kafka_resp_err_t code, bool by_itself) {
    // A topic that was deleted and made anew meanwhile may stay without partitions to the client until its
    // next look at all topics, minutes later.
    knows_all_ = knows_all_ && classify(kafka_error(code)) != error_class::missing;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ended_.push_back({.position = position, .text = {}});
      return;
    }
    delivery::how ended = delivery::how::again;
    if (kafka_error(code) == source_condition::message_refused)
      ended = by_itself ? delivery::how::unfit : delivery::how::refused;
    ended_.push_back({.position = position, .ended = ended, .text = rd_kafka_err2str(code)});
  }
  /// No topic was unknown so far.
  [[nodiscard]] bool knows_all() const noexcept { return knows_all_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  /// True: it was refused by itself.
  bool learn(const rd_kafka_message_t& message) {
    const std::string_view name = rd_kafka_topic_name(message.rkt);
    if (last_ == nullptr || last_->first != name) {
      const auto at = topics_->find(name);
      if (at == topics_->end()) return false;
      last_ = &*at;
    }
    topic_way& of = last_->second;
    if (of.under_way > 0) --of.under_way;
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const std::size_t bytes = of.limit.least_refused() ? size_of(message) : 0;
      if (of.limit.taken(bytes, batch_bytes_) && on_smaller_)
        on_smaller_("the topic `" + last_->first + "` refuses batches of its messages: its " +
                    "max.message.bytes is small; its batches have " + std::to_string(batch_bytes_) +
                    " bytes at most now, which is slower; raise max.message.bytes");
      return false;
    }
    return is_for_its_size(message.err) && of.limit.refused(size_of(message), batch_bytes_);
  }

  std::shared_ptr<topic_ways> topics_;
  topic_ways::value_type* last_{nullptr};  ///< of the last message; none ever goes
  std::size_t batch_bytes_;
  std::function<void(const std::string&)> on_smaller_;
  std::vector<delivery> ended_;
  bool lost_{false};
  bool knows_all_{true};
};

/// A client, whose batches have one size: librdkafka has it for all of a client's topics.
struct outlet {
  std::size_t batch_bytes;
  std::shared_ptr<delivery_reports> reports{};
  std::shared_ptr<kafka_client> client{};
  kafka_handle<rd_kafka_queue_t> main_queue{};
  std::size_t under_way{0};  ///< sent, and not told of
};

class kafka_publisher final : public publisher {
 public:
  kafka_publisher(kafka_properties settings, kafka_publisher_options options)
      : settings_{std::move(settings)}, options_{std::move(options)}, usual_{batch_bytes_of(settings_)} {}
  ~kafka_publisher() override {
    on_progress({});
    for (auto& [size, via] : outlets_) close(via);
  }
  kafka_publisher(const kafka_publisher&) = delete;
  kafka_publisher& operator=(const kafka_publisher&) = delete;

  [[nodiscard]] reported<void> open() { return open(outlet_of(usual_)); }

  [[nodiscard]] sending send(const output_row& row) override {
    topic_way& of = topics_->try_emplace(row.topic, topic_way{learned_limit{usual_}}).first->second;
    const std::size_t bytes = size_of(row);
    if (of.limit.is_hopeless(bytes) && of.under_way > 0) return sending::doubtful;
    if (!of.limit.has_room(of.under_way) || (of.under_way > 0 && is_to_change(of)))
      return sending::topic_waits;
    outlet* const via = way_of(of);
    if (via == nullptr) return sending::full;
    const auto code = produce(row, *via);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return sending::full;
    ++via->under_way;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      via->reports->add(row.position, code, true);
      progress_.raise();
      return sending::ended;
    }
    of.limit.sent(bytes, of.under_way);
    ++of.under_way;
    return sending::taken;
  }

  [[nodiscard]] std::vector<delivery> delivered() override {
    std::vector<delivery> all;
    for (auto& [size, via] : outlets_) {
      if (via.client == nullptr) continue;
      rd_kafka_poll(via.client->get(), 0);
      rethrow_kept();
      const std::size_t before = all.size();
      take(via, all);
      if (via.reports->lost()) {
        close(via);
        take(via, all);
      }
      via.under_way -= all.size() - before;
    }
    return all;
  }

  void wait(std::chrono::milliseconds most) override {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!poll_all()) {
      const auto rest = until - std::chrono::steady_clock::now();
      if (rest <= rest.zero()) break;
      progress_.wait(std::chrono::ceil<std::chrono::milliseconds>(rest));
    }
  }

  void on_progress(std::function<void()> told) override { progress_.on_progress(std::move(told)); }

 private:
  outlet& outlet_of(std::size_t batch_bytes) {
    return outlets_.try_emplace(batch_bytes, outlet{.batch_bytes = batch_bytes}).first->second;
  }

  [[nodiscard]] reported<void> open(outlet& via) {
    kafka_properties settings = settings_;
    if (via.batch_bytes != usual_) settings["batch.size"] = std::to_string(via.batch_bytes);
    auto reports = std::make_shared<delivery_reports>(topics_, via.batch_bytes, options_.on_smaller_batches);
    reports->set_log(options_.log);
    RATCHET_TRY(auto&& client, kafka_client::make(RD_KAFKA_PRODUCER, settings, reports));
    via.reports = std::move(reports);
    via.client = std::move(client);
    via.main_queue.reset(rd_kafka_queue_get_main(via.client->get()));
    progress_.watch(via.main_queue.get());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  /// To another client, but only while none of its messages are under way, so that they stay in order.
  [[nodiscard]] static bool is_to_change(const topic_way& of) {
    return of.via != nullptr && of.via->batch_bytes != of.limit.batch_bytes();
  }

  /// None: there is no client.
  [[nodiscard]] outlet* way_of(topic_way& of) {
    if (is_to_change(of)) {
      outlet& left = *std::exchange(of.via, nullptr);
      const auto is_its = [&](const auto& topic) { return topic.second.via == &left; };
      if (left.batch_bytes != usual_ && left.under_way == 0 &&
          std::none_of(topics_->begin(), topics_->end(), is_its)) {
        close(left);
        outlets_.erase(left.batch_bytes);
      }
    }
    if (of.via == nullptr) of.via = &outlet_of(of.limit.batch_bytes());
    outlet& via = *of.via;
    // A new client looks anew; messages that are under way come to their end first.
    if (via.client != nullptr && via.under_way == 0 && !via.reports->knows_all()) close(via);
    if (via.client == nullptr && !open(via)) return nullptr;
    return &via;
  }

  static rd_kafka_resp_err_t produce(const output_row& row, const outlet& via) {
    produce_parts parts;
    parts.topic(row.topic.c_str());
    parts.key(row.key);
    parts.value(row.value);
    if (row.time) parts.time(*row.time);
    for (const auto& [name, value] : row.headers) parts.header(name.c_str(), value);
    parts.opaque(as_opaque(row.position));
    return parts.produce(via.client->get());
  }

  static void take(outlet& via, std::vector<delivery>& all) {
    for (delivery& d : via.reports->take()) all.push_back(std::move(d));
  }

  /// True: delivered() has something.
  bool poll_all() {
    bool any = false;
    for (auto& [size, via] : outlets_) {
      if (via.client == nullptr) continue;
      rd_kafka_poll(via.client->get(), 0);
      any = any || !via.reports->empty() || via.reports->lost();
    }
    return any;
  }

  /// Every message that is under way comes to its end; the next send() makes a new client.
  void close(outlet& via) {
    if (via.client == nullptr) return;
    constexpr int k_own_answers = 1000;
    rd_kafka_purge(via.client->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(via.client->get(), k_own_answers);
    queue_signal::unwatch(via.main_queue.get());
    via.main_queue.reset();
    via.reports->set_log({});
    via.client.reset();
    for (auto& [name, of] : *topics_) {
      if (of.via == &via) of.under_way = 0;
    }
  }

  kafka_properties settings_;
  kafka_publisher_options options_;
  std::size_t usual_;      ///< size of batches while nothing was refused
  queue_signal progress_;  ///< outlives the clients, whose threads call it
  std::shared_ptr<topic_ways> topics_{std::make_shared<topic_ways>()};
  std::map<std::size_t, outlet> outlets_;  ///< by the size of their batches
};

}  // namespace

reported<std::unique_ptr<publisher>> make_kafka_publisher(const kafka_config& config,
                                                          kafka_publisher_options options) {
  auto made = std::make_unique<kafka_publisher>(producer_settings(config), std::move(options));
  RATCHET_TRY(made->open());
  return std::unique_ptr<publisher>{std::move(made)};
}

}  // namespace ratchet
