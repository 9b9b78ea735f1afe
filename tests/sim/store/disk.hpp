// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// The fault model: a disk below a real directory. The files are real, so that everything reads what it
/// wrote; beside them the disk knows what of it a power cut would leave.
///
/// - Bytes are safe once their file was synced. Of those behind, a power cut keeps all, none, the first so
///   many (torn at any byte), all but a few 4 KiB pages in a row, or any set of pages; those that did not
///   come are zero, or as they were.
/// - A name that was made, moved or removed is safe once its directory was synced. Of those behind, a power
///   cut keeps the first so many, of the whole disk or of each directory by itself. Inside one directory they
///   come in order, as in the journal of any file system that Ratchet is run on: RocksDB relies on that where
///   it lets CURRENT name a manifest.
/// - A call fails as told: nothing done; a part of the bytes written; or all done, and failed all the same.
///   What a failed sync was to write is never synced by a later one: the kernel calls its pages clean.
/// - After a power cut, or a kill, every call of the process that is left fails and changes nothing.
namespace ratchet::store_sim {

/// What happened, line by line. Thread-safety: one at a time; the disk's lock keeps its callers apart.
class trace_lines {
 public:
  /// `live`: to stderr at once, for what ends the process.
  explicit trace_lines(bool live = false) : live_{live} {}
  void add(const std::string& line) {
    if (live_) std::fprintf(stderr, "%s\n", line.c_str());
    text_ += line + '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  bool live_;
  std::string text_;
};

/// What a call does. Those before `read` change the disk and are counted together.
enum class io : std::uint8_t {
  create,
  append,
  overwrite,
  truncate,
  sync,
  sync_directory,
  rename,
  link,
  remove,
  make_directory,
  read,
};
[[nodiscard]] const char* name_of(io) noexcept;

enum class fault_kind : std::uint8_t {
  io_error,   ///< EIO, nothing done
  no_space,   ///< ENOSPC; of a write, some bytes are there
  unknown,    ///< EIO; of a write, some or all bytes are there; anything else is done
  power_cut,  ///< it may have been done, and nothing after it
};
[[nodiscard]] const char* name_of(fault_kind) noexcept;

struct fault {
  fault_kind kind{fault_kind::io_error};
  std::uint64_t at{1};  ///< the how-manieth call from now
  bool lasting{false};  ///< every call from there on
  bool of_reads{false};
  std::uint64_t seed{0};  ///< of what it leaves open
};

/// What becomes of a call: do so many bytes of it (or it), then fail with `error` unless that is 0.
struct order {
  bool perform{true};
  std::size_t bytes{0};
  int error{0};
};

using node_id = std::uint32_t;
constexpr node_id k_root = 0;
constexpr node_id k_no_node = 0xFFFFFFFF;

/// Thread-safety: all calls from any thread, but cut_power() from none beside others.
class faulty_disk {
 public:
  /// `root` is there and empty. Everything below it is this disk's.
  explicit faulty_disk(std::filesystem::path root);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] bool holds(std::string_view path) const;

  /// Asked before each call. `size`: of the bytes to be written. The caller then does what the order says,
  /// tells what was done by the functions below, and reports the order's error.
  order ask(io, const std::string& path, std::size_t size = 0);
  /// A call without a name of its own: of an open file.
  order ask(io, node_id, std::size_t size = 0);

  /// The file was made, or opened for writing; `truncated` if that left it empty.
  node_id opened(const std::string& path, bool truncated);
  [[nodiscard]] node_id find(const std::string& path);
  void appended(node_id, std::string_view bytes);
  void overwrote(node_id, std::uint64_t offset, std::string_view bytes);
  void resized(node_id, std::uint64_t size);
  void synced(node_id);
  void sync_failed(node_id);
  void directory_synced(const std::string& path);
  void renamed(const std::string& from, const std::string& to);
  void linked(const std::string& from, const std::string& to);
  void removed(const std::string& path);
  void made_directory(const std::string& path);

  /// Called once, on the syncing thread, when the next sync of a write-ahead log begins.
  void at_next_log_sync(std::function<void()>);
  void log_sync_begins();

