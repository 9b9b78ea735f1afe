// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <new>
#include <optional>
#include <utility>

#include "ratchet/error.hpp"

/// One job that an owner has done beside its work, and looks at in its turns.
namespace ratchet {

/// Begins it on a thread of its own, or, where `on` is deferred, within take(). What it throws is told as
/// what it failed with: not_enough_memory, internal. Whoever drops the future of one that runs waits for it.
template <class T, class Job>
[[nodiscard]] std::future<result<T>> start_side_job(std::launch on, Job job) {
  return std::async(on, [job = std::move(job)]() mutable -> result<T> {
    try {
      return job();
    } catch (const std::bad_alloc&) {
      return std::make_error_code(std::errc::not_enough_memory);
    } catch (const std::exception&) {
      return make_error_code(errc::internal);
    }
  });
}

/// What it came to; none: it is not done yet. There must be one.
template <class T>
[[nodiscard]] std::optional<result<T>> take_side_job(std::future<result<T>>& of) {
  if (of.wait_for(std::chrono::seconds{0}) == std::future_status::timeout) return std::nullopt;
  return of.get();  // ready, or deferred to now
}

}  // namespace ratchet
