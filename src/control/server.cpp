// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <list>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "control/protocol.hpp"
#include "control/requests.hpp"
#include "control/socket.hpp"
#include "ports/foreign_group.hpp"
#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"
#include "ports/wait_until_durable.hpp"
#include "process/decider.hpp"
#include "process/signals.hpp"
#include "reports/slot_report.hpp"
#include "text/byte_sink.hpp"

namespace ratchet {

namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Before accept() is tried again when the process has no descriptor left.
constexpr std::chrono::milliseconds k_accept_pause{100};

/// Makes a descriptor readable; it is the only thing an eventfd is used for here.
void signal(const unique_fd& event) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(event.get(), &one, sizeof one));
}

void drain(const unique_fd& event) noexcept {
  std::uint64_t count = 0;
  static_cast<void>(!::read(event.get(), &count, sizeof count));
}

/// What only the owner of a replicated state can do.
std::optional<problem> refusal_of_standby(const instance_status& status) {
  const std::optional<slot_status> slot = status.snapshot().slot;
  if (!slot || slot->role == slot_role::owner) return std::nullopt;
  if (slot->role == slot_role::taking_over) {
    return problem{errc::source_unavailable,
                   "this instance is taking the state over just now, so nothing was done",
                   "try again",
                   {}};
  }
  const std::string what = "this instance, `" + slot->instance + "`, is a standby, so nothing was done; ";
  if (!slot->owner || slot->owner->instance == slot->instance) {
    const bool had_own_name = slot->owner.has_value();
    return problem{
        errc::not_owner,
        what + (had_own_name ? "the last owner had its name: it was this instance, or another one that has "
                               "the same `replicate.instance`"
                             : "it does not know yet which instance owns the state"),
        "type it on the machine where `/readyz` says `ok: owner`; while no broker answers, no "
        "instance owns the state: try again when they do" +
            std::string{had_own_name ? "; give each instance a `replicate.instance` of its own" : ""},
        {}};
  }
  return problem{errc::not_owner,
                 what + instance_text(slot->owner->instance, slot->owner->advertise) + " owns the state",
                 "type it on the machine of `" + slot->owner->instance + "`",
                 {}};
}

/// A thread that answers one connection.
struct worker {
  unique_fd connection;            ///< closed by the accepting thread, which may cut it before
  std::atomic<bool> asked{false};  ///< its request has come
  steady_clock::time_point since{steady_clock::now()};
  bool cut{false};  ///< of the accepting thread alone
  std::atomic<bool> finished{false};
  std::thread thread;
};

}  // namespace

struct control_server::implementation {
  implementation(std::filesystem::path dir, readable_store& s, std::vector<std::string> names,
                 const instance_status& b, const control_limits& l, checkpoint_taker* taker, waiting_actor a,
                 sink_actor s_actor, std::string g, handover_actor h)
      : state_dir{std::move(dir)},
        from{s},
        streams{std::move(names)},
        status{b},
        limits{l},
        checkpoints{taker},
        actor{std::move(a)},
        of_sinks{std::move(s_actor)},
        group{std::move(g)},
        hands_over{std::move(h)} {}

  std::filesystem::path state_dir;
  readable_store& from;
  std::vector<std::string> streams;
  const instance_status& status;
  control_limits limits;
  checkpoint_taker* checkpoints;  ///< may be null
  waiting_actor actor;            ///< may be empty
  sink_actor of_sinks;            ///< may be empty
  std::string group;              ///< of consumers; of the config
  handover_actor hands_over;      ///< may be empty

  unique_fd listener;
  unique_fd stop;              ///< readable for good once the server has to end; never read
  std::stop_source waits_end;  ///< the same, for who waits until a step is durable
  unique_fd finished;          ///< a worker has ended
  std::list<worker> workers;   ///< of the accepting thread alone
  std::thread acceptor;

