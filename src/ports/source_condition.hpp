// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "ports/source.hpp"

namespace ratchet {

/// What the owner of a source tells apart in its error codes, whatever client is behind the port. A code of
/// the client compares equal to its condition: the client's category says so. It may mean several of them.
/// What follows each: ports/error_class.hpp.
enum class source_condition {
  login_refused = 1,  ///< user, password or mechanism
  tls_refused,        ///< certificates, or a port that does not speak TLS
  topic_refused,      ///< no right to the topic
  group_refused,      ///< no right to the group
  cluster_refused,    ///< no right to the cluster
  /// The group no longer knows this member (or never did): what it tried to commit was refused. A commit is
  /// the gate that tells a zombie; a revoke follows.
  not_a_member,
  all_brokers_down,  ///< no connection is left; the client goes on trying
  not_offered,       ///< these brokers do not know the question
  away,              ///< brokers are away or busy; the same call may succeed later
  missing,           ///< the topic or partition does not exist
  client_lost,       ///< this client cannot go on: destroy it, make a new one and resume from the store
  unreadable,        ///< of a fetch: nothing can be made of what lies there. As a rule that does not pass
  message_refused,   ///< of a message, or of the batch that it came in: the brokers do not take it
};

class source_condition_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "source"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<source_condition>(value)) {
      case source_condition::login_refused:
        return "the login was refused";
      case source_condition::tls_refused:
        return "the TLS connection was refused";
      case source_condition::topic_refused:
        return "access to the topic was refused";
      case source_condition::group_refused:
        return "access to the group was refused";
      case source_condition::cluster_refused:
        return "access to the cluster was refused";
      case source_condition::not_a_member:
        return "the group does not know this member";
      case source_condition::all_brokers_down:
        return "no broker can be reached";
      case source_condition::not_offered:
        return "the brokers do not know the question";
      case source_condition::away:
        return "the brokers do not answer now";
      case source_condition::missing:
        return "there is no such topic or partition";
      case source_condition::client_lost:
        return "the client cannot go on";
      case source_condition::unreadable:
        return "the log cannot be read";
      case source_condition::message_refused:
        return "the message was refused";
    }
    return "unknown";
  }
};

[[nodiscard]] inline std::error_condition make_error_condition(source_condition condition) noexcept {
  static const source_condition_category category;
  return {static_cast<int>(condition), category};
}

}  // namespace ratchet

template <>
struct std::is_error_condition_enum<ratchet::source_condition> : std::true_type {};

namespace ratchet {

/// What the brokers hold against this client; none where the code says nothing of the kind.
[[nodiscard]] inline std::optional<access_kind> access_kind_of(const std::error_code& code) noexcept {
  if (code == source_condition::login_refused) return access_kind::login;
  if (code == source_condition::tls_refused) return access_kind::tls;
  if (code == source_condition::topic_refused) return access_kind::topic;
  if (code == source_condition::group_refused) return access_kind::group;
  if (code == source_condition::cluster_refused) return access_kind::cluster;
  return std::nullopt;
}

}  // namespace ratchet
