// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ratchet/error.hpp"
#include "workload/workload_oracle.hpp"
#include "workload/workload_random.hpp"

namespace ratchet {

/// What is to be run, and killed.
struct campaign_plan {
  std::filesystem::path binary;     ///< `ratchet` itself
  std::filesystem::path directory;  ///< exists; gets the config and the logs of the runs
  std::filesystem::path state;      ///< does not exist yet
  std::string brokers;              ///< "host:port,host:port"
  std::string topic;                ///< holds the whole stream, from its first record
  std::string group;
  std::map<std::string, std::string> properties;  ///< librdkafka's, for the consumer
  std::uint32_t kills{5};
  std::uint32_t bounces{0};                  ///< how often `bounce` is called while records flow
  std::function<reported<void>()> bounce{};  ///< kills the broker and starts it again; returns when it is up
  bool restore{false};                       ///< lose the state directory once, and restore a checkpoint
  std::uint64_t seed{42};                    ///< of the moments
  std::size_t step_records{5'000};
  std::chrono::milliseconds restart_delay{0};  ///< from a kill to the next start, at least
  bool verify{false};                          ///< run `ratchet verify` after each kill
};

/// One SIGKILL. Offsets are summed over the partitions, so that they count the records of the topic.
struct campaign_kill {
  std::uint64_t delivered{0};   ///< where the consumer had come when it was killed
  std::uint64_t stored{0};      ///< what its state had got of that
  std::uint64_t read_again{0};  ///< delivered, but not stored: the next run reads them once more
};

/// One loss of the state directory. Offsets are summed over the partitions.
struct campaign_restore {
  std::uint64_t taken{0};  ///< the stored offset in the checkpoint
  std::uint64_t lost{0};   ///< where the consumer had come when its directory was lost
};

struct campaign_outcome {
  std::vector<campaign_kill> kills;    ///< those that landed while records flowed
  std::vector<std::uint64_t> bounces;  ///< where the consumer had come when the broker went
  std::optional<campaign_restore> restore;
  std::uint32_t runs{0};
  std::uint32_t missed{0};               ///< those that did not; they were repeated
  workload_ledger ledger;                ///< of all runs together, as the state has it
  std::uint64_t records_read{0};         ///< by all runs, those read again counted again
  std::chrono::duration<double> flow{};  ///< the time in which records flowed
  std::string fault;                     ///< empty: the state and the ledger are right
  std::string verdict;                   ///< "state is right: 20000 of 20000 aggregates", or what differs
};

/// How the caller follows it. All may be empty.
struct campaign_watch {
  std::function<void(std::uint64_t delivered)> progress;  ///< often
  std::function<void(const campaign_kill&)> killed;
  std::function<void(std::uint64_t delivered)> bounced;
  std::function<void(const campaign_restore&)> restored;
  std::function<bool()> stop;  ///< true: give up, as errc::aborted
};

/// Runs `ratchet run --until-end` on the topic, kills it with SIGKILL at random moments while records flow,
/// starts it again each time, lets the last run come to the end, and compares its state with the oracle's. A
/// kill counts where records had been delivered that were not stored, and more were to come. Between the
/// kills the broker goes away and comes back, and once the state directory is lost: a checkpoint that was
/// taken of the running consumer is put in its place, must be refused as a copy, and goes on with `--resume
/// takeover`. Errors: check_failed, where a run, a checkpoint or `verify` fails, or a stored offset went
/// back; aborted; io; those of reading the state and of `bounce`. Wrong state is no error but an outcome with
/// a fault.
[[nodiscard]] reported<campaign_outcome> run_campaign(const campaign_plan&, const workload_oracle&,
                                                      const campaign_watch& = {});

/// Offsets by partition of the campaign's topic.
using partition_offsets = std::map<std::int32_t, std::int64_t>;

/// Reads what a run with RATCHET_TRACE_DELIVERED=1 left in its state directory: the next offset that was
/// delivered, by partition. Lines that are not whole are left out.
[[nodiscard]] partition_offsets read_delivered(const std::filesystem::path& state);

}  // namespace ratchet
