// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/replay_outcome.hpp"

#include <optional>
#include <utility>

#include "decode/time_text.hpp"
#include "reports/id_spelling.hpp"
#include "reports/wait_explanation.hpp"
#include "reports/waiting_list.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

/// A replay begins its attempts anew, so that one without any has not had its turn.
[[nodiscard]] replay_outcome of_one_that_waits(const waiting_event& event, const wait_story& story) {
  replay_outcome out;
  if (story.reason == wait_reason::limit) {
    out.end = replay_end::dead;
    out.told = "not tried: too many events of its aggregate wait again, so the aggregate is held again";
  } else if (event.head.state == waiting_state::parked && story.reason != wait_reason::ready) {
    out.end = replay_end::parked;
    out.told = std::string{"not tried: it waits for others ("} + name_of(story.reason) +
               (story.missing ? ": " + missing_text(*story.missing) : "") + ")";
  } else if (event.head.state == waiting_state::parked || event.attempts == 0) {
    out.told = "not tried yet: its turn has come, and a step of the running instance takes it";
  } else if (story.state == waiting_state::dead) {
    out = {replay_end::dead, event.error, "tried, and dead again: " + event.error};
  } else {
    out = {replay_end::retrying, event.error, "tried, and failed again: " + event.error};
    if (event.due) out.told += "; the next attempt is due at " + to_rfc3339(*event.due);
  }
  return out;
}

[[nodiscard]] result<replay_outcome> of_one_that_waits_no_more(const store_view& view,
                                                               const named_stream& stream,
                                                               std::string_view aggregate, sequence s,
                                                               const hash128& payload) {
  const auto row = view.get(stream.id, aggregate);
  if (!row && row.error() != make_error_code(errc::not_found)) return row.error();
  RATCHET_TRY(const auto backlog, view.backlog_of(stream.id, aggregate));
  const bool skipped = backlog && backlog->was_skipped(s);
  if (!row || !row.value().has_last || row.value().last < s || skipped)
    return replay_outcome{replay_end::gone, "", "it no longer waits: another decision removed it"};
  const bool is_latest = rules_of(stream).order == order::latest;
  if (is_latest && row.value().last == s && row.value().payload_hash != payload) {
    return replay_outcome{replay_end::superseded, "",
                          "it no longer waits: another event with its number, a later one, is applied"};
  }
  if (is_latest && row.value().last != s) {
    return replay_outcome{replay_end::superseded, "",
                          "it no longer waits: event " +
                              sequence_word(id_spelling::of(stream).numbers, row.value().last) +
                              ", a newer one, is applied"};
  }
  return replay_outcome{replay_end::applied, "", "applied"};
}

}  // namespace

const char* name_of(replay_end end) noexcept {
  switch (end) {
    case replay_end::applied:
      return "applied";
    case replay_end::superseded:
      return "superseded";
    case replay_end::gone:
      return "gone";
    case replay_end::retrying:
      return "retrying";
    case replay_end::dead:
      return "dead";
    case replay_end::parked:
      return "parked";
    case replay_end::waiting:
      return "waiting";
  }
  return "?";
}

result<replay_outcome> outcome_of_replay(const store_view& view, const named_stream& stream,
                                         std::string_view aggregate, sequence s, const hash128& payload) {
  waiting_filter filter;
  filter.aggregate = std::string{aggregate};
  filter.sequence = s;
  if (s.number > 0) filter.after = {filter.aggregate.value(), {s.epoch, s.number - 1}};
  std::optional<replay_outcome> out;
  RATCHET_TRY(each_waiting(view, stream, filter,
                           [&](std::string_view, const waiting_event& event, const wait_story* story) {
                             if (story != nullptr) out = of_one_that_waits(event, *story);
                             return event.head.sequence < s;
                           }));
  if (out) return std::move(*out);
  return of_one_that_waits_no_more(view, stream, aggregate, s, payload);
}

}  // namespace ratchet
