// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/player.hpp"

#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RATCHET_PLAYERS_ARE_THREADS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RATCHET_PLAYERS_ARE_THREADS
#endif
#endif

#ifdef RATCHET_PLAYERS_ARE_THREADS

#include <semaphore>
#include <thread>

namespace ratchet::pair_sim {

struct player::stack {
  std::binary_semaphore its_turn{0};
  std::binary_semaphore worlds_turn{0};
  std::thread thread;
};

player::player(std::function<void()> play) : play_{std::move(play)}, stack_{std::make_unique<stack>()} {
  stack_->thread = std::thread{[this] {
    stack_->its_turn.acquire();
    play_();
    is_over_ = true;
    stack_->worlds_turn.release();
  }};
}

player::~player() {
  stack_->thread.join();
}

void player::go_on() {
  stack_->its_turn.release();
  stack_->worlds_turn.acquire();
}

void player::pause() {
  stack_->worlds_turn.release();
  stack_->its_turn.acquire();
}

}  // namespace ratchet::pair_sim

#else

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace ratchet::pair_sim {

namespace {

constexpr std::size_t k_stack_bytes = std::size_t{1} << 20U;

}  // namespace

struct player::stack {
  ucontext_t its{};
  ucontext_t worlds{};
  std::unique_ptr<char[]> bytes{
      new char[k_stack_bytes]};  // NOLINT(modernize-avoid-c-arrays): not written yet

  /// makecontext() gives whole numbers to what it calls.
  static void begin(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<player*>(std::uintptr_t{high} << 32U | low);
    self->play_();
    self->is_over_ = true;
    self->pause();
  }
};

player::player(std::function<void()> play) : play_{std::move(play)}, stack_{std::make_unique<stack>()} {
  ::getcontext(&stack_->its);
  stack_->its.uc_stack.ss_sp = stack_->bytes.get();
  stack_->its.uc_stack.ss_size = k_stack_bytes;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&stack_->its, reinterpret_cast<void (*)()>(&stack::begin), 2,
                static_cast<unsigned>(self >> 32U), static_cast<unsigned>(self));
}

player::~player() = default;

void player::go_on() {
  ::swapcontext(&stack_->worlds, &stack_->its);
}

void player::pause() {
  ::swapcontext(&stack_->its, &stack_->worlds);
}

}  // namespace ratchet::pair_sim

#endif
