// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "consumer/access.hpp"
#include "consumer/assignment.hpp"
#include "consumer/clock_watch.hpp"
#include "consumer/committer.hpp"
#include "consumer/delivered_trace.hpp"
#include "consumer/space_guard.hpp"
#include "consumer/transaction_queue.hpp"
#include "outbox/outbox_sender.hpp"
#include "outbox/sink_sender.hpp"
#include "pipeline/decode_worker.hpp"
#include "pipeline/owner_errands.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/step_lines.hpp"
#include "ports/clock.hpp"
#include "ports/publisher.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "telemetry/live_board.hpp"
#include "telemetry/run_meter.hpp"
#include "telemetry/state_sampler.hpp"

namespace ratchet {

/// How a session ended, and so what comes next.
enum class session_end : std::uint8_t {
  drained,      ///< told to stop; all that was handled is durable and committed
  caught_up,    ///< `until_end`: every partition reached the end it had
  client_lost,  ///< make a new client and go on from the store
  store_lost,   ///< a write failed: open the store again and read the truth
  rebuild,      ///< `--resume rebuild` applies: put the directory aside and start over
  refused,      ///< `why` says what stands against it
};

struct session_result {
  session_end end{session_end::drained};
  std::optional<problem> why;
};

/// When a run's records flowed: from the first one handed over to the last step durable.
struct flow_times {
  std::optional<std::chrono::steady_clock::time_point> assigned;  ///< when the group first told it to read
  std::optional<std::chrono::steady_clock::time_point> first_record;
  std::optional<std::chrono::steady_clock::time_point> first_step;  ///< when its first step was written
  std::optional<std::chrono::steady_clock::time_point> all_durable;
};

struct session_options {
  bool until_end{false};
  resume_wish resume;                      ///< holds for the first assignment
  const std::atomic<bool>* stop{nullptr};  ///< set by others; looked at between steps
  std::uint64_t random{0};                 ///< for the incarnation
  decode_on decoding{decode_on::own_thread};
};

/// One life of a Kafka client in front of one open store: joins, resolves where to resume, claims, and takes
/// batch after batch through the pipeline until it is told to stop or something ends it. Rebalances, commits
/// and timers act between steps, on the one thread that calls run(); the next batch is fetched and decoded
/// while this one is written.
class consumer_session {
 public:
  struct surroundings {
    const config& settings;
    stream_list& streams;
    store& to;
    source& from;
    const clock_port& clock;
    live_board& board;
    run_meter& meter;
    log_ptr log;
    owner_errands* errands{nullptr};           ///< what others want done between steps; may be none
    const disk_space_port* space{nullptr};     ///< none: the system's
    publisher* publish_to{nullptr};            ///< none: what the outbox holds stays there
    transaction_queue* transactions{nullptr};  ///< what other threads want done; may be none
    std::vector<sink_outlet> sinks{};          ///< those of the config
    /// Called when nothing stands against the start any more, before its first step; may be none.
    std::function<std::optional<problem>()> accept{};
  };

  consumer_session(surroundings, session_options);
  ~consumer_session();
  consumer_session(const consumer_session&) = delete;
  consumer_session& operator=(const consumer_session&) = delete;
  [[nodiscard]] session_result run();
  [[nodiscard]] const flow_times& times() const noexcept { return times_; }
  /// True once an assignment was resolved and claimed: `options.resume` has done its work.
  [[nodiscard]] bool was_assigned() const noexcept { return assigned_once_; }

 private:
  using time_point = std::chrono::steady_clock::time_point;

  // Before the loop.
  [[nodiscard]] std::optional<session_result> connect();
  [[nodiscard]] std::optional<session_result> check_cluster();
  [[nodiscard]] std::optional<session_result> accept_start();
  [[nodiscard]] std::optional<session_result> check_group();
  [[nodiscard]] std::optional<session_result> wait_until_alone(const committed_offset& overridden);
  [[nodiscard]] session_result topics_failed(std::error_code, const std::vector<std::string>& topics,
                                             topic_use);
  /// A question found no answer: refused where the brokers refuse this user; a new client asks again where
  /// that may pass; else it ends as said.
  [[nodiscard]] session_result question_failed(const std::string& what, std::error_code,
                                               session_end otherwise);
  [[nodiscard]] std::optional<session_result> draw(std::uint64_t past_counter);

