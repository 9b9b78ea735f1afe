// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/log_lines.hpp"

#include <array>
#include <cstddef>

namespace ratchet {

namespace {

constexpr auto k_debug = spdlog::level::debug;
constexpr auto k_info = spdlog::level::info;
constexpr auto k_warn = spdlog::level::warn;
constexpr auto k_error = spdlog::level::err;

constexpr std::array k_rules{
    log_rule{log_kind::run_started, "run_started", k_info,
             "a run begins: version, config, state directory, identity and step of the store"},
    log_rule{log_kind::run_ended, "run_ended", k_info,
             "a run has ended: up to which step and offsets it is durable"},
    log_rule{log_kind::run_failed, "run_failed", k_error,
             "why the command ends (of a JSON log; else plain text)"},
    log_rule{log_kind::run_aborted, "run_aborted", k_error, "a second signal has ended the process"},
    log_rule{log_kind::config_warning, "config_warning", k_warn,
             "the config is valid, but a part of it looks wrong"},
    log_rule{log_kind::http_listening, "http_listening", k_info, "where health pages and metrics are served"},
    log_rule{log_kind::waiting_for_transactions, "waiting_for_transactions", k_info, "no stream has topics"},

    log_rule{log_kind::state_mode, "state_mode", k_warn, "the state directory was open to other users"},
    log_rule{log_kind::state_put_aside, "state_put_aside", k_warn,
             "a rebuild has moved the old state away, or back after a refusal"},
    log_rule{log_kind::store_reopened, "store_reopened", k_error,
             "a write failed, and Ratchet opens the store again"},
    log_rule{log_kind::disk_low, "disk_low", k_warn, "the disk is nearly full: reading is paused"},
    log_rule{log_kind::disk_has_room, "disk_has_room", k_info, "that has passed"},
    log_rule{log_kind::clock_wrong, "clock_wrong", k_error, "this machine's clock cannot be right"},
    log_rule{log_kind::clock_right, "clock_right", k_info, "that has passed"},
    log_rule{log_kind::checkpoint_taken, "checkpoint_taken", k_info, "a checkpoint is complete"},
    log_rule{log_kind::checkpoint_failed, "checkpoint_failed", k_warn, "none was made"},

    log_rule{log_kind::stream_started_over, "stream_started_over", k_warn,
             "settings changed before anything was applied, and the stream starts over"},
    log_rule{log_kind::table_added, "table_added", k_warn, "a new table begins empty"},
    log_rule{log_kind::topic_unread, "topic_unread", k_warn,
             "the state has a topic that the config does not name"},
    log_rule{log_kind::topic_left, "topic_left", k_info, "such a topic no longer holds the window back"},
    log_rule{log_kind::copy_opened, "copy_opened", k_warn,
             "a checkpoint is opened for writing, or takes over"},
    log_rule{log_kind::cluster_changed, "cluster_changed", k_warn,
             "the state goes on with another cluster, by `--resume`"},
    log_rule{log_kind::sink_discarded, "sink_discarded", k_warn,
             "messages were discarded: their sink has `discard: true`"},

    log_rule{log_kind::client, "client", k_warn, "librdkafka's errors, and its remarks on its properties"},
    log_rule{log_kind::client_detail, "client_detail", k_debug, "librdkafka's other lines"},
    log_rule{log_kind::client_renewed, "client_renewed", k_error,
             "a Kafka client failed, and Ratchet made a new one"},
    log_rule{log_kind::brokers_away, "brokers_away", k_warn, "brokers do not answer; Ratchet keeps trying"},
    log_rule{log_kind::brokers_back, "brokers_back", k_info, "records flow again"},
    log_rule{log_kind::access_denied, "access_denied", k_error, "the brokers refuse this user"},
    log_rule{log_kind::access_given, "access_given", k_info, "the brokers accept this user again"},
    log_rule{log_kind::group_joining, "group_joining", k_info, "the consumer group is joined"},
    log_rule{log_kind::group_busy, "group_busy", k_warn,
             "the group has other members, and Ratchet waits until they leave"},
    log_rule{log_kind::group_waiting, "group_waiting", k_info,
             "the group has assigned nothing for some seconds, and why"},
    log_rule{log_kind::group_moved_on, "group_moved_on", k_info,
             "the group was rebalanced before this instance claimed it"},
    log_rule{log_kind::resume_told, "resume_told", k_warn,
             "offsets and state did not fit; the line has the action"},
    log_rule{log_kind::resume_option_unused, "resume_option_unused", k_info, "`--resume` had nothing to do"},
    log_rule{log_kind::resumed, "resumed", k_info,
             "where a partition is read from; or how many, of more than 64"},
    log_rule{log_kind::resumed_of_many, "resumed_of_many", k_debug, "one of more than 64 resumed partitions"},
    log_rule{log_kind::partitions_given_back, "partitions_given_back", k_info, "revoked by the group"},
    log_rule{log_kind::partitions_lost, "partitions_lost", k_warn,
             "the group removed this member, which was silent for longer than its session"},
    log_rule{log_kind::partitions_elsewhere, "partitions_elsewhere", k_warn,
             "other instances read some partitions"},
    log_rule{log_kind::partition_stopped, "partition_stopped", k_error,
             "a partition is not read until its cause is fixed"},
    log_rule{log_kind::partition_held, "partition_held", k_warn, "the brokers do not answer for a partition"},
    log_rule{log_kind::partition_read_again, "partition_read_again", k_warn,
             "an offset was out of range, although the log has it"},
    log_rule{log_kind::transaction_open, "transaction_open", k_warn,
             "a transaction that does not end holds records back"},
    log_rule{log_kind::topic_unreadable, "topic_unreadable", k_warn, "the brokers do not know a topic"},
    log_rule{log_kind::pause_failed, "pause_failed", k_warn, "the client did not pause or resume partitions"},
    log_rule{log_kind::commit_failed, "commit_failed", k_warn, "offsets were not committed; nothing is lost"},

    log_rule{log_kind::standby_following, "standby_following", k_info,
             "this instance follows the replicated log from the step that it has"},
    log_rule{log_kind::lead_taken, "lead_taken", k_info,
             "this instance owns the replicated state from here on"},
    log_rule{log_kind::lead_lost, "lead_lost", k_warn, "it owns the replicated state no more, and why"},
    log_rule{log_kind::lead_refused, "lead_refused", k_error,
             "the brokers refuse what this instance needs to own the replicated state, and why"},
    log_rule{log_kind::handover_begun, "handover_begun", k_info,
             "the owner was asked to hand the state over, and ends its work"},
    log_rule{log_kind::handover_done, "handover_done", k_info, "the other instance owns the state"},
    log_rule{log_kind::handover_failed, "handover_failed", k_warn,
             "the other instance did not take the state in time; the group decides who owns it"},
    log_rule{log_kind::log_away, "log_away", k_warn,
             "the replicated log cannot be read or written; Ratchet keeps trying"},
    log_rule{log_kind::base_written, "base_written", k_info,
             "the owner wrote a copy of the state, and cut the log before it"},
    log_rule{log_kind::base_put_off, "base_put_off", k_warn,
             "a copy of the state was not written, or the log not cut; Ratchet tries again"},
    log_rule{log_kind::base_ignored, "base_ignored", k_warn,
             "the topic of the bases has the end of one that is not whole, or not of this log; nothing rests "
             "on it"},
    log_rule{log_kind::base_restored, "base_restored", k_info,
             "this instance has read a copy of the state, and follows the log from there"},
    log_rule{log_kind::replica_differs, "replica_differs", k_error,
             "this instance's state is not the owner's; one of the two is damaged"},
    log_rule{log_kind::field_never_found, "field_never_found", k_warn,
             "none of the first thousand events has a field that the envelope names"},
    log_rule{log_kind::time_passed_over, "time_passed_over", k_warn,
             "a record's time is far ahead of its neighbours', and does not move the window"},
    log_rule{log_kind::time_behind, "time_behind", k_warn,
             "a record's time is older than the window of its partition"},
    log_rule{log_kind::time_jumped, "time_jumped", k_warn,
             "the time of a partition moved by more than the window at once"},
    log_rule{log_kind::time_unlikely, "time_unlikely", k_warn,
             "the times of a stream's events are decades away from the clock"},
    log_rule{log_kind::event_dead, "event_dead", k_warn,
             "an event failed its last attempt, and waits for a decision"},
    log_rule{log_kind::event_rejected, "event_rejected", k_warn, "a record was rejected, and why"},
    log_rule{log_kind::gap_skipped, "gap_skipped", k_warn, "missing numbers were skipped"},
    log_rule{log_kind::aggregate_held, "aggregate_held", k_warn, "too many events of one aggregate wait"},
    log_rule{log_kind::aggregate_begun, "aggregate_begun", k_debug,
             "`first: any`: the number with which an aggregate begins"},
    log_rule{log_kind::decided, "decided", k_info, "what an operator decided about an event or a message"},
    log_rule{log_kind::audited, "audited", k_info, "any other audit row of a step"},
    log_rule{log_kind::reading_paused, "reading_paused", k_warn,
             "nearly as many deferred events wait as `waiting` allows"},
    log_rule{log_kind::reading_resumed, "reading_resumed", k_info, "that has passed"},

    log_rule{log_kind::messages_in_trouble, "messages_in_trouble", k_error,
             "a topic or sink takes no messages"},
    log_rule{log_kind::messages_get_through, "messages_get_through", k_info, "that has passed"},
    log_rule{log_kind::messages_unsent, "messages_unsent", k_warn,
             "the next start sends what this run did not"},
    log_rule{log_kind::message_given_up, "message_given_up", k_error,
             "a topic refuses a dead letter or a rejection"},
    log_rule{log_kind::outbox_full, "outbox_full", k_error, "too much waits to be sent: reading is paused"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < k_rules.size(); ++i) {
    if (static_cast<std::size_t>(k_rules[i].which) != i) return false;
  }
  return true;
}
static_assert(is_in_order() && static_cast<std::size_t>(log_kind::outbox_full) + 1 == k_rules.size());

}  // namespace

std::span<const log_rule> log_rules() noexcept {
  return k_rules;
}

const log_rule& rule_of(log_kind which) noexcept {
  return k_rules[static_cast<std::size_t>(which)];
}

}  // namespace ratchet
