// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/common.h>

#include <cstdint>
#include <span>
#include <string_view>

/// Each kind of line of the log has a name for programs and a level; docs/reference/log.md lists them.
namespace ratchet {

enum class log_kind : std::uint8_t {
  // The run.
  run_started,
  run_ended,
  run_failed,
  run_aborted,
  config_warning,
  http_listening,
  waiting_for_transactions,
  // The state.
  state_mode,
  state_put_aside,
  store_reopened,
  disk_low,
  disk_has_room,
  clock_wrong,
  clock_right,
  checkpoint_taken,
  checkpoint_failed,
  // What a start finds, and changes.
  stream_started_over,
  table_added,
  topic_unread,
  topic_left,
  copy_opened,
  cluster_changed,
  sink_discarded,
  // Kafka.
  client,
  client_detail,
  client_renewed,
  brokers_away,
  brokers_back,
  access_denied,
  access_given,
  group_joining,
  group_busy,
  group_waiting,
  group_moved_on,
  resume_told,
  resume_option_unused,
  resumed,
  resumed_of_many,
  partitions_given_back,
  partitions_lost,
  partitions_elsewhere,
  partition_stopped,
  partition_held,
  partition_read_again,
  transaction_open,
  topic_unreadable,
  pause_failed,
  commit_failed,
  // The replicated log.
  standby_following,
  lead_taken,
  lead_lost,
  lead_refused,
  handover_begun,
  handover_done,
  handover_failed,
  log_away,
  base_written,
  base_put_off,
  base_ignored,
  base_restored,
  replica_differs,
  // Events.
  field_never_found,
  time_passed_over,
  time_behind,
  time_jumped,
  time_unlikely,
  event_dead,
  event_rejected,
  gap_skipped,
  aggregate_held,
  aggregate_begun,
  decided,
  audited,
  reading_paused,
  reading_resumed,
  // Messages.
  messages_in_trouble,
  messages_get_through,
  messages_unsent,
  message_given_up,
  outbox_full,
};

struct log_rule {
  log_kind which;
  std::string_view code;  ///< in snake_case; never changes
  spdlog::level::level_enum level;
  std::string_view when;
};

/// In the order of the enumeration.
[[nodiscard]] std::span<const log_rule> log_rules() noexcept;
[[nodiscard]] const log_rule& rule_of(log_kind) noexcept;

}  // namespace ratchet
