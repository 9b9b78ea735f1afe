// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.LagInfo;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;

/**
 * One member of a group of several, each with standbys of the others' tasks. It works until its input ends, and answers
 * each line of its input with a line of JSON.
 */
public final class Member {
  private Member() {}

  public static void main(String[] words) throws Exception {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i + 1 < words.length; i += 2) given.put(words[i], words[i + 1]);
    KafkaStreams streams = new KafkaStreams(Main.topology(given), Main.settings(given));
    streams.setUncaughtExceptionHandler(thrown -> {
      thrown.printStackTrace();
      return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse
          .SHUTDOWN_CLIENT;
    });
    streams.start();
    try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", given.get("--brokers")));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println(switch (line) {
          case "status" -> status(streams);
          case "committed" -> "{\"committed\":" + Main.committed(admin, given.get("--group")) + "}";
          case "lags" -> lags(streams);
          case "digest" -> Main.digest(streams);
          default -> "{}";
        });
      }
    }
    Runtime.getRuntime().halt(0); // what is measured is over
  }

  /** The partitions whose tasks are active here, and how many records of each were handled. */
  private static String status(KafkaStreams streams) {
    TreeSet<Integer> active = new TreeSet<>();
    TreeSet<Integer> standby = new TreeSet<>();
    for (ThreadMetadata thread : streams.metadataForLocalThreads()) {
      for (TaskMetadata task : thread.activeTasks()) active.add(task.taskId().partition());
      for (TaskMetadata task : thread.standbyTasks()) standby.add(task.taskId().partition());
    }
    String handled = PaymentStates.handledOf().entrySet().stream()
        .map(e -> "\"" + e.getKey() + "\":" + e.getValue())
        .collect(Collectors.joining(","));
    return String.format(Locale.ROOT, "{\"state\":\"%s\",\"active\":%s,\"standby\":%s,\"handled\":{%s}}", streams.state(),
        active, standby, handled);
  }

  /** Of all stores that are here, active or not: how many, how far they are, and how far they are behind. */
  private static String lags(KafkaStreams streams) {
    int stores = 0;
    long at = 0;
    long most = 0;
    for (Map<Integer, LagInfo> partitions : streams.allLocalStorePartitionLags().values()) {
      for (LagInfo lag : partitions.values()) {
        ++stores;
        at += lag.currentOffsetPosition();
        most = Math.max(most, lag.offsetLag());
      }
    }
    return "{\"stores\":" + stores + ",\"position\":" + at + ",\"most_behind\":" + most + "}";
  }
}
