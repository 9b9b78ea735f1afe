// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/group_source.hpp"

#include <deque>
#include <set>
#include <utility>

#include "core/success.hpp"
#include "support/each_answer.hpp"

namespace ratchet::pair_sim {

namespace {

class input_batch final : public record_batch {
 public:
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }
  void add(const topic_partition& where, std::int64_t offset, std::string value) {
    record& r = records_.emplace_back();
    r.where = &*where_.insert(where).first;
    r.offset = offset;
    r.time = timestamp{milliseconds{1'704'110'400'000}};
    r.value = bytes_.emplace_back(std::move(value));
  }

 private:
  std::set<topic_partition> where_;
  std::deque<std::string> bytes_;
  std::vector<record> records_;
};

[[nodiscard]] std::size_t index_of(const topic_partition& where) {
  return static_cast<std::size_t>(where.partition);
}
[[nodiscard]] std::error_code unavailable() {
  return make_error_code(errc::source_unavailable);
}

}  // namespace

group_source::group_source(cluster& of, setting& in, judge& j, process_calls& calls, std::string name)
    : of_{of}, in_{in}, judge_{j}, calls_{calls}, client_{std::make_shared<group_client>()} {
  client_->name = std::move(name);
}

result<std::string> group_source::cluster_id(milliseconds) {
  calls_.call();
  return std::string{"cluster-1"};
}

result<std::vector<topic_partition>> group_source::partitions(std::span<const std::string>, milliseconds) {
  calls_.call();
  std::vector<topic_partition> all;
  for (std::size_t p = 0; p < of_.inputs.size(); ++p) all.push_back(of_.partition(p));
  return all;
}

result<std::vector<committed_offset>> group_source::committed(std::span<const topic_partition> all,
                                                              milliseconds) {
  calls_.call();
  if (!of_.answers) return unavailable();
  std::vector<committed_offset> out;
  for (const topic_partition& where : all) {
    const auto at = of_.group.committed().find(where);
    out.push_back(at == of_.group.committed().end() ? committed_offset{where, {}, {}} : at->second);
  }
  return out;
}

result<std::vector<group_member>> group_source::members(milliseconds) {
  calls_.call();
  if (!of_.answers) return unavailable();
  std::vector<group_member> all;
  for (const auto& each : of_.group.members())
    all.push_back({each->name + "-uuid", each->name, "host", each == client_});
  return all;
}

std::vector<result<log_bounds>> group_source::bounds(std::span<const topic_partition> all, milliseconds) {
  calls_.call();
  return testing::each_answer(all, [this](const topic_partition& where) -> result<log_bounds> {
    const auto end = static_cast<std::int64_t>(of_.inputs.at(index_of(where)).size());
    return log_bounds{0, end, end};
  });
}

std::vector<result<std::optional<owned_record>>> group_source::read_at(std::span<const position> all,
                                                                       milliseconds) {
  calls_.call();
  return testing::each_answer(all, [this](const position& at) -> result<std::optional<owned_record>> {
    const auto& log = of_.inputs.at(index_of(at.where));
    if (at.offset < 0 || at.offset >= static_cast<std::int64_t>(log.size()))
      return std::optional<owned_record>{};
    return std::optional{owned_record{{}, log[static_cast<std::size_t>(at.offset)].record()}};
  });
}

result<void> group_source::join(std::span<const std::string>) {
  calls_.call();
  of_.group.join(client_);
  return success();
}

result<void> group_source::assign(std::span<const position> all) {
  calls_.call();
  reading_.clear();
  for (const position& p : all) reading_[index_of(p.where)] = {p.offset, false};
  return success();
}

result<void> group_source::unassign() {
  calls_.call();
  reading_.clear();
  of_.group.answer(client_);
  return success();
}

result<void> group_source::pause(std::span<const topic_partition> all) {
  for (const topic_partition& where : all) reading_[index_of(where)].paused = true;
  return success();
}

result<void> group_source::resume(std::span<const topic_partition> all) {
  for (const topic_partition& where : all) reading_[index_of(where)].paused = false;
  return success();
}

result<polled> group_source::poll(std::size_t most, milliseconds) {
  calls_.wait();
  polled out;
  for (source_notice& each : std::exchange(client_->notices, {})) {
    if (std::holds_alternative<notice::assigned>(each)) heard_generation_ = client_->generation;
    out.notices.push_back(std::move(each));
  }
  if (under_way_ && in_.one_in(2)) {
    notice::commit_done done;
    done.code = take(*under_way_);
    if (!done.code) {
      for (const commit_request& r : *under_way_)
        done.offsets.push_back({r.where, r.next_offset, r.metadata});
    }
    under_way_.reset();
    out.notices.emplace_back(std::move(done));
  }
  if (out.notices.empty()) out.batch = collect(most);
  return out;
}

std::unique_ptr<record_batch> group_source::collect(std::size_t most) {
  auto batch = std::make_unique<input_batch>();
  std::size_t left = 1 + in_.draw(static_cast<std::uint32_t>(most));
  for (auto& [p, at] : reading_) {
    const auto& log = of_.inputs[p];
    for (; left > 0 && !at.paused && at.next < static_cast<std::int64_t>(log.size()); ++at.next, --left)
      batch->add(of_.partition(p), at.next, log[static_cast<std::size_t>(at.next)].record());
  }
  if (batch->records().empty()) return nullptr;
  return batch;
}

/// An answer may be lost on its way, and the offsets be there or not.
std::error_code group_source::take(std::span<const commit_request> all) {
  if (!of_.answers) return unavailable();
  const bool is_lost = in_.one_in(30);
  if (is_lost && in_.one_in(2)) return unavailable();
  const std::error_code refused = of_.group.commit(*client_, all);
  if (!refused) judge_.on_offsets(all);
  return is_lost ? unavailable() : refused;
}

result<void> group_source::commit(std::span<const commit_request> all) {
  calls_.call();
  judge_.on_offsets(all);
  under_way_.emplace(all.begin(), all.end());
  return success();
}

result<void> group_source::commit_and_wait(std::span<const commit_request> all, milliseconds) {
  calls_.call();
  judge_.on_offsets(all);
  if (under_way_) (void)take(*under_way_);  // it was sent before
  const std::error_code refused = take(all);
  calls_.call();
  if (refused) return refused;
  return success();
}

void group_source::close(milliseconds) noexcept {
  if (!calls_.is_dead()) of_.group.leave(client_);
}

}  // namespace ratchet::pair_sim