  /// From the how-manieth call on what fails; takes the place of any fault before.
  void arm(const fault&);
  /// Calls succeed again, as after a restart. A fault that has not hit yet stays armed.
  void heal();
  void disarm();
  /// Whether the fault has hit since it was armed.
  [[nodiscard]] bool struck() const;
  /// Whether the process is to be taken for dead.
  [[nodiscard]] bool is_dead() const;
  /// The process is killed: what it wrote is there for the next one.
  void kill();
  /// The power fails, unless it has, and comes again: the files below the root become what is left. Nothing
  /// may be open.
  void cut_power(std::mt19937_64&);
  /// As cut_power(), where everything that is not safe is lost.
  void lose_everything_unsafe();

  /// Calls since the beginning, without reads; and reads.
  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] std::uint64_t reads() const;
  /// Notes each call that changes the disk from now on, one line each.
  void trace_into(trace_lines*);

 private:
  /// Bytes on their way, or a new size.
  struct pending_write {
    std::uint64_t offset{0};
    std::string bytes;
    bool resizes{false};  ///< to `offset`
    bool doomed{false};   ///< a sync of it has failed
  };
  struct node {
    bool is_directory{false};
    std::string safe;
    std::vector<pending_write> pending;
    std::uint64_t size{0};
    std::map<std::string, node_id> names;
    std::map<std::string, node_id> safe_names;
  };
  struct place {
    node_id directory{k_no_node};
    std::string name;
    friend auto operator<=>(const place&, const place&) = default;
  };
  struct name_change {
    std::optional<place> from;  ///< the name goes
    std::optional<place> to;    ///< the name comes, for `what`
    node_id what{k_no_node};
  };

  order answer(io, const std::string& what, std::size_t size);
  order strike(io, std::size_t size);
  [[nodiscard]] place place_of(const std::string& path) const;
  [[nodiscard]] node_id node_at(const place&) const;
  node_id make_node(const place&, bool is_directory);
  void change(name_change);
  void make_safe(const name_change&);
  static void write(std::string& content, const pending_write&);
  static std::string without_some_pages(const node&, std::string all, std::mt19937_64&);
  [[nodiscard]] std::string left_of(const node&, std::mt19937_64*) const;
  void settle_names(std::mt19937_64*);
  void settle(std::mt19937_64*);
  void revive();
  node_id rebuild(std::vector<node>& before, node_id old, const std::filesystem::path&,
                  std::map<node_id, node_id>& moved, std::mt19937_64*);
  [[nodiscard]] std::string short_name(const std::string& path) const;

  std::filesystem::path root_;
  mutable std::mutex mutex_;
  std::vector<node> nodes_;
  std::vector<name_change> pending_names_;
  std::map<node_id, std::string> last_paths_;  ///< for the trace
  std::uint64_t calls_{0};
  std::uint64_t reads_{0};
  std::optional<fault> fault_;
  std::uint64_t fault_counts_from_{0};
  std::mt19937_64 fault_random_;
  bool struck_{false};
  bool dead_{false};
  trace_lines* trace_{nullptr};
  std::function<void()> at_log_sync_;
};

/// While it lives, this thread's system calls are not this disk's affair.
class unobserved {
 public:
  unobserved() { ++depth(); }
  ~unobserved() { --depth(); }
  unobserved(const unobserved&) = delete;
  unobserved& operator=(const unobserved&) = delete;
  static int& depth() {
    thread_local int nested = 0;
    return nested;
  }
};

/// The disk that the system calls of this process are shown to (system_calls.cpp); none at first.
void observe_system_calls(faulty_disk*);

/// While it lives, no thread's are: for opening a store over the real file system, which RocksDB does on
/// threads of its own.
class unobserved_process {
 public:
  explicit unobserved_process(faulty_disk& disk) : disk_{&disk} { observe_system_calls(nullptr); }
  ~unobserved_process() { observe_system_calls(disk_); }
  unobserved_process(const unobserved_process&) = delete;
  unobserved_process& operator=(const unobserved_process&) = delete;

 private:
  faulty_disk* disk_;
};

}  // namespace ratchet::store_sim
