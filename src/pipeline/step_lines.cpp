// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/step_lines.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/sequence_range.hpp"
#include "core/typed_command.hpp"
#include "decode/time_text.hpp"
#include "pipeline/pipeline.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"
#include "text/rejected_messages.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::seconds k_while{10};
constexpr std::uint64_t k_most_lines = 5;

/// What lists all of them.
std::string command_for(log_kind kind, std::string_view stream) {
  const std::string of = shell_word(stream);
  switch (kind) {
    case log_kind::event_rejected:
      return typed_command("status", "--rejected");
    case log_kind::event_dead:
      return typed_command("waiting list", of + " --state-is dead");
    case log_kind::aggregate_held:
      return typed_command("waiting list", of + " --reason limit");
    default:
      return typed_command("status", "--audit");
  }
}

/// None: whoever did it has said so. The names are audit_row::kind.
std::optional<log_kind> kind_of(const audit_row& row) {
  using entry = std::pair<std::string_view, log_kind>;
  constexpr std::array k_kinds{
      entry{"gap_skipped", log_kind::gap_skipped},         entry{"aggregate_held", log_kind::aggregate_held},
      entry{"first_adopted", log_kind::aggregate_begun},   entry{"waiting_replayed", log_kind::decided},
      entry{"waiting_skipped", log_kind::decided},         entry{"waiting_discarded", log_kind::decided},
      entry{"output_skipped", log_kind::decided},          entry{"topic_left", log_kind::topic_left},
      entry{"copy_started", log_kind::copy_opened},        entry{"copy_taken_over", log_kind::copy_opened},
      entry{"cluster_changed", log_kind::cluster_changed},
  };
  if (row.kind.starts_with("resume_") || row.kind == "output_given_up") return std::nullopt;
  const auto* const at =
      std::find_if(k_kinds.begin(), k_kinds.end(), [&](const entry& e) { return e.first == row.kind; });
  return at == k_kinds.end() ? log_kind::audited : at->second;
}

std::string text_of(const topic_partition& where, event_place place) {
  return where.topic.empty() ? std::string{"a record without a position"}
                             : to_string(where) + " at offset " + to_text(place);
}

/// A record of a plain file has no place that a program could go to.
log_facts facts_of(std::string_view stream, std::string_view aggregate, const topic_partition& where,
                   std::int64_t offset) {
  log_facts facts{.stream = stream, .aggregate = aggregate};
  if (where.topic.empty()) return facts;
  facts.where = &where;
  facts.offset = offset;
  return facts;
}

std::string begin_of(std::string_view stream) {
  return stream.empty() ? std::string{} : "stream " + std::string{stream} + ": ";
}

}  // namespace

log_burst::answer log_burst::take(time_point now) {
  if (shown_ == 0) begin_ = now;
  if (shown_ == k_most_lines) {
    ++suppressed_;
    return answer::none;
  }
  return ++shown_ == 1 ? answer::first : answer::another;
}

bool log_burst::is_over(time_point now) const {
  return now - begin_ >= k_while;
}

step_lines::step_lines(log_ptr log, const stream_list& streams)
    : log_{std::move(log)}, streams_{streams}, odd_times_{log_, streams} {}

void step_lines::tell(const step_batch& batch, time_point now) {
  for (const step_part& part : batch.parts) {
    const bool is_plain =
        part.rejected.empty() &&
        (part.change == nullptr || (part.change->backlogs.empty() && !odd_time_lines::are_in(*part.change)));
    if (is_plain) continue;
    const std::string_view stream = name_of_stream(streams_, part.stream);
    odd_times_.tell(part);
    for (const rejected_row& row : part.rejected) tell_rejected(stream, row, now);
    // A dead event is written when it dies, and not touched after that until somebody decides.
    for (const backlog_change& b : part.change->backlogs) {
      for (const waiting_event& event : b.puts) {
        if (event.head.state == waiting_state::dead)
          tell_dead(stream, part.plan->aggregates[b.aggregate], event, now);
      }
    }
  }
  for (const audit_row& row : batch.audits) tell_audit(row, now);
}

log_burst::answer step_lines::take(log_kind kind, std::string_view stream, time_point now) {
  key of{kind, std::string{stream}};
  log_burst& burst = bursts_[of];
  if (burst.is_over(now)) {
    tell_of_more(of, burst.suppressed());
    burst = {};
  }
  return burst.take(now);
}

/// As the stream's events spell it.
std::string step_lines::number_text(std::string_view stream, sequence s) const {
  const auto at = std::find_if(streams_.begin(), streams_.end(),
                               [stream](const auto& known) { return known->config.name == stream; });
  return at == streams_.end() ? to_text(s) : (*at)->rules.number_text(s);
}