  /// Where no stream has topics: nothing is joined, claimed or read.
  [[nodiscard]] std::optional<session_result> start_alone();

  // The loop.
  [[nodiscard]] std::optional<session_result> turn();
  [[nodiscard]] std::optional<session_result> handle(decoded_input&);
  /// How long the source may be waited for.
  [[nodiscard]] std::chrono::milliseconds longest_wait() const;
  /// Tries again what is due, and skips the gaps that are too old.
  [[nodiscard]] std::optional<session_result> resume_waiting();
  [[nodiscard]] bool may_resume_waiting() const;
  /// Handles what is still being decoded, so that nothing is between the source and the store.
  [[nodiscard]] std::optional<session_result> settle();
  /// Does that, and ends the session where records were left: nothing behind them may be done.
  [[nodiscard]] std::optional<session_result> settle_to_go_on();
  [[nodiscard]] std::optional<session_result> end_where_records_were_left();
  [[nodiscard]] std::optional<session_result> on_timers();
  [[nodiscard]] std::optional<session_result> leave_out_idle(time_point now);
  /// What is given to this instance and not read may have more to read: it holds the window's floor back.
  [[nodiscard]] std::optional<session_result> count_unread();
  /// What is about to be read again, behind a pause say, may have more to read by now: it counts until it
  /// says its end anew.
  [[nodiscard]] std::optional<session_result> count_again(std::span<const topic_partition>);
  [[nodiscard]] std::optional<session_result> count_all_again();
  void expect_end_anew(const topic_partition&);
  void expect_ends_anew();
  [[nodiscard]] std::optional<session_result> keep_durable(time_point now);
  /// Stops reading while the disk is nearly full, and goes on when it no longer is.
  [[nodiscard]] std::optional<session_result> watch_space(time_point now);
  [[nodiscard]] std::optional<session_result> tell_of_space(time_point now);
  [[nodiscard]] std::optional<session_result> read_on();
  /// Nothing is read while the disk is nearly full, or the outbox.
  [[nodiscard]] bool held_back() const noexcept { return space_.low() || outbox_full_; }

  // What other threads want done.
  void listen_for_transactions();
  [[nodiscard]] std::optional<session_result> transact();

  // What the outbox holds.
  [[nodiscard]] std::optional<session_result> check_output_topics();
  [[nodiscard]] std::optional<session_result> publish(time_point now);
  [[nodiscard]] std::optional<session_result> let_sender_catch_up();
  [[nodiscard]] std::optional<session_result> publish_to_topics(const outbox_state&, time_point now);
  [[nodiscard]] std::optional<session_result> trim_outbox();
  [[nodiscard]] std::optional<session_result> send_the_rest();
  void look_at_outbox();

  // The same of the sinks.
  void open_sinks();
  [[nodiscard]] std::optional<session_result> publish_to_sinks(const outbox_lanes&, time_point now);
  [[nodiscard]] std::optional<session_result> trim_sinks();
  [[nodiscard]] bool sinks_are_settled() const;
  [[nodiscard]] std::uint64_t sent_to_sinks() const;
  void tell_of_unsent_for_sinks() const;
  /// Finds out, and says, for which sinks too much waits.
  void look_at_sinks();
  /// As look_at_sinks(), of streams whose deferred events are too many.
  void look_at_deferred();
  [[nodiscard]] std::set<stream_id> streams_to_hold() const;
  /// Pauses the streams that publish to such a sink or defer that much, and no others.
  [[nodiscard]] std::optional<session_result> hold_streams();
  [[nodiscard]] std::string stream_name_of(stream_id) const;
  void commit_due(time_point now);
  [[nodiscard]] session_result finish(session_end);
  [[nodiscard]] session_result store_failed(std::error_code) const;
  [[nodiscard]] bool stop_requested() const;
  [[nodiscard]] bool caught_up() const;
  /// How long the group may keep partitions for a member that is no more.
  [[nodiscard]] std::chrono::milliseconds longest_absence() const;
  void tell_health(time_point now);
  void tell_log_ends();
  /// Topics that brokers may not have heard of yet are asked for again.
  [[nodiscard]] result<std::vector<topic_partition>> look_up(std::span<const std::string> topics);
  void tell_resources();
  [[nodiscard]] std::optional<session_result> serve_others();
  void note_moves();
  void note_new_stops();
  /// Says what the wait for an assignment may be, once it lasts.
  void tell_of_waiting(time_point now);
  /// Logs a stop, as live_partition::stopped has it.
  void tell_of_stop(const topic_partition&, const std::string& stopped, log_facts = {});

