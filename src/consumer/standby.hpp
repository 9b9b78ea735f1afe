// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "consumer/lead_check.hpp"
#include "consumer/lead_handover.hpp"
#include "consumer/namesakes.hpp"
#include "consumer/replicated_store.hpp"
#include "consumer/turn_result.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// The time of an instance in which it does not own the slot: it follows the log, joins the group once it has
/// all of it, and fences when the group gives it the slot. Lives as long as its client, from when that was
/// made. Thread-safety: the owner's thread.
///
/// A member must be able to lead at once, and must not come before the owner in the group's order. So the
/// client is left for a new one (session_end::left) where a copy of the state has to be read, where the group
/// went on without it, where this instance could not lead as it is (see lead_check), and where the log has
/// another epoch than its name (see member_name()). It is also left where the brokers refused this instance's
/// attempts to lead: another one may have the right.
class standby {
 public:
  struct dependencies {
    const config& settings;
    replicated_store& store;
    ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    run_meter& meter;
    log_ptr log;
    const std::atomic<bool>* stop{nullptr};
    lead_handover* handover{nullptr};        ///< none: nobody asks for one
    lead_check* check{nullptr};              ///< none: it could always lead
    ratchet::namesakes* namesakes{nullptr};  ///< none: its name is its own
    /// What the next session answers with. It is for what is there now, so that an instance which has one
    /// must lead at once; none: it never has.
    const resume_option* answer{nullptr};
  };
  explicit standby(dependencies deps);
  ~standby();
  standby(const standby&) = delete;
  standby& operator=(const standby&) = delete;

  /// Comes back when this instance leads. Ends: drained, client_lost, left, refused, store_lost.
  [[nodiscard]] turn_result<> wait_for_lead();
  /// The session of an owner is over. `given_back`: the group took the slot back, and was answered.
  /// `owes_answer`: it took it back, and was not.
  void stand_by_again(bool given_back, bool owes_answer);
  /// The same, where the client is left.
  void end_with_client();
  /// To be called while it leads: what stood against it may be over.
  void note_lead();
  [[nodiscard]] bool has_joined() const noexcept { return joined_; }

 private:
  [[nodiscard]] turn_result<> turn();
  [[nodiscard]] turn_result<> follow();
  void hold_for_room();
  [[nodiscard]] turn_result<> look_for_namesakes();
  /// Why it must stay out of the group; empty: it may join.
  [[nodiscard]] std::string why_it_cannot_lead();
  [[nodiscard]] turn_result<> join();
  [[nodiscard]] turn_result<> on_notice(const source_notice&);
  [[nodiscard]] turn_result<> claim();
  [[nodiscard]] turn_result<> take_lead();
  [[nodiscard]] problem answers_nothing() const;
  [[nodiscard]] session_result store_failed(std::error_code) const;
  void tell_of_trouble(std::error_code);
  void tell_of_group(const notice::trouble&);
  void tell_of_refusal(access_kind, const std::string& text, const std::string& topic);
  void tell_of_failure();
  [[nodiscard]] std::string why_lost();
  [[nodiscard]] std::string why_not_ready() const;
  [[nodiscard]] std::string why_missing() const;
  [[nodiscard]] std::string how_far_behind() const;
  void show();

  dependencies deps_;
  topic_partition slot_;
  replicate::log_epoch named_at_;  ///< the epoch in the client's name
  bool joined_{false};
  bool is_member_{false};             ///< the group has answered
  std::string group_trouble_;         ///< why it may not answer, as the client said last
  std::string cannot_lead_;           ///< why, as was found last
  bool is_restoring_{false};          ///< when it was shown last
  std::optional<std::string> shown_;  ///< on the status: why it is not ready
  bool is_doubtful_{false};           ///< it leads, and what stood against it is on the status
  log_pace troubles_;
};

}  // namespace ratchet
