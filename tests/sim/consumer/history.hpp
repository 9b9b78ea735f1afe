// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record.hpp"
#include "core/step.hpp"
#include "ratchet/config.hpp"
#include "ratchet/types.hpp"
#include "workload/workload_random.hpp"

/// One history of the simulation: what a producer sends and what goes wrong, drawn from a seed. A history is
/// data, so that one that fails can be made shorter and played again.
namespace ratchet::sim {

/// Of what has one: CloudEvents.
inline constexpr std::string_view k_event_type{"came"};

/// ignored: a record that could hold several events, and holds none.
enum class message_kind : std::uint8_t { event, tombstone, malformed, ignored };

/// How records of a stream hold several events, where they may. `batch`: CloudEvents, beside single ones.
enum class bundling : std::uint8_t { none, array, member, lines, batch };

/// What the reducer makes of an event, whatever else happens: its payload says so.
/// To stop is for as long as the reducer is not mended, see running.
enum class failing : std::uint8_t { never, retry, throws, give_up, stop };

/// What a producer sends, once; it may lie in the log several times. Where records hold several events, a
/// message is a record, or one of its events: that has the record's key, headers, partition and time.
struct message {
  message_kind kind{message_kind::event};
  std::uint32_t stream{0};
  std::uint32_t partition{0};
  std::uint32_t aggregate{0};
  std::uint64_t epoch{0};
  std::uint64_t number{0};
  std::optional<event_id> id;
  std::optional<std::int64_t> time;  ///< the record's, in ms; none: Kafka's -1
  std::string payload;               ///< the reducer's input; empty for a tombstone
  failing how{failing::never};
  std::uint32_t times{0};  ///< so many first attempts fail; to give up is for ever

  // As it lies in the log. Views point into the strings, so that a message stays where it is.
  std::string key;
  std::optional<std::string> value;  ///< of an event of several: that of a record that holds it alone
  std::string id_text;
  std::optional<event_id> drawn_id;  ///< what an opaque id was made of
  std::uint64_t ordinal{0};          ///< of a monotonic id
  std::string source;                ///< of a CloudEvent; the id counts within it
  std::string sequence_text;
  std::vector<header> headers;

