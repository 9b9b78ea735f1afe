// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kept_rejected.hpp"
#include "core/resume.hpp"
#include "core/stream_state.hpp"
#include "ratchet/error.hpp"

/// The bytes on disk, schema version 6. Golden tests pin every one of them.
///
/// Integers are big-endian; i64 and i32 are stored as the unsigned number of the same bits. Every value
/// starts with a format byte, now 1. `bytes` = u32 length, then as many bytes. `optional` members are there
/// where their flag bit is set. A value with an unknown format byte, an unknown flag, bytes missing or bytes
/// left over is damaged.
///
/// `text` inside a key is order-preserving and prefix-free: 00 is written as 00 FF, and 00 01 ends it. An
/// aggregate id that stands last in its key is there as raw bytes. `ordered i64` is an i64 with its sign bit
/// turned over, so that its bytes are in its order.
///
/// Every column family:
///   step            key: default 00; elsewhere 00000000 (stream ids start at 1)    value: format, u64 step
///                   Written by every step into each of them, in `default` as the first entry of the batch,
///                   so that the step can be read off a WAL record, and a family that lacks a step or is
///                   ahead of the others gives itself away.
/// default:
///   identity        01                                     format, u32 schema version, bytes uuid (36
///                                                          characters), bytes group, bytes cluster id
///   copy mark       02                                     format, u8 flags (1 opened), u64 step, i64 time.
///                                                          In a checkpoint, until it was started: see
///                                                          copy_mark.
///   outbox epoch    03                                     format, u64 epoch. Absent: 0
///   outbox          04 lane                                format, u64 first, u64 next, u64 bytes, and,
///   where
///                                                          rows between them are gone, u64 how many. Absent:
///                                                          it was never used. A lane is the name of a sink;
///                                                          it is empty for Kafka's topics
///   stream          10 name                                format, u32 id, bytes hash ("sha256:" and 64 hex
///                                                          digits), u32 count, count times: bytes key, bytes
///                                                          value.
///                   The hash is SHA-256 of the lines: for each, bytes key, bytes value.
///   stream state    20 u32 stream                          format, u8 flags (1 floor, 2 times passed over, 4
///                                                          below first, 8 forgotten, 16 forgotten before, 32
///                                                          untimed since, 64 times behind, 128 sequence
///                                                          mixed), optional i64 floor, 18 u64
///                                                          counters in the order of struct counters, and
///                                                          those of 2, 4 and 8; optional i64 times of 16
///                                                          and 32, see retention_state; counters of 64 and
///                                                          128
///   partition       21 u32 stream, text topic, i32 p.      format, u8 flags (1 time, 2 idle, 4 hash), i64
///                                                          next offset (-1, -2: not read yet), optional
///                                                          i64 highest time, u32 malformed run, optional
///                                                          XXH3-128 of the last record; flag 64: u32 how
///                                                          many events of the record at the next offset were
///                                                          handled, not 0
///   slot            22 u32 slot                            format, u64 step, XXH3-128 chain, u32 generation,
///                                                          u32 attempt, u64 writer, u64 last step before
///                                                          the writer's fence, i64 offset, u64 bytes of
///                                                          the rows of all steps, lineage (16 bytes). How
///                                                          far the store is in the slot's replicated log:
///                                                          all of its records up to this offset are in here.
///                                                          Only replicas have it
///   restore         23                                     format. A whole copy is being read into the
///   store,
///                                                          and not all of it is here. Only replicas have it
///   owner           24                                     format, u32 generation, u32 attempt, bytes
///                                                          instance, bytes address: whose fence the
///                                                          replicated log had last. Only replicas have it
///   incarnation     30 u64 counter, u64 random             format
///   rejected        40 u32 stream, text topic, i32 p.,     format, u8 flags (1 record time, 2 key, 4 value,
///                   i64 offset, where not 0 u32 index      8 truncated, 16 sequence, 32 id, 64 time), u64
///                                                          step, u32 ordinal in the step, i64 time when it
///                                                          was rejected, u8 reason, u64 byte offset,
///                                                          optional i64 record time, optional u64 epoch and
///                                                          u64 number, optional id (16 bytes), optional i64
///                                                          time, bytes detail, bytes pointer, optional bytes
///                                                          key, optional bytes value
///   audit           50 u64 step, u32 ordinal in the step   format, i64 time, bytes kind, bytes stream, bytes
///                                                          text. Format 2, of a row that names a partition
///                                                          or a range: u8 flags (1 partition, 2 range), as
///                                                          above, optional bytes topic and i32 partition,
///                                                          optional i64 from and i64 to
/// sequences:
///   aggregate       u32 stream, u32 slot, aggregate        format, u8 flags (1 id, 2 time, 4 deleted, 8
///                                                          snapshot in `snapshots`, 16 nothing was applied
///                                                          or skipped yet: epoch and number are 0, and there
///                                                          is no snapshot; 32 it has a backlog; 64 seen),
///                                                          u64 epoch, u64 number, XXH3-128 of the payload,
///                                                          optional id (16 bytes), optional i64 time,
///                                                          optional i64 when its last event was handled, and
///                                                          the snapshot up to the value's end
/// snapshots:
///   snapshot        as the aggregate's key                 format, snapshot
/// dedup:
///   run of ids      u32 stream, u32 slot, u48 start in     format, u16 count, count times: id (16 bytes),
///                   milliseconds, u8 bits, u64 step,       count times: u16 length, and as many bytes of
///                   u16 part                               aggregates
///   opaque id       u32 stream + 2^31, u32 slot, id (16    format, i64 the time that it is filed under.
///                   bytes), aggregate                      A transaction's: see answer.hpp
/// waiting:
///   event           01 u32 stream, u32 slot, text          format, u8 state (0 parked, 1 retrying, 2 dead),
///                   aggregate, u64 epoch, u64 number       u16 flags (1 id, 2 since, 4 tombstone, 8 time,
///                                                          16 last attempt, 32 due, 64 record time, 128 key,
///                                                          256 value, 512 payload of its own, 1024 time of
///                                                          the id), XXH3-128 of the payload, optional id (16
///                                                          bytes), optional i64 since, bytes type, optional
///                                                          i64 time, i64 first seen, u32 attempts, optional
///                                                          i64 last attempt, optional i64 due, bytes error,
///                                                          bytes topic, i32 partition, i64 offset, optional
///                                                          i64 record time, optional bytes key, optional
///                                                          bytes value, u32 headers, as many times: u8 (1:
///                                                          it has a value), bytes name, optional bytes
///                                                          value; u64 where the payload begins in the value,
///                                                          u64 its size, optional bytes payload, optional
///                                                          i64 what the opaque id is filed under, where
///                                                          neither the record's time nor since says so;
///                                                          flag 4096: u32 index in the record, not 0
///   backlog         02 u32 stream, u32 slot, aggregate     format, u8 flags (1 held, 2 ready, 4 wake, 8 gap,
///                                                          16 adopted, 32 accepted, 64 accepted has an id,
///                                                          128 reopened), u64 parked, u64 retrying, u64
///                                                          dead, u64 epoch and u64 number of the highest,
///                                                          optional i64 wake, optional i64 gap, optional u64
///                                                          epoch and u64 number adopted, u32 skipped ranges,
///                                                          as many times: u64 epoch and u64 number of the
///                                                          first, the same of the last; of accepted ones u64
///                                                          epoch and u64 number, optional id, payload hash,
///                                                          u64 events; where ids are reopened u32 ids, as
///                                                          many times: id, i64 filed; optional i64 opened.
///                                                          Format 2: behind the flags u64 how many of the
///                                                          dead are too old, not 0
///   wake            03 u32 stream, ordered i64 wake, u32   format
///                   slot, aggregate
///   gap             04 u32 stream, ordered i64 gap, u32    format
///                   slot, aggregate
///   id              05 u32 stream, u32 slot, text          format, u64 epoch, u64 number. Of streams in
///                   aggregate, id (16 bytes)               `arrival` order alone, and of events that are
///                                                          not accepted
///
/// outbox:
///   output          01 u64 position                        format, u8 kind (0 dead letter, 1 rejection, 2
///                                                          published, 3 skipped), u8 flags (1 key, 2 value,
///                                                          4 time),
///                                                          u32 stream, id (16 bytes), bytes aggregate, bytes
///                                                          topic, optional bytes key, optional bytes value,
///                                                          u32 headers, as many times: u8 (1: it has a
///                                                          value), bytes name, optional bytes value;
///                                                          optional i64 time; of a published one also bytes
///                                                          type, bytes source, bytes content type, u64
///                                                          outbox epoch, u64 position when it was published
///   of a sink       02 lane, 00, u64 position              the same; the topic is "sink:" and the lane
///
/// tables:
///   row             01 u32 stream, u32 slot, text table,   format, value. The key of a row is its bytes; of
///                   key                                    a table of u64 keys it is the number as u64
///
/// wake, gap and id are indexes: of the backlogs that have one, and of the events that have an id.
///
/// A run holds what one step filed in one span of time, in the order of ids, then of aggregates, none twice.
/// A span is 2^bits milliseconds long and begins at a multiple of that. What is too much for a run goes on in
/// the next part. So a run costs as much to write as a row, files hold runs of about one time, and with the
/// aggregates in full no hash decides what is stored.
///
/// An opaque id has no time in it to look for it by, so that each is a row of its own: its 16 bytes are
/// XXH3-128 of the text, as in the aggregate's row and everywhere else. Filed again it takes the later time.
namespace ratchet::layout {

constexpr std::uint32_t k_schema_version = 6;
constexpr char k_format = 1;
constexpr char k_audit_format_with_place = 2;
constexpr char k_backlog_format_too_old = 2;
/// A longer snapshot goes to the column family `snapshots`.
constexpr std::size_t k_inline_snapshot_bytes = 1024;
/// Ids in a run at most.
constexpr std::size_t k_run_ids = 256;
/// How wide the spans of runs may be, in bits of milliseconds: 64 ms, 1 s and 16 s. Whoever looks for an id
/// looks into one span of each width.
constexpr std::array<unsigned, 3> k_span_bits{6, 10, 14};
/// Is added to the stream in the keys of opaque ids, so that these lie behind all runs.
constexpr std::uint32_t k_opaque_ids = std::uint32_t{1} << 31U;
/// Of a rejected record's value as much is kept.
constexpr std::size_t k_rejected_value_bytes = std::size_t{64} * 1024;
/// No config keeps more rejected records than this for a stream.
constexpr std::size_t k_most_rejected_rows = 100'000;

/// Prefixes in `default`.
enum class kind : std::uint8_t {
  step = 0x00,
  identity = 0x01,
  copy_mark = 0x02,
  outbox_epoch = 0x03,
  outbox = 0x04,
  stream = 0x10,
  stream_state = 0x20,
  partition = 0x21,
  slot = 0x22,
  restore = 0x23,
  owner = 0x24,
  incarnation = 0x30,
  rejected = 0x40,
  audit = 0x50,
};

struct identity {
  std::uint32_t schema_version{k_schema_version};
  std::string uuid;
  std::string group;
  std::string cluster_id;
  friend bool operator==(const identity&, const identity&) = default;
};

struct stream_record {
  stream_id id{0};
  std::string hash;
  std::vector<std::pair<std::string, std::string>> lines;
  friend bool operator==(const stream_record&, const stream_record&) = default;
};

/// An aggregate's row as it lies in `sequences`; `snapshot` is borrowed from the value.
struct aggregate_value {
  bool has_last{true};
  bool waits{false};
  sequence last;
  std::optional<event_id> id;
  hash128 payload_hash;
  std::optional<timestamp> time;
  bool deleted{false};
  bool external{false};
  std::optional<timestamp> seen;
  std::string_view snapshot;
};

/// A span of time, of which `dedup` has runs.
struct id_span {
  std::uint64_t start{0};  ///< milliseconds
  unsigned bits{0};
  /// The span of this width that the id lies in.
  [[nodiscard]] static constexpr id_span of(const event_id& id, unsigned bits) noexcept {
    return {id.high >> 16U >> bits << bits, bits};
  }
  /// The first millisecond behind it.
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return start + (std::uint64_t{1} << bits); }
  friend bool operator==(const id_span&, const id_span&) = default;
};

