// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/schema.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "config/memory_budget.hpp"
#include "config/sections.hpp"
#include "decode/envelope_preset.hpp"
#include "text/units.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

using namespace std::string_view_literals;

constexpr known_key k_top_keys[] = {
    {"version"},
    {"kafka"},
    {"state"},
    {"streams"},
    {"step"},
    {"memory_limit"},
    {"dead_letter"},
    {"rejections"},
    {"outbox"},
    {"sinks"},
    {"http"},
    {"replicate"},
    {"shard", "leave it out; one instance serves the whole group"},
};
constexpr known_key k_state_keys[] = {
    {"path"}, {"commit_interval"}, {"sync"}, {"min_free"}, {"snapshot_bytes"}};
constexpr known_key k_listen_keys[] = {{"listen"}};
constexpr known_key k_topic_keys[] = {{"topic"}};
constexpr known_key k_outbox_keys[] = {{"bytes"}, {"message_bytes"}};
constexpr known_key k_step_keys[] = {{"records"}};
constexpr known_key k_stream_keys[] = {
    {"name"},         {"topics"},    {"start"},        {"envelope"},   {"order"},        {"first"},
    {"epoch_change"}, {"gap"},       {"waiting"},      {"retry"},      {"dedup"},        {"reducer"},
    {"rejected"},     {"poison"},    {"step"},         {"outputs"},    {"emit"},         {"tables"},
    {"handling"},     {"retention"}, {"dead_letter"},  {"rejections"}, {"record_times"}, {"ties"},
    {"after_delete"}, {"too_old"},   {"record_times"}, {"types"},      {"ignore"},
};
constexpr known_key k_ignore_keys[] = {{"types"}, {"tombstones"}, {"has"}};
constexpr known_key k_dedup_keys[] = {{"ids"}, {"window"}, {"max_skew"}};

void read_state(const config_value& value, state_config& out) {
  const config_map map{value, k_state_keys};
  if (!map.valid()) return;
  if (const auto path = map.require("path", "the directory that keeps the state, as in /var/lib/ratchet")) {
    std::string text;
    if (path->text(text) && text.empty()) path->error("is empty", "as in /var/lib/ratchet");
    if (text.find('\0') != std::string::npos)
      path->error("holds a zero byte, which no path does", "as in /var/lib/ratchet");
    if (text == "~" || text.starts_with("~/"))
      path->error("begins with ~, which only a shell replaces",
                  "write the directory out, as in /home/me" + text.substr(1));
    out.path = text;
  }
  if (const auto interval = map.get("commit_interval")) {
    constexpr std::chrono::milliseconds k_least{1};
    constexpr std::chrono::milliseconds k_most{std::chrono::minutes{1}};
    if (interval->duration(out.commit_interval) &&
        (out.commit_interval < k_least || out.commit_interval > k_most)) {
      interval->error(interval->node().text + " is out of range", "it goes from 1ms to 1m");
    }
  }
  if (const auto sync = map.get("sync")) {
    constexpr std::string_view k_names[] = {"interval", "every-step"};
    if (const int at = sync->word(k_names); at >= 0) out.sync = static_cast<sync_mode>(at);
  }
  if (const auto min_free = map.get("min_free")) {
    std::uint64_t bytes = 0;
    if (min_free->is_word("off") || min_free->size(bytes)) out.min_free = bytes;
  }
  constexpr std::uint64_t k_least_snapshot = 4096;
  constexpr std::uint64_t k_most_snapshot = std::uint64_t{1} << 30U;
  const auto snapshot = map.get("snapshot_bytes");
  if (snapshot && snapshot->size(out.snapshot_bytes) &&
      (out.snapshot_bytes < k_least_snapshot || out.snapshot_bytes > k_most_snapshot)) {
    snapshot->error(snapshot->node().text + " is out of range", "it goes from 4KiB to 1GiB");
  }
}

