// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Patches that are folded into one document come to what they come to one by one, and to what RFC 7396 says.
#include "core/folded_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/merge_document.hpp"
#include "core/merge_patch.hpp"
#include "core/reducers.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

/// A JSON value as the RFC speaks of it: no text, no index, nothing shared with what is tested.
struct tree {
  bool is_object{false};
  std::string text;  ///< of what is no object
  std::vector<std::pair<std::string, std::shared_ptr<tree>>> members;

  [[nodiscard]] std::string written() const {
    if (!is_object) return text;
    std::string out = "{";
    for (const auto& [name, value] : members) {
      if (out.size() > 1) out += ",";
      out += "\"" + name + "\":" + value->written();
    }
    return out + "}";
  }
  [[nodiscard]] std::shared_ptr<tree> find(const std::string& name) const {
    for (const auto& [known, value] : members) {
      if (known == name) return value;
    }
    return nullptr;
  }
};
using node = std::shared_ptr<tree>;

node merged(const node& target, const node& patch) {
  if (!patch->is_object) return patch;
  auto out = std::make_shared<tree>();
  out->is_object = true;
  const bool has_members = target && target->is_object;
  if (has_members) {
    for (const auto& [name, value] : target->members) {
      const node change = patch->find(name);
      if (!change) out->members.emplace_back(name, value);
      if (change && change->written() != "null") out->members.emplace_back(name, merged(value, change));
    }
  }
  for (const auto& [name, value] : patch->members) {
    if (value->written() == "null" || (has_members && target->find(name))) continue;
    out->members.emplace_back(name, merged(nullptr, value));
  }
  return out;
}

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_{seed} {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  node value(int depth, std::uint64_t members) {
    auto out = std::make_shared<tree>();
    out->is_object = depth > 0 && below(4) > 0;
    if (!out->is_object) {
      const std::string some[] = {"null", "1",   "2.50", R"("x")", R"("}{\"")", "[1,{\"a\":null}]",
                                  "[]",   "true"};
      out->text = some[below(std::size(some))];
      if (below(8) == 0) out->text = "\"" + std::string(below(700), 'y') + "\"";
      return out;
    }
    for (std::uint64_t i = below(members + 1); i > 0; --i) {
      std::string name = "n" + std::to_string(below(members + 2));
      if (!out->find(name)) out->members.emplace_back(std::move(name), value(depth - 1, members / 4 + 2));
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

TEST(a_merge_document, is_what_its_patches_come_to_one_by_one) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice d{seed};
    const std::uint64_t members = d.below(3) == 0 ? 30 : 5;
    node expected = d.value(3, members);
    std::string one_by_one = expected->written();
    const std::string text = one_by_one;
    std::vector<std::string> patches;
    patches.reserve(8);
    merge_document folded{text};
    for (int i = 0; i < 8; ++i) {
      const node patch = d.value(3, members);
      expected = merged(expected, patch);
      const std::string& spelt = patches.emplace_back(patch->written());
      one_by_one = merge_patch(one_by_one, spelt);
      folded.apply(spelt);
      ASSERT_EQ(one_by_one, expected->written()) << spelt;
      ASSERT_EQ(folded.text(), one_by_one) << spelt;
      ASSERT_EQ(folded.size(), one_by_one.size()) << spelt;
    }
  }
}

/// The same value, with white space, and with members that others of their name make needless.
std::string spelt_otherwise(const node& value, dice& d) {
  const auto space = [&d] { return std::string(d.below(3), ' '); };
  if (!value->is_object) return value->text;
  std::string out = "{" + space();
  for (const auto& [name, member] : value->members) {
    if (d.below(5) == 0) out += "\"" + name + "\":" + space() + d.value(1, 2)->written() + ",";
    const std::string escaped = d.below(4) == 0 ? "\\u006e" + name.substr(1) : name;
    out += "\"" + escaped + "\"" + space() + ":" + space() + spelt_otherwise(member, d) + space() + ",";
  }
  if (out.ends_with(',')) out.pop_back();
  return out + space() + "}";
}

TEST(a_merge_document, is_what_its_patches_come_to_however_they_are_spelt) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice d{seed};
    const std::uint64_t members = d.below(3) == 0 ? 30 : 5;
    const std::string text = spelt_otherwise(d.value(3, members), d);
    std::string one_by_one = text;
    std::vector<std::string> patches;
    patches.reserve(8);
    merge_document folded{text};
    for (int i = 0; i < 8; ++i) {
      const std::string& spelt = patches.emplace_back(spelt_otherwise(d.value(3, members), d));
      one_by_one = merge_patch(one_by_one, spelt);
      folded.apply(spelt);
      ASSERT_EQ(folded.text(), one_by_one) << spelt;
      ASSERT_EQ(folded.size(), one_by_one.size()) << spelt;
    }
  }
}

