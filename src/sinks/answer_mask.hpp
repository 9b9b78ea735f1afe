// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/http_url.hpp"

namespace ratchet {

/// Takes what only the server should know out of what the server says: some quote the request. Secret are the
/// values of all headers of the config, also in part (a token behind its scheme, what a Basic one stands
/// for), and of the URL the query and those parts of the path that it does not show. In any case,
/// and also percent-encoded, as JSON or HTML escapes it, or in Base64. What has less than four bytes is left.
class answer_mask {
 public:
  answer_mask(const std::map<std::string, std::string>& headers, const http_url&);
  /// The first 200 bytes, for a log: "***" for each secret, and what is not printable ASCII as a dot. Where
  /// `bytes` end in the midst of a secret, its beginning is hidden too.
  [[nodiscard]] std::string excerpt(std::string_view bytes) const;
  /// So many bytes have to be kept for an excerpt that shows no part of a secret.
  [[nodiscard]] std::size_t needed() const noexcept;

 private:
  void add(std::string secret);
  void add_value(const std::string&);
  void add_url_text(std::string_view);
  /// How many bytes at the front are a secret, or the beginning of one that is cut off there.
  [[nodiscard]] std::size_t secret_at_front(std::string_view bytes) const;

  std::vector<std::string> secrets_;  ///< the longest first
};

}  // namespace ratchet
