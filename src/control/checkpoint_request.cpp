// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/checkpoint_request.hpp"

#include <utility>

#include "control/words.hpp"
#include "core/shown_text.hpp"
#include "decode/time_text.hpp"
#include "pipeline/pipeline.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

constexpr const char* k_checkpoint = "checkpoint";
/// An owner that is connecting, or in a rebalance, looks at nothing else for as long.
constexpr std::chrono::seconds k_owner_patience{60};

problem unavailable(std::string message, std::string hint) {
  return {make_error_code(errc::source_unavailable), std::move(message), std::move(hint), {}};
}

std::string as_json(const checkpoint_taken& taken) {
  json_writer json;
  json.begin_object().key("path").string(taken.path.string());
  json.key("store").string(taken.uuid).key("step").number(taken.step);
  json.key("taken_at").time(taken.taken_at);
  json.key("files").number(taken.files).key("bytes").number(taken.bytes);
  json.key("streams").begin_object();
  for (const checkpointed_stream& stream : taken.streams) {
    json.key(stream.name).begin_object().key("partitions").begin_array();
    for (const auto& [where, next_offset] : stream.next_offsets) {
      json.begin_object().key("topic").string(where.topic);
      json.key("partition").number(static_cast<std::int32_t>(where.partition));
      json.key("next_offset").number(next_offset).end_object();
    }
    json.end_array().end_object();
  }
  json.end_object().end_object();
  return json.take() + "\n";
}

std::string as_text(const checkpoint_taken& taken) {
  std::string text;
  append_line(text, taken.path.string() + " is a checkpoint of step " + std::to_string(taken.step) +
                        ", taken at " + to_rfc3339(taken.taken_at) + ": " + counted(taken.files, "file") +
                        ", " + counted(taken.bytes, "byte"));
  for (const checkpointed_stream& stream : taken.streams) {
    append_line(text, "  stream " + stream.name);
    for (const auto& [where, next_offset] : stream.next_offsets) {
      append_line(text, "    " + to_string(where) + " up to offset " + std::to_string(next_offset));
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> to_words(const checkpoint_request& request) {
  return {k_checkpoint, k_json_or_text.of(request.json), request.target.string()};
}

std::optional<checkpoint_request> parse_checkpoint_words(std::span<const std::string> words) {
  if (words.size() != 3 || words[0] != k_checkpoint) return std::nullopt;
  const auto json = k_json_or_text.read(words[1]);
  if (!json) return std::nullopt;
  checkpoint_request request{words[2], *json};
  if (!request.target.is_absolute()) return std::nullopt;
  return request;
}

std::string checkpoint_report(const checkpoint_taken& taken, bool json) {
  return json ? as_json(taken) : as_text(taken);
}

at_owner by_task(posted_tasks& owner) {
  return [&owner](const std::function<void(checkpointable&)>& job, std::chrono::milliseconds patience) {
    return owner.run([&](posted_tasks::access of) { job(of.state); }, patience);
  };
}

reported<checkpoint_taken> checkpoint_taker::take(const std::filesystem::path& target,
                                                  const cancel_check& cancelled) {
  const std::unique_lock alone{one_at_a_time_, std::try_to_lock};
  if (!alone) return unavailable("another checkpoint is being taken", "try again when it is done");
  RATCHET_TRY(auto progress, checkpoint_in_progress::begin(state_dir_, target));
  result<std::uint64_t> linked = make_error_code(errc::internal);
  timestamp taken_at;
  std::chrono::milliseconds held{0};  // so long the owner was kept from its work
  const task_end end = owner_(
      [&](checkpointable& state) {
        taken_at = clock_.now();
        const auto began = clock_.steady();
        linked = state.checkpoint(progress.linked());
        held = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - began);
      },
      k_owner_patience);
  if (end == task_end::closed) {
    return unavailable("the running instance is being stopped, or opens its state again", "try again");
  }
  if (end == task_end::full) return decision_not_made(end);
  if (end != task_end::done) {
    return unavailable("the running instance is busy: it took no checkpoint within " +
                           std::to_string(k_owner_patience.count()) + " s",
                       "try again; if that does not help, check the instance's log");
  }
  if (!linked) {
    return problem{linked.error(),
                   "a checkpoint of " + state_dir_.string() + " cannot be made: " + linked.error().message(),
                   "check the disk and the instance's log",
                   {}};
  }
  auto taken = progress.finish(linked.value(), taken_at, cancelled);
  if (taken) {
    tell(log_, log_kind::checkpoint_taken,
         "the checkpoint {} of step {} was taken; handling paused for {} ms", target.string(), taken->step,
         held.count());
  } else {
    tell(log_, log_kind::checkpoint_failed, "no checkpoint {} was made: {}", target.string(),
         taken.error().message);
  }
  return taken;
}

}  // namespace ratchet
