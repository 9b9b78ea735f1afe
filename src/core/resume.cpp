// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/resume.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace ratchet {

namespace {

constexpr std::string_view k_prefix = "ratchet1:";
constexpr std::string_view k_hex_digits = "0123456789abcdef";
constexpr std::size_t k_uuid_size = 36;
constexpr std::size_t k_random_size = 16;

constexpr resume_decision resume_at(resume_row row, std::int64_t offset) noexcept {
  return {.row = row, .action = resume_action::resume, .offset = offset};
}

constexpr resume_decision audited(resume_decision d) noexcept {
  d.audit = true;
  return d;
}

constexpr resume_decision end_with(resume_row row, resume_action action) noexcept {
  return {.row = row, .action = action};
}

constexpr resume_decision skipping(resume_decision d, std::int64_t from, std::int64_t to) noexcept {
  d.lost_from = from;
  d.lost_to = to;
  return d;
}

constexpr resume_decision rebuild_or(const resume_facts& f, resume_row row,
                                     resume_action otherwise) noexcept {
  if (f.option == resume_option::rebuild) return audited(end_with(row, resume_action::rebuild));
  return end_with(row, otherwise);
}

/// No stored offset: the directory is new, was lost, or has not met this partition yet.
constexpr resume_decision resolve_without_store(const resume_facts& f) noexcept {
  if (f.committed && f.owner == commit_owner::ours) {
    // A start is durable before it is claimed, so the store has let go of it: see started_over.
    const bool from_start = f.start == start_position::earliest;
    const std::int64_t committed = std::clamp(*f.committed, f.log_start, f.log_end);
    return audited(resume_at(resume_row::started_over, from_start ? f.log_start : committed));
  }
  if (f.committed) {
    // A copy that takes over (another one is not let through to here) was made before its origin met this
    // partition: to it the partition is a later one.
    const bool from_copy = f.owner == commit_owner::ours_unknown;
    if (f.option == resume_option::rebuild || from_copy) {
      return skipping(audited(resume_at(resume_row::store_lost, f.log_start)), 0, f.log_start);
    }
    if (f.option == resume_option::kafka) {
      const std::int64_t offset = std::clamp(*f.committed, f.log_start, f.log_end);
      return skipping(audited(resume_at(resume_row::store_lost, offset)), 0, offset);
    }
    return end_with(resume_row::store_lost, resume_action::refuse);
  }
  // A directory that was moved away for a rebuild is new, whatever the group's offsets still say.
  const bool at_end =
      f.store_is_new && f.start == start_position::latest && f.option != resume_option::rebuild;
  return resume_at(resume_row::fresh, at_end ? f.log_end : f.log_start);
}

constexpr resume_decision resolve_foreign(const resume_facts& f) noexcept {
  const std::int64_t stored = *f.stored;
  // A start with `cluster` that was cut short behind its step has left the other cluster already.
  const bool by_store = f.option == resume_option::store || f.option == resume_option::cluster || f.rebuilt;
  if (*f.committed == stored) return audited(resume_at(resume_row::equal_foreign, stored));
  if (*f.committed < stored) {
    if (by_store) return audited(resume_at(resume_row::rewound, stored));
    return rebuild_or(f, resume_row::rewound, resume_action::stop);
  }
  if (by_store) return audited(resume_at(resume_row::skipped_ahead, stored));
  if (f.option == resume_option::kafka) {
    const std::int64_t offset = std::min(*f.committed, f.log_end);
    return skipping(audited(resume_at(resume_row::skipped_ahead, offset)), stored, offset);
  }
  return end_with(resume_row::skipped_ahead, resume_action::stop);
}

constexpr resume_decision resolve_with_store(const resume_facts& f) noexcept {
  const std::int64_t stored = *f.stored;
  if (f.committed && f.owner == commit_owner::other_store) {
    // A start that was entered, and killed before its claim, looks like this too: at C with `kafka`.
    const bool entered_there = f.option == resume_option::kafka && *f.committed == stored;
    if (!entered_there && !f.rebuilt) return rebuild_or(f, resume_row::other_store, resume_action::refuse);
  }
  if (stored < f.log_start) {
    if (f.option == resume_option::kafka) {
      return skipping(audited(resume_at(resume_row::below_log_start, f.log_start)), stored, f.log_start);
    }
    return skipping(rebuild_or(f, resume_row::below_log_start, resume_action::stop), stored, f.log_start);
  }
  if (stored > f.log_end) return rebuild_or(f, resume_row::past_log_end, resume_action::stop);
  if (f.last == resume_facts::last_record::other) {
    return rebuild_or(f, resume_row::other_record, resume_action::stop);
  }
  if (!f.committed) return resume_at(resume_row::behind_or_absent, stored);
  if (f.owner == commit_owner::other_store) return audited(resume_at(resume_row::other_store, stored));
  if (f.owner == commit_owner::foreign) return resolve_foreign(f);
  return resume_at(*f.committed > stored ? resume_row::power_loss : resume_row::behind_or_absent, stored);
}

/// S is another cluster's offset. Whoever holds the group there, another store's claim stands.
constexpr resume_decision resolve_other_cluster(const resume_facts& found) noexcept {
  constexpr resume_row row = resume_row::other_cluster;
  resume_facts f = found;
  if (f.option == resume_option::rebuild) return audited(end_with(row, resume_action::rebuild));
  const bool is_at_start =
      f.option == resume_option::cluster || (f.option == resume_option::kafka && !f.committed);
  const bool is_answer =
      is_at_start ? f.knows_repeats : f.option == resume_option::store || f.option == resume_option::kafka;
  if (!is_answer) return end_with(row, resume_action::refuse);
  if (f.committed && f.owner == commit_owner::other_store)
    return end_with(resume_row::other_store, resume_action::refuse);
  if (is_at_start) return audited(resume_at(row, f.log_start));
  if (f.option == resume_option::kafka) {
    const std::int64_t offset = std::clamp(*f.committed, f.log_start, f.log_end);
    return skipping(audited(resume_at(row, offset)), f.log_start, offset);
  }
  // The very offsets: what was handled last must lie where it lay.
  if (f.last == resume_facts::last_record::absent || f.last == resume_facts::last_record::unknown)
    return end_with(row, resume_action::refuse);
  resume_decision d = f.stored ? resolve_with_store(f) : resolve_without_store(f);
  if (d.action != resume_action::resume) return d;
  d.row = row;
  return audited(d);
}

template <class Number>
[[nodiscard]] bool parse_whole(std::string_view text, int base, Number& out) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size();  // no digits at all are an error too
}

