// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/properties.hpp"

namespace ratchet {

namespace {

struct owned_property {
  std::string_view name;
  std::string_view why;
};

constexpr owned_property k_owned[] = {
    {"bootstrap.servers", "set kafka.brokers instead"},
    {"metadata.broker.list", "set kafka.brokers instead"},
    {"group.id", "set kafka.group instead"},
    {"enable.auto.commit", "Ratchet commits by itself, once records are durable"},
    {"auto.commit.interval.ms", "Ratchet commits by itself; see state.commit_interval"},
    {"auto.commit.enable", "Ratchet commits by itself, once records are durable"},
    {"enable.auto.offset.store", "Ratchet keeps the offsets in its own store"},
    {"offset.store.method", "Ratchet keeps the offsets in its own store"},
    {"offset.store.path", "Ratchet keeps the offsets in its own store"},
    {"auto.offset.reset",
     "streams[].start sets where to start; an offset out of range is never skipped in silence"},
    {"topic.auto.offset.reset", "streams[].start sets where to start"},
    {"enable.partition.eof", "Ratchet needs to know where a partition ends"},
    {"group.instance.id",
     "a static member can fence itself after an outage of the brokers; members are dynamic"},
    {"group.protocol.type", "Ratchet joins as an ordinary consumer"},
    {"group.protocol", "Ratchet uses the classic group protocol"},
    {"enabled_events", "Ratchet polls by itself"},
    {"opaque", "it is the program's, not a setting"},
    {"log.queue", "Ratchet takes the log lines by itself"},
    {"plugin.library.paths", "a plugin could change behaviour that Ratchet relies on"},
    {"ssl.engine.location", "an engine is a library, which could change behaviour that Ratchet relies on"},
    {"test.mock.num.brokers", "use ratchet demo, or tools/kafka, for a broker to try things out"},
    {"consume.callback.max.messages", "Ratchet polls by itself"},
    {"transactional.id", "Ratchet publishes without transactions: what it repeats has the same id"},
    {"enable.idempotence", "Ratchet publishes with it, so that messages of a key stay in order"},
    {"acks", "Ratchet waits for all in-sync replicas: a message leaves the outbox once it is safe"},
    {"request.required.acks",
     "Ratchet waits for all in-sync replicas: a message leaves the outbox once it is safe"},
    {"message.timeout.ms", "Ratchet never gives a message up: the outbox keeps it until it is delivered"},
    {"delivery.timeout.ms", "Ratchet never gives a message up: the outbox keeps it until it is delivered"},
    {"retries", "Ratchet never gives a message up: the outbox keeps it until it is delivered"},
    {"message.send.max.retries",
     "Ratchet never gives a message up: the outbox keeps it until it is delivered"},
    {"delivery.report.only.error", "Ratchet needs the report of each message"},
};

constexpr std::string_view k_assignors = "range, roundrobin";

}  // namespace

std::optional<std::string> refused_property(std::string_view name, std::string_view value) {
  for (const owned_property& owned : k_owned) {
    if (owned.name == name) return std::string{owned.why};
  }
  if (name.size() > 3 && name.substr(name.size() - 3) == "_cb") return "it is a callback, not a setting";
  if (name == "isolation.level" && value != "read_committed") {
    return "only read_committed: offsets of open transactions must not be taken for handled ones";
  }
  if (name == "partition.assignment.strategy" && value != "range" && value != "roundrobin") {
    return "only one of " + std::string{k_assignors} +
           ": the cooperative assignor loses partitions in this librdkafka";
  }
  if (name == "partitioner" && value == "random")
    return "it scatters the messages of a key, and with them their order; leave it out for Java's partitions";
  return std::nullopt;
}

}  // namespace ratchet
