// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/config_text.hpp"

#include "app/config_values.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_template =
    R"(# A config for ratchet. Check it with:  ratchet validate -c ratchet.yaml
# It is read strictly: a key that is unknown, given twice or of the wrong type is an error. Every key of this
# version is here; what is commented out shows its default, and what needs no default says so.
# One value can be overridden on the command line: --set streams[0].start=latest, -X fetch.wait.max.ms=100
version: 1

kafka:                            # may be left out where no stream has topics (ratchet apply alone)
  brokers: [localhost:9092]
  group: payments-read-model      # the consumer group; it belongs to this state directory alone
  properties: {}                  # librdkafka's own, as in {session.timeout.ms: 45000, security.protocol: ssl}.
                                  # A secret: sasl.password: {file: /run/secrets/kafka}, or {env: KAFKA_PASSWORD}
  # connect_timeout: 30s          # how long a start waits for the brokers' first answer

state:
  path: ratchet-state             # a directory; a relative path starts at the working directory
  # commit_interval: 100ms        # how long a power cut may send the position back: 1ms to 1m
  # sync: interval                # interval: sync once per commit interval. every-step: after each step
  # min_free: 512MiB              # with less free on the disk nothing is consumed until there is room; or off.
                                  # Default: half of memory_limit, but at most a tenth of the file system

streams:
  - name: payments                # what get, scan and status call it
    topics: [payment-status]      # a topic feeds one stream. Leave it out to feed the stream by ratchet apply
    start: earliest               # earliest | latest: where a partition begins that nobody has read yet
    envelope:                     # a field comes from /a/json/pointer, key or header:NAME
      # format: json
      aggregate: /payment/id      # which payment the event speaks of; 1 to 1024 bytes
      event_id: /id               # not needed with dedup: off
      sequence: /sequence         # a number that grows with each event of one payment; not read with order: arrival.
                                  # {from: /sequence, bits: 128} for numbers above 2^64-1
      # epoch: /epoch             # compared before the sequence; without it 0
      type: /type                 # optional; reducers see it
      time: /occurred_at          # optional; RFC 3339 or milliseconds since 1970
    # order: latest               # latest: events carry full state, the newest sequence wins
                                  # arrival: no sequence, each event id is applied once as it comes
    # dedup: {ids: uuidv7, window: 24h, max_skew: 5m}   # or off, with order: latest
    reducer:
      kind: replace               # replace: the payload becomes the snapshot
                                  # merge_patch: it is merged into it (RFC 7396); with order: arrival
      from: /payment              # the part of the value that is the payload; without it the whole value
    # poison: 100                 # so many malformed records in a row stop a partition; or off

# step: {records: 20000}          # the most records of one atomic write, over all streams
# http: {listen: 127.0.0.1:9187}  # answers /livez, /readyz and /metrics while it runs; without it nothing listens
# memory_limit: 1GiB              # indexes, caches, memtables and the prefetch queue together; 64MiB or more
)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string_view config_template() noexcept {
  return k_template;
}

std::string describe(const stream_config& stream) {
  std::string text = stream.name + ": ";
  text += stream.topics.empty() ? "fed by ratchet apply" : "reads " + joined(stream.topics);
  text += "; aggregates by " + stream.envelope.aggregate;
  if (stream.order == order::latest) {
    text += "; the newest by " + stream.envelope.sequence + " wins";
  } else {
    text += "; each event once, as it arrives";
  }
  if (stream.dedup.ids == id_kind::none) {
    text += "; no event ids";
  } else {
    text += "; ids " + stream.envelope.event_id + " (uuidv7) remembered for " +
            format_duration(stream.dedup.window);
  }
  const std::string what = stream.reducer.from.empty() ? "the whole value" : stream.reducer.from;
  text += stream.reducer.kind == reducer_config::kind_of::merge_patch
              ? "; merges " + what + " into the snapshot"
              : "; keeps " + what;
  return text;
}

std::vector<std::string> limits_of(const stream_config& stream) {
  std::vector<std::string> limits;
  const std::string window = format_duration(stream.dedup.window);
  if (stream.order == order::latest) {
    limits.emplace_back(
        "an event that is older than the last one of its aggregate is discarded (stale): each event must "
        "carry "
        "the full state");
    if (stream.dedup.ids == id_kind::none) {
      limits.emplace_back(
          "two different events with the same sequence cannot be told apart: the second counts as a "
          "duplicate");
    } else {
      limits.push_back("an event id that is used again under a new sequence is noticed only within " +
                       window);
    }
  } else {
    limits.emplace_back("events of one aggregate that arrive in the wrong order are applied in that order");
    if (!stream.envelope.sequence.empty()) {
      limits.push_back("the sequence " + stream.envelope.sequence + " is not read with order: arrival");
    }
    limits.push_back("an event whose id is more than " + window +
                     " older than the stream is rejected (too_old): nobody can tell whether it was handled");
  }
  if (stream.poison == 0) {
    limits.emplace_back(
        "a wrong envelope or topic is not noticed by itself: malformed records never stop it");
  }
  if (!stream.topics.empty() && stream.start == start_position::latest) {
    limits.emplace_back("records from before the first start are never read");
  }
  return limits;
}

std::string to_text(const http_config& http) {
  const bool v6 = http.host.find(':') != std::string::npos;
  return (v6 ? "[" + http.host + "]" : http.host) + ":" + std::to_string(http.port);
}

}  // namespace ratchet
