// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/verify.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/tables.hpp"
#include "store/engine/catalog.hpp"
#include "store/files/directory_lock.hpp"
#include "store/layout/answer.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/outbox.hpp"
#include "store/layout/tables.hpp"
#include "store/open/opening.hpp"
#include "store/open/verify_waiting.hpp"

namespace ratchet {

namespace {

/// A directory with one fault has many findings of a kind; so many of each column family are told.
constexpr int k_findings_of_a_family = 20;

std::string readable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7F && c != '\\') {
      out.push_back(c);
    } else {
      char hex[5];
      std::snprintf(hex, sizeof hex, "\\x%02x", u);
      out += hex;
    }
  }
  return out;
}

/// Goes through every column family of a directory that opened, and collects what is wrong.
class verification {
 public:
  explicit verification(const inspected& found) : found_{&found} {
    for (const auto& [name, record] : found.catalog.streams) {
      stream_seen& seen = streams_[record.id];
      seen.name = name;
      const std::pair<std::string, std::string> opaque{"dedup.ids", "opaque"};
      seen.tables = tables_in(record.lines);
      seen.opaque_ids = std::find(record.lines.begin(), record.lines.end(), opaque) != record.lines.end();
    }
    options_.verify_checksums = true;
    options_.fill_cache = false;
    waiting_.emplace(found, options_);
    for (auto& [id, seen] : streams_) {
      const auto state =
          read_stream_state(*found.db, options_, id);  // where it cannot be read, others say so
      seen.forgets = state && state.assume_value().retention.before;
    }
  }

  std::vector<std::string> run() {
    if (const auto s = found_->db->db().VerifyChecksum(options_); !s.ok()) {
      findings_.push_back("checksum: " + s.ToString());
    }
    check_family(family::standard, [this](auto key, auto value) { return check_default(key, value); });
    check_family(family::sequences, [this](auto key, auto value) { return check_aggregate(key, value); });
    check_family(family::snapshots, [this](auto key, auto value) { return check_snapshot(key, value); });
    check_family(family::dedup, [this](auto key, auto value) {
      return layout::is_opaque_id_key(key) ? check_opaque_id(key, value) : check_id_run(key, value);
    });
    check_family(family::waiting, [this](auto key, auto value) { return waiting_->check(key, value); });
    check_family(family::outbox, [this](auto key, auto value) { return check_output(key, value); });
    check_family(family::tables, [this](auto key, auto value) { return check_table_row(key, value); });
    check_outbox();
    for (const auto& [id, stream] : streams_) check_stream(id, stream);
    return std::move(findings_);
  }

 private:
  struct stream_seen {
    std::string name;
    std::uint64_t rows{
        0};  ///< of which nothing waits: where numbers were skipped, nothing need have been applied
    std::uint64_t rejected{0};
    bool opaque_ids{false};
    bool forgets{false};  ///< aggregates, with their rows
    std::vector<table_config> tables;
  };

  /// `check` returns what is wrong with a row; empty: nothing.
  template <class Check>
  void check_family(family f, Check check) {
    const std::string where = k_family_names[static_cast<std::size_t>(f)];
    const std::string step_key = layout::step_key(f == family::standard);
    int told = 0;
    const auto read = found_->db->for_each(options_, f, "", [&](auto key, auto value) -> result<bool> {
      if (key == step_key) return true;  // compared at open
      const std::string wrong = check(key, value);
      if (!wrong.empty() && told++ < k_findings_of_a_family) {
        findings_.push_back(where + ": " + readable(key.substr(0, 200)) + ": " + wrong);
      }
      return true;
    });
    if (told > k_findings_of_a_family) {
      findings_.push_back(where + ": and " + std::to_string(told - k_findings_of_a_family) + " more");
    }
    if (!read) findings_.push_back(where + ": cannot be read to its end: " + read.error().message());
  }

  /// The highest number of a step that a row may have. A replica numbers by the log, and may write several
  /// steps of it as one of its own.
  [[nodiscard]] std::uint64_t last_step() const {
    const auto& position = found_->catalog.position;
    return std::max(found_->step, position ? position->step : 0);
  }

  stream_seen* stream_of(stream_id id) {
    const auto at = streams_.find(id);
    return at == streams_.end() ? nullptr : &at->second;
  }

