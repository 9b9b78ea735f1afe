// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/log_fields.hpp"

namespace ratchet {

std::vector<log_field> fields_of(const log_facts& facts) {
  std::vector<log_field> fields;
  if (!facts.stream.empty()) fields.push_back({"stream", facts.stream});
  if (!facts.aggregate.empty()) fields.push_back({"aggregate", facts.aggregate});
  if (facts.where != nullptr) {
    fields.push_back({"topic", std::string_view{facts.where->topic}});
    fields.push_back({"partition", std::int64_t{static_cast<std::int32_t>(facts.where->partition)}});
  }
  if (facts.offset) fields.push_back({"offset", *facts.offset});
  return fields;
}

}  // namespace ratchet
