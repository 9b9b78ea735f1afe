// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/waiting_request.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "control/requests.hpp"
#include "control/words.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/record_hash.hpp"
#include "ports/wait_until_durable.hpp"
#include "reports/rejected_list.hpp"
#include "reports/replay_outcome.hpp"
#include "reports/wait_explanation.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

constexpr const char* k_waiting = "waiting";
constexpr std::string_view k_payload = "payload=";
constexpr std::string_view k_why = "why=";
constexpr const char* k_of_rejected =
    "Ratchet decided about a rejected record when it was read: fix the cause and have the event sent again, "
    "under a fresh id if it is too old";
constexpr std::size_t k_at_a_time = 256;
/// All of them are read for one step.
constexpr std::uint64_t k_bytes_at_a_time = std::uint64_t{32} << 20U;
constexpr std::chrono::seconds k_sync_patience{10};
constexpr std::chrono::milliseconds k_look_again{20};
constexpr std::array k_verbs{waiting_verb::replay, waiting_verb::skip, waiting_verb::discard};

[[nodiscard]] const char* would_be(waiting_verb verb) {
  switch (verb) {
    case waiting_verb::replay:
      return "would be tried";
    case waiting_verb::skip:
      return "would be skipped";
    case waiting_verb::discard:
      return "would be discarded";
  }
  return "";
}

[[nodiscard]] const char* word_of(waiting_answer answer) {
  switch (answer) {
    case waiting_answer::done:
      return "done";
    case waiting_answer::none_waits:
      return "none_waits";
    case waiting_answer::not_first:
      return "not_first";
    case waiting_answer::not_in_trouble:
      return "not_in_trouble";
    case waiting_answer::too_many_open:
      return "too_many_open";
  }
  return "none_waits";
}

[[nodiscard]] const char* meaning_of(waiting_answer answer) {
  switch (answer) {
    case waiting_answer::done:
      return "done";
    case waiting_answer::none_waits:
      return "left alone: no such event waits";
    case waiting_answer::not_first:
      return "left alone: earlier events of its aggregate wait; skip those first";
    case waiting_answer::not_in_trouble:
      return "left alone: it is parked, and waits for others";
    case waiting_answer::too_many_open:
      return "left alone: 4096 discarded events of its aggregate may still come again, and that is the "
             "limit; skip it instead";
  }
  return "left alone";
}

[[nodiscard]] problem unavailable(std::string message, std::string hint) {
  return {make_error_code(errc::source_unavailable), std::move(message), std::move(hint), {}};
}

[[nodiscard]] problem cannot_read(std::error_code code) {
  return {code, "cannot read the waiting events: " + code.message(), "", {}};
}

/// Carries out a request: a page of events at a time is taken from the view and handed to the actor.
class request_walk {
 public:
  request_walk(const store_view& view, const named_stream& stream, const waiting_request& request,
               const waiting_desk& desk, const byte_sink& sink)
      : view_{view}, stream_{stream}, request_{request}, desk_{desk}, sink_{sink} {}

  [[nodiscard]] reported<void> run() {
    const auto walked =
        each_waiting(view_, stream_, request_.filter,
                     [this](std::string_view aggregate, const waiting_event& event, const wait_story* story) {
                       if (story == nullptr) return sink_({});
                       return take(aggregate, event.head, event.bytes(), is_left_alone(event, *story));
                     });
    if (!walked) return cannot_read(walked.error());
    if (found_ == 0) take_gap();
    if (!failed_) carry_out();
    if (failed_) return std::move(*failed_);
    return end();
  }

 private:
  /// What a replay would answer of one that is parked: aggregate_backlog::replay(). A held aggregate goes on.
  [[nodiscard]] bool is_left_alone(const waiting_event& event, const wait_story& story) const {
    return is_replay() && !request_.payload && event.head.state == waiting_state::parked &&
           story.reason != wait_reason::limit && story.reason != wait_reason::epoch;
  }

