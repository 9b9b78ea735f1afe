// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

#include "decode/decoder.hpp"
#include "ports/source.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

/// The records of one batch that belong to one stream, decoded, and the plan of their step.
struct decoded_part {
  std::size_t stream{0};        ///< index into the stream list
  std::vector<record> records;  ///< in the order of arrival
  std::size_t begun{0};         ///< the first of them that `decoded` is of
  std::size_t taken{0};         ///< so many of them are decoded; those before `begun` were handled
  decoded_batch decoded;
  step_plan plan;
  field_counts fields;
};

/// One batch on its way: the bytes, and what was made of them.
struct decoded_input {
  std::unique_ptr<record_batch> batch;
  std::vector<decoded_part> parts;  ///< one per stream, empty ones too

  /// Records are left that are to be decoded once these events are handled: see decode_stage::go_on().
  [[nodiscard]] bool has_more() const noexcept;
};

/// A stream's records are decoded until there are so many events, so that memory does not grow with what is
/// in records that hold several.
constexpr std::size_t k_events_at_once = 20'000;

/// Sorts a batch's records by stream, decodes them and plans the step. One thread at a time; of the streams
/// it reads what does not change.
class decode_stage {
 public:
  explicit decode_stage(const stream_list&);
  void run(std::unique_ptr<record_batch>, decoded_input& out);
  /// Puts the next events of the batch in the place of those before, which were handled. False: there are
  /// none.
  bool go_on(decoded_input&);

  /// Records without a topic (plain files) belong to this stream.
  void set_plain_stream(std::size_t stream) noexcept { plain_stream_ = stream; }
  /// The index of the stream that a record from there belongs to.
  [[nodiscard]] std::size_t stream_of(const topic_partition*);

 private:
  void decode(decoded_part&);

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

/// Runs a decode_stage beside the owner, batch by batch in the order in which they came. All calls from the
/// owner thread.
class decode_worker {
 public:
  /// So many batches may be under way. With one, whoever was faster waited for the other at each batch: the
  /// owner for a tenth of a run's time.
  static constexpr std::size_t k_most_batches = 2;

  explicit decode_worker(const stream_list&, decode_on = decode_on::own_thread);
  ~decode_worker();
  decode_worker(const decode_worker&) = delete;
  decode_worker& operator=(const decode_worker&) = delete;
  decode_worker(decode_worker&&) = delete;
  decode_worker& operator=(decode_worker&&) = delete;

  /// Some batch is under way.
  [[nodiscard]] bool busy() const noexcept { return submitted_ != taken_; }
  [[nodiscard]] bool is_full() const noexcept { return submitted_ - taken_ == k_most_batches; }
  /// Hands a batch over. Only while not full.
  void submit(std::unique_ptr<record_batch>);
  /// Waits for the oldest batch under way. Only while busy. Valid until the next take().
  [[nodiscard]] decoded_input& take();
  /// As decode_stage::go_on(), with what take() gave last.
  bool go_on(decoded_input&);

 private:
  void run();

  /// A batch, and what it becomes: its place is the batch's number modulo their count. One more than may be
  /// under way, as one is being handled.
  struct work {
    std::unique_ptr<record_batch> batch;
    decoded_input input;
  };
  [[nodiscard]] work& work_of(std::uint64_t number) noexcept { return works_[number % works_.size()]; }

  const stream_list& streams_;
  decode_stage stage_;
  std::optional<decode_stage> rest_;  ///< the owner's, for batches that are decoded in several parts
  std::array<work, k_most_batches + 1> works_;
  std::uint64_t submitted_{0};  ///< how many so far; the owner's
  std::uint64_t taken_{0};      ///< likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t ready_{0};    ///< to be decoded: up to here
  std::uint64_t decoded_{0};  ///< how many so far
  bool stopping_{false};
  std::thread thread_;  // last, so that it starts when all the rest is there; none with owner_thread
};

}  // namespace ratchet