TEST(a_merge_document, forgets_what_was_removed_and_finds_what_comes_again) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += (i == 0 ? "\"n" : ",\"n") + std::to_string(i) + "\":0";
  text += "}";
  merge_document folded{text};
  std::vector<std::string> patches;
  patches.reserve(2'000);
  std::string one_by_one = text;
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "\"n" + std::to_string(i % 7) + "\":";
    const std::string& spelt = patches.emplace_back("{" + name + (i % 2 == 0 ? "null}" : "1}"));
    folded.apply(spelt);
    one_by_one = merge_patch(one_by_one, spelt);
    ASSERT_EQ(folded.size(), one_by_one.size());
  }
  EXPECT_EQ(folded.text(), one_by_one);
}

std::string long_text(const std::string& also = R"("a":{"b":1})") {
  return "{" + also + R"(,"much":")" + std::string(folded_state::k_long, 'm') + "\"}";
}

TEST(a_folded_state, has_the_bytes_from_before_until_it_is_folded) {
  state s{long_text()};
  folded_state folded{s};
  ASSERT_TRUE(folded.patch(R"({"a":{"c":2}})"));
  EXPECT_EQ(s.value(), long_text());
  EXPECT_EQ(folded.size(), long_text(R"("a":{"b":1,"c":2})").size());
  folded.fold();
  EXPECT_EQ(s.value(), long_text(R"("a":{"b":1,"c":2})"));
}

TEST(a_folded_state, takes_its_last_patch_back) {
  const std::string spaced = " " + long_text() + " ";
  state s{spaced};
  folded_state folded{s};
  ASSERT_TRUE(folded.patch(R"({"a":null})"));
  folded.undo();
  folded.fold();
  EXPECT_EQ(s.value(), spaced) << "not a byte was changed";
  ASSERT_TRUE(folded.patch(R"({"a":{"c":2}})"));
  ASSERT_TRUE(folded.patch(R"({"a":{"b":null},"much":null})"));
  folded.undo();
  ASSERT_TRUE(folded.patch(R"({"a":{"d":3}})"));
  folded.fold();
  EXPECT_EQ(s.value(), long_text(R"("a":{"b":1,"c":2,"d":3})"));
}

TEST(a_folded_state, is_for_long_states_alone) {
  state s{R"({"a":1})"};
  folded_state folded{s};
  EXPECT_FALSE(folded.patch(R"({"a":2})"));
  EXPECT_FALSE(folded.is_folded());
}

TEST(a_folded_state, is_found_in_its_turn_alone) {
  state s{long_text()};
  const state other{long_text()};
  folded_state folded{s};
  EXPECT_EQ(folded_state::of(s), nullptr);
  {
    const folded_state::turn turn{folded};
    EXPECT_EQ(folded_state::of(s), &folded);
    EXPECT_EQ(folded_state::of(other), nullptr);
  }
  EXPECT_EQ(folded_state::of(s), nullptr);
}

TEST(folded_states, hold_a_bounded_amount_between_events_of_many_aggregates) {
  std::string text = R"({"x":0)";
  for (int i = 0; i < 60'000; ++i) text += ",\"" + std::to_string(i) + "\":1";
  text += "}";
  constexpr std::uint32_t k_aggregates = 20;
  std::vector<state> states(k_aggregates, state{text});
  folded_states folded;
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < k_aggregates; ++i) {
      const std::string patch = R"({"x":)" + std::to_string(round + 1) + "}";
      event e;
      e.payload = patch;
      EXPECT_GT(folded.call(i, states[i],
                            [&] {
                              effects fx;
                              EXPECT_EQ(merge_patch_reducer{}.apply(e, states[i], fx).how, ending::done);
                            }),
                0U);
      EXPECT_LE(folded.memory(), folded_states::k_most_memory);
    }
  }
  const auto settled = std::count_if(states.begin(), states.end(),
                                     [](const state& s) { return s.value().starts_with(R"({"x":2,)"); });
  EXPECT_LT(settled, k_aggregates) << "those with the last patches are folded still";
  folded.fold();
  for (const state& s : states) EXPECT_TRUE(s.value().starts_with(R"({"x":2,)"));
}

