// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/null_source.hpp"

#include <utility>

#include "core/success.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_close_deadline{5'000};

[[nodiscard]] std::error_code unavailable() {
  return make_error_code(errc::source_unavailable);
}
}  // namespace

result<std::vector<topic_partition>> null_source::partitions(std::span<const std::string> topics,
                                                             std::chrono::milliseconds timeout) {
  const std::unique_ptr<source> client = ask_ ? ask_() : nullptr;
  if (!client) return unavailable();
  auto found = client->partitions(topics, timeout);
  complaint_ = client->take_complaint();
  client->close(k_close_deadline);
  return found;
}

result<polled> null_source::poll(std::size_t, std::chrono::milliseconds timeout) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, timeout, [this] { return woken_; });
  woken_ = false;
  return polled{};
}

void null_source::wake() noexcept {
  const std::scoped_lock lock{mutex_};
  woken_ = true;
  changed_.notify_one();
}

result<std::string> null_source::cluster_id(std::chrono::milliseconds) {
  return unavailable();
}
result<std::vector<committed_offset>> null_source::committed(std::span<const topic_partition>,
                                                             std::chrono::milliseconds) {
  return unavailable();
}
result<std::vector<group_member>> null_source::members(std::chrono::milliseconds) {
  return unavailable();
}
std::vector<result<log_bounds>> null_source::bounds(std::span<const topic_partition> all,
                                                    std::chrono::milliseconds) {
  return {all.size(), result<log_bounds>{unavailable()}};
}
std::vector<result<std::optional<owned_record>>> null_source::read_at(std::span<const position> all,
                                                                      std::chrono::milliseconds) {
  return {all.size(), result<std::optional<owned_record>>{unavailable()}};
}
result<void> null_source::join(std::span<const std::string>) {
  return unavailable();
}
result<void> null_source::assign(std::span<const position>) {
  return unavailable();
}
result<void> null_source::unassign() {
  return unavailable();
}
// Whoever holds back for want of room pauses what it reads: nothing.
result<void> null_source::pause(std::span<const topic_partition>) {
  return success();
}
result<void> null_source::resume(std::span<const topic_partition>) {
  return success();
}
result<void> null_source::commit(std::span<const commit_request>) {
  return unavailable();
}
result<void> null_source::commit_and_wait(std::span<const commit_request>, std::chrono::milliseconds) {
  return unavailable();
}

}  // namespace ratchet
