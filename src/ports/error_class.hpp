// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <system_error>
#include <utility>

#include "ports/source_condition.hpp"
#include "ratchet/error.hpp"

/// The one place that judges errors: what kind an error is, whichever room or library it comes from, and what
/// may be repeated after it. Sinks over HTTP judge statuses, which are no error codes
/// (sinks/http_answers.hpp). Pure.
namespace ratchet {

enum class error_class : std::uint8_t {
  away,             ///< the brokers are away or busy
  missing,          ///< no broker knows the topic or partition, or not yet again
  denied,           ///< the brokers refuse this user, until a person changes that
  moved_on,         ///< the group does not know this member; its next assignment follows
  not_offered,      ///< the brokers do not know the question
  client_lost,      ///< needs a new client
  unreadable,       ///< of a fetch: fatal to its partition
  message_refused,  ///< of a message: it cannot be sent
  store_lost,       ///< needs the store to be opened again
  damaged,          ///< needs another state directory
  foreign,          ///< needs another state directory, or another config
  request,          ///< what one caller or event asks cannot be done so; nothing else is touched
  person,           ///< needs a person, as far as is known
};

[[nodiscard]] constexpr error_class classify(errc code) noexcept {
  switch (code) {
    case errc::source_unavailable:
      return error_class::away;
    case errc::topic_missing:
      return error_class::missing;
    case errc::access_denied:
      return error_class::denied;
    case errc::source_fatal:
      return error_class::client_lost;
    case errc::write_indeterminate:
      return error_class::store_lost;
    case errc::state_damaged:
      return error_class::damaged;
    case errc::state_foreign:
      return error_class::foreign;
    case errc::reducer_failed:
    case errc::reducer_slow:
    case errc::output_undeclared:
    case errc::output_lacking:
    case errc::output_too_large:
    case errc::table_undeclared:
    case errc::table_key_invalid:
    case errc::snapshot_too_large:
    case errc::aggregate_blocked:
    case errc::key_reused:
    case errc::held_back:
    case errc::timed_out:
    case errc::not_running:
    case errc::not_found:
    case errc::state_restoring:
    case errc::not_owner:
    case errc::no_standby:
      return error_class::request;
    case errc::config_invalid:
    case errc::usage:
    case errc::not_built_yet:
    case errc::poisoned:
    case errc::state_busy:
    case errc::state_missing:
    case errc::state_newer_schema:
    case errc::resume_refused:
    case errc::group_taken:
    case errc::partition_stopped:
    case errc::check_failed:
    case errc::io:
    case errc::aborted:
    case errc::internal:
    case errc::waiting_full:
    case errc::gap_too_old:
    case errc::sink_missing:
      return error_class::person;
  }
  return error_class::person;
}

/// The same of any code. A client's code that means several conditions is of the class that comes first.
[[nodiscard]] inline error_class classify(const std::error_code& code) noexcept {
  if (code.category() == ratchet_category()) return classify(static_cast<errc>(code.value()));
  using of = std::pair<source_condition, error_class>;
  constexpr std::array k_classes{of{source_condition::client_lost, error_class::client_lost},
                                 of{source_condition::missing, error_class::missing},
                                 of{source_condition::away, error_class::away},
                                 of{source_condition::login_refused, error_class::denied},
                                 of{source_condition::tls_refused, error_class::denied},
                                 of{source_condition::topic_refused, error_class::denied},
                                 of{source_condition::group_refused, error_class::denied},
                                 of{source_condition::cluster_refused, error_class::denied},
                                 of{source_condition::not_a_member, error_class::moved_on},
                                 of{source_condition::not_offered, error_class::not_offered},
                                 of{source_condition::unreadable, error_class::unreadable},
                                 of{source_condition::message_refused, error_class::message_refused}};
  for (const auto& [condition, its] : k_classes) {
    if (code == condition) return its;
  }
  return error_class::person;
}

/// Of a question about one partition: that its brokers do not answer for it, or not yet know it, passes. The
/// partition is held, and asked about again.
[[nodiscard]] constexpr bool passes(error_class of) noexcept {
  return of == error_class::away || of == error_class::missing;
}

/// Of an instance that has claimed its group: it never leaves by itself, and sits this out. That is an
/// outage, a topic that brokers do not know, and rights that were taken away and may be given back.
[[nodiscard]] constexpr bool is_sat_out(error_class of) noexcept {
  return passes(of) || of == error_class::denied;
}

}  // namespace ratchet
