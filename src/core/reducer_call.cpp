// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/reducer_call.hpp"

#include <exception>

#include "ratchet/error.hpp"

namespace ratchet {

std::string reducer_call::error() const {
  return thrown.empty() ? cause.message() : thrown;
}

reducer_call call_reducer(const reducer& reduce, const event& e, state& s) {
  effects fx;
  reducer_call out;
  try {
    const outcome ended = reduce.apply(e, s, fx);
    out.how = ended.how;
    out.cause = ended.code;
  } catch (const std::exception& failure) {
    out.thrown = failure.what();
  } catch (...) {
    out.thrown = "an exception that is not a std::exception";
  }
  if (!out.thrown.empty()) {
    out.how = ending::retry;
    out.cause = make_error_code(errc::reducer_failed);
  }
  if (fx.used() != nullptr) {
    out.how = ending::stop;
    out.effect = fx.used();
    out.cause = make_error_code(errc::not_built_yet);
  }
  return out;
}

}  // namespace ratchet
