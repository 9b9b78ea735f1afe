// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Takes payment commands over HTTP, keeps their state, and publishes an event for each:
//   payments_server payments.yaml 8080
//   curl -X POST -H 'Idempotency-Key: 5f1c' -d 1250 localhost:8080/payments/p1/authorize
//   curl -X POST -H 'Idempotency-Key: 77ab' -d 300 localhost:8080/payments/p1/capture
//   curl localhost:8080/payments/p1
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <ratchet/ratchet.hpp>

#include "http_door.hpp"
#include "payments.hpp"

namespace {

using answer = http_door::answer;

answer error(unsigned status, const std::string& text) {
  return {.status = status, .body = R"({"error":")" + text + "\"}"};
}

/// What a caller is told of an error: see the draft "The Idempotency-Key HTTP Header Field".
answer answer_to(const ratchet::problem& p) {
  using ratchet::errc;
  if (p.code == std::errc::operation_not_permitted) return error(409, "not as the payment stands");
  if (p.code == errc::key_reused) return error(422, "the key was used for another request");
  if (p.code == errc::usage) return error(400, "key or payment is too long");
  // It may have been done or not: the same request with the same key tells.
  if (p.code == errc::not_running || p.code == errc::timed_out || p.code == errc::held_back)
    return error(503, "try again with the same key");
  return error(500, p.code.message());
}

/// Ratchet, and where the events go.
struct shop {
  ratchet::app& app;
  std::string topic;
};

answer post(const shop& s, const http_door::request& r, std::string_view id, std::string_view verb) {
  if (r.key.empty()) return error(400, "the header Idempotency-Key is missing");
  payments::command command{std::string{verb}, 0};
  const char* const end = r.body.data() + r.body.size();
  const auto [stopped_at, wrong] = std::from_chars(r.body.data(), end, command.amount);
  if (wrong != std::errc{} || stopped_at != end) return error(400, "the body is not an amount in cents");
  const std::string request = command.verb + " " + std::to_string(command.amount);
  const auto done = s.app.transact(
      "payments", id, r.key,
      [&](ratchet::state& p, ratchet::effects& fx) { return payments::apply(command, id, s.topic, p, fx); },
      {.fingerprint = request});
  if (!done) return answer_to(done.error());
  return {.status = 200, .body = done.value().reply.value_or(""), .replayed = done.value().repeated};
}

answer handle(const shop& s, const http_door::request& r) {
  constexpr std::string_view k_root = "/payments/";
  if (!r.target.starts_with(k_root)) return error(404, "no such place");
  const std::string_view path = r.target.substr(k_root.size());
  const std::string_view id = path.substr(0, path.find('/'));
  if (id.empty()) return error(404, "no such place");
  const std::string_view verb = path.substr(std::min(path.size(), id.size() + 1));
  if (r.method == "POST" && (verb == "authorize" || verb == "capture")) return post(s, r, id, verb);
  if (r.method != "GET" || !verb.empty()) return error(405, "POST .../authorize or .../capture, or GET");
  const auto found = s.app.read("payments", id);
  if (!found && found.error().code != ratchet::errc::not_found) return error(503, found.error().message);
  if (!found) return error(404, "no such payment");
  return {.status = 200, .body = found->value};
}

}  // namespace

int main(int argc, char** argv) {
  auto config = ratchet::load_config(argc > 1 ? argv[1] : "payments.yaml");
  if (!config) return ratchet::report(config.error());
  auto app = ratchet::app::open(*config);
  if (!app) return ratchet::report(app.error());
  const auto& streams = config->streams;
  if (streams.size() != 1 || streams[0].name != "payments" || streams[0].outputs.size() != 1) {
    std::fputs("payments_server: the config wants one stream `payments` with one topic in `outputs`\n",
               stderr);
    return EXIT_FAILURE;
  }
  const shop here{*app, streams[0].outputs[0]};
  try {
    constexpr int k_threads = 32;  // so many requests share a sync at most
    const http_door door{static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 8080), k_threads,
                         [&](const http_door::request& r) { return handle(here, r); }};
    std::printf("listening on 127.0.0.1:%u\n", static_cast<unsigned>(door.port()));
    std::fflush(stdout);
    const auto ended = app->run(ratchet::until_signal());
    return ended ? 0 : ratchet::report(ended.error());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "payments_server: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