void step_lines::tell_rejected(std::string_view stream, const rejected_row& row, time_point now) {
  const auto answer = take(log_kind::event_rejected, stream, now);
  if (answer == log_burst::answer::none) return;
  const bool malformed = row.reason == reject_reason::malformed;
  std::string text =
      begin_of(stream) + text_of(row.where, row.place()) + " was rejected: " + name_of(row.reason);
  if (malformed) text += ", " + fault_text(row);
  if (!malformed) text += ", of aggregate `" + row.detail + "`";
  if (answer == log_burst::answer::first) {
    const std::string hint = hint_on(row);
    if (!hint.empty()) text += " (" + hint + ")";
  }
  if (row.sequence) text += ", event " + number_text(stream, *row.sequence);
  if (answer == log_burst::answer::first) text += "; see " + command_for(log_kind::event_rejected, stream);
  const std::string_view aggregate = malformed ? std::string_view{} : std::string_view{row.detail};
  tell_of(log_, log_kind::event_rejected, facts_of(stream, aggregate, row.where, row.offset), text);
}

void step_lines::tell_dead(std::string_view stream, std::string_view aggregate, const waiting_event& event,
                           time_point now) {
  const auto answer = take(log_kind::event_dead, stream, now);
  if (answer == log_burst::answer::none) return;
  const kept_record& from = event.record;
  std::string text = begin_of(stream) + "event " + number_text(stream, event.head.sequence) +
                     " of aggregate `" + std::string{aggregate} + "`, " + text_of(from.where, from.place()) +
                     ", is dead";
  if (event.attempts > 0) text += " after " + counted(event.attempts, "attempt");
  if (!event.error.empty()) text += ": " + event.error;
  if (answer == log_burst::answer::first) text += "; see " + command_for(log_kind::event_dead, stream);
  tell_of(log_, log_kind::event_dead, facts_of(stream, aggregate, from.where, from.offset), text);
}

void step_lines::tell_audit(const audit_row& row, time_point now) {
  const auto kind = kind_of(row);
  if (!kind) return;
  const auto answer = take(*kind, row.stream, now);
  if (answer == log_burst::answer::none) return;
  std::string text = begin_of(row.stream) + row.text;
  if (*kind == log_kind::aggregate_held && answer == log_burst::answer::first)
    text += "; see " + command_for(*kind, row.stream);
  tell_of(log_, *kind, {.stream = row.stream, .where = row.where ? &*row.where : nullptr}, text);
}

bool odd_time_lines::are_in(const stream_change& change) {
  return change.passed_over || change.behind || change.jumped;
}

void odd_time_lines::tell(const step_part& part) {
  if (part.change == nullptr || !are_in(*part.change)) return;
  const std::string_view stream = name_of_stream(streams_, part.stream);
  const auto line = [&](log_kind kind, const odd_time& odd, const std::string& of_record,
                        const std::string& of_partition, std::string_view why) {
    if (!told_.emplace(part.stream, kind).second) return;
    tell_of(log_, kind, facts_of(stream, {}, odd.where, odd.of.offset),
            begin_of(stream) + text_of(odd.where, {odd.of.offset, 0}) + of_record + to_rfc3339(odd.of.time) +
                of_partition + to_rfc3339(odd.believed) + std::string{why});
  };
  const stream_change& change = *part.change;
  if (change.jumped)
    line(log_kind::time_jumped, *change.jumped, " moves the time of its partition to ", " at once, from ",
         ": more than the window lies between, so Ratchet remembers no id from before; the partition was "
         "quiet for that long, or many records in a row are of a wrong clock; this line is not repeated");
  if (change.passed_over)
    line(log_kind::time_passed_over, *change.passed_over, " has the time ",
         ", but the records around it are of about ",
         ": a clock is wrong, or the partition was quiet for longer than dedup.max_skew; the time moves "
         "window and gaps once later records confirm it; `ratchet status` counts such times, and this line "
         "is not repeated");
  if (change.behind)
    line(log_kind::time_behind, *change.behind, " has the time ",
         ", which is older than the window: its partition is at ",
         "; it is an old record, or a wrong clock moved the window too far; `ratchet status` counts such "
         "times, and this line is not repeated");
}

void step_lines::tell_of_more(const key& of, std::uint64_t count) const {
  if (count == 0) return;
  const auto& [kind, stream] = of;
  tell_of(log_, kind, {.stream = stream},
          begin_of(stream) + std::to_string(count) + " more lines of this kind (" +
              std::string{rule_of(kind).code} + ") were not shown; " + command_for(kind, stream) +
              " lists them");
}

void step_lines::turn(time_point now) {
  std::erase_if(bursts_, [&](const auto& entry) {
    if (!entry.second.is_over(now)) return false;
    tell_of_more(entry.first, entry.second.suppressed());
    return true;
  });
}

void step_lines::end() {
  for (const auto& [of, burst] : bursts_) tell_of_more(of, burst.suppressed());
  bursts_.clear();
}

}  // namespace ratchet
