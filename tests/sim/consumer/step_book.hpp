// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/consumer/plain_oracle.hpp"
#include "sim/consumer/simulated_kafka.hpp"
#include "sim/consumer/simulated_store.hpp"

namespace ratchet::sim {

/// What each step of one state directory did, as seen from outside: which records it took, in which order.
/// The oracle is fed with it, and is at every moment what the directory must hold. Checks all of what must
/// always hold, at every write. Errors: throws broken.
class step_book {
 public:
  /// `now`: how the reducer and the limits are; outlives the book and its copies.
  step_book(const history&, const running& now);

  /// A batch was handed to the pipeline; steps take batches in the order of their delivery.
  void delivered(const cluster&, const std::vector<std::pair<std::size_t, log_entry>>&);
  /// What was delivered and passed over, as its partition was stopped, comes again if at all.
  void drop_deliveries() {
    delivered_.clear();
    stopped_.clear();
  }
  /// What was delivered and not written is forgotten: a new session.
  void forget_deliveries();
  /// The directory was opened.
  void begin_process() {
    for (plain_oracle& oracle : oracles_) oracle.begin_process();
  }
  /// What this partition's log holds below `end` lies there unread, as far as it was not handled: the reader
  /// knows, or cannot tell. What comes behind it the reader has to come upon first.
  void lies_unread(std::size_t log, std::int64_t end) { unread_below_.at(log) = end; }

  /// The next step of this stream does that, if it is written; answers() is what must come of it.
  void expect(std::uint32_t stream, std::vector<std::pair<std::uint32_t, ruling>> by_aggregate);
  /// None where that step was not written.
  [[nodiscard]] std::vector<waiting_answer> take_answers();

  /// `asked`: the requests that a step of transactions is made of.
  void write(const step_batch&, const simulated_disk::contents& before, const cluster&, std::int64_t now,
             const std::vector<const request*>& asked);
  /// What a step of these would answer.
  [[nodiscard]] std::vector<transacted> try_out(std::uint32_t stream, const std::vector<const request*>&,
                                                std::int64_t now) const;
  /// The durable step that answered the request so. Errors: throws broken where there is none.
  [[nodiscard]] std::uint64_t step_of(const request&, const transacted& told, std::uint64_t durable) const;
  /// The directory lost what came behind this step.
  void take_back_to(std::uint64_t number);

  /// The next offset of the partition that the step of that number left; none: it does not know the
  /// partition.
  [[nodiscard]] std::optional<std::int64_t> next_offset(std::size_t log, std::uint64_t number) const;
  /// The stream may not go on, as a gap is too old for it.
  [[nodiscard]] bool is_stopped_by_gap(std::uint32_t stream) const;
  /// Nothing that waits is to be tried again, released or skipped.
  [[nodiscard]] bool is_settled() const;
  /// The directory equals the oracle.
  void compare(const simulated_disk::contents&, const cluster&) const;
  /// Nothing is left of what was forgotten for long, by the retention of this process.
  [[nodiscard]] bool has_taken_away(const simulated_disk::contents&) const;
  /// How many aggregates were forgotten, and are gone or began anew.
  [[nodiscard]] std::uint64_t forgotten() const;
  /// How often an operator decided about an old event of an unknown aggregate.
  [[nodiscard]] std::uint64_t old_decided() const;
  /// How many records met which fate.
  void count(std::array<std::uint64_t, k_fates>&) const;
  /// As long as nobody misbehaved: the state is that of all records, in whatever order.
  void compare_with_all(const history&) const;

 private:
  struct operation {
    enum class kind : std::uint8_t {
      take,
      go_on,
      leave_out,
      count_in,
      bind,
      resume,
      run_bound,
      run_commands,
      transact,
      forget,
      take_away,
      nothing
    } what{kind::nothing};
    std::uint32_t stream{0};
    std::uint32_t partition{0};
    std::int64_t offset{0};
    const message* of{nullptr};
    spot at{};
    const request* asked{nullptr};
    std::int64_t now{0};
    std::vector<std::uint32_t> left_out{};
    std::uint32_t aggregate{0};
    std::optional<plain_oracle::place> first{};
    std::optional<plain_oracle::place> first_to_accept{};
    bool runs_accepted{false};
    bool unseen{false};
    ruling decided{};
    bool mended{false};                       ///< the reducer, when that was done
    std::optional<std::int64_t> retention{};  ///< of the stream, then
    bool elsewhere{false};                    ///< nothing that was handled leads up to the offset
  };
  struct step {
    std::uint64_t number{0};
    std::vector<operation> operations;
    std::vector<std::pair<std::size_t, std::int64_t>> nexts;
    std::vector<std::pair<const request*, transacted>> answers;
  };
  /// An event.
  struct delivery {
    std::size_t log{0};
    const message* what{nullptr};
    spot at;
    std::uint32_t made{0};
  };

