// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/apply_files.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/first_look.hpp"
#include "app/line_reader.hpp"
#include "app/record_files.hpp"
#include "config/memory_budget.hpp"
#include "consumer/space_guard.hpp"
#include "decode/kcat_line.hpp"
#include "pipeline/field_counts.hpp"
#include "pipeline/step_lines.hpp"
#include "pipeline/stop_messages.hpp"
#include "process/log_lines.hpp"
#include "text/counted.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

/// The bytes of one batch, but for its last line, which may be of 64 MiB: as large as one poll of `run`.
[[nodiscard]] std::size_t batch_bytes(const config& c) {
  constexpr std::size_t k_share_of_queue = 8;
  return memory_budget::of(c.memory_limit).queue / k_share_of_queue;
}

/// The longest line of `kcat -J` that can hold a record which is not too large: it may write each byte of the
/// value as an escape of six, and has room for a key and headers.
constexpr std::uint64_t k_kcat_line_bytes = 6 * k_apply_value_bytes + (std::uint64_t{16} << 20);

/// Where the lines of plain files come from: one partition, without positions.
const topic_partition k_plain{"", partition_id{0}};

/// Lines and the records that point into them. A line that is no record keeps its fault beside it.
class file_batch final : public record_batch {
 public:
  [[nodiscard]] std::span<const record> records() const noexcept override { return records_; }

  line_batch lines;
  struct parsed_line {
    kcat_record line;
    std::vector<header> headers;
  };
  std::deque<parsed_line> parsed;        ///< a deque, as records point into its elements
  std::vector<malformed_detail> faults;  ///< one a record; reason none: it is a record
  std::vector<record> records_;
};

class applying {
 public:
  applying(engine& e, const apply_request& request)
      : engine_{e},
        request_{request},
        pipeline_{e.tasks(), e.state(), e.clock()},
        space_{e.settings(), e.space()},
        odd_times_{e.log(), e.streams()} {
    pipeline_.on_record(request.explain);
    pipeline_.on_fate(request.explain_fate);
    pipeline_.on_written([this](const step_batch& step) {
      for (const step_part& part : step.parts) odd_times_.tell(part);
    });
  }

  [[nodiscard]] std::optional<problem> run(const std::atomic<bool>& stop);

 private:
  [[nodiscard]] std::optional<problem> choose_stream();
  /// Of all files that can be read twice, before anything is written: what they are.
  [[nodiscard]] std::optional<problem> look_at_files();
  [[nodiscard]] expected_input expected(const std::string& path) const;
  /// A stream's time is not that of the partition which a file happens to have first.
  [[nodiscard]] std::optional<problem> look_ahead();
  /// Records of topics that no stream takes are the file's fault. Notes which partitions are to come.
  [[nodiscard]] std::optional<problem> refuse_foreign(const std::atomic<bool>& stop);
  [[nodiscard]] std::optional<problem> read_file(const std::string& path, const std::atomic<bool>& stop);
  [[nodiscard]] bool is_ours(const partition_task*) const;
  void add_line(file_batch&, const input_line&);
  void add_kcat_line(file_batch&, const input_line&);
  [[nodiscard]] const topic_partition* intern(const std::string& topic, partition_id);
  using malformed_details = std::vector<malformed_detail>;
  [[nodiscard]] std::vector<malformed_details> faults_of(const file_batch&);
  void enter_faults(decoded_part&, const malformed_details&) const;
  [[nodiscard]] std::optional<problem> handle(std::unique_ptr<file_batch>);
  void note_positions(const file_batch&);
  void tell_beginning(const record&);
  void tell_of_repeated() const;
  [[nodiscard]] std::optional<problem> finish(const std::atomic<bool>& stop);
  [[nodiscard]] problem write_failed(std::error_code) const;

