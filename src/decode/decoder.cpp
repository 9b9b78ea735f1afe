// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.hpp"

#include "decode/record_reader.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

struct decoded_batch::arena {
  text_arena texts;
};

decoded_batch::decoded_batch() : arena_{std::make_unique<arena>()} {}
decoded_batch::~decoded_batch() = default;
decoded_batch::decoded_batch(decoded_batch&&) noexcept = default;
decoded_batch& decoded_batch::operator=(decoded_batch&&) noexcept = default;

struct decoder::implementation {
  explicit implementation(decode_rules r) : rules{std::move(r)}, fields{rules}, reader{rules, fields} {}

  decode_rules rules;
  field_map fields;
  record_reader reader;
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
    self_->reader.read(records[i], out.events[i], out.arena_->texts);
  }
}

}  // namespace ratchet