void read_dedup(const config_value& value, dedup_config& out) {
  if (value.is_word("off")) {
    out.ids = id_kind::none;
    return;
  }
  const auto kind = value.node().kind;
  if (kind == config_node::kind_of::scalar || kind == config_node::kind_of::null) {
    return value.error(kind == config_node::kind_of::null ? "has no value" : "is text",
                       "it must be off, or a map as in {ids: uuidv7, window: 24h}");
  }
  const config_map map{value, k_dedup_keys};
  if (!map.valid()) return;
  if (const auto ids = map.get("ids")) {
    constexpr std::string_view k_names[] = {"uuidv7", "ulid", "opaque", "monotonic"};
    constexpr const char* k_without_time[] = {"uuid",  "UUID",   "guid",   "GUID",
                                              "uuid4", "uuidv4", "UUIDv4", "UUID4"};
    constexpr id_kind k_kinds[] = {id_kind::uuidv7, id_kind::ulid, id_kind::opaque, id_kind::monotonic};
    if (ids->is_word("none")) {
      ids->error("none is written otherwise", "use dedup: off");
    } else if (std::any_of(std::begin(k_without_time), std::end(k_without_time),
                           [&](const char* word) { return ids->is_word(word); })) {
      ids->error(
          "\"" + ids->node().text + "\" is not allowed here",
          "random ids have no time of their own: use \"opaque\"; only UUIDs of version 7 are \"uuidv7\"");
    } else if (const int at = ids->word(k_names); at >= 0) {
      out.ids = k_kinds[at];
    }
  }
  if (const auto window = map.get("window")) {
    if (out.ids == id_kind::monotonic) {
      window->error("does not go with ids: monotonic", "the last number is never forgotten: leave it out");
    }
    if (window->duration(out.window) && out.window.count() == 0) {
      window->error("is 0", "a window must be longer; for no window use dedup: off");
    }
  }
  if (const auto skew = map.get("max_skew")) (void)skew->duration(out.max_skew);
}

void read_poison(const config_value& value, std::uint32_t& out) {
  std::uint64_t number = 0;
  if (value.is_word("off") || (value.is_word("0") && value.node().plain)) {
    if (value.is_word("0")) value.error("0 is not a limit", "use poison: off, or a number such as 100");
    out = 0;
  } else if (value.number(number, 1, std::numeric_limits<std::uint32_t>::max())) {
    out = static_cast<std::uint32_t>(number);
  }
}

void read_http(const config_value& value, std::optional<http_config>& out) {
  const config_map map{value, k_listen_keys};
  if (!map.valid()) return;
  const auto listen = map.require("listen", "as in http: {listen: 127.0.0.1:9187}");
  std::string text;
  if (!listen || !listen->text(text)) return;
  const auto where = parse_listen_address(text);
  if (!where) {
    return listen->error("is not HOST:PORT with a numeric address",
                         "as in 127.0.0.1:9187, or \"[::1]:9187\" with its quotes; port 0 picks a free one");
  }
  out = http_config{where->host, where->port};
  if (is_loopback(where->host)) return;
  listen->warn("it listens on a non-loopback address, without authentication or encryption",
               "use 127.0.0.1, or let a firewall admit only your monitoring");
}

/// {topic: NAME} for every stream, or for one; or `off`, which for one stream undoes that for every.
void read_output_topic(const config_map& parent, std::string_view key, std::string& out) {
  const auto value = parent.get(key);
  if (!value) return;
  if (value->is_word("off")) return out.clear();
  const config_map map{*value, k_topic_keys};
  if (!map.valid()) return;
  const auto topic =
      map.require("topic", "as in " + std::string{key} + ": {topic: payments." + std::string{key} + "}");
  if (topic) (void)read_topic(*topic, out);
}

void read_outbox(const config_value& value, outbox_config& out) {
  constexpr std::uint64_t k_least = std::uint64_t{1} << 20U;
  const config_map map{value, k_outbox_keys};
  if (!map.valid()) return;
  const auto bytes = map.get("bytes");
  if (bytes && bytes->size(out.bytes) && out.bytes < k_least) {
    bytes->error(bytes->node().text + " is out of range", "it is 1MiB at least");
  }
  constexpr std::uint64_t k_least_message = 4096;
  constexpr std::uint64_t k_most_message = 1'000'000'000;  // the client's own limit
  const auto message = map.get("message_bytes");
  if (message && message->size(out.message_bytes) &&
      (out.message_bytes < k_least_message || out.message_bytes > k_most_message)) {
    message->error(message->node().text + " is out of range",
                   "it goes from 4KiB to 1000000000B; set it to the limit of the topics (max.message.bytes)");
  }
}

