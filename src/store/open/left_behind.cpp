// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/left_behind.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/typed_command.hpp"
#include "store/layout/meaning.hpp"
#include "store/open/holdings.hpp"
#include "store/open/opening.hpp"

namespace ratchet {

namespace {

/// A stream of the directory that something would be lost of.
struct holder {
  std::string name;
  stream_state state;
  std::string held;
};

[[nodiscard]] bool is_configured(const store_options& options, const std::string& stream) {
  return std::any_of(options.streams.begin(), options.streams.end(),
                     [&](const stream_meaning& s) { return s.name == stream; });
}

[[nodiscard]] bool has_read(const stream_state& state, const std::string& topic) {
  return std::any_of(state.partitions.begin(), state.partitions.end(), [&](const auto& partition) {
    return partition.first.topic == topic && partition.second.has_position();
  });
}

result<std::vector<holder>> holders_of(const database& db, const catalog& known) {
  std::vector<holder> all;
  for (const auto& [name, record] : known.streams) {
    RATCHET_TRY(stream_state state, read_stream_state(db, {}, record.id));
    RATCHET_TRY(const holdings held, holdings_of(db, state, record.id));
    if (!held.none()) all.push_back({name, std::move(state), describe(held)});
  }
  return all;
}

/// A replica cannot be rebuilt by itself.
[[nodiscard]] std::string or_rebuild(const store_options& options, const char* how) {
  return options.replicated ? std::string{} : how + typed_command("run", "--resume rebuild");
}

problem missing_streams(const store_options& options, std::vector<diagnostic> missing) {
  std::set<std::string> streams;
  for (const diagnostic& d : missing) streams.insert(d.path);
  const std::string names = missing.size() == 1 ? "stream \"" + missing[0].path + "\"" : "streams";
  problem refused{make_error_code(errc::state_foreign),
                  "the state directory " + options.path.string() + " holds " + names +
                      " that the config does not have; no file was changed",
                  "name it again under `streams`: with its `topics` it goes on; without them its state is "
                  "kept for `get`, `scan` and `waiting`" +
                      or_rebuild(options, "; or rebuild the state from the config with "),
                  std::move(missing)};
  if (!options.replicated) ask_to_rebuild(refused, streams);
  return refused;
}

problem moved_topics(const store_options& options, std::vector<diagnostic> moved,
                     const std::set<std::string>& streams) {
  problem refused{
      make_error_code(errc::state_foreign),
      "the config gives a topic to another stream than the one that has read it in the state directory " +
          options.path.string() + "; no file was changed",
      "give it back to that stream; or keep this state and give the other stream a `state.path` and a "
      "`kafka.group` of its own, where it reads the topic from its beginning" +
          or_rebuild(options, "; or rebuild the state with "),
      std::move(moved)};
  if (!options.replicated) ask_to_rebuild(refused, streams);
  return refused;
}

}  // namespace

std::optional<problem> find_left_behind(const store_options& options, const database& db,
                                        const catalog& known) {
  const auto holders = holders_of(db, known);
  if (!holders) return failed_read(options.path, holders.error());
  std::vector<diagnostic> missing;
  for (const holder& h : holders.assume_value()) {
    if (is_configured(options, h.name)) continue;
    diagnostic& line = missing.emplace_back();
    line.path = h.name;
    line.message = "it holds " + h.held;
  }
  if (!missing.empty()) return missing_streams(options, std::move(missing));
  std::vector<diagnostic> moved;
  std::set<std::string> moved_to;
  for (const stream_meaning& s : options.streams) {
    const auto own = known.streams.find(s.name);
    stream_state state;
    if (own != known.streams.end()) {
      auto read = read_stream_state(db, {}, own->second.id);
      if (!read) return failed_read(options.path, read.error());
      state = std::move(read).assume_value();
    }
    for (const std::string& topic : s.topics) {
      if (has_read(state, topic)) continue;  // it goes on where it was
      for (const holder& h : holders.assume_value()) {
        if (h.name == s.name || !has_read(h.state, topic)) continue;
        moved_to.insert(s.name);
        diagnostic& line = moved.emplace_back();
        line.path = s.name + ".topics";
        line.message = "stream \"" + h.name + "\" has read \"" + topic + "\", and holds " + h.held;
      }
    }
  }
  if (moved.empty()) return std::nullopt;
  return moved_topics(options, std::move(moved), moved_to);
}

}  // namespace ratchet
