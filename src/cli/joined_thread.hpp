// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <thread>
#include <utility>

namespace ratchet::cli {

/// A thread whose exception, if any, goes on where it is joined.
class joined_thread {
 public:
  template <class Work>
  explicit joined_thread(Work work)
      : thread_{[this, work = std::move(work)]() mutable {
          try {
            work();
          } catch (...) {  // NOLINT: join() throws it
            thrown_ = std::current_exception();
          }
        }} {}
  ~joined_thread() {
    if (thread_.joinable()) thread_.join();
  }
  joined_thread(const joined_thread&) = delete;
  joined_thread& operator=(const joined_thread&) = delete;
  joined_thread(joined_thread&&) = delete;
  joined_thread& operator=(joined_thread&&) = delete;

  void join() {
    if (thread_.joinable()) thread_.join();
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::exception_ptr thrown_;
  std::thread thread_;  ///< last: it uses the other
};

}  // namespace ratchet::cli
