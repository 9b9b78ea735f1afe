// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet {

/// The bytes of a snapshot: its own, or lent by somebody who outlives it. A copy has bytes of its own, so
/// that what is lent only goes as far as it is moved.
class snapshot_bytes {
 public:
  snapshot_bytes() = default;
  snapshot_bytes(std::string own)  // NOLINT(google-explicit-constructor): a string is bytes
      : own_{std::move(own)} {}
  snapshot_bytes(const char* text)  // NOLINT(google-explicit-constructor): as a string has
      : own_{text} {}
  /// `bytes` must be there for as long as what comes of it by moves.
  [[nodiscard]] static snapshot_bytes lent(std::string_view bytes) noexcept {
    snapshot_bytes out;
    out.lent_ = bytes;
    return out;
  }
  ~snapshot_bytes() = default;
  snapshot_bytes(const snapshot_bytes& other) : own_{other.view()} {}
  snapshot_bytes(snapshot_bytes&&) noexcept = default;
  snapshot_bytes& operator=(const snapshot_bytes& other) {
    if (this != &other) assign(other.view());
    return *this;
  }
  snapshot_bytes& operator=(snapshot_bytes&&) noexcept = default;

  [[nodiscard]] std::string_view view() const noexcept { return lent_ ? *lent_ : std::string_view{own_}; }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::string str() const { return std::string{view()}; }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }

  /// Copies `bytes`, which may not be its own.
  void assign(std::string_view bytes) {
    own_.assign(bytes);
    lent_.reset();
  }
  void clear() noexcept {
    own_.clear();
    lent_.reset();
  }
  /// Copies what is lent, so that it may outlive who lent it.
  void keep() {
    if (lent_) assign(*lent_);
  }

  template <std::convertible_to<std::string_view> Bytes>
  friend bool operator==(const snapshot_bytes& a, const Bytes& b) noexcept {
    return a.view() == std::string_view{b};
  }
  friend std::ostream& operator<<(std::ostream& out, const snapshot_bytes& bytes) {
    return out << bytes.view();
  }

 private:
  std::string own_;
  std::optional<std::string_view> lent_;
};

}  // namespace ratchet
