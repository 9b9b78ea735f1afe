// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "consumer/access.hpp"
#include "consumer/turn_result.hpp"
#include "ports/clock.hpp"
#include "ports/source.hpp"
#include "ports/store_lineage.hpp"
#include "ratchet/config.hpp"
#include "ratchet/resume.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

/// What a session asks the brokers before it reads: whether they answer, whether they are those that the
/// state was read from, and which topics there are; and how a question without an answer ends the session.
/// Thread-safety: the owner's thread.
class cluster_questions {
 public:
  struct dependencies {
    const config& settings;
    const stream_list& streams;
    store_lineage& store;
    ratchet::source& source;
    const clock_port& clock;
    const std::vector<std::string>& topics;     ///< that are read
    resume_option option{resume_option::none};  ///< holds for the first assignment
    std::function<bool()> stop_requested;       ///< then it ends as drained
    std::function<turn_result<>()> meanwhile;   ///< called between two attempts to reach the brokers
  };
  explicit cluster_questions(dependencies deps) : deps_{std::move(deps)} {}

  /// Waits for the brokers as long as the config says. An empty store is theirs from now on; another one must
  /// have been read from them, or the option must say how it goes on with these. Ends: drained, where it is
  /// told to stop; refused; store_lost.
  [[nodiscard]] turn_result<> find_cluster();
  /// The brokers' cluster, where the state was read from another one; empty: it was not.
  [[nodiscard]] const std::string& other_cluster() const noexcept { return other_cluster_; }

  /// The partitions of these topics, in order. Topics that brokers may not have heard of yet are asked for
  /// again. Errors: of the source.
  [[nodiscard]] result<std::vector<topic_partition>> look_up(std::span<const std::string> topics);
  /// These must be there, as they are read. Topics that brokers may not have heard of yet are asked for
  /// again. Ends: refused, client_lost.
  [[nodiscard]] turn_result<> require_inputs();
  /// These must be there, as they are written to. Ends: refused, client_lost.
  [[nodiscard]] turn_result<> require_outputs(const std::vector<std::string>& topics);

  /// What is to be done between two attempts, also of others who wait. Ends: as it does.
  [[nodiscard]] turn_result<> do_meanwhile() const { return deps_.meanwhile(); }

  /// What stands against topics that could not be looked up: each is asked for by itself.
  [[nodiscard]] session_result topics_failed(std::error_code, const std::vector<std::string>& topics,
                                             topic_use);
  /// A question found no answer: refused where the brokers refuse this user; client_lost where a new client
  /// may get one; else it ends as said.
  [[nodiscard]] session_result failed(const std::string& what, std::error_code, session_end otherwise);
  /// The same of the questions where to resume.
  [[nodiscard]] session_result resume_failed(std::error_code);

 private:
  [[nodiscard]] turn_result<> meet_other_cluster(const std::string& known, const std::string& found);

  dependencies deps_;
  std::string other_cluster_;
};

}  // namespace ratchet
