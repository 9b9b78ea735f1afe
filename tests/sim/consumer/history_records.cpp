// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that hold several events.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sim/consumer/history.hpp"

namespace ratchet::sim {

namespace {

constexpr std::size_t k_most_events = 12;

class bundler {
 public:
  bundler(history& of, workload_random dice) : of_{of}, dice_{dice} {}

  void run() {
    const std::vector<const message*> sent = std::exchange(of_.log, {});
    for (message& m : of_.messages) m.is_record = setup_of(m).bundles == bundling::none;
    for (const message* m : sent) {
      if (m->is_record) {
        of_.log.push_back(m);
        continue;
      }
      open_record& open = open_[{m->stream, m->partition}];
      if (open.events.empty()) open.wanted = one_in(4) ? 1 : 1 + dice_.below(k_most_events);
      open.events.push_back(m);
      if (open.events.size() >= open.wanted) close(open);
    }
    for (auto& [where, open] : open_) close(open);
  }

 private:
  struct open_record {
    std::vector<const message*> events;
    std::size_t wanted{0};
  };
  /// What stands around the events and between them.
  struct frame {
    std::string before;
    std::string between;
    std::string behind;
  };

  [[nodiscard]] bool one_in(std::uint64_t n) { return dice_.below(n) == 0; }
  [[nodiscard]] const stream_setup& setup_of(const message& m) const { return of_.streams[m.stream]; }

  void close(open_record& open) {
    const std::vector<const message*> events = std::exchange(open.events, {});
    if (events.empty()) return;
    const message& last = *events.back();
    const bool is_single = setup_of(last).bundles == bundling::batch && events.size() == 1;
    send(is_single ? alone(last) : of_several(events));
    if (one_in(12)) send(of_none(last));
    if (!of_.well_behaved && one_in(15)) send(unreadable(last));
    if (one_in(6))
      of_.log.push_back(made_[made_.size() - 1 - dice_.below(std::min<std::size_t>(made_.size(), 8))]);
  }

  void send(const message& record) {
    made_.push_back(&record);
    of_.log.push_back(&record);
  }

  [[nodiscard]] const message& alone(const message& event) {
    message& m = of_.messages.emplace_back(event);
    // Its headers' views lead into the strings of the first one, which stays where it is.
    m.is_record = true;
    m.as_sent = &event;
    return m;
  }

  [[nodiscard]] message& begin_record(const message& like, message_kind kind) {
    message& m = of_.messages.emplace_back();
    m.kind = kind;
    m.stream = like.stream;
    m.partition = like.partition;
    m.time = like.time;
    m.key = "record " + std::to_string(of_.messages.size());
    const bool says_so = setup_of(like).bundles == bundling::batch && !one_in(3);
    if (says_so) m.headers.push_back({"content-type", "application/cloudevents-batch+json"});
    return m;
  }

  [[nodiscard]] frame draw_frame(const stream_setup& setup) {
    constexpr std::array k_breaks{"\n", "\n\n", "\r\n", "\n \t\n"};
    switch (setup.bundles) {
      case bundling::lines:
        return {"", k_breaks.at(dice_.below(k_breaks.size())), ""};
      case bundling::member:
        return {R"({"of":{"records":[7]}, "records" :[)", one_in(2) ? "," : " , ", R"(], "by":"us"})"};
      default:
        return {one_in(2) ? "[" : " [ ", one_in(2) ? "," : ",\n", one_in(2) ? "]" : " ] "};
    }
  }

  /// Of an array a value that is no JSON would break the whole; in lines each stands for itself.
  [[nodiscard]] static std::string text_of(const message& event, const stream_setup& setup) {
    if (event.kind != message_kind::malformed || setup.bundles == bundling::lines)
      return setup.is_cloudevents ? structured_text(event, setup) : event.value.value_or("");
    return setup.is_cloudevents ? R"({"specversion":"1.0","id":"7"})" : R"({"n":7,"v":{}})";
  }

  [[nodiscard]] const message& of_several(const std::vector<const message*>& events) {
    const stream_setup& setup = setup_of(*events.back());
    message& record = begin_record(*events.back(), message_kind::event);
    // It is sent when the last of them is there, whatever repeats of old ones are among them.
    for (const message* event : events) {
      if (record.time) record.time = std::max(record.time, event->time);
    }
    const frame around = draw_frame(setup);
    std::string text = around.before;
    for (const message* event : events) {
      message& part = of_.messages.emplace_back(*event);
      part.is_record = false;
      part.as_sent = event;
      part.time = record.time;
      part.key = record.key;
      part.headers = record.headers;
      part.alone = text_of(*event, setup);
      // What stands before the bracket and behind it is kept.
      const bool has_space = around.before == " [ ";
      part.value =
          (has_space ? " [" : around.before) + part.alone + (around.behind == " ] " ? "] " : around.behind);
      if (!record.parts.empty()) text += around.between;
      text += part.alone;
      record.parts.push_back(&part);
    }
    record.value = text + around.behind;
    return record;
  }

  [[nodiscard]] const message& of_none(const message& like) {
    message& record = begin_record(like, message_kind::ignored);
    const frame around = draw_frame(setup_of(like));
    record.value =
        around.before + (setup_of(like).bundles == bundling::lines ? " \n\n" : " ") + around.behind;
    return record;
  }

  [[nodiscard]] const message& unreadable(const message& like) {
    message& record = begin_record(like, message_kind::malformed);
    if (one_in(4)) return record;  // null
    switch (setup_of(like).bundles) {
      case bundling::lines:
        record.value = "";
        break;
      case bundling::member:
        record.value = one_in(2) ? R"({"records":{}})" : R"({"records":[{"p":"a1"})";
        break;
      default:
        record.value = R"([{"p":"a1","specversion":"1.0"},)";
    }
    return record;
  }

  history& of_;
  workload_random dice_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, open_record> open_;  ///< by stream and partition
  std::vector<const message*> made_;
};

}  // namespace

std::vector<std::pair<const message*, spot>> events_of(const message& record, std::int64_t offset) {
  if (record.parts.empty()) return {{&record, {.offset = offset, .whole = &record}}};
  std::vector<std::pair<const message*, spot>> out;
  for (std::uint32_t i = 0; i < record.parts.size(); ++i) {
    const bool more = i + 1 < record.parts.size();
    out.push_back({record.parts[i], {.offset = offset, .index = i, .more = more, .whole = &record}});
  }
  return out;
}

void bundle(history& of, workload_random dice) {
  bundler{of, dice}.run();
}

std::string structured_text(const message& m, const stream_setup& setup) {
  std::string text = R"({"specversion":"1.0","type":")" + std::string{k_event_type} + R"(","source":")" +
                     m.source + R"(","id":")" + m.id_text + R"(","subject":"a)" +
                     std::to_string(m.aggregate) + R"(","data":)" + (m.payload.empty() ? "{}" : m.payload);
  if (!setup.arrival) text += R"(,"sequence":")" + m.sequence_text + "\"";
  return text + (m.kind == message_kind::malformed ? "," : "}");
}

}  // namespace ratchet::sim
