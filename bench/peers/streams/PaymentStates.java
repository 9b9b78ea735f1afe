// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/** Drops what was seen and what comes late; keeps the newest state of each aggregate. */
final class PaymentStates implements Processor<byte[], byte[], Void, Void> {
  static final String IDS = "ids";
  static final String STATES = "states";

  /** Right as long as nothing is handled twice, that is while no transaction is aborted. */
  static final AtomicLong applied = new AtomicLong();
  static final AtomicLong duplicate = new AtomicLong();
  static final AtomicLong stale = new AtomicLong();
  static final AtomicLong malformed = new AtomicLong();
  static volatile long firstNanos;

  private static final Map<Integer, AtomicLong> HANDLED_OF = new ConcurrentHashMap<>();
  private static final byte[] SEEN = {1};
  private KeyValueStore<Bytes, byte[]> ids;
  private KeyValueStore<Bytes, byte[]> states;
  private AtomicLong handledHere;

  static long handled() {
    return applied.get() + duplicate.get() + stale.get() + malformed.get();
  }

  /** By the partition that they are of. */
  static Map<Integer, AtomicLong> handledOf() {
    return HANDLED_OF;
  }

  @Override
  public void init(ProcessorContext<Void, Void> context) {
    ids = context.getStateStore(IDS);
    states = context.getStateStore(STATES);
    handledHere = HANDLED_OF.computeIfAbsent(context.taskId().partition(), partition -> new AtomicLong());
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    if (firstNanos == 0) firstNanos = System.nanoTime();
    handledHere.incrementAndGet();
    Event e = Event.parse(record.value());
    if (e == null) {
      malformed.incrementAndGet();
      return;
    }
    byte[] aggregate = e.aggregate.getBytes(StandardCharsets.UTF_8);
    Bytes id = Bytes.wrap(ByteBuffer.allocate(aggregate.length + 16)
        .put(aggregate)
        .putLong(e.id.getMostSignificantBits())
        .putLong(e.id.getLeastSignificantBits())
        .array());
    if (ids.get(id) != null) {
      duplicate.incrementAndGet();
      return;
    }
    Bytes key = Bytes.wrap(aggregate);
    byte[] last = states.get(key);
    if (last != null && e.sequence <= ByteBuffer.wrap(last).getLong()) {
      stale.incrementAndGet();
      return;
    }
    ids.put(id, SEEN);
    states.put(key, ByteBuffer.allocate(8 + e.snapshot.length).putLong(e.sequence).put(e.snapshot).array());
    applied.incrementAndGet();
  }
}
