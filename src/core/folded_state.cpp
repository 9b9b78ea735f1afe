// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/folded_state.hpp"

#include <utility>

namespace ratchet {

namespace {

/// A reducer of a program is given the state alone, and those that are wrapped around a built-in one pass on
/// what they are given: so the document cannot come with the call.
thread_local folded_state* in_turn = nullptr;

}  // namespace

folded_state::turn::turn(folded_state& folded) noexcept : before_{std::exchange(in_turn, &folded)} {}

folded_state::turn::~turn() {
  in_turn = before_;
}

folded_state* folded_state::of(const state& s) noexcept {
  return in_turn != nullptr && in_turn->state_ == &s ? in_turn : nullptr;
}

void folded_state::open() {
  work_ += 2 * state_->value().size();
  document_ = std::make_unique<merge_document>(state_->value());
}

bool folded_state::patch(std::string_view with) {
  if (!document_ && state_->value().size() < k_long) return false;
  if (!document_) open();
  work_ += with.size();
  patch_bytes_ += with.size();
  document_->apply(*patches_.emplace_back(std::make_unique<std::string>(with)));
  return true;
}

void folded_state::undo() {
  patch_bytes_ -= patches_.back()->size();
  patches_.pop_back();
  if (patches_.empty()) return drop();  // not a byte of it was changed
  open();
  for (const auto& p : patches_) document_->apply(*p);
  work_ += patch_bytes_;
}

void folded_state::fold() {
  if (!document_) return;
  std::string text = document_->text();
  drop();
  *state_ = state{std::move(text)};
}

void folded_state::drop() noexcept {
  document_.reset();
  patches_.clear();
  patch_bytes_ = 0;
}

std::size_t folded_state::size() const noexcept {
  return document_ ? document_->size() : state_->value().size();
}

std::size_t folded_state::memory() const noexcept {
  return document_ ? document_->memory() + patch_bytes_ : 0;
}

std::size_t folded_state::take_work() noexcept {
  return std::exchange(work_, 0);
}

std::size_t size_of(const state& s) noexcept {
  const folded_state* folded = folded_state::of(s);
  return folded != nullptr ? folded->size() : s.value().size();
}

void folded_states::ended(std::uint32_t aggregate, const folded_state& folded, std::size_t before) {
  memory_ += folded.memory() - before;  // modulo 2^64
  if (memory_ > k_most_memory && all_.size() > 1) {
    for (auto& [other, f] : all_) {
      if (other != aggregate) f.fold();
    }
    std::erase_if(all_, [&](const auto& f) { return f.first != aggregate; });
    memory_ = folded.memory();
  }
  if (!folded.is_folded()) all_.erase(aggregate);
}

void folded_states::fold() {
  for (auto& [aggregate, f] : all_) f.fold();
  all_.clear();
  memory_ = 0;
}

}  // namespace ratchet
