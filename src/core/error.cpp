// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/error.hpp"

#include <cstdio>

#include "core/shown_text.hpp"

namespace ratchet {

namespace {

class ratchet_category_t final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "ratchet"; }
  // NOLINTNEXTLINE(readability-function-size): a table of texts
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::config_invalid:
        return "the config has errors";
      case errc::usage:
        return "the command line is wrong";
      case errc::not_built_yet:
        return "not built yet";
      case errc::reducer_failed:
        return "the reducer failed";
      case errc::poisoned:
        return "too many malformed records in a row";
      case errc::state_busy:
        return "another process has the state directory open";
      case errc::state_missing:
        return "there is no state directory";
      case errc::state_foreign:
        return "the state directory does not belong to this config";
      case errc::state_newer_schema:
        return "the state directory was written by a newer version";
      case errc::state_damaged:
        return "the state directory is damaged";
      case errc::write_indeterminate:
        return "a write failed; it may or may not be on disk";
      case errc::source_unavailable:
        return "the brokers cannot be reached";
      case errc::source_fatal:
        return "the Kafka client cannot go on";
      case errc::resume_refused:
        return "the offsets found do not fit the state";
      case errc::group_taken:
        return "another store holds the consumer group";
      case errc::topic_missing:
        return "a topic does not exist";
      case errc::partition_stopped:
        return "a partition is stopped";
      case errc::check_failed:
        return "a check failed";
      case errc::not_found:
        return "not found";
      case errc::io:
        return "a file could not be read or written";
      case errc::aborted:
        return "aborted";
      case errc::internal:
        return "an internal invariant does not hold";
      case errc::access_denied:
        return "the brokers refuse this user";
      case errc::reducer_slow:
        return "the reducer took longer than its time limit";
      case errc::waiting_full:
        return "more events would wait than `waiting` allows";
      case errc::gap_too_old:
        return "a gap is too old";
      case errc::output_undeclared:
        return "the reducer publishes to an undeclared topic or sink";
      case errc::output_lacking:
        return "the event lacks a field that `emit` takes";
      case errc::output_too_large:
        return "the message to be published is too large";
      case errc::snapshot_too_large:
        return "the snapshot or the row of a table is too large";
      case errc::table_undeclared:
        return "the table is not among the stream's `tables`";
      case errc::table_key_invalid:
        return "the key does not fit the encoding of its table";
      case errc::aggregate_blocked:
        return "earlier events of the aggregate wait";
      case errc::not_running:
        return "run() is not active";
      case errc::timed_out:
        return "no answer came in time";
      case errc::key_reused:
        return "the key was used for another request";
      case errc::held_back:
        return "the disk, the outbox or the mailbox is full or nearly full";
      case errc::state_restoring:
        return "a copy of the state is being read";
      case errc::not_owner:
        return "this instance does not own the state";
      case errc::no_standby:
        return "no other instance could own the state";
      case errc::sink_missing:
        return "messages wait for a sink that the config does not have";
    }
    return "unknown";
  }
};

constexpr int k_exit_check_failed = 1;
constexpr int k_exit_usage = 64;
constexpr int k_exit_unavailable = 69;
constexpr int k_exit_internal = 70;
constexpr int k_exit_io = 74;
constexpr int k_exit_config = 78;

int exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::check_failed:
    case errc::not_found:
    case errc::partition_stopped:
    case errc::poisoned:
    case errc::reducer_failed:
    case errc::reducer_slow:
    case errc::waiting_full:
    case errc::gap_too_old:
    case errc::output_undeclared:
    case errc::output_lacking:
    case errc::output_too_large:
    case errc::snapshot_too_large:
    case errc::table_undeclared:
    case errc::table_key_invalid:
    case errc::aggregate_blocked:
    case errc::key_reused:
      return k_exit_check_failed;
    case errc::usage:
      return k_exit_usage;
    case errc::source_unavailable:
    case errc::source_fatal:
    case errc::aborted:
    case errc::not_running:
    case errc::timed_out:
    case errc::held_back:
    case errc::state_restoring:
    case errc::not_owner:
    case errc::no_standby:
      return k_exit_unavailable;
    case errc::internal:
      return k_exit_internal;
    case errc::io:
    case errc::write_indeterminate:
      return k_exit_io;
    case errc::sink_missing:
    case errc::config_invalid:
    case errc::not_built_yet:
    case errc::state_busy:
    case errc::state_missing:
    case errc::state_foreign:
    case errc::state_newer_schema:
    case errc::state_damaged:  // a person has to restore it: a service must not try it for ever
    case errc::resume_refused:
    case errc::group_taken:
    case errc::topic_missing:
    case errc::access_denied:
      return k_exit_config;
  }
  return k_exit_internal;
}

}  // namespace

const std::error_category& ratchet_category() noexcept {
  static const ratchet_category_t category;
  return category;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), ratchet_category()};
}

int exit_code(const std::error_code& code) noexcept {
  if (!code) return 0;
  if (code.category() == ratchet_category()) return exit_code_of(static_cast<errc>(code.value()));
  if (code.category() == std::system_category() || code.category() == std::generic_category())
    return k_exit_io;
  return std::string_view{code.category().name()} == "kafka" ? k_exit_unavailable : k_exit_io;
}

namespace {

/// A long hint with several ways out has a line for each of them.
void append_hint(std::string& out, std::string_view hint) {
  constexpr std::size_t k_long = 160;
  constexpr std::string_view k_other{"; or "};
  const char* before = "  -> ";
  for (std::size_t end = hint.size() > k_long ? hint.find(k_other) : std::string_view::npos;
       end != std::string_view::npos; end = hint.find(k_other)) {
    append_line(out, before + std::string{hint.substr(0, end)} + ";");
    hint.remove_prefix(end + 2);
    before = "     ";
  }
  append_line(out, before + std::string{hint});
}

}  // namespace

std::string to_text(const problem& p) {
  std::string text;
  append_line(text, "ratchet: " + (p.message.empty() ? p.code.message() : p.message));
  for (const diagnostic& d : p.diagnostics) {
    std::string line = "  ";
    if (!d.file.empty()) line += d.file + ":";
    if (d.line > 0) line += std::to_string(d.line) + ":" + std::to_string(d.column) + ":";
    if (!d.file.empty() || d.line > 0) line += " ";
    if (!d.path.empty()) line += d.path + ": ";
    line += d.message;
    if (!d.hint.empty()) line += "; " + d.hint;
    append_line(text, line);
  }
  if (!p.hint.empty()) append_hint(text, p.hint);
  return text;
}

int report(const problem& p) {
  std::fputs(to_text(p).c_str(), stderr);
  return exit_code(p.code);
}

}  // namespace ratchet
