// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/rocksdb_error.hpp"

#include <string>

namespace ratchet {

namespace {

using rocksdb::Status;

const char* text_of(Status::Code code) {
  switch (code) {
    case Status::kOk:
      return "ok";
    case Status::kNotFound:
      return "not found";
    case Status::kCorruption:
      return "corruption";
    case Status::kNotSupported:
      return "not supported";
    case Status::kInvalidArgument:
      return "invalid argument";
    case Status::kIOError:
      return "I/O error";
    case Status::kMergeInProgress:
      return "merge in progress";
    case Status::kIncomplete:
      return "incomplete";
    case Status::kShutdownInProgress:
      return "shutdown in progress";
    case Status::kTimedOut:
      return "timed out";
    case Status::kAborted:
      return "aborted";
    case Status::kBusy:
      return "busy";
    case Status::kExpired:
      return "expired";
    case Status::kTryAgain:
      return "try again";
    case Status::kCompactionTooLarge:
      return "compaction too large";
    case Status::kColumnFamilyDropped:
      return "column family dropped";
    case Status::kMaxCode:
      break;
  }
  return "unknown status";
}

const char* text_of(Status::SubCode code) {
  switch (code) {
    case Status::kNoSpace:
      return "No space left on device";
    case Status::kMemoryLimit:
      return "memory limit";
    case Status::kSpaceLimit:
      return "space limit";
    case Status::kPathNotFound:
      return "path not found";
    case Status::kIOFenced:
      return "fenced";
    case Status::kStaleFile:
      return "stale file";
    default:  // the rest says nothing that the code does not say
      return nullptr;
  }
}

class rocksdb_category_t final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "rocksdb"; }
  [[nodiscard]] std::string message(int value) const override {
    const auto bits = static_cast<unsigned>(value);
    std::string text = text_of(static_cast<Status::Code>(bits & 0xFFU));
    if (const char* more = text_of(static_cast<Status::SubCode>((bits >> 8U) & 0xFFU))) {
      text += ": ";
      text += more;
    }
    return text;
  }
};

}  // namespace

const std::error_category& rocksdb_category() noexcept {
  static const rocksdb_category_t category;
  return category;
}

std::error_code to_error_code(const rocksdb::Status& status) noexcept {
  if (status.ok()) return {};
  const unsigned value = static_cast<unsigned>(status.code()) |
                         static_cast<unsigned>(status.subcode()) << 8U |
                         static_cast<unsigned>(status.severity()) << 16U;
  return {static_cast<int>(value), rocksdb_category()};
}

}  // namespace ratchet