/// The size of a step is one number for the whole instance, since a step spans all streams. It may stand at
/// the top or under streams, where everybody looks for it; then all of them must agree.
class step_reader {
 public:
  void read(const config_map& parent) {
    const auto value = parent.get("step");
    if (!value) return;
    const config_map map{*value, k_step_keys};
    if (!map.valid()) return;
    const auto records = map.require("records", "as in step: {records: 20000}");
    constexpr std::uint64_t k_most = 1'000'000;
    std::uint64_t number = 0;
    if (!records || !records->limit(number, k_most)) return;
    if (found_ && *found_ != number) {
      return records->error(
          std::to_string(number) + " differs from " + where_ + ": " + std::to_string(*found_),
          "a step spans all streams: give it once, at the top");
    }
    if (!found_) where_ = records->path();
    found_ = number;
  }
  [[nodiscard]] std::optional<std::uint64_t> found() const noexcept { return found_; }

 private:
  std::optional<std::uint64_t> found_;
  std::string where_;
};

/// What is none of the stream's events: a list of types, or a map.
void read_ignore(const config_value& value, stream_config& out) {
  if (value.node().kind == config_node::kind_of::list) return read_types(value, out.ignore);
  const config_map map{value, k_ignore_keys};
  if (!map.valid()) return;
  if (const auto types = map.get("types")) read_types(*types, out.ignore);
  if (const auto tombstones = map.get("tombstones")) {
    constexpr std::string_view k_names[] = {"false", "true"};
    out.ignore_tombstones = tombstones->word(k_names) == 1;
  }
  if (const auto has = map.get("has"); has && has->text(out.ignore_having) && out.ignore_having.empty())
    has->error("is empty", "as in /resolved");
}

/// What order: strict alone looks at.
void read_strict(const config_map& map, stream_config& out) {
  if (const auto first = map.get("first")) {
    constexpr std::string_view k_names[] = {"0", "1", "any"};
    if (const int at = first->word(k_names); at >= 0) out.first = static_cast<first_number>(at);
  }
  if (const auto change = map.get("epoch_change")) {
    constexpr std::string_view k_names[] = {"park", "accept"};
    if (const int at = change->word(k_names); at >= 0) out.epoch_change = static_cast<epoch_change>(at);
  }
  if (const auto gap = map.get("gap")) read_gap(*gap, out.gap);
}

/// What becomes of events of which nobody can tell by their number or id alone.
void read_choices(const config_map& map, stream_config& out) {
  if (const auto value = map.get("ties")) {
    constexpr std::string_view k_names[] = {"reject", "later"};
    if (const int at = value->word(k_names); at >= 0) out.ties = static_cast<ties>(at + 1);
  }
  if (const auto value = map.get("after_delete")) {
    constexpr std::string_view k_names[] = {"refuse", "restart"};
    if (const int at = value->word(k_names); at >= 0) out.after_delete = static_cast<after_delete>(at);
  }
  if (const auto value = map.get("too_old")) {
    constexpr std::string_view k_names[] = {"reject", "park"};
    if (const int at = value->word(k_names); at >= 0) out.too_old = static_cast<too_old>(at);
  }
}

void read_stream(const config_value& value, stream_config& out, step_reader& step) {
  const config_map map{value, k_stream_keys};
  if (!map.valid()) return;
  if (const auto name = map.require("name", "`ratchet get` and `scan` name the stream by it")) {
    if (name->text(out.name) && !is_topic_name(out.name)) {
      name->error("is not a stream's name", "1 to 249 of a-z A-Z 0-9 . _ -");
    }
  }
  if (const auto topics = map.get("topics")) read_topics(*topics, out.topics);
  if (const auto start = map.get("start")) {
    constexpr std::string_view k_names[] = {"earliest", "latest"};
    if (const int at = start->word(k_names); at >= 0) out.start = static_cast<start_position>(at);
  }
  if (const auto order = map.get("order")) {
    constexpr std::string_view k_names[] = {"latest", "strict", "arrival"};
    if (const int at = order->word(k_names); at >= 0) out.order = static_cast<ratchet::order>(at);
  }
  // Without topics it may be there for transactions alone, which have no fields to be found.
  const bool may_have_none = !map.get("topics") && out.order == order::arrival;
  const auto envelope =
      may_have_none ? map.get("envelope")
                    : map.require("envelope", "where an event's fields come from: {aggregate: /id, ...}");
  if (envelope) read_envelope(*envelope, out.order, out.envelope);
  if (may_have_none && !envelope) out.dedup.ids = id_kind::opaque;  // the keys of transactions
  if (const auto types = map.get("types")) read_types(*types, out.types);
  if (const auto ignore = map.get("ignore")) read_ignore(*ignore, out);
  read_strict(map, out);
  read_choices(map, out);
  if (const auto handling = map.get("handling")) {
    constexpr std::string_view k_names[] = {"direct", "deferred"};
    if (const int at = handling->word(k_names); at >= 0) out.handling = static_cast<ratchet::handling>(at);
  }
  if (const auto waiting = map.get("waiting")) read_waiting(*waiting, out.waiting);
  if (const auto retry = map.get("retry")) read_retry(*retry, out.retry);
  if (const auto rejected = map.get("rejected")) read_rejected(*rejected, out.rejected);
  if (const auto dedup = map.get("dedup")) {
    read_dedup(*dedup, out.dedup);
  } else if (has_log_positions(out.envelope.format)) {
    out.dedup.ids = id_kind::none;  // their events have none
  }
  if (const auto retention = map.get("retention")) {
    std::chrono::milliseconds kept{0};
    if (!retention->is_word("off") && retention->duration(kept)) out.retention = kept;
  }
  if (const auto times = map.get("record_times")) {
    constexpr std::string_view k_names[] = {"checked", "trusted"};
    if (const int at = times->word(k_names); at >= 0)
      out.record_times = static_cast<ratchet::record_times>(at);
  }
  if (const auto reducer = map.get("reducer")) read_reducer(*reducer, out.reducer);
  if (const auto poison = map.get("poison")) read_poison(*poison, out.poison);
  read_output_topic(map, "dead_letter", out.dead_letter);
  read_output_topic(map, "rejections", out.rejections);
  if (const auto outputs = map.get("outputs")) read_destinations(*outputs, out.outputs);
  if (const auto emit = map.get("emit")) read_emit(*emit, out.emit);
  if (const auto tables = map.get("tables")) read_tables(*tables, out.tables);
  step.read(map);
}

