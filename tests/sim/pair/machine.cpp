// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/machine.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "consumer/consumer_session.hpp"
#include "consumer/slot_source.hpp"
#include "ports/error_class.hpp"
#include "sim/pair/oracle.hpp"
#include "store/files/synced_file.hpp"
#include "store/layout/layout.hpp"
#include "store/replica.hpp"
#include "store/rocks_open.hpp"
#include "support/killed_directory.hpp"
#include "support/replica_log.hpp"

namespace ratchet::pair_sim {

namespace {

namespace fs = std::filesystem;

constexpr hash128 k_meaning{7, 7};

/// The process's own log, as lines of the trace.
class trace_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  trace_sink(setting& to, std::string who) : to_{to}, who_{std::move(who)} {}

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    to_.trace(who_, "  log: " + std::string{m.payload.data(), m.payload.size()});
  }
  void flush_() override {}
  setting& to_;
  std::string who_;
};

struct folding {
  static constexpr reducer_traits traits{
      .name = "folding", .version = 1, .full_state = false, .has_effects = true};
  outcome apply(const event& e, state& s, effects& fx) const {
    s.assign(folded(std::string{s.value()}, std::string{e.payload}));
    fx.publish({.topic = k_output_topic, .key = e.aggregate, .payload = s.value()});
    return done();
  }
};

[[nodiscard]] config configured(const fs::path& directory, const std::string& name) {
  config c;
  c.kafka.brokers = {"broker:9092"};
  c.kafka.group = "g";
  c.state.path = directory;
  c.memory_limit = std::uint64_t{32} << 20U;
  c.step_records = 4;
  c.replicate = replicate_config{k_log_topic, name, {}, "lz4", {}, {}};
  stream_config& s = c.streams.emplace_back();
  s.name = k_stream;
  s.topics = {k_input_topic};
  s.start = start_position::earliest;
  s.envelope.aggregate = "/p";
  s.envelope.sequence = "/n";
  s.dedup.ids = id_kind::none;
  s.record_times = record_times::trusted;
  s.reducer.from = "/v";
  s.outputs = {k_output_topic};
  return c;
}

}  // namespace

void doings::add(const doings& more) {
  processes += more.processes;
  leads += more.leads;
  clients += more.clients;
  killed += more.killed;
  stopped += more.stopped;
  handed_over += more.handed_over;
  compared += more.compared;
}

machine::machine(cluster& of, setting& in, judge& j, std::string name, bool bases)
    : of_{of},
      in_{in},
      judge_{j},
      name_{std::move(name)},
      clock_{in},
      settings_{configured(files_.path() / "state", name_)},
      lines_{silent_log()} {
  auto made = make_streams(settings_, reducers{}.add(k_stream, folding{}));
  if (!made) throw broken(made.error().message);
  streams_ = std::move(*made);
  in_.paths.push_back(files_.path());
  if (bases) settings_.replicate->base.at_least = 1;
  settings_.replicate->digest = {std::chrono::seconds{2}, 400};  // small pieces, so that all are met
  tasks_ = make_tasks(streams_);
  if (in_.lines != nullptr)
    lines_ = std::make_shared<spdlog::logger>("sim", std::make_shared<trace_sink>(in_, name_));
}

machine::~machine() = default;

// The process as the world sees it.

void machine::start() {
  ++did_.processes;
  in_.trace(name_, "== starts");
  is_dead_ = stop_ = false;
  dies_in_.reset();
  freezes_in_.reset();
  frozen_until_ = {};
  player_ = std::make_unique<player>([this] { live(); });
}

void machine::go_on() {
  if (source_ != nullptr) source_->beat();
  player_->go_on();
  if (player_->is_over()) player_.reset();
  if (!broken_.empty()) throw broken(broken_);
}

void machine::pause() {
  if (!is_dead_) player_->pause();
}

void machine::call() {
  if (is_dead_) return;
  if (dies_in_ && (*dies_in_)-- == 0) {
    is_dead_ = true;
    ++did_.killed;
    throw process_died{};
  }
  bool has_turn = in_.draw(8) != 0;
  if (freezes_in_ && (*freezes_in_)-- == 0) {
    freezes_in_.reset();
    ++did_.stopped;
    frozen_until_ = in_.now + freezes_for_;
    in_.trace(name_, "stands still for " + std::to_string(freezes_for_.count()) + " ms");
    has_turn = false;
  }
  if (!has_turn) pause();
}

void machine::wait() {
  call();
  pause();
}

// The process as it sees itself.

