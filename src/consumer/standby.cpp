// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/standby.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "consumer/access.hpp"
#include "ports/error_class.hpp"
#include "ports/source_condition.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_standby_poll_timeout{100};
/// While there is more of the log at hand, the group is only looked at.
constexpr milliseconds k_no_wait{0};
constexpr milliseconds k_log_wait{5};
constexpr milliseconds k_lead_claim_timeout{5'000};
/// The end of the log is asked for every two seconds. Whoever has not met it for so long reads slower than
/// the owner writes, or cannot read.
constexpr std::chrono::seconds k_far_behind{30};

[[nodiscard]] session_result lost_client(std::error_code code, const char* what) {
  return {session_end::client_lost, problem{code, what, "", {}}};
}

constexpr const char* k_lead_condition = "replicated_log";

[[nodiscard]] std::string text_of(const problem& p) {
  return p.message + (p.hint.empty() ? "" : " -> " + p.hint);
}

}  // namespace

standby::standby(dependencies deps)
    : deps_{std::move(deps)},
      slot_{deps_.settings.replicate->topic, partition_id{0}},
      named_at_{deps_.store.slot().position().epoch} {
  deps_.store.log().on_progress([this] { deps_.source.wake(); });
  // A client is made anew where the last one was lost, as behind a pause of the process.
  deps_.store.slot().doubt_end();
}

standby::~standby() {
  deps_.store.log().on_progress({});
}

turn_result<> standby::wait_for_lead() {
  tell(deps_.log, log_kind::standby_following, "following the replicated log `{}` behind step {}",
       slot_.topic, deps_.store.last_step());
  shown_.reset();
  is_doubtful_ = false;
  deps_.status.clear_condition(k_lead_condition);
  if (deps_.store.slot().tries().failure()) show();  // the session may have said that it was ready
  for (;;) {
    RATCHET_TRY(turn());
    if (deps_.store.slot().leads()) return take_lead();
  }
}

turn_result<> standby::take_lead() {
  if (const auto led = deps_.store.lead(); !led) return store_failed(led.error());
  if (deps_.check != nullptr && !deps_.check->may_lead(deps_.clock.steady())) {
    tell(deps_.log, log_kind::lead_lost, "this instance gives the state back, for another one to own it");
    deps_.store.end_lead();
    return session_result{session_end::left, std::nullopt};
  }
  if (deps_.namesakes != nullptr) deps_.namesakes->took_lead();
  const replicate::log_position& at = deps_.store.slot().position();
  tell(deps_.log, log_kind::lead_taken, "this instance owns the state: epoch {}.{} of the log `{}`, step {}",
       at.epoch.generation, at.epoch.attempt, slot_.topic, at.step);
  // The same step may be refused again.
  if (const auto& failure = deps_.store.slot().tries().failure()) {
    is_doubtful_ = true;
    deps_.status.raise_condition(k_lead_condition,
                                 text_of(describe(*failure, deps_.settings.kafka, slot_.topic)));
  }
  return go_on();
}

void standby::note_lead() {
  const bool is_missing = deps_.store.slot().is_missing();
  if (is_missing && !std::exchange(is_doubtful_, true))
    deps_.status.raise_condition(k_lead_condition, why_missing());
  if (is_missing || !is_doubtful_ || deps_.store.slot().tries().failure()) return;
  is_doubtful_ = false;
  deps_.status.clear_condition(k_lead_condition);
}

turn_result<> standby::turn() {
  deps_.meter.beat();
  if (deps_.stop != nullptr && deps_.stop->load(std::memory_order_relaxed))
    return session_result{session_end::drained, std::nullopt};
  RATCHET_TRY(follow());
  RATCHET_TRY(look_for_namesakes());
  if (deps_.handover != nullptr) deps_.handover->refuse(deps_.source);
  const bool is_idle = (joined_ || !cannot_lead_.empty()) && !deps_.store.slot().is_under_way();
  if (!is_idle && !deps_.store.slot().has_more()) deps_.store.slot().wait(k_log_wait);
  const auto got = deps_.source.poll(1, is_idle ? k_standby_poll_timeout : k_no_wait);
  if (!got) return lost_client(got.error(), "the Kafka client failed");
  for (const source_notice& n : got.value().notices) {
    RATCHET_TRY(on_notice(n));
  }
  if (deps_.store.slot().awaits_claim()) return claim();
  show();
  return go_on();
}