  bool take(std::string_view aggregate, const waiting_head& head, std::uint64_t bytes,
            bool left_alone = false) {
    if (request_.filter.limit && found_ >= *request_.filter.limit) return false;
    if (page_bytes_ + bytes > k_bytes_at_a_time) carry_out();
    if (failed_ || !wanted_) return false;
    ++found_;
    page_bytes_ += bytes;
    left_alone_.push_back(left_alone);
    page_.push_back({std::string{aggregate}, request_.verb, head.sequence, request_.payload});
    payloads_.push_back(request_.payload ? payload_hash(*request_.payload) : head.payload_hash);
    if (page_.size() >= k_at_a_time) carry_out();
    return !failed_ && wanted_;
  }

  /// Numbers that nothing waits under can be skipped as well: those of a gap.
  void take_gap() {
    const waiting_filter& f = request_.filter;
    if (request_.verb != waiting_verb::skip || !f.aggregate || !f.sequence || f.state) return;
    const auto missing = is_missing(*f.aggregate, *f.sequence);
    if (!missing) {
      failed_ = cannot_read(missing.error());
    } else if (missing.value()) {
      is_gap_ = true;
      waiting_head nothing;
      nothing.sequence = *f.sequence;
      (void)take(*f.aggregate, nothing, 0);
    }
  }
  /// Whether waiting events of the aggregate wait for it. The step that takes the decision looks again.
  [[nodiscard]] result<bool> is_missing(std::string_view aggregate, sequence s) const {
    const gate_rules rules = rules_of(stream_);
    if (rules.order != order::strict) return false;
    RATCHET_TRY(const auto of, read_waiting_aggregate(view_, stream_.id, aggregate));
    if (!of || !of->lowest || s >= of->begins_first.value_or(*of->lowest)) return false;
    return of->last ? s > *of->last : rules.first != first_number::any;
  }

  void carry_out() {
    if (page_.empty()) return;
    auto said = said_of_page();
    if (!said) {
      failed_ = std::move(said.error());
      return;
    }
    std::string piece;
    for (std::size_t i = 0; i < page_.size(); ++i) {
      if (said.value()[i].done) ++done_;
      append_line(piece, line(page_[i], said.value()[i]));
    }
    page_.clear();
    left_alone_.clear();
    payloads_.clear();
    page_bytes_ = 0;
    wanted_ = sink_(piece);
  }

  /// What is said of one event.
  struct saying {
    std::string word;
    std::string meaning;
    bool done{false};
    std::string error{};
  };

