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

/// Where a partition starts that neither the store nor Kafka knows.
enum class start_position : std::uint8_t { earliest, latest };

/// What event ids are.
enum class id_kind : std::uint8_t {
  none,
  uuidv7,  ///< its own time orders it, as a ULID's
  ulid,
  opaque,  ///< any text of 1 to 1024 bytes: XXH3-128 of it counts as the id, and the record's time as its own
  monotonic,  ///< a number that grows in each partition, of each source: the last one is kept, and no window
};

struct kafka_config {
  std::vector<std::string> brokers;
  std::string group;
  /// librdkafka properties; those that Ratchet must own are refused by load_config(). What was given as
  /// {file: PATH} or {env: NAME} is here as read: passwords are among them, so never print the values.
  std::map<std::string, std::string> properties;
  std::chrono::milliseconds connect_timeout{
      30'000};  ///< how long a start waits for the brokers' first answer
};

struct state_config {
  std::filesystem::path path;
  std::chrono::milliseconds commit_interval{100};
  sync_mode sync{sync_mode::interval};
  /// Bytes to keep free on the file system of `path`: below, nothing more is consumed until there is room
  /// again. None: chosen by the memory limit and the file system's size. 0: never looked at.
  std::optional<std::uint64_t> min_free;
  /// An event that would leave a larger snapshot, or put a larger row into a table, is dead.
  std::uint64_t snapshot_bytes{std::uint64_t{16} << 20U};
};

/// What a record of the stream looks like.
enum class envelope_format : std::uint8_t {
  json,             ///< every field where the config says
  cloudevents,      ///< CloudEvents 1.0 by their Kafka binding, in structured (JSON) and binary mode
  debezium_outbox,  ///< what Debezium's outbox event router writes: `json` with its header, key and value
  debezium_cdc,     ///< row changes as Debezium's connectors write them, with or without the schema
  ydb_changefeed,   ///< row changes of YDB: JSON with virtual timestamps and new images, or DEBEZIUM_JSON
};

/// What tells an earlier row change from a later one.
enum class change_order : std::uint8_t {
  log,        ///< its position in the database's log
  partition,  ///< its place in its partition: of a row the change that comes last is the newest
};

/// What a number counts where it stands for a time, since 1970.
enum class time_unit : std::uint8_t {
  milliseconds,
  seconds,  ///< also with a fraction, of which milliseconds are kept
  microseconds,
  nanoseconds,
};

/// What the bytes of a record's key are, where a field is taken from it.
enum class key_kind : std::uint8_t {
  automatic,  ///< text; behind the frame of a schema registry, JSON. Bytes that are neither are malformed
  text,       ///< any UTF-8, also with bytes that look like those of a binary serializer
  json,       ///< a JSON string or number: what it says, without the quotes
  i32,        ///< 4 bytes, big-endian, with a sign
  i64,        ///< 8 bytes, big-endian, with a sign
  uuid,       ///< 16 bytes, or 36 characters
};

/// Which events delete the snapshot of their aggregate, beside null values: what fits either.
struct delete_config {
  std::vector<std::string> types;  ///< of the events; `*` at an end stands for any text
  std::string field;               ///< a source as those of the envelope; empty: none
  std::vector<std::string> is;  ///< what the field says then; empty: anything but null, false, 0 and no text
};

/// Whether a record's value holds several events.
enum class each_kind : std::uint8_t {
  none,   ///< the value is one event; of `cloudevents`, a batch is one event each
  array,  ///< a JSON array, each element of which is an event
  lines,  ///< NDJSON: each line that is not blank is an event
};

/// Several events in one record. They have its key, its headers and its place in the partition.
struct each_config {
  each_kind kind{each_kind::none};
  std::string pointer{};  ///< `array`: where it is in the value; empty: it is the value
};

/// Where each field comes from: `/json/pointer` (RFC 6901) into the value, `key`, or `header:NAME`; in
/// `cloudevents` `attribute:NAME`, `key` or `header:NAME`. Empty: not mapped, or as the format has it: see
/// `format`. Formats of row changes know all fields by themselves.
struct envelope_config {
  std::string event_id;
  std::string aggregate;
  std::string sequence;
  int sequence_bits{64};  ///< 64, or 128: digits up to 2^128 - 1, split into {high, low}
  std::string epoch;
  std::string type;
  std::string time;
  envelope_format format{envelope_format::json};
  int sequence_base{10};  ///< 10, or 16: hexadecimal digits in either case, as text
  ratchet::time_unit time_unit{ratchet::time_unit::milliseconds};  ///< of numbers; text may be RFC 3339 too
  /// What `sequence` holds. By format: of `cloudevents` in order `latest` text, as its extension has it, else
  /// an integer. Not looked at where `sequence` is `offset` or `timestamp`, the record's own.
  sequence_kind sequence_as{sequence_kind::by_format};
  /// `strict`, where an event covers a range of numbers of which `sequence` is the last: the number of the
  /// event before it, or its own first number. One of the two at most; empty: each event has one number.
  std::string previous{};
  std::string sequence_first{};
  /// Further parts: the id, or the aggregate, is all of them, joined by `/` (in a part `~` is `~0`, `/` is
  /// `~1`).
  std::vector<std::string> event_id_more{};
  std::vector<std::string> aggregate_more{};
  key_kind key{key_kind::automatic};
  delete_config deletes{};
  change_order position{change_order::log};  ///< `debezium-cdc`
  /// `debezium-cdc`: what the connector writes in place of a column that did not change and is not in the
  /// log; what is stored of the column stays. Empty: nothing is looked for.
  std::string unavailable{"__debezium_unavailable_value"};
  /// Of `json` alone. Pointers go into the event; record:/pointer goes into the whole value.
  each_config each{};
};

/// `latest`: what becomes of two events with one number, which are not the same event.
enum class ties : std::uint8_t {
  usual,   ///< `later` where versions are times or log positions, else `reject`
  reject,  ///< the second one is rejected (conflict)
  later,   ///< the one that comes later wins: versions are coarser than the events
};

/// `latest`: whether an aggregate that was deleted may begin again with the number 0 or 1.
enum class after_delete : std::uint8_t {
  refuse,   ///< lower numbers are stale, as ever
  restart,  ///< its numbers begin a new epoch
};

/// `arrival`: what becomes of an event that is older than the window.
enum class too_old : std::uint8_t {
  reject,
  park,  ///< it waits, and its aggregate behind it, until an operator decides
};

/// Whether the times of records move a stream's time at once.
enum class record_times : std::uint8_t {
  checked,  ///< one that is far ahead of its neighbours' has to be borne out by others
  trusted,  ///< as they come; for topics whose brokers set them (`message.timestamp.type=LogAppendTime`)
};

struct dedup_config {
  id_kind ids{id_kind::uuidv7};
  std::chrono::milliseconds window{std::chrono::hours{24}};
  std::chrono::milliseconds max_skew{std::chrono::minutes{5}};
};

/// How `kind: flaky` fails.
enum class failure_kind : std::uint8_t {
  retry,    ///< as a passing failure
  give_up,  ///< as a lasting one
  stop,     ///< as one after which nothing may go on
  throws,   ///< by an exception
};

/// Which events `kind: flaky` fails. What is empty fits every event; what is given must all fit.
struct failure_rule {
  std::string type;      ///< the event's type
  std::string contains;  ///< bytes that stand somewhere in the reducer's input
  failure_kind how{failure_kind::retry};
  std::uint32_t times{0};  ///< so many first attempts at an event fail; 0: all of them
};

struct reducer_config {
  enum class kind_of : std::uint8_t {
    replace,
    merge_patch,
    flaky,
    own,  ///< a class of the program that embeds Ratchet, which no other may stand in for
  } kind{kind_of::replace};
  /// `own`: what its reducer_traits say. Without a name, as only a program can make it, any reducer will do.
  std::string name;
  std::uint32_t version{1};
  std::string from;                ///< a JSON Pointer to the reducer's input; empty: the whole value
  std::vector<failure_rule> fail;  ///< `flaky`: the first that fits decides
  /// An apply() that takes longer counts as failed, and is tried again; it is never interrupted. None: no
  /// limit.
  std::optional<std::chrono::milliseconds> timeout;
};

/// When an event's reducer runs.
enum class handling : std::uint8_t {
  direct,    ///< in the step that reads its record
  deferred,  ///< in a step of its own: until then the event waits, and its offset may be committed
};

/// What becomes of a gap that does not close; its age is measured in stream time.
enum class gap_policy : std::uint8_t {
  wait,  ///< for ever
  skip,  ///< after the timeout its numbers are skipped, which is recorded
  stop,  ///< after the timeout the stream stops
};

struct gap_config {
  gap_policy policy{gap_policy::wait};
  std::chrono::milliseconds timeout{std::chrono::hours{1}};
};

/// How much may wait: parked, retrying and dead events together.
struct waiting_config {
  std::uint64_t per_aggregate{10'000};  ///< events; then its aggregate is dead until an operator decides
  std::uint64_t events{1'000'000};      ///< of the stream; then it stops
  std::uint64_t bytes{std::uint64_t{4} << 30U};
};

/// When an event whose reducer failed is tried again.
struct retry_config {
  std::uint32_t attempts{8};               ///< in all; then it is dead
  std::chrono::milliseconds backoff{200};  ///< behind the first attempt; doubles with each
  std::chrono::milliseconds most{std::chrono::minutes{5}};
};

/// How much is kept of rejected records, for people to look at: the newest.
struct rejected_config {
  std::uint64_t records{1000};  ///< at most 100'000
  /// By the clock, since they were rejected. None: they go by number alone.
  std::optional<std::chrono::milliseconds> age{std::chrono::hours{24 * 7}};
};

/// A message that is published for each applied event that fits, but for tombstones.
struct emit_config {
  std::vector<std::string> types{};  ///< of the events; empty: all
  std::string topic;                 ///< or sink:NAME
  /// `aggregate`, `none`, or a JSON Pointer into the payload, to a string or an integer.
  std::string key{"aggregate"};
  std::string payload{};  ///< a JSON Pointer into the reducer's input; empty: all of it, byte for byte
  std::string as{};       ///< the message's type; empty: that of the event
};

struct stream_config {
  std::string name;
  std::vector<std::string> topics;  ///< may be empty: then the stream is fed by `ratchet apply` alone
  std::optional<start_position> start;
  envelope_config envelope;
  std::vector<std::string> types{};   ///< of events that are handled, all others are ignored; empty: all
  std::vector<std::string> ignore{};  ///< types of events that are ignored; in both `*` ends a type
  bool ignore_tombstones{false};      ///< null values are ignored
  ratchet::order order{order::latest};
  ratchet::ties ties{ties::usual};                           ///< `latest`
  ratchet::after_delete after_delete{after_delete::refuse};  ///< `latest`
  ratchet::too_old too_old{too_old::reject};                 ///< `arrival`
  first_number first{first_number::one};                     ///< `strict`
  ratchet::epoch_change epoch_change{epoch_change::park};    ///< `strict`
  gap_config gap;                                            ///< `strict`
  ratchet::handling handling{handling::direct};              ///< deferred: not of `latest`
  waiting_config waiting;
  retry_config retry;
  rejected_config rejected;
  dedup_config dedup;
  /// An aggregate whose last event is older, by the stream's own time, is forgotten: its sequence, its
  /// snapshot, and that it ever was. None: sequences are kept for ever.
  std::optional<std::chrono::milliseconds> retention;
  ratchet::record_times record_times{ratchet::record_times::checked};
  reducer_config reducer;
  std::uint32_t poison{100};  ///< records in a row that cannot be decoded stop a partition; 0: off
  /// The topic that gets a copy of each record that was rejected, or whose event is dead; empty: none.
  std::string dead_letter;
  /// The topic that gets an answer to the sender of each rejected record, as a CloudEvent; empty: none.
  std::string rejections;
  std::vector<std::string> outputs;  ///< topics that its reducer may publish to; sinks as sink:NAME
  std::vector<emit_config> emit;     ///< what is published without a reducer's doing
  std::vector<table_config> tables;  ///< read models that its reducer writes
};

/// A sink that is an HTTP server: each message is a request.
struct http_sink_config {
  std::string url;                            ///< http:// or https://
  std::string method{"POST"};                 ///< or PUT
  std::chrono::milliseconds timeout{10'000};  ///< of one request, from its start to the end of the answer
  std::uint32_t concurrency{8};               ///< so many requests at a time, of as many aggregates
  /// Added to each request. What was given as {file: PATH} or {env: NAME} is here as read: never print the
  /// values.
  std::map<std::string, std::string> headers;
  std::filesystem::path ca;  ///< certificates (PEM) to trust; empty: the system's
};

/// Where messages go that are not for Kafka. Each sink is sent to on its own: one that is slow or away holds
/// up nothing of another.
struct sink_config {
  enum class kind_of : std::uint8_t {
    http,
    callback,  ///< the program brings it: see sinks.hpp
    discard,   ///< what still waits for it is thrown away
  };
  std::string name;  ///< 1 to 64 of a-z A-Z 0-9 . _ -
  kind_of kind{kind_of::http};
  http_sink_config http;
  /// Behind a failure that may pass its aggregate waits so long; it doubles with each, up to `most`.
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds most_pause{30'000};
};

/// What is on its way out.
struct outbox_config {
  /// Of Kafka's messages and of those of each sink: nothing more is consumed while more than this waits to be
  /// sent.
  std::uint64_t bytes{std::uint64_t{1} << 30U};
  /// A larger message is not published: its event is dead. No more than the topics take
  /// (max.message.bytes).
  std::uint64_t message_bytes{std::uint64_t{960} << 10U};
};

/// Where /livez, /readyz and /metrics are answered while it runs.
struct http_config {
  std::string host{"127.0.0.1"};  ///< a numeric address, IPv4 or IPv6 (without brackets)
  std::uint16_t port{0};          ///< 0: a free one, which the log names
};

struct config {
  std::filesystem::path file;  ///< where it was read from; may be empty
  kafka_config kafka;
  state_config state;
  std::vector<stream_config> streams;
  std::vector<sink_config> sinks;
  outbox_config outbox;
  std::optional<http_config> http;  ///< none: nothing listens
  std::uint64_t memory_limit{std::uint64_t{1}
                             << 30};  ///< bytes: indexes, caches, memtables and the prefetch queue
  std::size_t step_records{20'000};   ///< the most records of one step
  std::vector<diagnostic>
      warnings;  ///< what is allowed but should be looked at, such as a secret's file mode
};

/// What a config is loaded for. Commands that only read a state directory need no secrets, and must work
/// where nobody has them.
enum class config_use : std::uint8_t {
  everything,
  state_only,  ///< properties that are given as {file: …} or {env: …} are not read, and are left out
};

/// What overrides a file: `--set a.b=c` and `-X property=value`, in the order given.
struct config_overrides {
  std::vector<std::string> set;
  std::vector<std::string> kafka_properties;
};

/// Reads and checks a YAML file strictly: unknown and duplicate keys, wrong types, impossible choices and
/// what is not built yet are errors, all of them found at once. Errors: config_invalid (with diagnostics);
/// io, where the file cannot be read. Names and values of librdkafka properties are checked by librdkafka.
[[nodiscard]] RATCHET_EXPORT reported<config> load_config(const std::filesystem::path& file,
                                                          const config_overrides& = {},
                                                          config_use = config_use::everything);

/// The same from text; `name` stands for the file in diagnostics.
[[nodiscard]] RATCHET_EXPORT reported<config> parse_config(const std::string& text, const std::string& name,
                                                           const config_overrides& = {},
                                                           config_use = config_use::everything);

}  // namespace ratchet
