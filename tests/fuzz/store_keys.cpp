// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <compare>
#include <tuple>

#include "core/tables.hpp"
#include "fuzz/fuzz_input.hpp"
#include "store/layout/tables.hpp"
#include "store/layout/waiting.hpp"

/// Keys. Two of a kind, made of the input: their bytes are ordered as their members are, each is read back as
/// it was made, and lies within the bounds that scans use. Any bytes as a key: refused, or written again as
/// they stand.

using namespace ratchet;
using fuzz::fuzz_input;

namespace {

stream_id read_stream(fuzz_input& in) {
  return stream_id{in.u32()};
}
slot read_slot(fuzz_input& in) {
  return slot{in.u32()};
}
std::uint32_t raw(stream_id s) {
  return static_cast<std::uint32_t>(s);
}
std::uint32_t raw(slot s) {
  return static_cast<std::uint32_t>(s);
}

/// Bytes as RocksDB compares them.
std::strong_ordering bytes_order(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return order <=> 0;
}

void check_inside(std::string_view key, const std::string& prefix) {
  RATCHET_FUZZ_CHECK(key.starts_with(prefix));
  const std::string end = layout::end_of_prefix(prefix);
  RATCHET_FUZZ_CHECK(end.empty() || key < end);  // empty: nothing is above
}

struct aggregate_key {
  explicit aggregate_key(fuzz_input& in)
      : stream{read_stream(in)}, part{read_slot(in)}, aggregate{in.text()} {}
  [[nodiscard]] std::string bytes() const {
    std::string out{"shared"};
    layout::append_aggregate_key(out, stream, part, aggregate);
    out.erase(0, 6);
    return out;
  }
  [[nodiscard]] auto members() const { return std::tuple{raw(stream), raw(part), aggregate}; }
  void check(std::string_view key) const {
    const auto read = layout::parse_aggregate_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().aggregate == aggregate);
    RATCHET_FUZZ_CHECK(key.size() == layout::aggregate_key_size(aggregate.size()));
    check_inside(key, layout::stream_prefix(stream, part));
  }
  stream_id stream;
  slot part;
  std::string_view aggregate;
};

struct id_run_key {
  explicit id_run_key(fuzz_input& in)
      : stream{read_stream(in)},
        part{read_slot(in)},
        span{layout::id_span::of({in.u64(), 0}, layout::k_span_bits[in.u8() % layout::k_span_bits.size()])},
        step{in.u64()},
        number{static_cast<std::uint16_t>(in.u32())} {}
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_id_run_key(out, stream, part, span, step, number);
    return out;
  }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), raw(part), span.start, span.bits, step, number};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_id_run_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().span == span && read.value().step == step && read.value().part == number);
    check_inside(key, layout::span_prefix(stream, part, span));
    check_inside(key, layout::stream_prefix(stream, part));
  }
  stream_id stream;
  slot part;
  layout::id_span span;
  std::uint64_t step;
  std::uint16_t number;
};

/// Behind all runs of ids, whatever their stream: its own is below 2^31.
struct opaque_id_key {
  explicit opaque_id_key(fuzz_input& in)
      : stream{raw(read_stream(in)) & ~layout::k_opaque_ids},
        part{read_slot(in)},
        id{in.u64(), in.u64()},
        aggregate{in.text()} {
    if (aggregate.empty()) aggregate = "a";
  }
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_opaque_id_key(out, stream, part, id, aggregate);
    return out;
  }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), raw(part), id.high, id.low, aggregate};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_opaque_id_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().id == id && read.value().aggregate == aggregate);
    RATCHET_FUZZ_CHECK(layout::is_opaque_id_key(key));
    RATCHET_FUZZ_CHECK(key.size() == layout::opaque_id_key_size(aggregate.size()));
    check_inside(key, layout::opaque_ids_prefix(stream, part));
    RATCHET_FUZZ_CHECK(key > layout::end_of_prefix(layout::stream_prefix(stream, part)));
  }
  stream_id stream;
  slot part;
  event_id id;
  std::string_view aggregate;
};

/// Numbers are compared as unsigned ones of the same bits: below 0 stands behind the rest.
struct partition_key {
  explicit partition_key(fuzz_input& in)
      : stream{read_stream(in)}, where{std::string{in.text()}, partition_id{in.i32()}} {}
  [[nodiscard]] std::string bytes() const { return layout::partition_key(stream, where); }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), where.topic, static_cast<std::uint32_t>(where.partition)};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_partition_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().where == where);
    check_inside(key, layout::prefix_of(layout::kind::partition, stream));
  }
  stream_id stream;
  topic_partition where;
};