  [[nodiscard]] reported<std::vector<saying>> said_of_page() const {
    std::vector<saying> out(page_.size(), {"would", would_be(request_.verb)});
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (left_alone_[i])
        out[i] = {"would_not", std::string{"would be "} + meaning_of(waiting_answer::not_in_trouble)};
      if (is_gap_) out[i].meaning = "the missing numbers up to it would be skipped";
    }
    if (!request_.act) return out;
    RATCHET_TRY(const auto answers,
                desk_.act(request_.stream, page_, {desk_.by, request_.why}, desk_.is_wanted));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const waiting_answer a = answers.at(i);
      out[i] = {word_of(a), meaning_of(a), a == waiting_answer::done};
    }
    if (is_replay()) {
      RATCHET_TRY(tell_what_came_of(answers, out));
    }
    return out;
  }

  /// Nearly all are tried in the very step that takes the decision; others need steps behind it.
  [[nodiscard]] reported<void> tell_what_came_of(std::span<const waiting_answer> answers,
                                                 std::vector<saying>& out) const {
    const auto until = std::chrono::steady_clock::now() + desk_.patience;
    for (;;) {
      RATCHET_TRY(const auto now, desk_.look());
      bool all_tried = true;
      for (std::size_t i = 0; i < out.size(); ++i) {
        // One that does not wait any more went with an earlier one of the page.
        if (answers[i] != waiting_answer::done && answers[i] != waiting_answer::none_waits) continue;
        auto came = outcome_of_replay(*now, stream_, page_[i].aggregate, page_[i].sequence, payloads_[i]);
        if (!came) return cannot_read(came.error());
        replay_outcome& o = came.value();
        all_tried = all_tried && o.end != replay_end::waiting;
        const bool applied = o.end == replay_end::applied || o.end == replay_end::superseded;
        const bool keeps_payload = request_.payload && o.end == replay_end::parked;
        if (keeps_payload) o.told = "its payload was replaced; " + o.told;
        out[i] = {name_of(o.end), std::move(o.told), applied, std::move(o.error)};
      }
      const bool goes_on = !all_tried && std::chrono::steady_clock::now() < until;
      if (!goes_on || !desk_.pause(k_look_again)) return BOOST_OUTCOME_V2_NAMESPACE::success();
    }
  }

  [[nodiscard]] bool is_replay() const { return request_.verb == waiting_verb::replay; }

  [[nodiscard]] std::string line(const pipeline::decided& d, const saying& said) const {
    if (request_.json) {
      json_writer json;
      json.begin_object().key("stream").string(request_.stream).key("aggregate").string(d.aggregate);
      json.key("sequence").sequence(d.sequence).key("verb").string(name_of(d.verb));
      json.key("answer").string(said.word);
      if (is_replay() && request_.act)
        said.error.empty() ? json.key("error").null() : json.key("error").string(said.error);
      return json.end_object().take();
    }
    return shown_id(d.aggregate) + "  " + sequence_word(d.sequence) + "  " + name_of(d.verb) + ": " +
           said.meaning;
  }

  [[nodiscard]] reported<void> end() {
    if (found_ == 0) return nothing_fits();
    if (!request_.json && !request_.act) {
      sink_(counted(found_, what()) + "; nothing was changed" +
            (desk_.would_refuse
                 ? "\n"
                 : std::string{": add "} + (needs_all() ? "--all " : "") + "--yes to do it\n"));
    } else if (!request_.json) {
      sink_(std::to_string(done_) + " of " + counted(found_, what()) +
            (is_replay() ? " applied\n" : " done\n"));
    }
    if (request_.act && is_replay() && done_ < found_) return not_applied();
    if (request_.act && done_ == 0) {
      return problem{make_error_code(errc::check_failed), "no decision was carried out", "", {}};
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

  [[nodiscard]] const char* what() const { return is_gap_ ? "number" : "event"; }
  /// What the command line demands where nothing chooses among the events.
  [[nodiscard]] bool needs_all() const { return !is_replay() && to_words(request_.filter).empty(); }

  [[nodiscard]] problem not_applied() const {
    const std::uint64_t others = found_ - done_;
    return {make_error_code(errc::check_failed),
            counted(others, "event") + (others == 1 ? " was" : " were") + " not applied",
            typed_command("waiting list", shell_word(request_.stream)) + " shows the waiting events, and why",
            {}};
  }

  [[nodiscard]] problem nothing_fits() const {
    problem p{make_error_code(errc::not_found),
              "no waiting event fits",
              typed_command("waiting list") + " shows the waiting events",
              {}};
    if (request_.filter.state) return p;
    const auto rejected = count_rejected(view_, stream_, request_.filter);
    if (!rejected || rejected.value() == 0) return p;
    p.message += ", but " + counted(rejected.value(), "rejected record") +
                 (rejected.value() == 1 ? " does" : " do") + ", and rejected records take no decision";
    p.hint = k_of_rejected;
    return p;
  }

  const store_view& view_;
  const named_stream& stream_;
  const waiting_request& request_;
  const waiting_desk& desk_;
  const byte_sink& sink_;
  std::vector<pipeline::decided> page_;
  std::vector<bool> left_alone_;   ///< of page_
  std::vector<hash128> payloads_;  ///< of the page's events: what their reducers are given
  bool is_gap_{false};             ///< page_ has a missing number in place of an event
  std::uint64_t page_bytes_{0};
  std::optional<problem> failed_;
  std::uint64_t found_{0};
  std::uint64_t done_{0};
  bool wanted_{true};
};

[[nodiscard]] reported<std::vector<waiting_answer>> act(pipeline& way, const std::string& stream,
                                                        std::span<const pipeline::decided> all,
                                                        const decider& who) {
  partition_task* const of = way.task_named(stream);
  if (of == nullptr) {
    return problem{make_error_code(errc::usage),
                   "the config has no stream `" + stream + "`",
                   "a stream of another config can be read, but takes no decision",
                   {}};
  }
  auto done = way.run_commands(*of, all, who);
  if (done) return std::move(done).value();
  return problem{done.error(),
                 "a step could not be written: " + done.error().message(),
                 "check the disk; " + typed_command("waiting list") + " shows what was done",
                 {}};
}

/// False: it is not durable in time, or nobody waits for it any more. The step of an owner that lost its lead
/// may never be, and the next owner must not wait for this.
[[nodiscard]] bool await_durable(durable_steps& state, std::uint64_t step, const still_wanted& is_wanted) {
  const auto last = std::chrono::steady_clock::now() + k_sync_patience;
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    if (wait_until_durable(state, step, std::min<durable_signal::time_point>(last, now + k_look_again)))
      return true;
    if (now >= last || (is_wanted && !is_wanted())) return false;
  }
}

