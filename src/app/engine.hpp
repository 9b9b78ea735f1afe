// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "consumer/lead_handover.hpp"
#include "consumer/member_name.hpp"
#include "consumer/replicated_store.hpp"
#include "consumer/session_loop.hpp"
#include "consumer/standby.hpp"
#include "control/checkpoint_request.hpp"
#include "control/server.hpp"
#include "pipeline/handover_desk.hpp"
#include "pipeline/mailbox.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "process/log.hpp"
#include "ratchet/app.hpp"
#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"
#include "ratchet/sinks.hpp"
#include "reports/status_report.hpp"
#include "streams/partition_task.hpp"
#include "telemetry/health_pages.hpp"
#include "telemetry/http_server.hpp"
#include "telemetry/instance_status.hpp"
#include "telemetry/run_meter.hpp"

namespace ratchet {

struct engine_options {
  log_ptr log;  ///< none: silent
  resume_option resume{resume_option::none};
  const clock_port* clock{nullptr};       ///< none: the system's
  const disk_space_port* space{nullptr};  ///< none: the system's
  ratchet::sinks sinks{};                 ///< the program's own
  /// Makes the client of each session; none: Kafka's, or what stands for it where no stream has topics.
  std::function<reported<std::unique_ptr<source>>()> make_source{};
  decider resumed_by{};    ///< who said `resume`, and why
  bool replicates{false};  ///< may follow a replicated log, and own its state
  /// Makes the log of a config with `replicate`, and the one of its bases; none: Kafka's.
  std::function<reported<std::unique_ptr<slot_log>>(const std::string& topic)> make_log{};
  std::launch bases_on{std::launch::async};  ///< as base_keeper has it
};

/// What is stored of an aggregate.
struct stored_aggregate {
  ratchet::sequence sequence;
  std::optional<event_id> id;
  std::optional<timestamp> time;
  std::optional<std::string> value;  ///< none: deleted
};

/// What stands against a config with `replicate` here. Pure.
[[nodiscard]] std::optional<problem> refusal_of_replicate(const config&, const engine_options&);

/// An open state directory with its streams: what `run`, `apply` and the public app share. One owner thread;
/// read() of the store's views is thread-safe.
class engine {
 public:
  /// Opens (or makes) the state directory and reads the streams' states.
  /// Errors: config_invalid; state_busy, state_foreign, state_newer_schema, state_damaged; io.
  [[nodiscard]] static reported<std::unique_ptr<engine>> open(config, const reducers&, engine_options);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  engine(engine&&) = delete;
  engine& operator=(engine&&) = delete;

  /// Consumes from Kafka until `stop` is set, or with `until_end` until every partition has reached the end
  /// it had. Starts a new client where the old one cannot go on, and opens the store again where a write
  /// failed. May be called again behind its end. Errors: partition_stopped (only at the end of `until_end` or
  /// a drain); what a start can be refused for.
  [[nodiscard]] std::optional<problem> run(bool until_end, const std::atomic<bool>& stop);

  /// What the next session's first assignment is answered by, in place of what was said before. Not while
  /// run() lasts.
  void answer(resume_option, decider);
  /// What somebody must decide: of the partitions that are stopped for it, and what the last run() was
  /// refused for. Any thread.
  [[nodiscard]] std::vector<question> questions() const;

  /// What is stored of an aggregate. Any thread. Errors: not_found; state_damaged.
  [[nodiscard]] result<stored_aggregate> read(std::string_view stream, std::string_view aggregate) const;

  /// As app::read() and app::scan(). Any thread.
  [[nodiscard]] result<std::string> read(const table_key&) const;
  [[nodiscard]] result<table_page> scan(const table_range&) const;
  /// Changes an aggregate and publishes, while run() lasts on another thread. Any thread. See
  /// app::transact().
  [[nodiscard]] reported<transacted> transact(std::string_view stream, std::string_view aggregate,
                                              std::string_view key, const transaction_function&,
                                              const transact_options&);