/// An id as it is filed; the aggregate is borrowed.
struct filed_id {
  event_id id;
  std::string_view aggregate;
  friend auto operator<=>(const filed_id&, const filed_id&) = default;
};

/// The value of a run, borrowed.
class id_run {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] event_id id(std::size_t index) const noexcept;
  /// Takes time in proportion to the index.
  [[nodiscard]] std::string_view aggregate(std::size_t index) const noexcept;
  /// The first index whose id is not below.
  [[nodiscard]] std::size_t lower_bound(const event_id&) const noexcept;
  [[nodiscard]] bool holds(const filed_id&) const noexcept;
  /// Calls visit(filed_id) for each in order until it returns false, which each() then returns, too.
  template <class Visit>
  bool each(Visit visit) const {
    for (std::size_t i = 0, begin = 0; i < count_; begin += length(i), ++i) {
      if (!visit(filed_id{id(i), aggregates_.substr(begin, length(i))})) return false;
    }
    return true;
  }

 private:
  friend result<id_run> decode_id_run(id_span, std::string_view);
  [[nodiscard]] std::size_t length(std::size_t index) const noexcept;
  std::size_t count_{0};
  std::string_view ids_;
  std::string_view lengths_;
  std::string_view aggregates_;
};

// Keys.
[[nodiscard]] std::string step_key(bool in_default);
[[nodiscard]] std::string identity_key();
[[nodiscard]] std::string copy_mark_key();
[[nodiscard]] std::string outbox_epoch_key();
[[nodiscard]] std::string stream_key(std::string_view name);
[[nodiscard]] std::string stream_state_key(stream_id);
[[nodiscard]] std::string partition_key(stream_id, const topic_partition&);
[[nodiscard]] std::string incarnation_key(const incarnation&);
[[nodiscard]] std::string rejected_key(stream_id, const kept_rejected::position&);
[[nodiscard]] std::string audit_key(std::uint64_t step, std::uint32_t ordinal);
/// All keys of this kind (and stream) in `default` start so.
[[nodiscard]] std::string prefix_of(kind);
[[nodiscard]] std::string prefix_of(kind, stream_id);
/// All keys of a stream in `sequences`, `snapshots` and `dedup` start so.
[[nodiscard]] std::string stream_prefix(stream_id, slot = k_instance_slot);
/// The lowest key that is above every key with this prefix.
[[nodiscard]] std::string end_of_prefix(std::string prefix);
/// Appends to `out`, which many keys of a batch share.
void append_aggregate_key(std::string& out, stream_id, slot, std::string_view aggregate);
void append_id_run_key(std::string& out, stream_id, slot, id_span, std::uint64_t step, std::uint16_t part);
void append_opaque_id_key(std::string& out, stream_id, slot, const event_id&, std::string_view aggregate);
/// All keys of a stream's opaque ids in `dedup` start so.
[[nodiscard]] std::string opaque_ids_prefix(stream_id, slot = k_instance_slot);
/// True for a key in `dedup` that is not a run's.
[[nodiscard]] bool is_opaque_id_key(std::string_view key) noexcept;
/// All keys of a span's runs in `dedup` start so.
[[nodiscard]] std::string span_prefix(stream_id, slot, id_span);
constexpr std::size_t k_span_prefix_bytes = 4 + 4 + 6 + 1;
[[nodiscard]] constexpr std::size_t aggregate_key_size(std::size_t aggregate_bytes) {
  return 8 + aggregate_bytes;
}

