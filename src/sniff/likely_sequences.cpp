// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely_sequences.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

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

/// Other names may be of a place in a list, of a count, or of a moment.
bool surely_names_order(std::string_view name) noexcept {
  return ends_as(name, {"sequence", "seq", "version", "revision", "seqno", "sequencenumber", "sequenceid",
                        "playhead", "eventnumber", "lsn", "scn"}) ||
         is_one_of(name, {"rev", "ver", "offset", "generation", "hlc"});
}

/// The version of what made or describes the events, which is the same in many of them.
bool is_of_something_else(const column& c, std::string_view name) {
  if (c.distinct > 1) return false;
  if (ends_as(name, {"apiversion", "schemaversion", "specversion", "appversion", "clientversion",
                     "protocolversion", "formatversion", "eventversion", "dataversion", "sdkversion"}))
    return true;
  // A first number may be the only one of a sample; another one hardly is.
  constexpr std::size_t k_enough = 8;
  return name.ends_with("version") && c.names >= k_enough &&
         std::none_of(c.cells.begin(), c.cells.end(),
                      [](const cell& here) { return here.text == "0" || here.text == "1"; });
}

int score_of(const likely_sequence& s, std::string_view name, std::string_view source) {
  int score = s.is_named ? 20 : 0;
  if (s.is_time) score = names_change(name) ? 8 : 4;
  if (s.growth.grows() || (s.in_time.grows() && !s.is_time)) score += 10;
  if (s.growth.pairs > 0 && !s.is_believable()) score -= 10;
  if (s.is_rare) score -= 20;
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

std::optional<sequence_kind> kind_of_versions(const column& c, std::size_t may_fail) {
  if (c.cells.size() <= may_fail) return std::nullopt;
  if (c.integers + may_fail >= c.cells.size()) return sequence_kind::integer;
  const auto count = [&](auto fits) {
    return static_cast<std::size_t>(std::count_if(c.cells.begin(), c.cells.end(), fits));
  };
  const std::size_t texts = count(
      [](const cell& here) { return here.what == json::kind::string || here.what == json::kind::number; });
  if (texts + may_fail < c.cells.size()) return std::nullopt;
  for (const sequence_kind kind :
       {sequence_kind::hlc, sequence_kind::lsn, sequence_kind::ulid, sequence_kind::uuidv7,
        sequence_kind::time, sequence_kind::decimal, sequence_kind::text}) {
    if (count([kind](const cell& here) { return is_of(kind, here); }) + may_fail >= c.cells.size())
      return kind;
  }
  return std::nullopt;
}

namespace {

/// What names the aggregate of a record; none where a part is missing.
std::optional<std::string> name_in(const std::vector<const column*>& by, std::size_t record) {
  std::string name;
  for (const column* part : by) {
    const auto at = std::lower_bound(part->cells.begin(), part->cells.end(), record,
                                     [](const cell& of, std::size_t r) { return of.record < r; });
    if (at == part->cells.end() || at->record != record) return std::nullopt;
    name += at->text + '\0';
  }
  return name;
}

/// Events of one aggregate, one behind the other.
class growing {
 public:
  void add(const std::string& aggregate, const sequence& number) {
    const auto [before, is_new] = last_.try_emplace(aggregate, number);
    if (is_new) return;
    ++out_.pairs;
    if (before->second < number) ++out_.up;
    if (before->second == number) ++out_.equal;
    if (before->second.epoch == number.epoch && before->second.number + 1 == number.number) ++out_.by_one;
    before->second = number;
  }
  [[nodiscard]] const growth& get() const noexcept { return out_; }

 private:
  std::map<std::string, sequence> last_;
  growth out_;
};

bool is_again(const occurrences& of, std::size_t record) {
  return record < of.again.size() && of.again[record];
}

}  // namespace

growth growth_of(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                 const occurrences& of) {
  growing out;
  for (const cell& here : c.cells) {
    if (is_again(of, here.record)) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number) out.add(*name, *number);
  }
  return out.get();
}

growth growth_in_time(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                      const occurrences& of) {
  if (of.when.empty()) return {};
  struct event {
    timestamp when;
    sequence number;
  };
  std::map<std::string, std::vector<event>> all;
  for (const cell& here : c.cells) {
    if (is_again(of, here.record) || !of.when[here.record]) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number) all[*name].push_back({*of.when[here.record], *number});
  }
  growing out;
  for (auto& [name, events] : all) {
    std::stable_sort(events.begin(), events.end(),
                     [](const event& a, const event& b) { return a.when < b.when; });
    // Of those of one moment no time says which was first.
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool is_shared = (i > 0 && events[i - 1].when == events[i].when) ||
                             (i + 1 < events.size() && events[i + 1].when == events[i].when);
      if (!is_shared) out.add(name, events[i].number);
    }
  }
  return out.get();
}

