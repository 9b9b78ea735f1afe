// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "config/sections.hpp"
#include "core/reducers.hpp"
#include "text/config_words.hpp"

namespace ratchet {

namespace {

constexpr known_key k_reducer_keys[] = {{"kind"}, {"name"}, {"version"}, {"from"}, {"fail"}, {"timeout"}};
constexpr known_key k_fail_keys[] = {{"type"}, {"contains"}, {"how"}, {"times"}};
constexpr const char* k_as_the_program_says = "it is the name in the reducer_traits of the program";
constexpr const char* k_every_event = "leave it out to cover every event";

void read_part(const config_map& map, std::string_view key, std::string& out) {
  const auto value = map.get(key);
  if (value && value->text(out) && out.empty()) value->error("is empty", k_every_event);
}

void read_rule(const config_value& value, failure_rule& out) {
  const config_map map{value, k_fail_keys};
  if (!map.valid()) return;
  read_part(map, "type", out.type);
  read_part(map, "contains", out.contains);
  if (const auto how = map.require("how", "retry, give_up, stop or throw")) {
    constexpr std::string_view k_names[] = {"retry", "give_up", "stop", "throw"};
    if (const int at = how->word(k_names); at >= 0) out.how = static_cast<failure_kind>(at);
  }
  if (const auto times = map.get("times")) {
    std::uint64_t number = 0;
    if (times->number(number, 1, std::numeric_limits<std::uint32_t>::max())) {
      out.times = static_cast<std::uint32_t>(number);
    }
  }
}

/// One rule, or a list of them.
void read_rules(const config_value& value, std::vector<failure_rule>& out) {
  if (value.node().kind != config_node::kind_of::list) return read_rule(value, out.emplace_back());
  for (const config_value& item : value.list("rules")) read_rule(item, out.emplace_back());
  if (out.empty()) value.error("names no rule", "as in fail: {type: paid, how: retry, times: 2}");
}

}  // namespace

void read_reducer(const config_value& value, reducer_config& out) {
  const config_map map{value, k_reducer_keys};
  if (!map.valid()) return;
  if (const auto kind = map.require("kind", "replace, merge_patch, flaky or own")) {
    if (const int at = kind->word(k_reducer_words); at >= 0)
      out.kind = static_cast<reducer_config::kind_of>(at);
  }
  if (const auto name = map.get("name"); name && name->text(out.name)) {
    if (out.name.empty()) name->error("is empty", k_as_the_program_says);
    if (is_built_in(out.name)) name->error("is a built-in reducer of Ratchet", "set kind: " + out.name);
  }
  if (const auto version = map.get("version")) {
    std::uint64_t number = 0;
    if (version->number(number, 0, std::numeric_limits<std::uint32_t>::max())) {
      out.version = static_cast<std::uint32_t>(number);
    }
  }
  if (const auto from = map.get("from")) (void)from->text(out.from);
  if (const auto fail = map.get("fail")) read_rules(*fail, out.fail);
  if (const auto timeout = map.get("timeout"); timeout && !timeout->is_word("off")) {
    std::chrono::milliseconds limit{0};
    if (!timeout->duration(limit)) return;
    if (limit.count() == 0) return timeout->error("is 0", "as in 5s; without a limit use timeout: off");
    out.timeout = limit;
  }
}

}  // namespace ratchet
