// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.hpp"

#include "decode/cloudevents_reader.hpp"
#include "decode/envelope_preset.hpp"
#include "decode/event_reader.hpp"
#include "decode/outbox_reader.hpp"
#include "decode/record_reader.hpp"
#include "decode/row_change_reader.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

struct decoded_batch::arena {
  text_arena texts;
};

decoded_batch::decoded_batch() : arena_{std::make_unique<arena>()} {}
decoded_batch::~decoded_batch() = default;
decoded_batch::decoded_batch(decoded_batch&&) noexcept = default;
decoded_batch& decoded_batch::operator=(decoded_batch&&) noexcept = default;

namespace {

/// Of formats whose fields are where the config says.
class mapped_reader final : public event_reader {
 public:
  explicit mapped_reader(const decode_rules& rules) : fields_{rules}, reader_{rules, fields_} {}
  void read(const record& r, decoded_event& event, text_arena& texts) override {
    reader_.read(r, event, texts);
  }

 private:
  field_map fields_;
  record_reader reader_;
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

}  // namespace

struct decoder::implementation {
  explicit implementation(decode_rules r) : rules{std::move(r)} {
    rules.envelope = with_defaults(std::move(rules.envelope));
    reader = make_reader(rules);
  }

  decode_rules rules;
  std::unique_ptr<event_reader> reader;
};

decoder::decoder(decode_rules rules) : self_{std::make_unique<implementation>(std::move(rules))} {}
decoder::~decoder() = default;
decoder::decoder(decoder&&) noexcept = default;
decoder& decoder::operator=(decoder&&) noexcept = default;

void decoder::decode(std::span<const record> records, decoded_batch& out) {
  if (!out.arena_) out.arena_ = std::make_unique<decoded_batch::arena>();  // it was moved from
  out.arena_->texts.clear();
  out.events.resize(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    self_->reader->read(records[i], out.events[i], out.arena_->texts);
  }
}

}  // namespace ratchet
