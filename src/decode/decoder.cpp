// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.hpp"

#include <deque>
#include <optional>

#include "decode/cloudevents_reader.hpp"
#include "decode/envelope_preset.hpp"
#include "decode/event_reader.hpp"
#include "decode/outbox_reader.hpp"
#include "decode/record_reader.hpp"
#include "decode/record_splitter.hpp"
#include "decode/row_change_reader.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

namespace {

/// The events of records that hold several, as records. They stay where they are until clear(); the memory is
/// kept for the next batch.
class part_arena {
 public:
  record& add(const record& whole) {
    const std::size_t block = used_ / k_block;
    if (block == blocks_.size()) blocks_.push_back(std::make_unique<record[]>(k_block));
    return blocks_[block][used_++ % k_block] = whole;
  }
  record_of_several& add(record_of_several whole) { return wholes_.emplace_back(whole); }
  void clear() noexcept {
    used_ = 0;
    wholes_.clear();
  }

 private:
  static constexpr std::size_t k_block = 256;
  std::vector<std::unique_ptr<record[]>> blocks_;
  std::size_t used_{0};
  std::deque<record_of_several> wholes_;
};

}  // namespace

struct decoded_batch::arena {
  text_arena texts;
  part_arena parts;
};

decoded_batch::decoded_batch() : arena_{std::make_unique<arena>()} {}
decoded_batch::~decoded_batch() = default;
decoded_batch::decoded_batch(decoded_batch&&) noexcept = default;
decoded_batch& decoded_batch::operator=(decoded_batch&&) noexcept = default;

namespace {

/// Of formats whose fields are where the config says.
class mapped_reader final : public event_reader {
 public:
  explicit mapped_reader(const decode_rules& rules) : fields_{rules}, reader_{rules, fields_} {
    if (rules.envelope.each.kind == each_kind::none) return;
    splitter_.emplace(rules, fields_.outside, fields_.list, fields_.arrays_outside);
    reader_.read_beside(splitter_->outside());
  }
  void read(const record& r, decoded_event& event, text_arena& texts) override {
    reader_.read(r, event, texts);
  }
  [[nodiscard]] record_splitter* splitter() noexcept override { return splitter_ ? &*splitter_ : nullptr; }

 private:
  field_map fields_;
  record_reader reader_;
  std::optional<record_splitter> splitter_;
};

std::unique_ptr<event_reader> make_reader(const decode_rules& rules) {
  switch (rules.envelope.format) {
    case envelope_format::cloudevents:
      return std::make_unique<cloudevents_reader>(rules);
    case envelope_format::debezium_cdc:
      return std::make_unique<debezium_cdc_reader>(rules);
    case envelope_format::ydb_changefeed:
      return std::make_unique<ydb_reader>(rules);
    case envelope_format::debezium_outbox:
      return std::make_unique<outbox_reader>(rules);
    case envelope_format::json:
      break;
  }
  return std::make_unique<mapped_reader>(rules);
}

/// Reads the records of one batch that may hold several events each.
class several_reader {
 public:
  several_reader(const decode_rules& rules, event_reader& reader, decoded_batch& out, text_arena& texts,
                 part_arena& parts)
      : rules_{rules},
        reader_{reader},
        splitter_{*reader.splitter()},
        out_{out},
        texts_{texts},
        parts_{parts} {}

  /// Returns how many it took.
  std::size_t read(std::span<const record> records, std::size_t most_events) {
    std::size_t taken = 0;
    for (; taken < records.size() && used_ < most_events; ++taken) {
      if (most_events != std::numeric_limits<std::size_t>::max() && copied_ >= k_most_copied_bytes_of_batch)
        break;
      read_one(records[taken]);
    }
    out_.events.resize(used_);
    return taken;
  }

 private:
  using holds = record_splitter::holds;

