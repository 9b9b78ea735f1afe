// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/client.hpp"

#include <utility>
#include <vector>

namespace ratchet {

reported<std::optional<control_client>> control_client::connect(const std::filesystem::path& state_dir,
                                                                const response_timeouts& timeouts) {
  RATCHET_TRY(auto socket, connect_in(state_dir, timeouts.first_byte));
  if (!socket) return std::optional<control_client>{};
  return std::optional{control_client{std::move(*socket), timeouts}};
}

reported<void> control_client::ask(const read_request& request, const byte_sink& sink) {
  return ask(to_words(request), sink);
}

reported<void> control_client::ask(std::span<const std::string> words, const byte_sink& sink) {
  std::vector<std::string> all;
  if (group_) all = {k_of_group, *group_};
  all.insert(all.end(), words.begin(), words.end());
  const std::string bytes = encode_request(all);
  const auto deadline = std::chrono::steady_clock::now() + timeouts_.first_byte;
  // Whether the request went out whole does not matter: the server may have said no before its end.
  static_cast<void>(write_exactly(socket_.get(), bytes.data(), bytes.size(), deadline, -1));
  if (tell_ && !stopped_before(std::chrono::steady_clock::now() + silence_, socket_.get())) tell_();
  return read_response(socket_.get(), timeouts_, sink);
}

}  // namespace ratchet
