// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/waiting.hpp"
#include "model/plain_times.hpp"
#include "ratchet/effects.hpp"
#include "sim/consumer/history.hpp"

namespace ratchet::sim {

/// What becomes of a record, in the oracle's own words.
enum class fate : std::uint8_t {
  applied,
  repeated,
  stale,
  malformed,
  conflict,
  too_old,
  id_reused,
  late,
  below_first,
  ignored,
  // It waited, and an operator decided so:
  skipped,
  discarded,
  // It waits:
  parked,
  retrying,
  dead,
};
inline constexpr std::size_t k_fates = 15;

/// A decision that a step says of itself: it leaves a row behind.
struct said {
  std::string kind;
  std::uint32_t aggregate{0};
  std::vector<std::uint64_t> numbers;  ///< that it names
};

/// What a transaction is answered.
struct transacted {
  std::error_code code{};
  bool repeated{false};
  std::uint64_t number{0};
  std::optional<std::string> reply{};
  friend bool operator==(const transacted&, const transacted&) = default;
};

/// Why a partition stops before a record.
enum class refusal : std::uint8_t { none, full, reducer };

/// A partition that stops, and before which of its records.
struct stopping {
  std::uint32_t partition{0};
  std::int64_t offset{0};
  std::uint32_t index{0};
  refusal why{refusal::none};
  friend auto operator<=>(const stopping&, const stopping&) = default;
};

/// What an operator says of the event with this number.
struct ruling {
  waiting_verb verb{waiting_verb::replay};
  std::pair<std::uint64_t, std::uint64_t> number;  ///< epoch, number
  std::optional<std::string> payload;              ///< in place of what came; it makes no reducer fail
};

/// What the reducer, once it is mended, makes of that attempt at it; the first is 1.
[[nodiscard]] bool succeeds(const message&, std::uint32_t attempt);

/// What a stream must come to, by the words of the contract, one record at a time, over plain values, with
/// every minimum computed anew. It knows what a producer meant, not what lies in the log, and shares nothing
/// with the pipeline.
class plain_oracle {
 public:
  using place = std::pair<std::uint64_t, std::uint64_t>;  ///< epoch, number
  struct waiter {
    const message* of{nullptr};
    std::int64_t offset{0};
    std::uint32_t index{0};
    fate state{fate::parked};
    std::optional<std::int64_t> since;  ///< when the gap below it began
    std::optional<std::int64_t> began;  ///< itself to wait
    std::uint32_t attempts{0};
    std::optional<std::int64_t> due;
    std::optional<std::size_t> ticket{};      ///< of the step that took it
    std::optional<std::int64_t> filed{};      ///< it is accepted: its id, as of then
    std::shared_ptr<const message> mended{};  ///< an operator gave it another payload
    std::uint64_t error_bytes{0};             ///< of the text that its last failure left
    bool undecided{false};                    ///< it came too old, and nobody has decided about it yet
    /// What the reducer is given.
    [[nodiscard]] const message& what() const { return mended ? *mended : *of; }
  };
  /// `deferred`: an event that is let in is accepted, as if it had been applied, and run later. So `exists`
  /// to `payload` tell of the last one accepted, `handled` of the last one applied, and `snapshot` of that,
  /// too.
  struct aggregate {
    bool exists{false};  ///< something was applied, accepted or skipped
    place last;
    std::optional<event_id> id;
    std::string payload;  ///< of the last one applied; empty: it was a tombstone
    bool deleted{true};
    std::string snapshot;
    std::map<place, waiter> waiting;
    bool held{false};          ///< more waited than may
    std::uint64_t highest{0};  ///< number of all that waited since none did
    std::optional<place> adopted;
    std::vector<std::pair<place, place>> skipped;  ///< both ends included
    /// The work of a step ended before this one; the next step goes on.
    std::optional<place> bound;
    std::map<place, waiter> accepted;
    struct position {
      bool exists{false};
      place last;
      std::optional<event_id> id;
    };
    position handled;
    std::string handled_payload;
    std::optional<place> accept_bound;   ///< as `bound`, of what is to be accepted
    std::set<event_id> reopened;         ///< let in and then discarded or skipped: they count as not seen
    std::optional<std::int64_t> seen{};  ///< when something of it was handled last; of a stream that forgets
    bool was_touched{false};             ///< by what the event at hand let go on
    bool was_decided{false};  ///< by an operator, so that what waited may be gone for no event's sake

    std::optional<std::int64_t> opened{};  ///< stream time when an operator discarded one of what waits

