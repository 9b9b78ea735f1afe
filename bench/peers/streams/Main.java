// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.Stores;

/**
 * The work as a Kafka Streams application: exactly_once_v2, with two state stores whose changelog topics are what
 * makes the state durable.
 */
public final class Main {
  private Main() {}

  public static void main(String[] words) throws Exception {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i + 1 < words.length; i += 2) given.put(words[i], words[i + 1]);
    long records = Long.parseLong(given.get("--records"));
    String group = given.get("--group");
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (KafkaStreams streams = new KafkaStreams(topology(given), settings(given));
        Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", given.get("--brokers")))) {
      streams.setUncaughtExceptionHandler(thrown -> {
        failure.set(thrown);
        return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse
            .SHUTDOWN_CLIENT;
      });
      streams.start();
      while (PaymentStates.handled() < records) {
        if (failure.get() != null) throw new IllegalStateException(failure.get());
        Thread.sleep(5);
      }
      while (committed(admin, group) < records) Thread.sleep(5);
      long durable = System.nanoTime();
      print(streams, (durable - PaymentStates.firstNanos) / 1e9, cpuSeconds());
    }
  }

  static Topology topology(Map<String, String> given) {
    boolean memory = !"rocksdb".equals(given.get("--stores"));
    Topology topology = new Topology();
    topology.addSource("events", Serdes.ByteArray().deserializer(), Serdes.ByteArray().deserializer(), given.get("--topic"));
    topology.addProcessor("states", PaymentStates::new, "events");
    topology.addStateStore(
        Stores.keyValueStoreBuilder(supplier(memory, PaymentStates.IDS), Serdes.Bytes(), Serdes.ByteArray())
            .withCachingDisabled() // each is written once
            .withLoggingEnabled(Map.of()),
        "states");
    topology.addStateStore(
        Stores.keyValueStoreBuilder(supplier(memory, PaymentStates.STATES), Serdes.Bytes(), Serdes.ByteArray())
            .withCachingEnabled() // only the newest state of a commit interval goes to the changelog
            .withLoggingEnabled(Map.of()),
        "states");
    return topology;
  }

  private static KeyValueBytesStoreSupplier supplier(boolean memory, String name) {
    return memory ? Stores.inMemoryKeyValueStore(name) : Stores.persistentKeyValueStore(name);
  }

  static Properties settings(Map<String, String> given) {
    Properties p = new Properties();
    p.put(StreamsConfig.APPLICATION_ID_CONFIG, given.get("--group"));
    p.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, given.get("--brokers"));
    p.put(StreamsConfig.STATE_DIR_CONFIG, given.get("--state"));
    p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, given.getOrDefault("--commit-interval-ms", "100"));
    p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, given.getOrDefault("--threads", "2"));
    p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 128L << 20);
    p.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    p.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, given.getOrDefault("--standby-replicas", "0"));
    if (given.containsKey("--session-timeout-ms")) {
      p.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), given.get("--session-timeout-ms"));
      p.put(StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), given.get("--heartbeat-interval-ms"));
    }
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 5_000);
    p.put(StreamsConfig.consumerPrefix(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG), 10);
    p.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, 10_000);
    p.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), "lz4");
    p.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), 256 << 10);
    p.put(StreamsConfig.producerPrefix(ProducerConfig.BUFFER_MEMORY_CONFIG), 128L << 20);
    p.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 20);
    return p;
  }

  static long committed(Admin admin, String group) throws Exception {
    long sum = 0;
    for (OffsetAndMetadata offset : admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().values()) {
      sum += offset.offset();
    }
    return sum;
  }

  private static double cpuSeconds() {
    return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime() / 1e9;
  }

  private static long mostResidentBytes() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
    }
    return 0;
  }

  /** Of the stores of all tasks that are active here, as one JSON object: rows, and the digest of their states. */
  static String digest(KafkaStreams streams) {
    long rows = 0;
    long digest = 0;
    CRC32 crc = new CRC32();
    var store = streams.store(StoreQueryParameters.fromNameAndType(
        PaymentStates.STATES, QueryableStoreTypes.<Bytes, byte[]>keyValueStore()));
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      while (all.hasNext()) {
        KeyValue<Bytes, byte[]> row = all.next();
        crc.reset();
        crc.update(row.key.get());
        crc.update('\t');
        crc.update(row.value, 8, row.value.length - 8);
        digest += crc.getValue();
        ++rows;
      }
    }
    return "{\"aggregates\":" + rows + ",\"digest\":" + digest + "}";
  }

  private static void print(KafkaStreams streams, double seconds, double cpu) throws Exception {
    String digest = digest(streams);
    long records = PaymentStates.handled();
    System.out.printf(Locale.ROOT,
        "{\"records\":%d,\"seconds\":%.6f,\"per_second\":%.1f,\"cpu_seconds\":%.3f,\"max_rss_bytes\":%d,\"counters\":"
            + "{\"applied\":%d,\"duplicate\":%d,\"stale\":%d,\"malformed\":%d},%s%n",
        records, seconds, records / seconds, cpu, mostResidentBytes(), PaymentStates.applied.get(),
        PaymentStates.duplicate.get(), PaymentStates.stale.get(), PaymentStates.malformed.get(), digest.substring(1));
    streams.close(Duration.ofSeconds(20));
  }
}
