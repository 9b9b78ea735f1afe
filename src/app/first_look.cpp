// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/first_look.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/typed_command.hpp"
#include "decode/json_grammar.hpp"
#include "decode/kcat_line.hpp"
#include "text/likely_kind.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_mark{"\xEF\xBB\xBF"};
constexpr std::string_view k_space{" \t\r\n"};

[[nodiscard]] std::string name_of_input(const expected_input& in) {
  return in.file == "-" ? "standard input" : in.file;
}

[[nodiscard]] problem told(const expected_input& in, const std::string& what, std::string hint) {
  return {make_error_code(errc::usage),
          name_of_input(in) + " " + what + "; nothing of it was applied",
          std::move(hint),
          {}};
}

/// "`FILTER FILE | ratchet apply -c ... -`".
[[nodiscard]] std::string through(const expected_input& in, const std::string& filter, bool records) {
  const std::string source = in.file == "-" ? "... | " + filter : filter + " " + shell_word(in.file);
  return "`" + source + " | " + typed_command("apply", records ? "--records -" : "-").substr(1);
}

/// Says what the input is, and what makes lines of it.
[[nodiscard]] problem filtered(const expected_input& in, const std::string& what, const std::string& filter) {
  return told(in, "is " + what + ", not one JSON value a line", "type " + through(in, filter, in.records));
}

[[nodiscard]] std::string_view text_of(const input_line& line) noexcept {
  std::string_view text = without_byte_order_mark(line);
  const std::size_t first = text.find_first_not_of(k_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_space) - first + 1);
}

/// How many of the lines are events of the stream that plain lines are for.
[[nodiscard]] std::size_t count_events(const expected_input& in, std::span<const input_line> lines) {
  const topic_partition nowhere{"", partition_id{0}};
  std::vector<record> records;
  for (const input_line& line : lines) {
    record& r = records.emplace_back();
    r.where = &nowhere;
    r.value = without_byte_order_mark(line);
  }
  decode_rules rules = in.rules;
  rules.time_stands_for_record = true;
  decoder decode{std::move(rules)};
  decoded_batch batch;
  decode.decode(records, batch);
  return static_cast<std::size_t>(
      std::count_if(batch.events.begin(), batch.events.end(),
                    [](const decoded_event& e) { return e.kind != decoded_kind::malformed; }));
}

/// How many of the lines are records, and the topic of the first that no stream takes.
struct counted_records {
  std::size_t count{0};
  std::optional<std::string> foreign;
};
[[nodiscard]] counted_records count_records(const expected_input& in, std::span<const input_line> lines) {
  counted_records found;
  kcat_line_reader reader;
  kcat_record read;
  for (const input_line& line : lines) {
    if (!reader.read_beginning(line.text.substr(0, 512), read) &&
        (line.too_large || reader.read(without_byte_order_mark(line), read).reason != malformed_reason::none))
      continue;
    ++found.count;
    if (!found.foreign && in.takes && !in.takes(read.topic)) found.foreign = read.topic;
  }
  return found;
}

/// Whether the text is one or more whole JSON values with something begun behind them, or in between.
[[nodiscard]] bool ends_too_early(std::string_view text) {
  const json::fault fault = json::check_json(text);
  return fault.reason == malformed_reason::invalid_json && fault.offset == text.size();
}

[[nodiscard]] bool several_on_a_line(std::string_view text) {
  const json::fault fault = json::check_json(text);
  return fault.reason == malformed_reason::invalid_json && fault.offset < text.size() &&
         text[fault.offset] == '{' &&
         json::check_json(text.substr(0, fault.offset)).reason == malformed_reason::none;
}

/// Whether each of the lines has as many of the separators as the first.
[[nodiscard]] bool is_table(std::span<const input_line> lines, char separator) {
  constexpr std::size_t k_enough = 2;
  const auto separators = [separator](const input_line& line) {
    const std::string_view text = text_of(line);
    return std::count(text.begin(), text.end(), separator);
  };
  return lines.size() >= k_enough && separators(lines.front()) > 0 &&
         std::all_of(lines.begin(), lines.end(),
                     [&](const input_line& line) { return separators(line) == separators(lines.front()); });
}