  void take_records(step&, const step_part&, const stream_rows& before, const cluster&, std::int64_t now);
  [[nodiscard]] refusal refusal_of(std::uint32_t stream, const delivery&, std::int64_t now,
                                   bool unseen) const;
  /// No record may be decided while a gap is too old.
  void check_gaps(std::uint32_t stream, const record&) const;
  /// An event that is seen for the first time must not be late merely because another partition was read
  /// before it: the floor waits for each partition that has unread records.
  void check_floor(std::uint32_t stream, const stream_state&, const cluster&) const;
  void check_room(const step_part&, const stream_rows& before) const;
  void check_stops(std::uint32_t stream, const stream_change&, std::vector<stopping> wanted, const cluster&);
  /// Returns its ticket.
  std::size_t take_record(step&, std::uint32_t stream, const delivery&, const cluster&, std::int64_t now,
                          bool unseen);
  [[nodiscard]] std::set<std::uint32_t> superseding(std::uint32_t stream, const std::vector<delivery>&,
                                                    const stream_rows& before, std::int64_t now) const;
  [[nodiscard]] delivery next_delivery(std::uint32_t stream, const record&, const cluster&);
  [[nodiscard]] bool is_stopped(std::size_t log, std::uint32_t stream) const;
  void take_bounds(step&, const step_part&, const stream_rows& before, bool is_resumed = false);
  /// From there on the oracle releases nothing of the aggregate, until bounds are taken anew.
  void bind(step&, std::uint32_t stream, std::uint32_t aggregate, plain_oracle::place first);
  void resume(step&, const step_part&, const stream_rows& before, const cluster&, std::int64_t now);
  void run_commands(step&, const step_part&, const stream_rows& before, const cluster&, std::int64_t now,
                    const std::vector<audit_row>&);
  void transact(step&, std::uint32_t stream, const std::vector<const request*>&, std::int64_t now);
  static void check_published(plain_oracle::messages, std::uint32_t stream, const outbox_change&);
  static void check_sayings(std::vector<said>, const std::vector<audit_row>&);
  void take_moves(step&, std::uint32_t stream, const stream_change&, const stream_rows& before,
                  const std::vector<audit_row>&, const cluster&);
  static void check_same_topic(const partition_log&, const plain_oracle::partition&);
  void take_away(step&, const step_part&);
  void check_rows(const step_part&, const stream_rows& before) const;
  static void check_letters(std::uint32_t stream, const outbox_change&, const cluster&);
  /// True: it was set there, and did not come there record by record.
  [[nodiscard]] bool check_jump(std::uint32_t stream, const partition_log&, std::optional<std::int64_t> from,
                                std::int64_t to, const std::vector<audit_row>&) const;
  /// `forgets`: positions, as they are of another cluster.
  void check_part(const step_part&, const stream_rows& before, bool forgets) const;
  /// Of an event its ticket.
  std::size_t perform(operation&);
  /// Does it, and keeps it with the step.
  std::size_t add(step&, operation);

  struct expected {
    std::uint32_t stream{0};
    std::vector<std::pair<std::uint32_t, ruling>> by_aggregate;
  };

  const history* history_;
  const running* running_;
  std::optional<expected> expected_;
  std::vector<waiting_answer> answers_;
  std::vector<plain_oracle> oracles_;
  std::vector<step> steps_;
  std::map<std::uint32_t, std::deque<delivery>> delivered_;  ///< by stream
  std::set<std::size_t> stopped_;                            ///< logs, in this session
  std::vector<std::int64_t> unread_below_;                   ///< by log
};

/// What a decision is called by the oracle.
[[nodiscard]] fate fate_of(decision);

}  // namespace ratchet::sim
