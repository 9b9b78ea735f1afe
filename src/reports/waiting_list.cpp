// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/waiting_list.hpp"

#include <string_view>

#include "core/shown_id.hpp"
#include "core/typed_command.hpp"
#include "decode/json_grammar.hpp"
#include "decode/time_text.hpp"
#include "reports/line_pages.hpp"
#include "reports/rejected_list.hpp"
#include "reports/row_reports.hpp"
#include "reports/wait_explanation.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

bool fits(const waiting_filter& filter, const waiting_event& event, const wait_story& story) {
  if (filter.state && *filter.state != story.state) return false;
  if (filter.sequence && *filter.sequence != event.head.sequence) return false;
  if (filter.seen_before && event.first_seen > *filter.seen_before) return false;
  const auto time = time_of(event);
  if (filter.from && (!time || *time < *filter.from)) return false;
  if (filter.to && (!time || *time >= *filter.to)) return false;
  return filter.reason.empty() || filter.reason == name_of(story.reason) ||
         event.error.find(filter.reason) != std::string::npos;
}

/// A walk through the events of a stream that fit.
class walk {
 public:
  walk(const store_view& view, const named_stream& stream, const waiting_filter& filter,
       const visit_waiting& visit)
      : view_{view}, stream_{stream}, filter_{filter}, visit_{visit}, rules_{rules_of(stream)} {}

  result<void> run() {
    RATCHET_TRY(view_.waiting(stream_.id, beginning(),
                              [this](std::string_view aggregate, const waiting_event& event) {
                                return look_at(aggregate, event);
                              }));
    if (failed_) return failed_;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  /// Where there is nothing to be found before.
  [[nodiscard]] std::optional<waiting_place> beginning() const {
    std::optional<waiting_place> place;
    if (filter_.aggregate) place = in_front_of(*filter_.aggregate);
    if (filter_.after && (!filter_.aggregate || *filter_.aggregate <= filter_.after->first)) {
      place = waiting_place{filter_.after->first, filter_.after->second};
    }
    return place;
  }

  bool look_at(std::string_view aggregate, const waiting_event& event) {
    if (filter_.aggregate && aggregate != *filter_.aggregate) {
      return aggregate < *filter_.aggregate;
    }
    if (!enter(aggregate)) return false;
    const wait_story story = story_of(rules_, of_, event);
    return visit_(aggregate, event, fits(filter_, event, story) ? &story : nullptr);
  }

  /// Looks the aggregate up, where it is another than before. False: it failed.
  bool enter(std::string_view aggregate) {
    if (entered_ && *entered_ == aggregate) return true;
    auto found = read_waiting_aggregate(view_, stream_.id, aggregate);
    if (!found) {
      failed_ = found.error();
      return false;
    }
    if (!found.value()) {  // an event of an aggregate that has no backlog
      failed_ = make_error_code(errc::state_damaged);
      return false;
    }
    entered_ = aggregate;
    of_ = std::move(*found.value());
    return true;
  }

  const store_view& view_;
  const named_stream& stream_;
  const waiting_filter& filter_;
  const visit_waiting& visit_;
  gate_rules rules_;
  std::optional<std::string> entered_;
  waiting_aggregate of_;  ///< `entered_`
  std::error_code failed_;
};

std::string line_of(const named_stream& stream, const id_spelling& ids, std::string_view aggregate,
                    const waiting_event& event, const wait_story& story, bool as_json) {
  if (!as_json) return waiting_line(ids, aggregate, event, story);
  json_writer json;
  json.begin_object();
  write_waiting_members(json, stream.name, ids, aggregate, event, story);
  json.end_object();
  return json.take();
}

void write_payload(json_writer& json, const waiting_event& event) {
  if (event.tombstone) {
    json.key("payload").null();
  } else if (json::check_json(event.payload()).reason == malformed_reason::none) {
    json.key("payload").raw(event.payload(), raw_layout::one_line);
  } else {
    json.key("payload_base64").base64(event.payload());
  }
}

std::string shown_json(const named_stream& stream, const std::string& aggregate, const waiting_event& event,
                       const wait_story& story) {
  json_writer json;
  json.begin_object();
  write_waiting_members(json, stream.name, id_spelling::of(stream), aggregate, event, story);
  json.key("type");
  event.type.empty() ? json.null() : json.string(event.type);
  json.key("tombstone").boolean(event.tombstone).key("last_attempt").time(event.last_attempt);
  json.key("record_time").time(event.record.time);
  write_bytes(json, "key", event.record.key);
  json.key("headers").begin_array();
  for (const auto& [name, value] : event.record.headers) {
    json.begin_object().key("name").string(name);
    write_bytes(json, "value", value);
    json.end_object();
  }
  json.end_array();
  write_bytes(json, "value", event.record.value);
  write_payload(json, event);
  json.end_object();
  return json.take() + "\n";
}

/// What to type, as nobody but an operator can decide about a dead event.
void append_decisions(std::string& out, const named_stream& stream, const std::string& aggregate,
                      const waiting_event& event) {
  const std::string of = shell_word(stream.name) + " --aggregate " + shell_word(shown_id(aggregate)) +
                         " --sequence " + sequence_word(event.head.sequence) + " --yes";
  append_line(out, "  -> to try it again: " + typed_command("waiting replay", of));
  append_line(out, "  -> to give it up: " + typed_command("waiting skip", of));
}

std::string shown_text(const named_stream& stream, const std::string& aggregate, const waiting_event& event,
                       const wait_story& story) {
  std::string out;
  append_line(out, "stream " + stream.name);
  append_line(out, waiting_line(id_spelling::of(stream), aggregate, event, story));
  const auto line = [&out](std::string_view name, const std::string& text) {
    constexpr std::size_t k_width = 16;
    std::string made = "  " + std::string{name};
    made.append(k_width - std::min(k_width, name.size()), ' ');
    append_line(out, made + text);
  };
  if (!event.type.empty()) line("type", event.type);
  if (const auto time = time_of(event)) line("time", to_rfc3339(*time));
  if (event.last_attempt) line("last attempt", to_rfc3339(*event.last_attempt));
  line("key", bytes_on_one_line(event.record.key));
  for (const auto& [name, value] : event.record.headers) line("header " + name, bytes_on_one_line(value));
  line("value", bytes_on_one_line(event.record.value));
  line("payload", event.tombstone ? "none: it deletes the snapshot"
                                  : counted(event.payload().size(), "byte") + ": " +
                                        bytes_on_one_line(std::string{event.payload()}));
  if (story.state == waiting_state::dead) append_decisions(out, stream, aggregate, event);
  return out;
}

}  // namespace