  bool is_record{true};               ///< it is to lie in a log by itself
  std::vector<const message*> parts;  ///< of a record that holds several events
  const message* as_sent{nullptr};  ///< of one of them: what it is a copy of; others may be in other records
  std::string alone;                ///< the event's own text
};

/// Where an event lies in its partition.
struct spot {
  std::int64_t offset{0};
  std::uint32_t index{0};         ///< of the record's events
  bool more{false};               ///< another one of them follows
  const message* whole{nullptr};  ///< the record
};

/// The events of a record, in their order: one at least. What holds none, or cannot be read, is one.
[[nodiscard]] std::vector<std::pair<const message*, spot>> events_of(const message& record,
                                                                     std::int64_t offset);

/// What goes wrong, or happens, besides. `amount` and `choice` are drawn with it: how much, and which.
enum class fault_kind : std::uint8_t {
  kill,               ///< SIGKILL at one of the next calls of a port
  power_cut,          ///< the same, and what was not synced may be lost, torn, or there in part
  drain,              ///< told to stop; started again
  rebalance,          ///< partitions revoked and assigned again, all of them or some
  lost,               ///< the session ended: the member is not one any more
  zombie,             ///< the process stands still for longer than its session; others work meanwhile
  brokers_down,       ///< nobody answers, or nobody for one of the partitions
  commit_lost,        ///< the next commits fail, and were or were not taken
  commit_late,        ///< the next commit is taken long after its answer was given up
  client_fatal,       ///< this client cannot go on
  redelivery,         ///< records come once more
  retention,          ///< the log's start moves up, perhaps past what was handled
  compaction,         ///< older records go
  markers,            ///< a transaction's end takes an offset
  topic_anew,         ///< the topic is deleted and made anew, shorter or longer
  foreign_commit,     ///< an operator sets offsets while the instance is stopped
  foreign_member,     ///< another consumer takes some partitions, commits, and leaves again
  other_store,        ///< another store's claim is found
  directory_lost,     ///< the state directory is gone at the next start
  directory_backup,   ///< a copy of the state is kept
  directory_restore,  ///< that copy takes its place
  write_fails,        ///< a write fails; it is there or not
  sync_fails,         ///< an fsync fails
  sync_slow,          ///< syncs take long
  disk_low,           ///< little room is left
  disk_full,          ///< none is left
  bit_rot,            ///< a stored byte changes; its checksum tells
  clock_jump,         ///< the wall clock is set
  slow_reducers,      ///< each call of them takes long
  decision,           ///< no fault: an operator decides about some of what waits
  transaction,        ///< one is open for a while, and holds back what follows in its partition
  cluster_moved,      ///< a mirror takes the cluster's place, mostly with other offsets
};
inline constexpr std::size_t k_fault_kinds = 32;
[[nodiscard]] const char* name_of(fault_kind) noexcept;

struct fault {
  std::uint32_t at{0};  ///< the turn at which it happens
  fault_kind kind{fault_kind::kill};
  std::uint32_t amount{0};
  std::uint32_t choice{0};
};

/// How the streams of a history are configured.
struct stream_setup {
  bool arrival{false};
  bool strict{false};    ///< neither: latest
  bool deferred{false};  ///< strict and arrival
  first_number first{first_number::one};
  bool accepts_epochs{false};
  gap_policy gap{gap_policy::wait};
  std::int64_t gap_timeout{0};
  std::uint64_t most_of_aggregate{10'000};  ///< events that may wait
  /// And of the whole stream; while limits are not lifted, see running.
  std::optional<std::uint64_t> most_events{};
  std::optional<std::uint64_t> most_bytes{};
  bool stops{false};  ///< some payloads say that the reducer stops
  bool fails{false};  ///< some payloads say that the reducer fails
  retry_config retry{};
  id_kind ids{id_kind::uuidv7};  ///< opaque ones are texts that carry no time, monotonic ones numbers
  bool folds{false};       ///< the reducer's result depends on all events before; else the last one replaces
  bool in_headers{false};  ///< the fields come from key and headers, so that tombstones have a meaning
  bool is_cloudevents{false};  ///< in structured and binary mode; else JSON with fields of its own
  bundling bundles{bundling::none};
  bool has_epochs{false};
  bool starts_at_end{false};
  std::uint32_t partitions{1};
  std::int64_t window{0};
  std::int64_t skew{0};
  bool checks_times{false};  ///< record times far ahead have to be borne out
  std::optional<std::int64_t> retention{};
  bool changes_retention{false};  ///< from process to process: it may be longer, or not there
  bool parks_too_old{false};      ///< what is too old waits for an operator
};

/// What a thread of the program that embeds Ratchet wants done, and asks for until it knows what came of it.
struct request {
  std::uint32_t at{0};        ///< the turn of its first asking
  std::uint32_t patience{0};  ///< so many turns later it asks again
  std::uint32_t stream{0};
  std::uint32_t aggregate{0};
  std::string key;
  event_id id;  ///< of the key
  std::optional<hash128> fingerprint;
  std::string payload;  ///< empty: the aggregate's state goes
  bool fails{false};    ///< its function does, so that nothing is to be changed
  [[nodiscard]] bool has_key_of(const request&) const;
  [[nodiscard]] bool wants_the_same(const request&) const;
};

/// What an operator has changed for the process that runs: an instance that stopped is started again with it.
struct running {
  bool mended{false};  ///< the reducer, so that it does not say stop any more
  bool lifted{false};  ///< the limits of all that waits in a stream
  std::vector<std::optional<std::int64_t>> retention{};  ///< by stream
  std::function<void()> on_call{};                       ///< of a reducer
};

struct history {
  std::uint64_t seed{0};
  std::vector<stream_setup> streams;
  std::uint32_t step_records{10};
  std::uint32_t records_per_turn{4};
  bool sync_every_step{false};
  std::size_t queue_events{k_queue_events};  ///< so many waiting events are looked up for a step at most
  /// No two events claim one number or one id, none is older than the window, and nobody skips any: the final
  /// state is the same in whatever order they come.
  bool well_behaved{false};
  std::uint32_t sink_refuses{0};  ///< one in so many of its messages, for good; 0: none
  std::deque<message> messages;
  std::vector<const message*> log;  ///< in the order of the producer's sends, with its repeats
  std::vector<fault> faults;        ///< in the order of turns
  std::vector<request> requests;    ///< of streams that take transactions
};

constexpr std::int64_t k_begin = 1'700'000'000'000;  ///< of simulated time, in ms since 1970

/// The same for the same arguments, everywhere. `events` is how many the producer sends, repeats included.
[[nodiscard]] history make_history(std::uint64_t seed, std::uint32_t events);

/// Puts the events of streams whose records hold several into records, in the order in which they were to be
/// sent. `dice`: of these alone, so that other streams are what they were.
void bundle(history&, workload_random dice);

/// A CloudEvent in structured mode.
[[nodiscard]] std::string structured_text(const message&, const stream_setup&);

/// For a report: settings, faults and the first records.
[[nodiscard]] std::string describe(const history&);
/// For a trace: what it is about, and when.
[[nodiscard]] std::string describe(const message& record);

}  // namespace ratchet::sim