struct rejected_key {
  explicit rejected_key(fuzz_input& in) : at{in}, offset{in.i64()}, index{in.u32()} {}
  [[nodiscard]] std::string bytes() const {
    return layout::rejected_key(at.stream, {at.where, offset, index});
  }
  [[nodiscard]] auto members() const {
    return std::tuple_cat(at.members(), std::tuple{static_cast<std::uint64_t>(offset), index});
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_rejected_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == at.stream && read.value().where == at.where &&
                       read.value().offset == offset && read.value().index == index);
    check_inside(key, layout::prefix_of(layout::kind::rejected, at.stream));
  }
  partition_key at;
  std::int64_t offset;
  std::uint32_t index;
};

struct audit_key {
  explicit audit_key(fuzz_input& in) : step{in.u64()}, ordinal{in.u32()} {}
  [[nodiscard]] std::string bytes() const { return layout::audit_key(step, ordinal); }
  [[nodiscard]] auto members() const { return std::tuple{step, ordinal}; }
  void check(std::string_view key) const {
    const auto read = layout::parse_audit_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().step == step && read.value().ordinal == ordinal);
    check_inside(key, layout::prefix_of(layout::kind::audit));
  }
  std::uint64_t step;
  std::uint32_t ordinal;
};

struct incarnation_key {
  explicit incarnation_key(fuzz_input& in) : i{in.u64(), in.u64()} {}
  [[nodiscard]] std::string bytes() const { return layout::incarnation_key(i); }
  [[nodiscard]] auto members() const { return std::tuple{i.counter, i.random}; }
  void check(std::string_view key) const {
    const auto read = layout::parse_incarnation_key(key);
    RATCHET_FUZZ_CHECK(read && read.value() == i);
    check_inside(key, layout::prefix_of(layout::kind::incarnation));
  }
  incarnation i;
};

struct stream_name_key {
  explicit stream_name_key(fuzz_input& in) : name{in.text()} {}
  [[nodiscard]] std::string bytes() const { return layout::stream_key(name); }
  [[nodiscard]] auto members() const { return std::tuple{name}; }
  void check(std::string_view key) const {
    const auto read = layout::parse_stream_key(key);
    RATCHET_FUZZ_CHECK(read && read.value() == name);
    check_inside(key, layout::prefix_of(layout::kind::stream));
  }
  std::string_view name;
};

sequence read_sequence(fuzz_input& in) {
  const std::uint64_t epoch = in.u64();
  return {epoch, in.u64()};
}

struct waiting_event_key {
  explicit waiting_event_key(fuzz_input& in)
      : stream{read_stream(in)}, part{read_slot(in)}, aggregate{in.text()}, number{read_sequence(in)} {}
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_waiting_event_key(out, stream, part, aggregate, number);
    return out;
  }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), raw(part), aggregate, number.epoch, number.number};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_waiting_event_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().aggregate == aggregate && read.value().sequence == number);
    std::string prefix;
    layout::append_waiting_events_prefix(prefix, stream, part, aggregate);
    check_inside(key, prefix);
    RATCHET_FUZZ_CHECK(layout::parse_sequence(key.substr(prefix.size())).value() == number);
    check_inside(key, layout::waiting_prefix(layout::waiting_kind::event, stream));
  }
  stream_id stream;
  slot part;
  std::string_view aggregate;
  sequence number;
};

struct backlog_key {
  explicit backlog_key(fuzz_input& in) : stream{read_stream(in)}, part{read_slot(in)}, aggregate{in.text()} {}
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_backlog_key(out, stream, part, aggregate);
    return out;
  }
  [[nodiscard]] auto members() const { return std::tuple{raw(stream), raw(part), aggregate}; }
  void check(std::string_view key) const {
    const auto read = layout::parse_backlog_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().aggregate == aggregate);
    check_inside(key, layout::waiting_prefix(layout::waiting_kind::backlog, stream));
  }
  stream_id stream;
  slot part;
  std::string_view aggregate;
};

