// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ratchet/types.hpp"

/// The positions in logs of databases as 128 bits that compare as the positions do. All of it is pure.
namespace ratchet {

/// The number behind the last dot of a binlog's name, as 3 of `binlog.000003`.
[[nodiscard]] std::optional<std::uint64_t> binlog_number(std::string_view file) noexcept;

/// {file, position and row}. None where the position has more than 40 bits or the row more than 24.
[[nodiscard]] std::optional<sequence> binlog_sequence(std::uint64_t file, std::uint64_t position,
                                                      std::uint64_t row) noexcept;

/// A log sequence number of SQL Server as it is written, `00000027:00000758:0005`.
struct sqlserver_lsn {
  std::uint32_t file{0};   ///< the virtual log file
  std::uint32_t block{0};  ///< in it
  std::uint16_t slot{0};   ///< in the block
};
[[nodiscard]] std::optional<sqlserver_lsn> parse_sqlserver_lsn(std::string_view text) noexcept;

/// {file and block of the commit, its slot and what is told of the change}: exact in the order of commits; in
/// one transaction in that of changes, but for those in files that lie 15 or more before that of the commit,
/// which are equal. A row of a snapshot has no change, and comes before the changes of its commit. None where
/// a change's block has more than 28 bits.
[[nodiscard]] std::optional<sequence> sqlserver_sequence(sqlserver_lsn commit,
                                                         std::optional<sqlserver_lsn> change) noexcept;

}  // namespace ratchet