  // Notices.
  [[nodiscard]] std::optional<session_result> on_notice(const source_notice&);
  [[nodiscard]] std::optional<session_result> on_assigned(const notice::assigned&);
  /// Decides where to resume these, and reads them. `more`: beside what is read already.
  [[nodiscard]] std::optional<session_result> take_up(std::span<const topic_partition>, bool more);
  [[nodiscard]] std::optional<session_result> start_reading(resolved_assignment, bool more);
  [[nodiscard]] std::vector<topic_partition> not_at_their_end(const resolved_assignment&) const;
  [[nodiscard]] std::optional<session_result> hold_all(const resolved_assignment&,
                                                       std::span<const topic_partition>, bool more);
  void forget_assignment();
  void tell_resumed(const resolved_assignment&, bool first);
  [[nodiscard]] std::vector<position> positions_to_read() const;
  /// Another copy of this directory has just claimed what this instance did not get.
  [[nodiscard]] std::optional<session_result> meets_a_copy(std::size_t claimed, bool first);
  /// What an assignment changes of the store as a whole; adds its audit rows.
  [[nodiscard]] store_change change_of_store(resolved_assignment&) const;
  [[nodiscard]] result<std::optional<problem>> must_leave(const std::vector<topic_partition>&);
  [[nodiscard]] session_result questions_failed(std::error_code);
  [[nodiscard]] std::optional<session_result> claim_failed(std::error_code);
  void tell_of_option(const resolved_assignment&) const;
  [[nodiscard]] std::optional<session_result> on_revoked(const notice::revoked&);
  [[nodiscard]] std::optional<session_result> on_end_of_partition(const notice::end_of_partition&);
  [[nodiscard]] std::optional<session_result> on_out_of_range(const notice::out_of_range&);
  void on_topic_gone(const notice::topic_gone&);
  void on_unreadable(const notice::unreadable&);
  void on_bounds_told(const notice::bounds_told&);
  void note_trouble(const notice::trouble&);
  /// Brokers answer.
  void note_answer();

  // What is held and not read.
  /// It is asked about until its brokers answer; nothing else waits for that.
  void hold(const topic_partition&, const std::string& why);
  void tell_of_held();
  /// Reads those that the brokers have answered for.
  [[nodiscard]] std::optional<session_result> take_up_held(time_point now);
  /// What the operator said answers for the directory as a whole, so that all partitions are looked at first.
  [[nodiscard]] bool needs_all_answers() const;
  /// False: no fetch tells the end of its log.
  [[nodiscard]] bool is_fetched(const topic_partition&) const;
  void ask_brokers(time_point now);
  /// One more each time, to see whether brokers answer; none where there is none.
  [[nodiscard]] std::optional<topic_partition> next_to_ask();
  void tell_of_silence(time_point now);
  void on_dead_partition(const topic_partition&, const std::string& text, const result<resolved_assignment>&);
  /// Shows what somebody must decide about the partitions that were stopped.
  void ask(const resolved_assignment&) const;
  void on_commit_done(const notice::commit_done&);
  /// The brokers refuse this user since it reads: not ready until a commit is taken again.
  void note_denied(access_kind, const std::string& text);
  void note_allowed();
  /// Says what is wrong with the clock, and when that is over.
  void watch_clock();
  void show_assignment();
  void tell_what_is_held(const std::set<topic_partition>&);
  void stop_partition(const topic_partition&, const std::string& why);
  /// As a step stops one: the pipeline takes no more of it.
  void stop_outside_a_step(const topic_partition&, std::error_code, std::int64_t offset,
                           const std::string& why);
  /// No more of it is fetched; where that fails the log says so.
  void pause(const topic_partition&);
  [[nodiscard]] std::string_view stream_name(const topic_partition&) const;

