// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace ratchet {

/// Memory of large tables that are read at random: the kernel is asked for huge pages (madvise(2),
/// MADV_HUGEPAGE), as with small ones nearly each look-up misses the processor's table of pages, too. That is
/// advice: where the kernel has none to give, or was told never to, the pages are small. Stateless;
/// thread-safe. Throws std::bad_alloc.
template <class T>
struct huge_page_allocator {
  using value_type = T;
  static constexpr std::size_t k_page = std::size_t{2} << 20U;

  huge_page_allocator() = default;
  template <class U>
  huge_page_allocator(const huge_page_allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment_of(bytes));
    if (bytes >= k_page) static_cast<void>(::madvise(memory, bytes / k_page * k_page, MADV_HUGEPAGE));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment_of(count * sizeof(T)));
  }

  friend bool operator==(const huge_page_allocator&, const huge_page_allocator&) { return true; }

 private:
  /// What is smaller than a huge page lies as its type wants it.
  static std::align_val_t alignment_of(std::size_t bytes) noexcept {
    return std::align_val_t{bytes >= k_page ? k_page : alignof(T)};
  }
};

}  // namespace ratchet
