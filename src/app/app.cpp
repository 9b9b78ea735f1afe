// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/app.hpp"

#include <utility>

#include "app/engine.hpp"
#include "core/program_command_source.hpp"
#include "core/sequence_range.hpp"
#include "core/shown_id.hpp"
#include "process/program_log.hpp"
#include "process/signals.hpp"
#include "text/program_text.hpp"

namespace ratchet {

until until_signal() noexcept {
  return {until::kind::signal, nullptr};
}
until until_end() noexcept {
  return {until::kind::end, nullptr};
}
until until_set(const std::atomic<bool>& flag) noexcept {
  return {until::kind::flag, &flag};
}

struct app::implementation {
  implementation(std::unique_ptr<ratchet::engine> opened, log_ptr to)
      : engine{std::move(opened)}, log{std::move(to)} {}
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    engine.reset();
    end_program_log(log);
  }

  std::unique_ptr<ratchet::engine> engine;
  log_ptr log;
};

namespace {

std::string aggregate_of(std::string_view stream, std::string_view aggregate) {
  return "aggregate " + shown_id(aggregate) + " of stream " + shown_id(stream);
}

/// `what` was to be read.
problem failed_read(const std::error_code& code, const std::string& what) {
  if (code == errc::not_found) return {code, "there is no " + what, {}, {}};
  return {code, what + ": " + code.message(), {}, {}};
}

}  // namespace

app::app(std::unique_ptr<implementation> self) : self_{std::move(self)} {}
app::~app() = default;
app::app(app&&) noexcept = default;
app& app::operator=(app&&) noexcept = default;

reported<app> app::open(const config& c, const reducers& own, const sinks& to, const logger& log,
                        const resume_answer& answer) {
  engine_options options;
  const log_ptr lines = make_program_log(log);
  options.log = lines;
  options.sinks = to;
  options.resume = answer.option;
  options.resumed_by = {answer.by, answer.why};
  set_command_source_of_program(c.state.path);
  auto opened = engine::open(c, own, std::move(options));
  if (!opened) return as_program_text(std::move(opened.error()));
  return app{std::make_unique<implementation>(std::move(opened.value()), lines)};
}

reported<void> app::run(until when, const resume_answer& answer) {
  static const std::atomic<bool> never{false};
  std::optional<stop_signals> signals;
  if (when.when() == until::kind::signal) signals.emplace();
  const std::atomic<bool>& stop = signals                  ? signals->requested()
                                  : when.flag() != nullptr ? *when.flag()
                                                           : never;
  const bool answered = answer.option != resume_option::none;
  if (answered) self_->engine->answer(answer.option, {answer.by, answer.why});
  auto failed = self_->engine->run(when.when() == until::kind::end, stop);
  // It was of what this run would find; a later one is asked anew.
  if (answered) self_->engine->answer(resume_option::none, {});
  if (failed) return as_program_text(std::move(*failed));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<transacted> app::transact(std::string_view stream, std::string_view aggregate, std::string_view key,
                                   const std::function<outcome(state&, effects&)>& function,
                                   const transact_options& options) {
  return self_->engine->transact(stream, aggregate, key, function, options);
}

std::vector<question> app::questions() const {
  return as_program_text(self_->engine->questions());
}

reported<snapshot> app::read(std::string_view stream, std::string_view aggregate) const {
  auto found = self_->engine->read(stream, aggregate);
  if (!found) return failed_read(found.error(), aggregate_of(stream, aggregate));
  stored_aggregate& stored = found.value();
  if (!stored.value)
    return failed_read(make_error_code(errc::not_found),
                       aggregate_of(stream, aggregate) + ", deleted at sequence " + to_text(stored.sequence));
  return snapshot{stored.sequence, stored.id, stored.time, std::move(*stored.value)};
}

reported<sequence> app::last_sequence(std::string_view stream, std::string_view aggregate) const {
  const auto found = self_->engine->read(stream, aggregate);
  if (!found) return failed_read(found.error(), aggregate_of(stream, aggregate));
  return found.value().sequence;
}

reported<std::string> app::read(const table_key& at) const {
  auto found = self_->engine->read(at);
  if (!found)
    return failed_read(found.error(), "row " + shown_id(at.key) + " in table " + shown_id(at.table));
  return std::move(found).value();
}

reported<table_page> app::scan(const table_range& range) const {
  auto found = self_->engine->scan(range);
  if (!found) return failed_read(found.error(), "rows of table " + shown_id(range.table));
  return std::move(found).value();
}

}  // namespace ratchet
