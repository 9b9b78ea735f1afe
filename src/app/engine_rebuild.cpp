// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of engine that opens a store, says what a directory that does not open asks, and begins a new one
// in its place.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "app/engine.hpp"
#include "ports/error_class.hpp"
#include "store/open/read_only.hpp"
#include "text/quoted.hpp"

namespace ratchet {

namespace {

/// True where a store cannot be opened because of what is in it: damaged, or made with another meaning (whose
/// changed lines are listed). Another group's directory, or something that is no store at all, is not put
/// aside.
[[nodiscard]] bool rebuild_mends(const problem& p) {
  const error_class of = classify(p.code);
  return of == error_class::damaged || (of == error_class::foreign && !p.diagnostics.empty());
}

/// Such a problem says what it asks, too. The parts of a changed meaning are asked where they are found.
void ask(problem& p) {
  if (!p.questions.empty() || !rebuild_mends(p)) return;
  question& asked = p.questions.emplace_back();
  asked.kind = classify(p.code) == error_class::damaged ? question_kind::damaged_state
                                                        : question_kind::changed_meaning;
  asked.message = p.message;
  asked.hint = p.hint;
  asked.choices.push_back({resume_option::rebuild});
}

[[nodiscard]] bool is_empty(const stream_state& state) {
  return state.partitions.empty() && state.counters.consumed == 0;
}

/// The place of records that came from plain files has no topic.
[[nodiscard]] bool has_read_topic(const stream_state& state) {
  return std::any_of(state.partitions.begin(), state.partitions.end(),
                     [](const auto& partition) { return !partition.first.topic.empty(); });
}

/// Of a directory that does not fit the config: the streams, those too that the config has dropped, whose
/// records came from files or transactions. None where it cannot be read.
[[nodiscard]] std::optional<std::vector<std::string>> stored_without_topic(const config& settings) {
  const auto stored = open_store_read_only(settings.state.path);
  if (!stored) return std::nullopt;
  const auto view = stored.value()->view();
  if (!view) return std::nullopt;
  std::vector<std::string> names;
  for (const stored_stream& stream : stored.value()->streams()) {
    const auto state = view.value()->load(stream.id);
    if (!state) return std::nullopt;
    const auto configured = std::find_if(settings.streams.begin(), settings.streams.end(),
                                         [&](const stream_config& s) { return s.name == stream.name; });
    const bool has_topic =
        configured != settings.streams.end() ? !configured->topics.empty() : has_read_topic(state.value());
    if (!has_topic && !is_empty(state.value())) names.push_back(stream.name);
  }
  return names;
}

}  // namespace

std::optional<problem> engine::open_or_rebuild() {
  auto failed = open_store();
  if (!failed || options_.resume != resume_option::rebuild || !rebuild_mends(*failed)) return failed;
  if (auto refused = refusal_of_rebuild()) return refused;
  tell(options_.log, log_kind::state_put_aside, "{}", failed->message);
  failed = move_aside(failed->message);
  return failed ? failed : open_store();
}

std::optional<problem> engine::open_store() {
  auto failed = try_to_open_store();
  if (!failed) return failed;
  if (!config_.replicate) {
    ask(*failed);
  } else if (classify(failed->code) == error_class::damaged) {
    failed->hint =
        "keep a copy of the directory; then move it away, and start again: this instance reads a copy of the "
        "state, and the log";
  }
  return failed;
}

std::optional<problem> engine::move_aside(const std::string& why) {
  const auto stamp =
      std::chrono::duration_cast<std::chrono::seconds>(options_.clock->now().time_since_epoch()).count();
  std::filesystem::path old = config_.state.path;
  if (!old.has_filename()) old = old.parent_path();  // a slash at the end
  old += ".old-" + std::to_string(stamp);
  std::error_code code;
  std::filesystem::rename(config_.state.path, old, code);
  if (code) {
    return problem{code,
                   "the state directory " + config_.state.path.string() + " cannot be moved to " +
                       old.string() + ": " + code.message(),
                   "move it away by hand, and start again with `--resume rebuild`",
                   {}};
  }
  put_aside_ = put_aside{old, why};
  has_rebuilt_ = true;
  tell(options_.log, log_kind::state_put_aside,
       "the old state is kept in {}; building a new one from the log's start", old.string());
  // A rebuild begins at the log's start, also where a new stream would begin at its end.
  for (const auto& s : streams_) s->config.start = start_position::earliest;
  return std::nullopt;
}

void engine::put_back() {
  if (!put_aside_) return;
  std::error_code code;
  std::filesystem::path here = config_.state.path;
  if (!here.has_filename()) here = here.parent_path();
  // What stands there now is somebody's: rename() would replace an empty directory.
  if (!std::filesystem::exists(here, code) && !code)
    std::filesystem::rename(put_aside_->path, here, code);
  else
    code = std::make_error_code(std::errc::file_exists);
  if (code) {
    tell(options_.log, log_kind::state_put_aside, "the old state stays in {}: {}", put_aside_->path.string(),
         code.message());
    return;
  }
  tell(options_.log, log_kind::state_put_aside, "nothing was built: the old state is in {} again",
       here.string());
}

/// The streams of which a rebuild would lose something, as no topic holds it.
std::vector<std::string> engine::held_by_no_topic() const {
  std::vector<std::string> names;
  if (store_ == nullptr) {
    if (auto stored = stored_without_topic(config_)) return std::move(*stored);
  }
  for (const auto& task : tasks_) {
    // Where the directory cannot be read nobody knows what a stream holds.
    const bool holds_nothing = store_ != nullptr && is_empty(task->state);
    const stream_config& s = task->stream.config;
    if (s.topics.empty() && !holds_nothing) names.push_back(s.name);
  }
  return names;
}

std::optional<problem> engine::refusal_of_rebuild() const {
  const std::vector<std::string> streams = held_by_no_topic();
  if (streams.empty()) return std::nullopt;
  return problem{
      make_error_code(errc::resume_refused),
      "a rebuild would lose the state of " + quoted(streams) +
          ", which reads no topic: its snapshots, transaction keys and unsent messages exist nowhere else",
      "keep the directory, and undo the change or choose another answer; to give up all of it, move " +
          config_.state.path.string() + " away by hand and start again",
      {}};
}

std::optional<problem> engine::rebuild(const std::string& why) {
  if (auto refused = refusal_of_rebuild()) return refused;
  replaced_uuid_ = store_->uuid();
  const run_meter::long_work opening{meter_, "making a new state directory"};
  status_.set_ready(false, "making a new state directory");
  close_store();
  if (auto failed = move_aside(why)) return failed;
  if (auto failed = open_store()) return failed;
  if (auto serving = serve(); !serving) return std::move(serving.error());
  return std::nullopt;
}

}  // namespace ratchet
