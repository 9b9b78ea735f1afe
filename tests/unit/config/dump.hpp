// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "ratchet/config.hpp"

/// Every value of a config as text, to compare two of them.
namespace ratchet::config_support {

class dump_writer {
 public:
  /// Adds `NAME=VALUE`, a line each.
  template <class T>
  dump_writer& add(const char* name, const T& value) {
    out_ << name << '=';
    write(value);
    out_ << '\n';
    return *this;
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out_ << static_cast<int>(value);
    } else {
      out_ << value;
    }
  }
  template <class R, class P>
  void write(const std::chrono::duration<R, P>& value) {
    out_ << std::chrono::duration_cast<std::chrono::milliseconds>(value).count() << "ms";
  }
  void write(const std::filesystem::path& value) { out_ << value.string(); }
  template <class T>
  void write(const std::optional<T>& value) {
    value ? write(*value) : write("none");
  }
  template <class T>
  void write(const std::vector<T>& values) {
    for (const T& value : values) {
      write(value);
      out_ << ',';
    }
  }
  void write(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) out_ << name << ':' << value << ',';
  }
  void write(const failure_rule& r) {
    out_ << r.type << '/' << r.contains << '/' << static_cast<int>(r.how) << '/' << r.times;
  }
  void write(const emit_config& e) {
    write(e.types);
    out_ << e.topic << '/' << e.key << '/' << e.payload << '/' << e.as;
  }
  void write(const table_config& t) { out_ << t.name << '/' << static_cast<int>(t.key); }

  std::ostringstream out_;
};

inline void dump_to(dump_writer& out, const envelope_config& e) {
  out.add("format", e.format).add("event_id", e.event_id).add("event_id_more", e.event_id_more);
  out.add("aggregate", e.aggregate).add("aggregate_more", e.aggregate_more).add("sequence", e.sequence);
  out.add("bits", e.sequence_bits).add("base", e.sequence_base).add("as", e.sequence_as);
  out.add("epoch", e.epoch).add("type", e.type).add("time", e.time).add("unit", e.time_unit);
  out.add("previous", e.previous).add("first", e.sequence_first).add("key", e.key);
  out.add("delete.types", e.deletes.types).add("delete.field", e.deletes.field);
  out.add("delete.is", e.deletes.is).add("position", e.position).add("unavailable", e.unavailable);
  out.add("each", e.each.kind).add("each.pointer", e.each.pointer);
}

inline void dump_to(dump_writer& out, const stream_config& s) {
  out.add("name", s.name).add("topics", s.topics).add("start", s.start);
  dump_to(out, s.envelope);
  out.add("types", s.types)
      .add("ignore", s.ignore)
      .add("tombstones", s.ignore_tombstones)
      .add("has", s.ignore_having);
  out.add("order", s.order).add("ties", s.ties).add("after_delete", s.after_delete);
  out.add("too_old", s.too_old).add("first", s.first).add("epoch_change", s.epoch_change);
  out.add("gap.policy", s.gap.policy).add("gap.timeout", s.gap.timeout).add("handling", s.handling);
  out.add("per_aggregate", s.waiting.per_aggregate).add("events", s.waiting.events);
  out.add("bytes", s.waiting.bytes).add("attempts", s.retry.attempts).add("backoff", s.retry.backoff);
  out.add("most", s.retry.most).add("rejected", s.rejected.records).add("age", s.rejected.age);
  out.add("ids", s.dedup.ids).add("window", s.dedup.window).add("max_skew", s.dedup.max_skew);
  out.add("retention", s.retention).add("record_times", s.record_times);
  out.add("kind", s.reducer.kind).add("reducer", s.reducer.name).add("version", s.reducer.version);
  out.add("from", s.reducer.from).add("fail", s.reducer.fail).add("timeout", s.reducer.timeout);
  out.add("poison", s.poison).add("dead_letter", s.dead_letter).add("rejections", s.rejections);
  out.add("outputs", s.outputs).add("emit", s.emit).add("tables", s.tables);
}

inline std::string dump_of(const config& c) {
  dump_writer out;
  out.add("brokers", c.kafka.brokers).add("group", c.kafka.group).add("properties", c.kafka.properties);
  out.add("connect_timeout", c.kafka.connect_timeout).add("path", c.state.path);
  out.add("commit_interval", c.state.commit_interval).add("sync", c.state.sync);
  out.add("min_free", c.state.min_free).add("snapshot_bytes", c.state.snapshot_bytes);
  out.add("memory_limit", c.memory_limit).add("step", c.step_records);
  out.add("outbox", c.outbox.bytes).add("message_bytes", c.outbox.message_bytes);
  if (c.replicate) {
    out.add("topic", c.replicate->topic).add("instance", c.replicate->instance);
    out.add("advertise", c.replicate->advertise).add("compression", c.replicate->compression);
    const base_config& base = c.replicate->base;
    out.add("base.at_least", base.at_least).add("base.every", base.every).add("base.rate", base.rate);
    const digest_config& digest = c.replicate->digest;
    out.add("digest.every", digest.every).add("digest.bytes", digest.bytes);
  }
  if (c.http) out.add("host", c.http->host).add("port", c.http->port);
  for (const stream_config& s : c.streams) dump_to(out, s);
  for (const sink_config& s : c.sinks) {
    out.add("sink", s.name).add("kind", s.kind).add("first", s.first_pause).add("most", s.most_pause);
    out.add("url", s.http.url).add("method", s.http.method).add("timeout", s.http.timeout);
    out.add("concurrency", s.http.concurrency).add("headers", s.http.headers).add("ca", s.http.ca);
  }
  return out.text();
}

}  // namespace ratchet::config_support
