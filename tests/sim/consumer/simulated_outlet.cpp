// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/simulated_outlet.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "decode/event_id_text.hpp"

namespace ratchet::sim {

namespace {

constexpr std::uint32_t k_room = 8;

/// Of one event that came twice, or of two for which the producer has one id.
[[nodiscard]] bool are_of_one_event(const history& of, const output_row& a, const output_row& b) {
  const auto is_mended = [](const output_row& row) {  // by an operator: nobody sent it
    return row.value && row.value->starts_with(R"({"mended":)");
  };
  if (a.value == b.value || is_mended(a) || is_mended(b)) return true;
  std::set<event_id> ids;
  const auto is_of = [](const message& m, const output_row& row) {
    return m.stream == static_cast<std::uint32_t>(row.stream) && row.value == m.payload &&
           row.aggregate == "a" + std::to_string(m.aggregate);
  };
  for (const message& m : of.messages) {
    if (m.id && is_of(m, a)) ids.insert(*m.id);
  }
  return std::any_of(of.messages.begin(), of.messages.end(),
                     [&](const message& m) { return m.id && is_of(m, b) && ids.contains(*m.id); });
}

}  // namespace

bool is_refused_for_good(const output_row& row, std::uint32_t one_in) {
  return one_in != 0 && !row.lane().empty() && row.id.low % one_in == 0;
}

void mail_book::write(const step_batch& batch, const simulated_disk::contents& before, const history& of,
                      bool letters, bool answers) {
  std::size_t rejected = 0;
  std::multiset<std::string> died;
  for (const step_part& part : batch.parts) {
    rejected += part.rejected.size();
    for (const backlog_change& b : part.change->backlogs) {
      for (const waiting_event& e : b.puts) {
        if (e.head.state == waiting_state::dead)
          died.insert(std::string{part.plan->aggregates.at(b.aggregate)});
      }
    }
  }
  std::multiset<std::string> told_of_dead;
  std::size_t letters_of_rejected = 0;
  std::size_t answered = 0;
  outbox_lanes lanes = before.outbox.lanes;
  for (const output_row& row : batch.outbox.puts) {
    if (row.position != lanes.by_name[std::string{row.lane()}].next++)
      throw broken("an output at a position that is not the next");
    if (row.kind == output_kind::published) {
      // A repeat that comes later than its id is remembered, or its aggregate, is applied again: it publishes
      // what it did before.
      const stream_setup& setup = of.streams.at(static_cast<std::uint32_t>(row.stream));
      const auto [known, is_new] = ids_.emplace(row.id, place_of(row));
      const bool is_forgetful = setup.ids == id_kind::opaque || setup.parks_too_old;
      const bool may_come_again = setup.retention || (setup.arrival && is_forgetful);
      if (!is_new && !(may_come_again && are_of_one_event(of, row, rows_.at(known->second).row)))
        throw broken("two messages have one id: " + to_text(row.id) + " of `" + row.aggregate + "` at " +
                     std::to_string(row.position) + " and " + std::to_string(known->second.second));
    } else if (row.kind == output_kind::rejection) {
      ++answered;
    } else {
      const bool of_dead = std::any_of(row.headers.begin(), row.headers.end(), [](const auto& h) {
        return h.first == "kafka_dlt-exception-fqcn" && h.second == "ratchet.dead";
      });
      if (of_dead) told_of_dead.insert(row.aggregate);
      if (!of_dead) ++letters_of_rejected;
    }
    rows_.insert_or_assign(place_of(row), written{batch.step, row});
  }
  if (!letters) died.clear();
  if (told_of_dead != died || letters_of_rejected != (letters ? rejected : 0) ||
      answered != (answers ? rejected : 0)) {
    throw broken("step " + std::to_string(batch.step) + " rejects " + std::to_string(rejected) +
                 " records and leaves " + std::to_string(died.size()) + " events dead, and tells of " +
                 std::to_string(letters_of_rejected) + ", " + std::to_string(answered) + " and " +
                 std::to_string(told_of_dead.size()));
  }
}

void mail_book::take_back_to(std::uint64_t step) {
  std::erase_if(rows_, [&](const auto& entry) {
    if (entry.second.step <= step) return false;
    if (sent_.contains(entry.first))
      throw broken("output " + std::to_string(entry.first.second) + " was sent, and its step is lost");
    const auto known = ids_.find(entry.second.row.id);
    if (known != ids_.end() && known->second == entry.first) ids_.erase(known);
    return true;
  });
}

void mail_book::forget_places() {
  std::erase_if(ids_, [this](const auto& known) { return !rows_.at(known.second).row.time; });
}

void mail_book::send(const output_row& row, std::uint64_t durable) {
  const auto at = rows_.find(place_of(row));
  if (at == rows_.end()) throw broken("an output was sent that no step has put there");
  if (at->second.step > durable)
    throw broken("output " + std::to_string(row.position) + " of step " + std::to_string(at->second.step) +
                 " was sent, and durable is " + std::to_string(durable));
  output_row whole = row;
  if (row.kind == output_kind::published) {
    const bool named =
        std::find(row.headers.begin(), row.headers.end(),
                  std::pair{std::string{"ce_id"}, std::optional{to_text(row.id)}}) != row.headers.end();
    if (!named) throw broken("a message was sent without its id");
    whole.headers.clear();  // made when it is sent
  }
  if (!whole.value && at->second.row.value) {  // too large
    whole.value = at->second.row.value;
    if (whole.headers.size() > at->second.row.headers.size()) whole.headers.pop_back();
  }
  if (whole != at->second.row)
    throw broken("output " + std::to_string(row.position) + " is not sent as it was written");
  sent_.insert(place_of(row));
}

/// What an aggregate published comes in its order, at each sink by itself. In Kafka what was under way with
/// one that was refused may come before it.
void mail_book::came(const output_row& row) {
  const place here = place_of(row);
  came_.insert(here);
  if (row.kind != output_kind::published) return;
  for (auto at = rows_.lower_bound({here.first, 0}); at != rows_.end() && at->first < here; ++at) {
    const auto& [before, other] = *at;
    const bool is_of_it = other.row.kind == output_kind::published && other.row.stream == row.stream &&
                          other.row.aggregate == row.aggregate;
    const bool may_be_late = here.first.empty() && refused_.contains(before);
    if (is_of_it && !came_.contains(before) && !may_be_late)
      throw broken("message " + std::to_string(here.second) + " came before " +
                   std::to_string(before.second) + " of " + row.aggregate);
  }
}

std::map<std::string, std::set<std::uint64_t>> mail_book::never_to_come() const {
  std::map<std::string, std::set<std::uint64_t>> out;
  std::set<std::tuple<std::string, stream_id, std::string>> stuck;
  for (const auto& [where, put] : rows_) {
    const output_row& row = put.row;
    const auto whose = std::tuple{where.first, row.stream, row.aggregate};
    if (is_refused_for_good(row, sink_refuses_)) stuck.insert(whose);
    if (stuck.contains(whose)) out[where.first].insert(where.second);
  }
  return out;
}

bool mail_book::is_all_that_is_left(const outbox_lanes& outbox) const {
  if (sink_refuses_ == 0) return outbox.rows() == 0;
  std::map<std::string, std::set<std::uint64_t>> never = never_to_come();
  return std::all_of(outbox.by_name.begin(), outbox.by_name.end(),
                     [&](const auto& lane) { return lane.second.rows() == never[lane.first].size(); });
}

void mail_book::compare(const outbox_lanes& outbox) const {
  std::map<std::string, std::set<std::uint64_t>> never = never_to_come();
  for (const auto& [lane, left] : outbox.by_name) {
    std::uint64_t bytes = 0;
    for (const std::uint64_t position : never[lane]) bytes += rows_.at({lane, position}).row.bytes();
    if (left.rows() != never[lane].size() || left.bytes != bytes)
      throw broken(std::to_string(left.rows()) + " outputs of " + std::to_string(left.bytes) +
                   " bytes are left at rest for `" + lane + "`, and " + std::to_string(never[lane].size()) +
                   " of " + std::to_string(bytes) + " can never come");
  }
  for (const auto& [where, unused] : rows_) {
    const bool comes = !never[where.first].contains(where.second);
    if (comes && !came_.contains(where) && !given_up_.contains(where))
      throw broken("output " + std::to_string(where.second) + " never came to anybody");
    if (!comes && came_.contains(where))
      throw broken("output " + std::to_string(where.second) +
                   " came, and one before it was refused for good");
  }
}

sending simulated_outlet::send(const output_row& row) {
  if (under_way_.size() >= k_room || (!well_ && world_.draw(20) == 0)) return sending::full;
  book_.send(row, disk_.durable());
  if (taken_.contains(row.position) && !row.lane().empty())
    throw broken("message " + std::to_string(row.position) +
                 " is sent again, and the sink said that it has it");
  for (sent& other : under_way_) other.had_company = true;
  under_way_.push_back({row, !under_way_.empty(), false});
  return sending::taken;
}

/// An idempotent producer's: behind a message that did not come, none of the same key comes either.
void simulated_outlet::doom_those_behind(const output_row& row) {
  for (sent& behind : under_way_) {
    if (behind.row.stream == row.stream && behind.row.aggregate == row.aggregate) behind.is_doomed = true;
  }
}

delivery simulated_outlet::end(const output_row& row, bool had_company, bool is_doomed) {
  constexpr std::uint32_t k_of = 16;
  if (is_refused_for_good(row, refuses_)) return {row.position, delivery::how::refused, "never"};
  if (is_doomed) return {row.position, delivery::how::again, "behind one that did not come"};
  const std::uint32_t what = well_ ? k_of : world_.draw(k_of);
  if (what == 0) doom_those_behind(row);
  if (what == 2) book_.refused(row);
  if (what == 0) return {row.position, delivery::how::again, "away"};
  if (what == 1) {
    book_.came(row);
    return {row.position, delivery::how::again, "the answer is lost"};
  }
  if (what == 2 && had_company) return {row.position, delivery::how::refused, "the batch is too large"};
  if (what == 2) {
    // A letter is tried once more without its value.
    const bool is_last_try = row.kind == output_kind::rejection || !row.value;
    if (is_last_try && row.kind != output_kind::published) book_.given_up(row);
    return {row.position, delivery::how::refused, "too large"};
  }
  book_.came(row);
  taken_.insert(row.position);
  return {row.position, delivery::how::done, {}};
}

std::vector<delivery> simulated_outlet::delivered() {
  std::vector<delivery> all;
  const std::size_t end_now = well_ ? under_way_.size() : world_.draw(k_room + 1);
  while (!under_way_.empty() && all.size() < end_now) {
    const sent next = std::move(under_way_.front());
    under_way_.pop_front();
    all.push_back(end(next.row, next.had_company, next.is_doomed));
  }
  return all;
}

}  // namespace ratchet::sim