/// As a stream runs it, beside one whose steps have one record each.
struct streams {
  explicit streams(ratchet::reducer r, order o = order::arrival) : cut{r, o}, whole{std::move(r), o} {
    cut.rules.outputs.snapshot_bytes = whole.rules.outputs.snapshot_bytes = 2 * folded_state::k_long;
  }
  void take(const std::vector<spec>& all) {
    for (const spec& s : all) cut.step({s});
    whole.step(all);
    EXPECT_EQ(whole.snapshot(), cut.snapshot());
    EXPECT_EQ(whole.state, cut.state);
    EXPECT_EQ(whole.fates, cut.fates);
    EXPECT_EQ(whole.backlogs, cut.backlogs);
  }
  world cut;
  world whole;
};

TEST(a_step_of_long_states, comes_to_what_steps_of_one_record_come_to) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice d{seed};
    streams s{merge_patch_reducer{}};
    std::vector<spec> all{{.payload = long_text(), .offset = 0}};
    for (std::int64_t i = 1; i < 20; ++i) {
      spec e{.payload = d.value(3, 5)->written(), .offset = i};
      if (d.below(12) == 0) e.kind = decoded_kind::tombstone;
      if (d.below(6) == 0) e.payload = long_text(R"("a":)" + std::to_string(i));
      if (d.below(15) == 0) e.payload = R"({"more":")" + std::string(2 * folded_state::k_long, 'z') + "\"}";
      if (d.below(9) == 0) e.aggregate = "b";
      all.push_back(std::move(e));
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].id = id_at(1'000, i);
    s.take(all);
  }
}

TEST(a_step_of_long_states, leaves_out_a_patch_that_would_make_one_too_long) {
  streams s{merge_patch_reducer{}, order::strict};
  const std::string more = R"({"more":")" + std::string(2 * folded_state::k_long, 'z') + "\"}";
  s.take({{.sequence = seq(1), .payload = long_text(), .offset = 0},
          {.sequence = seq(2), .payload = R"({"a":2})", .offset = 1},
          {.sequence = seq(3), .payload = more, .offset = 2},
          {.sequence = seq(4), .payload = R"({"a":4})", .offset = 3}});
  EXPECT_EQ(s.whole.snapshot(), long_text(R"("a":2)"));
  EXPECT_EQ(s.whole.state.counters.waiting_dead, 1U);
  EXPECT_EQ(s.whole.run_command(waiting_verb::skip, seq(3)), waiting_answer::done);
  EXPECT_EQ(s.whole.snapshot(), long_text(R"("a":4)"));
}

/// Fails behind the patch, as one that takes too long, or that cannot publish what it was to.
struct failing_behind {
  static constexpr reducer_traits traits{.name = "merge_patch", .version = 1, .full_state = false};
  outcome apply(const event& e, state& s, effects& fx) const {
    outcome said = merge_patch_reducer{}.apply(e, s, fx);
    const bool fails = e.payload.find("fails") != std::string_view::npos && e.attempt < 2;
    return fails ? retry(std::make_error_code(std::errc::timed_out)) : said;
  }
};

TEST(a_step_of_long_states, undoes_a_patch_whose_event_failed_behind_it) {
  streams s{failing_behind{}, order::strict};
  s.take({{.sequence = seq(1), .payload = long_text(), .offset = 0},
          {.sequence = seq(2), .payload = R"({"a":2})", .offset = 1},
          {.sequence = seq(3), .payload = R"({"fails":1,"a":null})", .offset = 2},
          {.sequence = seq(4), .payload = R"({"a":4})", .offset = 3}});
  EXPECT_EQ(s.whole.snapshot(), long_text(R"("a":2)"));
  s.whole.now += std::chrono::hours{1};
  s.whole.resume();
  s.whole.resume_backlogs();
  EXPECT_EQ(s.whole.state.counters.applied, 4U);
  EXPECT_TRUE(s.whole.snapshot().ends_with(R"(","fails":1,"a":4})"));
}

TEST(the_work_of_a_step, is_one_reading_of_a_long_state_however_many_patches_it_gets) {
  world w{merge_patch_reducer{}, order::arrival};
  std::string text = R"({"much":")" + std::string(std::size_t{13} << 20U, 'm') + "\"}";
  w.step({{.id = id_at(1'000, 0), .payload = text, .offset = 0}});
  std::vector<spec> all;
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    all.push_back({.id = id_at(1'000, i),
                   .payload = "{\"" + std::to_string(i % 10) + "\":" + std::to_string(i) + "}",
                   .offset = static_cast<std::int64_t>(i)});
  }
  const batch b{all};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  const stream_change change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  EXPECT_EQ(change.looked_at, 1'000U) << "one by one, 26 MiB are moved for each of them";
  EXPECT_EQ(change.after.counters.applied, 1'001U);
}

}  // namespace
}  // namespace ratchet::testing