    [[nodiscard]] bool was_skipped(place) const;
    [[nodiscard]] std::uint64_t undecided() const;
  };
  struct partition {
    bool known{false};
    std::int64_t next{0};
    std::uint32_t next_index{0};     ///< so many events of the record there were handled
    const message* within{nullptr};  ///< that record
    std::optional<std::int64_t> highest;
    testing::plain_times times;
    bool counts{false};  ///< the floor waits for it; whether it must, step_book tells
    std::map<std::string, std::uint64_t> highest_ordinals;  ///< of ids that grow, by source
    /// What was handled last since somebody set the position, and where: a topic that is read on has it
    /// there.
    std::optional<std::pair<std::int64_t, const message*>> last{};
  };

  explicit plain_oracle(const stream_setup&);

  /// A process begins: where a gap stops the stream, it is waited for from here on as long as any.
  void begin_process() { began_ = floor_ ? std::optional{*floor_ + setup_->window} : std::nullopt; }
  /// A step begins: its tickets and what it says of itself are its own.
  void begin_step();
  /// From now on the reducer is as it is then.
  void set_mended(bool mended) { mended_ = mended; }
  /// From now on aggregates are forgotten so long after something of them was handled.
  void set_retention(std::optional<std::int64_t> retention);
  /// Those that were forgotten and began anew in this step.
  [[nodiscard]] const std::set<std::uint32_t>& began_anew() const { return anew_; }
  /// What is kept of an aggregate is taken away, as all of the stream's time says that it is forgotten.
  /// Errors: throws broken where it does not.
  void take_away(std::uint32_t which);
  /// What was handled last before that is forgotten, wherever it is looked at.
  [[nodiscard]] std::optional<std::int64_t> forgets_before() const { return forgets_before_; }
  [[nodiscard]] std::optional<std::int64_t> counts_from() const { return counts_from_; }
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }
  /// Decisions about events of unknown aggregates that came too old.
  [[nodiscard]] std::uint64_t old_decided() const { return old_decided_; }
  /// It lies further back than that by more than this.
  [[nodiscard]] bool is_long_forgotten(const aggregate&, std::int64_t by) const;
  /// One event, handled when the wall clock said `now`. What has become of it since, fate_of() tells; what
  /// was said of it when it came, said_of().
  /// `unseen`: the step tells that of its events of this aggregate the newest alone was run, for it makes the
  /// others needless; so nobody learns which of them would have failed.
  std::size_t take(const message&, const spot&, std::int64_t now, bool unseen = false);
  [[nodiscard]] fate fate_of(std::size_t ticket) const;
  [[nodiscard]] fate said_of(std::size_t ticket) const { return first_fates_.at(ticket); }
  /// Why the record that was taken last should not have been: its partition stops before it. Whoever may
  /// meet that takes it on a copy first.
  [[nodiscard]] refusal refused() const { return refused_; }
  /// Events that waited, were tried in this step, and stop their partitions: where those events came from.
  [[nodiscard]] const std::vector<stopping>& stopped() const { return stopped_; }
  /// Of all that waits.
  [[nodiscard]] std::uint64_t waiting_events() const;
  [[nodiscard]] std::uint64_t waiting_bytes() const;
  [[nodiscard]] const std::vector<said>& sayings() const { return sayings_; }
  /// What the reducer published in the step, and of which aggregate, in order.
  using messages = std::vector<std::pair<std::uint32_t, std::string>>;
  [[nodiscard]] const messages& published() const { return published_; }
  /// What the folding reducer's tables hold, by table and key.
  using tables_of = std::map<std::pair<std::string, std::string>, std::string>;
  [[nodiscard]] const tables_of& tables() const { return tables_; }
  /// A transaction, when the wall clock said `now`. Where it changes nothing the answer has a code.
  transacted transact(const request&, std::int64_t now);
  /// What transactions were answered, by id and aggregate.
  struct kept {
    std::uint64_t number{0};
    std::optional<hash128> fingerprint;
    std::string reply;
  };
  using answers_of = std::map<std::pair<event_id, std::uint32_t>, kept>;
  [[nodiscard]] const answers_of& answers() const { return answers_; }
  /// How much one step releases is its own choice: this one releases nothing from there on.
  void bind(std::uint32_t which, std::optional<place>, std::optional<place> accept);
  /// The step ends before this event, which was not tried yet.
  [[nodiscard]] bool is_bound(std::uint32_t which, place) const;
  /// Tries that event once, as an earlier decision of the step did.
  void run_bound(std::uint32_t which, std::int64_t now);
  /// A step looks after what waits of this aggregate. `runs_accepted`: it runs accepted events, and leaves
  /// gaps alone.
  void resume(std::uint32_t which, std::int64_t now, bool runs_accepted);
  /// An operator decides about one waiting event, or about the numbers of a gap.
  waiting_answer run_commands(std::uint32_t which, const ruling&, std::int64_t now);
  /// There is something to do for it at that time.
  [[nodiscard]] bool is_due(std::uint32_t which, std::int64_t now) const;
  [[nodiscard]] bool is_time_of(const waiter&, std::int64_t now) const;
  /// A gap is older than the stream allows.
  [[nodiscard]] bool has_old_gap() const { return !describe_old_gap().empty(); }
  /// Which, for a person; empty: none is.
  [[nodiscard]] std::string describe_old_gap() const;
  /// Nothing is left to be tried or skipped, however long one waits.
  [[nodiscard]] bool is_settled() const;
  /// The partition goes on at `offset`: at a start, or past what holds no records. `elsewhere`: what was
  /// handled last tells nothing of the records there.
  void go_on_at(std::uint32_t which, std::int64_t offset, bool elsewhere);
  /// All offsets are of another cluster's logs. The times of their records stay.
  void forget_positions();
  /// A timer left these partitions out of the floor, together.
  void leave_out(std::span<const std::uint32_t> those);
  /// This one is not read to its end, or nobody knows.
  void count_in(std::uint32_t which) { partitions_[which].counts = true; }

