// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/explain_report.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/shown_id.hpp"
#include "decode/event_id_text.hpp"

namespace ratchet {

namespace {

/// So many aggregates of one event id are told of; more than one is rare by itself.
constexpr std::size_t k_most_aggregates = 100;
/// So many waiting events are told of; `ratchet waiting list` has them all.
constexpr std::size_t k_most_waiting = 20;
/// Of each stream no more are kept.
constexpr std::size_t k_all_rejected = 100'000;

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_of_a_word(char c) noexcept {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_';
}

bool mentions(const std::optional<std::string>& bytes, std::string_view text, bool any_case) {
  return bytes && ratchet::mentions(*bytes, text, any_case);
}

/// Each by itself, that is: of growing numbers the last one is kept.
bool keeps_ids(const named_stream& stream) {
  const auto at = std::find_if(stream.meaning.begin(), stream.meaning.end(),
                               [](const auto& line) { return line.first == "dedup.ids"; });
  return at == stream.meaning.end() || (at->second != "none" && at->second != "monotonic");
}

/// What such a row tells was done to one aggregate, or to what came of it.
bool is_of_an_aggregate(const audit_row& row) {
  constexpr std::string_view k_of_aggregates[] = {"gap_skipped",      "first_adopted",   "aggregate_held",
                                                  "waiting_replayed", "waiting_skipped", "waiting_discarded",
                                                  "output_skipped",   "output_given_up"};
  const auto end = std::end(k_of_aggregates);
  return std::find(std::begin(k_of_aggregates), end, row.kind) != end;
}

/// False for a row about single aggregates, none of which is among `own`. Rows name theirs in their text.
bool concerns(const audit_row& row, const std::vector<std::string>& own) {
  if (!is_of_an_aggregate(row)) return true;
  return std::any_of(own.begin(), own.end(), [&row](const std::string& aggregate) {
    return row.text.find("aggregate `" + shown_id(aggregate) + "`") != std::string::npos;
  });
}

/// What was decided about these aggregates, and about their stream and the store as a whole.
audit_walk audits_of(const store_view& view, const named_stream& stream, std::vector<std::string> own) {
  return [&view, name = stream.name, own = std::move(own)](const visit_row<audit_row>& visit) {
    return view.each_audit(0, [&](const audit_row& row) {
      const bool is_of_it = (row.stream.empty() || row.stream == name) && concerns(row, own);
      return visit(is_of_it ? &row : nullptr);
    });
  };
}

using is_of_question = std::function<bool(const rejected_row&)>;

/// What both questions have in common.
result<explain_report> begin(const store_view& view, const named_stream& stream) {
  explain_report report;
  report.stream = stream.name;
  report.keeps_ids = keeps_ids(stream);
  report.supersedes = rules_of(stream).order == order::latest;
  report.ids = id_spelling::of(stream);
  RATCHET_TRY(const stream_state state, view.load(stream.id));
  report.floor = state.floor;
  report.forgotten_before = state.retention.before;
  return report;
}

/// Looks for kept records that belong to the question, until `names` is false of one, and has the report walk
/// through them.
result<void> look_for_rejected(const store_view& view, const named_stream& stream, is_of_question is_of_it,
                               const still_wanted& wanted, const is_of_question& names,
                               explain_report& report) {
  bool any = false;
  RATCHET_TRY(view.each_rejected(stream.id, {}, [&](const rejected_row& row) {
    if (!is_of_it(row)) return wanted();
    any = true;
    return names(row) && wanted();
  }));
  if (!any) return BOOST_OUTCOME_V2_NAMESPACE::success();
  report.rejected = [&view, id = stream.id,
                     is_of_it = std::move(is_of_it)](const visit_row<rejected_row>& visit) {
    return view.newest_rejected(id, k_all_rejected, [&](const rejected_row* row) {
      return visit(row != nullptr && is_of_it(*row) ? row : nullptr);
    });
  };
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// Where nothing else is known of the aggregate: whether anything was decided about it.
result<void> look_for_audits(const still_wanted& wanted, explain_report& report) {
  if (report.is_known()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return report.audits([&](const audit_row* row) {
    report.is_audited = row != nullptr && is_of_an_aggregate(*row);
    return !report.is_audited && wanted();
  });
}

}  // namespace

bool mentions(std::string_view bytes, std::string_view text, bool any_case) noexcept {
  if (text.empty()) return false;
  const auto same = [any_case](char a, char b) { return any_case ? lower(a) == lower(b) : a == b; };
  for (auto from = bytes.begin();; ++from) {
    from = std::search(from, bytes.end(), text.begin(), text.end(), same);
    if (from == bytes.end()) return false;
    const auto behind = from + static_cast<std::ptrdiff_t>(text.size());
    const bool begins = from == bytes.begin() || !is_of_a_word(*(from - 1));
    const bool ends = behind == bytes.end() || !is_of_a_word(*behind);
    if (begins && ends) return true;
  }
}

namespace {

/// What is stored of an aggregate, and of what waits of it.
result<explained_aggregate> explain_one(const store_view& view, const named_stream& stream,
                                        const std::string& aggregate,
                                        const std::optional<waiting_aggregate>& of,
                                        const explain_report& report) {
  explained_aggregate found{aggregate, {}};
  if (of) {
    found.backlog = of->backlog;
    found.missing = missing_below_lowest(rules_of(stream), *of);
  }
  auto row = view.get(stream.id, aggregate);
  if (row) {
    found.row = std::move(row).value();
  } else if (row.error() != make_error_code(errc::not_found)) {
    return row.error();
  }
  // The numbers that were skipped are forgotten with the rest.
  if (!found.row && report.forgotten_before && found.backlog && found.backlog->events() == 0)
    found.backlog.reset();
  if (!found.row || !found.row->id || has_own_time(report.ids.kind)) return found;
  constexpr std::size_t k_all = std::numeric_limits<std::size_t>::max();
  RATCHET_TRY(const auto filed, view.aggregates_with(stream.id, *found.row->id, k_all));
  for (const filed_id_of& one : filed) {
    if (one.aggregate == aggregate) found.last_filed = one.filed;
  }
  return found;
}

/// Adds the waiting events that have the id. No index leads to them, so that every one is looked at.
result<void> add_waiting_with(const store_view& view, const named_stream& stream, event_id id,
                              explain_report& report) {
  const gate_rules rules = rules_of(stream);
  std::error_code failed;
  RATCHET_TRY(view.waiting(stream.id, {}, [&](std::string_view aggregate, const waiting_event& event) {
    if (event.head.id != id) return true;
    report.more_waiting = report.waiting.size() == k_most_waiting;
    if (report.more_waiting) return false;
    const auto of = read_waiting_aggregate(view, stream.id, aggregate);
    if (!of || !of.value()) {
      failed = of ? make_error_code(errc::state_damaged) : of.error();
      return false;
    }
    report.waiting.push_back({std::string{aggregate}, event, story_of(rules, *of.value(), event)});
    return true;
  }));
  if (failed) return failed;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

result<explain_report> explain_aggregate(const store_view& view, const named_stream& stream,
                                         const std::string& aggregate, const still_wanted& wanted) {
  RATCHET_TRY(auto report, begin(view, stream));
  report.aggregate = aggregate;
  report.audits = audits_of(view, stream, {aggregate});
  const is_of_question is_of_it = [aggregate](const rejected_row& row) {
    if (row.reason != reject_reason::malformed) return row.detail == aggregate;
    return mentions(row.key, aggregate, false) || mentions(row.value, aggregate, false);
  };
  const auto one_is_enough = [](const rejected_row&) { return false; };
  RATCHET_TRY(look_for_rejected(view, stream, is_of_it, wanted, one_is_enough, report));
  RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, aggregate));
  RATCHET_TRY(auto found, explain_one(view, stream, aggregate, of, report));
  if (found.row || found.backlog) report.aggregates.push_back(std::move(found));
  if (!of) {
    RATCHET_TRY(look_for_audits(wanted, report));
    return report;
  }
  RATCHET_TRY(view.waiting(stream.id, in_front_of(aggregate),
                           [&, rules = rules_of(stream)](std::string_view name, const waiting_event& event) {
                             if (name != aggregate) return name < aggregate;
                             report.more_waiting = report.waiting.size() == k_most_waiting;
                             if (report.more_waiting) return false;
                             report.waiting.push_back({aggregate, event, story_of(rules, *of, event)});
                             return true;
                           }));
  RATCHET_TRY(look_for_audits(wanted, report));
  return report;
}

result<explain_report> explain_event(const store_view& view, const named_stream& stream,
                                     const asked_id& asked, const still_wanted& wanted) {
  const event_id id = asked.stored;
  const std::string& text = asked.text;
  const bool is_opaque = !has_own_time(id_spelling::of(stream).kind);
  const bool any_case = !is_opaque;
  RATCHET_TRY(auto report, begin(view, stream));
  report.event = id;
  if (is_opaque) report.event_text = text;
  RATCHET_TRY(auto filed, view.aggregates_with(stream.id, id, k_most_aggregates + 1));
  report.more_aggregates = filed.size() > k_most_aggregates;
  if (report.more_aggregates) filed.pop_back();
  if (!is_opaque) report.event_time = id.time();
  for (const filed_id_of& one : filed) {
    report.event_time = std::max(report.event_time.value_or(one.filed), one.filed);
  }
  report.place = !report.keeps_ids                           ? id_place::off
                 : !report.event_time                        ? id_place::not_seen
                 : report.is_below_floor(*report.event_time) ? id_place::before_floor
                 : filed.empty()                             ? id_place::not_seen
                                                             : id_place::inside;
  for (const auto& [aggregate, when] : filed) {
    RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, aggregate));
    RATCHET_TRY(auto found, explain_one(view, stream, aggregate, of, report));
    // An id is filed when its event is applied.
    if (!found.row && !report.forgotten_before) return make_error_code(errc::state_damaged);
    report.aggregates.push_back(std::move(found));
  }
  RATCHET_TRY(add_waiting_with(view, stream, id, report));
  std::set<std::string> own;
  for (const explained_aggregate& of : report.aggregates) own.insert(of.aggregate);
  for (const explained_event& of : report.waiting) own.insert(of.aggregate);
  const is_of_question is_of_it = [id, text, any_case](const rejected_row& row) {
    return row.id == id || mentions(row.key, text, any_case) || mentions(row.value, text, any_case);
  };
  const auto note_aggregate = [&own](const rejected_row& row) {
    if (row.reason != reject_reason::malformed && own.size() < k_most_aggregates) own.insert(row.detail);
    return own.size() < k_most_aggregates;
  };
  RATCHET_TRY(look_for_rejected(view, stream, is_of_it, wanted, note_aggregate, report));
  report.audits = audits_of(view, stream, {own.begin(), own.end()});
  return report;
}

}  // namespace ratchet