  engine& engine_;
  const apply_request& request_;
  pipeline pipeline_;
  space_guard space_;
  std::size_t stream_{0};
  std::optional<decode_stage> stage_;
  decoded_input input_;
  std::set<topic_partition> interned_;
  std::map<topic_partition, std::int64_t> to_come_;  ///< the highest offset of each, in files that come twice
  std::map<const topic_partition*, std::int64_t> begun_;  ///< the next offset of those that this run has met
  odd_time_lines odd_times_;
  std::uint64_t repeated_{0};  ///< records below it: duplicates by their positions alone
  kcat_line_reader kcat_reader_;
  bool has_handled_{false};        ///< something may be written
  bool cut_short_{false};          ///< by a signal, before all was read
  std::uint64_t lines_before_{0};  ///< of the files before this one: a line's number stands for its offset
};

std::optional<problem> applying::choose_stream() {
  stream_list& streams = engine_.streams();
  std::string names;
  for (const auto& s : streams) names += (names.empty() ? "" : ", ") + s->config.name;
  if (request_.stream.empty()) {
    if (streams.size() > 1 && !request_.records) {
      return problem{make_error_code(errc::usage),
                     "the config has several streams (" + names + ")",
                     "name one with --stream",
                     {}};
    }
  } else {
    const auto at = std::find_if(streams.begin(), streams.end(),
                                 [&](const auto& s) { return s->config.name == request_.stream; });
    if (at == streams.end()) {
      return problem{make_error_code(errc::usage),
                     "there is no stream `" + request_.stream + "`",
                     "the config has: " + names,
                     {}};
    }
    stream_ = static_cast<std::size_t>(at - streams.begin());
  }
  if (!takes_events(streams[stream_]->config)) {
    return problem{make_error_code(errc::usage),
                   "the stream `" + streams[stream_]->config.name + "` has no envelope: no event can be read",
                   "it takes transactions only; add `envelope` to its config, or name another stream",
                   {}};
  }
  if (!request_.records && streams[stream_]->config.envelope.sequence == "offset") {
    return problem{
        make_error_code(errc::usage),
        "the stream `" + streams[stream_]->config.name +
            "` takes its sequence from the offsets of records, and lines of a plain file have none",
        "use --records with lines as `kcat -C -J` prints them; or name another sequence in the config",
        {}};
  }
  pipeline_.set_plain_task(engine_.tasks()[stream_].get());
  for (const auto& s : streams) {
    s->decode.time_stands_for_record = !request_.records;
    s->decode.max_value_bytes = k_apply_value_bytes;
  }
  stage_.emplace(streams);
  stage_->set_plain_stream(stream_);
  return std::nullopt;
}

const topic_partition* applying::intern(const std::string& topic, partition_id partition) {
  return &*interned_.insert({topic, partition}).first;
}

void applying::add_line(file_batch& batch, const input_line& line) {
  record r;
  r.where = &k_plain;
  r.offset = static_cast<std::int64_t>(lines_before_ + line.number);
  r.value = without_byte_order_mark(line);
  batch.records_.push_back(r);
  malformed_detail fault;
  if (line.too_large) fault = {malformed_reason::too_large, {}, k_apply_value_bytes};
  batch.faults.push_back(fault);
}

bool applying::is_ours(const partition_task* task) const {
  return task != nullptr && (request_.stream.empty() || task->stream.config.name == request_.stream);
}

void applying::add_kcat_line(file_batch& batch, const input_line& line) {
  file_batch::parsed_line& owned = batch.parsed.emplace_back();
  kcat_record& parsed = owned.line;
  if (line.too_large && !kcat_reader_.read_beginning(line.text, parsed)) return add_line(batch, line);
  malformed_detail fault;
  if (!line.too_large) fault = kcat_reader_.read(without_byte_order_mark(line), parsed);
  if (fault.reason == malformed_reason::none && !is_ours(pipeline_.task_of(parsed.topic)))
    fault = {malformed_reason::position_invalid, "/topic", 0};
  if (fault.reason != malformed_reason::none) {
    add_line(batch, line);
    batch.faults.back() = fault;
    return;
  }
  record r;
  r.where = intern(parsed.topic, parsed.partition);
  r.offset = parsed.offset;
  r.time = parsed.time;
  if (parsed.key) r.key = *parsed.key;
  if (parsed.payload) r.value = *parsed.payload;
  if (line.too_large) {
    r.value = line.text;
    fault = {malformed_reason::too_large, {}, k_apply_value_bytes};
  }
  for (const auto& [name, value] : parsed.headers) owned.headers.push_back({name, value});
  r.headers = owned.headers;
  batch.records_.push_back(r);
  batch.faults.push_back(fault);
}