/// In the order of time, whatever its sign.
struct due_key {
  static constexpr layout::waiting_kind k_kind = layout::waiting_kind::gap;
  explicit due_key(fuzz_input& in)
      : stream{read_stream(in)},
        time{std::chrono::milliseconds{in.i64()}},
        part{read_slot(in)},
        aggregate{in.text()} {}
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_due_key(out, k_kind, stream, time, part, aggregate);
    return out;
  }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), time.time_since_epoch().count(), raw(part), aggregate};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_due_key(k_kind, key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().time == time &&
                       read.value().slot == part && read.value().aggregate == aggregate);
    check_inside(key, layout::waiting_prefix(k_kind, stream));
    RATCHET_FUZZ_CHECK(key.starts_with(layout::due_start(k_kind, stream, time)));
  }
  stream_id stream;
  timestamp time;
  slot part;
  std::string_view aggregate;
};

struct waiting_id_key {
  explicit waiting_id_key(fuzz_input& in)
      : stream{read_stream(in)}, part{read_slot(in)}, aggregate{in.text()}, id{in.u64(), in.u64()} {}
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_waiting_id_key(out, stream, part, aggregate, id);
    return out;
  }
  [[nodiscard]] auto members() const {
    return std::tuple{raw(stream), raw(part), aggregate, id.high, id.low};
  }
  void check(std::string_view key) const {
    const auto read = layout::parse_waiting_id_key(key);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().aggregate == aggregate && read.value().id == id);
    check_inside(key, layout::waiting_prefix(layout::waiting_kind::id, stream));
  }
  stream_id stream;
  slot part;
  std::string_view aggregate;
  event_id id;
};

struct table_row_key {
  explicit table_row_key(fuzz_input& in)
      : stream{read_stream(in)}, part{read_slot(in)}, table{in.text()}, key{in.text()} {
    if (table.empty()) table = "t";
    if (key.empty()) key = "k";
  }
  [[nodiscard]] std::string bytes() const {
    std::string out;
    layout::append_table_key(out, stream, part, table, key);
    return out;
  }
  [[nodiscard]] auto members() const { return std::tuple{raw(stream), raw(part), table, key}; }
  void check(std::string_view bytes) const {
    const auto read = layout::parse_table_key(bytes);
    RATCHET_FUZZ_CHECK(read && read.value().stream == stream && read.value().slot == part &&
                       read.value().table == table && read.value().key == key);
    check_inside(bytes, layout::table_prefix(stream, part, table));
    check_inside(bytes, layout::tables_prefix(stream));
  }
  stream_id stream;
  slot part;
  std::string_view table;
  std::string_view key;
};

/// Whatever is taken as a key comes back as it was, and numbers lie in their order.
void check_row_keys(fuzz_input& in) {
  const std::uint64_t a = in.u64();
  const std::uint64_t b = in.u64();
  const auto stored = [](std::uint64_t n) {
    return encode_table_key(key_encoding::u64, std::to_string(n)).value();
  };
  RATCHET_FUZZ_CHECK(bytes_order(stored(a), stored(b)) == (a <=> b));
  const std::string_view key = in.rest();
  for (const key_encoding e : {key_encoding::text, key_encoding::bytes, key_encoding::u64}) {
    if (const auto taken = encode_table_key(e, key)) RATCHET_FUZZ_CHECK(decode_table_key(e, *taken) == key);
    if (const auto shown = decode_table_key(e, key)) RATCHET_FUZZ_CHECK(encode_table_key(e, *shown) == key);
  }
}

template <class Key>
void check_two(fuzz_input& in) {
  const Key a{in};
  const Key b{in};
  const std::string a_bytes = a.bytes();
  const std::string b_bytes = b.bytes();
  RATCHET_FUZZ_CHECK(bytes_order(a_bytes, b_bytes) == (a.members() <=> b.members()));
  a.check(fuzz::exact_copy{a_bytes}.view());
  b.check(fuzz::exact_copy{b_bytes}.view());
}

/// A topic within a key ends where it ends: no other topic's bytes begin with it.
void check_prefix_free(fuzz_input& in) {
  const std::string a = layout::partition_key(stream_id{1}, {std::string{in.text()}, partition_id{0}});
  const std::string b = layout::partition_key(stream_id{1}, {std::string{in.text()}, partition_id{0}});
  const auto topic = [](const std::string& key) { return key.substr(0, key.size() - 4); };
  if (a != b) RATCHET_FUZZ_CHECK(!topic(a).starts_with(topic(b)) && !topic(b).starts_with(topic(a)));
}

