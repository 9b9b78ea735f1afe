// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ratchet/error.hpp"
#include "ratchet/export.hpp"
#include "ratchet/gate.hpp"
#include "ratchet/table.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// When the write-ahead log is synced; see `state.sync`.
enum class sync_mode : std::uint8_t { interval, every_step };

/// Where Ratchet starts to read a partition that has no offset in the state or in Kafka.
enum class start_position : std::uint8_t { earliest, latest };

/// The kind of event ids.
enum class id_kind : std::uint8_t {
  none,
  uuidv7,  ///< ordered by the time within the id
  ulid,
  opaque,     ///< text of 1 to 1024 bytes. XXH3-128 of it is the id; its time is that of the record
  monotonic,  ///< numbers that grow for each partition and source. The last one is kept; there is no window
};

struct kafka_config {
  std::vector<std::string> brokers;
  std::string group;
  /// Properties of librdkafka. load_config() refuses those that Ratchet sets itself. A value of {file: PATH}
  /// or {env: NAME} is here in clear text. Never print the values: some are passwords.
  std::map<std::string, std::string> properties;
  std::chrono::milliseconds connect_timeout{
      30'000};  ///< the longest wait of a start for the first answer of a broker
};

struct state_config {
  std::filesystem::path path;
  std::chrono::milliseconds commit_interval{100};
  sync_mode sync{sync_mode::interval};
  /// Bytes to keep free on the file system of `path`. Below that Ratchet reads no records until there is room
  /// again. None: derived from the memory limit and the size of the file system. 0: no check.
  std::optional<std::uint64_t> min_free;
  /// The largest snapshot and the largest row of a table. An event that needs a larger one is dead.
  std::uint64_t snapshot_bytes{std::uint64_t{16} << 20U};
};

/// The format of a stream's records.
enum class envelope_format : std::uint8_t {
  json,             ///< JSON; the config maps each field
  cloudevents,      ///< CloudEvents 1.0 in the Kafka binding: structured (JSON) and binary mode
  debezium_outbox,  ///< records of Debezium's outbox event router: `json` with its header, key and value
  debezium_cdc,     ///< row changes of Debezium's connectors, with or without the schema
  ydb_changefeed,   ///< row changes of YDB: JSON with virtual timestamps and new images, or DEBEZIUM_JSON
};

/// How Ratchet orders the changes of one row.
enum class change_order : std::uint8_t {
  log,        ///< by the position in the database's log
  partition,  ///< by the place in the partition: the last change of a row is the newest
};

/// The unit of a time that is a number, counted from 1970.
enum class time_unit : std::uint8_t {
  milliseconds,
  seconds,  ///< a fraction is cut to milliseconds
  microseconds,
  nanoseconds,
};

/// The encoding of a record's key, for fields that come from it.
enum class key_kind : std::uint8_t {
  automatic,  ///< text, or JSON with the frame of a schema registry. Other bytes are malformed
  text,       ///< any UTF-8, also if it looks like the bytes of a binary serializer
  json,       ///< a JSON string or number; a string counts without its quotes
  i32,        ///< 4 bytes, big-endian, with a sign
  i64,        ///< 8 bytes, big-endian, with a sign
  uuid,       ///< 16 bytes, or 36 characters
};

/// The events that delete the snapshot of their aggregate, by `types` or by `field`. Null values delete, too.
struct delete_config {
  std::vector<std::string> types;  ///< types of events; `*` at an end stands for any text
  std::string field;               ///< a source, as in the envelope; empty: none
  std::vector<std::string> is;     ///< values of `field`; empty: all but null, false, 0 and the empty text
};

/// Whether a record's value holds several events.
enum class each_kind : std::uint8_t {
  none,   ///< the value is one event. A batch of `cloudevents` holds several
  array,  ///< a JSON array; each element is an event
  lines,  ///< NDJSON: each line that is not blank is an event
};

/// Several events in one record. They share its key, its headers and its place in the partition.
struct each_config {
  each_kind kind{each_kind::none};
  std::string pointer{};  ///< `array`: a JSON Pointer to the array; empty: the whole value
};

/// The source of each field: `/json/pointer` (RFC 6901) into the value, `key`, or `header:NAME`. In
/// `cloudevents`: `attribute:NAME`, `key` or `header:NAME`. Empty: the place that `format` defines, or none.
/// Formats of row changes define the places of all fields.
struct envelope_config {
  std::string event_id;
  std::string aggregate;
  std::string sequence;
  int sequence_bits{64};  ///< 64, or 128 for numbers up to 2^128 - 1, split into {high, low}
  std::string epoch;
  std::string type;
  std::string time;
  envelope_format format{envelope_format::json};
  int sequence_base{10};  ///< 10, or 16 for hexadecimal digits as text, in either case
  ratchet::time_unit time_unit{ratchet::time_unit::milliseconds};  ///< of numbers. Text may be RFC 3339
  /// The kind of `sequence`. by_format: text for `cloudevents` in order `latest`, else an integer. Ignored if
  /// `sequence` is `offset` or `timestamp`, the record's own.
  sequence_kind sequence_as{sequence_kind::by_format};
  /// `strict`, for events that cover a range of numbers that ends with `sequence`: the number of the event
  /// before it, or the first number of the range. At most one of the two. Empty: each event has one number.
  std::string previous{};
  std::string sequence_first{};
  /// Further parts. The id, or the aggregate, is all parts joined by `/`. Within a part `~0` stands for `~`,
  /// and `~1` for `/`.
  std::vector<std::string> event_id_more{};
  std::vector<std::string> aggregate_more{};
  key_kind key{key_kind::automatic};
  delete_config deletes{};
  change_order position{change_order::log};  ///< `debezium-cdc`
  /// `debezium-cdc`: the text that the connector writes for a column that did not change and is not in the
  /// log. The stored value of the column stays. Empty: no such text.
  std::string unavailable{"__debezium_unavailable_value"};
  /// For `json` only. Pointers of fields lead into the event; `record:/pointer` leads into the whole value.
  each_config each{};
};

/// `latest`: how Ratchet decides between two different events with one number.
enum class ties : std::uint8_t {
  usual,   ///< `later` for versions that are times or log positions, else `reject`
  reject,  ///< the second one is rejected (conflict)
  later,   ///< the later one wins, for versions that are coarser than the events
};

/// `latest`: whether an aggregate that was deleted may begin again with the number 0 or 1.
enum class after_delete : std::uint8_t {
  refuse,   ///< lower numbers are stale
  restart,  ///< such a number begins a new epoch
};

/// The answer to an event that is older than the window (`arrival`), or than `retention`.
enum class too_old : std::uint8_t {
  reject,
  park,  ///< it waits until an operator decides. But in `latest` its aggregate waits behind it
};

/// Whether the time of one record alone may move the stream's time.
enum class record_times : std::uint8_t {
  checked,  ///< a time far ahead of its neighbours' counts once other records confirm it
  trusted,  ///< each time counts; for topics with `message.timestamp.type=LogAppendTime`
};

struct dedup_config {
  id_kind ids{id_kind::uuidv7};
  std::chrono::milliseconds window{std::chrono::hours{24}};
  std::chrono::milliseconds max_skew{std::chrono::minutes{5}};
};

/// The failure that `kind: flaky` makes.
enum class failure_kind : std::uint8_t {
  retry,    ///< a passing failure
  give_up,  ///< a lasting failure
  stop,     ///< a failure that stops the partition
  throws,   ///< an exception
};

/// The events that `kind: flaky` fails. An empty field matches every event. All fields must match.
struct failure_rule {
  std::string type;      ///< the event's type
  std::string contains;  ///< bytes within the reducer's input
  failure_kind how{failure_kind::retry};
  std::uint32_t times{0};  ///< how many first attempts at an event fail; 0: all attempts
};

struct reducer_config {
  enum class kind_of : std::uint8_t {
    replace,
    merge_patch,
    flaky,
    own,  ///< a class of the program that embeds Ratchet; no built-in reducer may replace it
  } kind{kind_of::replace};
  /// `own`: the name in its reducer_traits. Empty, which only a program can set: any reducer of the program.
  std::string name;
  std::uint32_t version{1};
  std::string from;                ///< a JSON Pointer to the reducer's input; empty: the whole value
  std::vector<failure_rule> fail;  ///< `flaky`: the first rule that matches decides
  /// The longest time of one apply(). A longer one counts as a passing failure; it is never interrupted.
  /// None: no limit.
  std::optional<std::chrono::milliseconds> timeout;
};

/// When an event's reducer runs.
enum class handling : std::uint8_t {
  direct,    ///< in the step that reads the record
  deferred,  ///< in a later step. Until then the event waits, and its offset may be committed
};

/// The answer to a gap that does not close. Its age is measured in stream time.
enum class gap_policy : std::uint8_t {
  wait,  ///< wait without end
  skip,  ///< skip its numbers after the timeout, with an audit row
  stop,  ///< stop the stream after the timeout
};

struct gap_config {
  gap_policy policy{gap_policy::wait};
  std::chrono::milliseconds timeout{std::chrono::hours{1}};
};

/// Limits of waiting events: parked, retrying and dead ones together.
struct waiting_config {
  std::uint64_t per_aggregate{10'000};  ///< events; then the aggregate is held until an operator decides
  std::uint64_t events{1'000'000};      ///< of the stream; then the stream stops
  std::uint64_t bytes{std::uint64_t{4} << 30U};
};

/// When Ratchet tries an event again after its reducer failed.
struct retry_config {
  std::uint32_t attempts{8};               ///< in all; then the event is dead
  std::chrono::milliseconds backoff{200};  ///< after the first attempt; doubles with each one
  std::chrono::milliseconds most{std::chrono::minutes{5}};
};

/// How many rejected records are kept for `ratchet waiting list`: the newest ones.
struct rejected_config {
  std::uint64_t records{1000};  ///< at most 100'000
  /// How long each is kept after it was rejected, by the clock. None: `records` alone limits them.
  std::optional<std::chrono::milliseconds> age{std::chrono::hours{24 * 7}};
};

/// A message that Ratchet publishes for each applied event of `types`. Tombstones publish none.
struct emit_config {
  std::vector<std::string> types{};  ///< types of events; empty: all
  std::string topic;                 ///< a topic, or sink:NAME
  /// `aggregate`, `none`, or a JSON Pointer into the payload, to a string or an integer.
  std::string key{"aggregate"};
  std::string payload{};  ///< a JSON Pointer into the reducer's input; empty: the whole input, unchanged
  std::string as{};       ///< the type of the message; empty: that of the event
};

struct stream_config {
  std::string name;
  std::vector<std::string> topics;  ///< empty: fed by `ratchet apply` and app::transact() alone
  std::optional<start_position> start;
  envelope_config envelope;
  std::vector<std::string> types{};   ///< types of events to handle; others are ignored. Empty: all
  std::vector<std::string> ignore{};  ///< types of events to ignore. In both, `*` may end a type
  bool ignore_tombstones{false};      ///< ignore null values
  std::string ignore_having{};        ///< a field: ignore events that have it, and not as null; empty: none
  ratchet::order order{order::latest};
  ratchet::ties ties{ties::usual};                           ///< `latest`
  ratchet::after_delete after_delete{after_delete::refuse};  ///< `latest`
  ratchet::too_old too_old{too_old::reject};                 ///< park: `arrival`, or with `retention`
  first_number first{first_number::one};                     ///< `strict`
  ratchet::epoch_change epoch_change{epoch_change::park};    ///< `strict`
  gap_config gap;                                            ///< `strict`
  ratchet::handling handling{handling::direct};              ///< deferred: not in `latest`
  waiting_config waiting;
  retry_config retry;
  rejected_config rejected;
  dedup_config dedup;
  /// Ratchet forgets an aggregate this long after its last event, by stream time: its sequence, its snapshot
  /// and its existence. None: it keeps sequences without end.
  std::optional<std::chrono::milliseconds> retention;
  ratchet::record_times record_times{ratchet::record_times::checked};
  reducer_config reducer;
  std::uint32_t poison{100};  ///< so many malformed records in a row stop their partition; 0: no limit
  /// The topic for a copy of each rejected record and of each record with a dead event; empty: none.
  std::string dead_letter;
  /// The topic for an answer to the sender of each rejected record, as a CloudEvent; empty: none.
  std::string rejections;
  std::vector<std::string> outputs;  ///< topics, or sink:NAME, that its reducer may publish to
  std::vector<emit_config> emit;     ///< messages that Ratchet publishes without a reducer
  std::vector<table_config> tables;  ///< read models that its reducer writes
};

/// A sink that is an HTTP server: each message is a request.
struct http_sink_config {
  std::string url;                            ///< http:// or https://
  std::string method{"POST"};                 ///< or PUT
  std::chrono::milliseconds timeout{10'000};  ///< of a request, from its start to the end of the answer
  std::uint32_t concurrency{8};               ///< requests at a time, each of another aggregate
  /// Headers of each request. A value of {file: PATH} or {env: NAME} is here in clear text: never print the
  /// values.
  std::map<std::string, std::string> headers;
  std::filesystem::path ca;  ///< certificates (PEM) to trust; empty: the system's
};

/// A receiver of messages beside Kafka. Each sink has a lane of its own, so a slow sink does not delay
/// another one.
struct sink_config {
  enum class kind_of : std::uint8_t {
    http,
    callback,  ///< a function of the program: see sinks.hpp
    discard,   ///< messages that still wait for it are discarded
  };
  std::string name;  ///< 1 to 64 characters of a-z A-Z 0-9 . _ -
  kind_of kind{kind_of::http};
  http_sink_config http;
  /// The pause of an aggregate after a passing failure. It doubles with each failure, up to `most_pause`.
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds most_pause{30'000};
};

/// Limits of the outbox.
struct outbox_config {
  /// The bytes that may wait in a lane: that of all topics, or that of one sink. Above that Ratchet reads no
  /// records.
  std::uint64_t bytes{std::uint64_t{1} << 30U};
  /// The largest message. The event of a larger one is dead. The topics must take as much
  /// (max.message.bytes).
  std::uint64_t message_bytes{std::uint64_t{960} << 10U};
};

/// The address of /livez, /readyz and /metrics during a run.
struct http_config {
  std::string host{"127.0.0.1"};  ///< a numeric address of IPv4, or of IPv6 without brackets
  std::uint16_t port{0};          ///< 0: a free port; the log names it
};

/// When the owner of a replicated log writes a base, which is a whole copy of the state, and cuts the log
/// before it.
struct base_config {
  /// The log must be longer than this, and than two bases. Bytes of rows, before compression.
  std::uint64_t at_least{std::uint64_t{256} << 20U};
  std::chrono::milliseconds every{std::chrono::hours{24}};  ///< and so often, where the log has grown
  std::uint64_t rate{std::uint64_t{50} << 20U};             ///< at most so many bytes of rows a second
};

/// How the instances that follow a replicated log compare their state with the owner's, piece by piece.
struct digest_config {
  std::chrono::milliseconds every{std::chrono::minutes{1}};
  std::uint64_t bytes{std::uint64_t{64} << 20U};  ///< of rows, in each piece; all of them with each base
};

/// A log in Kafka through which other instances follow the state, and take over.
struct replicate_config {
  std::string topic;               ///< of the log; one partition. Bases are in `<topic>.base`
  std::string instance;            ///< unique among them
  std::string advertise;           ///< where others may reach it; for people
  std::string compression{"lz4"};  ///< of the log's records and the bases': lz4, zstd or none
  base_config base;
  digest_config digest;
};

/// Where the bases are.
[[nodiscard]] inline std::string base_topic_of(const replicate_config& c) {
  return c.topic + ".base";
}

struct config {
  std::filesystem::path file;  ///< the file that it was read from; may be empty
  kafka_config kafka;
  state_config state;
  std::vector<stream_config> streams;
  std::vector<sink_config> sinks;
  outbox_config outbox;
  std::optional<http_config> http;            ///< none: no port is opened
  std::optional<replicate_config> replicate;  ///< none: one machine has the state
  std::uint64_t memory_limit{std::uint64_t{1}
                             << 30};  ///< bytes: indexes, caches, memtables and the prefetch queue
  std::size_t step_records{20'000};   ///< the most records of a step
  std::vector<diagnostic>
      warnings;  ///< findings that are no errors, for example a mode of a secret's file that lets others read
};

/// The purpose of loading a config. Commands that only read a state directory need no secrets, and must work
/// without them.
enum class config_use : std::uint8_t {
  everything,
  state_only,  ///< properties of the form {file: …} or {env: …} are not read, and are left out
};

/// Values that override the file: `--set a.b=c` and `-X property=value`, in the order given.
struct config_overrides {
  std::vector<std::string> set;
  std::vector<std::string> kafka_properties;
};

/// Reads and checks a YAML file. Errors are unknown and duplicate keys, wrong types, contradictions and
/// features that are not built yet. It reports all of them at once. librdkafka checks its own properties.
/// Errors: config_invalid, with diagnostics; io if the file cannot be read.
[[nodiscard]] RATCHET_EXPORT reported<config> load_config(const std::filesystem::path& file,
                                                          const config_overrides& = {},
                                                          config_use = config_use::everything);

/// As load_config(), from text. Diagnostics name `name` as the file.
[[nodiscard]] RATCHET_EXPORT reported<config> parse_config(const std::string& text, const std::string& name,
                                                           const config_overrides& = {},
                                                           config_use = config_use::everything);

}  // namespace ratchet