result<void> each_waiting(const store_view& view, const named_stream& stream, const waiting_filter& filter,
                          const visit_waiting& visit) {
  return walk{view, stream, filter, visit}.run();
}

result<waiting_listed> list_waiting(const store_view& view, const named_stream& stream,
                                    const waiting_filter& filter, bool json, const byte_sink& sink) {
  if (filter.rejected) return list_rejected(view, stream, filter, json, sink);
  const id_spelling ids = id_spelling::of(stream);
  line_pages pages{filter.limit, sink};
  const auto show = [&](std::string_view aggregate, const waiting_event& event, const wait_story* story) {
    if (story == nullptr) return pages.pass_over();
    if (pages.is_full()) return false;
    return pages.add(line_of(stream, ids, aggregate, event, *story, json),
                     shown_id(aggregate) + "/" + sequence_word(event.head.sequence));
  };
  RATCHET_TRY(each_waiting(view, stream, filter, show));
  return pages.end();
}

result<std::string> show_waiting(const store_view& view, const named_stream& stream,
                                 const std::string& aggregate, sequence wanted, bool json) {
  RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, aggregate));
  if (!of) return make_error_code(errc::not_found);
  std::optional<waiting_event> event;
  RATCHET_TRY(
      view.waiting(stream.id, in_front_of(aggregate), [&](std::string_view found, const waiting_event& one) {
        if (found == aggregate && one.head.sequence == wanted) event = one;
        return found < aggregate || (found == aggregate && one.head.sequence < wanted);
      }));
  if (!event) return make_error_code(errc::not_found);
  const wait_story story = story_of(rules_of(stream), *of, *event);
  return json ? shown_json(stream, aggregate, *event, story) : shown_text(stream, aggregate, *event, story);
}

}  // namespace ratchet