  void accept_until_stopped();
  void accept_one();
  worker* oldest_idle();
  std::optional<std::chrono::milliseconds> until_one_gives_way();
  static void cut(worker&);
  void join_finished();
  void serve(worker&) noexcept;
  void answer(worker&);
  reported<void> answer_or_say_why(std::span<const std::string> words, int connection, const byte_sink&);
  reported<void> answer_words(std::span<const std::string> words, int connection, const byte_sink&);
  reported<void> take_checkpoint(const checkpoint_request&, const byte_sink&);
  reported<void> decide_about(const waiting_request&, int connection, const byte_sink&);
  [[nodiscard]] bool is_wanted(int connection) const;
  reported<void> act_on_sinks(const sink_request&, const std::string& by, const byte_sink&);
  reported<void> hand_over(const handover_request&, int connection, const byte_sink&);
  reported<std::unique_ptr<store_view>> durable_view();
  reported<void> wait_until_durable(std::uint64_t step);
};

void control_server::implementation::accept_until_stopped() {
  name_this_thread("ratchet:control");
  for (;;) {
    const auto is_full = [this] { return workers.size() >= limits.connections; };
    const std::optional<std::chrono::milliseconds> gives_way = is_full() ? until_one_gives_way() : 0ms;
    pollfd waited[3] = {{stop.get(), POLLIN, 0},
                        {finished.get(), POLLIN, 0},
                        {gives_way == 0ms ? listener.get() : -1, POLLIN, 0}};
    const int patience = gives_way && *gives_way > 0ms ? static_cast<int>(gives_way->count()) : -1;
    if (::poll(waited, 3, patience) < 0) continue;  // EINTR
    if (waited[0].revents != 0) break;
    if (waited[1].revents != 0) join_finished();
    if (waited[2].revents != 0 && is_full()) {
      if (until_one_gives_way() == 0ms) cut(*oldest_idle());
    } else if (waited[2].revents != 0) {
      // What it throws is lack of memory: the client is cut off, and the next one may find some.
      at_edge([this] { accept_one(); },
              [this](const char*) {
                static_cast<void>(stopped_before(steady_clock::now() + k_accept_pause, stop.get()));
              });
    }
  }
  for (worker& w : workers) w.thread.join();
  workers.clear();
}

void control_server::implementation::accept_one() {
  unique_fd connection{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!connection.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      static_cast<void>(stopped_before(steady_clock::now() + k_accept_pause, stop.get()));
    }
    return;
  }
  worker& w = workers.emplace_back();
  w.connection = std::move(connection);
  try {
    w.thread = std::thread{[this, &w] {
      serve(w);
      w.finished = true;
      signal(finished);
    }};
  } catch (...) {  // NOLINT: no thread to be had, or no memory for one: the client sees a cut connection
    workers.pop_back();
  }
}

worker* control_server::implementation::oldest_idle() {
  const auto idle =
      std::find_if(workers.begin(), workers.end(), [](const worker& w) { return !w.asked && !w.cut; });
  return idle == workers.end() ? nullptr : &*idle;
}

/// Who has connected and asks for nothing gives way to who may. None: nobody does, or one is about to.
std::optional<std::chrono::milliseconds> control_server::implementation::until_one_gives_way() {
  const bool one_ends = std::any_of(workers.begin(), workers.end(), [](const worker& w) { return w.cut; });
  const worker* idle = oldest_idle();
  if (one_ends || idle == nullptr) return std::nullopt;
  const auto left = idle->since + limits.idle_timeout - steady_clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms);
}

void control_server::implementation::cut(worker& w) {
  w.cut = true;
  static_cast<void>(::shutdown(w.connection.get(), SHUT_RDWR));  // its thread ends, and then there is room
}

void control_server::implementation::join_finished() {
  drain(finished);
  for (auto at = workers.begin(); at != workers.end();) {
    if (!at->finished) {
      ++at;
      continue;
    }
    at->thread.join();
    at = workers.erase(at);
  }
}

void control_server::implementation::serve(worker& w) noexcept {
  name_this_thread("ratchet:answer");
  at_edge([&] { answer(w); }, [](const char*) {});  // this connection is cut, and nothing else
}

