// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Called for each input by libFuzzer, or by replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// What a target claims. A claim that does not hold ends the program, so that libFuzzer keeps the input.
#define RATCHET_FUZZ_CHECK(...) \
  ((__VA_ARGS__) ? void(0) : ratchet::fuzz::broken_claim(__FILE__, __LINE__, #__VA_ARGS__))

namespace ratchet::fuzz {

[[noreturn]] inline void broken_claim(const char* file, int line, const char* claim) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
  std::abort();
}

/// Takes an input apart. Behind its end there are zeros and empty texts.
class fuzz_input {
 public:
  fuzz_input(const std::uint8_t* data, std::size_t size) : left_{reinterpret_cast<const char*>(data), size} {}

  [[nodiscard]] std::uint8_t u8() { return number<std::uint8_t>(); }
  [[nodiscard]] std::uint32_t u32() { return number<std::uint32_t>(); }
  [[nodiscard]] std::uint64_t u64() { return number<std::uint64_t>(); }
  [[nodiscard]] std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  [[nodiscard]] std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  [[nodiscard]] bool flag() { return (u8() & 1U) != 0; }
  /// A text of at most 255 bytes, behind its length.
  [[nodiscard]] std::string_view text() { return take(u8()); }
  [[nodiscard]] std::string_view rest() { return take(left_.size()); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::string_view take(std::size_t size) {
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(out.size());
    return out;
  }
  template <class Number>
  Number number() {
    Number value = 0;
    for (const char c : take(sizeof(Number))) {
      value = static_cast<Number>(value << 7U << 1U | static_cast<unsigned char>(c));
    }
    return value;
  }
  std::string_view left_;
};

/// A copy that ends where its memory ends, so that AddressSanitizer sees any read behind it.
class exact_copy {
 public:
  explicit exact_copy(std::string_view text) : bytes_{new char[text.size()]}, size_{text.size()} {
    text.copy(bytes_.get(), size_);
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

}  // namespace ratchet::fuzz
