// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kafka/handles.hpp"
#include "kafka/secret_mask.hpp"
#include "ports/source.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

using kafka_properties = std::map<std::string, std::string>;
using kafka_log = std::function<void(int level, std::string_view text)>;

/// What librdkafka's callbacks reach. Lives as long as the client does, so that a late callback finds it.
class client_callbacks {
 public:
  virtual ~client_callbacks() = default;
  /// On the polling thread; while the client closes, on the closing thread.
  virtual void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*) {}
  /// On the polling thread.
  virtual void on_error(rd_kafka_t*, rd_kafka_resp_err_t, const char* /*reason*/) {}
  virtual void on_delivery(const rd_kafka_message_t&) {}

  /// Any thread. set_log({}) returns once no call of the old function is under way.
  void log(int level, std::string_view text) const noexcept;
  void set_log(kafka_log);
  /// Before the client is made: what log() and the callbacks show is masked from then on.
  void set_mask(secret_mask mask) { mask_ = std::move(mask); }
  [[nodiscard]] const secret_mask& mask() const noexcept { return mask_; }
  /// Why a connection failed last, which some failures tell the log alone; empty where none did. Any thread.
  [[nodiscard]] std::string last_failure() const;
  void note_failure(std::string_view text);

 private:
  secret_mask mask_;
  mutable std::mutex mutex_;
  std::string last_failure_;
  kafka_log log_;
};

/// One librdkafka client. Shared by whatever must not outlive it: batches, lists, queues.
/// Destroying a client may block, and in some states for ever (a topic that was deleted and made anew): the
/// last owner waits k_destroy_wait at most and then leaves the rest to a thread of its own.
class kafka_client {
 public:
  static constexpr std::chrono::milliseconds k_destroy_wait{5000};

  /// Errors: config_invalid, with librdkafka's own text. Secrets among the properties are masked in it, and
  /// in whatever the callbacks show.
  [[nodiscard]] static reported<std::shared_ptr<kafka_client>> make(rd_kafka_type_t, const kafka_properties&,
                                                                    std::shared_ptr<client_callbacks>);
  kafka_client(const kafka_client&) = delete;
  kafka_client& operator=(const kafka_client&) = delete;
  ~kafka_client();

  [[nodiscard]] rd_kafka_t* get() const noexcept { return handle_; }
  /// The queue that rd_kafka_consumer_poll serves; null for producers.
  [[nodiscard]] rd_kafka_queue_t* queue() const noexcept { return queue_.get(); }

 private:
  kafka_client(rd_kafka_t* handle, std::shared_ptr<client_callbacks> callbacks)
      : handle_(handle), callbacks_(std::move(callbacks)) {}

  rd_kafka_t* handle_;
  std::shared_ptr<client_callbacks> callbacks_;
  kafka_handle<rd_kafka_queue_t> queue_;
};

/// Runs `work` on a thread of its own and waits at most `wait`; then the thread goes on by itself. True if it
/// ended in time. `work` must own what it uses.
bool run_bounded(std::function<void()> work, std::chrono::milliseconds wait) noexcept;

/// Milliseconds as librdkafka takes them: never negative, which would mean for ever.
[[nodiscard]] int to_ms(std::chrono::milliseconds) noexcept;

/// "a:1,b:2" of {"a:1", "b:2"}.
[[nodiscard]] std::string join_brokers(const std::vector<std::string>&);

}  // namespace ratchet