/// answer_words(), with what it throws as an error: whoever asked is told.
reported<void> control_server::implementation::answer_or_say_why(std::span<const std::string> words,
                                                                 int connection, const byte_sink& sink) {
  const char* const what = "the running instance could not answer: ";
  try {
    return answer_words(words, connection, sink);
  } catch (const std::exception& thrown) {
    return problem{errc::internal, std::string{what} + thrown.what(), "", {}};
  } catch (...) {  // NOLINT: a program's own exception may be anything
    return problem{errc::internal, std::string{what} + "an exception that is not a std::exception", "", {}};
  }
}

void control_server::implementation::answer(worker& w) {
  const int connection = w.connection.get();
  const auto deadline = steady_clock::now() + limits.request_timeout;
  response_writer response{connection, limits.stall_timeout, stop.get()};
  unsigned char head[4];
  if (read_exactly(connection, head, sizeof head, deadline, stop.get()) != transfer::done) return;
  const std::size_t length = std::size_t{head[0]} << 24 | std::size_t{head[1]} << 16 |
                             std::size_t{head[2]} << 8 | std::size_t{head[3]};
  if (length > k_max_request_bytes) {
    static_cast<void>(response.fail({errc::usage, "the request is too large", "", {}}));
    return;
  }
  std::string body(length, '\0');
  if (read_exactly(connection, body.data(), length, deadline, stop.get()) != transfer::done) return;
  w.asked = true;
  const auto words = decode_request(body);
  // A request that cannot be read is answered as one of no words is.
  transfer sent = transfer::done;
  const auto answered =
      answer_or_say_why(words ? *words : std::vector<std::string>{}, connection, [&](std::string_view piece) {
        // Nothing to send: only whether to go on is asked.
        if (piece.empty()) return is_wanted(connection);
        sent = response.send(piece);
        return sent == transfer::done;
      });
  if (sent != transfer::done) return;
  sent = answered ? response.finish() : response.fail(answered.error());
}

