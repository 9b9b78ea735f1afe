// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "process/unique_fd.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_largest_secret = std::size_t{64} << 10;  // a chain of keys in PEM fits
constexpr const char* k_forms = "it is text, {file: PATH} or {env: NAME}";

/// Everything in the file, up to one byte above the limit; the error of the system otherwise.
int read_all(int fd, std::string& out) {
  out.assign(k_largest_secret + 1, '\0');
  std::size_t size = 0;
  while (size < out.size()) {
    const ::ssize_t n = ::read(fd, out.data() + size, out.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  out.resize(size);
  return 0;
}

bool read_file(const config_value& file, const std::string& path, std::string& out) {
  // Without waiting: a pipe must not hold it up.
  const unique_fd opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  const auto failed = [&](int code) {
    file.error("cannot read the secret in " + path + ": " + std::generic_category().message(code),
               code == ENOENT   ? "write the secret into that file, readable by this user alone"
               : code == EACCES ? "let only this user read it, as with chown"
                                : "name a file that holds the secret and nothing else");
    return false;
  };
  if (!opened.valid()) return failed(errno);
  struct ::stat info {};
  if (::fstat(opened.get(), &info) != 0) return failed(errno);
  if (S_ISDIR(info.st_mode)) return failed(EISDIR);
  if (!S_ISREG(info.st_mode)) {
    file.error(path + " is not a regular file", "name a file that holds the secret and nothing else");
    return false;
  }
  if (const int code = read_all(opened.get(), out); code != 0) return failed(code);
  if ((info.st_mode & S_IROTH) != 0) {
    file.warn("the secret in " + path + " can be read by every user of this machine", "chmod 600 " + path);
  }
  if (out.size() > k_largest_secret) {
    file.error(path + " is larger than 64 KiB, which no secret is",
               "name a file that holds the secret and nothing else");
    return false;
  }
  if (out.ends_with('\n')) out.pop_back();
  if (out.ends_with('\r')) out.pop_back();
  return true;
}

bool read_variable(const config_value& env, const std::string& name, std::string& out) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    env.error("the environment variable " + name + " is not set",
              "set it for this process, as with Environment= of a systemd unit");
    return false;
  }
  out = value;
  return true;
}

}  // namespace

bool read_secret(const config_value& value, std::string& out) {
  // Its keys are not shown: a password in braces, without quotes, is a map to YAML.
  constexpr known_key k_sources[] = {{"file"}, {"env"}};
  const auto& keys = value.node().keys;
  const bool one =
      keys.size() == 1 && std::any_of(std::begin(k_sources), std::end(k_sources),
                                      [&](const known_key& k) { return k.name == keys[0].text; });
  if (!one) {
    value.error("is a map that does not name exactly one source of its value",
                "it is text (in quotes if it begins with a brace), {file: PATH} or {env: NAME}");
    return false;
  }
  const config_map map{value, k_sources};
  const auto file = map.get("file");
  const auto env = map.get("env");
  const config_value& source = file ? *file : *env;
  std::string name;
  if (!source.text(name)) return false;
  if (name.empty() || name.find('\0') != std::string::npos) {
    source.error("is empty", k_forms);
    return false;
  }
  if (!value.findings().reads_secrets) return false;
  if (!(file ? read_file(source, name, out) : read_variable(source, name, out))) return false;
  const std::string where = file ? name : "the environment variable " + name;
  if (out.empty()) {
    source.error(where + " is empty", "it must hold the secret");
    return false;
  }
  if (out.find('\0') != std::string::npos) {
    source.error(where + " holds a zero byte", "a secret is text");
    return false;
  }
  return true;
}

}  // namespace ratchet
