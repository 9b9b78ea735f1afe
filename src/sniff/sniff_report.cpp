// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/sniff_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/json_scan.hpp"
#include "core/shown_text.hpp"
#include "core/utf8.hpp"
#include "decode/time_text.hpp"
#include "sniff/columns.hpp"
#include "sniff/key_form.hpp"
#include "sniff/likely.hpp"
#include "sniff/several_events.hpp"
#include "sniff/suggested_config.hpp"
#include "sniff/unwrapped_outbox.hpp"
#include "sniff/value_form.hpp"
#include "text/counted.hpp"
#include "text/likely_kind.hpp"
#include "text/rejected_messages.hpp"
#include "text/units.hpp"

namespace ratchet::sniff {

namespace {

constexpr std::size_t k_most_fields = 40;
constexpr std::size_t k_most_headers = 20;
constexpr std::size_t k_example_bytes = 48;
constexpr std::size_t k_name_width = 34;

std::string example_of(const column& c) {
  for (const cell& here : c.cells) {
    if (here.text.empty()) continue;
    if (here.text.size() <= k_example_bytes) return here.text;
    return here.text.substr(0, k_example_bytes) + "...";
  }
  return {};
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string kind_of(const column& c) {
  const std::size_t cells = c.cells.size();
  const auto count = [&](json::kind what) {
    return static_cast<std::size_t>(
        std::count_if(c.cells.begin(), c.cells.end(), [&](const cell& here) { return here.what == what; }));
  };
  const std::size_t nulls = count(json::kind::null);
  const std::size_t there = cells - nulls;
  std::string kind;
  if (there == 0) return "null";
  if (c.uuids_7 == there)
    kind = "UUIDv7";
  else if (c.uuids == there)
    kind = "UUID";
  else if (c.ulids == there)
    kind = "ULID";
  else if (c.ksuids == there)
    kind = "KSUID";
  else if (c.json_texts == there)
    kind = "JSON as text";
  else if (c.json_base64s == there)
    kind = "JSON in base64";
  else if (c.rfc3339 == there)
    kind = "time, RFC 3339";
  else if (c.objects == there)
    kind = "object";
  else if (count(json::kind::array) == there)
    kind = "array";
  else if (count(json::kind::boolean) == there)
    kind = "true or false";
  else if (count(json::kind::number) == there)
    kind = c.integers == there ? "integer" : "number";
  else if (count(json::kind::string) == there)
    kind = c.integers == there ? "integer as text" : "text";
  else
    kind = "of several kinds";
  if (c.names == there && there > 1) kind += ", " + std::to_string(c.distinct) + " different";
  if (nulls > 0) kind += ", null in " + std::to_string(nulls);
  return kind;
}

/// What is not UTF-8 would make the whole no YAML.
void append_comment(std::string& out, std::string line) {
  if (!is_utf8(line)) {
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7F; }, '?');
  }
  append_line(out, line.empty() ? "#" : "# " + line);
}

std::string words_of_fault(const std::string& what, const config_share::fault& fault) {
  return "  " + padded(std::to_string(fault.records), 6) + what + ", first at " + fault.first;
}

class reporter {
 public:
  reporter(const sniff_request& request, std::span<const sniffed_record> records,
           std::span<const config_share> shares)
      : request_{request},
        records_{records},
        shares_{shares},
        several_{find_several(records)},
        events_{several_ ? std::span<const sniffed_record>{several_->events} : records},
        keys_{form_of_keys(records)},
        columns_{united(columns_of(events_, keys_.kind))},
        found_{guess(events_, columns_)} {
    if (found_.look == look::debezium_outbox) unwrap();
    found_.keys = keys_;
    if (several_) found_.each = several_->each;
  }

