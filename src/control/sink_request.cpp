// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/sink_request.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "control/words.hpp"
#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "core/typed_command.hpp"
#include "decode/event_id_text.hpp"
#include "decode/sequence_text.hpp"
#include "outbox/refused_messages.hpp"
#include "pipeline/audit_rows.hpp"
#include "pipeline/pipeline.hpp"
#include "reports/wait_explanation.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

constexpr const char* k_sinks = "sinks";
constexpr const char* k_each_message = "all";
constexpr std::size_t k_most_listed = 1000;  // who decides may mean any of them
constexpr std::chrono::milliseconds k_refused_look_again{50};
constexpr std::array k_sink_verbs{sink_verb::list, sink_verb::retry, sink_verb::skip};

enum class answer : std::uint8_t { none, would, done, under_way };

[[nodiscard]] const char* name_of(answer a) {
  switch (a) {
    case answer::none:
      return "";
    case answer::would:
      return "would";
    case answer::done:
      return "done";
    case answer::under_way:
      return "under_way";
  }
  return "";
}

/// What is done on the owner's thread.
class sink_task {
 public:
  sink_task(const sink_request& request, posted_tasks::access of, const std::string& by)
      : request_{request}, of_{of}, by_{by} {}

  [[nodiscard]] reported<std::string> run() {
    if (auto unknown = check_name()) return std::move(*unknown);
    RATCHET_TRY(streams_, stream_names());
    const std::size_t limit = request_.verb == sink_verb::list ? k_most_listed : k_no_limit;
    for (const named_refusals& lane : of_.refusals) {
      if (!request_.sink.empty() && lane.name != request_.sink) continue;
      for (const refused_message& m : lane.of->refused(of_.way.clock().steady(), limit)) {
        if (request_.message && m.row.position != *request_.message) continue;
        ++found_;
        RATCHET_TRY(const answer a, treat(*lane.of, m));
        write(lane.name, m, a);
      }
    }
    return end();
  }

  /// Worth another look in a moment: the message is there and was not refused yet, as since the start it was
  /// not tried, or it is sent again just now.
  [[nodiscard]] bool may_come() const noexcept { return may_come_; }

 private:
  [[nodiscard]] std::optional<problem> check_name() const {
    std::string names;
    for (const named_refusals& lane : of_.refusals) {
      if (lane.name == request_.sink) return std::nullopt;
      names += (names.empty() ? "" : ", ") + lane.name;
    }
    if (request_.sink.empty() && !of_.refusals.empty()) return std::nullopt;
    return problem{
        errc::usage,
        request_.sink.empty() ? "nothing is published now" : "there is no sink \"" + request_.sink + "\"",
        names.empty() ? "the instance has none, or is only just starting" : "there are: " + names,
        {}};
  }

  [[nodiscard]] reported<std::map<stream_id, std::string>> stream_names() const {
    const auto view = of_.state.view();
    if (!view) return problem{view.error(), "cannot read the store: " + view.error().message(), "", {}};
    const auto streams = view.value()->streams();
    if (!streams) return problem{streams.error(), "cannot read the store's streams", "", {}};
    std::map<stream_id, std::string> names;
    for (const named_stream& s : streams.value()) names.emplace(s.id, s.name);
    return names;
  }

  [[nodiscard]] reported<answer> treat(refused_messages& sender, const refused_message& m) {
    if (request_.verb == sink_verb::list) return answer::none;
    if (request_.verb == sink_verb::retry) {
      done_ += sender.retry(m.row.position) ? 1U : 0U;
      return answer::done;
    }
    if (!request_.act) return answer::would;
    const auto skipped = sender.skip(m.row.position);
    if (!skipped) return answer::under_way;
    audit_row audit = audit_of_skipped_output(m.row, streams_[m.row.stream], m.why, of_.way.clock().now());
    audit.text += decided_by({by_, request_.why});
    if (const auto written = of_.way.skip_output(*skipped, std::move(audit)); !written) {
      return problem{written.error(),
                     "a step could not be written: " + written.error().message(),
                     "check the disk; " + typed_command("sinks list") + " shows what was done",
                     {}};
    }
    sender.skipped(*skipped);
    ++done_;
    return answer::done;
  }

  void write(const std::string& sink, const refused_message& m, answer a) {
    if (request_.json) {
      json_writer json;
      json.begin_object().key("sink").string(sink).key("topic");
      m.row.lane().empty() ? json.string(m.row.topic) : json.null();
      json.key("message").number(m.row.position);
      json.key("stream").string(streams_[m.row.stream]).key("aggregate").string(m.row.aggregate);
      json.key("id").string(to_text(m.row.id)).key("type").string(m.row.type);
      json.key("attempts").number(m.attempts);
      json.key("next_try_ms").number(static_cast<std::uint64_t>(m.next_try.count()));
      json.key("error").string(m.why).key("answer");
      a == answer::none ? json.null() : json.string(name_of(a));
      json.end_object();
      text_ += json.take() + "\n";
      return;
    }
    const std::string to = m.row.lane().empty() ? " to " + m.row.topic : "";
    append_line(text_, sink + " " + std::to_string(m.row.position) + to + "  " + shown_id(m.row.aggregate) +
                           " of " + streams_[m.row.stream] + ": " + m.row.type + " " + to_text(m.row.id) +
                           ", " + what_is_done(m, a) + ": " + m.why);
  }

