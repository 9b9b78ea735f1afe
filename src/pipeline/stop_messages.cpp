// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/stop_messages.hpp"

#include <optional>

#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "text/likely_kind.hpp"
#include "text/partition_name.hpp"
#include "text/rejected_messages.hpp"

namespace ratchet {

namespace {

std::string what_is_poisoned(const partition_stop& stop) {
  std::string text = "stopped: too many records in a row are malformed; this record is " +
                     std::string{name_of(stop.malformed.reason)};
  if (!stop.malformed.pointer.empty()) text += " at " + std::string{stop.malformed.pointer};
  text += " (byte " + std::to_string(stop.malformed.byte_offset) + "), and the first of them ";
  text += stop.first_value ? "begins with " + escaped_beginning(*stop.first_value) : std::string{"is null"};
  text += '\n';
  if (stop.malformed.reason == malformed_reason::position_invalid) {
    return text +
           "these are not lines as `kcat -C -J` prints them, or their topic is in no stream of the config";
  }
  const std::string hint =
      hint_on_fault(name_of(stop.malformed.reason), stop.first_value, stop.malformed.pointer);
  return text + (hint.empty() ? "most likely the envelope of the config does not fit the topic" : hint) +
         "; see " + typed_command("status", "--rejected") +
         "; correct the config, or set `poison: off` for the stream to reject such records and go on";
}

}  // namespace

std::string describe(const partition_stop& stop) {
  const std::string offset = to_text(stop.place());
  // A stream of plain lines that stops as a whole stops at none of them: lines begin with 1.
  const std::string line = stop.offset > 0 ? "line " + offset : std::string{"the lines"};
  const std::string place = stop.where.topic.empty() ? line : to_string(stop.where) + " at offset " + offset;
  // What others chose begins no line of its own: behind the first line feed stands what to do.
  const std::string aggregate = shown_id(stop.aggregate);
  const std::string before = "stopped before this event of aggregate `" + aggregate + "`";
  if (stop.code == make_error_code(errc::poisoned)) return place + ": " + what_is_poisoned(stop);
  if (stop.code == make_error_code(errc::reducer_failed)) {
    return place + ": " + before +
           ": the reducer failed: " + shown_text(stop.what.empty() ? stop.cause.message() : stop.what) +
           "\nnothing is lost: " + (stop.remedy.empty() ? std::string{"fix the reducer"} : stop.remedy) +
           ", and start again";
  }
  if (stop.code == make_error_code(errc::waiting_full)) {
    return place + ": " + before + ": it has to wait, and `waiting` of the config allows no more (" +
           shown_text(stop.what) + ")\nnothing is lost: see " + typed_command("waiting list") +
           ", let the gaps close or decide about the events, or raise the limit, and start again";
  }
  if (stop.code == make_error_code(errc::gap_too_old)) {
    return place + ": stopped: numbers of aggregate `" + aggregate +
           "` did not come within `gap.timeout`, and `gap.policy` is stop\nnothing is lost: see " +
           typed_command("waiting list") +
           ", have the missing numbers sent and start again, which begins the timeout again; or skip them";
  }
  return place + ": stopped: " + stop.code.message();
}

}  // namespace ratchet