  std::string run() {
    tell_size();
    tell_bytes("values", [](const sniffed_record& r) { return look_at(r.value); });
    if (keys_.what.empty())
      tell_bytes("keys", [](const sniffed_record& r) { return look_at(r.key); });
    else
      comment("  keys      " + keys_.what);
    tell_headers();
    tell_look();
    tell_fields();
    tell_likely();
    tell_times();
    for (const config_share& share : shares_) tell_share(share);
    const suggestion config = suggest(found_, request_.topic, request_.brokers);
    tell_advice(config);
    if (config.yaml.empty()) return std::move(out_);
    comment("");
    comment("A config to start from; `ratchet validate -c FILE` shows what it does:");
    return out_ + "\n" + config.yaml;
  }

 private:
  /// What is told from here on is what the format reads, and not what converters put around it.
  void unwrap() {
    outbox_ = unwrap_outbox(events_);
    if (outbox_.wrapped == 0) return;
    events_ = outbox_.records;
    keys_ = form_of_keys(events_);
    columns_ = columns_of(events_, keys_.kind);
    found_ = guess(events_, columns_, look::debezium_outbox);
  }

  static std::vector<column> united(std::vector<column> columns) {
    unite_attributes(columns);
    return columns;
  }

  void comment(std::string line) { append_comment(out_, std::move(line)); }

  void tell_size() {
    std::set<topic_partition> partitions;
    for (const sniffed_record& r : records_) {
      if (!r.where.topic.empty()) partitions.insert(r.where);
    }
    std::string text = request_.name + ": " + counted(records_.size(), "record") + " looked at";
    if (!partitions.empty()) text += ", of " + counted(partitions.size(), "partition");
    if (!records_.empty()) text += ", " + place_of(records_.front()) + " to " + place_of(records_.back());
    comment(text);
  }

  template <class Look>
  void tell_bytes(const std::string& what, Look look) {
    std::map<byte_form, std::size_t> forms;
    std::set<std::string> schemas;
    std::size_t least = 0;
    std::size_t most = 0;
    for (const sniffed_record& r : records_) {
      const looked_at here = look(r);
      ++forms[here.form];
      if (!here.schema.empty()) schemas.insert(here.schema);
      const auto& bytes = what == "keys" ? r.key : r.value;
      if (!bytes) continue;
      least = most == 0 ? bytes->size() : std::min(least, bytes->size());
      most = std::max(most, bytes->size());
    }
    std::string text = padded("  " + what, 12);
    bool first = true;
    for (const auto& [form, count] : forms) {
      text += (first ? "" : ", ") + std::string{words_of(form)};
      if (forms.size() > 1) text += ": " + std::to_string(count);
      first = false;
    }
    if (most > 0)
      text += least == most ? "; " + std::to_string(most) + " bytes"
                            : "; " + std::to_string(least) + " to " + std::to_string(most) + " bytes";
    if (!schemas.empty()) {
      text += "; schema id";
      for (const std::string& id : schemas) text += " " + id;
    }
    comment(text);
  }

  void tell_headers() {
    std::size_t told = 0;
    for (const column& c : columns_) {
      if (!c.source.starts_with("header:")) continue;
      if (told++ == k_most_headers) return comment("  headers   and more");
      comment(padded(told == 1 ? "  headers" : "", 12) + padded(c.source.substr(7), 24) + " in " +
              std::to_string(c.cells.size()) +
              (c.binary > 0 ? ", bytes that are not text" : ", as " + example_of(c)));
    }
    if (told == 0) comment("  headers   none");
  }

  static std::string list_of(const std::map<std::string, std::size_t>& counts) {
    std::string text;
    for (const auto& [name, count] : counts)
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
    return text;
  }