  std::string check_default(std::string_view key, std::string_view value) {
    static const std::string k_cannot = "cannot be decoded";
    switch (key.empty() ? layout::kind::step : static_cast<layout::kind>(key[0])) {
      case layout::kind::step:
        return "an unknown key";
      case layout::kind::identity:
      case layout::kind::stream:
      case layout::kind::incarnation:
      case layout::kind::outbox:
      case layout::kind::slot:
        return {};  // decoded at open
      case layout::kind::restore:
        return "a copy is being read into the store, and not all of it is here; start the instance again";
      case layout::kind::copy_mark:
      case layout::kind::outbox_epoch:
      case layout::kind::owner:
        return key.size() == 1 ? "" : "an unknown key";  // decoded at open
      case layout::kind::stream_state: {
        const auto stream = layout::parse_stream_state_key(key);
        if (!stream || !layout::decode_stream_state(value)) return k_cannot;
        return stream_of(stream.assume_value()) ? "" : "of a stream that is not known";
      }
      case layout::kind::partition: {
        const auto parsed = layout::parse_partition_key(key);
        if (!parsed || !layout::decode_partition(value)) return k_cannot;
        return stream_of(parsed.assume_value().stream) ? "" : "of a stream that is not known";
      }
      case layout::kind::rejected: {
        const auto parsed = layout::parse_rejected_key(key);
        if (!parsed) return k_cannot;
        const auto row = layout::decode_rejected(parsed.assume_value(), value);
        if (!row) return k_cannot;
        stream_seen* stream = stream_of(parsed.assume_value().stream);
        if (!stream) return "of a stream that is not known";
        ++stream->rejected;
        return row.assume_value().first.step <= last_step() ? "" : "of a step that was never taken";
      }
      case layout::kind::audit: {
        const auto place = layout::parse_audit_key(key);
        if (!place || !layout::decode_audit(place.assume_value(), value)) return k_cannot;
        return place.assume_value().step <= last_step() ? "" : "of a step that was never taken";
      }
    }
    return "an unknown key";
  }

  std::string check_aggregate(std::string_view key, std::string_view value) {
    const auto parsed = layout::parse_aggregate_key(key);
    const auto row = layout::decode_aggregate(value);
    if (!parsed || !row) return "cannot be decoded";
    stream_seen* stream = stream_of(parsed.assume_value().stream);
    if (!stream) return "of a stream that is not known";
    if (row.assume_value().has_last && !row.assume_value().waits) ++stream->rows;
    if (std::string wrong = waiting_->check_row(parsed.assume_value(), row.assume_value()); !wrong.empty())
      return wrong;
    if (!row.assume_value().external) return {};
    const auto snapshot = found_->db->get(options_, family::snapshots, key);
    if (!snapshot) return "its snapshot cannot be read: " + snapshot.error().message();
    return snapshot.assume_value() ? "" : "its snapshot is missing";
  }

  std::string check_snapshot(std::string_view key, std::string_view value) {
    const auto snapshot = layout::decode_snapshot(value);
    if (!layout::parse_aggregate_key(key) || !snapshot) return "cannot be decoded";
    if (snapshot.assume_value().size() <= layout::k_inline_snapshot_bytes)
      return "small enough to lie in its row";
    const auto row = found_->db->get(options_, family::sequences, key);
    if (!row) return "its row cannot be read: " + row.error().message();
    if (!row.assume_value()) return "its aggregate has no row";
    const auto decoded = layout::decode_aggregate(*row.assume_value());
    return decoded && decoded.assume_value().external ? "" : "its row does not refer to it";
  }

  std::string check_id_run(std::string_view key, std::string_view value) {
    const auto parsed = layout::parse_id_run_key(key);
    if (!parsed) return "cannot be decoded";
    const layout::parsed_id_run_key& k = parsed.assume_value();
    const auto run = layout::decode_id_run(k.span, value);
    if (!run) return "cannot be decoded";
    if (k.step > last_step()) return "of a step that was never taken";
    std::string wrong;
    run.assume_value().each([&](const layout::filed_id& filed) {
      wrong = check_row_of_id(k.stream, k.slot, filed.aggregate);
      return wrong.empty();
    });
    return wrong;
  }

  std::string check_opaque_id(std::string_view key, std::string_view value) {
    const auto parsed = layout::parse_opaque_id_key(key);
    if (!parsed || !layout::filed_time_of(value)) return "cannot be decoded";
    const layout::parsed_opaque_id_key& k = parsed.assume_value();
    const stream_seen* stream = stream_of(k.stream);
    if (!stream) return "of a stream that is not known";
    if (!stream->opaque_ids) return "of a stream whose ids are of another kind";
    return check_row_of_id(k.stream, k.slot, k.aggregate);
  }

  /// An id is filed with the row of its aggregate, and that stays, unless it is forgotten.
  std::string check_row_of_id(stream_id stream, slot s, std::string_view aggregate) {
    std::string row_key;
    layout::append_aggregate_key(row_key, stream, s, aggregate);
    const auto row = found_->db->get(options_, family::sequences, row_key);
    const std::string who = "aggregate " + readable(aggregate.substr(0, 200));
    if (!row) return "the row of " + who + " cannot be read: " + row.error().message();
    const stream_seen* of = stream_of(stream);
    return row.assume_value() || (of != nullptr && of->forgets) ? "" : who + " has no row";
  }