problem applying::write_failed(std::error_code code) const {
  const std::string path = engine_.settings().state.path.string();
  const std::string why = engine_.state().failure();
  return {code,
          "a step could not be written to " + path + ": " + (why.empty() ? code.message() : why),
          "check the disk, then run the same command again: nothing is applied twice",
          {}};
}

/// By stream, what is wrong with each of its lines; none at all where nothing is.
std::vector<applying::malformed_details> applying::faults_of(const file_batch& lines) {
  std::vector<malformed_details> faults(input_.parts.size());
  const bool any = std::any_of(lines.faults.begin(), lines.faults.end(),
                               [](const malformed_detail& f) { return f.reason != malformed_reason::none; });
  for (std::size_t i = 0; any && i < lines.records_.size(); ++i)
    faults[stage_->stream_of(lines.records_[i].where)].push_back(lines.faults[i]);
  return faults;
}

/// A line that is none in the right form is one event that says so, whatever was read from it.
void applying::enter_faults(decoded_part& part, const malformed_details& faults) const {
  if (faults.empty()) return;
  std::vector<decoded_event>& events = part.decoded.events;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const record& from = whole_of(*events[i].from);
    const malformed_detail& fault = faults[static_cast<std::size_t>(&from - part.records.data())];
    if (fault.reason == malformed_reason::none) {
      events[kept++] = events[i];
    } else if (events[i].from->index == 0) {
      decoded_event& e = events[kept++];
      e = decoded_event{};
      e.from = &from;
      e.record_time = from.time;
      e.malformed = fault;
    }
  }
  if (kept == events.size()) return;
  events.resize(kept);
  const stream_definition& s = *engine_.streams()[part.stream];
  part.plan = plan_step(s.rules, s.reduce.traits(), events);
}

std::optional<problem> applying::handle(std::unique_ptr<file_batch> batch) {
  has_handled_ = true;
  const file_batch& lines = *batch;
  stage_->run(std::move(batch), input_);
  note_positions(lines);
  const std::vector<malformed_details> faults = faults_of(lines);
  do {
    for (decoded_part& part : input_.parts) enter_faults(part, faults[part.stream]);
    if (const auto done = pipeline_.handle(input_); !done) return write_failed(done.error());
    note_fields(input_, engine_.tasks(), engine_.status(), engine_.log());
  } while (!pipeline_.has_left() && stage_->go_on(input_));
  if (const auto done = pipeline_.resume_waiting(); !done) return write_failed(done.error());
  if (engine_.settings().state.sync == sync_mode::every_step) {
    if (const auto synced = engine_.state().sync(); !synced) return write_failed(synced.error());
  } else if (engine_.state().last_step() > engine_.state().durable_step()) {
    engine_.state().request_sync();
  }
  return std::nullopt;
}

void applying::note_positions(const file_batch& lines) {
  for (const record& r : lines.records_) {
    if (r.where->topic.empty()) continue;
    const auto [met, is_new] = begun_.try_emplace(r.where, 0);
    if (is_new) {
      const partition_state* known = pipeline_.find(*r.where);
      if (known != nullptr && known->has_position())
        met->second = known->next_offset;
      else
        tell_beginning(r);
    }
    if (r.offset < met->second)
      ++repeated_;
    else
      met->second = r.offset + 1;
  }
}