[[nodiscard]] constexpr std::size_t opaque_id_key_size(std::size_t aggregate_bytes) {
  return 24 + aggregate_bytes;
}

struct parsed_aggregate_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  std::string_view aggregate;
};
struct parsed_id_run_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  id_span span;
  std::uint64_t step{0};
  std::uint16_t part{0};
};
struct parsed_opaque_id_key {
  stream_id stream{0};
  ratchet::slot slot{0};
  event_id id;
  std::string_view aggregate;
};
struct parsed_partition_key {
  stream_id stream{0};
  topic_partition where;
};
struct parsed_rejected_key {
  stream_id stream{0};
  topic_partition where;
  std::int64_t offset{0};
  std::uint32_t index{0};
};
// Errors of everything below: state_damaged.
[[nodiscard]] result<parsed_aggregate_key> parse_aggregate_key(std::string_view);
[[nodiscard]] result<parsed_id_run_key> parse_id_run_key(std::string_view);
[[nodiscard]] result<parsed_opaque_id_key> parse_opaque_id_key(std::string_view);
[[nodiscard]] result<std::string> parse_stream_key(std::string_view);
[[nodiscard]] result<stream_id> parse_stream_state_key(std::string_view);
[[nodiscard]] result<parsed_partition_key> parse_partition_key(std::string_view);
[[nodiscard]] result<incarnation> parse_incarnation_key(std::string_view);
[[nodiscard]] result<parsed_rejected_key> parse_rejected_key(std::string_view);
[[nodiscard]] result<rejected_place> parse_audit_key(std::string_view);

