// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely_sequences.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "decode/sequence_kinds.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"
#include "sniff/known_names.hpp"

namespace ratchet::sniff {

namespace {

bool names_change(std::string_view name) noexcept {
  return ends_as(name, {"updated", "modified", "changed", "updatedat", "modifiedat", "changedat", "updatedon",
                        "modifiedon", "lastupdate", "lastmodified", "mtime"});
}

bool names_moment(std::string_view name) noexcept {
  return names_change(name) ||
         ends_as(name, {"at", "time", "timestamp", "ts", "tsms", "occurred", "created"});
}

/// Digits, a point and ten digits behind it.
bool has_form_of_hlc(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  return point != std::string_view::npos && point >= 18 && text.size() - point == 11;
}

bool is_of(sequence_kind kind, const cell& here) {
  if (here.what == json::kind::number && !may_be_number(kind)) return false;
  if (kind == sequence_kind::hlc && !has_form_of_hlc(here.text)) return false;
  // Without a zone: as text, in the order of the calendar.
  if (kind == sequence_kind::text && (here.text.size() < 16 || !parse_time_spelling(here.text))) return false;
  return read_version_of(kind, here.text).fault == malformed_reason::none;
}

/// Integers are read as such also where they need 128 bits.
std::optional<sequence> number_of(sequence_kind kind, const cell& here) {
  if (kind == sequence_kind::integer) return parse_u128(here.text);
  const read_version read = read_version_of(kind, here.text);
  if (read.fault != malformed_reason::none) return std::nullopt;
  return read.sequence;
}

int score_of(const likely_sequence& s, std::string_view name, std::string_view source) {
  int score = s.is_named ? 20 : 0;
  if (s.is_time) score = names_change(name) ? 8 : 4;
  if (s.growth.grows()) score += 10;
  if (s.growth.pairs > 0 && s.growth.by_one == s.growth.pairs) score += 2;
  if (is_one_of(name, {"xid", "txid"})) score -= 8;  // of a transaction, which may change a row twice
  return score - 2 * static_cast<int>(std::count(source.begin(), source.end(), '/'));
}

}  // namespace

bool names_order(std::string_view name) noexcept {
  return ends_as(name, {"sequence", "seq", "version", "revision", "seqno", "sequencenumber", "sequenceid",
                        "lsn", "scn", "offset", "generation", "playhead", "eventnumber", "commitnumber",
                        "committs", "counter"}) ||
         is_one_of(name, {"rev", "ver", "v", "pos", "position", "updated", "hlc", "mvcctimestamp", "xid",
                          "txid", "replayid", "ordinal", "nonce", "epoch"});
}

std::string bare_name(std::string_view source) {
  const std::size_t at = source.find_last_of("/:");
  std::string name;
  for (const char c : at == std::string_view::npos ? source : source.substr(at + 1)) {
    if (c != '_' && c != '-') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

std::optional<sequence_kind> kind_of_versions(const column& c) {
  if (c.cells.empty()) return std::nullopt;
  if (c.integers == c.cells.size()) return sequence_kind::integer;
  for (const cell& here : c.cells) {
    if (here.what != json::kind::string && here.what != json::kind::number) return std::nullopt;
  }
  for (const sequence_kind kind :
       {sequence_kind::hlc, sequence_kind::lsn, sequence_kind::ulid, sequence_kind::uuidv7,
        sequence_kind::time, sequence_kind::decimal, sequence_kind::text}) {
    if (std::all_of(c.cells.begin(), c.cells.end(), [kind](const cell& here) { return is_of(kind, here); }))
      return kind;
  }
  return std::nullopt;
}

growth growth_of(const column& c, sequence_kind kind, const std::vector<const column*>& by) {
  growth out;
  std::map<std::string, sequence> last;
  for (const cell& here : c.cells) {
    std::string name;
    const bool has_all = std::all_of(by.begin(), by.end(), [&](const column* part) {
      const auto at = std::lower_bound(part->cells.begin(), part->cells.end(), here.record,
                                       [](const cell& of, std::size_t record) { return of.record < record; });
      if (at == part->cells.end() || at->record != here.record) return false;
      name += at->text + '\0';
      return true;
    });
    const auto number = has_all ? number_of(kind, here) : std::nullopt;
    if (!number) continue;
    const auto [before, is_new] = last.try_emplace(name, *number);
    if (is_new) continue;
    ++out.pairs;
    if (before->second < *number) ++out.up;
    if (before->second == *number) ++out.equal;
    if (before->second.epoch == number->epoch && before->second.number + 1 == number->number) ++out.by_one;
    before->second = *number;
  }
  return out;
}

std::vector<likely_sequence> likely_sequences(const std::vector<column>& columns, std::size_t by,
                                              std::size_t records, std::size_t values) {
  constexpr std::size_t k_enough = 3;  // of pairs, to believe a growth that no name bears out
  std::vector<likely_sequence> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const column& c = columns[i];
    const std::size_t expected = c.source.starts_with('/') ? values : records;
    if (i == by || c.source == "key" || c.cells.size() * 20 < expected * 19) continue;
    const auto kind = kind_of_versions(c);
    if (!kind) continue;
    const std::string name = bare_name(c.source);
    likely_sequence s;
    s.column = i;
    s.kind = *kind;
    const bool is_number = c.unit || kind == sequence_kind::decimal;
    s.is_time =
        kind == sequence_kind::time || kind == sequence_kind::text || (is_number && names_moment(name));
    s.is_coarse = s.is_time || c.source.starts_with("record:") ||
                  is_one_of(name, {"xid", "txid", "scn", "commitscn", "commitnumber", "committs"}) ||
                  name.find("batch") != std::string::npos || name.find("bundle") != std::string::npos;
    const bool by_form = kind == sequence_kind::hlc || kind == sequence_kind::lsn;
    const bool is_fraction = kind == sequence_kind::decimal && !names_moment(name);
    s.is_named = by_form || (names_order(name) && !is_fraction) ||
                 (is_fraction && ends_as(name, {"version"})) || (s.is_time && names_moment(name));
    if ((kind == sequence_kind::ulid || kind == sequence_kind::uuidv7) && !s.is_named) continue;
    s.growth = growth_of(c, *kind, {&columns[by]});
    const growth& g = s.growth;
    if (g.pairs >= k_enough && g.up == 0) continue;  // a version of something else: of a schema, an API
    if (s.is_time && !(g.pairs >= k_enough && g.never_falls() && s.is_named)) continue;
    if (!s.is_named && !(g.grows() && g.pairs >= k_enough)) continue;
    s.is_wide = std::any_of(c.cells.begin(), c.cells.end(), [](const cell& here) {
      const auto number = parse_u128(here.text);
      return number && number->epoch != 0;
    });
    s.score = score_of(s, name, c.source);
    all.push_back(s);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const likely_sequence& a, const likely_sequence& b) { return a.score > b.score; });
  return all;
}

std::string words_of(const likely_sequence& s) {
  const growth& g = s.growth;
  const std::string kind =
      s.kind == sequence_kind::integer ? "" : "as: " + std::string{word_of(s.kind)} + ", ";
  const std::string name = s.is_named ? "" : ", but its name does not say that it orders events";
  if (g.pairs == 0) return kind + "by its name; no aggregate has two events here";
  if (g.by_one == g.pairs) return kind + "grows by 1 with each event of an aggregate" + name;
  if (g.up == g.pairs) return kind + "grows with each event of an aggregate" + name;
  return kind + "of " + std::to_string(g.pairs) + " events behind another one of their aggregate " +
         std::to_string(g.up) + " have a higher " + (s.is_time ? "time" : "number") +
         (g.equal == 0 ? "" : ", and " + std::to_string(g.equal) + " the same");
}

}  // namespace ratchet::sniff
