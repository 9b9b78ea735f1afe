// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/stream_meaning.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/reducers.hpp"
#include "core/tables.hpp"
#include "decode/envelope_preset.hpp"
#include "decode/event_id_text.hpp"
#include "decode/sequence_kinds.hpp"
#include "text/config_words.hpp"

namespace ratchet {

namespace {

const char* name_of_first(first_number first) noexcept {
  switch (first) {
    case first_number::zero:
      return "0";
    case first_number::one:
      return "1";
    case first_number::any:
      return "any";
  }
  return "?";
}

/// A line for each, as KEY[N].
void add_list(std::vector<std::pair<std::string, std::string>>& lines, const std::string& key,
              const std::vector<std::string>& list, std::size_t first) {
  for (std::size_t i = 0; i < list.size(); ++i)
    lines.emplace_back(key + "[" + std::to_string(first + i) + "]", list[i]);
}

}  // namespace

stream_meaning meaning_of(const stream_config& stream, std::string_view reducer_name,
                          std::uint32_t reducer_version) {
  const envelope_config& e = stream.envelope;
  stream_meaning meaning{stream.name, {{"order", name_of(stream.order)}}};
  auto& lines = meaning.lines;
  // Of strict order alone, as nothing else looks at them.
  if (stream.order == order::strict) {
    lines.emplace_back("first", name_of_first(stream.first));
    lines.emplace_back("epoch_change", stream.epoch_change == epoch_change::accept ? "accept" : "park");
  }
  lines.insert(lines.end(), {{"dedup.ids", name_of(stream.dedup.ids)},
                             {"envelope.format", name_of(e.format)},
                             {"envelope.event_id", e.event_id},
                             {"envelope.aggregate", e.aggregate},
                             {"envelope.sequence", e.sequence},
                             {"envelope.sequence.bits", std::to_string(e.sequence_bits)},
                             {"envelope.epoch", e.epoch},
                             {"envelope.type", e.type},
                             {"envelope.time", e.time},
                             {"reducer.from", stream.reducer.from},
                             {std::string{k_reducer_name_line}, std::string{reducer_name}},
                             {std::string{k_reducer_version_line}, std::to_string(reducer_version)}});
  // Not where it is what every stream had before there was a choice.
  const sequence_kind versions = kind_of_sequences(e, stream.order);
  if (versions != sequence_kind::integer) lines.emplace_back("envelope.sequence.as", word_of(versions));
  if (!e.sequence_first.empty()) lines.emplace_back("envelope.sequence.first", e.sequence_first);
  if (!e.previous.empty()) lines.emplace_back("envelope.previous", e.previous);
  if (stream.after_delete == after_delete::restart) lines.emplace_back("after_delete", "restart");
  if (e.sequence_base != 10) lines.emplace_back("envelope.sequence.base", std::to_string(e.sequence_base));
  if (e.time_unit != time_unit::milliseconds) lines.emplace_back("envelope.time.unit", word_of(e.time_unit));
  add_list(lines, "envelope.event_id", e.event_id_more, 1);
  add_list(lines, "envelope.aggregate", e.aggregate_more, 1);
  if (e.key != key_kind::automatic) lines.emplace_back("envelope.key", word_of(e.key));
  add_list(lines, "envelope.delete.types", e.deletes.types, 0);
  if (!e.deletes.field.empty()) lines.emplace_back("envelope.delete.field", e.deletes.field);
  add_list(lines, "envelope.delete.is", e.deletes.is, 0);
  if (e.each.kind != each_kind::none) lines.emplace_back("envelope.each", word_of(e.each));
  if (e.position != change_order::log) lines.emplace_back("envelope.position", "partition");
  meaning.topics = stream.topics;
  for (const table_config& t : stream.tables)
    lines.emplace_back(std::string{k_table_line} + t.name, name_of(t.key));
  return meaning;
}

}  // namespace ratchet