void read_config_version(const config_map& top) {
  const auto version = top.require("version", "begin the file with version: 1");
  std::uint64_t number = 0;
  if (version && version->number(number, 0, std::numeric_limits<std::uint32_t>::max()) && number != 1) {
    version->error(std::to_string(number) + " is not a version that this Ratchet reads",
                   "it reads version: 1");
  }
}

}  // namespace

void read_schema(const config_node& root, config& out, config_findings& findings) {
  if (root.kind == config_node::kind_of::null) {
    return findings.add(root.at, {}, "there is no config in it", "ratchet init prints one to start from");
  }
  const config_map top{config_value{root, {}, findings}, k_top_keys};
  if (!top.valid()) return;
  step_reader step;
  read_config_version(top);
  if (const auto kafka = top.get("kafka")) read_kafka(*kafka, out.kafka);
  if (const auto state = top.require("state", "as in state: {path: /var/lib/ratchet}")) {
    read_state(*state, out.state);
  }
  step.read(top);
  if (const auto http = top.get("http")) read_http(*http, out.http);
  if (const auto replicate = top.get("replicate")) {
    read_replicate(*replicate, out.replicate);
    // The rows of a step are more than the last state in it, and the log takes 1 GiB of them.
    constexpr std::uint64_t k_most_replicated_snapshot = std::uint64_t{256} << 20U;
    if (out.replicate && out.state.snapshot_bytes > k_most_replicated_snapshot)
      replicate->error("cannot be used together with `state.snapshot_bytes` above " +
                           format_size(k_most_replicated_snapshot),
                       "lower `state.snapshot_bytes`: a step would not go into the replicated log");
  }
  if (const auto outbox = top.get("outbox")) read_outbox(*outbox, out.outbox);
  if (const auto sinks = top.get("sinks")) read_sinks(*sinks, out.sinks);
  stream_config of_all;
  read_output_topic(top, "dead_letter", of_all.dead_letter);
  read_output_topic(top, "rejections", of_all.rejections);
  if (const auto streams = top.require("streams", "at least one stream: ratchet init shows how")) {
    for (const config_value& item : streams->list("streams")) {
      read_stream(item, out.streams.emplace_back(of_all), step);
    }
    if (streams->node().kind == config_node::kind_of::list && out.streams.empty()) {
      streams->error("names no stream", "ratchet init shows one");
    }
  }
  if (step.found()) out.step_records = *step.found();
  if (const auto limit = top.get("memory_limit")) {
    if (limit->size(out.memory_limit) &&
        (out.memory_limit < k_least_memory_limit || out.memory_limit > k_most_memory_limit)) {
      limit->error(
          limit->node().text + " is out of range",
          "it goes from " + format_size(k_least_memory_limit) + " to " + format_size(k_most_memory_limit));
    }
  }
}

}  // namespace ratchet
