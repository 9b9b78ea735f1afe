// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/store.hpp"

/// A store in memory, as far as reading goes.
namespace ratchet::testing {

struct fake_stream {
  std::string name;
  stream_state state;
  std::map<std::string, aggregate_row, std::less<>> rows;
  std::vector<rejected_row> rejected;
  std::vector<std::pair<event_id, std::string>> ids;
  std::map<event_id, timestamp> filed;  ///< of opaque ids
  std::vector<std::pair<std::string, std::string>> meaning;
  std::map<std::string, backlog, std::less<>> backlogs;
  std::map<std::pair<std::string, sequence>, waiting_event> waiting;
  std::map<std::pair<std::string, std::string>, std::string> tables;  ///< by table and stored key
};

struct fake_content {
  std::vector<fake_stream> streams;  ///< a stream's id is its index
  std::vector<audit_row> audits;
  store_identity identity{"11111111-1111-4111-8111-111111111111", "group-1", "", 0, {}};
  std::error_code scan_fails_with;  ///< after the first row
  std::uint64_t endless_rows{0};    ///< rows of stream 0 that scan makes up
  std::uint64_t endless_audits{0};  ///< audit rows of the whole store that each_audit makes up
  std::string endless_kind{"made_up"};
  mutable std::uint64_t rows_read{0};  ///< rejected ones and audit rows that were handed out
};

class fake_view final : public store_view {
 public:
  fake_view(const fake_content& c, std::uint64_t step) : content_{c}, step_{step} {}

