// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/slot_report.hpp"

#include <optional>
#include <string_view>

#include "core/shown_text.hpp"
#include "decode/time_text.hpp"
#include "reports/wait_explanation.hpp"
#include "text/counted.hpp"

namespace ratchet {

namespace {

void write_name(json_writer& json, std::string_view advertise) {
  json.key("advertise");
  advertise.empty() ? json.null() : json.string(advertise);
}

void write_owner(json_writer& json, const std::optional<slot_owner>& owner) {
  json.key("owner");
  if (!owner) {
    json.null();
    return;
  }
  json.begin_object().key("instance").string(owner->instance);
  write_name(json, owner->advertise);
  json.key("generation").number(owner->epoch.generation);
  json.key("attempt").number(owner->epoch.attempt).end_object();
}

template <class T>
void write_optional(json_writer& json, std::string_view key, const std::optional<T>& value) {
  json.key(key);
  value ? json.number(*value) : json.null();
}

void write_bases(json_writer& json, const base_progress& bases) {
  json.key("base");
  if (const auto& b = bases.newest) {
    json.begin_object().key("step").number(b->step).key("made_at").time(b->made);
    json.key("bytes").number(b->bytes).end_object();
  } else {
    json.null();
  }
  write_optional(json, "base_writing_bytes", bases.writes);
  json.key("base_trouble");
  bases.trouble.empty() ? json.null() : json.string(bases.trouble);
}

void line(std::string& out, std::string_view name, const std::string& text) {
  constexpr std::size_t k_width = 12;
  std::string one = "  ";
  one += name;
  one.append(k_width - name.size(), ' ');
  append_line(out, one + text);
}

std::string text_of(const std::optional<slot_owner>& owner) {
  if (!owner) return "not known yet";
  return instance_text(owner->instance, owner->advertise) + ", epoch " +
         std::to_string(owner->epoch.generation) + "." + std::to_string(owner->epoch.attempt);
}

std::string head_of(slot_role role) {
  switch (role) {
    case slot_role::owner:
      return "owner of the state: ";
    case slot_role::standby:
      return "standby: ";
    case slot_role::following:
      return "standby, not ready to take over: ";
    case slot_role::restoring:
      return "standby, reading a copy of the state: ";
    case slot_role::taking_over:
      return "taking the state over: ";
  }
  return "";
}

std::string behind_of(const slot_status& s) {
  if (!s.log_end && !s.behind) return "not known yet";
  std::string text = s.records_behind == 0 ? "nothing" : counted(s.records_behind, "record") + " of the log";
  if (s.behind) text += "; what is here may be " + age_text(*s.behind) + " old";
  return text;
}

std::string log_of(const slot_status& s) {
  if (!s.log_end) return "its bounds are not known yet";
  std::string text = "offsets " + std::to_string(*s.log_first) + " to " + std::to_string(*s.log_end);
  if (s.log_since_base) text += ", " + counted(*s.log_since_base, "byte") + " since the last base";
  return text;
}

void append_digests(std::string& out, const digest_findings& found) {
  if (const auto& at = found.first_difference) {
    line(out, "digests", "NOT the owner's since step " + std::to_string(*at) + ": one of the two is damaged");
  } else if (found.last_step) {
    line(out, "digests", "the owner's, last at step " + std::to_string(*found.last_step));
  }
}

std::string base_of(const base_progress& bases) {
  std::string text = "none yet";
  if (const auto& b = bases.newest)
    text = "of step " + std::to_string(b->step) + ", made at " + to_rfc3339(b->made) + ", " +
           counted(b->bytes, "byte");
  if (bases.writes) text += "; the next one is being written: " + counted(*bases.writes, "byte") + " so far";
  return text;
}

}  // namespace

void write_slot(json_writer& json, const slot_status& s) {
  json.begin_object().key("log").string(s.log).key("instance").string(s.instance);
  write_name(json, s.advertise);
  json.key("role").string(name_of(s.role));
  write_owner(json, s.owner);
  json.key("step").number(s.step);
  json.key("behind").begin_object().key("records").number(s.records_behind);
  write_optional(json, "ms", s.behind ? std::optional{s.behind->count()} : std::nullopt);
  json.end_object();
  write_optional(json, "log_first", s.log_first);
  write_optional(json, "log_end", s.log_end);
  json.key("log_bytes").number(s.log_bytes);
  write_optional(json, "log_bytes_since_base", s.log_since_base);
  json.key("pending").begin_object().key("steps").number(s.pending_steps);
  json.key("bytes").number(s.pending_bytes).end_object();
  write_bases(json, s.bases);
  write_optional(json, "base_restoring_bytes", s.restored);
  json.key("leads").number(s.leads).key("fences").number(s.fences);
  json.key("bases_written").number(s.bases.written).key("base_failures").number(s.bases.failures);
  json.key("digests").begin_object().key("same").number(s.digests.same);
  json.key("different").number(s.digests.different);
  write_optional(json, "last_step", s.digests.last_step);
  write_optional(json, "differs_since", s.digests.first_difference);
  json.end_object().end_object();
}

void write_slot(json_writer& json, const replica_at_rest& r) {
  json.begin_object().key("role").null();
  write_owner(json, r.owner);
  json.key("step").number(r.position.step).key("log_offset").number(r.position.offset);
  json.key("log_bytes").number(r.position.bytes).end_object();
}

std::string standby_note(const slot_status& s) {
  std::string text = "this instance is a standby";
  if (s.owner) text += " of " + instance_text(s.owner->instance, s.owner->advertise);
  return text + (s.behind ? "; its state may be " + age_text(*s.behind) + " old"
                          : "; how old its state is, is not known yet");
}

void append_slot(std::string& out, const slot_status& s) {
  append_line(out, head_of(s.role) + instance_text(s.instance, s.advertise) + ", with the log " + s.log);
  if (s.role != slot_role::owner) line(out, "owner", text_of(s.owner));
  const bool shows_epoch = s.role == slot_role::owner && s.owner;
  line(out, "step",
       std::to_string(s.step) + (shows_epoch ? " of epoch " + std::to_string(s.owner->epoch.generation) +
                                                   "." + std::to_string(s.owner->epoch.attempt)
                                             : ""));
  if (s.role == slot_role::owner) {
    if (s.pending_steps > 0)
      line(out, "pending",
           counted(s.pending_steps, "step") + ", " + counted(s.pending_bytes, "byte") +
               ", decided and not confirmed yet");
  } else if (s.role != slot_role::restoring) {
    line(out, "behind", behind_of(s));
  }
  if (s.restored) line(out, "copy", counted(*s.restored, "byte") + " read so far");
  if (s.role != slot_role::owner) append_digests(out, s.digests);
  line(out, "log", log_of(s));
  const bool writes_bases = s.role == slot_role::owner || s.bases.writes || !s.bases.trouble.empty();
  if (!writes_bases) return;
  line(out, "base", base_of(s.bases));
  if (!s.bases.trouble.empty()) line(out, "", s.bases.trouble);
}

void append_slot(std::string& out, const replica_at_rest& r) {
  append_line(out, "a replica, at step " + std::to_string(r.position.step) +
                       " of a replicated log; its last owner was " + text_of(r.owner));
}

}  // namespace ratchet
