// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kafka/handles.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// The arguments of one call of rd_kafka_produceva(). Borrows what it is given, until produce() has returned;
/// the value, where it is not copied, until it is delivered or the client is gone.
class produce_parts {
 public:
  enum class ownership : std::uint8_t { copied, borrowed };

  explicit produce_parts(ownership value = ownership::copied) {
    constexpr std::size_t k_usual = 16;
    parts_.reserve(k_usual);
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = value == ownership::copied ? RD_KAFKA_MSG_F_COPY : 0;
  }
  void topic(const char* name) { add(RD_KAFKA_VTYPE_TOPIC).u.cstr = name; }
  void partition(partition_id number) {
    add(RD_KAFKA_VTYPE_PARTITION).u.i32 = static_cast<std::int32_t>(number);
  }
  void key(std::optional<std::string_view> bytes) { set(add(RD_KAFKA_VTYPE_KEY), bytes); }
  void value(std::optional<std::string_view> bytes) { set(add(RD_KAFKA_VTYPE_VALUE), bytes); }
  void time(timestamp t) { add(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = t.time_since_epoch().count(); }
  void header(const char* name, std::optional<std::string_view> bytes) {
    add(RD_KAFKA_VTYPE_HEADER).u.header = {name, bytes ? bytes->data() : nullptr,
                                           static_cast<ssize_t>(bytes ? bytes->size() : 0)};
  }
  void opaque(void* pointer) { add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = pointer; }

  [[nodiscard]] rd_kafka_resp_err_t produce(rd_kafka_t* handle) const {
    const kafka_handle<rd_kafka_error_t> error{rd_kafka_produceva(handle, parts_.data(), parts_.size())};
    return error == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error.get());
  }

 private:
  rd_kafka_vu_t& add(rd_kafka_vtype_t type) {
    rd_kafka_vu_t& part = parts_.emplace_back();
    part.vtype = type;
    return part;
  }
  static void set(rd_kafka_vu_t& part, std::optional<std::string_view> bytes) {
    if (!bytes) return;
    // librdkafka takes a null pointer for "no value"; an empty one must point somewhere.
    part.u.mem.ptr = const_cast<char*>(bytes->data() != nullptr ? bytes->data() : "");
    part.u.mem.size = bytes->size();
  }
  std::vector<rd_kafka_vu_t> parts_;
};

}  // namespace ratchet