reported<void> control_server::implementation::answer_words(std::span<const std::string> words,
                                                            int connection, const byte_sink& sink) {
  if (words.size() > 1 && words[0] == k_of_group) {
    if (auto foreign = foreign_group(state_dir, group, words[1])) return std::move(*foreign);
    words = words.subspan(2);
  }
  if (const auto asked = parse_checkpoint_words(words)) return take_checkpoint(*asked, sink);
  if (words.size() == 1 && words[0] == k_standby_note) {
    const status_snapshot live = status.snapshot();
    if (live.slot && live.slot->role != slot_role::owner) sink(standby_note(*live.slot));
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  if (const auto asked = parse_handover_words(words)) return hand_over(*asked, connection, sink);
  const auto asked_waiting = parse_waiting_words(words);
  const auto asked_sinks = parse_sink_words(words);
  if (asked_waiting || asked_sinks) {
    if (auto refused = refusal_of_standby(status)) return std::move(*refused);
  }
  if (asked_waiting) return decide_about(*asked_waiting, connection, sink);
  if (asked_sinks) return act_on_sinks(*asked_sinks, peer_name(connection), sink);
  RATCHET_TRY(const auto request, parse_words(words));
  const auto view = durable_view();
  const status_snapshot live = status.snapshot();
  const bool is_of_status = request.kind == read_request::kind_of::status;
  if (!view && view.error().code == errc::state_restoring && is_of_status) {
    answer_live_status(live, request, sink);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  if (!view) return view.error();
  return answer_request({*view.value(), streams, &live, {}}, request, sink);
}

reported<std::unique_ptr<store_view>> control_server::implementation::durable_view() {
  auto view = from.view();
  if (!view) return problem{view.error(), "cannot read the store: " + view.error().message(), "", {}};
  RATCHET_TRY(wait_until_durable(view.value()->step()));
  return std::move(view).value();
}

reported<void> control_server::implementation::take_checkpoint(const checkpoint_request& request,
                                                               const byte_sink& sink) {
  if (checkpoints == nullptr) {
    return problem{errc::usage, "this instance takes no checkpoints", "stop it, and ask again", {}};
  }
  RATCHET_TRY(const auto taken, checkpoints->take(request.target, [this] {
    return stopped_before(steady_clock::now(), stop.get());
  }));
  sink(checkpoint_report(taken, request.json));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// False: the server is being stopped, or whoever asked has gone.
bool control_server::implementation::is_wanted(int connection) const {
  return !stopped_before(steady_clock::now(), stop.get()) && !has_hung_up(connection);
}

reported<void> control_server::implementation::decide_about(const waiting_request& request, int connection,
                                                            const byte_sink& sink) {
  if (!actor) return problem{errc::usage, "this instance takes no decisions", "stop it, and ask again", {}};
  const auto view = from.view();
  if (!view) return problem{view.error(), "cannot read the store: " + view.error().message(), "", {}};
  waiting_desk desk;
  desk.act = actor;
  desk.by = peer_name(connection);
  desk.is_wanted = [this, connection] { return is_wanted(connection); };
  desk.look = [this] { return durable_view(); };
  desk.pause = [this](std::chrono::milliseconds pause) {
    return !stopped_before(steady_clock::now() + pause, stop.get());
  };
  return answer_waiting(*view.value(), streams, request, desk, sink);
}

reported<void> control_server::implementation::act_on_sinks(const sink_request& request,
                                                            const std::string& by, const byte_sink& sink) {
  if (!of_sinks) return problem{errc::usage, "this instance sends nothing to sinks", "", {}};
  return of_sinks(request, by, sink);
}

reported<void> control_server::implementation::hand_over(const handover_request& request, int connection,
                                                         const byte_sink& sink) {
  if (!hands_over)
    return problem{errc::usage, "this instance has no `replicate`, so there is no other one", "", {}};
  RATCHET_TRY(const auto done, hands_over([this, connection] { return is_wanted(connection); }));
  sink(handover_report(done, request.json));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> control_server::implementation::wait_until_durable(std::uint64_t step) {
  if (ratchet::wait_until_durable(from, step, steady_clock::now() + limits.durable_timeout,
                                  waits_end.get_token())) {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  if (waits_end.stop_requested())
    return problem{errc::source_unavailable, "the running instance is being stopped", "try again", {}};
  return problem{errc::source_unavailable,
                 "the running instance is busy: what was read is not synced yet",
                 "try again; if that does not help, check the disk and the instance's log",
                 {}};
}

control_server::control_server(std::unique_ptr<implementation> self) : self_{std::move(self)} {}

reported<std::unique_ptr<control_server>> control_server::start(
    const std::filesystem::path& state_dir, readable_store& from, std::vector<std::string> streams,
    const instance_status& status, const control_limits& limits, checkpoint_taker* taker, waiting_actor actor,
    sink_actor of_sinks, std::string group, handover_actor hands_over) {
  auto self = std::make_unique<implementation>(state_dir, from, std::move(streams), status, limits, taker,
                                               std::move(actor), std::move(of_sinks), std::move(group),
                                               std::move(hands_over));
  self->stop.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  self->finished.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->stop.valid() || !self->finished.valid()) {
    return problem{errc::io, std::string{"cannot make an eventfd: "} + std::strerror(errno), "", {}};
  }
  RATCHET_TRY(self->listener, listen_in(state_dir, limits.backlog));
  try {
    const signals_blocked blocked;
    self->acceptor = std::thread{[&s = *self] { s.accept_until_stopped(); }};
  } catch (const std::system_error& e) {
    remove_socket_in(state_dir);
    return problem{errc::io, std::string{"cannot start the control server's thread: "} + e.what(), "", {}};
  }
  return std::unique_ptr<control_server>{new control_server{std::move(self)}};
}

control_server::~control_server() {
  signal(self_->stop);
  self_->waits_end.request_stop();
  self_->acceptor.join();
  // First nobody listens, then the socket goes: in between a client is told that no instance runs.
  self_->listener.reset();
  remove_socket_in(self_->state_dir);
}

}  // namespace ratchet
