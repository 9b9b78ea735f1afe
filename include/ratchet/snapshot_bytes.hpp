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

/// The bytes of a snapshot: owned, or borrowed from an object that outlives it. A copy owns its bytes, so
/// only moves pass borrowed bytes on.
class snapshot_bytes {
 public:
  snapshot_bytes() = default;
  snapshot_bytes(std::string own)  // NOLINT(google-explicit-constructor): a string is bytes
      : own_{std::move(own)} {}
  snapshot_bytes(const char* text)  // NOLINT(google-explicit-constructor): as a string has
      : own_{text} {}
  /// Borrows `bytes`. They must outlive the result and all that is moved from it.
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

  /// Copies `bytes`, which must not be those of this object.
  void assign(std::string_view bytes) {
    own_.assign(bytes);
    lent_.reset();
  }
  void clear() noexcept {
    own_.clear();
    lent_.reset();
  }
  /// Copies borrowed bytes, so that this object may outlive their owner.
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
