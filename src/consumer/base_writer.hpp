// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ports/replica.hpp"
#include "ports/slot_log.hpp"
#include "ratchet/error.hpp"
#include "replicate/base_record.hpp"

namespace ratchet {

/// Writes one base: a copy of a replica, record by record. Thread-safety: one thread, which has the topic of
/// the bases for itself meanwhile.
class base_writer {
 public:
  /// `what`: but for the position, which is the copy's. `base` is drawn at random.
  base_writer(slot_log& to, std::unique_ptr<replica_copy> of, std::uint64_t base,
              replicate::base_content what);

  /// Appends what there is room for, at most so many bytes of rows, and takes reports. True: the brokers keep
  /// all of it. Errors: of the copy; of a record that was not taken: the base is given up.
  [[nodiscard]] result<bool> turn(std::size_t most_bytes);
  /// Of rows that were appended so far.
  [[nodiscard]] std::uint64_t bytes() const { return end_.bytes; }
  [[nodiscard]] const replicate::base_end& end() const { return end_; }
  /// Once it is written: where its first record is. None: the brokers did not say.
  [[nodiscard]] std::optional<std::int64_t> begun_at() const { return begun_at_; }

 private:
  void append(std::string record);
  [[nodiscard]] replicate::base_head head(replicate::base_kind) const;
  [[nodiscard]] result<bool> append_part();

  slot_log& to_;
  std::unique_ptr<replica_copy> of_;
  std::uint64_t base_;
  replicate::base_end end_;
  std::string rows_;  ///< read, and not appended yet from `cut_` on
  std::size_t cut_{0};
  std::uint64_t appended_{0};  ///< records
  std::uint64_t reported_{0};
  bool is_ended_{false};
  std::optional<std::int64_t> begun_at_;
};

}  // namespace ratchet