// Values.
[[nodiscard]] std::string encode_step(std::uint64_t);
[[nodiscard]] result<std::uint64_t> decode_step(std::string_view);
[[nodiscard]] std::string encode_identity(const identity&);
/// Reads the schema version of any other format, too: an identity with another version is returned with that
/// alone.
[[nodiscard]] result<identity> decode_identity(std::string_view);
[[nodiscard]] std::string encode_copy_mark(const copy_mark&);
[[nodiscard]] result<copy_mark> decode_copy_mark(std::string_view);
[[nodiscard]] std::string encode_outbox_epoch(std::uint64_t);
[[nodiscard]] result<std::uint64_t> decode_outbox_epoch(std::string_view);
[[nodiscard]] std::string encode_stream(const stream_record&);
[[nodiscard]] result<stream_record> decode_stream(std::string_view);
[[nodiscard]] std::string encode_lines(std::span<const std::pair<std::string, std::string>>);
[[nodiscard]] std::string encode_stream_state(std::optional<timestamp> floor, const counters&,
                                              const retention_state& = {});
/// Without the partitions, which have rows of their own.
[[nodiscard]] result<stream_state> decode_stream_state(std::string_view);
[[nodiscard]] std::string encode_partition(const partition_state&);
[[nodiscard]] result<partition_state> decode_partition(std::string_view);
/// The value of a key that says everything.
[[nodiscard]] std::string_view encode_presence();
[[nodiscard]] result<void> decode_presence(std::string_view);
/// Ids of one span, sorted and distinct, at most k_run_ids. `out` is overwritten.
void encode_id_run(std::string& out, std::span<const filed_id>);
/// `span` is what the key says. Errors: state_damaged, also where an id lies outside of it or out of order.
[[nodiscard]] result<id_run> decode_id_run(id_span span, std::string_view);
[[nodiscard]] std::string encode_filed_time(timestamp);
/// Of an id without an answer; of any: filed_time_of().
[[nodiscard]] result<timestamp> decode_filed_time(std::string_view);
[[nodiscard]] std::string encode_rejected(const rejected_row&, rejected_place);
/// `key` gives the position.
[[nodiscard]] result<std::pair<rejected_place, rejected_row>> decode_rejected(const parsed_rejected_key& key,
                                                                              std::string_view);
[[nodiscard]] std::string encode_audit(const audit_row&);
[[nodiscard]] result<audit_row> decode_audit(rejected_place key, std::string_view);

/// The head of an aggregate's value; the snapshot follows it where it is inline.
struct aggregate_head {
  std::array<char, 1 + 1 + 16 + 16 + 16 + 8 + 8> bytes;
  std::size_t size{0};
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};
[[nodiscard]] inline bool is_external(const aggregate_row& row) {
  return row.has_last && !row.deleted && row.snapshot.size() > k_inline_snapshot_bytes;
}
/// `external`: the snapshot lies in `snapshots`.
[[nodiscard]] aggregate_head encode_aggregate_head(const aggregate_row&, bool external);
[[nodiscard]] inline aggregate_head encode_aggregate_head(const aggregate_row& row) {
  return encode_aggregate_head(row, is_external(row));
}
[[nodiscard]] result<aggregate_value> decode_aggregate(std::string_view);
[[nodiscard]] result<std::string_view> decode_snapshot(std::string_view);

}  // namespace ratchet::layout
