// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the pipeline that says how much a step is given, by the time that its reducers take (ADR 94).
#include <algorithm>
#include <chrono>
#include <limits>

#include "pipeline/pipeline.hpp"

namespace ratchet {

std::size_t pipeline::records_in_time() const {
  constexpr std::size_t k_steps = 4;
  std::size_t fewest = std::numeric_limits<std::size_t>::max() / k_steps;
  for (const auto& s : streams_) fewest = std::min(fewest, s->events_in_time);
  return std::max<std::size_t>(fewest * k_steps / events_a_record_, 1);
}

void pipeline::note_events_a_record(const decoded_input& input) {
  std::size_t most = 0;
  for (const decoded_part& part : input.parts) {
    if (part.taken > part.begun)
      most = std::max(most, part.decoded.events.size() / (part.taken - part.begun));
  }
  if (most > 0) events_a_record_ = most;
}

/// A step that took too long shows how many events it may have; one that was quick, though it had as many as
/// it might, that it may have more.
void pipeline::note_time(stream_runtime& stream, std::size_t given, std::size_t done,
                         std::chrono::nanoseconds took) {
  constexpr std::chrono::milliseconds k_right{500};
  constexpr std::size_t k_many = std::size_t{1} << 24U;
  std::size_t& most = stream.events_in_time;
  if (took > k_longest_step) {
    const double share = std::chrono::duration<double>{k_right} / std::chrono::duration<double>{took};
    most = std::max<std::size_t>(static_cast<std::size_t>(static_cast<double>(done) * share), 1);
  } else if (given >= most && took < k_right) {
    most = std::min(most * 2, k_many);
  }
}

/// A pass that is made again has its own time, and more than the one before: it is known what it has to do.
has_had_its_time pipeline::step_time() const {
  return [this, until = clock_.steady() + k_longest_step]() mutable {
    const auto now = clock_.steady();
    if (now <= until) return false;
    until = now + 2 * k_longest_step;
    return true;
  };
}

}  // namespace ratchet
