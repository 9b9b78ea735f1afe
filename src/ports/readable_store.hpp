// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ports/durable_steps.hpp"
#include "ports/store_view.hpp"

namespace ratchet {

/// What is read while the owner goes on. Thread-safety: any thread.
class readable_store : public virtual durable_steps {
 public:
  /// Any thread. Errors: of the database.
  [[nodiscard]] virtual result<std::unique_ptr<store_view>> view() const = 0;
};

}  // namespace ratchet
