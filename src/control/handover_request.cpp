// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/handover_request.hpp"

#include "control/words.hpp"
#include "core/shown_text.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

constexpr const char* k_handover = "handover";

}  // namespace

std::vector<std::string> to_words(const handover_request& request) {
  return {k_handover, k_json_or_text.of(request.json)};
}

std::optional<handover_request> parse_handover_words(std::span<const std::string> words) {
  if (words.size() != 2 || words[0] != k_handover) return std::nullopt;
  const auto json = k_json_or_text.read(words[1]);
  return json ? std::optional{handover_request{*json}} : std::nullopt;
}

std::string handover_report(const handed_over& done, bool json) {
  if (!json)
    return shown_text("`" + done.to + "` owns the state; it took " + std::to_string(done.took.count()) +
                      " ms") +
           "\n";
  json_writer out;
  out.begin_object();
  out.key("to").string(done.to);
  out.key("took_ms").number(done.took.count());
  out.end_object();
  return out.take() + "\n";
}

handover_actor handover_actor_of(const config& c, handover_desk& desk) {
  if (!c.replicate) return {};
  return [&desk](const still_wanted& wanted) { return desk.ask(wanted); };
}

}  // namespace ratchet
