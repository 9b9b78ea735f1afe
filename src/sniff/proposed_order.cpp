// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/proposed_order.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "decode/sequence_kinds.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet::sniff {

namespace {

constexpr std::size_t k_few = 3;

const char* words_of_need() noexcept {
  return "If events can come late, the producer must send a number that counts by 1 with each event of an "
         "aggregate (order: strict), or whole states with a number that grows (order: latest)";
}

class chooser {
 public:
  chooser(const likely& found, const format_of_fields& format) : found_{found}, format_{format} {
    if (found.sequence_is) source_ = found.sequences.front().source;
  }

  proposed_order run() {
    if (!takes_sequence()) {
      tell_arrival();
      return std::move(out_);
    }
    out_.has_sequence = true;
    if (has_parts() && may_be_strict())
      choose_strict();
    else
      choose_latest();
    tell_evidence();
    return std::move(out_);
  }

 private:
  void say(std::string text) { out_.why.push_back(std::move(text)); }

  [[nodiscard]] const likely_sequence& sequence() const { return *found_.sequence_is; }
  /// Events may be changes, and not whole states.
  [[nodiscard]] bool has_parts() const { return !found_.now_and_then.empty(); }
  [[nodiscard]] bool comes_late() const { return sequence().growth.late > 0; }

  /// A number that grows by chance orders nothing: its name has to say it, but for want of anything else.
  [[nodiscard]] bool takes_sequence() const {
    if (!found_.sequence_is || format_.source.empty() || !sequence().is_believable()) return false;
    const bool is_named = sequence().is_named || (format_.is_of_file && !format_.has_ids);
    if (!is_named) return false;
    // Ids tell events apart; a time orders whole states alone.
    if (sequence().is_time && format_.has_ids) return comes_late() && !has_parts();
    return !format_.is_by_arrival || comes_late();
  }

  [[nodiscard]] bool may_be_strict() const {
    const likely_sequence& s = sequence();
    return found_.counts_by_one && s.kind == sequence_kind::integer && !s.is_wide && !s.is_time &&
           !s.is_coarse;
  }

  void choose_strict() {
    out_.by = order::strict;
    say((comes_late() ? source_ + ": " + words_of_late(sequence().growth, false) + "; " +
                            words_of_missing(sequence().numbers)
                      : source_ + " counts by 1 with each event of an aggregate") +
        ": order: strict applies each event in its turn, and waits for one that is missing. If each event "
        "carries the whole state, set order: latest and reducer: {kind: replace}, which wait for none");
    choose_first();
  }

  /// A first number that never comes would hold up its aggregate without end.
  void choose_first() {
    const numbering& n = sequence().numbers;
    const std::size_t known = n.begin_at_0 + n.begin_at_1;
    const bool are_mixed = n.begin_at_0 > 0 && found_.is_from_start && n.begin_at_1 * 10 > n.aggregates;
    if (are_mixed || (found_.is_from_start && known * 2 < n.aggregates)) {
      out_.first = first_number::any;
      return say(
          "aggregates begin with different numbers: first: any takes the lowest one that comes within "
          "gap.timeout, and skips numbers that are missing for so long");
    }
    if (n.begin_at_0 > 0) out_.first = first_number::zero;
    if (known == 0)
      say("no aggregate begins with 0 or 1 in these records: order: strict waits for the number 1 of each. "
          "If "
          "the topic has lost its first records, set first: any and gap: {policy: skip}");
  }

  void choose_latest() {
    out_.by = order::latest;
    const likely_sequence& s = sequence();
    out_.later_tie_wins = s.is_coarse || s.is_shared();
    if (s.kind == sequence_kind::text)
      say("the times of " + source_ +
          " name no zone: they are compared as text, which is right where all are of one zone and spelling");
    if (out_.later_tie_wins)
      say((s.numbers.shared == 0 ? "two events can share " + source_
                                 : counted(s.numbers.shared, "event") + " share " + source_ +
                                       " with another one of their aggregate") +
          ": with ties: later the later one in its partition counts");
    else if (s.numbers.shared > 0)
      say("the sequence of " + counted(s.numbers.shared, "event") +
          " is that of another one of the same aggregate: each is rejected as a conflict. If it counts, set "
          "ties: later");
    tell_late();
    out_.fails_changes = has_parts() && comes_late();
    if (may_be_strict())
      say("the sequence counts by 1: if no event may be missed and none carries the full state, set order: "
          "strict");
  }

  void tell_late() {
    const likely_sequence& s = sequence();
    if (!comes_late() || s.growth.pairs < k_few) return;
    std::string text = source_ + ": " + words_of_late(s.growth, s.is_time);
    const bool is_borne_out = s.in_time.grows() && s.in_time.pairs >= k_few;
    if (is_borne_out && !found_.times.empty())
      text += "; sorted by " + found_.times.front().source + " it never falls";
    text += ". order: latest keeps the newest one, however late the others come";
    if (s.is_time)
      text += ". If clocks differ by more than events lie apart, the producer must send a number that grows";
    else if (!is_borne_out && !found_.counts_by_one)
      text += "; if these did not come late, the aggregate or the sequence is another field";
    say(std::move(text));
  }

