// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/stream_state.hpp"
#include "ratchet/error.hpp"
#include "store/open/read_only.hpp"

namespace rocksdb {
class Env;
}

/// Checkpoints: whole copies of a store as of one step. A checkpoint is made under another name, marked as a
/// copy, opened once to see that it is whole, made durable, and only then given its name: what has the name
/// can be used. No header of RocksDB is needed here.
namespace ratchet {

class database;

struct checkpointed_stream {
  std::string name;
  std::vector<std::pair<topic_partition, std::int64_t>> next_offsets;  ///< plain files have none
};

/// What was made.
struct checkpoint_taken {
  std::filesystem::path path;
  std::string uuid;  ///< of the store, and so of the checkpoint
  std::uint64_t step{0};
  timestamp taken_at;
  std::uint64_t files{0};
  std::uint64_t bytes{0};  ///< of which most may be shared with the store, by links
  std::vector<checkpointed_stream> streams;
};

/// Asked now and then during long work: whether to give up.
using cancel_check = std::function<bool()>;

/// Refuses a name under which no checkpoint can be made: one that is taken by anything but an empty
/// directory, whose parent is missing, or that lies inside the state directory. Errors: usage; io.
[[nodiscard]] reported<void> check_checkpoint_target(const std::filesystem::path& wanted,
                                                     const std::filesystem::path& state);

/// For the owner of a running store, in three calls: begin on any thread, store::checkpoint(linked()) on the
/// owner's, finish on any thread. What is made lies inside the state directory until it is finished, so that
/// it can be linked whatever file system the target is on. One at a time. What is not finished is removed.
class checkpoint_in_progress {
 public:
  /// Errors: those of check_checkpoint_target(); io.
  [[nodiscard]] static reported<checkpoint_in_progress> begin(const std::filesystem::path& state,
                                                              const std::filesystem::path& target);
  checkpoint_in_progress(checkpoint_in_progress&& other) noexcept;
  checkpoint_in_progress& operator=(checkpoint_in_progress&&) = delete;
  ~checkpoint_in_progress();

  /// From now on over a file system of the caller's, so that tests can let it fail. Must outlive this.
  void use(rocksdb::Env* env) noexcept { env_ = env; }

  /// Where store::checkpoint() has to put it.
  [[nodiscard]] std::filesystem::path linked() const;
  /// `step`: what store::checkpoint() returned. Moves it to the target; copies it where that is on another
  /// file system. Errors: aborted (cancelled); state_damaged (it does not open as it should); io.
  [[nodiscard]] reported<checkpoint_taken> finish(std::uint64_t step, timestamp taken_at,
                                                  const cancel_check& cancelled);

 private:
  checkpoint_in_progress(std::filesystem::path scaffold, std::filesystem::path target);
  std::filesystem::path scaffold_;  ///< empty: moved from
  std::filesystem::path target_;
  rocksdb::Env* env_{nullptr};  ///< none: the default one
};

/// Makes a checkpoint of a directory that nobody has open; changes no file in it. Whoever wants to open it
/// for writing meanwhile is told that it is busy. Errors: as open_store_read_only() and
/// check_checkpoint_target(); io.
[[nodiscard]] reported<checkpoint_taken> checkpoint_directory(const std::filesystem::path& state,
                                                              const std::filesystem::path& wanted,
                                                              timestamp taken_at);

/// What a process that was killed left behind. For who holds the directory's lock.
void remove_unfinished_checkpoint(const std::filesystem::path& state) noexcept;

/// Flushes and links an open database into a directory that must not exist. Errors: of RocksDB.
[[nodiscard]] result<void> link_checkpoint(const database&, const std::filesystem::path& directory);

}  // namespace ratchet
