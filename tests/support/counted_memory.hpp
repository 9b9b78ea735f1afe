// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

/// Counts what a test program holds, and lets allocations of one thread fail. It replaces operator new and
/// delete: included by one file of a program.
namespace ratchet::testing {

struct counted_memory {
  static inline std::atomic<std::int64_t> held{0};
  static inline std::atomic<std::int64_t> most{0};
  /// Threads of this name fail, once so many allocations were made. Below zero: none does.
  static inline std::atomic<int> left{-1};
  static inline std::atomic<const char*> failing_thread{nullptr};

  static void reset_most() { most = held.load(); }
  static void fail_after(const char* thread, int allocations) {
    failing_thread = thread;
    left = allocations;
  }
  /// Whether it failed since.
  static bool end_failing() { return left.exchange(-1) < 0; }

  static void* take(std::size_t size) noexcept {
    if (left.load() >= 0 && is_failing_thread() && left.fetch_sub(1) == 0) return nullptr;
    void* at = std::malloc(size == 0 ? 1 : size);
    if (at == nullptr) return nullptr;
    const std::int64_t now = held += static_cast<std::int64_t>(malloc_usable_size(at));
    std::int64_t known = most.load();
    while (known < now && !most.compare_exchange_weak(known, now)) {
    }
    return at;
  }
  static void give_back(void* at) noexcept {
    if (at != nullptr) held -= static_cast<std::int64_t>(malloc_usable_size(at));
    std::free(at);
  }

 private:
  static bool is_failing_thread() noexcept {
    char name[16] = {};
    return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
           std::strcmp(name, failing_thread.load()) == 0;
  }
};

}  // namespace ratchet::testing

void* operator new(std::size_t size) {
  void* at = ratchet::testing::counted_memory::take(size);
  if (at == nullptr) throw std::bad_alloc{};
  return at;
}
void* operator new[](std::size_t size) {
  return ::operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return ratchet::testing::counted_memory::take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return ratchet::testing::counted_memory::take(size);
}
void operator delete(void* at) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
void operator delete[](void* at) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
void operator delete(void* at, std::size_t) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
void operator delete[](void* at, std::size_t) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
void operator delete(void* at, const std::nothrow_t&) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
void operator delete[](void* at, const std::nothrow_t&) noexcept {
  ratchet::testing::counted_memory::give_back(at);
}
