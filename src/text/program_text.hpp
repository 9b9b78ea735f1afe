// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ratchet/error.hpp"
#include "ratchet/resume.hpp"

/// Texts are written for whoever types the command. A program that embeds Ratchet gives the same answers by
/// `resume_option`: what it is told names those. Pure; any thread.
namespace ratchet {

/// The same text, in which `--resume rebuild`, alone or as the end of a whole command in backticks, has
/// become `resume_option::rebuild`, and likewise the other options.
[[nodiscard]] std::string as_program_text(std::string text);

/// Also its questions.
[[nodiscard]] problem as_program_text(problem);

[[nodiscard]] std::vector<question> as_program_text(std::vector<question>);

}  // namespace ratchet