/// What lies below the first record of a partition is taken for handled from then on, and nobody could tell
/// by its counting as repeated that it never was.
void applying::tell_beginning(const record& r) {
  if (r.offset == 0) return;
  tell(engine_.log(), log_kind::resume_told,
       "{} begins at offset {}: from now on earlier records count as repeated, although none was handled; to "
       "handle them, apply the dumps to a new state directory in the order of their offsets",
       to_string(*r.where), r.offset);
}

/// The counters have one number for these and for events that came twice.
void applying::tell_of_repeated() const {
  if (repeated_ == 0) return;
  tell(engine_.log(), log_kind::resumed,
       "{} {} below the offset that the state had reached in its partition: counted as {} by position alone",
       counted(repeated_, "record"), repeated_ == 1 ? "lies" : "lie",
       repeated_ == 1 ? "a duplicate" : "duplicates");
}

expected_input applying::expected(const std::string& path) const {
  const auto takes = [this](const std::string& topic) { return is_ours(pipeline_.task_of(topic)); };
  std::string topics;
  for (const auto& task : engine_.tasks()) {
    if (!is_ours(task.get())) continue;
    for (const std::string& topic : task->stream.config.topics)
      topics += (topics.empty() ? "" : ", ") + topic;
  }
  return {path, request_.records, engine_.streams()[stream_]->decode, takes,
          topics.empty() ? "the config names no topics" : topics};
}

std::optional<problem> applying::look_at_files() {
  constexpr std::size_t k_bytes = std::size_t{1} << 20U;
  for (const std::string& path : request_.files) {
    std::error_code unreadable;
    if (path == "-" || !std::filesystem::is_regular_file(path, unreadable)) continue;
    auto opened = line_reader::open(path);
    if (!opened) continue;  // it is told in its turn
    line_batch batch;
    if (const auto more = opened.value().next_batch(batch, k_lines_looked_at, k_bytes);
        !more || !more.value())
      continue;
    if (auto strange = look_at(expected(path), batch.bytes, batch.lines)) return strange;
  }
  return std::nullopt;
}

std::optional<problem> applying::refuse_foreign(const std::atomic<bool>& stop) {
  for (const std::string& path : request_.files) {
    for (const auto& [where, highest] : partitions_in(std::span{&path, 1}, stop)) {
      if (!is_ours(pipeline_.task_of(where.topic))) return foreign_topic(expected(path), where.topic);
      const auto [at, is_new] = to_come_.try_emplace(where, highest);
      if (!is_new) at->second = std::max(at->second, highest);
    }
  }
  return std::nullopt;
}

std::optional<problem> applying::look_ahead() {
  std::vector<topic_partition> to_come;
  for (const auto& [where, highest] : to_come_) {
    const partition_state* known = pipeline_.find(where);
    if (known == nullptr || highest >= known->next_offset) to_come.push_back(where);
  }
  if (const auto done = pipeline_.hold_floor_back(to_come); !done) return write_failed(done.error());
  return std::nullopt;
}

std::optional<problem> applying::read_file(const std::string& path, const std::atomic<bool>& stop) {
  auto opened = line_reader::open(path);
  if (!opened) return std::move(opened.error());
  line_reader reader = std::move(opened.value());
  if (request_.records) reader.set_longest_line(k_kcat_line_bytes);
  std::uint64_t lines = 0;
  bool is_first = true;
  for (;;) {
    if (stop.load(std::memory_order_relaxed)) {
      cut_short_ = true;
      break;
    }
    engine_.serve_others(pipeline_);
    auto batch = std::make_unique<file_batch>();
    auto more =
        reader.next_batch(batch->lines, engine_.settings().step_records, batch_bytes(engine_.settings()));
    if (!more) {
      if (more.error().code == make_error_code(errc::aborted)) continue;
      return std::move(more.error());
    }
    if (!more.value()) break;
    if (is_first) {
      if (auto strange = look_at(expected(path), batch->lines.bytes, batch->lines.lines)) return strange;
    }
    if (is_first && has_byte_order_mark(batch->lines.lines.front())) {
      tell(engine_.log(), log_kind::resume_told, "{} begins with a byte order mark, which is ignored",
           reader.name());
    }
    is_first = false;
    if (space_.look(engine_.clock().steady()) && space_.low()) return space_.refusal();
    for (const input_line& line : batch->lines.lines) {
      lines = line.number;
      request_.records ? add_kcat_line(*batch, line) : add_line(*batch, line);
    }
    if (auto failed = handle(std::move(batch))) return failed;
    if (request_.progress) request_.progress(reader.bytes_read(), reader.bytes_total());
    if (pipeline_.stopped().contains(k_plain)) break;
  }
  lines_before_ += lines;
  return std::nullopt;
}