void machine::live() {
  bool is_killed = false;
  try {
    open();
    run();
    in_.trace(name_, "== ends");
  } catch (const process_died&) {
    in_.trace(name_, "== is killed");
    is_killed = true;
  } catch (const std::exception& what) {
    broken_ = what.what();
  }
  is_dead_ = true;
  close(is_killed);
}

void machine::open() {
  store_options wanted;
  wanted.path = settings_.state.path;
  wanted.group = settings_.kafka.group;
  wanted.streams = meanings_of(streams_);
  wanted.replicated = true;
  wanted.writes = write_on::owner_thread;
  wanted.database_bytes = std::uint64_t{4} << 20U;
  wanted.remembered_bytes = std::uint64_t{1} << 20U;
  auto opened = open_store(wanted);
  if (!opened) throw broken(name_ + " cannot open its state: " + opened.error().message);
  rocks_ = opened.value().get();
  synced_.reset();
  note_synced();
  safe_bytes_ = 0;  // what lies before this opening is in tables, or was synced
  replica& rows = *replica_of(*rocks_);
  judge_.on_rest(name_, rows, store_support::rows_of(*rocks_));
  replica_ = std::make_unique<judged_replica>(rows, name_, judge_, *this, [this] { note_synced(); });
  auto log = std::make_unique<process_log>(of_.log, judge_, *this);
  log_ = log.get();
  auto bases = std::make_unique<process_log>(of_.bases, judge_, *this);
  bases->under().lands = true;
  replicate::owner_options rules;
  rules.reading.newest_layout = rules.layout = layout::k_schema_version;
  rules.reading.meaning = rules.meaning = k_meaning;
  if (const auto at = rows.position()) rules.reading.lineage = at->lineage;
  rules.new_lineage = {in_.dice.next(), in_.dice.next()};
  rules.instance = name_;
  status_.emplace(clock_.now());
  meter_.emplace(clock_);
  inbox_.emplace();
  asks_ = false;
  names_.emplace(name_);
  desk_.emplace();
  handover_.emplace(*desk_, clock_, lines_, settings_.kafka.group);
  check_.emplace(lead_check::dependencies{
      settings_, &space_, *status_, lines_, [this] {
        return is_misfit_ ? std::optional{problem{errc::sink_missing, "a sink is missing", "", {}}}
                          : refusal_of_config(*rocks_);
      }});
  namesakes_.emplace(namesakes::dependencies{settings_, *names_, clock_, *status_, lines_});
  store_ = std::make_unique<replicated_store>(
      replicated_store::dependencies{std::move(opened.value()), *replica_, std::move(log), std::move(bases),
                                     clock_, [this] { return in_.dice.next(); }, settings_.replicate->base,
                                     settings_.replicate->digest, "log", "log.base", lines_,
                                     std::launch::deferred},
      rules);
}

/// As engine::run_replicated().
void machine::run() {
  for (int tries = 0;; ++tries) {
    ++did_.clients;
    group_source from{of_, in_, judge_, *this, names_->next(store_->slot().position().epoch, clock_.now())};
    source_ = &from;
    struct at_end {
      group_source*& to;
      ~at_end() { to = nullptr; }
    } const forget{source_};
    session_result ended;
    {
      standby waiting{{settings_, *store_, from, clock_, *status_, *meter_, lines_, &stop_, &*handover_,
                       &*check_, &*namesakes_}};
      ended = follow_and_lead(waiting, from);
      from.close({});
    }
    if (ended.why) in_.trace(name_, "its client ended: " + ended.why->message);
    switch (ended.end) {
      case session_end::drained:
        return;
      case session_end::client_lost:
      case session_end::left:
        break;
      case session_end::refused:
        if (ended.why && is_sat_out(classify(ended.why->code))) break;
        throw broken(name_ + " refuses to go on: " + ended.why->message);
      case session_end::caught_up:
      case session_end::store_lost:
      case session_end::rebuild:
        throw broken(name_ + " ends: " + (ended.why ? ended.why->message : ""));
    }
    store_->slot().unassigned();
    if (store_->slot().gives_way()) names_->gave();
    inbox_->transactions.store_lost();
    inbox_->transactions.close();
    store_->end_lead();
    wait();
  }
}

