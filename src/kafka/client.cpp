// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/client.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <limits>
#include <thread>

#include "kafka/callback_edge.hpp"
#include "kafka/kafka_error.hpp"
#include "ports/error_class.hpp"
#include "ports/thread_edge.hpp"

namespace ratchet {

namespace {

/// Of a consumer everything that matters was said when it was closed; behind a topic that is gone librdkafka
/// 2.0.2 does not come to an end.
constexpr std::chrono::milliseconds k_consumer_destroy_wait{500};

client_callbacks* callbacks_of(const rd_kafka_t* handle) noexcept {
  return static_cast<client_callbacks*>(rd_kafka_opaque(handle));
}

void log_trampoline(const rd_kafka_t* handle, int level, const char* facility, const char* text) {
  client_callbacks* callbacks = handle != nullptr ? callbacks_of(handle) : nullptr;
  // Said at every start, while it does not know the broker's version yet; consumers never create topics.
  if (callbacks == nullptr || std::string_view{facility} == "AUTOCREATE") return;
  at_edge(
      [&] {
        if (std::string_view{facility} == "FAIL") callbacks->note_failure(text);
        callbacks->log(level, std::string{facility} + ": " + text);
      },
      [](const char*) {});  // a line is lost
}

void rebalance_trampoline(rd_kafka_t* handle, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* list,
                          void* opaque) {
  auto* callbacks = static_cast<client_callbacks*>(opaque);
  keep_thrown([&] { callbacks->on_rebalance(handle, code, list); });
}

void error_trampoline(rd_kafka_t* handle, int code, const char* reason, void* opaque) {
  auto* callbacks = static_cast<client_callbacks*>(opaque);
  keep_thrown([&] { callbacks->on_error(handle, static_cast<rd_kafka_resp_err_t>(code), reason); });
}

void delivery_trampoline(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto* callbacks = static_cast<client_callbacks*>(opaque);
  keep_thrown([&] { callbacks->on_delivery(*message); });
}

problem config_problem(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return {errc::config_invalid,
          "librdkafka refuses the Kafka properties: " + text,
          "see its CONFIGURATION.md for names and ranges",
          {}};
}

reported<kafka_handle<rd_kafka_conf_t>> make_conf(rd_kafka_type_t type, const kafka_properties& properties,
                                                  client_callbacks* callbacks, const secret_mask& mask) {
  kafka_handle<rd_kafka_conf_t> conf{rd_kafka_conf_new()};
  std::array<char, 512> text{};
  for (const auto& [name, value] : properties) {
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), text.data(), text.size()) !=
        RD_KAFKA_CONF_OK) {
      return config_problem(mask(text.data()));
    }
  }
  rd_kafka_conf_set_opaque(conf.get(), callbacks);
  rd_kafka_conf_set_log_cb(conf.get(), log_trampoline);
  rd_kafka_conf_set_error_cb(conf.get(), error_trampoline);
  if (type == RD_KAFKA_CONSUMER) {
    if (properties.contains("group.id")) rd_kafka_conf_set_rebalance_cb(conf.get(), rebalance_trampoline);
  } else {
    rd_kafka_conf_set_dr_msg_cb(conf.get(), delivery_trampoline);
  }
  return conf;
}

}  // namespace

void client_callbacks::log(int level, std::string_view text) const noexcept {
  const std::lock_guard lock{mutex_};
  if (!log_) return;
  try {
    log_(level, mask_(text));
  } catch (...) {  // NOLINT: a logger that throws must not unwind through librdkafka's C code
  }
}

std::string client_callbacks::last_failure() const {
  const std::lock_guard lock{mutex_};
  return last_failure_;
}

void client_callbacks::note_failure(std::string_view text) {
  // "[thrd:HOST]: HOST: what happened (after 3ms in state CONNECT)"
  if (const std::size_t thread = text.find("]: ");
      text.starts_with("[thrd:") && thread != std::string_view::npos) {
    text.remove_prefix(thread + 3);
  }
  std::string masked = mask_(text);
  const std::lock_guard lock{mutex_};
  last_failure_ = std::move(masked);
}

void client_callbacks::set_log(kafka_log log) {
  const std::lock_guard lock{mutex_};
  log_ = std::move(log);
}

reported<std::shared_ptr<kafka_client>> kafka_client::make(rd_kafka_type_t type,
                                                           const kafka_properties& properties,
                                                           std::shared_ptr<client_callbacks> callbacks) {
  const secret_mask mask{properties};
  callbacks->set_mask(mask);
  RATCHET_TRY(auto&& conf, make_conf(type, properties, callbacks.get(), mask));
  std::array<char, 512> text{};
  rd_kafka_t* handle = rd_kafka_new(type, conf.get(), text.data(), text.size());
  if (handle == nullptr) return config_problem(mask(text.data()));
  static_cast<void>(conf.release());  // rd_kafka_new took it
  auto* client = new kafka_client{handle, std::move(callbacks)};
  if (type == RD_KAFKA_CONSUMER && properties.contains("group.id")) {
    rd_kafka_poll_set_consumer(handle);
    client->queue_.reset(rd_kafka_queue_get_consumer(handle));
  }
  // The deleter, not the destructor, bounds the wait: the helper thread owns the object until it is gone.
  return std::shared_ptr<kafka_client>{
      client, [wait = type == RD_KAFKA_CONSUMER ? k_consumer_destroy_wait : k_destroy_wait](
                  kafka_client* last) { run_bounded([last] { delete last; }, wait); }};
}

kafka_client::~kafka_client() {
  queue_.reset();
  // Closing the consumer is close()'s task; here it would wait for callbacks that nobody serves.
  rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

bool run_bounded(std::function<void()> work, std::chrono::milliseconds wait) noexcept {
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended{false};
    bool well{false};
  };
  try {
    auto shared = std::make_shared<state>();
    std::thread{[shared, work = std::move(work)]() mutable {
      const bool well = at_edge(work, [](const char*) {});
      work = nullptr;  // what it owns goes before the wait ends
      const std::lock_guard lock{shared->mutex};
      shared->ended = true;
      shared->well = well;
      shared->changed.notify_all();
    }}.detach();
    std::unique_lock lock{shared->mutex};
    return shared->changed.wait_for(lock, wait, [&] { return shared->ended; }) && shared->well;
  } catch (...) {
    return false;  // no thread to be had: what `work` owns leaks, which is better than to hang
  }
}

int to_ms(std::chrono::milliseconds wait) noexcept {
  constexpr std::chrono::milliseconds::rep longest = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(wait.count(), 0, longest));
}

std::string join_brokers(const std::vector<std::string>& brokers) {
  std::string all;
  for (const std::string& broker : brokers) all += (all.empty() ? "" : ",") + broker;
  return all;
}

}  // namespace ratchet