  void tell_look() {
    std::string text;
    switch (found_.look) {
      case look::plain:
        text = "JSON of a producer's own; format: json";
        break;
      case look::cloudevents:
        text = "CloudEvents; format: cloudevents";
        break;
      case look::debezium_changes:
        text = "row changes of Debezium; format: debezium-cdc";
        break;
      case look::debezium_unwrapped:
        text = "rows of Debezium without their envelope (ExtractNewRecordState); format: debezium-cdc";
        break;
      case look::debezium_outbox:
        text = "events of an outbox, as Debezium's event router writes them; format: debezium-outbox";
        break;
      case look::ydb_changefeed:
        text = "a changefeed of YDB; format: ydb-changefeed";
        break;
      case look::canal:
        text = "row changes of Canal, or in its form; format: json";
        break;
      case look::maxwell:
        text = "row changes of Maxwell; format: json";
        break;
      case look::mongodb:
        text = "change events of MongoDB; format: json";
        break;
      case look::not_json:
        text = "nothing that Ratchet reads";
        break;
    }
    comment("  look like " + text + " (" + std::to_string(found_.looking_so) + " of " +
            std::to_string(events_.size()) + ")");
    if (outbox_.wrapped > 0) {
      comment("            behind Kafka Connect's JsonConverter: " + std::to_string(outbox_.wrapped) +
              "; Ratchet removes what it adds, and the fields below are those of the rest");
    }
    if (several_)
      comment("            " + std::to_string(events_.size()) + " events, of records that hold several");
    if (!found_.connectors.empty()) comment("            connectors: " + list_of(found_.connectors));
    if (!found_.operations.empty()) comment("            operations: " + list_of(found_.operations));
    if (found_.unavailable > 0) {
      comment("            in " + std::to_string(found_.unavailable) +
              " some columns are unavailable: their stored values stay");
    }
  }

  void tell_fields() {
    std::size_t told = 0;
    for (const column& c : columns_) {
      if (!c.source.starts_with('/')) continue;
      if (told == 0) {
        comment("");
        comment("Fields: what they are, in how many records, an example");
      }
      if (told++ == k_most_fields) return comment("  and more");
      const std::string example = example_of(c);
      std::string text = "  " + padded(c.source, k_name_width) + " " + kind_of(c);
      if (c.cells.size() != events_.size()) text += "; in " + std::to_string(c.cells.size());
      comment(example.empty() ? text : text + "; " + example);
    }
  }

  void tell(const char* what, const std::vector<candidate>& all) {
    std::string text = padded(std::string{"  "} + what, 14);
    if (all.empty()) return comment(text + "none found");
    bool first = true;
    for (const candidate& c : all) {
      text += (first ? "" : "; or ") + c.source + " (" + c.why + ")";
      first = false;
    }
    comment(text);
  }

  void tell_likely() {
    if (found_.look != look::plain && found_.look != look::debezium_outbox) return;
    comment("");
    comment("Likely places");
    tell("aggregate", found_.aggregates);
    tell("event_id", found_.ids);
    tell("sequence", found_.sequences);
    tell("type", found_.types);
    tell("time", found_.times);
  }

  void tell_range(const std::string& whose, const std::vector<timestamp>& times) {
    if (times.empty()) return;
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    std::string text = padded("  " + whose, 14) + to_rfc3339(*least);
    if (*least != *most) {
      text += " to " + to_rfc3339(*most) + ", over " + format_rounded(*most - *least);
    }
    comment(text);
    tell_outliers(times);
  }

  /// Times that lie far from where nearly all are: a clock that is wrong, or another unit.
  void tell_outliers(std::vector<timestamp> times) {
    constexpr std::chrono::hours k_far{24 * 30};
    std::sort(times.begin(), times.end());
    const timestamp middle = times[times.size() / 2];
    const auto far = std::count_if(times.begin(), times.end(),
                                   [&](timestamp t) { return t > middle + k_far || t < middle - k_far; });
    if (far == 0 || static_cast<std::size_t>(far) * 10 > times.size()) return;
    comment("              " + counted(static_cast<std::uint64_t>(far), "time") +
            " more than a month from the middle, " + to_rfc3339(middle) + ": a wrong clock, or another unit");
  }

  void tell_times() {
    std::vector<timestamp> of_records;
    for (const sniffed_record& r : events_) {
      if (r.time) of_records.push_back(*r.time);
    }
    std::vector<timestamp> of_events;
    std::string from;
    const column* times = nullptr;
    if (found_.look == look::debezium_changes) {
      for (const char* source : {"/source/ts_ms", "/payload/source/ts_ms"}) {
        if (times == nullptr) times = find(columns_, source);
      }
    } else if (!found_.times.empty()) {
      times = &columns_[found_.times.front().column];
    }
    if (times != nullptr) {
      for (const cell& here : times->cells) {
        if (const auto t = times->time_of(here)) of_events.push_back(*t);
      }
    }
    if (of_records.empty() && of_events.empty()) return;
    comment("");
    comment("Times");
    tell_range("records", of_records);
    tell_range("events", of_events);
  }