[[nodiscard]] problem not_synced(std::error_code code) {
  return {code, "the decision could not be synced: " + code.message(), "check the disk", {}};
}

}  // namespace

std::vector<std::string> to_words(const waiting_request& request) {
  std::vector<std::string> words{k_waiting, name_of(request.verb), k_json_or_text.of(request.json),
                                 k_act_or_tell.of(request.act), request.stream};
  if (!request.why.empty()) words.push_back(std::string{k_why} + request.why);
  if (request.payload) words.push_back(std::string{k_payload} + *request.payload);
  for (std::string& word : to_words(request.filter)) words.push_back(std::move(word));
  return words;
}

std::optional<waiting_request> parse_waiting_words(std::span<const std::string> words) {
  constexpr std::size_t k_fixed = 5;
  if (words.size() < k_fixed || words[0] != k_waiting) return std::nullopt;
  const auto verb =
      std::find_if(k_verbs.begin(), k_verbs.end(), [&](waiting_verb v) { return words[1] == name_of(v); });
  const auto json = k_json_or_text.read(words[2]);
  const auto act = k_act_or_tell.read(words[3]);
  if (verb == k_verbs.end() || !json || !act) return std::nullopt;
  waiting_request request;
  request.verb = *verb;
  request.json = *json;
  request.act = *act;
  request.stream = words[4];
  words = words.subspan(k_fixed);
  if (!words.empty() && words.front().starts_with(k_why)) {
    request.why = words.front().substr(k_why.size());
    words = words.subspan(1);
  }
  if (!words.empty() && words.front().starts_with(k_payload)) {
    request.payload = words.front().substr(k_payload.size());
    words = words.subspan(1);
  }
  auto filter = parse_filter(words);
  if (!filter) return std::nullopt;
  request.filter = std::move(*filter);
  return request;
}

reported<void> answer_waiting(const store_view& view, std::span<const std::string> streams,
                              const waiting_request& request, const waiting_desk& desk,
                              const byte_sink& sink) {
  if (request.filter.rejected) {
    return problem{make_error_code(errc::usage),
                   std::string{"rejected records do not wait: there is nothing to "} + name_of(request.verb),
                   k_of_rejected,
                   {}};
  }
  RATCHET_TRY(const auto stream, find_named_stream(view, streams, request.stream));
  if (!stream) {
    return problem{
        make_error_code(errc::not_found), "no event of stream `" + request.stream + "` waits", "", {}};
  }
  return request_walk{view, *stream, request, desk, sink}.run();
}

waiting_actor actor_of(posted_tasks& owner, durable_steps& state, const decision_patience& patience) {
  return [&owner, &state, patience](const std::string& stream, std::span<const pipeline::decided> all,
                                    const decider& who,
                                    const still_wanted& is_wanted) -> reported<std::vector<waiting_answer>> {
    reported<std::vector<waiting_answer>> done = task_was_cut_short();
    std::uint64_t step = 0;
    const task_end end = owner.decide(
        [&](posted_tasks::access of) {
          done = act(of.way, stream, all, who);
          step = of.state.last_step();
        },
        patience, is_wanted);
    if (end != task_end::done) return decision_not_made(end);
    if (!done) return done;
    // Answered behind the sync: until then a power cut could undo it.
    if (!await_durable(state, step, is_wanted))
      return unavailable("the decision was carried out, but is not synced yet",
                         "check the disk and the instance's log");
    return done;
  };
}

waiting_actor actor_of(pipeline& way, durable_steps& state) {
  return [&way, &state](const std::string& stream, std::span<const pipeline::decided> all, const decider& who,
                        const still_wanted&) -> reported<std::vector<waiting_answer>> {
    auto done = act(way, stream, all, who);
    if (!done) return done;
    if (const auto synced = state.sync(); !synced) return not_synced(synced.error());
    return done;
  };
}

}  // namespace ratchet
