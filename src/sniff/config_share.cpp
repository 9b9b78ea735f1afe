// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/config_share.hpp"

#include <deque>
#include <vector>

namespace ratchet::sniff {

std::string place_of(const sniffed_record& r) {
  if (r.where.topic.empty()) return "line " + std::to_string(r.offset);
  return r.where.topic + "[" + std::to_string(static_cast<std::int32_t>(r.where.partition)) + "]@" +
         std::to_string(r.offset);
}

config_share share_of(const std::string& stream, const decode_rules& rules,
                      std::span<const sniffed_record> sniffed) {
  std::vector<record> records;
  std::deque<std::vector<header>> headers;
  for (const sniffed_record& from : sniffed) {
    record r;
    r.where = &from.where;
    r.offset = from.offset;
    r.time = from.time;
    if (from.key) r.key = *from.key;
    if (from.value) r.value = *from.value;
    std::vector<header>& list = headers.emplace_back();
    for (const auto& [name, value] : from.headers) list.push_back({name, value});
    r.headers = list;
    records.push_back(r);
  }
  decoder reader{rules};
  decoded_batch batch;
  reader.decode(records, batch);
  config_share out;
  out.stream = stream;
  out.records = records.size();
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const decoded_event& e = batch.events[i];
    switch (e.kind) {
      case decoded_kind::event:
        ++out.events;
        break;
      case decoded_kind::tombstone:
        ++out.deletions;
        break;
      case decoded_kind::ignored:
        ++out.ignored;
        break;
      case decoded_kind::malformed: {
        ++out.rejected;
        std::string what = name_of(e.malformed.reason);
        if (!e.malformed.pointer.empty()) what += " " + std::string{e.malformed.pointer};
        config_share::fault& f = out.faults[what];
        if (f.records++ == 0)
          f.first = place_of(sniffed[static_cast<std::size_t>(&whole_of(*e.from) - records.data())]);
        break;
      }
    }
  }
  return out;
}

}  // namespace ratchet::sniff
