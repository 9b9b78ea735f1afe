// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "ratchet/effects.hpp"
#include "ratchet/event.hpp"
#include "ratchet/snapshot_bytes.hpp"

namespace ratchet {

/// The properties of a reducer. `name` and `version` are part of the state's meaning. Ratchet refuses a state
/// with other ones until you rebuild it.
struct reducer_traits {
  std::string_view name;  ///< borrowed until a ratchet::reducer is made; that one keeps a copy
  std::uint32_t version{1};
  /// The result depends on the event alone, never on the state before. Then `latest` skips superseded events.
  bool full_state{false};
  /// It may use `effects`. Such a reducer runs for every event.
  bool has_effects{true};
};

/// The snapshot of one aggregate during apply(). Owned by the caller of apply().
class state {
 public:
  state() = default;
  explicit state(std::string value) : exists_{true}, value_{std::move(value)} {}

  [[nodiscard]] bool exists() const noexcept { return exists_; }
  /// The snapshot; empty where none exists. Valid until the next change.
  [[nodiscard]] std::string_view value() const noexcept { return value_.view(); }
  /// Copies `value` into the snapshot.
  void assign(std::string_view value) {
    exists_ = true;
    value_.assign(value);
  }
  /// Sets the snapshot to the payload of `e`, the event of apply(), without a copy. The caller of apply()
  /// holds the payload until it is stored, or calls keep().
  void assign_payload(const event& e) {
    exists_ = true;
    value_ = snapshot_bytes::lent(e.payload);
  }
  /// Copies a payload that assign_payload() set, so that the snapshot may outlive the event.
  void keep() { value_.keep(); }
  /// Moves the snapshot out. A payload that assign_payload() set stays borrowed.
  [[nodiscard]] snapshot_bytes take() && noexcept { return std::move(value_); }
  void erase() noexcept {
    exists_ = false;
    value_.clear();
  }

 private:
  bool exists_{false};
  snapshot_bytes value_;
};

/// How an apply() can end.
enum class ending : std::uint8_t { done, retry, give_up, stop };

struct outcome {
  ending how{ending::done};
  std::error_code code;
  /// The text of the failure for people, in `waiting list`, dead letters and messages. Empty: the text of
  /// `code`. It may hold bytes of events: Ratchet escapes them where it shows the text.
  std::string text{};
};

/// The effect of the event is in `state`.
inline outcome done() noexcept {
  return {};
}
/// A passing failure: the event waits, and is tried again with growing pauses (`retry`). After the last
/// attempt it is dead. Changes of `state` are undone.
inline outcome retry(std::error_code code, std::string text = {}) noexcept {
  return {ending::retry, code, std::move(text)};
}
/// A lasting failure: the event is dead, and waits until an operator decides. Changes of `state` are
/// undone.
inline outcome give_up(std::error_code code, std::string text = {}) noexcept {
  return {ending::give_up, code, std::move(text)};
}
/// A failure after which nothing may go on: the partition stops before the event. An event that waited stops
/// its partition at the current position, and is tried again.
inline outcome stop(std::error_code code, std::string text = {}) noexcept {
  return {ending::stop, code, std::move(text)};
}

/// A class with `static constexpr reducer_traits traits` and
/// `outcome apply(const event&, state&, effects&) const`. apply() must be deterministic, and must not keep
/// its arguments. One thread at a time calls it, perhaps several times for one event. An exception is a
/// passing failure.
template <class T>
concept reducer_class = requires(const T& r, const event& e, state& s, effects& fx) {
  { T::traits } -> std::convertible_to<reducer_traits>;
  { r.apply(e, s, fx) } -> std::same_as<outcome>;
};

/// Any reducer, shared and immutable.
class reducer {
 public:
  template <reducer_class T>
  reducer(T implementation)  // NOLINT(google-explicit-constructor): a reducer class is a reducer
      : reducer{reducer_traits{T::traits}, std::move(implementation)} {}

  /// For reducers whose traits are known only at run time. Copies the name.
  template <class T>
  reducer(reducer_traits traits, T implementation)
      : traits_{traits},
        self_{std::make_shared<const model<T>>(std::string{traits.name}, std::move(implementation))} {
    traits_.name = self_->name;
  }

  /// Valid as long as any copy of this reducer lives.
  [[nodiscard]] const reducer_traits& traits() const noexcept { return traits_; }
  [[nodiscard]] outcome apply(const event& e, state& s, effects& fx) const { return self_->apply(e, s, fx); }

 private:
  struct concept_t {
    explicit concept_t(std::string n) : name{std::move(n)} {}
    virtual ~concept_t() = default;
    virtual outcome apply(const event&, state&, effects&) const = 0;
    std::string name;
  };
  template <class T>
  struct model final : concept_t {
    model(std::string n, T t) : concept_t{std::move(n)}, implementation{std::move(t)} {}
    outcome apply(const event& e, state& s, effects& fx) const override {
      return implementation.apply(e, s, fx);
    }
    T implementation;
  };
  reducer_traits traits_;
  std::shared_ptr<const concept_t> self_;
};

/// The reducers of a program by the names of their streams. Other streams use the config's `reducer`.
class reducers {
 public:
  reducers& add(std::string stream, reducer r) {
    by_stream_.insert_or_assign(std::move(stream), std::move(r));
    return *this;
  }
  [[nodiscard]] const reducer* find(const std::string& stream) const {
    const auto at = by_stream_.find(stream);
    return at == by_stream_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] const std::map<std::string, reducer>& all() const noexcept { return by_stream_; }

 private:
  std::map<std::string, reducer> by_stream_;
};

}  // namespace ratchet