/// 8-4-4-4-12 digits in lower-case hex.
[[nodiscard]] bool is_uuid(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool wants_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (wants_dash ? text[i] != '-' : k_hex_digits.find(text[i]) == std::string_view::npos) return false;
  }
  return text.size() == k_uuid_size;
}

}  // namespace

resume_decision resolve_resume(const resume_facts& found) noexcept {
  resume_facts facts = found;
  // The store that the checkpoint was taken of knows the same incarnations, and may have gone on with them.
  if (facts.copy && facts.owner == commit_owner::ours) facts.owner = commit_owner::ours_unknown;
  bool new_identity = false;
  if (facts.committed && facts.owner == commit_owner::ours_unknown) {
    // Beside another cluster's records the mark was brought by a mirror, or is that of a copy which is gone.
    if (facts.option != resume_option::takeover && !facts.other_cluster) {
      return rebuild_or(facts, resume_row::copied_directory, resume_action::refuse);
    }
    new_identity = true;  // from here on the commit counts as ours
  }
  if (facts.other_cluster) {
    resume_decision d = resolve_other_cluster(facts);
    d.new_identity = new_identity && d.action == resume_action::resume;
    return d;
  }
  resume_decision d = facts.stored ? resolve_with_store(facts) : resolve_without_store(facts);
  d.new_identity = new_identity;
  d.audit = d.audit || new_identity;
  d.warn_unchecked =
      d.action == resume_action::resume && d.offset == facts.stored &&
      (facts.last == resume_facts::last_record::absent || facts.last == resume_facts::last_record::unknown);
  return d;
}

const char* name_of(resume_row row) noexcept {
  switch (row) {
    case resume_row::other_cluster:
      return "other_cluster";
    case resume_row::copied_directory:
      return "copied_directory";
    case resume_row::other_store:
      return "other_store";
    case resume_row::below_log_start:
      return "below_log_start";
    case resume_row::past_log_end:
      return "past_log_end";
    case resume_row::other_record:
      return "other_record";
    case resume_row::rewound:
      return "rewound";
    case resume_row::skipped_ahead:
      return "skipped_ahead";
    case resume_row::equal_foreign:
      return "equal_foreign";
    case resume_row::behind_or_absent:
      return "behind_or_absent";
    case resume_row::power_loss:
      return "power_loss";
    case resume_row::store_lost:
      return "store_lost";
    case resume_row::started_over:
      return "started_over";
    case resume_row::fresh:
      return "fresh";
  }
  return "?";
}