  surroundings around_;
  session_options options_;
  pipeline pipeline_;
  state_sampler sampler_;
  space_guard space_;
  log_pace space_lines_;
  step_lines lines_;
  std::vector<std::string> told_to_do_;  ///< with stops; each is said once
  std::optional<committer> committer_;
  std::optional<outbox_sender> sender_;
  std::optional<std::string> told_trouble_;  ///< of the sender, as the board has it
  static constexpr const char* k_full_obstacle = "outbox";
  bool outbox_full_{false};
  std::list<sink_sender> sinks_;
  std::vector<named_refusals> refusals_;         ///< of sender_ and sinks_
  std::map<std::string, live_sink> told_sinks_;  ///< as the board has them
  std::set<std::string> full_sinks_;
  std::set<stream_id> full_streams_;  ///< of deferred events
  std::set<stream_id> held_streams_;
  std::vector<std::string> topics_;
  std::vector<topic_partition> all_partitions_;
  std::map<topic_partition, std::int64_t> assigned_;      ///< with the next offset as last noted
  std::map<topic_partition, std::int64_t> end_at_start_;  ///< until_end: what has to be reached
  std::set<topic_partition> reached_;
  struct at_end {
    std::int64_t next_offset;
    time_point since;
    bool since_before;  ///< it was left out of the floor there, and nothing came since
  };
  std::map<topic_partition, at_end> at_end_;
  std::map<topic_partition, std::int64_t> left_out_at_;  ///< what counts again until it says its end anew
  std::set<topic_partition> reported_stops_;
  struct held_partition {
    std::string why;
    time_point since;
    bool answered{false};  ///< the brokers have, since it was looked at last
  };
  std::map<topic_partition, held_partition> held_;      ///< given by the group, and not read
  std::map<topic_partition, std::int64_t> asked_ends_;  ///< of logs, as brokers said when asked
  std::optional<time_point> last_asked_;
  std::optional<topic_partition> asked_last_;   ///< only to see whether brokers answer
  std::optional<time_point> last_answer_;       ///< of any broker
  std::optional<time_point> unanswered_since_;  ///< when the first question since the last answer was asked
  std::set<topic_partition> open_questions_;    ///< of the round under way; no other one begins meanwhile,
  time_point round_ends_{};                     ///< but behind this
  bool are_away_{true};                         ///< no broker answers, or nothing is known of that yet
  std::map<topic_partition, std::int64_t> read_again_;  ///< after out of range: at which offset, last
  struct unreadable_batch {
    std::int64_t next_offset{0};  ///< of the partition
    int times{0};                 ///< that it was told of
  };
  std::map<topic_partition, unreadable_batch> unreadable_;
  bool assigned_once_{false};
  std::optional<time_point> unassigned_since_;
  std::optional<time_point> told_of_waiting_;  ///< since when it has waited then
  time_point assigned_at_;                     ///< last
  durable_signal::subscription durable_moves_;
  time_point last_sync_;
  time_point durable_moved_;
  std::uint64_t durable_seen_{0};
  bool in_trouble_{false};  ///< a trouble was logged, and no record came since
  time_point last_commit_;
  time_point last_trim_;
  time_point last_idle_check_;
  std::optional<time_point> last_log_ends_;
  std::optional<time_point> last_resources_;
  clock_watch clock_watch_;
  std::optional<time_point> clock_was_wrong_;  ///< last, of what is not over yet
  std::optional<std::string> denied_;          ///< why the brokers refuse this user, while they do
  log_pace denials_;
  log_pace troubles_;
  log_pace held_lines_;
  log_pace commit_failures_;
  log_pace topic_troubles_;
  log_pace given_up_;
  flow_times times_;
  delivered_trace trace_;
  decode_worker worker_;  // last: its batches borrow from the source, and it stops first
};

}  // namespace ratchet