  [[nodiscard]] stream_list& streams() noexcept { return streams_; }
  /// One for each of these, in their order.
  [[nodiscard]] task_list& tasks() noexcept { return tasks_; }
  [[nodiscard]] store& state() noexcept { return *store_; }
  [[nodiscard]] const config& settings() const noexcept { return config_; }
  [[nodiscard]] const clock_port& clock() const noexcept { return *options_.clock; }
  [[nodiscard]] const disk_space_port* space() const noexcept { return options_.space; }
  [[nodiscard]] instance_status& status() noexcept { return status_; }
  [[nodiscard]] const run_meter& meter() const noexcept { return meter_; }
  [[nodiscard]] const log_ptr& log() const noexcept { return options_.log; }

  /// Lets get, scan, status, explain and checkpoint ask this process. Errors: state_busy; io.
  [[nodiscard]] reported<void> serve();
  /// To be called before the first step of a start that nothing stands against any more: writes what it is to
  /// be told of, and throws away what the config says. Until then no row of the state has changed. Does
  /// nothing the second time. Errors: of the store.
  [[nodiscard]] std::optional<problem> accept_start();
  /// Does what others ask of the owner of the store; to be called between steps by whoever drives them.
  void serve_others(pipeline& way) { inbox_.tasks.run_next({*store_, way}); }
  /// When the records of the last session of run() flowed.
  [[nodiscard]] const flow_times& times() const noexcept { return times_; }
  /// What this run did so far, stream by stream.
  [[nodiscard]] std::vector<stream_report> reports() const;

 private:
  engine(config, stream_list, engine_options);

  void add_gaps(std::vector<stream_report>&) const;
  [[nodiscard]] std::optional<problem> open_store();
  /// The same; where the state cannot be opened for what is in it, and `rebuild` was said, a new one.
  [[nodiscard]] std::optional<problem> open_or_rebuild();
  [[nodiscard]] std::optional<problem> try_to_open_store();
  [[nodiscard]] std::optional<problem> read_opened_store();
  void tell_of_mode(const std::string& before);
  /// Answers /livez, /readyz and /metrics, where the config says so. Errors: io.
  [[nodiscard]] std::optional<problem> serve_http();
  /// A checkpoint that is opened for the first time gets an outbox epoch of its own.
  void note_first_opening(step_batch&);
  /// Tables that are new to a stream begin empty, which is noted.
  void note_added_tables(step_batch&) const;
  void note_restarted_streams(step_batch&) const;
  void note_rebuild(step_batch&) const;
  void tell_unread_topics() const;
  /// The same callbacks, of which is_called_by_sink() knows.
  [[nodiscard]] ratchet::sinks note_callers(const ratchet::sinks& own) const;
  /// On the thread of a callback, while it lasts.
  [[nodiscard]] bool is_called_by_sink() const noexcept;
  void close_store();
  [[nodiscard]] at_owner as_owner();
  void stop_serving();
  [[nodiscard]] std::optional<problem> reopen_store(const problem& why);
  /// Moves the state directory to `<path>.old-<time>`; nothing is deleted. `why`: what the new one answers.
  [[nodiscard]] std::optional<problem> move_aside(const std::string& why);
  /// Where no start was accepted in its place, the directory that was moved aside comes back.
  void put_back();
  [[nodiscard]] std::optional<problem> rebuild(const std::string& why);
  [[nodiscard]] std::vector<std::string> held_by_no_topic() const;
  [[nodiscard]] std::optional<problem> refusal_of_rebuild() const;
  struct session_end_of {
    session_result ended;
    bool was_assigned{false};
  };
  /// What takes the outbox's messages to Kafka; null where there is nothing to send.
  [[nodiscard]] reported<std::unique_ptr<publisher>> make_outlet() const;
  /// The client of one session, or what stands for it where nothing is read.
  [[nodiscard]] reported<std::unique_ptr<source>> make_source();
  /// Whoever takes in that this instance leaves the group answers now. Waits for less than half a second.
  [[nodiscard]] bool coordinator_answers(source&) const;
  /// run() but for what it leaves to be asked.
  [[nodiscard]] std::optional<problem> run_once(bool until_end, const std::atomic<bool>& stop);
  /// The same, with whoever asks being answered meanwhile.
  [[nodiscard]] std::optional<problem> run_and_answer(bool until_end, const std::atomic<bool>& stop);
  /// The same, while transactions are taken.
  [[nodiscard]] std::optional<problem> run_sessions(bool until_end, const std::atomic<bool>& stop);
  [[nodiscard]] session_end_of one_session(source& from, bool until_end, const std::atomic<bool>& stop);
  /// The same, with a client of its own.
  [[nodiscard]] session_end_of one_session(bool until_end, const std::atomic<bool>& stop);