  [[nodiscard]] const std::map<std::uint32_t, aggregate>& aggregates() const { return aggregates_; }
  /// The last one applied or skipped.
  [[nodiscard]] aggregate::position handled(const aggregate&) const;
  [[nodiscard]] const std::vector<partition>& partitions() const { return partitions_; }
  [[nodiscard]] std::optional<std::int64_t> floor() const { return floor_; }
  /// Of what waits: how many do now.
  [[nodiscard]] std::uint64_t count(fate) const;
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  /// Every (id, aggregate) that was applied, and the time that it counts as.
  [[nodiscard]] const std::map<std::pair<event_id, std::uint32_t>, std::int64_t>& ids() const { return ids_; }
  /// By partition, offset and index.
  using rejected_of = std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, fate>;
  [[nodiscard]] const rejected_of& rejected() const { return rejected_; }

 private:
  /// `gone`: what is known of its aggregate is forgotten.
  [[nodiscard]] fate judge(const message&, bool gone) const;
  void move_on(const message&, const spot&, partition&);
  [[nodiscard]] fate judge_strict(const aggregate&, place, bool seen) const;
  [[nodiscard]] bool comes_next(const aggregate&, place) const;
  [[nodiscard]] bool is_left_to_people(const aggregate&, place) const;
  [[nodiscard]] bool begins_an_epoch(const aggregate&, std::map<place, waiter>::iterator) const;
  [[nodiscard]] bool is_old_gap(const aggregate&) const;
  [[nodiscard]] place next_number(const aggregate&) const;
  void let_in(const message&, const spot&, fate, bool unseen, std::size_t ticket);
  void apply(aggregate&, place, const message&, std::int64_t id_time);
  void take_in(aggregate&, place, const message&, std::int64_t id_time);
  void show(aggregate&, const message&);
  void let_in_later(place, waiter);
  void accept(aggregate&, place, waiter);
  bool run_accepted(aggregate&);
  void work_off(aggregate&);
  void take_back(aggregate&, place);
  static void catch_up(aggregate&);
  void reopen(aggregate&, const message&) const;
  waiting_answer skip_accepted(aggregate&, std::map<place, waiter>::iterator);
  void discard_accepted(aggregate&, std::map<place, waiter>::iterator);
  [[nodiscard]] std::int64_t time_of_id(const message&) const;
  [[nodiscard]] std::int64_t time_of_id(const waiter&) const;
  [[nodiscard]] bool says_stop(const message& m) const { return m.how == failing::stop && !mended_; }
  [[nodiscard]] bool succeeds(const message& m, std::uint32_t attempt) const {
    return sim::succeeds(m, attempt) && !says_stop(m);
  }
  void fail(place, waiter&);
  [[nodiscard]] bool waited_for(const aggregate&, place above, place below) const;
  /// Of those that wait for others. True where it was applied or accepted.
  bool run_lowest(aggregate&);
  bool run(aggregate&, std::map<place, waiter>::iterator);
  void leave(aggregate&, std::map<place, waiter>::iterator);
  static void erase(aggregate&, std::map<place, waiter>::iterator);
  waiting_answer run_commands(std::uint32_t which, aggregate&, const ruling&);
  waiting_answer replay(aggregate&, std::map<place, waiter>::iterator, const ruling&, bool is_accepted);
  waiting_answer skip(aggregate&, std::map<place, waiter>::iterator);
  waiting_answer skip_gap_to(std::uint32_t which, aggregate&, place);
  void move_to(aggregate&, place);
  void release(aggregate&);
  void supersede(aggregate&);
  void retry_latest(aggregate&);
  void skip_old_gaps(aggregate&);
  void skip_gap(aggregate&);
  void skip_range(aggregate&, std::uint32_t which, place from, place to);
  void pass_skipped(aggregate&) const;
  void raise_floor();
  // What is forgotten.
  [[nodiscard]] std::optional<std::int64_t> time() const;
  [[nodiscard]] std::optional<std::int64_t> time_reached(const message&) const;
  [[nodiscard]] std::optional<std::int64_t> forgets_before(const message&) const;
  [[nodiscard]] bool is_over(const aggregate&, std::optional<std::int64_t> before) const;
  [[nodiscard]] bool is_gone(const message&) const;
  [[nodiscard]] bool is_too_old(const message&, bool seen) const;
  [[nodiscard]] bool is_unknown(const aggregate&) const;
  [[nodiscard]] bool waits_for_people(const aggregate&, const waiter&) const;
  [[nodiscard]] std::uint64_t bytes_of_too_old() const;
  void decide_about(aggregate&, std::map<place, waiter>::iterator) const;
  void begin_anew(std::uint32_t which);
  void forget_more();
  void touch(aggregate&, std::optional<std::int64_t> when) const;
  void touch_released(aggregate&, const waiter&) const;
  void touch_late(aggregate&) const;
  void end_touches();
  [[nodiscard]] bool note_ordinal(const message&, partition&) const;
  void file(const message&, std::int64_t time);
  void publish(std::uint32_t which, const std::string& payload);

