// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "consumer/access.hpp"
#include "consumer/assignment.hpp"
#include "consumer/broker_contact.hpp"
#include "consumer/cluster_questions.hpp"
#include "consumer/delivered_trace.hpp"
#include "consumer/durability.hpp"
#include "consumer/end_goals.hpp"
#include "consumer/fetch_troubles.hpp"
#include "consumer/flow_control.hpp"
#include "consumer/group_ownership.hpp"
#include "consumer/offset_commits.hpp"
#include "consumer/open_transactions.hpp"
#include "consumer/outbox_delivery.hpp"
#include "consumer/owner_requests.hpp"
#include "consumer/partition_ends.hpp"
#include "consumer/partition_set.hpp"
#include "consumer/session_reporter.hpp"
#include "consumer/turn_result.hpp"
#include "pipeline/decode_worker.hpp"
#include "pipeline/mailbox.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/clock.hpp"
#include "ports/publisher.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

/// When a run's records flowed: from the first one handed over to the last step durable.
struct flow_times {
  std::optional<std::chrono::steady_clock::time_point> assigned;  ///< when the group first told it to read
  std::optional<std::chrono::steady_clock::time_point> first_record;
  std::optional<std::chrono::steady_clock::time_point> first_step;  ///< when its first step was written
  std::optional<std::chrono::steady_clock::time_point> all_durable;
};

struct session_options {
  bool until_end{false};
  resume_wish resume;                       ///< holds for the first assignment
  const std::atomic<bool>* stop{nullptr};   ///< set by others; looked at between steps
  const std::atomic<bool>* leave{nullptr};  ///< the same; another instance is to go on at once
  std::uint64_t random{0};                  ///< for the incarnation
  decode_on decoding{decode_on::own_thread};
};

/// One life of a Kafka client in front of one open store: joins, resolves where to resume, claims, and takes
/// batch after batch through the pipeline until it is told to stop or something ends it. Rebalances, commits
/// and timers act between steps, on the one thread that calls run(); the next batch is fetched and decoded
/// while this one is written.
class consumer_session {
 public:
  struct dependencies {
    const config& settings;
    const stream_list& streams;
    task_list& tasks;  ///< of the streams, one each
    ratchet::store& store;
    ratchet::source& source;
    const clock_port& clock;
    instance_status& status;
    run_meter& meter;
    log_ptr log;
    mailbox* inbox{nullptr};                ///< what others want done between steps; may be none
    const disk_space_port* space{nullptr};  ///< none: the system's
    publisher* publish_to{nullptr};         ///< none: what the outbox holds stays there
    std::vector<sink_outlet> sinks{};       ///< those of the config
    /// Called when nothing stands against the start any more, before its first step; may be none.
    std::function<std::optional<problem>()> accept{};
  };

  consumer_session(dependencies, session_options);
  ~consumer_session();
  consumer_session(const consumer_session&) = delete;
  consumer_session& operator=(const consumer_session&) = delete;
  [[nodiscard]] session_result run();
  [[nodiscard]] const flow_times& times() const noexcept { return times_; }
  /// True once an assignment was resolved and claimed: `options.resume` has done its work.
  [[nodiscard]] bool was_assigned() const noexcept { return ownership_.has_taken(); }

 private:
  using time_point = std::chrono::steady_clock::time_point;

  // Before the loop.
  [[nodiscard]] turn_result<> connect();
  /// The partitions of the topics that are read. All topics, also those that are written to, must be there.
  [[nodiscard]] turn_result<std::vector<topic_partition>> find_partitions();
  /// The same for an owner of a replicated state, which goes on without topics that are gone.
  [[nodiscard]] turn_result<std::vector<topic_partition>> await_partitions();
  [[nodiscard]] turn_result<> hear_while_waiting();
  [[nodiscard]] turn_result<> send_while_waiting();
  void tell_of_gone_topics();
  void note_found_topics();
  [[nodiscard]] turn_result<> accept_start();

  /// Where no stream has topics: nothing is joined, claimed or read.
  [[nodiscard]] turn_result<> start_alone();

  // The loop.
  [[nodiscard]] turn_result<> turn();
  [[nodiscard]] turn_result<> handle(decoded_input&);
  /// How long the source may be waited for.
  [[nodiscard]] std::chrono::milliseconds longest_wait() const;
  /// Tries again what is due, and skips the gaps that are too old.
  [[nodiscard]] turn_result<> resume_waiting();
  [[nodiscard]] bool may_resume_waiting() const;
  /// Handles what is still being decoded, so that nothing is between the source and the store.
  [[nodiscard]] turn_result<> drain();
  /// Does that, and ends the session where records were left: nothing behind them may be done.
  [[nodiscard]] turn_result<> drain_to_go_on();
  [[nodiscard]] turn_result<> end_where_records_were_left();
  [[nodiscard]] turn_result<> on_timers();
  [[nodiscard]] turn_result<> leave_out_idle(time_point now);
  /// What is given to this instance and not read may have more to read: it holds the window's floor back.
  [[nodiscard]] turn_result<> count_unread();
  /// While the group gives it a part of the partitions.
  [[nodiscard]] turn_result<> look_for_others(time_point now);
  /// What is about to be read again, behind a pause say, may have more to read by now: it counts until it
  /// says its end anew.
  [[nodiscard]] turn_result<> count_again(std::span<const topic_partition>);
  [[nodiscard]] turn_result<> count_all_again();
  void expect_end_anew(const topic_partition&);
  void expect_ends_anew();
  /// Pauses what flow control holds, and reads on behind a pause.
  [[nodiscard]] turn_result<> keep_flow(time_point now);
  [[nodiscard]] turn_result<> pause_and_go_on(std::span<const topic_partition> held,
                                              std::span<const topic_partition> going_on);
  [[nodiscard]] turn_result<> meet_full_disk(time_point now);

