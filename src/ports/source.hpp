// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/record.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Records with their bytes. Owned by whoever holds it; may be read and destroyed on any thread, before or
/// after the source itself is closed.
class record_batch {
 public:
  virtual ~record_batch() = default;
  /// In the order of arrival; within a partition in the order of offsets.
  [[nodiscard]] virtual std::span<const record> records() const noexcept = 0;
};

struct position {
  topic_partition where;
  std::int64_t offset{0};
};

/// An offset to commit, with the mark that says whose it is.
struct commit_request {
  topic_partition where;
  std::int64_t next_offset{0};
  std::string metadata;
};

struct committed_offset {
  topic_partition where;
  std::optional<std::int64_t> offset;  ///< none: nothing is committed
  std::string metadata;
};

struct owned_record {
  std::optional<std::string> key;
  std::optional<std::string> value;
};

/// A member of the consumer group, as the brokers list it.
struct group_member {
  std::string id;  ///< the brokers' own, unique in the group
  std::string client_id;
  std::string host;
  bool is_this{false};  ///< the member that this source is
};

struct log_bounds {
  std::int64_t start{0};
  std::int64_t end{0};  ///< behind the last record that is given out: no transaction before it is open
  /// Behind the last record of all, as the brokers said before they said `end`: where it is higher, an open
  /// transaction that began at `end` holds back what lies between. Lower: not known to be higher.
  std::int64_t high{0};
  /// Up to where there are records, given out or not.
  [[nodiscard]] std::int64_t last() const noexcept { return end < high ? high : end; }
};

/// What brokers can hold against a client. None of it is mended by trying again: somebody has to act.
enum class access_kind : std::uint8_t {
  login,    ///< user, password or mechanism
  tls,      ///< certificates, or a port that does not speak TLS
  topic,    ///< no right to the topic
  group,    ///< no right to the group
  cluster,  ///< no right to the cluster
};

/// Why it does not go on, in the words of the client.
struct complaint {
  std::error_code code;
  std::optional<access_kind> access;  ///< none: the network, or the brokers themselves
  std::string text;
  std::string topic{};  ///< that it is about; empty: the client does not say
};

/// What happened beside the records, in order. The owner acts on it between steps.
namespace notice {
struct assigned {
  std::vector<topic_partition> partitions;
};  ///< answer with assign()
struct revoked {
  std::vector<topic_partition> partitions;
  bool lost{false};
};  ///< answer with unassign()
struct end_of_partition {
  topic_partition where;
  std::int64_t offset{0};
};  ///< everything below `offset` was delivered; it is the end, or where an open transaction begins
struct out_of_range {
  topic_partition where;
  std::string text;
};  ///< dead until it is assigned again
struct topic_gone {
  topic_partition where;
  std::string text;
};
struct unreadable {
  topic_partition where;
  std::int64_t offset{0};  ///< where a batch lies of which nothing can be made; negative: not known
  std::string text;
};  ///< nothing behind it is given out until the partition is assigned again
struct commit_done {
  std::vector<committed_offset> offsets;
  std::error_code code;
  std::optional<access_kind> access{};  ///< as above, of `code`
  std::string topic{};                  ///< that `code` is about; empty: all of them
};                                      ///< of the commit() under way
struct trouble {
  std::error_code code;
  std::string text;
  std::optional<access_kind> access{};  ///< the brokers refuse this client: somebody has to act
  std::string topic{};                  ///< that it is about; empty: the client does not say
};                                      ///< brokers unreachable and the like; it goes on
struct bounds_told {
  topic_partition where;
  log_bounds found;
  std::error_code code;  ///< why there is no answer; none: there is
};                       ///< of ask_bounds()
struct fatal {
  std::error_code code;
  std::string text;
};  ///< this client cannot go on
}  // namespace notice
using source_notice = std::variant<notice::assigned, notice::revoked, notice::end_of_partition,
                                   notice::out_of_range, notice::topic_gone, notice::unreadable,
                                   notice::commit_done, notice::trouble, notice::bounds_told, notice::fatal>;

struct polled {
  std::unique_ptr<record_batch> batch;  ///< null where there are no records
  std::vector<source_notice> notices;   ///< happened after the records of `batch`
};

/// Ordered supply of records for the partitions that a consumer group assigns to this process.
/// Thread-safety: one owner thread; only wake() may be called from others. No call blocks longer than its
/// time-out.
class source {
 public:
  virtual ~source() = default;