std::optional<question_kind> question_of(resume_row row) noexcept {
  switch (row) {
    case resume_row::other_cluster:
      return question_kind::other_cluster;
    case resume_row::copied_directory:
      return question_kind::copied_directory;
    case resume_row::other_store:
      return question_kind::other_store;
    case resume_row::below_log_start:
      return question_kind::below_log_start;
    case resume_row::past_log_end:
      return question_kind::past_log_end;
    case resume_row::other_record:
      return question_kind::other_record;
    case resume_row::rewound:
      return question_kind::rewound;
    case resume_row::skipped_ahead:
      return question_kind::skipped_ahead;
    case resume_row::store_lost:
      return question_kind::store_lost;
    case resume_row::equal_foreign:
    case resume_row::behind_or_absent:
    case resume_row::power_loss:
    case resume_row::started_over:
    case resume_row::fresh:
      break;
  }
  return std::nullopt;
}

std::vector<resume_choice> choices_of(const resume_facts& found, resume_row row, bool log_known) {
  std::vector<resume_choice> choices;
  for (const resume_option option : k_resume_options) {
    // Elsewhere it does what `store` does, and only a start that is repeated means it.
    if (option == resume_option::cluster && row != resume_row::other_cluster) continue;
    resume_facts facts = found;
    facts.option = option;
    facts.rebuilt = false;
    if (row != resume_row::copied_directory) {  // it is no copy, or has taken over already
      facts.copy.reset();
      if (facts.owner == commit_owner::ours_unknown) facts.owner = commit_owner::ours;
    }
    const resume_decision d = resolve_resume(facts);
    const bool ends = d.action == resume_action::stop || d.action == resume_action::refuse;
    if (ends && d.row <= row) continue;  // the same is asked again, or what comes before it
    resume_choice& choice = choices.emplace_back();
    choice.option = option;
    if (ends || d.action == resume_action::rebuild) continue;
    // Where the state says nothing, it is the log that begins, and the group's offset that is gone on from.
    const bool from_log = facts.other_cluster ? option != resume_option::store
                                              : !facts.stored && option != resume_option::kafka;
    if (from_log && !log_known) continue;
    choice.offset = d.offset;
    choice.lost_from = d.lost_from;
    choice.lost_to = d.lost_to;
  }
  return choices;
}

/// A question that a row asks is called as the row is.
const char* name_of(question_kind kind) noexcept {
  if (kind == question_kind::changed_meaning) return "changed_meaning";
  if (kind == question_kind::damaged_state) return "damaged_state";
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(resume_row::fresh); ++i) {
    const auto row = static_cast<resume_row>(i);
    if (question_of(row) == kind) return name_of(row);
  }
  return "?";
}

std::optional<resume_option> resume_option_of(std::string_view text) noexcept {
  for (const resume_option option : k_resume_options) {
    if (text == name_of(option)) return option;
  }
  return text == name_of(resume_option::none) ? std::optional{resume_option::none} : std::nullopt;
}

const char* name_of(resume_option option) noexcept {
  switch (option) {
    case resume_option::none:
      return "none";
    case resume_option::store:
      return "store";
    case resume_option::kafka:
      return "kafka";
    case resume_option::rebuild:
      return "rebuild";
    case resume_option::takeover:
      return "takeover";
    case resume_option::cluster:
      return "cluster";
  }
  return "?";
}

std::string to_metadata(const commit_mark& mark) {
  char random[k_random_size + 1] = {};
  for (std::size_t i = 0; i < k_random_size; ++i) {
    random[i] = k_hex_digits[(mark.incarnation.random >> (4 * (k_random_size - 1 - i))) & 0xFU];
  }
  return std::string{k_prefix} + mark.store_uuid + ":" + std::to_string(mark.incarnation.counter) + "-" +
         random + ":" + std::to_string(mark.step);
}

std::optional<commit_mark> parse_metadata(std::string_view text) {
  if (!text.starts_with(k_prefix)) return std::nullopt;
  text.remove_prefix(k_prefix.size());
  if (text.size() < k_uuid_size + 1 || text[k_uuid_size] != ':') return std::nullopt;
  if (!is_uuid(text.substr(0, k_uuid_size))) return std::nullopt;
  commit_mark mark;
  mark.store_uuid = std::string{text.substr(0, k_uuid_size)};
  text.remove_prefix(k_uuid_size + 1);
  const std::size_t dash = text.find('-');
  const std::size_t colon = text.find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos ||
      colon != dash + 1 + k_random_size) {
    return std::nullopt;
  }
  const bool ok = parse_whole(text.substr(0, dash), 10, mark.incarnation.counter) &&
                  parse_whole(text.substr(dash + 1, k_random_size), 16, mark.incarnation.random) &&
                  parse_whole(text.substr(colon + 1), 10, mark.step);
  if (!ok || to_metadata(mark) != std::string{k_prefix} + mark.store_uuid + ":" + std::string{text}) {
    return std::nullopt;  // 01 for 1, capital hex: not written by us
  }
  return mark;
}

}  // namespace ratchet
