// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A program that can be asked what has to be decided, and told what was. As a service it would print the
// questions on a page of its own, and take the answer there.
#include <iostream>
#include <ratchet/ratchet.hpp>
#include <string>

#include "payment_view.hpp"

namespace {

void print(const ratchet::question& asked) {
  std::cout << name_of(asked.kind);
  if (!asked.stream.empty()) std::cout << ", stream " << asked.stream;
  if (asked.where) std::cout << ", " << asked.where->topic << "/" << static_cast<int>(asked.where->partition);
  std::cout << ": " << asked.message << "\n";
  for (const ratchet::resume_choice& choice : asked.choices) {
    std::cout << "  " << name_of(choice.option);
    if (choice.offset) std::cout << ": goes on at " << *choice.offset;
    if (choice.lost_to > choice.lost_from)
      std::cout << ", without [" << choice.lost_from << ", " << choice.lost_to << ")";
    std::cout << "\n";
  }
}

int tell(const ratchet::problem& p) {
  for (const ratchet::question& asked : p.questions) print(asked);
  return ratchet::report(p);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: decide CONFIG [store|kafka|rebuild|takeover [WHY]]\n";
    return 64;
  }
  const auto option = ratchet::resume_option_of(argc > 2 ? argv[2] : "none");
  if (!option) {
    std::cerr << argv[2] << " is no answer\n";
    return 64;
  }
  const ratchet::resume_answer answer{*option, "the payments team", argc > 3 ? argv[3] : ""};
  const auto config = ratchet::load_config(argv[1]);
  if (!config) return ratchet::report(config.error());
  // Given to open() it also holds for the first run(): nobody has to know which of them would ask.
  auto app = ratchet::app::open(*config, ratchet::reducers{}.add("payments", payment_view{}), {}, {}, answer);
  if (!app) return tell(app.error());
  const auto ended = app->run(ratchet::until_end());
  return ended ? 0 : tell(ended.error());
}
