// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ports/source.hpp"

namespace ratchet {

/// A partition that the group gave, and that cannot be read now: its brokers are asked until they answer.
struct held_partition {
  std::string why;
  std::chrono::steady_clock::time_point since;
  bool answered{false};  ///< the brokers have, since it was looked at last
};

/// Which partitions there are, which of them the group gave to this instance, and how each of those stands:
/// assigned (with its next offset), held, or stopped. Asks nobody and writes nothing. Thread-safety: the
/// owner's thread.
///
/// A partition that is held is not assigned. One that is stopped may be either: it keeps its place, and
/// nothing more of it is read.
class partition_set {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // All that the topics have.
  /// In order.
  [[nodiscard]] const std::vector<topic_partition>& all() const noexcept { return all_; }
  void know(std::vector<topic_partition>);
  /// Partitions may be added to a topic at any time.
  void know_more(std::span<const topic_partition>);

  // Assigned.
  [[nodiscard]] const std::map<topic_partition, std::int64_t>& assigned() const noexcept { return assigned_; }
  [[nodiscard]] std::vector<topic_partition> names_of_assigned() const;
  [[nodiscard]] bool is_assigned(const topic_partition& where) const { return assigned_.contains(where); }
  /// It is assigned, and not stopped.
  [[nodiscard]] bool is_read(const topic_partition& where) const {
    return is_assigned(where) && !is_stopped(where);
  }
  /// It is assigned from now on, and not held any more.
  void assign(const position&);
  /// The next offset of one that is assigned.
  void note(const position&);
  /// How many of all are not assigned: others hold them, or nobody.
  [[nodiscard]] std::size_t missing() const noexcept;

  // Held.
  enum class was : std::uint8_t { held, assigned, neither };
  /// It is held from now on, for this reason. What it was: where it was held already, its reason stays, and
  /// it is asked about anew.
  was hold(const topic_partition&, std::string_view why, time_point now);
  [[nodiscard]] const std::map<topic_partition, held_partition>& held() const noexcept { return held_; }
  [[nodiscard]] bool is_held(const topic_partition& where) const { return held_.contains(where); }
  /// Why it is held is known better. False: it is not held, or that is what was known.
  bool set_why(const topic_partition&, std::string_view why);
  /// Its brokers answered; nothing where it is not held.
  void note_answer(const topic_partition&);
  /// Those whose brokers have answered; each counts once.
  [[nodiscard]] std::vector<topic_partition> take_answered();
  [[nodiscard]] bool all_held_answered() const;
  /// Those that were held since then or before.
  [[nodiscard]] std::vector<topic_partition> held_since(time_point) const;
  /// No longer held. Why it was: empty where it was not.
  std::string release(const topic_partition&);
  void release_all() { held_.clear(); }

  // Stopped.
  [[nodiscard]] const std::set<topic_partition>& stopped() const noexcept { return stopped_; }
  [[nodiscard]] bool is_stopped(const topic_partition& where) const { return stopped_.contains(where); }
  void stop(const topic_partition&);

  /// Nothing is assigned or stopped any more. What is held stays.
  void forget();
  /// The group took back what it gave: nothing is assigned or held any more.
  void give_back();
  /// Whatever the group gave, and what is stopped: to be shown as this instance's.
  [[nodiscard]] std::set<topic_partition> given() const;
  /// The others: the group gave them to somebody else, or to nobody. In order.
  [[nodiscard]] std::vector<topic_partition> not_given() const;

 private:
  std::vector<topic_partition> all_;
  std::map<topic_partition, std::int64_t> assigned_;
  std::map<topic_partition, held_partition> held_;
  std::set<topic_partition> stopped_;
};

}  // namespace ratchet
