// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ratchet/error.hpp"

namespace ratchet {

/// librdkafka's mock cluster: it speaks Kafka's protocol on real sockets, so that other processes can connect
/// too, and it is gone with this object. For demos and quick tests; no proof about a real broker. Its limits:
/// - about 5 MB a partition are kept, and older records are dropped in silence: a producer has to stay within
///   that distance of its consumer. 64 partitions with lz4 hold 2 million records of 400 bytes;
/// - the first join of a group takes about 3 s, a later rebalance about a session time-out;
/// - no log compaction, no DeleteRecords, no offsets by time, no fencing of transactions; topics come from
///   create_topic() only;
/// - members with different assignors abort the process.
/// Thread-safety: one owner thread; clients may connect at any time.
class embedded_broker {
 public:
  [[nodiscard]] static result<std::unique_ptr<embedded_broker>> start(int brokers = 1);
  embedded_broker(const embedded_broker&) = delete;
  embedded_broker& operator=(const embedded_broker&) = delete;
  ~embedded_broker();

  /// "127.0.0.1:PORT", with commas between several.
  [[nodiscard]] std::string bootstrap() const;
  [[nodiscard]] result<void> create_topic(const std::string& topic, int partitions);

  /// The partition has no leader, as where its only broker is away; `true`: it has one again.
  [[nodiscard]] result<void> set_led(const std::string& topic, int partition, bool is_led);
  /// The next `count` requests of this kind (Kafka's number of it) are answered with this error of Kafka's.
  void answer_with(std::int16_t api, int error, std::size_t count);
  /// What answer_with() left over is forgotten.
  void answer_truly(std::int16_t api);

  /// Takes the brokers down, or up again: connections are closed and refused meanwhile.
  [[nodiscard]] result<void> set_down();
  [[nodiscard]] result<void> set_up();

 private:
  struct cluster;
  explicit embedded_broker(std::unique_ptr<cluster>);
  std::unique_ptr<cluster> self_;
};

}  // namespace ratchet