  void tell_share(const config_share& share) {
    comment("");
    std::string text = "With the config stream " + share.stream + " would take of " +
                       counted(share.records, "record") + " " + counted(share.events, "event") + ", " +
                       counted(share.deletions, "deletion");
    if (share.ignored > 0) text += ", ignore " + std::to_string(share.ignored);
    const std::size_t rejected = share.rejected;
    if (rejected == 0) return comment(text + ", and reject none");
    const std::size_t percent = (rejected * 100 + share.all() - 1) / share.all();
    comment(text + ", and reject " + std::to_string(rejected) + " (" + std::to_string(percent) + " %):");
    for (const auto& [what, fault] : share.faults) {
      comment(words_of_fault(what, fault));
      const std::size_t space = what.find(' ');
      const std::string hint = hint_on_fault(
          what.substr(0, space), std::nullopt,
          space == std::string::npos ? std::string_view{} : std::string_view{what}.substr(space + 1));
      if (!hint.empty()) comment("        " + hint);
    }
  }

  /// Of values and keys, what their bytes are.
  struct seen_bytes {
    std::set<byte_form> forms;  ///< of values
    bool any_key{false};
    bool is_quoted{false};  ///< values in base64 stand in quotes
    std::size_t json_keys{0};
    const sniffed_record* strange{nullptr};  ///< the first that is neither JSON nor has advice of its own

    [[nodiscard]] bool has(byte_form form) const { return forms.contains(form); }
  };

  [[nodiscard]] seen_bytes look_at_all() const {
    seen_bytes out;
    for (const sniffed_record& r : records_) {
      const byte_form form = look_at(r.value).form;
      out.forms.insert(form);
      out.is_quoted =
          out.is_quoted || (form == byte_form::json_in_base64 && json_scan::trimmed(*r.value).front() == '"');
      const bool is_strange = form == byte_form::text || form == byte_form::bytes ||
                              form == byte_form::number_4 || form == byte_form::number_8 ||
                              form == byte_form::bytes_16;
      if (out.strange == nullptr && is_strange) out.strange = &r;
      const byte_form key = look_at(r.key).form;
      out.any_key = out.any_key || key != byte_form::none;
      out.json_keys += is_json(key) || key == byte_form::none ? 1U : 0U;
    }
    return out;
  }

  void advise_on_encoding(const seen_bytes& seen, std::vector<std::string>& all) const {
    const std::string file = request_.name == "-" ? "FILE" : request_.name;
    if (seen.has(byte_form::framed_avro) || seen.has(byte_form::framed_protobuf))
      all.emplace_back("Avro and Protobuf are not read: let the connector or producer write JSON");
    if (seen.has(byte_form::framed_zlib))
      all.emplace_back(
          "the serializer of AWS Glue compresses with zlib, which is not read: set its compression to NONE");
    const bool is_file = request_.topic.empty();
    const bool is_removed = found_.look == look::debezium_outbox;  // by the format
    if (seen.has(byte_form::json_in_string) && !is_removed)
      all.push_back("values are JSON within JSON strings, which were encoded twice: " +
                    (is_file ? "jq -c fromjson " + file + " | ratchet sniff -"
                             : std::string{"let the producer send the inner text"}));
    if (seen.has(byte_form::json_in_base64))
      all.push_back("values are JSON in base64: " +
                    (is_file ? std::string{seen.is_quoted ? "jq -c" : "jq -Rc"} + " '@base64d | fromjson' " +
                                   file + " | ratchet sniff -"
                             : std::string{"let the producer send the JSON as it is"}));
    if (seen.strange != nullptr) {
      const likely_kind kind = kind_of_bytes(*seen.strange->value);
      if (!kind.what.empty() && kind.certain)
        all.push_back("the value at " + place_of(*seen.strange) + " is most likely " + kind.what + ": " +
                      kind.of_record);
    }
    if (seen.has(byte_form::gzip))
      all.push_back(is_file ? "the file is compressed: zcat " + file + " | ratchet sniff -"
                            : "the producer compresses the values itself: let it leave that to Kafka");
    if (seen.has(byte_form::utf16)) all.push_back("the text is UTF-16: iconv -f UTF-16 -t UTF-8 " + file);
    if (request_.lines_that_are_arrays > 0)
      all.push_back("a line that is an array holds several events: jq -c '.[]' " + file);
    else if (!several_ && (seen.has(byte_form::json_array) || seen.has(byte_form::json_lines)))
      all.emplace_back("some records hold several events each");
    if (request_.lines_that_are_no_json * 2 > records_.size() && seen.has(byte_form::text))
      all.push_back("most lines are not JSON by themselves; if a value spans several lines: jq -c . " + file);
  }