  decoded_event& next() {
    if (used_ == out_.events.size()) out_.events.emplace_back();
    return out_.events[used_++];
  }
  void read_one(const record& r) {
    if (splitter_.is_surely_one(r)) return reader_.read(r, next(), texts_);
    switch (splitter_.split(r)) {
      case holds::one:
        return reader_.read(r, next(), texts_);
      case holds::several:
        return read_parts(r);
      case holds::nothing:
        begin(r).kind = decoded_kind::ignored;
        return;
      case holds::fault:
        return refuse(r);
    }
  }
  void read_parts(const record& r) {
    const std::size_t first = used_;
    const std::span<const std::string_view> events = splitter_.events();
    copied_ += splitter_.copied_bytes();
    const record_of_several& whole = parts_.add({&r, splitter_.before(), splitter_.behind()});
    for (std::size_t i = 0; i < events.size(); ++i) {
      record& part = parts_.add(r);
      part.value = events[i];
      part.index = static_cast<std::uint32_t>(i);
      part.more = i + 1 < events.size();
      part.part_of = &whole;
      decoded_event& e = next();
      reader_.read(part, e, texts_);
      const bool is_undecoded = e.kind == decoded_kind::malformed && is_undecodable(e.malformed);
      if (!is_undecoded || !splitter_.breaks_all()) continue;
      used_ = first;
      return refuse(r);
    }
  }
  /// A record whose type stands outside of its events may be none of the stream's, and have no list then, or
  /// other arrays.
  void refuse(const record& r) {
    const malformed_detail fault = splitter_.fault();
    const bool has_no_list =
        fault.reason == malformed_reason::missing_field || fault.reason == malformed_reason::wrong_type;
    const bool has_longer =
        fault.reason == malformed_reason::longer_array && !splitter_.is_chosen_by_one_of_many();
    const bool chooses = !rules_.types.empty() || !rules_.ignore.empty() || !rules_.ignore_having.empty();
    if ((has_no_list || has_longer) && chooses && !rules_.envelope.type.starts_with('/')) {
      decoded_event& e = next();
      reader_.read(r, e, texts_);
      if (e.kind == decoded_kind::ignored) return;
      --used_;
    }
    begin(r).malformed = fault;
  }
  decoded_event& begin(const record& r) {
    decoded_event& e = next();
    e = decoded_event{};
    e.from = &r;
    if (!rules_.time_stands_for_record) e.record_time = r.time;
    return e;
  }

  const decode_rules& rules_;
  event_reader& reader_;
  record_splitter& splitter_;
  decoded_batch& out_;
  text_arena& texts_;
  part_arena& parts_;
  std::size_t used_{0};
  std::uint64_t copied_{0};  ///< what the events repeat of their records
};

}  // namespace

struct decoder::implementation {
  explicit implementation(decode_rules r) : rules{std::move(r)} {
    rules.envelope = with_defaults(std::move(rules.envelope));
    if (rules.envelope.each.kind != each_kind::none) rules.bytes_allowed = false;  // its list is JSON
    reader = make_reader(rules);
  }

  decode_rules rules;
  std::unique_ptr<event_reader> reader;
};

decoder::decoder(decode_rules rules) : self_{std::make_unique<implementation>(std::move(rules))} {}
decoder::~decoder() = default;
decoder::decoder(decoder&&) noexcept = default;
decoder& decoder::operator=(decoder&&) noexcept = default;

std::size_t decoder::decode(std::span<const record> records, decoded_batch& out, std::size_t most_events) {
  if (!out.arena_) out.arena_ = std::make_unique<decoded_batch::arena>();  // it was moved from
  text_arena& texts = out.arena_->texts;
  texts.clear();
  if (self_->reader->splitter() != nullptr) {
    out.arena_->parts.clear();
    several_reader several{self_->rules, *self_->reader, out, texts, out.arena_->parts};
    return several.read(records, most_events);
  }
  out.events.resize(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) self_->reader->read(records[i], out.events[i], texts);
  return records.size();
}

}  // namespace ratchet
