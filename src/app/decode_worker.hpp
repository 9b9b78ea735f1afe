// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/stream_runtime.hpp"
#include "decode/decoder.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// The records of one batch that belong to one stream, decoded, and the plan of their step.
struct decoded_part {
  std::size_t stream{0};        ///< index into the stream list
  std::vector<record> records;  ///< in the order of arrival
  decoded_batch decoded;
  step_plan plan;
};

/// One batch on its way: the bytes, and what was made of them.
struct decoded_input {
  std::unique_ptr<record_batch> batch;
  std::vector<decoded_part> parts;  ///< one per stream, empty ones too
};

/// Sorts a batch's records by stream, decodes them and plans the step. One thread at a time; of the streams
/// it reads what does not change.
class decode_stage {
 public:
  explicit decode_stage(const stream_list&);
  void run(std::unique_ptr<record_batch>, decoded_input& out);

  /// Records without a topic (plain files) belong to this stream.
  void set_plain_stream(std::size_t stream) noexcept { plain_stream_ = stream; }
  /// The index of the stream that a record from there belongs to.
  [[nodiscard]] std::size_t stream_of(const topic_partition*);

 private:
  std::map<std::string, std::size_t, std::less<>> stream_by_topic_;
  const stream_list* streams_;
  std::vector<decoder> decoders_;
  const topic_partition* last_where_{nullptr};
  std::size_t last_stream_{0};
  std::size_t plain_stream_{0};
};

/// Where batches are decoded.
enum class decode_on : std::uint8_t {
  own_thread,    ///< the next batch while this one is written
  owner_thread,  ///< when it is taken: one thread does everything, in one order, as a simulation wants it
};

/// Runs a decode_stage beside the owner. Holds at most one batch. All calls from the owner thread.
class decode_worker {
 public:
  explicit decode_worker(const stream_list&, decode_on = decode_on::own_thread);
  ~decode_worker();
  decode_worker(const decode_worker&) = delete;
  decode_worker& operator=(const decode_worker&) = delete;
  decode_worker(decode_worker&&) = delete;
  decode_worker& operator=(decode_worker&&) = delete;

  [[nodiscard]] bool busy() const noexcept { return busy_; }
  /// Hands a batch over. Only while not busy.
  void submit(std::unique_ptr<record_batch>);
  /// Waits for the batch under way. Only while busy. Valid until the second next submit().
  [[nodiscard]] decoded_input& take();

 private:
  void work();

  decode_stage stage_;
  decoded_input inputs_[2];  ///< one is decoded while the other one is handled
  std::size_t current_{0};
  bool busy_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<record_batch> waiting_;
  bool done_{false};
  bool stopping_{false};
  std::thread thread_;  // last, so that it starts when all the rest is there; none with owner_thread
};

}  // namespace ratchet