turn_result<> standby::follow() {
  hold_for_room();
  const auto done = deps_.store.turn();
  if (auto refused = deps_.store.slot().refused())
    return session_result{session_end::refused, std::move(refused)};
  const bool is_restoring = deps_.store.slot().restored_bytes().has_value();
  const bool passes_by = !done && (passes(classify(done.error())) || is_restoring);
  if (!done && (deps_.store.slot().has_failed_store() || !passes_by)) return store_failed(done.error());
  if (!done) {
    tell_of_trouble(done.error());
    return go_on();
  }
  tell_of_failure();
  // Also where it stays out for another reason: somebody waits for the answer.
  const bool waits_for_successor =
      deps_.handover != nullptr && deps_.handover->awaits_successor(deps_.store.slot().position().epoch);
  // A member may be given the slot at once, so it joins when nothing is left to read.
  cannot_lead_ = why_it_cannot_lead();
  const bool stays_out = deps_.store.slot().gives_way() || !cannot_lead_.empty();
  if (joined_ && (is_restoring || stays_out)) return session_result{session_end::left, std::nullopt};
  if (stays_out) return go_on();
  if (joined_ || !deps_.store.slot().is_at_end() || deps_.store.must_wait()) return go_on();
  return waits_for_successor ? go_on() : join();
}

/// The successor of a hand-over is known by its fence, so the log is read that far in spite of a low disk.
void standby::hold_for_room() {
  if (deps_.check == nullptr) return;
  const bool awaits = deps_.handover != nullptr && !deps_.handover->successor().empty();
  const bool has_no_room = deps_.check->has_no_room(deps_.clock.steady());
  deps_.store.slot().hold(has_no_room && !awaits);
}

turn_result<> standby::look_for_namesakes() {
  if (deps_.namesakes == nullptr) return go_on();
  if (deps_.namesakes->is_due(deps_.clock.steady())) deps_.namesakes->look(deps_.source, joined_);
  if (const auto& refused = deps_.namesakes->refused()) return session_result{session_end::refused, *refused};
  return go_on();
}

/// The state says nothing before the log was read to its end.
std::string standby::why_it_cannot_lead() {
  if (deps_.check == nullptr) return "";
  return deps_.check->why_not(deps_.clock.steady(), deps_.store.slot().is_at_end());
}

turn_result<> standby::join() {
  const replicate::log_epoch epoch = deps_.store.slot().position().epoch;
  if (epoch != named_at_) return session_result{session_end::left, std::nullopt};
  // Who is there already came before this instance.
  if (deps_.namesakes != nullptr) deps_.namesakes->look(deps_.source, false);
  if (const auto joined = deps_.source.join(std::array{slot_.topic}); !joined)
    return lost_client(joined.error(), "the consumer group cannot be joined");
  joined_ = true;
  tell(deps_.log, log_kind::group_joining, "joining group `{}` with all of the log `{}`: step {}",
       deps_.settings.kafka.group, slot_.topic, deps_.store.last_step());
  return go_on();
}