/// As engine::follow_and_lead().
session_result machine::follow_and_lead(standby& waiting, source& group) {
  for (;;) {
    inbox_->tasks.close();
    if (auto ended = waiting.wait_for_lead(); !ended) return std::move(ended).error();
    ++did_.leads;
    names_->led(store_->slot().position().epoch);
    inbox_->tasks.open();
    if (!load_tasks(streams_, tasks_, *store_)) throw broken("the streams' states cannot be read");
    slot_source from{group, k_slot, clock_, [&] {
                       look_at_handover(group);
                       waiting.note_lead();
                       return store_->turn() && store_->is_leading();
                     }};
    inbox_->transactions.open();
    session_result ended = session(from);
    if (handover_->is_leaving() && (ended.end != session_end::drained || stop_)) {
      handover_->gave_up(ended.why ? ended.why->message : "it is being stopped");
    } else if (handover_->is_leaving()) {
      ++did_.handed_over;
      store_->end_lead();
      names_->gave();
      handover_->gave(store_->slot().position().epoch);
      return {session_end::left, std::nullopt};
    }
    const bool is_lost =
        from.was_given_back() || from.owes_answer() || !store_->is_leading() || store_->has_lost_steps();
    if (ended.end == session_end::drained || !is_lost) return ended;
    if (ended.why) in_.trace(name_, "its session ended: " + ended.why->message);
    inbox_->transactions.store_lost();
    inbox_->transactions.close();
    if (from.was_lost()) {
      waiting.end_with_client();
      return {session_end::left, std::nullopt};
    }
    waiting.stand_by_again(from.was_given_back(), from.owes_answer());
  }
}

void machine::look_at_handover(source& group) {
  if (std::exchange(asks_, false)) (void)desk_->post();
  handover_->look(group);
}

session_result machine::session(source& from) {
  process_outlet outlet{name_, in_, judge_, *this};
  session_options options;
  options.stop = &stop_;
  options.leave = &handover_->is_leaving();
  options.random = in_.dice.next();
  options.decoding = decode_on::owner_thread;
  consumer_session session{{settings_,
                            streams_,
                            tasks_,
                            *store_,
                            from,
                            clock_,
                            *status_,
                            *meter_,
                            lines_,
                            &*inbox_,
                            &space_,
                            &outlet,
                            {}},
                           options};
  return session.run();
}

/// A process that is killed does not close its files: what is there at that moment is put aside meanwhile.
void machine::close(bool is_killed) {
  const fs::path aside = files_.path() / "aside";
  const bool leaves_files = is_killed && store_ != nullptr;
  if (leaves_files) store_support::copy_as_killed(*rocks_, settings_.state.path, aside);
  try {
    if (store_ != nullptr && broken_.empty()) {
      judge_.on_rest(name_, *replica_, store_support::rows_of(*rocks_));
      did_.compared += store_->compared().same;
      if (const auto at = store_->compared().first_difference)
        throw broken(name_ + " has another digest than the owner at step " + std::to_string(*at));
    }
  } catch (const std::exception& what) {
    broken_ = what.what();
  }
  store_.reset();
  rocks_ = nullptr;
  log_ = nullptr;
  replica_.reset();
  inbox_.reset();
  if (!leaves_files) return;
  fs::remove_all(settings_.state.path);
  fs::rename(aside, settings_.state.path);
}

// Its directory.

void machine::lose_directory() {
  in_.trace(name_, "loses its directory");
  fs::remove_all(settings_.state.path);
}

void machine::back_up() {
  if (!fs::exists(settings_.state.path)) return;
  fs::remove_all(files_.path() / "copy");
  fs::copy(settings_.state.path, files_.path() / "copy", fs::copy_options::recursive);
  has_backup_ = true;
}

void machine::put_back() {
  if (!has_backup_) return;
  in_.trace(name_, "has an older copy of its directory");
  fs::remove_all(settings_.state.path);
  fs::copy(files_.path() / "copy", settings_.state.path, fs::copy_options::recursive);
}

fs::path machine::newest_log() const {
  fs::path newest;
  for (const auto& entry : fs::directory_iterator{settings_.state.path}) {
    if (entry.path().extension() == ".log") newest = std::max(newest, entry.path());
  }
  return newest;
}

/// What was there when the store said last that something is synced stays.
void machine::note_synced() {
  const auto told = synced_file::read(settings_.state.path);
  if (!told || synced_ == told.value()) return;
  const fs::path log = newest_log();
  safe_bytes_ = log.empty() ? 0 : fs::file_size(log);
  synced_ = told.value();
}

void machine::lose_tail() {
  if (!fs::exists(settings_.state.path)) return;
  note_synced();
  const fs::path log = newest_log();
  if (log.empty() || fs::file_size(log) <= safe_bytes_) return;
  const std::uintmax_t all = fs::file_size(log);
  const std::uintmax_t left = safe_bytes_ + in_.draw(static_cast<std::uint32_t>(all - safe_bytes_) + 1);
  in_.trace(name_, "the power is cut: " + std::to_string(left) + " bytes are left of " + std::to_string(all));
  fs::resize_file(log, left);
}

}  // namespace ratchet::pair_sim