  void advise_on_keys(const seen_bytes& seen, std::vector<std::string>& all) const {
    const bool is_of_rows = found_.look == look::debezium_changes || found_.look == look::debezium_unwrapped;
    if ((is_of_rows || found_.look == look::debezium_outbox) && !seen.any_key)
      all.emplace_back(
          "the aggregate is in the key of a record, and no record here has a key: read them with kcat -C -J");
    if (is_of_rows && seen.any_key && 2 * seen.json_keys < records_.size()) {
      all.emplace_back(
          "debezium-cdc takes the aggregate from the key, and keys here are not JSON: set the connector's "
          "`key.converter` to JsonConverter");
    } else if (!keys_.readable && found_.look != look::ydb_changefeed) {
      all.emplace_back("keys cannot be read: take the aggregate from the value");
    }
  }

  void advise_on_fields(std::vector<std::string>& all) const {
    if (std::any_of(columns_.begin(), columns_.end(), [](const column& c) { return c.binary > 0; }))
      all.emplace_back("some headers are bytes that are not text: Ratchet reads no field from them");
    for (const column& c : columns_) {
      const bool is_text = c.json_texts > 0 && c.json_texts == c.names;
      const bool is_base64 = c.json_base64s > 0 && c.json_base64s == c.names;
      if (c.source.starts_with('/') && (is_text || is_base64) && found_.look == look::plain)
        all.push_back(c.source + (is_text ? " holds JSON as text" : " holds JSON in base64") +
                      ": no pointer leads into it, unless the producer sends it as an object");
    }
  }

  void tell_advice(const suggestion& config) {
    std::vector<std::string> all = config.advice;
    const seen_bytes seen = look_at_all();
    advise_on_encoding(seen, all);
    advise_on_keys(seen, all);
    advise_on_fields(all);
    if (records_.size() < 100 && !records_.empty())
      all.push_back("there were only " + counted(records_.size(), "record") +
                    ": look again when there are more");
    if (all.empty()) return;
    comment("");
    comment("Mind");
    for (const std::string& line : all) comment("  " + line);
  }

  const sniff_request& request_;
  std::span<const sniffed_record> records_;
  std::span<const config_share> shares_;
  std::optional<several_events> several_;
  std::span<const sniffed_record> events_;  ///< the records, where each is one
  unwrapped_outbox outbox_;
  key_form keys_;
  std::vector<column> columns_;
  likely found_;
  std::string out_;
};

}  // namespace

std::string report_on(const sniff_request& request, std::span<const sniffed_record> records,
                      std::span<const config_share> shares) {
  if (records.empty()) {
    std::string out;
    append_line(out, "# " + request.name + ": there are no records to look at");
    return out;
  }
  return reporter{request, records, shares}.run();
}

std::string words_of_trial(const config_share& share) {
  if (share.rejected == 0) return {};
  std::string out;
  append_line(out, "");
  append_comment(out, "This config rejects " + std::to_string(share.rejected) + " of these " +
                          counted(share.all(), "event") + "; correct it first:");
  for (const auto& [what, fault] : share.faults) append_comment(out, words_of_fault(what, fault));
  return out;
}

}  // namespace ratchet::sniff