/// JSON that is not one value a line.
[[nodiscard]] std::optional<problem> look_at_json(const expected_input& in,
                                                  std::span<const input_line> lines) {
  const std::string_view first = text_of(lines.front());
  const bool whole = !lines.front().too_large && json::check_json(first).reason == malformed_reason::none;
  if (first.front() == '[') {
    const std::size_t inside = first.find_first_not_of(k_space, 1);
    const bool holds_objects =
        inside == std::string_view::npos || first[inside] == '{' || first[inside] == '[';
    if (!holds_objects) return std::nullopt;
    return filtered(
        in, whole && lines.size() > 1 ? "lines of JSON arrays, each with several events" : "a JSON array",
        "jq -c '.[]'");
  }
  if (first.front() == '"' && whole && first.size() > 2 && (first[1] == '{' || first[1] == '['))
    return filtered(in, "JSON within JSON strings", "jq -c fromjson");
  if (first.front() != '{' || lines.front().too_large) return std::nullopt;
  if (ends_too_early(first)) return filtered(in, "JSON over several lines (pretty-printed)", "jq -c .");
  if (several_on_a_line(first)) return filtered(in, "several JSON values on a line", "jq -c .");
  return std::nullopt;
}

[[nodiscard]] std::optional<problem> look_at_text(const expected_input& in,
                                                  std::span<const input_line> lines) {
  const std::string_view first = text_of(lines.front());
  const std::size_t tab = first.rfind("\t{");
  if (tab != std::string_view::npos &&
      json::check_json(first.substr(tab + 1)).reason == malformed_reason::none) {
    return told(
        in, "has something before each JSON value, as kafka-console-consumer prints keys and times",
        "print the values alone; or print whole records with `kcat -C -J` and apply them with --records, "
        "which keeps their keys and positions");
  }
  for (const auto& [separator, kind] :
       {std::pair{',', "--icsv"}, std::pair{';', "--icsv --ifs ';'"}, std::pair{'\t', "--itsv"}}) {
    if (first.front() != '{' && first.front() != '[' && first.front() != '"' && is_table(lines, separator))
      return filtered(in, separator == '\t' ? "a table of tabs (TSV)" : "a table (CSV)",
                      std::string{"mlr "} + kind + " --ojsonl cat");
  }
  return std::nullopt;
}

}  // namespace

bool has_byte_order_mark(const input_line& line) noexcept {
  return line.number == 1 && line.text.starts_with(k_mark);
}

std::string_view without_byte_order_mark(const input_line& line) noexcept {
  return has_byte_order_mark(line) ? line.text.substr(k_mark.size()) : line.text;
}

problem foreign_topic(const expected_input& in, const std::string& topic) {
  const std::string select = "jq -c 'select(.topic == \"TOPIC\")'";
  return told(in,
              "holds records of topic `" + topic + "`, which this command does not apply (" + in.topics + ")",
              "filter the records that you mean, with their topic as TOPIC: " + through(in, select, true) +
                  "; or correct the config, or --stream");
}

std::optional<problem> look_at(const expected_input& in, std::string_view bytes,
                               std::span<const input_line> lines) {
  lines = lines.first(std::min(lines.size(), k_lines_looked_at));
  if (lines.empty()) return std::nullopt;
  const std::string_view begin = text_of(lines.front());
  // Lines of it may be events by chance, as the last element of an array is.
  if (begin.starts_with('[') && !lines.front().too_large && ends_too_early(begin))
    return filtered(in, "a JSON array over several lines", "jq -c '.[]'");
  const counted_records records = count_records(in, lines);
  if (in.records && records.foreign) return foreign_topic(in, *records.foreign);
  const std::size_t events = count_events(in, lines);
  if (in.records ? records.count > 0 : events > 0) return std::nullopt;
  if (!in.records && records.count > 0) {
    return told(in, "holds records as `kcat -C -J` or rpk prints them, not events alone",
                "add --records: " + typed_command("apply", "--records " + shell_word(in.file)));
  }
  const likely_kind kind = kind_of_bytes(bytes);
  if (kind.certain) {
    if (!kind.filter.empty()) return filtered(in, kind.what, kind.filter);
    return told(in, "is " + kind.what + ", not one JSON value a line", "turn it into lines of JSON first");
  }
  if (begin.empty()) return std::nullopt;
  if (auto found = look_at_json(in, lines)) return found;
  if (auto found = look_at_text(in, lines)) return found;
  if (!in.records) return std::nullopt;
  if (events > 0) {
    return told(in, "holds events alone, without the positions of their records",
                "leave out --records: " + typed_command("apply", shell_word(in.file)));
  }
  return told(in, "holds no lines as `kcat -C -J` prints them",
              "print them with `kcat -C -J -t TOPIC -e`, or `rpk topic consume TOPIC --pretty-print=false`");
}

}  // namespace ratchet