bool count_by_one(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                  const occurrences& of) {
  std::map<std::string, std::set<sequence>> all;
  for (const cell& here : c.cells) {
    if (is_again(of, here.record)) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number && !all[*name].insert(*number).second) return false;
  }
  bool any = false;
  for (const auto& [name, numbers] : all) {
    any = any || numbers.size() > 1;
    const sequence& first = *numbers.begin();
    const sequence& last = *numbers.rbegin();
    if (first.epoch != last.epoch || last.number - first.number + 1 != numbers.size()) return false;
  }
  return any;
}

bool likely_sequence::is_believable() const noexcept {
  constexpr std::size_t k_enough = 3;
  if (is_rare) return false;
  if (growth.pairs == 0 || growth.grows()) return true;
  const bool has_time = !is_time && in_time.pairs >= k_enough;
  if (has_time && in_time.up * 10 >= in_time.pairs * 9) return true;
  // Clocks differ, so that a time alone refutes no name.
  if (has_time && !is_surely_named && in_time.up * 10 < in_time.pairs * 7) return false;
  if (growth.up * 2 >= growth.pairs && (growth.falls() * 4 <= growth.pairs || is_surely_named || is_time))
    return true;
  // Versions of one aggregate differ, in whatever order they come.
  return is_surely_named && growth.falls() > 0 && growth.equal * 5 <= growth.pairs;
}

std::vector<likely_sequence> likely_sequences(const std::vector<column>& columns, std::size_t by,
                                              std::size_t records, std::size_t values,
                                              const occurrences& of) {
  constexpr std::size_t k_enough = 3;  // of pairs, to believe a growth that no name bears out
  std::vector<likely_sequence> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const column& c = columns[i];
    const std::size_t expected = c.source.starts_with('/') ? values : records;
    const std::string name = bare_name(c.source);
    // A name that says so is worth looking at, although some records are without it, or malformed.
    const bool is_sure = surely_names_order(name);
    if (i == by || c.source == "key" || (!is_sure && c.cells.size() * 20 < expected * 19)) continue;
    auto kind = kind_of_versions(c);
    if (!kind && is_sure) kind = kind_of_versions(c, c.cells.size() / 5);
    if (!kind) continue;
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
    s.is_surely_named = by_form || (s.is_named && !s.is_time && is_sure);
    s.growth = growth_of(c, *kind, {&columns[by]}, of);
    const growth& g = s.growth;
    if (!s.is_time) s.in_time = growth_in_time(c, *kind, {&columns[by]}, of);
    // A version of something else: of a schema, an API.
    if (g.pairs >= k_enough && g.up == 0 && (g.falls() == 0 || !s.is_surely_named)) continue;
    if (g.pairs == g.equal && is_of_something_else(c, name)) continue;
    if (s.is_time && !(g.pairs >= k_enough && s.is_named && g.up * 2 >= g.pairs)) continue;
    const auto fits =
        static_cast<std::size_t>(std::count_if(c.cells.begin(), c.cells.end(), [&](const cell& here) {
          return number_of(*kind, here).has_value();
        }));
    s.missing = expected > fits ? expected - fits : 0;
    s.is_rare = fits * 2 < expected;
    if (!s.is_named && !(g.grows() && g.pairs >= k_enough)) continue;
    s.is_wide = std::any_of(c.cells.begin(), c.cells.end(), [](const cell& here) {
      const auto number = parse_u128(here.text);
      return number && number->epoch != 0;
    });
    s.counts_by_one = count_by_one(c, *kind, {&columns[by]}, of);
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
  const std::string name =
      std::string{s.is_named ? "" : ", but its name does not say that it orders events"} +
      (s.missing == 0 ? "" : "; missing in " + std::to_string(s.missing));
  if (g.pairs == 0) return kind + "by its name; no aggregate has two events here" + name;
  if (g.by_one == g.pairs) return kind + "grows by 1 with each event of an aggregate" + name;
  if (g.up == g.pairs) return kind + "grows with each event of an aggregate" + name;
  return kind + "of " + std::to_string(g.pairs) + " events behind another one of their aggregate " +
         std::to_string(g.up) + " have a higher " + (s.is_time ? "time" : "number") +
         (g.equal == 0 ? "" : ", and " + std::to_string(g.equal) + " the same") +
         (s.in_time.grows() ? "; in the order of their times all have" : "") +
         (s.counts_by_one ? "; no number is missing" : "") + name;
}

}  // namespace ratchet::sniff