  const stream_setup* setup_;
  std::map<std::uint32_t, aggregate> aggregates_;
  std::vector<partition> partitions_;
  std::optional<std::int64_t> floor_;
  std::optional<std::int64_t> began_;  ///< the stream's time when the process did
  std::uint64_t counts_[k_fates]{};
  std::uint64_t taken_{0};
  std::int64_t now_{0};
  std::vector<fate> tickets_;
  std::vector<fate> first_fates_;  ///< by ticket
  std::vector<said> sayings_;
  messages published_;
  tables_of tables_;
  answers_of answers_;
  std::vector<stopping> stopped_;
  refusal refused_{refusal::none};
  bool mended_{false};
  std::optional<std::pair<std::uint32_t, place>> kept_;  ///< by the record that is being taken
  std::optional<std::int64_t> older_;  ///< of an accepted one: since when one above it waited
  std::map<std::pair<event_id, std::uint32_t>, std::int64_t> ids_;
  rejected_of rejected_;
  std::optional<std::int64_t> retention_;
  std::optional<std::int64_t> forgets_before_;
  std::optional<std::int64_t> counts_from_;  ///< what has no time of its own
  std::uint64_t forgotten_{0};
  std::uint64_t old_decided_{0};
  std::set<std::uint32_t> anew_;
};

/// The next number, which behind the last one of an epoch is the first of the next epoch.
[[nodiscard]] constexpr plain_oracle::place successor(plain_oracle::place p) noexcept {
  return p.second == ~0ULL ? plain_oracle::place{p.first + 1, 0} : plain_oracle::place{p.first, p.second + 1};
}

[[nodiscard]] constexpr plain_oracle::place predecessor(plain_oracle::place p) noexcept {
  return p.second == 0 ? plain_oracle::place{p.first - 1, ~0ULL} : plain_oracle::place{p.first, p.second - 1};
}

/// What the folding reducer makes of a snapshot and one more payload.
[[nodiscard]] std::string fold(const std::string& before, const std::string& payload);

/// What a transaction makes of a snapshot, and what it replies then.
[[nodiscard]] std::string transacted_state(const stream_setup&, const std::string& before,
                                           const std::string& payload);
[[nodiscard]] std::string reply_to(const request&, const std::string& after);

/// What the folding reducer publishes and puts into tables; half of the aggregates publish to a sink.
void tell(effects&, const std::string& aggregate, const std::string& stream, const std::string& payload);

/// What it changes in its tables for an event of this aggregate: rows of the aggregate's own, some of which
/// go again, and rows that all aggregates write, which show the order of their events. No value: erased.
struct table_entry {
  const char* table;
  std::string key;
  std::optional<std::string> value;
};
[[nodiscard]] std::vector<table_entry> tabled(const std::string& aggregate, const std::string& payload);

}  // namespace ratchet::sim
