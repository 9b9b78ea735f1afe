// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/config_option.hpp"
#include "control/client.hpp"
#include "control/requests.hpp"
#include "ports/store_view.hpp"
#include "ratchet/error.hpp"
#include "store/open/read_only.hpp"

/// What the commands that look at a state directory share: how it is named, asked and read.
namespace ratchet::cli {

/// Which state directory a command is about: the config's, or one by itself.
struct source_option {
  config_option config;
  std::filesystem::path state;
};

struct directory_to_read {
  std::filesystem::path path;
  std::vector<std::string> streams{};  ///< that the config names; none with --state
  std::optional<std::string> group{};  ///< of the config; none with --state: the directory may be anybody's
  bool may_be_replica{true};           ///< false: the config has no `replicate`
};

/// -c with its overrides, or --state; one of them. `option` must outlive the command's callback.
void add_source_options(CLI::App& command, source_option& option);
/// To be called first in a command's callback. Without either the environment may name a config; where it
/// does not, throws CLI::RequiredError.
void require_source(source_option&);

/// Errors: as load_config().
[[nodiscard]] reported<directory_to_read> directory_of(const source_option&);

[[nodiscard]] directory_to_read directory_of(const config&);

/// Connects to the instance that runs on the directory; it refuses a config of another consumer group. None
/// where no instance runs. Errors: as control_client::connect().
[[nodiscard]] reported<std::optional<control_client>> connect_to(const directory_to_read&);

/// Whether a stopped directory is of the config's consumer group. What cannot be opened is not looked at.
/// Errors: state_foreign.
[[nodiscard]] reported<void> check_group(const directory_to_read&);

/// Standard output, byte for byte. A reader that has gone is no error: it has seen what it wanted.
class standard_output {
 public:
  standard_output();
  /// False where no more is wanted.
  bool write(std::string_view bytes);
  /// Bytes that are no text of ours may end within a line; a terminal's prompt begins one.
  void end_line_at_terminal();
  /// The exit code of a command that has written all it had to.
  [[nodiscard]] int end() const;

 private:
  int error_{0};
  char last_{'\n'};
};

/// Asks the instance that runs on the directory; where none does, reads the directory. Prints the answer, and
/// returns the exit code.
[[nodiscard]] int answer(const source_option&, const read_request&);

/// Opens a directory that no instance has open for reading alone, and calls `read` with a view of it, and
/// with what it says of its log where it is a replica. Errors: as open_store_read_only(); state_foreign,
/// where it is another consumer group's than the config's; of store::view(); of `read`.
[[nodiscard]] reported<void> read_directory(
    const directory_to_read&,
    const std::function<reported<void>(const store_view&, const std::optional<replica_at_rest>&)>& read);

/// What to do where the directory is busy, and nobody answers for it.
constexpr const char* k_of_silent_instance =
    "an instance that is starting or stopping does not answer: try again; one that hangs does not answer "
    "either: look at `/livez` and at the process";

/// The problem of a directory that could not be opened beside whoever has it open.
[[nodiscard]] problem explain_busy(problem, const char* hint);

}  // namespace ratchet::cli
