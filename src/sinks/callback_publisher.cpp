// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/callback_publisher.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"
#include "sinks/deliveries.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_room = 64;
/// Where there is no memory: how long until it is tried again.
constexpr std::chrono::milliseconds k_pause_behind_exception{10};

std::string_view header_of(const output_row& row, std::string_view name) {
  for (const auto& [known, value] : row.headers) {
    if (known == name && value) return *value;
  }
  return {};
}

/// A source is "/ratchet/<group>/<stream>", and no stream has a slash in its name.
std::string_view stream_of(const output_row& row) {
  const std::string_view source = row.source;
  return source.substr(source.rfind('/') + 1);
}

sink_message message_of(const std::string& sink, const output_row& row) {
  const auto view = [](const std::optional<std::string>& bytes) {
    return bytes ? std::optional<std::string_view>{*bytes} : std::nullopt;
  };
  return {.sink = sink,
          .id = header_of(row, "ce_id"),
          .stream = stream_of(row),
          .aggregate = row.aggregate,
          .key = view(row.key),
          .payload = view(row.value),
          .type = row.type,
          .content_type = header_of(row, "content-type"),
          .time = row.time,
          .sequence = row.sequence};
}

class callback_publisher final : public publisher {
 public:
  callback_publisher(std::string sink, callback_sink to) : sink_{std::move(sink)}, to_{std::move(to)} {
    thread_ = std::thread{[this] { run(); }};
  }
  ~callback_publisher() override {
    {
      const std::lock_guard lock{mutex_};
      ends_ = true;
    }
    more_.notify_one();
    thread_.join();
  }
  callback_publisher(const callback_publisher&) = delete;
  callback_publisher& operator=(const callback_publisher&) = delete;
  callback_publisher(callback_publisher&&) = delete;
  callback_publisher& operator=(callback_publisher&&) = delete;

  [[nodiscard]] sending send(const output_row& row) override {
    {
      const std::lock_guard lock{mutex_};
      if (queue_.size() >= k_room) return sending::full;
      queue_.push_back(row);
    }
    more_.notify_one();
    return sending::taken;
  }
  [[nodiscard]] std::vector<delivery> delivered() override { return ended_.take(); }
  void wait(std::chrono::milliseconds most) override { ended_.wait(most); }
  void on_progress(std::function<void()> told) override { ended_.on_progress(std::move(told)); }

 private:
  void run() {
    name_this_thread("ratchet-sink");
    for (;;) {
      output_row row;
      {
        std::unique_lock lock{mutex_};
        more_.wait(lock, [this] { return ends_ || !queue_.empty(); });
        if (ends_) return;
        row = std::move(queue_.front());
        queue_.pop_front();
      }
      const delivery said = call(row);
      // A message of whose end nobody hears would hold its lane for ever: what was lacking may be back.
      while (!at_edge([&] { ended_.add(said); },
                      [](const char*) { std::this_thread::sleep_for(k_pause_behind_exception); })) {
      }
    }
  }

  [[nodiscard]] delivery call(const output_row& row) const noexcept {
    sink_answer said;
    at_edge([&] { said = to_(message_of(sink_, row)); },
            [&](const char* thrown) {
              said.ended = sink_answer::how::again;
              at_edge([&] { said.why = thrown; }, [](const char*) {});
            });
    delivery d{.position = row.position, .text = std::move(said.why)};
    switch (said.ended) {
      case sink_answer::how::delivered:
        d.ended = delivery::how::done;
        break;
      case sink_answer::how::again:
        d.ended = delivery::how::again;
        break;
      case sink_answer::how::refused:
        d.ended = delivery::how::refused;
        break;
    }
    return d;
  }

  std::string sink_;
  callback_sink to_;
  deliveries ended_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<output_row> queue_;
  bool ends_{false};
  std::thread thread_;  ///< last
};

}  // namespace

std::unique_ptr<publisher> make_callback_publisher(std::string sink, callback_sink to) {
  return std::make_unique<callback_publisher>(std::move(sink), std::move(to));
}

}  // namespace ratchet