/// What is read from any bytes is written as the same bytes.
void check_any(std::string_view bytes) {
  const fuzz::exact_copy copy{bytes};
  const std::string_view key = copy.view();
  if (const auto k = layout::parse_table_key(key)) {
    std::string again;
    layout::append_table_key(again, k.value().stream, k.value().slot, k.value().table, k.value().key);
    RATCHET_FUZZ_CHECK(again == key);
  }
  if (const auto k = layout::parse_aggregate_key(key)) {
    std::string again;
    layout::append_aggregate_key(again, k.value().stream, k.value().slot, k.value().aggregate);
    RATCHET_FUZZ_CHECK(again == key);
  }
  if (const auto k = layout::parse_id_run_key(key)) {
    std::string again;
    layout::append_id_run_key(again, k.value().stream, k.value().slot, k.value().span, k.value().step,
                              k.value().part);
    RATCHET_FUZZ_CHECK(again == key);
  }
  if (const auto k = layout::parse_opaque_id_key(key)) {
    std::string again;
    layout::append_opaque_id_key(again, k.value().stream, k.value().slot, k.value().id, k.value().aggregate);
    RATCHET_FUZZ_CHECK(again == key);
  }
  if (const auto k = layout::parse_stream_key(key)) RATCHET_FUZZ_CHECK(layout::stream_key(k.value()) == key);
  if (const auto k = layout::parse_stream_state_key(key))
    RATCHET_FUZZ_CHECK(layout::stream_state_key(k.value()) == key);
  if (const auto k = layout::parse_partition_key(key)) {
    RATCHET_FUZZ_CHECK(layout::partition_key(k.value().stream, k.value().where) == key);
  }
  if (const auto k = layout::parse_incarnation_key(key))
    RATCHET_FUZZ_CHECK(layout::incarnation_key(k.value()) == key);
  if (const auto k = layout::parse_rejected_key(key)) {
    RATCHET_FUZZ_CHECK(
        layout::rejected_key(k.value().stream, {k.value().where, k.value().offset, k.value().index}) == key);
  }
  if (const auto k = layout::parse_audit_key(key)) {
    RATCHET_FUZZ_CHECK(layout::audit_key(k.value().step, k.value().ordinal) == key);
  }
  std::string again;
  if (const auto k = layout::parse_waiting_event_key(key)) {
    layout::append_waiting_event_key(again, k.value().stream, k.value().slot, k.value().aggregate,
                                     k.value().sequence);
    RATCHET_FUZZ_CHECK(again == key);
  } else if (const auto b = layout::parse_backlog_key(key)) {
    layout::append_backlog_key(again, b.value().stream, b.value().slot, b.value().aggregate);
    RATCHET_FUZZ_CHECK(again == key);
  } else if (const auto i = layout::parse_waiting_id_key(key)) {
    layout::append_waiting_id_key(again, i.value().stream, i.value().slot, i.value().aggregate, i.value().id);
    RATCHET_FUZZ_CHECK(again == key);
  }
  for (const auto kind : {layout::waiting_kind::wake, layout::waiting_kind::gap}) {
    const auto k = layout::parse_due_key(kind, key);
    if (!k) continue;
    again.clear();
    layout::append_due_key(again, kind, k.value().stream, k.value().time, k.value().slot,
                           k.value().aggregate);
    RATCHET_FUZZ_CHECK(again == key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_input in{data, size};
  switch (in.u8() % 16U) {
    case 0:
      check_two<aggregate_key>(in);
      break;
    case 1:
      check_two<id_run_key>(in);
      break;
    case 2:
      check_two<partition_key>(in);
      break;
    case 3:
      check_two<rejected_key>(in);
      break;
    case 4:
      check_two<audit_key>(in);
      break;
    case 5:
      check_two<incarnation_key>(in);
      break;
    case 6:
      check_two<stream_name_key>(in);
      break;
    case 7:
      check_prefix_free(in);
      break;
    case 9:
      check_two<waiting_event_key>(in);
      break;
    case 10:
      check_two<backlog_key>(in);
      break;
    case 11:
      check_two<due_key>(in);
      break;
    case 12:
      check_two<waiting_id_key>(in);
      break;
    case 13:
      check_two<opaque_id_key>(in);
      break;
    case 14:
      check_two<table_row_key>(in);
      break;
    case 15:
      check_row_keys(in);
      break;
    default:
      check_any(in.rest());
  }
  return 0;
}