std::optional<problem> applying::finish(const std::atomic<bool>& stop) {
  const partition_state* state = pipeline_.find(k_plain);
  if (state != nullptr && !state->idle) {
    if (const auto done = pipeline_.leave_out_of_floor(std::span{&k_plain, 1}); !done)
      return write_failed(done.error());
  }
  do {
    engine_.serve_others(pipeline_);
    if (const auto done = pipeline_.resume_waiting(); !done) return write_failed(done.error());
  } while (pipeline_.has_deferred() && !stop.load(std::memory_order_relaxed));
  if (engine_.state().has_unwritten_start()) {  // there was no record
    if (const auto done = pipeline_.enter_positions({}, {}, {}); !done) return write_failed(done.error());
  }
  if (const auto synced = engine_.state().sync(); !synced) return write_failed(synced.error());
  tell_of_repeated();
  if (cut_short_ || pipeline_.has_left()) {
    return problem{make_error_code(errc::aborted),
                   "the command was stopped before everything was applied",
                   "applied events are durable; run the same command again: it skips them and goes on",
                   {}};
  }
  if (pipeline_.stopped().empty()) return std::nullopt;
  problem p{make_error_code(errc::partition_stopped), "", "", {}};
  std::vector<std::string> to_do;
  for (const auto& [where, why] : pipeline_.stopped()) {
    const std::string stopped = describe(why);
    p.diagnostics.push_back({"", 0, 0, "", std::string{message_of_stop(stopped).what}, ""});
    add_new(to_do, stopped);
  }
  p.hint = joined(to_do);
  p.message = "partitions are stopped; all others are handled:";
  if (p.diagnostics.size() > 1) return p;
  p.message = std::move(p.diagnostics.front().message);
  p.diagnostics.clear();
  return p;
}

std::optional<problem> applying::run(const std::atomic<bool>& stop) {
  if (auto wrong = choose_stream()) return wrong;
  if (auto strange = look_at_files()) return strange;
  if (request_.records) {
    if (auto foreign = refuse_foreign(stop)) return foreign;
  }
  if (auto failed = engine_.accept_start()) return failed;
  if (const auto done = pipeline_.leave_out_unread(pipeline::plain_files::are_read); !done)
    return write_failed(done.error());
  engine_.status().set_ready(true);
  pipeline_.between_steps([&] { return !stop.load(std::memory_order_relaxed); });
  if (request_.records) {
    if (auto failed = look_ahead()) return failed;
  }
  for (const std::string& path : request_.files) {
    if (auto failed = read_file(path, stop)) {
      if (!has_handled_ && failed->code == make_error_code(errc::usage)) return failed;
      // What was read before is whole and stays.
      if (auto also = finish(stop)) return also;
      return failed;
    }
    if (cut_short_ || pipeline_.stopped().contains(k_plain)) break;
  }
  return finish(stop);
}

}  // namespace

std::optional<problem> apply_files(engine& e, const apply_request& request, const std::atomic<bool>& stop) {
  return applying{e, request}.run(stop);
}

}  // namespace ratchet
