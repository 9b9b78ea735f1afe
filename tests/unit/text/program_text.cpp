// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a program that embeds Ratchet is told names what it can answer by.
#include "text/program_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ratchet {
namespace {

TEST(program_text, name_the_option_in_place_of_what_is_typed) {
  EXPECT_EQ(as_program_text("start with `--resume store` to go on at 42, or with `--resume rebuild`"),
            "start with `resume_option::store` to go on at 42, or with `resume_option::rebuild`");
  EXPECT_EQ(as_program_text("or with `ratchet run -c 'a b.yaml' --resume takeover`: see `ratchet status`"),
            "or with `resume_option::takeover`: see `ratchet status`");
  EXPECT_EQ(as_program_text("start with --resume rebuild: the directory is moved away"),
            "start with `resume_option::rebuild`: the directory is moved away");
  EXPECT_EQ(as_program_text("say --resume kafka"), "say `resume_option::kafka`");
}

TEST(program_text, leave_everything_else_as_it_is) {
  for (const std::string text : {"", "no command", "`ratchet waiting list`", "what `--resume` answers",
                                 "--resume none", "--resume ", "--resume else and --resume", "`--resume"}) {
    EXPECT_EQ(as_program_text(text), text);
  }
}

TEST(program_text, reach_every_text_of_a_problem) {
  const std::string typed = "`--resume rebuild`";
  const std::string named = "`resume_option::rebuild`";
  problem p{make_error_code(errc::resume_refused), typed, typed, {}};
  p.diagnostics.push_back({"", 0, 0, "", typed, typed});
  question& asked = p.questions.emplace_back();
  asked.message = typed;
  asked.hint = typed;
  const problem told = as_program_text(std::move(p));
  ASSERT_EQ(told.diagnostics.size(), 1U);
  ASSERT_EQ(told.questions.size(), 1U);
  for (const std::string& text :
       {told.message, told.hint, told.diagnostics[0].message, told.diagnostics[0].hint,
        told.questions[0].message, told.questions[0].hint})
    EXPECT_EQ(text, named);
}

}  // namespace
}  // namespace ratchet