  [[nodiscard]] std::string what_is_done(const refused_message& m, answer a) const {
    switch (a) {
      case answer::none:
        return "refused " + (m.attempts == 1 ? "once" : counted(m.attempts, "time")) + ", " +
               (m.next_try.count() == 0 ? "sent again now" : "next try in " + age_text(m.next_try));
      case answer::would:
        return "would be skipped";
      case answer::done:
        return request_.verb == sink_verb::skip ? "skipped" : "is sent again now";
      case answer::under_way:
        return "left alone: it is being sent just now; ask again";
    }
    return {};
  }

  [[nodiscard]] reported<std::string> end() {
    if (request_.verb == sink_verb::list) {
      if (found_ == 0 && !request_.json) text_ = "no message is refused\n";
      return std::move(text_);
    }
    if (found_ == 0) {
      may_come_ = request_.message && is_kept();
      return problem{errc::not_found,
                     "no refused message fits",
                     typed_command("sinks list") + " lists the refused messages",
                     {}};
    }
    if (request_.verb == sink_verb::skip && !request_.act && !request_.json)
      text_ += counted(found_, "message") + "; nothing was changed: add --yes to do it\n";
    if (request_.act && done_ == 0) {
      may_come_ = request_.message.has_value();
      return problem{errc::check_failed, "the message is being sent just now", "ask again", {}};
    }
    return std::move(text_);
  }

  [[nodiscard]] bool is_kept() const {
    const std::string_view lane = request_.sink == k_topics_name ? std::string_view{} : request_.sink;
    if (*request_.message >= of_.state.outboxes().of(lane).next) return false;
    constexpr std::uint64_t k_any_size = 1;
    const auto rows = of_.state.outputs(lane, *request_.message, *request_.message + 1, 1, k_any_size);
    return rows && !rows.value().empty();
  }

  const sink_request& request_;
  posted_tasks::access of_;
  const std::string& by_;
  std::map<stream_id, std::string> streams_;
  std::string text_;
  std::uint64_t found_{0};
  std::uint64_t done_{0};
  bool may_come_{false};
};

}  // namespace

const char* name_of(sink_verb verb) noexcept {
  switch (verb) {
    case sink_verb::list:
      return "list";
    case sink_verb::retry:
      return "retry";
    case sink_verb::skip:
      return "skip";
  }
  return "";
}

std::vector<std::string> to_words(const sink_request& r) {
  return {k_sinks,
          name_of(r.verb),
          k_json_or_text.of(r.json),
          k_act_or_tell.of(r.act),
          r.message ? std::to_string(*r.message) : k_each_message,
          r.sink,
          r.why};
}

std::optional<sink_request> parse_sink_words(std::span<const std::string> words) {
  constexpr std::size_t k_words = 7;
  if (words.size() != k_words || words[0] != k_sinks) return std::nullopt;
  const auto verb = std::find_if(k_sink_verbs.begin(), k_sink_verbs.end(),
                                 [&](sink_verb v) { return words[1] == name_of(v); });
  const auto json = k_json_or_text.read(words[2]);
  const auto act = k_act_or_tell.read(words[3]);
  if (verb == k_sink_verbs.end() || !json || !act) return std::nullopt;
  sink_request r;
  r.verb = *verb;
  r.json = *json;
  r.act = *act;
  r.sink = words[5];
  r.why = words[6];
  if (words[4] == k_each_message) return r;
  r.message = parse_u64(words[4]);
  return r.message ? std::optional{r} : std::nullopt;
}

sink_actor sink_actor_of(posted_tasks& owner, const decision_patience& patience) {
  return [&owner, patience](const sink_request& request, const std::string& by,
                            const byte_sink& sink) -> reported<void> {
    reported<std::string> told = task_was_cut_short();
    bool may_come = false;
    const posted_tasks::task task = [&](posted_tasks::access of) {
      sink_task asked{request, of, by};
      told = asked.run();
      may_come = asked.may_come();
    };
    const auto is_wanted = [&sink] { return sink({}); };
    // Before the claim nothing is sent, so that nothing was refused that could be decided about.
    const bool waits_for_claim = request.act || request.verb != sink_verb::list;
    // Refusals are not in the state: behind a start each is found by sending the message again.
    const auto until = std::chrono::steady_clock::now() + patience.owner;
    for (;;) {
      const task_end end =
          waits_for_claim ? owner.decide(task, patience, is_wanted) : owner.run(task, patience.owner);
      if (end != task_end::done) return decision_not_made(end);
      if (!may_come || std::chrono::steady_clock::now() >= until || !is_wanted()) break;
      std::this_thread::sleep_for(k_refused_look_again);
    }
    if (!told) return std::move(told.error());
    sink(told.value());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  };
}

}  // namespace ratchet
