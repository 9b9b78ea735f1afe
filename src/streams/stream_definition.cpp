// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/stream_definition.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/flaky_reducer.hpp"
#include "core/reducers.hpp"
#include "core/unavailable_columns.hpp"
#include "decode/envelope_preset.hpp"
#include "decode/sequence_kinds.hpp"
#include "streams/config_rules.hpp"
#include "streams/emitting_reducer.hpp"
#include "streams/stream_meaning.hpp"
#include "streams/timed_reducer.hpp"

namespace ratchet {

namespace {

/// Of two events with one number; what comes first is a repeat in every order but `latest`.
[[nodiscard]] bool later_wins(const stream_config& s) {
  if (has_log_positions(s.envelope.format)) return true;
  if (s.order != order::latest || s.ties == ties::reject) return false;
  // The events of one record have one place, and one time.
  const bool is_time = s.envelope.sequence == "timestamp" ||
                       (s.envelope.sequence == "offset" && s.envelope.each.kind != each_kind::none) ||
                       kind_of_sequences(s.envelope, s.order) == sequence_kind::time;
  return s.ties == ties::later || is_time;
}

/// Whether rows may come with columns that are not known.
[[nodiscard]] bool keeps_columns(const stream_config& s) noexcept {
  return s.envelope.format == envelope_format::debezium_cdc && !s.envelope.unavailable.empty() &&
         s.reducer.kind == reducer_config::kind_of::replace;
}

[[nodiscard]] std::optional<reducer> built_in(const stream_config& s) {
  const reducer_config& c = s.reducer;
  switch (c.kind) {
    case reducer_config::kind_of::replace:
      return keeps_columns(s) ? reducer{row_reducer{s.envelope.unavailable}} : reducer{replace_reducer{}};
    case reducer_config::kind_of::merge_patch:
      return reducer{merge_patch_reducer{}};
    case reducer_config::kind_of::flaky:
      return reducer{flaky_reducer{c.fail}};
    case reducer_config::kind_of::own:
      return std::nullopt;
  }
  return std::nullopt;
}

[[nodiscard]] problem config_problem(std::string message, std::string hint) {
  return {make_error_code(errc::config_invalid), std::move(message), std::move(hint), {}};
}

[[nodiscard]] std::string shown(std::string_view name, std::uint32_t version) {
  return "`" + std::string{name} + "`, version " + std::to_string(version);
}

/// The reducer that handles a stream; a stream of `kind: own` has the one that it names, or none.
[[nodiscard]] reported<reducer> reducer_of(const stream_config& s, const reducer* brought) {
  const bool own = s.reducer.kind == reducer_config::kind_of::own;
  const bool named = own && !s.reducer.name.empty();
  const std::string wanted = shown(s.reducer.name, s.reducer.version);
  if (brought != nullptr) {
    const reducer_traits& is = brought->traits();
    if (!named || (is.name == s.reducer.name && is.version == s.reducer.version)) return *brought;
    return config_problem("stream `" + s.name + "` is handled by the reducer " + wanted +
                              " (`kind: own` in its config); the program has " + shown(is.name, is.version),
                          "start the program that has it, or correct `reducer.name` and `reducer.version`");
  }
  if (named) {
    return config_problem(
        "stream `" + s.name + "` is handled by the reducer " + wanted +
            ", which is not part of Ratchet (`kind: own`); the program added none for the stream",
        "run the program that has this reducer: it passes the reducer to app::open(), as in "
        "reducers{}.add(\"" +
            s.name +
            "\", …), and answers resume questions in app::run(); `ratchet` can read the state without it "
            "(`ratchet status`, `get`, `scan`, `explain`, `waiting list`, `verify`, `checkpoint`); while "
            "that program runs, `ratchet waiting` takes decisions");
  }
  if (auto made = built_in(s)) return std::move(*made);
  return config_problem("the stream `" + s.name + "` has no reducer",
                        "name one in the config (`reducer: {kind: replace}`), or add one in the program");
}

/// Whoever made it: a config made in code has not gone through load_config().
[[nodiscard]] std::optional<problem> refusal_of(const config& c) {
  std::vector<config_finding> found = check_config(c);
  if (found.empty()) return std::nullopt;
  problem p = config_problem(
      "the config has " + (found.size() == 1 ? "an error" : std::to_string(found.size()) + " errors"), {});
  for (config_finding& f : found)
    p.diagnostics.push_back({{}, 0, 0, std::move(f.path), std::move(f.message), std::move(f.hint)});
  return p;
}

}  // namespace

std::string_view name_of_stream(const stream_list& streams, stream_id id) noexcept {
  const auto at = std::find_if(streams.begin(), streams.end(), [id](const auto& s) { return s->id == id; });
  return at == streams.end() ? std::string_view{} : std::string_view{(*at)->config.name};
}

bool takes_events(const stream_config& s) {
  return s.envelope.format != envelope_format::json || !s.envelope.aggregate.empty();
}

namespace {

void add_emitted(const stream_config& s, std::vector<std::string>& to) {
  for (const emit_config& e : s.emit) {
    if (std::find(to.begin(), to.end(), e.topic) == to.end()) to.push_back(e.topic);
  }
}

}  // namespace

std::vector<std::string> emitted_to(const stream_config& s) {
  std::vector<std::string> all;
  add_emitted(s, all);
  return all;
}

std::vector<std::string> topics_published_to(const stream_config& s) {
  std::vector<std::string> all = s.outputs;
  add_emitted(s, all);
  return all;
}

stream_definition::stream_definition(stream_config c, ratchet::reducer r)
    : config{std::move(c)}, reduce{std::move(r)} {
  config.envelope = with_defaults(std::move(config.envelope));
  rules.stream = config.name;
  rules.gate = {config.order, config.first, config.epoch_change, later_wins(config),
                are_text_by_format(config.envelope, config.order)};
  rules.number_text = sequence_spelling::of(config.envelope, config.order).function();
  rules.restarts = config.after_delete == after_delete::restart;
  rules.parks_too_old = config.too_old == too_old::park;
  rules.dedup = config.dedup.ids != id_kind::none;
  rules.monotonic_ids = config.dedup.ids == id_kind::monotonic;
  rules.opaque_ids = config.dedup.ids == id_kind::opaque;
  rules.transactions_move_floor = config.topics.empty();
  rules.deferred = config.handling == handling::deferred;
  rules.keeps_columns = keeps_columns(config);
  rules.unavailable = config.envelope.unavailable;
  rules.has_ranges = !config.envelope.sequence_first.empty() || !config.envelope.previous.empty();
  rules.window = config.dedup.window;
  rules.max_skew = config.dedup.max_skew;
  rules.retention = config.retention;
  rules.checks_times = config.record_times == record_times::checked;
  rules.poison_limit = config.poison;
  rules.gap = config.gap;
  rules.waiting = config.waiting;
  rules.retry = config.retry;
  rules.outputs.topics = topics_published_to(config);
  rules.outputs.tables = config.tables;
  decode.envelope = config.envelope;
  decode.order = config.order;
  decode.ids = config.dedup.ids;
  decode.payload_from = config.reducer.from;
  decode.types = config.types;
  decode.ignore = config.ignore;
  decode.ignore_tombstones = config.ignore_tombstones;
  decode.ignore_having = config.ignore_having;
  decode.keeps_columns = rules.keeps_columns;
  decode.bytes_allowed = config.reducer.kind != reducer_config::kind_of::merge_patch;
}

reported<stream_list> make_streams(const config& c, const reducers& own) {
  for (const auto& added : own.all()) {
    const std::string& name = added.first;
    const bool known = std::any_of(c.streams.begin(), c.streams.end(),
                                   [&](const stream_config& s) { return s.name == name; });
    if (!known) {
      return config_problem(
          "a reducer was added for the stream `" + name + "`, which the config does not have",
          "add the stream to the config, or correct the name in the program");
    }
  }
  if (auto refused = refusal_of(c)) return std::move(*refused);
  stream_list streams;
  for (const stream_config& s : c.streams) {
    RATCHET_TRY(reducer reduce, reducer_of(s, own.find(s.name)));
    if (!s.emit.empty()) reduce = with_emits(std::move(reduce), s.emit);
    if (s.reducer.timeout) reduce = with_time_limit(std::move(reduce), *s.reducer.timeout);
    streams.push_back(std::make_unique<stream_definition>(s, std::move(reduce)));
    streams.back()->group = c.kafka.group;
    streams.back()->rules.outputs.message_bytes = c.outbox.message_bytes;
    streams.back()->rules.outputs.snapshot_bytes = c.state.snapshot_bytes;
  }
  return streams;
}

std::vector<std::string> input_topics(const stream_list& streams) {
  std::vector<std::string> all;
  for (const auto& s : streams) all.insert(all.end(), s->config.topics.begin(), s->config.topics.end());
  return all;
}

std::vector<std::string> output_topics(const stream_list& streams) {
  std::vector<std::string> all;
  for (const auto& s : streams) {
    for (const std::string& topic : {s->config.dead_letter, s->config.rejections}) {
      if (!topic.empty()) all.push_back(topic);
    }
    const std::vector<std::string> published = topics_published_to(s->config);
    std::copy_if(published.begin(), published.end(), std::back_inserter(all),
                 [](const std::string& to) { return !to.starts_with(k_sink_prefix); });
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool reads_topics(const stream_list& streams) {
  return std::any_of(streams.begin(), streams.end(), [](const auto& s) { return !s->config.topics.empty(); });
}

std::vector<stream_meaning> meanings_of(const stream_list& streams) {
  std::vector<stream_meaning> meanings;
  meanings.reserve(streams.size());
  for (const auto& s : streams)
    meanings.push_back(meaning_of(s->config, s->reduce.traits().name, s->reduce.traits().version));
  return meanings;
}

}  // namespace ratchet
