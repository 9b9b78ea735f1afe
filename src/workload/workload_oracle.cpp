// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_oracle.hpp"

#include <charconv>
#include <utility>

namespace ratchet {
namespace {

constexpr std::size_t k_examples = 5;

workload_stream fresh_stream(const workload_dials& dials) {
  return workload_stream::make(dials).value();  // the dials were accepted before
}

}  // namespace

workload_oracle::workload_oracle(const workload_stream& stream)
    : stream_{fresh_stream(stream.dials())}, highest_(stream.dials().aggregates) {}

void workload_oracle::observe(const workload_record& record) {
  ++records_;
  if (record.kind == workload_kind::malformed) {
    ++malformed_;
    return;
  }
  auto& highest = highest_[record.event.payment];
  if (highest.number == 0) ++aggregates_;
  if (record.event.number > highest.number) highest = record.event;
}

void workload_oracle::each(
    const std::function<void(std::string_view aggregate, std::string_view snapshot)>& visit) const {
  std::string snapshot;
  for (const auto& event : highest_) {  // eight digits: the order of the numbers is that of the bytes
    if (event.number == 0) continue;
    snapshot.clear();
    stream_.render_payment(event, snapshot);
    visit(workload_stream::key(event), snapshot);
  }
}

workload_comparison::workload_comparison(const workload_oracle& oracle)
    : oracle_{oracle}, seen_(oracle.highest_.size(), false) {}

void workload_comparison::row(std::string_view aggregate, std::string_view snapshot) {
  std::uint32_t payment = 0;
  const bool named =
      aggregate.size() == 9 && aggregate.front() == 'p' &&
      std::from_chars(aggregate.data() + 1, aggregate.data() + 9, payment).ptr == aggregate.data() + 9;
  if (!named || payment >= seen_.size() || oracle_.highest_[payment].number == 0 || seen_[payment]) {
    ++unexpected_;
    example(std::string{aggregate} + ": stored, but never sent (or stored twice)");
    return;
  }
  seen_[payment] = true;
  std::string expected;
  oracle_.stream_.render_payment(oracle_.highest_[payment], expected);
  if (snapshot == expected) {
    ++matching_;
    return;
  }
  ++wrong_;
  example(std::string{aggregate} + ": expected " + expected + ", stored " + std::string{snapshot});
}

void workload_comparison::finish() {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i] || oracle_.highest_[i].number == 0) continue;
    ++missing_;
    example(workload_stream::key(oracle_.highest_[i]) + ": nothing is stored");
  }
}

std::string workload_comparison::text() const {
  const auto of = std::to_string(matching_) + " of " + std::to_string(oracle_.aggregates()) + " aggregates";
  if (right()) return "state is right: " + of;
  auto text = "STATE IS WRONG: only " + of + " are right; " + std::to_string(wrong_) + " differ, " +
              std::to_string(missing_) + " are missing, " + std::to_string(unexpected_) + " were never sent";
  for (const auto& line : examples_) text += "\n  " + line;
  return text;
}

void workload_comparison::example(std::string text) {
  if (examples_.size() < k_examples) examples_.push_back(std::move(text));
}

std::string ledger_fault(const workload_oracle& oracle, const workload_ledger& ledger) {
  const auto differs = [](const char* what, std::uint64_t counted, std::uint64_t sent) {
    return std::string{what} + " " + std::to_string(counted) + ", sent were " + std::to_string(sent);
  };
  if (ledger.sum() != oracle.records()) {
    return differs("applied + superseded + duplicate + stale + rejected is", ledger.sum(), oracle.records());
  }
  if (ledger.malformed != oracle.malformed()) {
    return differs("rejected as malformed were", ledger.malformed, oracle.malformed());
  }
  return {};
}

}  // namespace ratchet