  // Where the config has `replicate`.
  [[nodiscard]] reported<std::unique_ptr<store>> make_replicated(std::unique_ptr<store> opened);
  [[nodiscard]] kafka_config settings_of_member();
  /// What a start would be refused for with the state that is here by now.
  [[nodiscard]] std::optional<problem> refusal_of_lead() const;
  /// run_sessions() of such an instance.
  [[nodiscard]] std::optional<problem> run_replicated(bool until_end, const std::atomic<bool>& stop);
  /// Follows the log, and has a session each time that it leads, as long as its client lives.
  [[nodiscard]] session_result follow_and_lead(standby&, lead_check&, source& group, bool until_end,
                                               const std::atomic<bool>& stop);
  [[nodiscard]] bool is_handed_over(const session_result&, const std::atomic<bool>& stop);
  /// Nobody waits for a step while `leave` is called.
  void leave_lead(const std::function<void()>& leave);
  void forget_lead();
  [[nodiscard]] std::optional<problem> refusal_of_log_topics(const std::atomic<bool>& stop);
  [[nodiscard]] std::optional<problem> refusal_of_log_topic(const std::string& topic,
                                                            const std::atomic<bool>& stop);
  /// Asked once, before this instance is in anybody's way: an owner waits for a topic that is gone later.
  [[nodiscard]] std::optional<problem> refusal_of_topics(source&, const std::atomic<bool>& stop);
  [[nodiscard]] std::optional<problem> stopped_partitions() const;

  config config_;
  stream_list streams_;
  task_list tasks_;
  engine_options options_;
  std::shared_ptr<client_log> client_log_;
  log_pace outages_;
  log_pace lost_clients_;
  log_pace lost_stores_;
  std::uint64_t handled_at_opening_{0};  ///< handled_in() of the store, as it was opened last
  instance_status status_;
  run_meter meter_;
  health_pages pages_;
  mutable std::shared_mutex store_mutex_;  ///< held by readers, and while the store is opened again
  std::unique_ptr<store> store_;
  replicated_store* replicated_{nullptr};  ///< the same, where the config has `replicate`
  mailbox inbox_;
  handover_desk desk_;
  lead_handover handover_;
  member_names names_;  ///< where the config has `replicate`
  checkpoint_taker checkpoints_;
  std::unique_ptr<control_server> control_;  ///< reads the store: goes before it
  flow_times times_;
  session_loop loop_;
  mutable std::mutex questions_mutex_;
  std::vector<question> refused_for_;  ///< by the last run(); guarded by questions_mutex_
  std::string replaced_uuid_;          ///< of the store that a rebuild has put aside
  struct put_aside {
    std::filesystem::path path;
    std::string why;
  };
  std::optional<put_aside> put_aside_;  ///< by this start, which was not accepted yet
  bool has_rebuilt_{false};             ///< what is to be answered by `rebuild` is
  std::unique_ptr<http_server> http_;   ///< while run() lasts; last: it answers from the status and the meter
};

}  // namespace ratchet
