// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "fuzz/fuzz_input.hpp"
#include "store/files/synced_file.hpp"
#include "support/store_crc32c_reference.hpp"

/// The file SYNCED. Its two slots are made of the input, and then up to two bytes of the file are changed, or
/// it is cut: what is read is the newest slot that is whole, by a reading of its own, or the file is refused.
///
/// Input: what to do (bits: 1 the bytes of the file as they are, 2 cut it), two slots of count and step,
/// twice where and what.

using namespace ratchet;
using crc32c_reference::plain_crc32c;
using fuzz::fuzz_input;

namespace {

constexpr std::size_t k_slot = 512;

std::string big_endian(std::uint64_t value, unsigned bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(value >> (8U * bytes) & 0xFFU);
  return out;
}

std::string make_slot(std::uint64_t count, std::uint64_t step) {
  std::string slot = std::string{"ratchet\x01"} + big_endian(count, 8) + big_endian(step, 8);
  slot += big_endian(plain_crc32c(slot), 4);
  slot.resize(k_slot);
  return slot;
}

struct slot_content {
  std::uint64_t count{0};
  std::uint64_t step{0};
};

std::optional<slot_content> read_slot(std::string_view slot) {
  if (!slot.starts_with("ratchet\x01") ||
      big_endian(plain_crc32c(slot.substr(0, 24)), 4) != slot.substr(24, 4)) {
    return std::nullopt;
  }
  fuzz_input in{reinterpret_cast<const std::uint8_t*>(slot.data()) + 8, 16};
  slot_content content;
  content.count = in.u64();
  content.step = in.u64();
  return content;
}

/// Any of the steps that the file may be read as: two where both counts are the same. Nothing: it is damaged.
std::array<std::optional<std::uint64_t>, 2> read_file(std::string_view file) {
  if (file.size() < 2 * k_slot) return {};
  const auto a = read_slot(file.substr(0, k_slot));
  const auto b = read_slot(file.substr(k_slot, k_slot));
  const std::uint64_t newest = std::max(a ? a->count : 0, b ? b->count : 0);
  std::array<std::optional<std::uint64_t>, 2> out;
  if (a && a->count == newest) out[0] = a->step;
  if (b && b->count == newest) out[1] = b->step;
  return out;
}

std::string make_file(fuzz_input& in) {
  const unsigned what = in.u8();
  if ((what & 1U) != 0) return std::string{in.rest()};
  std::string file = make_slot(in.u64(), in.u64()) + make_slot(in.u64(), in.u64());
  for (int i = 0; i < 2; ++i) {
    const unsigned at = in.u32() % (2 * k_slot);
    file[at] = static_cast<char>(file[at] ^ static_cast<char>(in.u8()));
  }
  if ((what & 2U) != 0) file.resize(in.u32() % file.size());
  return file;
}

/// A directory of this process alone, in memory where the system has such a place.
class scratch_directory {
 public:
  scratch_directory() {
    const char* base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    std::string name = std::string{base} + "/ratchet-fuzz-XXXXXX";
    RATCHET_FUZZ_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    fd_ = ::open((path_ / synced_file::k_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    RATCHET_FUZZ_CHECK(fd_ >= 0);
  }
  ~scratch_directory() {
    ::close(fd_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  void put(std::string_view bytes) const {
    RATCHET_FUZZ_CHECK(::ftruncate(fd_, static_cast<off_t>(bytes.size())) == 0);
    RATCHET_FUZZ_CHECK(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int fd_{-1};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scratch_directory directory;
  fuzz_input in{data, size};
  const std::string file = make_file(in);
  directory.put(file);
  const auto want = read_file(file);
  const auto got = synced_file::read(directory.path());
  RATCHET_FUZZ_CHECK(got.has_value() == (want[0] || want[1]));
  if (got) {
    RATCHET_FUZZ_CHECK(got.value() == want[0] || got.value() == want[1]);
  } else {
    RATCHET_FUZZ_CHECK(got.error() == errc::state_damaged);
  }
  return 0;
}
