// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/source.hpp"
#include "sim/pair/cluster.hpp"
#include "sim/pair/judge.hpp"
#include "sim/pair/setting.hpp"

namespace ratchet::pair_sim {

/// A process's client: a member of the group, and a reader of the input.
class group_source final : public source {
 public:
  group_source(cluster&, setting&, judge&, process_calls&, std::string name);

  [[nodiscard]] result<std::string> cluster_id(milliseconds) override;
  [[nodiscard]] result<std::vector<topic_partition>> partitions(std::span<const std::string>,
                                                                milliseconds) override;
  [[nodiscard]] result<std::vector<committed_offset>> committed(std::span<const topic_partition>,
                                                                milliseconds) override;
  [[nodiscard]] result<std::vector<group_member>> members(milliseconds) override;
  [[nodiscard]] std::vector<result<log_bounds>> bounds(std::span<const topic_partition>,
                                                       milliseconds) override;
  [[nodiscard]] std::vector<result<std::optional<owned_record>>> read_at(std::span<const position>,
                                                                         milliseconds) override;
  [[nodiscard]] result<void> join(std::span<const std::string>) override;
  [[nodiscard]] result<void> assign(std::span<const position>) override;
  [[nodiscard]] result<void> unassign() override;
  [[nodiscard]] result<void> pause(std::span<const topic_partition>) override;
  [[nodiscard]] result<void> resume(std::span<const topic_partition>) override;
  [[nodiscard]] result<polled> poll(std::size_t most, milliseconds) override;
  void wake() noexcept override {}
  [[nodiscard]] result<void> commit(std::span<const commit_request>) override;
  [[nodiscard]] result<void> commit_and_wait(std::span<const commit_request>, milliseconds) override;
  [[nodiscard]] std::optional<std::uint32_t> generation() const override { return heard_generation_; }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return 0; }
  void close(milliseconds) noexcept override;

  /// Its process runs: librdkafka's own thread beats, whatever the owner's is at.
  void beat() const {
    if (client_->is_member) of_.group.beat(*client_);
  }

 private:
  struct reading {
    std::int64_t next{0};
    bool paused{false};
  };
  [[nodiscard]] std::error_code take(std::span<const commit_request>);
  [[nodiscard]] std::unique_ptr<record_batch> collect(std::size_t most);

  cluster& of_;
  setting& in_;
  judge& judge_;
  process_calls& calls_;
  std::shared_ptr<group_client> client_;
  std::map<std::size_t, reading> reading_;
  std::optional<std::uint32_t> heard_generation_;
  std::optional<std::vector<commit_request>> under_way_;
};

}  // namespace ratchet::pair_sim
