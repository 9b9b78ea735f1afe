// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/text.hpp"

namespace ratchet {

namespace {

constexpr std::string_view k_template =
    R"(# A config for ratchet. Check it with:  ratchet validate -c ratchet.yaml
# Ratchet reads it strictly: a key that is unknown, set twice or of the wrong type is an error. All keys of this
# version are here. A key in a comment shows its default, or the comment after it has the default.
# The command line overrides a value: --set streams[0].start=latest, -X fetch.wait.max.ms=100
version: 1

kafka:                            # not needed if no stream reads or publishes to a topic
  brokers: [localhost:9092]
  group: payments-read-model      # the consumer group; it belongs to this state directory alone
  properties: {}                  # of librdkafka, as in {session.timeout.ms: 45000, security.protocol: ssl}.
                                  # A secret: sasl.password: {file: /run/secrets/kafka}, or {env: KAFKA_PASSWORD}
  # connect_timeout: 30s          # how long a start waits for the first answer of a broker

state:
  path: ratchet-state             # a directory; a relative path starts at the working directory
  # commit_interval: 100ms        # the most work that is read again after a power cut: 1ms to 1m
  # sync: interval                # interval: one sync per commit interval. every-step: a sync after each step
  # min_free: 512MiB              # with less free space on the disk Ratchet reads no records; or off.
                                  # Default: half of memory_limit, but at most a tenth of the file system
  # snapshot_bytes: 16MiB         # an event that needs a larger snapshot, or a larger row of a table, is dead

streams:
  - name: payments                # the name for get, scan and status
    topics: [payment-status]      # a topic feeds one stream. Leave it out to feed the stream by ratchet apply
    start: earliest               # earliest | latest: where a partition begins that has no offset yet
    envelope:                     # a field comes from /a/json/pointer, key or header:NAME
      # format: json              # or cloudevents, debezium-outbox, debezium-cdc, ydb-changefeed, which define the places
                                  # of their fields (docs/guides); in cloudevents a field is attribute:NAME, key or header:NAME
      aggregate: /payment/id      # the payment that the event is about; 1 to 1024 bytes. Several fields: [/tenant, /order],
                                  # for event_id too, with dedup: {ids: opaque}
      event_id: /id               # not needed with dedup: off
      sequence: /sequence         # a number that grows with each event of one payment; not read in order: arrival.
                                  # {from: /sequence, as: integer}, or as: decimal, time, lsn, hlc, ulid, uuidv7, text;
                                  # integers have bits: 64 | 128 and base: 10 | 16. Or the record's own: offset, timestamp
      # epoch: /epoch             # compared before the sequence; without it 0
      type: /type                 # optional; the type of the event
      time: /occurred_at          # optional; RFC 3339 or milliseconds since 1970; {from: /created, unit: s} for numbers of
                                  # seconds, also us and ns. A time without an offset is UTC
      # key: auto                 # the kind of keys, for fields that come from them: text, json, i32, i64 or uuid
      # each: /records            # for several events in a record: the pointer of their array. array: the value is one.
                                  # lines: NDJSON. Pointers then lead into the event, record:/pointer into the whole value
      # delete: {types: [payment.removed]}   # events that delete, beside null values; or {field: /__deleted, is: "true"}
    # order: latest               # latest: events carry the full state, the newest sequence wins
                                  # strict: every event in turn, n+1 after n; an early event waits
                                  # arrival: no sequence, each event id is applied once, in the order of arrival
                                  # These keys belong to strict, each with its default:
                                  #   first: 1             the first number of an aggregate: 0 | 1 | any. any takes the
                                  #                        lowest that comes and needs gap: {policy: skip}
                                  #   epoch_change: park   accept: the first number of a higher epoch may follow
                                  #   gap: {policy: wait}  or skip | stop after a timeout, by the time of records,
                                  #                        as in {policy: skip, timeout: 1h}
                                  # If an event covers a range of numbers: envelope: {previous: /pu}, the number before
                                  # the range, or sequence: {from: /u, first: /U}, its first number
    # ties: reject                # latest: two events with one number are a conflict. later: the later one wins
    # after_delete: refuse        # latest. restart: a deleted aggregate may begin again with 0 or 1
    # too_old: reject             # park: an event that is too old waits for an operator. That is older than the window
                                  # with arrival, and older than retention, of an unknown aggregate, with the others
    # handling: direct            # deferred: an event waits first, and its reducer runs in a later step, so a slow
                                  # reducer does not delay reading (docs/guides/inbox.md); not with latest
    # waiting: {per_aggregate: 10000, events: 1000000, bytes: 4GiB}   # how many events may wait, failed ones too:
                                  # then the aggregate is held for an operator, or the stream stops
    # retry: {attempts: 8, backoff: 200ms..5m}   # for an event whose reducer failed; then it is dead
    # dedup: {ids: uuidv7, window: 24h, max_skew: 5m}   # or ids: ulid, opaque; or off, but not with
                                  # arrival. Only arrival takes ids: monotonic, numbers that grow
    # retention: off              # as in 90d: Ratchet forgets an aggregate so long after its last event, by the time of
                                  # records; an older event that comes then is too old
    # record_times: checked       # a record time far ahead of its neighbours' counts once other records confirm it;
                                  # trusted: for a topic whose brokers set the times
    reducer:
      kind: replace               # replace: the payload becomes the snapshot
                                  # merge_patch: it is merged into the snapshot (RFC 7396); not with order: latest
                                  # flaky: like replace, but fails on purpose, to try failures out:
                                  #   fail: {type: paid, how: retry, times: 2}   retry | give_up | stop | throw
                                  # own: a class of the program that embeds Ratchet; only that program can run it:
                                  #   name: payment_state, version: 1, those of its reducer_traits
      from: /payment              # the part of the value that is the payload; without it the whole value
      # timeout: off              # a call that takes longer, as 5s, counts as failed
    # emit: [{types: [paid], topic: cashback, key: aggregate, payload: /amount, as: payment-paid}]
                                  # messages for the events that are applied, in the same write. Without types: all events;
                                  # without payload: all of it; without as: the type of the event.
                                  # key: aggregate, none, or a JSON Pointer into the payload
    # outputs: [cashback]         # topics that a reducer of your own may publish to; sinks as "sink:receipts"
    # tables: [{name: by-customer, key: text}]   # read models that a reducer of your own fills; key: text, bytes or
                                  # u64, which cannot change; ratchet get and scan read them with --table
    # rejected: {records: 1000, age: 7d}   # how many rejected records are kept, and for how long; age: off
    # types: [paid, refunded, payment.removed]   # the types of events that belong to the stream; all others are ignored.
                                  # ignore: [heartbeat] names those that do not; both need envelope.type
    # poison: 100                 # so many records in a row that cannot be decoded stop a partition; or off

# step: {records: 20000}          # the most records of one atomic write, over all streams
# sinks: [{name: receipts, http: {url: https://pay.example/receipts}}]
                                  # receivers of messages beside Kafka: emit: {sink: receipts}
# dead_letter: {topic: payments.dlq}       # gets a copy of each record that is rejected, or whose event is dead
# rejections: {topic: payments.rejections} # gets an answer to the sender of each rejected record, a CloudEvent;
                                  # a stream may have its own of both, also: off
# outbox: {bytes: 1GiB, message_bytes: 960KiB}   # Ratchet reads no records while more bytes wait to be sent; an event with
                                  # a larger message is dead. The topics must take as much (max.message.bytes)
# http: {listen: 127.0.0.1:9187}  # the address of /livez, /readyz and /metrics; without it no port is opened
# replicate: {topic: payments.ratchet, instance: ratchet-0}   # each step goes through this topic, and a second instance
                                  # with the same config and another name follows it and takes over
# memory_limit: 1GiB              # indexes, caches, memtables and the prefetch queue together; 64MiB or more
)";

}  // namespace

std::string_view config_template() noexcept {
  return k_template;
}

}  // namespace ratchet