  /// The id of the cluster. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::string> cluster_id(std::chrono::milliseconds timeout) = 0;
  /// Every partition of the topics, in order. Errors: source_unavailable; topic_missing.
  [[nodiscard]] virtual result<std::vector<topic_partition>> partitions(
      std::span<const std::string> topics, std::chrono::milliseconds timeout) = 0;
  /// The group's committed offsets; needs no membership. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::vector<committed_offset>> committed(
      std::span<const topic_partition>, std::chrono::milliseconds timeout) = 0;
  /// Who is in the group now; needs no membership. One that was killed stays listed until its session ends.
  /// Errors: source_unavailable; what compares equal to source_condition::not_offered.
  [[nodiscard]] virtual result<std::vector<group_member>> members(std::chrono::milliseconds timeout) = 0;
  /// What the logs of these have, in their order. Errors, of each: source_unavailable; topic_missing.
  [[nodiscard]] virtual std::vector<result<log_bounds>> bounds(std::span<const topic_partition>,
                                                               std::chrono::milliseconds timeout) = 0;
  /// The records at exactly these offsets, at most one of a partition, in their order; none where there is no
  /// record (compacted, a transaction marker). Does not need an assignment. Errors, of each:
  /// source_unavailable; topic_missing.
  [[nodiscard]] virtual std::vector<result<std::optional<owned_record>>> read_at(
      std::span<const position>, std::chrono::milliseconds timeout) = 0;

  /// Joins the group. Assignments arrive as notices.
  [[nodiscard]] virtual result<void> join(std::span<const std::string> topics) = 0;
  /// Answers an `assigned` notice: starts at exactly these offsets. Partitions of the assignment that are
  /// left out are held but not read. May be called again while assigned, to change the list.
  [[nodiscard]] virtual result<void> assign(std::span<const position>) = 0;
  [[nodiscard]] virtual result<void> unassign() = 0;

  /// Stops delivery from these partitions of the assignment, keeping the position and the membership. What
  /// was fetched of them is fetched again later: pause and resume with hysteresis. assign() and unassign()
  /// undo it. Partitions that are not read, or are paused already, are passed over.
  [[nodiscard]] virtual result<void> pause(std::span<const topic_partition>) = 0;
  /// Goes on where pause() stopped. Partitions that are not paused are passed over.
  [[nodiscard]] virtual result<void> resume(std::span<const topic_partition>) = 0;

  /// Waits at most `timeout` for records; returns as soon as `max_records` are there or nothing more is at
  /// hand. No records is success. Stops collecting at the first assigned, revoked or fatal notice.
  [[nodiscard]] virtual result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) = 0;
  /// Makes a waiting poll() return. Any thread.
  virtual void wake() noexcept = 0;

  /// Starts an asynchronous commit; its end comes as commit_done. At most one may be under way.
  [[nodiscard]] virtual result<void> commit(std::span<const commit_request>) = 0;
  /// Commits and waits. For the claim and for the last commit.
  [[nodiscard]] virtual result<void> commit_and_wait(std::span<const commit_request>,
                                                     std::chrono::milliseconds timeout) = 0;

  /// The offset behind the last record of the partition's log, be it of an open transaction, as the brokers
  /// last said without being asked; none where they have not yet. Asks nobody and does not wait.
  [[nodiscard]] virtual std::optional<std::int64_t> known_end(const topic_partition&) const {
    return std::nullopt;
  }

  /// The group's generation that the last `assigned` notice came with; none where it is not known. Asks
  /// nobody.
  [[nodiscard]] virtual std::optional<std::uint32_t> generation() const { return std::nullopt; }

  /// Asks the brokers for these bounds and does not wait: each answer comes as bounds_told. Passed over while
  /// an earlier question is under way.
  virtual void ask_bounds(std::span<const topic_partition>) {}

  /// What the client last complained of since the last call, of access before anything else; none where it
  /// did not. For the words of an error that a question ended with.
  [[nodiscard]] virtual std::optional<complaint> take_complaint() { return std::nullopt; }

  /// Bytes that were fetched and not yet given out.
  [[nodiscard]] virtual std::size_t queued_bytes() const noexcept = 0;
  /// Leaves the group and frees the client; gives up waiting at the deadline.
  virtual void close(std::chrono::milliseconds deadline) noexcept = 0;
};

}  // namespace ratchet