turn_result<> standby::on_notice(const source_notice& n) {
  if (const auto* a = std::get_if<notice::assigned>(&n)) {
    const bool is_ours = std::find(a->partitions.begin(), a->partitions.end(), slot_) != a->partitions.end();
    const auto generation = deps_.source.generation();
    // Nothing is read meanwhile; the session answers anew, with the inputs.
    is_member_ = true;
    if (const auto answered = deps_.source.assign({}); !answered)
      return lost_client(answered.error(), "the group cannot be answered");
    if (is_ours && !generation)
      return lost_client(make_error_code(errc::source_fatal), "the group's generation is not known");
    if (!is_ours && deps_.answer != nullptr && *deps_.answer != resume_option::none)
      return session_result{session_end::refused, answers_nothing()};
    if (is_ours) deps_.store.slot().assigned(*generation);
    if (!is_ours && deps_.namesakes != nullptr) deps_.namesakes->look_again();
  }
  if (const auto* r = std::get_if<notice::revoked>(&n)) {
    // To answer would be to join again, maybe before whoever owns the slot by now.
    if (r->lost) return session_result{session_end::left, std::nullopt};
    deps_.store.slot().unassigned();
    if (const auto answered = deps_.source.unassign(); !answered)
      return lost_client(answered.error(), "the group cannot be answered");
  }
  if (const auto* t = std::get_if<notice::trouble>(&n)) tell_of_group(*t);
  if (const auto* f = std::get_if<notice::fatal>(&n)) return lost_client(f->code, "the Kafka client gave up");
  return go_on();
}

/// The log has a fence of this generation or a later one, so the group says whether it still knows this
/// member.
turn_result<> standby::claim() {
  const replicate::log_position& at = deps_.store.slot().position();
  const commit_request asked{slot_, at.offset + 1, "ratchet2:" + deps_.settings.replicate->instance};
  const auto taken = deps_.source.commit_and_wait(std::span{&asked, 1}, k_lead_claim_timeout);
  if (taken) {
    deps_.store.slot().claim_answered(true);
  } else if (classify(taken.error()) == error_class::moved_on) {
    deps_.store.slot().claim_answered(false);
  } else {
    deps_.store.slot().claim_failed(taken.error());
  }
  return go_on();
}

/// It would else wait here, and answer another question weeks later.
problem standby::answers_nothing() const {
  const auto owner = deps_.store.slot().owner();
  return {errc::group_taken,
          std::string{"`--resume "} + name_of(*deps_.answer) +
              "` is for the instance that owns the state, and another one does" +
              (owner ? ": `" + owner->instance + "`" : std::string{}),
          "stop all instances of this log, then start this instance with `--resume " +
              std::string{name_of(*deps_.answer)} +
              "`, and the others without it when this instance owns the state",
          {}};
}

void standby::stand_by_again(bool given_back, bool owes_answer) {
  const std::string why = given_back ? "the group took it back" : why_lost();
  tell(deps_.log, log_kind::lead_lost, "this instance owns the state no more{}{}", why.empty() ? "" : ": ",
       why);
  if (given_back || owes_answer) deps_.store.slot().unassigned();
  deps_.store.end_lead();
  if (given_back) return;
  // What the group gave is still given, but not read.
  const auto answered = owes_answer ? deps_.source.unassign() : deps_.source.assign({});
  if (!answered) tell_of_trouble(answered.error());
}

std::string standby::why_lost() {
  const auto& failure = deps_.store.slot().tries().failure();
  if (!failure || failure->attempt != deps_.store.slot().attempt()) return deps_.store.failure();
  (void)deps_.store.slot().tries().take_news();
  return text_of(describe(*failure, deps_.settings.kafka, slot_.topic)) + "; trying again in " +
         format_duration(deps_.store.slot().tries().pause());
}

void standby::end_with_client() {
  tell(deps_.log, log_kind::lead_lost,
       "this instance owns the state no more: the group went on without it; making a new client");
  deps_.store.slot().unassigned();
  deps_.store.end_lead();
}

session_result standby::store_failed(std::error_code code) const {
  std::string why = deps_.store.failure();
  if (why.empty()) why = code.message();
  return {session_end::store_lost,
          problem{code, "the log's steps cannot be written to the state: " + why, "start again", {}}};
}

void standby::tell_of_trouble(std::error_code code) {
  if (troubles_.due(deps_.clock.steady()))
    tell(deps_.log, log_kind::log_away, "the replicated log `{}`{} is not read on: {}; trying again{}",
         slot_.topic, deps_.store.slot().restored_bytes() ? ", or the topic of its bases," : "",
         code.message(), troubles_.suppressed());
}

