// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely_sequences.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "decode/sequence_kinds.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"
#include "sniff/config_share.hpp"
#include "sniff/known_names.hpp"
#include "text/counted.hpp"

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
  explicit growing(const occurrences& of) : of_{of} {}

  void add(const std::string& aggregate, const sequence& number, std::size_t record,
           const std::string& text) {
    ++out_.events;
    const auto [known, is_new] = all_.try_emplace(aggregate, seen{number, number, text});
    if (is_new) return;
    auto& [before, newest, newest_text] = known->second;
    ++out_.pairs;
    if (before < number) ++out_.up;
    if (before == number) ++out_.equal;
    if (before.epoch == number.epoch && before.number + 1 == number.number) ++out_.by_one;
    if (number < newest) {
      if (out_.late++ == 0) out_.first_late = late_event{place_of(of_.records[record]), text, newest_text};
    } else {
      newest = number;
      newest_text = text;
    }
    before = number;
  }
  [[nodiscard]] const growth& get() const noexcept { return out_; }

 private:
  struct seen {
    sequence before;
    sequence newest;
    std::string newest_text;
  };
  const occurrences& of_;
  std::map<std::string, seen> all_;
  growth out_;
};

bool is_again(const occurrences& of, std::size_t record) {
  return record < of.again.size() && of.again[record];
}

}  // namespace

growth growth_of(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                 const occurrences& of) {
  growing out{of};
  for (const cell& here : c.cells) {
    if (is_again(of, here.record)) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number) out.add(*name, *number, here.record, here.text);
  }
  return out.get();
}

growth growth_in_time(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                      const occurrences& of) {
  if (of.when.empty()) return {};
  struct event {
    timestamp when;
    sequence number;
    const cell* from;
  };
  std::map<std::string, std::vector<event>> all;
  for (const cell& here : c.cells) {
    if (is_again(of, here.record) || !of.when[here.record]) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number) all[*name].push_back({*of.when[here.record], *number, &here});
  }
  growing out{of};
  for (auto& [name, events] : all) {
    std::stable_sort(events.begin(), events.end(),
                     [](const event& a, const event& b) { return a.when < b.when; });
    // Of those of one moment no time says which was first.
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool is_shared = (i > 0 && events[i - 1].when == events[i].when) ||
                             (i + 1 < events.size() && events[i + 1].when == events[i].when);
      if (!is_shared) out.add(name, events[i].number, events[i].from->record, events[i].from->text);
    }
  }
  return out.get();
}

growth growth_of_times(const column& times, const column& by, const occurrences& of) {
  growing out{of};
  for (const cell& here : times.cells) {
    const auto when = is_again(of, here.record) ? std::nullopt : of.when[here.record];
    const auto name = when ? name_in({&by}, here.record) : std::nullopt;
    const auto ticks = when ? when->time_since_epoch().count() : 0;
    if (name && ticks >= 0)
      out.add(*name, sequence{0, static_cast<std::uint64_t>(ticks)}, here.record, here.text);
  }
  return out.get();
}

namespace {

/// The numbers of one aggregate, as they came.
using numbers_as_they_came = std::vector<sequence>;

struct placed {
  sequence number;
  std::size_t came;
};

std::vector<placed> in_order(const numbers_as_they_came& all) {
  std::vector<placed> out;
  for (const sequence& number : all) out.push_back({number, out.size()});
  std::stable_sort(out.begin(), out.end(),
                   [](const placed& a, const placed& b) { return a.number < b.number; });
  return out;
}

/// How far from its place an event may have come: so near to the first and last record what is missing may
/// have come before or may still come.
std::size_t furthest(const std::vector<placed>& sorted) {
  std::size_t far = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    far = std::max(far, i < sorted[i].came ? sorted[i].came - i : i - sorted[i].came);
  return far;
}

}  // namespace

