// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/output.hpp"
#include "core/resume.hpp"
#include "core/stream_state.hpp"
#include "ports/store.hpp"

/// The audit rows that a start leaves: what was found, and what was done about it, in one sentence each.
namespace ratchet {

/// Of one partition. Kind: "resume_" and the row's name, or "resume_takeover" where the row has nothing to
/// tell of a directory that took over. `stream` may be empty.
[[nodiscard]] audit_row audit_of_resume(const resume_decision&, const resume_facts&, const topic_partition&,
                                        const std::string& stream, timestamp now);

/// "state_rebuilt": this directory was made in place of another one, for what was found.
[[nodiscard]] audit_row audit_of_rebuild(const std::string& why, const std::string& kept_in, timestamp now);

/// "stream_started_over": its meaning changed before it held anything.
[[nodiscard]] audit_row audit_of_restarted_stream(const restarted_stream&, timestamp now);

/// "topic_left": a stream's config does not name the topic any more, and so many of its partitions had held
/// the window back.
[[nodiscard]] audit_row audit_of_topic_left(const std::string& stream, const std::string& topic,
                                            std::size_t partitions, timestamp now);

/// "copy_opened": the first opening of a checkpoint for writing.
[[nodiscard]] audit_row audit_of_first_opening(const copy_mark&, std::uint64_t outbox_epoch, timestamp now);

/// "cluster_changed": the state goes on with another cluster, as the option says.
[[nodiscard]] audit_row audit_of_other_cluster(const std::string& before, const std::string& now_read,
                                               resume_option, timestamp now);

/// "copy_started": a checkpoint became a store of its own, since nobody had claimed the group for it.
/// "copy_taken_over": since it was told to.
[[nodiscard]] audit_row audit_of_copy(const copy_mark&, bool taken_over, timestamp now);

/// "sink_discarded": what waited for a sink was thrown away, as the config says.
[[nodiscard]] audit_row audit_of_discarded_lane(const std::string& sink, const outbox_state& waiting,
                                                timestamp now);

/// "output_skipped": an operator passed over a message that its sink refused.
[[nodiscard]] audit_row audit_of_skipped_output(const output_row&, std::string stream, const std::string& why,
                                                timestamp now);

/// "output_given_up": nobody takes this message, of a stream by name.
[[nodiscard]] audit_row audit_of_output_given_up(const output_row&, std::string stream,
                                                 const std::string& why, timestamp now);

}  // namespace ratchet
