// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/merge_document.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// The state of one aggregate for as long as a step applies its events: the patches of a long one go into one
/// document, which is written when the step is done with it. Until then the state has the bytes from before
/// the first of them. Borrows the state, which must stay where it is, and is changed by nobody else while it
/// is folded. Thread-safety: none.
class folded_state {
 public:
  /// From so many bytes on: taking a short one apart for each patch costs less than keeping it.
  static constexpr std::size_t k_long = std::size_t{4} << 10U;

  explicit folded_state(state& of) : state_{&of} {}
  ~folded_state() = default;
  folded_state(const folded_state&) = delete;
  folded_state& operator=(const folded_state&) = delete;

  /// While it lives, a reducer that this thread calls finds `folded` by its state.
  class turn {
   public:
    explicit turn(folded_state& folded) noexcept;
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    folded_state* before_;
  };
  /// The one of this state, in its turn; null: patch the state itself.
  [[nodiscard]] static folded_state* of(const state&) noexcept;

  /// Applies a patch, which it copies, to the document. False: the state is short, patch it as it is.
  [[nodiscard]] bool patch(std::string_view);
  /// Takes the last patch back. Only behind a patch() that was true.
  void undo();
  /// The state gets what its patches came to.
  void fold();
  /// The state is to be replaced: what its patches came to is of no matter.
  void drop() noexcept;

  [[nodiscard]] bool is_folded() const noexcept { return document_ != nullptr; }
  [[nodiscard]] std::size_t patches() const noexcept { return patches_.size(); }
  /// Of the state, with its patches.
  [[nodiscard]] std::size_t size() const noexcept;
  /// About what it holds beside the state.
  [[nodiscard]] std::size_t memory() const noexcept;
  /// Bytes that were read and written of the state and patches, or will be by fold(), since the last call.
  [[nodiscard]] std::size_t take_work() noexcept;

 private:
  void open();

  state* state_;
  std::unique_ptr<merge_document> document_;
  std::vector<std::unique_ptr<std::string>> patches_;
  std::size_t patch_bytes_{0};
  std::size_t work_{0};
};

/// Those of one step. However many there are, they hold a bounded amount of memory beside the states: where
/// it is used up, all but the last one are folded.
class folded_states {
 public:
  /// But for the last one, whatever that needs.
  static constexpr std::size_t k_most_memory = std::size_t{16} << 20U;

  /// Calls `f` in the turn of this aggregate's state, and returns the bytes that were moved for it.
  template <class F>
  std::size_t call(std::uint32_t aggregate, state& s, F&& f) {
    folded_state& folded = all_.try_emplace(aggregate, s).first->second;
    const std::size_t memory = folded.memory();
    const std::size_t before = s.value().size();
    {
      const folded_state::turn turn{folded};
      std::forward<F>(f)();
    }
    const std::size_t moved = folded.is_folded() ? folded.take_work() : before + s.value().size();
    ended(aggregate, folded, memory);
    return moved;
  }
  void fold();
  /// About what they hold beside the states.
  [[nodiscard]] std::size_t memory() const noexcept { return memory_; }

 private:
  void ended(std::uint32_t aggregate, const folded_state&, std::size_t before);

  std::map<std::uint32_t, folded_state> all_;
  std::size_t memory_{0};
};

/// Of the state, with patches that are folded in its turn.
[[nodiscard]] std::size_t size_of(const state&) noexcept;

}  // namespace ratchet
