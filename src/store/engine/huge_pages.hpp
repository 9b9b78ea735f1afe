// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace ratchet {

constexpr std::size_t k_huge_page = std::size_t{2} << 20U;

/// Asks the kernel for huge pages (madvise(2), MADV_HUGEPAGE) where `begin` to `begin + bytes` has room for
/// them. That is advice: where the kernel has none to give, or was told never to, the pages are small.
inline void advise_huge_pages(std::uintptr_t begin, std::size_t bytes) noexcept {
  const std::uintptr_t first = (begin + k_huge_page - 1) / k_huge_page * k_huge_page;
  const std::uintptr_t end = (begin + bytes) / k_huge_page * k_huge_page;
  if (first < end) static_cast<void>(::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
}

/// Memory of large tables that are read at random, in huge pages: with small ones nearly each look-up misses
/// the processor's table of pages, too. Stateless; thread-safe. Throws std::bad_alloc.
template <class T>
struct huge_page_allocator {
  using value_type = T;

  huge_page_allocator() = default;
  template <class U>
  huge_page_allocator(const huge_page_allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment_of(bytes));
    advise_huge_pages(reinterpret_cast<std::uintptr_t>(memory), bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment_of(count * sizeof(T)));
  }

  friend bool operator==(const huge_page_allocator&, const huge_page_allocator&) { return true; }

 private:
  /// What is smaller than a huge page lies as its type wants it.
  static std::align_val_t alignment_of(std::size_t bytes) noexcept {
    return std::align_val_t{bytes >= k_huge_page ? k_huge_page : alignof(T)};
  }
};

}  // namespace ratchet
