// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

#include "store/files/synced_file.hpp"
#include "support/store_support.hpp"

namespace {

std::atomic<int> g_data_syncs{0};
std::atomic<bool> g_data_syncs_fail{false};

bool is_synced_file(int descriptor) {
  std::error_code failed;
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  return std::filesystem::read_symlink(link, failed).filename() == ratchet::synced_file::k_name;
}

}  // namespace

/// Stands in for the C library's in this program, and is told to fail for SYNCED alone, so that a sync that
/// is left out shows without a power cut.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's is a reserved name
extern "C" int fdatasync(int descriptor) {
  const bool counts = is_synced_file(descriptor);
  if (counts) ++g_data_syncs;
  if (!counts || !g_data_syncs_fail) return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
  errno = EIO;
  return -1;
}

namespace ratchet {
namespace {

using store_support::must;
using store_support::temporary_directory;

constexpr std::size_t k_slot_bytes = 512;
/// Magic, count, step and checksum.
constexpr std::size_t k_used_bytes = 28;

class a_synced_file : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return directory_.path() / synced_file::k_name; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in{file(), std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  void put_bytes(const std::string& all) const {
    std::ofstream{file(), std::ios::binary}.write(all.data(), static_cast<std::streamsize>(all.size()));
  }
  [[nodiscard]] result<std::uint64_t> read() const { return synced_file::read(directory_.path()); }

  temporary_directory directory_;
  synced_file synced_{must(synced_file::open(directory_.path()))};
};

TEST_F(a_synced_file, holds_the_step_that_was_written_last) {
  EXPECT_EQ(must(read()), 0U);
  for (std::uint64_t step = 10; step < 15; ++step) {
    must(synced_.write(step));
    EXPECT_EQ(must(read()), step);
    EXPECT_EQ(must(synced_file::open(directory_.path())).step(), step);
  }
}

TEST_F(a_synced_file, holds_the_step_before_where_a_write_was_torn) {
  for (std::uint64_t step = 10; step < 14; ++step) {
    const std::string before = bytes();
    must(synced_.write(step));
    const std::string whole = bytes();
    const auto changed = std::mismatch(whole.begin(), whole.end(), before.begin()).first - whole.begin();
    const std::size_t slot = static_cast<std::size_t>(changed) / k_slot_bytes * k_slot_bytes;
    for (std::size_t i = slot; i < slot + k_used_bytes; ++i) {
      std::string torn = whole;
      torn[i] = static_cast<char>(torn[i] ^ 0x40);
      put_bytes(torn);
      ASSERT_EQ(must(read()), step == 10 ? 0U : step - 1) << "byte " << i << " of step " << step;
    }
    put_bytes(whole);
  }
}

TEST_F(a_synced_file, is_damaged_where_both_places_are) {
  must(synced_.write(7));
  std::string all = bytes();
  all[0] = all[k_slot_bytes] = 'R';
  put_bytes(all);
  EXPECT_EQ(read().error(), make_error_code(errc::state_damaged));
}

TEST_F(a_synced_file, is_synced_before_a_write_of_it_returns) {
  const int before = g_data_syncs;
  must(synced_.write(7));
  EXPECT_EQ(g_data_syncs, before + 1);
}

TEST_F(a_synced_file, whose_sync_fails_says_so) {
  g_data_syncs_fail = true;
  const auto failed = synced_.write(7);
  g_data_syncs_fail = false;
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), std::error_code(EIO, std::system_category()));
  EXPECT_EQ(synced_.step(), 0U) << "it promises no more than before";
}

class a_store_that_cannot_note_what_it_synced : public store_support::fixture {};

TEST_F(a_store_that_cannot_note_what_it_synced, fails_and_never_tries_it_again) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
  g_data_syncs_fail = true;
  EXPECT_EQ(s->sync().error(), make_error_code(errc::write_indeterminate));
  g_data_syncs_fail = false;
  EXPECT_NE(s->failure().find("SYNCED cannot be written"), std::string::npos) << s->failure();
  const int before = g_data_syncs;
  s->request_sync();
  for (int i = 0; i < 20 && g_data_syncs == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_EQ(g_data_syncs, before) << "what the kernel could not write it may since call clean";
  EXPECT_EQ(s->durable_step(), 0U);
}

}  // namespace
}  // namespace ratchet