/// The log is read without the group: what the group's client says is about the group.
void standby::tell_of_group(const notice::trouble& t) {
  if (t.access) return tell_of_refusal(*t.access, t.text, t.topic);
  if (joined_ && !is_member_) group_trouble_ = t.text;
  if (troubles_.due(deps_.clock.steady()))
    tell(deps_.log, log_kind::brokers_away, "the group `{}` does not answer: {}; trying again{}",
         deps_.settings.kafka.group, t.text, troubles_.suppressed());
}

/// The group is asked for the log's topic alone.
void standby::tell_of_refusal(access_kind kind, const std::string& text, const std::string& topic) {
  const std::array asked{slot_.topic};
  const std::string why = text_of(describe_refusal(kind, text, deps_.settings.kafka, asked, topic));
  if (joined_ && !is_member_) group_trouble_ = why;
  if (troubles_.due(deps_.clock.steady()))
    tell(deps_.log, log_kind::access_denied, "{}; trying again{}", why, troubles_.suppressed());
}

void standby::tell_of_failure() {
  const auto failure = deps_.store.slot().tries().take_news();
  if (!failure) return;
  const problem why = describe(*failure, deps_.settings.kafka, slot_.topic);
  if (passes(classify(failure->code)) && !troubles_.due(deps_.clock.steady())) return;
  tell(deps_.log, log_kind::lead_refused, "this instance cannot own the state: {}; trying again in {}{}",
       text_of(why), format_duration(deps_.store.slot().tries().pause()),
       deps_.store.slot().gives_way() ? "; until then another instance may" : "");
}

/// Neither this instance nor another one can own the state.
std::string standby::why_missing() const {
  return "the brokers do not know the topic `" + slot_.topic +
         "` of the replicated log; the state is kept -> if it was deleted, "
         "docs/operating/high-availability.md "
         "has how to begin another one: \"The log is gone\"";
}

std::string standby::why_not_ready() const {
  if (deps_.store.slot().is_missing()) return why_missing();
  if (!cannot_lead_.empty()) return "not in the group, because this instance could not own the state";
  if (deps_.namesakes != nullptr && !deps_.namesakes->why_not_ready().empty())
    return deps_.namesakes->why_not_ready();
  if (const auto restored = deps_.store.slot().restored_bytes()) {
    constexpr unsigned k_to_mib = 20;
    return "reading a copy of the state: " + std::to_string(*restored >> k_to_mib) + " MiB so far";
  }
  if (const auto& failure = deps_.store.slot().tries().failure())
    return "this instance cannot own the state: " +
           text_of(describe(*failure, deps_.settings.kafka, slot_.topic));
  if (deps_.handover != nullptr && !deps_.handover->successor().empty())
    return "waiting until `" + deps_.handover->successor() + "` owns the state";
  if (!joined_ && deps_.store.must_wait())
    return "writing a copy of the state, for the log to go on from, at step " +
           std::to_string(deps_.store.last_step());
  if (!joined_) return "reading the replicated log, at step " + std::to_string(deps_.store.last_step());
  if (is_member_) return how_far_behind();
  return "waiting for the group to let this instance in" +
         (group_trouble_.empty() ? std::string{} : ": " + group_trouble_);
}

/// It would have to read the rest before it could lead. Meanwhile nobody would own the state.
std::string standby::how_far_behind() const {
  const auto complete = deps_.store.slot().complete_at();
  if (!complete) return "";
  const auto age = std::chrono::floor<std::chrono::seconds>(deps_.clock.steady() - *complete);
  if (age < k_far_behind) return "";
  return "far behind in the replicated log: what is here may be " + format_duration(age) + " old, at step " +
         std::to_string(deps_.store.last_step());
}

void standby::show() {
  const auto restored = deps_.store.slot().restored_bytes();
  std::string why = why_not_ready();
  if (is_restoring_ && !restored)
    tell(deps_.log, log_kind::base_restored,
         "read a copy of the state as of step {}; following `{}` from there", deps_.store.last_step(),
         slot_.topic);
  is_restoring_ = restored.has_value();
  if (shown_ == why) return;
  shown_ = why;
  deps_.status.set_ready(why.empty(), why);
}

}  // namespace ratchet
