// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.hpp"
#include "ratchet/config.hpp"
#include "streams/stream_definition.hpp"
#include "streams/stream_meaning.hpp"

/// Any text as a config: it is refused with at least one finding, each at a line of the text, or read; a
/// comment put before it moves every finding by one line and changes nothing else. Secrets in files and
/// variables are left alone (state_only).

using namespace ratchet;

namespace {

bool equal(const stream_config& a, const stream_config& b) {
  const stream_meaning x = meaning_of(a, "reducer", 1);
  const stream_meaning y = meaning_of(b, "reducer", 1);
  return a.name == b.name && a.topics == b.topics && a.start == b.start && a.poison == b.poison &&
         x.lines == y.lines && a.dedup.window == b.dedup.window && a.dedup.max_skew == b.dedup.max_skew &&
         a.order == b.order && a.gap.policy == b.gap.policy && a.gap.timeout == b.gap.timeout &&
         a.waiting.per_aggregate == b.waiting.per_aggregate && a.waiting.events == b.waiting.events &&
         a.waiting.bytes == b.waiting.bytes && a.retry.attempts == b.retry.attempts &&
         a.retry.backoff == b.retry.backoff && a.retry.most == b.retry.most &&
         a.reducer.fail.size() == b.reducer.fail.size() && a.reducer.timeout == b.reducer.timeout;
}

bool equal(const config& a, const config& b) {
  const bool listens = a.http.has_value() == b.http.has_value() &&
                       (!a.http || (a.http->host == b.http->host && a.http->port == b.http->port));
  return listens && a.kafka.brokers == b.kafka.brokers && a.kafka.group == b.kafka.group &&
         a.kafka.properties == b.kafka.properties && a.kafka.connect_timeout == b.kafka.connect_timeout &&
         a.state.path == b.state.path && a.state.commit_interval == b.state.commit_interval &&
         a.state.sync == b.state.sync && a.state.min_free == b.state.min_free &&
         a.memory_limit == b.memory_limit && a.step_records == b.step_records &&
         std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(),
                    [](const auto& x, const auto& y) { return equal(x, y); });
}

/// What docs/reference/configuration.md promises of a config that was read.
void check_valid(const config& c) {
  RATCHET_FUZZ_CHECK(c.memory_limit > 0 && c.step_records > 0);
  for (const stream_config& s : c.streams) {
    RATCHET_FUZZ_CHECK(!s.name.empty());
    RATCHET_FUZZ_CHECK(!takes_events(s) || !s.envelope.aggregate.empty());
    RATCHET_FUZZ_CHECK(!takes_events(s) || s.order == order::arrival || !s.envelope.sequence.empty());
    RATCHET_FUZZ_CHECK(s.first != first_number::any || s.gap.policy == gap_policy::skip);
    RATCHET_FUZZ_CHECK(s.waiting.per_aggregate > 0 && s.waiting.events > 0 && s.waiting.bytes > 0);
    RATCHET_FUZZ_CHECK(s.retry.attempts > 0 && s.retry.backoff.count() > 0);
    RATCHET_FUZZ_CHECK(s.retry.backoff <= s.retry.most && s.gap.timeout.count() > 0);
    RATCHET_FUZZ_CHECK((s.reducer.kind == reducer_config::kind_of::flaky) == !s.reducer.fail.empty());
  }
}

void check_findings(const problem& p, std::string_view text) {
  RATCHET_FUZZ_CHECK(p.code == errc::config_invalid && !p.diagnostics.empty());
  // CR LF, CR and LF each end a line in YAML; a finding may stand behind the last one.
  const auto lines =
      2 + std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; });
  for (const diagnostic& d : p.diagnostics) {
    RATCHET_FUZZ_CHECK(d.line >= 1 && d.line <= lines && d.column >= 1 && !d.message.empty());
  }
}

/// Bytes before these would change how the rest is read: the encoding is guessed from the first ones.
bool begins_plainly(std::string_view text) {
  return text.size() > 3 && text[0] >= ' ' && text[0] <= '~' && text[1] != '\0' && text[2] != '\0' &&
         text[3] != '\0';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  const auto read = parse_config(text, "fuzz.yaml", {}, config_use::state_only);
  if (read) {
    check_valid(*read);
  } else {
    check_findings(read.error(), text);
  }
  if (!begins_plainly(text)) return 0;
  const auto moved = parse_config("# a comment\n" + text, "fuzz.yaml", {}, config_use::state_only);
  RATCHET_FUZZ_CHECK(moved.has_value() == read.has_value());
  if (read) {
    RATCHET_FUZZ_CHECK(equal(*read, *moved));
    return 0;
  }
  RATCHET_FUZZ_CHECK(moved.error().diagnostics.size() == read.error().diagnostics.size());
  for (std::size_t i = 0; i < read.error().diagnostics.size(); ++i) {
    const diagnostic& before = read.error().diagnostics[i];
    const diagnostic& after = moved.error().diagnostics[i];
    RATCHET_FUZZ_CHECK(after.message == before.message && after.path == before.path);
    RATCHET_FUZZ_CHECK(after.column == before.column);
    RATCHET_FUZZ_CHECK(after.line == before.line + 1 || after.line == 1);
  }
  return 0;
}