  [[nodiscard]] session_result finish(session_end);
  [[nodiscard]] session_result store_failed(std::error_code) const;
  /// What was asked of the store, or of a step, as a part of a turn.
  [[nodiscard]] turn_result<> stored(const result<void>& done) const {
    if (!done) return store_failed(done.error());
    return go_on();
  }
  [[nodiscard]] bool stop_requested() const;
  [[nodiscard]] bool caught_up() const;
  void tell_log_ends(time_point now);
  void note_moves();
  void note_new_stops();
  /// Says what the wait for an assignment may be, once it lasts.
  void tell_of_waiting(time_point now);
  /// Logs a stop, as live_partition::stopped has it.
  void tell_of_stop(const topic_partition&, const std::string& stopped, log_facts = {});

  // Notices.
  [[nodiscard]] turn_result<> on_notice(const source_notice&);
  [[nodiscard]] turn_result<> on_assigned(const notice::assigned&);
  /// Decides where to resume these, and reads them. `more`: beside what is read already.
  [[nodiscard]] turn_result<> take_up(std::span<const topic_partition>, bool more);
  [[nodiscard]] turn_result<> start_reading(resolved_assignment, bool more);
  [[nodiscard]] std::vector<topic_partition> not_at_their_end(const resolved_assignment&) const;
  [[nodiscard]] turn_result<> hold_all(const resolved_assignment&, std::span<const topic_partition>,
                                       bool more);
  void forget_assignment();
  void tell_resumed(const resolved_assignment&, bool first);
  [[nodiscard]] std::vector<position> positions_to_read() const;
  [[nodiscard]] turn_result<> on_revoked(const notice::revoked&);
  [[nodiscard]] turn_result<> on_end_of_partition(const notice::end_of_partition&);
  [[nodiscard]] turn_result<> on_out_of_range(const notice::out_of_range&);
  void on_topic_gone(const notice::topic_gone&);
  [[nodiscard]] turn_result<> on_unreadable(const notice::unreadable&);
  /// Has everything fetched anew from where the state is.
  [[nodiscard]] turn_result<> read_again();
  void on_bounds_told(const notice::bounds_told&);

  // What is read up to an open transaction.
  /// Its log is known to have more than was read, whatever end it was told.
  [[nodiscard]] bool goes_on(const topic_partition&) const;
  /// It is read to the end that it was told, of a log that goes on.
  [[nodiscard]] bool stands_still(const topic_partition&, time_point now) const;
  void look_what_stands_still(time_point now);
  void forget_transactions();
  void note_open_transaction(const notice::bounds_told&);
  /// Says so, and has them hold the window's floor back; `until_end` gives them up in the end.
  [[nodiscard]] turn_result<> look_at_transactions(time_point now);
  void tell_of_transaction(const topic_partition&, open_transaction&, time_point now);

  // What is held and not read.
  /// It is asked about until its brokers answer; nothing else waits for that.
  void hold(const topic_partition&, const std::string& why);
  void tell_of_held();
  /// Stops those whose brokers have not answered for so long: nobody waits for them any more.
  void give_up_held(time_point now);
  /// Reads those that the brokers have answered for.
  [[nodiscard]] turn_result<> take_up_held(time_point now);
  /// False: no fetch tells the end of its log.
  [[nodiscard]] bool is_fetched(const topic_partition&) const;
  void ask_brokers(time_point now);
  void on_dead_partition(const topic_partition&, const std::string& text, const result<resolved_assignment>&);
  /// Shows what somebody must decide about the partitions that were stopped.
  void ask(const resolved_assignment&) const;
  void show_assignment();
  void tell_what_is_held(const std::set<topic_partition>&);
  void stop_partition(const topic_partition&, const std::string& why);
  /// As a step stops one: the pipeline takes no more of it.
  void stop_outside_a_step(const topic_partition&, std::error_code, std::int64_t offset,
                           const std::string& why);
  /// No more of it is fetched; where that fails the log says so.
  void pause(const topic_partition&);
  [[nodiscard]] std::string_view stream_name(const topic_partition&) const;

  dependencies deps_;
  session_options options_;
  std::vector<std::string> topics_;
  partition_set partitions_;
  pipeline pipeline_;
  outbox_delivery delivery_;
  flow_control flow_;
  durability durability_;
  offset_commits commits_;
  broker_contact brokers_;
  owner_requests requests_;
  session_reporter reporter_;
  cluster_questions questions_;
  group_ownership ownership_;
  std::vector<std::string> told_to_do_;   ///< with stops; each is said once
  std::set<stream_id> paused_streams_;    ///< as flow control said last
  std::vector<std::string> gone_topics_;  ///< of `topics_`
  partition_ends ends_;
  open_transactions transactions_;
  std::vector<topic_partition> stand_still_;  ///< the brokers are to be asked why
  end_goals goals_;                           ///< until_end
  fetch_troubles troubles_;
  std::optional<time_point> unassigned_since_;
  std::optional<time_point> told_of_waiting_;  ///< since when it has waited then
  time_point assigned_at_;                     ///< last
  durable_signal::subscription durable_moves_;
  time_point last_idle_check_;
  std::optional<time_point> last_log_ends_;
  log_pace held_lines_;
  log_pace transaction_lines_;
  log_pace topic_troubles_;
  bool sends_unclaimed_{false};  ///< there was no topic to claim
  flow_times times_;
  delivered_trace trace_;
  decode_worker worker_;  // last: its batches borrow from the source, and it stops first
};

}  // namespace ratchet
