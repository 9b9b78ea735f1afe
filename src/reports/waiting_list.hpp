// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/waiting.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "reports/wait_explanation.hpp"
#include "text/byte_sink.hpp"

/// `ratchet waiting list` and `ratchet waiting show`. An event: see wait_explanation.hpp; show adds
///
///     "type": TEXT | null, "tombstone": BOOL, "last_attempt": TIME | null, "record_time": TIME | null,
///     "key": TEXT | null, "headers": [{"name": TEXT, "value": TEXT | null}], "value": TEXT | null,
///     "payload": JSON | null
///
/// with `key_base64`, `value_base64` where the bytes are not UTF-8, and `payload_base64` where they are not
/// JSON. Rejected records can be listed the same way: see rejected_list.hpp.
namespace ratchet {

/// Which waiting events are wanted: those that fit everything that is given.
struct waiting_filter {
  std::optional<std::string> aggregate{};
  bool rejected{false};  ///< the rejected records that are kept, in place of what waits; without `state`
  std::optional<waiting_state> state{};    ///< as shown: those of a held aggregate are dead
  std::string reason{};                    ///< the name of one, or a part of the error; empty: any
  std::optional<timestamp> seen_before{};  ///< first_seen is at or before it
  std::optional<timestamp> from{};         ///< time is at or behind it; one without a time does not fit
  std::optional<timestamp> to{};           ///< time is before it
  std::optional<ratchet::sequence> sequence{};
  std::optional<std::uint64_t> limit{};  ///< so many at most
  /// Those behind this aggregate and sequence, which need not be there.
  std::optional<std::pair<std::string, ratchet::sequence>> after{};
  std::optional<kept_rejected::position> after_position{};  ///< of rejected records the same
  friend bool operator==(const waiting_filter&, const waiting_filter&) = default;
};

/// As words of a request, each KEY=VALUE.
[[nodiscard]] std::vector<std::string> to_words(const waiting_filter&);
/// None where one of them is no such word.
[[nodiscard]] std::optional<waiting_filter> parse_filter(std::span<const std::string> words);

/// Called for each event; `story` is null for one that does not fit. False: no more is wanted.
using visit_waiting =
    std::function<bool(std::string_view aggregate, const waiting_event&, const wait_story* story)>;
/// Walks through a stream's events in the order of aggregate and sequence; the filter's limit is not looked
/// at. Errors: state_damaged; of the store.
[[nodiscard]] result<void> each_waiting(const store_view&, const named_stream&, const waiting_filter&,
                                        const visit_waiting&);

struct waiting_listed {
  std::uint64_t shown{0};
  bool more{false};   ///< others fit, and the limit left them out
  bool wanted{true};  ///< false: the sink wants no more
  std::string last;   ///< shown, as `--after` takes it
};

/// Writes the events of a stream that fit, in the order of aggregate and sequence, in pieces of about 64 KiB:
/// a line each, JSON or for people. Memory is bounded by one event and one piece. Rejected records, where the
/// filter says so, in the order of position.
/// Errors: state_damaged; of the store, maybe after a part of the answer.
[[nodiscard]] result<waiting_listed> list_waiting(const store_view&, const named_stream&,
                                                  const waiting_filter&, bool json, const byte_sink&);

/// One event, whole: a JSON object and a line feed, or lines for people. Errors: not_found; state_damaged; of
/// the store.
[[nodiscard]] result<std::string> show_waiting(const store_view&, const named_stream&,
                                               const std::string& aggregate, sequence, bool json);

}  // namespace ratchet
