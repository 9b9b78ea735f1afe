// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "process/decider.hpp"

#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace ratchet {

std::string decided_by(const decider& who) {
  std::string text;
  if (!who.by.empty()) text += "; decided by " + who.by;
  if (!who.why.empty()) text += (who.by.empty() ? "; because: " : ": ") + who.why;
  return text;
}

std::string user_name(uid_t id) {
  const std::string number = "uid " + std::to_string(id);
  constexpr std::size_t k_most = std::size_t{1} << 20U;
  for (std::size_t size = 1024; size <= k_most; size *= 2) {
    std::vector<char> room(size);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(id, &entry, room.data(), room.size(), &found) == ERANGE) continue;
    return found != nullptr ? std::string{found->pw_name} + " (" + number + ")" : number;
  }
  return number;
}

std::string own_user_name() {
  return user_name(::getuid());
}

std::string peer_name(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return {};
  return user_name(who.uid);
}

}  // namespace ratchet
