// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "consumer/base_voucher.hpp"
#include "ports/replica.hpp"
#include "ports/slot_log.hpp"
#include "ratchet/error.hpp"
#include "replicate/base_reader.hpp"

namespace ratchet {

/// Brings a replica that the log does not lead on from to where the log begins: it reads the first base that
/// is whole, and that the log vouches for, into it. Lives as long as that takes. Thread-safety: one owner
/// thread.
class slot_restore {
 public:
  enum class progress : std::uint8_t {
    reading,
    complete,  ///< the replica is at content().at
    none,      ///< no base of the topic is of use
  };

  /// `bases`: the topic of the bases. `rules`: those of the log's readers.
  slot_restore(slot_log& log, slot_log& bases, replica& store, const replicate::base_reader_options& options,
               const replicate::reader_options& rules)
      : log_{log},
        bases_{bases},
        rules_{rules},
        store_{store},
        options_{options},
        reader_{options},
        is_trial_{store.position().has_value()} {}

  /// Does what can be done without waiting. Errors: topic_missing, which passes; what the store could not do,
  /// and what the log's client could not.
  [[nodiscard]] result<progress> turn();
  /// The last turn had something to read.
  [[nodiscard]] bool is_under_way() const { return has_more_; }
  [[nodiscard]] std::optional<replicate::refusal> refused() const { return reader_.refused(); }
  [[nodiscard]] const replicate::base_content& content() const { return reader_.content(); }
  /// Of rows that were read so far.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] result<progress> take(const slot_record&);
  [[nodiscard]] result<void> vouch();
  [[nodiscard]] result<void> begin();
  [[nodiscard]] result<progress> put(std::string_view rows);
  [[nodiscard]] result<progress> complete();
  void begin_again(std::int64_t offset);

  slot_log& log_;
  slot_log& bases_;
  replicate::reader_options rules_;
  replica& store_;
  replicate::base_reader_options options_;
  replicate::base_reader reader_;
  bool is_trial_;                        ///< an old state goes only for a base that was read to its end once
  std::optional<base_voucher> voucher_;  ///< while the log is asked for the base that is being read
  std::optional<replicate::log_position> vouched_;  ///< which the log goes on from
  std::optional<std::int64_t> next_;                ///< none: the topic's bounds are not known yet
  bool has_more_{false};
  std::uint64_t bytes_{0};
};

}  // namespace ratchet