  std::uint64_t step() const override { return step_; }
  result<store_identity> identity() const override { return content_.identity; }
  result<std::vector<filed_id_of>> aggregates_with(stream_slot in, event_id event,
                                                   std::size_t limit) const override {
    std::vector<filed_id_of> found;
    for (const auto& [filed, aggregate] : at(in).ids) {
      const auto when = at(in).filed.find(filed);
      if (filed == event && found.size() < limit) {
        found.push_back({aggregate, when == at(in).filed.end() ? event.time() : when->second});
      }
    }
    return found;
  }
  result<std::vector<named_stream>> streams() const override {
    std::vector<named_stream> named;
    for (std::uint32_t i = 0; i < content_.streams.size(); ++i) {
      named.push_back({content_.streams[i].name, stream_id{i}, content_.streams[i].meaning});
    }
    return named;
  }
  result<stream_state> load(stream_slot in) const override { return at(in).state; }
  result<aggregate_row> get(stream_slot in, std::string_view aggregate) const override {
    const auto found = at(in).rows.find(aggregate);
    if (found == at(in).rows.end()) return make_error_code(errc::not_found);
    return found->second;
  }
  result<void> scan(stream_slot in, const std::function<bool(const scanned_row&)>& visit) const override {
    for (const auto& [aggregate, row] : at(in).rows) {
      if (!visit({aggregate, row})) return BOOST_OUTCOME_V2_NAMESPACE::success();
      if (content_.scan_fails_with) return content_.scan_fails_with;
    }
    aggregate_row row;
    row.snapshot = R"({"filler":")" + std::string(200, 'x') + R"("})";
    for (std::uint64_t i = 0; i < content_.endless_rows; ++i) {
      row.last = seq(i);
      if (!visit({"made-up-" + std::to_string(i), row})) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<void> scan_ids(stream_slot, const id_visit&) const override {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<void> each_rejected(stream_id id, const std::optional<kept_rejected::position>& after,
                             const std::function<bool(const rejected_row&)>& visit) const override {
    std::map<kept_rejected::position, rejected_row> rows;
    for (const rejected_row& row : at(id).rejected) rows.emplace(kept_rejected::position::of(row), row);
    for (auto row = after ? rows.upper_bound(*after) : rows.begin(); row != rows.end(); ++row) {
      if (!visit(row->second)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<void> newest_rejected(stream_id id, std::size_t limit,
                               const std::function<bool(const rejected_row*)>& visit) const override {
    for (const rejected_row& row : at(id).rejected) {
      if (limit-- == 0) break;
      ++content_.rows_read;
      if (!visit(&row)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<void> each_audit(std::uint64_t after,
                          const std::function<bool(const audit_row&)>& visit) const override {
    for (const audit_row& row : content_.audits) {
      if (row.step <= after) continue;
      ++content_.rows_read;
      if (!visit(row)) return BOOST_OUTCOME_V2_NAMESPACE::success();
    }
    audit_row made_up{
        .step = 0, .time = {}, .kind = content_.endless_kind, .stream = "", .text = std::string(200, 'x')};
    for (std::uint64_t i = 0; i < content_.endless_audits; ++i) {
      made_up.step = 1'000 + i;
      ++content_.rows_read;
      if (!visit(made_up)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<void> waiting(
      stream_slot in, const std::optional<waiting_place>& after,
      const std::function<bool(std::string_view, const waiting_event&)>& visit) const override {
    const auto& all = at(in).waiting;
    auto next = after ? all.upper_bound({after->aggregate, after->sequence}) : all.begin();
    for (; next != all.end(); ++next) {
      if (!visit(next->first.first, next->second)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<std::optional<backlog>> backlog_of(stream_slot in, std::string_view aggregate) const override {
    const auto found = at(in).backlogs.find(aggregate);
    return found == at(in).backlogs.end() ? std::nullopt : std::optional{found->second};
  }
  result<void> backlogs(stream_slot in,
                        const std::function<bool(std::string_view, const backlog&)>& visit) const override {
    for (const auto& [aggregate, b] : at(in).backlogs) {
      if (!visit(aggregate, b)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  result<std::optional<std::string>> oldest_gap(stream_slot in) const override {
    std::optional<std::string> oldest;
    for (const auto& [aggregate, b] : at(in).backlogs) {
      const bool is_older = b.gap_since && (!oldest || b.gap_since < at(in).backlogs.at(*oldest).gap_since);
      if (is_older) oldest = aggregate;
    }
    return oldest;
  }
  [[nodiscard]] result<outbox_lanes> outboxes() const override { return outbox_lanes{}; }
  result<std::string> table_row(stream_slot in, std::string_view table, std::string_view key) const override {
    const auto found = at(in).tables.find({std::string{table}, std::string{key}});
    if (found == at(in).tables.end()) return make_error_code(errc::not_found);
    return found->second;
  }
  result<void> scan_table(
      stream_slot in, std::string_view table, std::string_view prefix, std::string_view from,
      const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    for (const auto& [key, value] : at(in).tables) {
      const bool wanted = key.first == table && key.second.starts_with(prefix) && key.second >= from;
      if (wanted && !visit(key.second, value)) break;
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  const fake_stream& at(stream_slot in) const {
    return content_.streams.at(static_cast<std::uint32_t>(in.stream));
  }

  const fake_content& content_;
  std::uint64_t step_;
};

/// `content` is not to be changed while a server reads from it.
class fake_store final : public store {
 public:
  fake_content content;
  std::atomic<std::uint64_t> written{1};
  std::atomic<std::uint64_t> durable{1};
  std::atomic<bool> sync_works{true};
  std::atomic<int> syncs_requested{0};
  mutable std::atomic<int> views{0};  ///< that were opened

  stream_id id_of(std::string_view) const override { return stream_id{0}; }
  result<stream_state> load(stream_slot) const override { return stream_state{}; }
  result<void> lookup(stream_slot, const step_plan&, step_rows&) override { return unused(); }
  /// Of nobody's name, whatever is due.
  result<due_aggregates> due(stream_slot in, timestamp, std::optional<timestamp>, std::size_t) override {
    due_aggregates next;
    const auto lower = [](std::optional<timestamp>& to, std::optional<timestamp> time) {
      if (time && (!to || *time < *to)) to = time;
    };
    for (const auto& [name, b] : content.streams.at(static_cast<std::uint32_t>(in.stream)).backlogs) {
      lower(next.next_wake, b.wake);
      lower(next.next_gap, b.gap_since);
    }
    return next;
  }
  result<std::vector<std::string>> due_behind(stream_slot, timestamp, std::size_t) override {
    return std::vector<std::string>{};
  }
  result<forgotten_aggregates> find_forgotten(stream_slot, const retention_state&,
                                              const std::optional<std::string>&, std::size_t) override {
    return forgotten_aggregates{};
  }
  outbox_lanes outboxes() const override { return {}; }
  std::uint64_t outbox_epoch() const override { return 0; }
  result<std::vector<output_row>> outputs(std::string_view, std::uint64_t, std::uint64_t, std::size_t,
                                          std::uint64_t) const override {
    return make_error_code(errc::internal);
  }
  std::optional<timestamp> oldest_rejected(stream_id) const override { return std::nullopt; }
  result<void> write(const step_batch&) override { return unused(); }
  std::uint64_t last_step() const noexcept override { return written; }
  std::uint64_t durable_step() const noexcept override { return durable; }
  void request_sync() override {
    ++syncs_requested;
    if (sync_works) durable = written.load();
  }
  result<void> sync() override { return unused(); }
  std::string uuid() const override { return {}; }
  std::string cluster_id() const override { return {}; }
  result<void> set_cluster_id(std::string_view) override { return unused(); }
  result<incarnation> draw_incarnation(std::uint64_t, std::uint64_t) override {
    return make_error_code(errc::internal);
  }
  std::vector<incarnation> incarnations() const override { return {}; }
  std::optional<copy_mark> copy() const override { return content.identity.copy; }
  result<std::uint64_t> checkpoint(const std::filesystem::path&) override {
    return std::make_error_code(std::errc::operation_not_supported);
  }
  result<std::unique_ptr<store_view>> view() const override {
    ++views;
    return std::unique_ptr<store_view>{std::make_unique<fake_view>(content, written)};
  }

 private:
  static result<void> unused() { return make_error_code(errc::internal); }
};

/// A row whose snapshot is `snapshot`.
inline aggregate_row row_of(sequence last, std::string snapshot) {
  aggregate_row row;
  row.last = last;
  row.snapshot = std::move(snapshot);
  return row;
}

}  // namespace ratchet::testing
