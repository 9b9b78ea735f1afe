// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/demo.hpp"

namespace ratchet::cli {
namespace {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value) {
  const auto digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string row(const std::string& name, std::uint64_t value, const std::string& note = {}) {
  auto line =
      "  " + name + std::string(14 - std::min<std::size_t>(name.size(), 14), ' ') + right(grouped(value), 14);
  if (!note.empty()) line += "   " + note;
  return line + "\n";
}

std::string kill_rows(const campaign_outcome& outcome) {
  std::string text = "\n  kill     landed at offset     of it stored     read again\n";
  std::size_t number = 0;
  for (const auto& kill : outcome.kills) {
    text += right(std::to_string(++number), 6) + right(grouped(kill.delivered), 21) +
            right(grouped(kill.stored), 17) + right(grouped(kill.read_again), 15) + "\n";
  }
  if (outcome.missed != 0) {
    text += "  (" + std::to_string(outcome.missed) +
            " more landed when nothing was in flight, and do not count)\n";
  }
  return text;
}

}  // namespace

std::string demo_table(const campaign_outcome& outcome, const workload_oracle& oracle) {
  const auto& ledger = outcome.ledger;
  auto text = row("records", oracle.records(), "produced to Kafka");
  text += row("applied", ledger.applied);
  text += row("superseded", ledger.superseded, "a newer event of the same step made them needless");
  text += row("duplicate", ledger.duplicate);
  text += row("stale", ledger.stale, "late: a newer event had been handled");
  text += row("rejected", ledger.rejected, grouped(ledger.malformed) + " of them malformed");
  text += kill_rows(outcome);
  if (!outcome.bounces.empty()) {
    text += "  the broker was killed and started again " + std::to_string(outcome.bounces.size()) +
            (outcome.bounces.size() == 1 ? " time\n" : " times\n");
  }
  if (outcome.restore) {
    text += "  the state directory was lost at offset " + grouped(outcome.restore->lost) +
            "; a checkpoint of offset " + grouped(outcome.restore->taken) + " was put in its place\n";
  }
  const auto seconds = outcome.flow.count();
  text += '\n';
  text += row("read", outcome.records_read, "in " + std::to_string(outcome.runs) + " runs");
  // While the broker is away the consumer goes on with what it had fetched: no rate can be told.
  if (seconds > 0 && outcome.bounces.empty()) {
    text += row("throughput", static_cast<std::uint64_t>(static_cast<double>(outcome.records_read) / seconds),
                "records/s while records flowed");
  }
  return text;
}

}  // namespace ratchet::cli
