// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/judge.hpp"

#include <algorithm>

#include "sim/pair/oracle.hpp"
#include "store/engine/column_families.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/outbox.hpp"

namespace ratchet::pair_sim {

namespace {

/// The first row in which they differ.
[[nodiscard]] std::string difference(const plain_rows::map& want, const plain_rows::map& found) {
  const auto shown = [](const plain_rows::map& in, const auto& at) {
    if (at == in.end()) return std::string{"no row"};
    std::string text = at->first.first;
    for (const std::string* part : {&at->first.second, &at->second}) {
      text += " ";
      for (const char c : *part) {
        const auto byte = static_cast<unsigned char>(c);
        text += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
      }
    }
    return text;
  };
  const auto at = std::mismatch(want.begin(), want.end(), found.begin(), found.end());
  return shown(found, at.second) + " in place of " + shown(want, at.first);
}

}  // namespace

void plain_rows::apply(std::string_view step) {
  plain_log::cutter in{step};
  while (!in.left.empty()) {
    const std::string name = k_family_names.at(in.number(1));
    const std::uint64_t op = in.number(1);
    const std::string key{in.text(in.number(4))};
    const std::string value{op == 2 ? std::string_view{} : in.text(in.number(4))};
    if (in.short_of) throw broken("a step that counts has no rows");
    if (op == 1) {
      all_[{name, key}] = value;
    } else if (op == 2) {
      all_.erase({name, key});
    } else {
      all_.erase(all_.lower_bound({name, key}), all_.lower_bound({name, value}));
    }
  }
}

void judge::read_on() {
  for (; read_to_ < of_.log.end(); ++read_to_) {
    const auto& record = of_.log.at(read_to_);
    if (!record) continue;
    ++fates_[log_.take(read_to_, *record)];
    if (!log_.refused().empty())
      throw broken("the log contradicts itself at offset " + std::to_string(read_to_) + ": " +
                   log_.refused());
  }
}

void judge::on_apply(const std::string& who, std::span<const confirmed_rows> all) {
  read_on();
  for (const confirmed_rows& each : all) {
    const std::uint64_t step = each.position.step;
    const auto at = log_.steps().find(step);
    const std::string told = who + " applies step " + std::to_string(step);
    if (at == log_.steps().end()) throw broken(told + ", which the log does not have");
    if (at->second.chain != plain_log::hash_bytes(each.position.chain) || at->second.rows != each.rows)
      throw broken(told + ", and the log has another one");
    confirm(step);
  }
}

void judge::confirm(std::uint64_t step) {
  while (confirmed() < step) {
    const std::uint64_t next = confirmed() + 1;
    const plain_log::step& taken = log_.steps().at(next);
    confirmed_[next] = taken.chain;
    told_.apply(taken.rows);
    for (const auto& row : told_.all()) {
      if (row.first.first == "outbox") messages_.insert(row);
    }
  }
}

void judge::on_rest(const std::string& who, const replica& of, const plain_rows::map& rows) {
  if (of.is_restoring()) return;  // half of a base, and nobody looks at it
  const auto at = of.position();
  const std::uint64_t step = at ? at->step : 0;
  read_on();
  if (step > confirmed())
    throw broken(who + " is at step " + std::to_string(step) + ", and nobody has confirmed it");
  if (step == 0 && !empty_) told_ = *(empty_ = plain_rows{rows});
  if (!empty_) throw broken(who + " has steps before anybody had a state");
  const plain_rows& want = state_at(step);
  if (want.all() != rows)
    throw broken(who + " is at step " + std::to_string(step) +
                 " with other rows: " + difference(want.all(), rows));
}

const plain_rows& judge::state_at(std::uint64_t step) {
  plain_rows want = *empty_;
  std::uint64_t next = 1;
  if (const auto known = at_.upper_bound(step); known != at_.begin()) {
    want = std::prev(known)->second;
    next = std::prev(known)->first + 1;
  }
  for (; next <= step; ++next) want.apply(log_.steps().at(next).rows);
  at_.clear();
  return at_[step] = std::move(want);
}

void judge::on_cut() {
  if (of_.log.first() == 0) return;
  read_on();
  ++cuts_;
  plain_log::base_collector bases;
  for (std::int64_t at = of_.bases.first(); at < of_.bases.end(); ++at) {
    if (const auto& record = of_.bases.at(at)) bases.take(*record);
  }
  for (const plain_log::base& each : bases.whole()) {
    if (leads_on(each)) return;
  }
  throw broken("the log begins at offset " + std::to_string(of_.log.first()) +
               " now, and no base has what was before it");
}

/// The log has its last record, and it has the state that the history makes of it. Ids below the floor may be
/// missing.
bool judge::leads_on(const plain_log::base& of) {
  if (of.offset < of_.log.first() || of.step > confirmed() || of.step == 0) return false;
  if (log_.steps().at(of.step).chain != of.chain) return false;
  plain_rows found;
  found.apply(of.rows);
  const plain_rows::map& want = state_at(of.step).all();
  for (const auto& row : want) {
    const auto at = found.all().find(row.first);
    if (at == found.all().end() ? row.first.first != "dedup" : at->second != row.second)
      throw broken("the base of step " + std::to_string(of.step) + " lacks a row, or has another one");
  }
  for (const auto& row : found.all()) {
    if (!want.contains(row.first))
      throw broken("the base of step " + std::to_string(of.step) + " has a row too many");
  }
  return true;
}

std::int64_t judge::covered(const topic_partition& where) const {
  const stream_id stream{1};
  const auto at = told_.all().find({"default", layout::partition_key(stream, where)});
  if (at == told_.all().end()) return 0;
  const auto state = layout::decode_partition(at->second);
  if (!state) throw broken("the row of a partition is damaged");
  return state.value().next_offset;
}

void judge::on_offsets(std::span<const commit_request> all) const {
  for (const commit_request& each : all) {
    if (each.where == k_slot) continue;
    const std::int64_t most = covered(each.where);
    if (each.next_offset > most)
      throw broken("offset " + std::to_string(each.next_offset) +
                   " is committed, and confirmed steps end at " + std::to_string(most));
  }
}

void judge::on_send(const std::string& who, const output_row& row) {
  const auto at = messages_.find({"outbox", layout::output_key(row.position, row.lane())});
  const std::string told = who + " sends message " + std::to_string(row.position);
  if (at == messages_.end()) throw broken(told + ", which no confirmed step has");
  auto kept = layout::decode_output(row.position, at->second);
  if (!kept) throw broken("the row of a message is damaged");
  const auto same = [](const output_row& a, const output_row& b) {
    return a.id == b.id && a.key == b.key && a.value == b.value && a.topic == b.topic;
  };
  if (!same(kept.value(), row)) throw broken(told + " with other bytes than it has");
  const auto [before, is_new] = sent_.emplace(row.id, row);
  if (!is_new && !same(before->second, row)) throw broken(told + " with other bytes than before");
  if (is_new) sent_of_[row.aggregate].push_back(row.value.value_or(""));
}

bool judge::is_all_done() const {
  for (std::size_t p = 0; p < of_.inputs.size(); ++p) {
    if (covered(of_.partition(p)) != static_cast<std::int64_t>(of_.inputs[p].size())) return false;
  }
  const auto outbox = told_.all().lower_bound({"outbox", ""});
  return outbox == told_.all().end() || outbox->first.first != "outbox";
}

void judge::on_received(const output_row& row) {
  received_.insert(row.id);
}

void judge::at_the_end() {
  read_on();
  judge again{of_};
  again.read_on();
  for (const auto& [step, chain] : confirmed_) {
    const auto at = again.log_.steps().find(step);
    if (at == again.log_.steps().end() || at->second.chain != chain)
      throw broken("step " + std::to_string(step) + " was confirmed, and is not in the log");
  }
  const plain_oracle oracle{of_};
  oracle.compare(told_.all());
  for (const auto& [aggregate, messages] : oracle.messages()) {
    if (sent_of_[aggregate] != messages)
      throw broken("the messages of " + aggregate + " are others, or in another order");
  }
  if (received_.size() != sent_.size()) throw broken("a message was never received");
}

}  // namespace ratchet::pair_sim
