// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/error.hpp"
#include "ratchet/types.hpp"
#include "workload/workload_random.hpp"

/// Made-up streams of payment statuses: out of order, with repeats, late events and bad records, as the real
/// ones are. For `gen`, `demo`, `bench` and the crash test.
namespace ratchet {

struct workload_dials {
  std::uint64_t events{200'000};     ///< records in all: repeats and malformed ones are among them
  std::uint32_t aggregates{20'000};  ///< payments
  /// By this share of the stream every payment had its first event; more than 0, at most 1.
  double introduction{0.7};
  double zipf{0.9};            ///< exponent of how unevenly payments get events; 0: evenly
  double duplicates{0.2};      ///< share of the records that repeat an earlier one, byte for byte
  double late{0.1};            ///< share of the new events that come after a newer one of their payment
  std::uint32_t delay{5'000};  ///< how many records after its place a late event or a repeat comes at most
  bool withhold{false};        ///< each payment's first event comes at the end, behind all the others
  double malformed{0.0};       ///< share of the records that cannot be decoded; at most 0.5
  double conflicts{0.0};       ///< share that claims a number that another event has already
  std::uint32_t size{420};     ///< bytes of a value, about; what does not fit is not cut
  std::uint64_t seed{42};
  timestamp start{};   ///< the time of the first record
  double rate{100.0};  ///< records in a second of the stream's own time
};

/// What a record is, seen from the side that made it.
enum class workload_kind : std::uint8_t { fresh, late, repeat, conflict, malformed };

/// An event before it is written out. Equal events are written as equal bytes.
struct workload_event {
  std::uint32_t payment{0};  ///< 0 … aggregates - 1
  std::uint64_t number{0};   ///< its sequence, from 1
  event_id id;               ///< a UUIDv7
  timestamp occurred_at{};
  std::uint8_t defect{0};  ///< 0: well-formed; else what is wrong with it
};

struct workload_record {
  workload_kind kind{workload_kind::fresh};
  workload_event event;
  timestamp time{};  ///< the record's own time; never goes backwards
};

/// Draws the records of a stream one after the other, always the same ones from the same dials.
/// Memory: O(aggregates + delay). Thread-safety: one thread at a time; render() and key() from any.
class workload_stream {
 public:
  /// Errors: usage, with the dial that is out of its range.
  [[nodiscard]] static reported<workload_stream> make(const workload_dials&);

  /// The next record, or false where all dials.events were drawn.
  [[nodiscard]] bool next(workload_record& out);

  [[nodiscard]] const workload_dials& dials() const noexcept { return dials_; }
  [[nodiscard]] std::uint64_t drawn() const noexcept { return drawn_; }

  /// The record's key and its aggregate id: "p" and eight digits.
  [[nodiscard]] static std::string key(const workload_event&);
  /// Appends the record's value.
  void render(const workload_event&, std::string& out) const;
  /// Appends the value's member `payment`: what a snapshot of the payment is to be.
  void render_payment(const workload_event&, std::string& out) const;

 private:
  explicit workload_stream(const workload_dials&);

  struct held {
    std::uint64_t due{0};
    workload_event event;
    friend bool operator<(const held& a, const held& b) {
      return a.due > b.due;
    }  // a heap's top is the earliest
  };

  [[nodiscard]] workload_event new_event(std::uint32_t payment, timestamp now);
  [[nodiscard]] std::uint32_t choose_payment();
  [[nodiscard]] const workload_event& earlier();
  void draw_new(workload_record& out);
  void remember(const workload_event&);
  void release_held(workload_record& out);
  void conflict_with_earlier(workload_record& out);
  void spoil(workload_record& out);

  workload_dials dials_;
  workload_random random_;
  std::vector<std::uint64_t> last_number_;  ///< by payment
  std::uint32_t introduced_{0};             ///< payments that had an event; the next one is this index
  std::uint64_t drawn_{0};
  std::vector<held> held_;              ///< a heap: late events that wait for their place
  std::vector<workload_event> recent_;  ///< a ring: what can be repeated
  std::size_t recent_next_{0};
};

/// The partition that Kafka's own Java client gives a record with this key (murmur2).
[[nodiscard]] std::uint32_t workload_partition(std::string_view key, std::uint32_t partitions) noexcept;

}  // namespace ratchet