numbering numbers_of(const column& c, sequence_kind kind, const std::vector<const column*>& by,
                     const occurrences& of) {
  std::map<std::string, numbers_as_they_came> all;
  for (const cell& here : c.cells) {
    if (is_again(of, here.record)) continue;
    const auto name = name_in(by, here.record);
    const auto number = name ? number_of(kind, here) : std::nullopt;
    if (number) all[*name].push_back(*number);
  }
  std::vector<std::vector<placed>> sorted;
  std::size_t far = 0;
  for (const auto& [name, numbers] : all) {
    sorted.push_back(in_order(numbers));
    far = std::max(far, furthest(sorted.back()));
  }
  numbering out;
  bool any = false;
  bool one_epoch = true;
  for (const std::vector<placed>& numbers : sorted) {
    ++out.aggregates;
    if (numbers.front().number.number == 0) ++out.begin_at_0;
    if (numbers.front().number.number == 1) ++out.begin_at_1;
    const std::size_t edge = std::min(far, numbers.size() / 4);
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      const auto& [number, came] = numbers[i];
      const auto& [before, before_came] = numbers[i - 1];
      any = true;
      one_epoch = one_epoch && before.epoch == number.epoch;
      if (before == number) {
        ++out.shared;
        continue;
      }
      const std::uint64_t between = number.number - before.number - 1;
      const bool is_at_edge =
          std::min(came, before_came) < edge || std::max(came, before_came) + edge >= numbers.size();
      constexpr std::uint64_t k_most = 1'000'000;  // of identifiers that lie far apart
      (between > edge || !is_at_edge ? out.missing : out.at_edges) += std::min(between, k_most);
    }
  }
  out.counts_by_one = any && one_epoch && out.shared == 0 && out.missing == 0;
  return out;
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
  // Of several events with one number.
  if (is_surely_named && growth.never_falls() && growth.up * 4 >= growth.pairs) return true;
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
    s.numbers = numbers_of(c, *kind, {&columns[by]}, of);
    s.score = score_of(s, name, c.source);
    all.push_back(s);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const likely_sequence& a, const likely_sequence& b) { return a.score > b.score; });
  return all;
}

std::string words_of_late(const growth& g, bool is_time) {
  return std::to_string(g.late) + " of " + counted(g.events, "event") + (g.late == 1 ? " has " : " have ") +
         (is_time ? "an earlier time" : "a lower number") +
         " than an event of the same aggregate that came before, the first at " + g.first_late->at + " (" +
         g.first_late->has + " behind " + g.first_late->behind + ")";
}

std::string words_of_missing(const numbering& n) {
  return "no number is missing" +
         (n.at_edges == 0 ? std::string{}
                          : " but " + std::to_string(n.at_edges) + " near the first and the last record");
}

std::string words_of(const likely_sequence& s, const std::string& when) {
  const growth& g = s.growth;
  const std::string kind =
      s.kind == sequence_kind::integer ? "" : "as: " + std::string{word_of(s.kind)} + ", ";
  const std::string name =
      std::string{s.is_named ? "" : ", but its name does not say that it orders events"} +
      (s.missing == 0 ? "" : "; missing in " + std::to_string(s.missing));
  if (g.pairs == 0) return kind + "by its name; no aggregate has two events here" + name;
  if (g.by_one == g.pairs) return kind + "grows by 1 with each event of an aggregate" + name;
  if (g.up == g.pairs) return kind + "grows with each event of an aggregate" + name;
  return kind + (g.late > 0 ? words_of_late(g, s.is_time) : "never falls within an aggregate") +
         (s.numbers.shared == 0 ? ""
                                : "; " + std::to_string(s.numbers.shared) + " share their " +
                                      (s.is_time ? "time" : "number") + " with another one") +
         (s.in_time.grows() ? "; sorted by " + when + " it never falls" : "") +
         (s.numbers.counts_by_one ? "; " + words_of_missing(s.numbers) : "") + name;
}

}  // namespace ratchet::sniff
