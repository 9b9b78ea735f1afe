// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/id_runs.hpp"

#include <algorithm>

namespace ratchet {

namespace {

using layout::filed_id;
using layout::id_run;
using layout::id_span;

/// With as many ids in a run on average, a run's own cost is lost among theirs.
constexpr std::size_t k_worth_a_run = 32;
/// A step with fewer ids has few runs whatever their width.
constexpr std::size_t k_large_step = 256;

/// Narrow spans are looked through faster, wide ones have fewer runs: the narrowest that packs well. `ids`
/// are sorted.
unsigned choose_bits(std::span<const filed_id> ids) {
  if (ids.size() < k_large_step) return layout::k_span_bits.front();
  for (const unsigned bits : layout::k_span_bits) {
    std::size_t runs = 1;
    for (std::size_t i = 1; i < ids.size(); ++i) {
      runs += id_span::of(ids[i].id, bits) != id_span::of(ids[i - 1].id, bits) ? 1U : 0U;
    }
    if (runs * k_worth_a_run <= ids.size()) return bits;
  }
  return layout::k_span_bits.back();
}

/// Goes through the runs of one span after the other.
class span_reader {
 public:
  span_reader(const row_reader& rows, const rocksdb::ReadOptions& options, stream_slot in) : in_{in} {
    rocksdb::ReadOptions o = options;
    o.prefix_same_as_start = true;
    at_ = rows.iterate(o, family::dedup);
  }

  /// `visit` is called with each run of the span.
  template <class Visit>
  result<void> read(id_span span, Visit visit) {
    const std::string prefix = layout::span_prefix(in_.stream, in_.slot, span);
    for (at_->Seek(prefix); at_->Valid() && at_->key().starts_with(prefix); at_->Next()) {
      RATCHET_TRY(const id_run run, layout::decode_id_run(span, at_->value().ToStringView()));
      visit(run);
    }
    if (!at_->status().ok()) return read_error(at_->status());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  stream_slot in_;
  std::unique_ptr<rocksdb::Iterator> at_;
};

}  // namespace

void id_run_writer::put(row_sink& to, stream_slot in, std::uint64_t step, const step_plan& plan,
                        std::span<const id_of_aggregate> ids) {
  ids_.clear();
  ids_.reserve(ids.size());
  for (const id_of_aggregate& id : ids) ids_.push_back({id.id, plan.aggregates[id.aggregate]});
  std::sort(ids_.begin(), ids_.end());
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  const unsigned bits = choose_bits(ids_);
  std::uint16_t part = 0;
  for (std::size_t begin = 0; begin < ids_.size();) {
    const id_span span = id_span::of(ids_[begin].id, bits);
    std::size_t end = begin + 1;
    while (end < ids_.size() && end - begin < layout::k_run_ids && id_span::of(ids_[end].id, bits) == span)
      ++end;
    key_.clear();
    layout::append_id_run_key(key_, in.stream, in.slot, span, step, part);
    layout::encode_id_run(value_, {ids_.data() + begin, end - begin});
    to.put(family::dedup, key_, value_);
    const bool goes_on = end < ids_.size() && id_span::of(ids_[end].id, bits) == span;
    part = goes_on ? static_cast<std::uint16_t>(part + 1) : std::uint16_t{0};
    begin = end;
  }
}

result<void> find_in_runs(const row_reader& rows, stream_slot in, const step_plan& plan,
                          std::vector<std::uint32_t>& asked, std::vector<std::uint8_t>& found) {
  if (asked.empty()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  std::sort(asked.begin(), asked.end(),
            [&](std::uint32_t a, std::uint32_t b) { return plan.ids[a].id < plan.ids[b].id; });
  span_reader reader{rows, {}, in};
  for (const unsigned bits : layout::k_span_bits) {
    for (std::size_t begin = 0; begin < asked.size();) {
      const id_span span = id_span::of(plan.ids[asked[begin]].id, bits);
      std::size_t end = begin + 1;
      while (end < asked.size() && id_span::of(plan.ids[asked[end]].id, bits) == span) ++end;
      RATCHET_TRY(reader.read(span, [&](const id_run& run) {
        for (std::size_t i = begin; i < end; ++i) {
          const id_of_aggregate& id = plan.ids[asked[i]];
          if (run.holds({id.id, plan.aggregates[id.aggregate]})) found[asked[i]] = 1;
        }
      }));
      begin = end;
    }
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<std::vector<std::string>> aggregates_in_runs(const database& db, const rocksdb::ReadOptions& options,
                                                    stream_slot in, const event_id& id, std::size_t limit) {
  std::vector<std::string> out;
  span_reader reader{db, options, in};
  for (const unsigned bits : layout::k_span_bits) {
    RATCHET_TRY(reader.read(id_span::of(id, bits), [&](const id_run& run) {
      for (std::size_t i = run.lower_bound(id); i < run.size() && run.id(i) == id; ++i)
        out.emplace_back(run.aggregate(i));
    }));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() > limit) out.resize(limit);
  return out;
}

}  // namespace ratchet
