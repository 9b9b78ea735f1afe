// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/instance_status.hpp"

#include <algorithm>
#include <utility>

#include "text/partition_name.hpp"

namespace ratchet {

instance_status::instance_status(timestamp started_at) {
  status_.started_at = started_at;
  status_.ready_reason = "starting";
}

void instance_status::set_ready(bool ready, std::string_view reason) {
  const std::scoped_lock lock{mutex_};
  status_.ready = ready;
  status_.ready_reason = reason;
}

void instance_status::raise_condition(std::string_view name, std::string_view reason) {
  const std::scoped_lock lock{mutex_};
  conditions_.insert_or_assign(std::string{name}, std::string{reason});
}

void instance_status::clear_condition(std::string_view name) {
  const std::scoped_lock lock{mutex_};
  if (const auto at = conditions_.find(name); at != conditions_.end()) conditions_.erase(at);
}

void instance_status::set_outbox_trouble(std::string_view text) {
  const std::scoped_lock lock{mutex_};
  status_.outbox_trouble = text;
}

void instance_status::set_sink(std::string_view name, live_sink how) {
  const std::scoped_lock lock{mutex_};
  status_.sinks.insert_or_assign(std::string{name}, std::move(how));
}

void instance_status::set_fields(std::string_view stream, live_fields fields) {
  const std::scoped_lock lock{mutex_};
  status_.fields.insert_or_assign(std::string{stream}, std::move(fields));
}

void instance_status::set_slot(slot_status how) {
  const std::scoped_lock lock{mutex_};
  status_.slot = std::move(how);
}

void instance_status::set_assigned(std::string_view stream, std::span<const topic_partition> partitions) {
  const std::scoped_lock lock{mutex_};
  live_partitions& known = status_.streams.try_emplace(std::string{stream}).first->second;
  for (auto& [where, partition] : known) partition.assigned = false;
  for (const topic_partition& where : partitions) known[where].assigned = true;
  for (auto& [where, partition] : known) {
    if (partition.assigned) continue;
    partition.stopped.reset();
    partition.asked.reset();
    partition.held_back.reset();
  }
}

void instance_status::set_committed(std::string_view stream, const topic_partition& where,
                                    std::int64_t offset) {
  const std::scoped_lock lock{mutex_};
  at(stream, where).committed = offset;
}

void instance_status::set_log_end(std::string_view stream, const topic_partition& where,
                                  std::int64_t offset) {
  const std::scoped_lock lock{mutex_};
  at(stream, where).log_end = offset;
}

stop_message message_of_stop(std::string_view stopped) noexcept {
  const std::size_t end = std::min(stopped.find('\n'), stopped.size());
  return {stopped.substr(0, end), stopped.substr(std::min(end + 1, stopped.size()))};
}

void add_new(std::vector<std::string>& to_do, std::string_view stopped) {
  const std::string_view one = message_of_stop(stopped).to_do;
  if (!one.empty() && std::find(to_do.begin(), to_do.end(), one) == to_do.end()) to_do.emplace_back(one);
}

std::string joined(const std::vector<std::string>& to_do) {
  std::string text;
  for (const std::string& one : to_do) text += (text.empty() ? "" : "; ") + one;
  return text;
}

void instance_status::set_held_back(std::string_view stream, const topic_partition& where,
                                    std::optional<std::int64_t> offset) {
  const std::scoped_lock lock{mutex_};
  at(stream, where).held_back = offset;
}

void instance_status::set_stopped(std::string_view stream, const topic_partition& where,
                                  std::string_view reason) {
  const std::scoped_lock lock{mutex_};
  at(stream, where).stopped = reason;
}

void instance_status::clear_stopped(std::string_view stream, const topic_partition& where) {
  const std::scoped_lock lock{mutex_};
  live_partition& partition = at(stream, where);
  partition.stopped.reset();
  partition.asked.reset();
}

void instance_status::ask(const question& q) {
  if (!q.where) return;
  const std::scoped_lock lock{mutex_};
  at(q.stream, *q.where).asked = q;
}

void instance_status::forget_session() {
  const std::scoped_lock lock{mutex_};
  conditions_.clear();
  status_.outbox_trouble.clear();
  for (auto& [name, sink] : status_.sinks) {
    sink.trouble.clear();
    sink.refused = 0;
  }
  for (auto& [stream, partitions] : status_.streams) {
    for (auto& [where, partition] : partitions)
      partition = {false, partition.committed, partition.log_end, {}, {}, {}};
  }
}

void instance_status::forget_questions() {
  const std::scoped_lock lock{mutex_};
  for (auto& [stream, partitions] : status_.streams) {
    for (auto& [where, partition] : partitions) partition.asked.reset();
  }
}

status_snapshot instance_status::snapshot() const {
  const std::scoped_lock lock{mutex_};
  status_snapshot all = status_;
  if (all.slot && all.slot->role == slot_role::following && all.ready) all.slot->role = slot_role::standby;
  const auto add = [&all](std::string_view reason) {
    if (!all.ready_reason.empty()) all.ready_reason += "; ";
    all.ready_reason += reason;
    all.ready = false;
  };
  // What the brokers do not answer is the cause of most else, and comes first.
  const auto brokers = conditions_.find(k_brokers_condition);
  if (brokers != conditions_.end()) {
    all.ready_reason = brokers->second + (all.ready_reason.empty() ? "" : "; " + all.ready_reason);
    all.ready = false;
  }
  for (const auto& [name, reason] : conditions_) {
    if (name != k_brokers_condition) add(reason);
  }
  // Each answer once, with the partitions that it is of where there are several answers.
  std::vector<std::pair<std::string_view, std::string>> to_do;
  for (const auto& [stream, partitions] : all.streams) {
    for (const auto& [where, partition] : partitions) {
      if (!partition.stopped) continue;
      const stop_message words = message_of_stop(*partition.stopped);
      add(words.what);
      if (words.to_do.empty()) continue;
      const auto known =
          std::find_if(to_do.begin(), to_do.end(), [&](const auto& one) { return one.first == words.to_do; });
      if (known == to_do.end()) {
        to_do.emplace_back(words.to_do, to_string(where));
      } else {
        known->second += ", " + to_string(where);
      }
    }
  }
  for (const auto& [answer, of] : to_do)
    add(to_do.size() == 1 ? std::string{answer} : of + ": " + std::string{answer});
  return all;
}

live_partition& instance_status::at(std::string_view stream, const topic_partition& where) {
  auto found = status_.streams.find(stream);
  if (found == status_.streams.end()) found = status_.streams.try_emplace(std::string{stream}).first;
  return found->second[where];
}

}  // namespace ratchet