  std::string check_output(std::string_view key, std::string_view value) {
    const auto at = layout::parse_output_key(key);
    if (!at) return "cannot be decoded";
    const auto& [lane, position] = at.assume_value();
    const auto row = layout::decode_output(position, value);
    if (!row) return "cannot be decoded";
    if (row.assume_value().lane() != lane) return "for another sink than its key has";
    const outbox_state all = found_->catalog.outbox.of(lane);
    if (position < all.first || position >= all.next) return "not among the positions of the outbox";
    outbox_state& seen = outputs_.by_name[lane];
    ++seen.next;
    seen.bytes += row.assume_value().bytes();
    return stream_of(row.assume_value().stream) ? "" : "of a stream that is not known";
  }

  std::string check_table_row(std::string_view key, std::string_view value) {
    const auto parsed = layout::parse_table_key(key);
    if (!parsed || !layout::decode_table_value(value)) return "cannot be decoded";
    const layout::parsed_table_key& k = parsed.assume_value();
    const stream_seen* stream = stream_of(k.stream);
    if (!stream) return "of a stream that is not known";
    const table_config* table = find_table(stream->tables, k.table);
    if (!table) return "of a table that its stream does not have";
    return decode_table_key(table->key, k.key) ? "" : "its key does not fit its table";
  }

  void check_outbox() {
    for (const auto& [lane, all] : found_->catalog.outbox.by_name) {
      const outbox_state seen = outputs_.of(lane);
      if (seen.rows() == all.rows() && seen.bytes == all.bytes) continue;
      findings_.push_back("outbox" + (lane.empty() ? "" : " of sink " + lane) + ": " +
                          std::to_string(all.rows()) + " outputs of " + std::to_string(all.bytes) +
                          " bytes are counted, and there are " + std::to_string(seen.rows()) + " of " +
                          std::to_string(seen.bytes));
    }
  }

  void check_stream(stream_id id, const stream_seen& seen) {
    const std::string who = "stream " + seen.name + ": ";
    const auto read = read_stream_state(*found_->db, options_, id);
    if (!read) {
      findings_.push_back(who + "its state cannot be read: " + read.error().message());
      return;
    }
    const stream_state& state = read.assume_value();
    const counters& c = state.counters;
    if (c.consumed != c.accounted()) {
      findings_.push_back(who + "the ledger does not add up: " + std::to_string(c.consumed) + " consumed, " +
                          std::to_string(c.accounted()) + " accounted for");
    }
    check_waiting(who, id, c);
    if (seen.rows > c.applied) {
      findings_.push_back(who + std::to_string(seen.rows) + " aggregates have rows, and only " +
                          std::to_string(c.applied) + " events were applied");
    }
    if (seen.rejected > layout::k_most_rejected_rows) {
      findings_.push_back(who + std::to_string(seen.rejected) +
                          " rejected records are kept, more than any config allows");
    }
    check_floor(who, state);
  }

  void check_waiting(const std::string& who, stream_id id, const counters& c) {
    const waiting_totals seen = waiting_->totals_of(id);
    const auto compare = [&](const char* what, std::uint64_t counted, std::uint64_t there) {
      if (counted == there) return;
      findings_.push_back(who + std::to_string(counted) + " " + what + " are counted, and there are " +
                          std::to_string(there));
    };
    compare("parked events", c.waiting_parked, seen.parked);
    compare("retrying events", c.waiting_retrying, seen.retrying);
    compare("dead events", c.waiting_dead, seen.dead);
    compare("bytes of waiting events", c.waiting_bytes, seen.bytes);
  }

  /// The window is not known here, but no floor lies above the highest time that any partition has shown: it
  /// is that time of some partition, less the window.
  void check_floor(const std::string& who, const stream_state& state) {
    if (!state.floor) return;
    std::optional<timestamp> highest;
    for (const auto& [where, partition] : state.partitions) {
      if (partition.highest_time)
        highest = std::max(highest.value_or(*partition.highest_time), *partition.highest_time);
    }
    if (!highest || *state.floor > *highest) {
      findings_.push_back(who + "the window's floor lies above every time that its partitions have shown");
    }
  }

  const inspected* found_;
  rocksdb::ReadOptions options_;
  std::optional<waiting_check> waiting_;
  std::map<stream_id, stream_seen> streams_;
  outbox_lanes outputs_;  ///< what there is
  std::vector<std::string> findings_;
};

}  // namespace

reported<std::vector<std::string>> verify_store(const std::filesystem::path& path) {
  RATCHET_TRY(const directory_lock lock, directory_lock::take(path, directory_lock::mode::shared));
  database_settings settings;
  settings.path = path;
  auto found = inspect_directory(settings);
  if (!found) {
    if (found.error().code != make_error_code(errc::state_damaged)) return found.error();
    return std::vector<std::string>{found.error().message};
  }
  if (found.assume_value().is_new) {
    return problem{make_error_code(errc::state_missing),
                   "the directory " + path.string() + " holds no state",
                   "run first, or name another",
                   {}};
  }
  return verification{found.assume_value()}.run();
}

}  // namespace ratchet