  /// What the records do not bear out of the sequence that is proposed.
  void tell_evidence() {
    const likely_sequence& s = sequence();
    if (s.growth.pairs < k_few)
      say(source_ + " was taken for the sequence by its name: " +
          (s.growth.pairs == 0 ? std::string{"no aggregate"} : "hardly an aggregate") +
          " has two events here; look at more records with --records, or ask the producer whether it grows "
          "with each event of an aggregate");
    if (s.missing > 0)
      say(source_ + " is missing in " + counted(s.missing, "record") +
          ", or is something else there: they are rejected");
    if (!found_.not_the_aggregate.empty() && found_.joined_aggregate.empty())
      say("the sequence grows within " + found_.aggregates.front().source + " and not within " +
          found_.not_the_aggregate + ", so " + found_.aggregates.front().source + " is the aggregate");
  }

  [[nodiscard]] std::string words_of_latest() const {
    return has_parts() ? "`order: latest` and `reducer: {kind: replace}`" : "`order: latest`";
  }

  [[nodiscard]] std::string sequence_words() const {
    return "`sequence: " +
           (format_.source == source_ && sequence().kind != sequence_kind::integer
                ? "{from: " + source_ + ", as: " + std::string{word_of(sequence().kind)} + "}"
                : (format_.source.empty() ? source_ : format_.source)) +
           "`";
  }

  /// That events come late, by the likeliest sequence or by their time. Empty: nothing says so.
  [[nodiscard]] std::string words_of_disorder() const {
    if (found_.sequence_is && sequence().is_believable() && comes_late())
      return source_ + ": " + words_of_late(sequence().growth, sequence().is_time) + ". ";
    const growth& times = found_.in_time;
    const bool is_likely = times.late > 0 && times.up * 2 >= times.pairs && !found_.times.empty();
    return is_likely ? found_.times.front().source + ": " + words_of_late(times, true) + ". " : std::string{};
  }

  void tell_arrival() {
    const bool has_version = found_.sequence_is && !format_.source.empty() && sequence().is_named &&
                             !sequence().is_time && sequence().is_believable();
    if (!has_version) {
      const std::string late = words_of_disorder();
      say(late + (late.empty() ? "nothing" : "Nothing") +
          " in these records orders the events of an aggregate surely: the state that the config below makes "
          "depends on the order in which they arrive. " +
          words_of_need());
    }
    if (found_.sequence_is) tell_what_was_not_taken();
  }

  void tell_what_was_not_taken() {
    const likely_sequence& s = sequence();
    if (s.is_time && s.is_believable() && format_.has_ids) {
      if (format_.source.empty()) return;
      return say(
          (comes_late() ? std::string{"If each event carries the whole state, "}
                        : source_ + " grows with the events of an aggregate: if each event carries the whole "
                                    "state, ") +
          sequence_words() + " with " +
          (has_parts() ? "`ties: later`, " + words_of_latest() : words_of_latest() + " and `ties: later`") +
          " keeps the newest one, however late the others come");
    }
    if (format_.is_by_arrival) return tell_of_a_version();
    if (!s.is_named)
      return say(source_ +
                 " grows with each event of an aggregate, but its name does not say that it orders them: if "
                 "it does, set " +
                 sequence_words() + " and " + words_of_latest());
    say(source_ + " is called like a sequence, but " +
        (s.is_rare ? "most records are without it" : words_of(s, {})) +
        ". If it orders the events of an aggregate, set " + sequence_words() + " and " + words_of_latest() +
        ": until then a late event counts as a new one");
  }

  /// The records come in its order, so that nothing here needs it.
  void tell_of_a_version() {
    if (format_.source.empty() || (!found_.grows && !(sequence().is_named && sequence().is_believable())))
      return;
    std::string orders = "`order: latest` keeps the newest whole state";
    if (found_.counts_by_one)
      orders =
          "`order: strict` applies late events in their place and waits for events that are missing, and " +
          orders;
    if (has_parts()) orders += ", but needs `reducer: {kind: replace}`";
    const bool is_joined = !found_.joined_aggregate.empty();
    std::string within;
    if (is_joined || !found_.not_the_aggregate.empty()) {
      std::string name = found_.aggregates.front().source;
      if (is_joined) {
        name.clear();
        for (const std::string& part : found_.joined_aggregate)
          name += (name.empty() ? "[" : ", ") + scalar(part);
        name += ']';
      }
      within = "`aggregate: " + name + "` and ";
    }
    say(source_ +
        (found_.counts_by_one ? " counts by 1 with each event of an aggregate"
         : found_.grows       ? " grows with each event of an aggregate"
                              : " is called like a sequence") +
        ": with " + within + sequence_words() + " in the envelope " + orders);
  }

  const likely& found_;
  const format_of_fields& format_;
  std::string source_;  ///< of the likeliest sequence, as it was found
  proposed_order out_;
};

}  // namespace

proposed_order order_of(const likely& found, const format_of_fields& format) {
  return chooser{found, format}.run();
}

std::string text_of_sequence(const likely_sequence& s, const std::string& source, bool is_typed) {
  const bool is_plain = s.kind == sequence_kind::integer && !s.is_wide && !is_typed;
  return is_plain ? scalar(source)
                  : "{from: " + scalar(source) + ", as: " + std::string{word_of(s.kind)} + "}";
}

std::string scalar(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '-' || c == '.';
  });
  if (plain && std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '-' &&
      text.front() != '.') {
    return text;
  }
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace ratchet::sniff
