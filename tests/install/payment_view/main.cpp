// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A whole program: consumes payments until SIGINT or SIGTERM.
#include <ratchet/ratchet.hpp>

#include "payment_view.hpp"

int main(int argc, char** argv) {
  auto config = ratchet::load_config(argc > 1 ? argv[1] : "ratchet.yaml");  // every error at once
  if (!config) return ratchet::report(config.error());
  auto app = ratchet::app::open(*config, ratchet::reducers{}.add("payments", payment_view{}));
  if (!app) return ratchet::report(app.error());
  const auto ended = app->run(ratchet::until_signal());
  return ended ? 0 : ratchet::report(ended.error());  // what stopped it, and what can be done
}
