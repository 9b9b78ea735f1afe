// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/handover_request.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace ratchet {
namespace {

TEST(handover_request, is_what_its_words_say) {
  for (const bool json : {false, true}) {
    const handover_request asked{json};
    EXPECT_EQ(parse_handover_words(to_words(asked)), asked);
  }
}

TEST(handover_request, is_none_of_other_words) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"handover"},
                                                {"handover", "xml"},
                                                {"handover", "json", "json"},
                                                {"checkpoint", "json"}})
    EXPECT_FALSE(parse_handover_words(words));
}

TEST(handover_report, names_the_new_owner) {
  const handed_over done{"ratchet-1", std::chrono::milliseconds{412}};
  EXPECT_EQ(handover_report(done, false), "`ratchet-1` owns the state; it took 412 ms\n");
  EXPECT_EQ(handover_report(done, true), "{\"to\":\"ratchet-1\",\"took_ms\":412}\n");
}

}  // namespace
}  // namespace ratchet
