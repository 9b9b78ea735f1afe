// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/history.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "decode/event_id_text.hpp"

namespace ratchet::sim {

namespace {

/// How often each comes up, in the order of fault_kind. What ends in a rebuild is rare: it forgets all.
constexpr std::array<std::uint8_t, k_fault_kinds> k_weights{
    12, 12, 4, 10, 6, 5, 5, 6, 5, 4, 6, 2, 3, 5, 1, 3, 4, 1, 1, 2, 2, 5, 4, 5, 3, 3, 1, 3, 3, 25, 5, 3};

/// Those that leave a hole in what is handled, or start over, once an operator has answered them.
[[nodiscard]] constexpr bool may_lose(fault_kind k) noexcept {
  switch (k) {
    case fault_kind::retention:
    case fault_kind::topic_anew:
    case fault_kind::foreign_commit:
    case fault_kind::foreign_member:
    case fault_kind::other_store:
    case fault_kind::directory_lost:
    case fault_kind::directory_restore:
    case fault_kind::bit_rot:
    case fault_kind::compaction:
    case fault_kind::zombie:
    case fault_kind::decision:
      return true;
    default:
      return false;
  }
}

/// 8-4-4-4-12 digits, as a UUIDv7 is written.
[[nodiscard]] std::string spell(event_id id) {
  constexpr const char* k_hex = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (unsigned i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text.push_back('-');
    const std::uint64_t half = i < 16 ? id.high : id.low;
    text.push_back(k_hex[(half >> (4 * (15 - i % 16))) & 0xFU]);
  }
  return text;
}

/// RFC 9562, section 5.7.
[[nodiscard]] event_id uuid_v7(std::int64_t time, std::uint64_t random_a, std::uint64_t random_b) {
  event_id id;
  id.high = (static_cast<std::uint64_t>(time) << 16U) | 0x7000U | (random_a & 0xFFFU);
  id.low = (random_b >> 2U) | 0x8000'0000'0000'0000U;
  return id;
}

class author {
 public:
  author(history& into, std::uint64_t seed)
      : into_{into}, dice_{seed}, asking_{seed ^ k_asking}, pausing_{seed ^ k_pausing} {}

  void write(std::uint32_t events) {
    choose_settings();
    write_messages(events);
    bundle(into_, workload_random{into_.seed ^ k_bundling});
    write_faults();
    write_requests();
  }

 private:
  // Dice of their own, so that what they decide changes nothing else.
  static constexpr std::uint64_t k_asking = 0xA5C1'77E5'0000'A5C1U;
  static constexpr std::uint64_t k_pausing = 0x5710'0000'F0F0'5E7EU;
  static constexpr std::uint64_t k_bundling = 0xB0B0'5E7E'4A1B'0001U;

  struct aggregate {
    std::uint32_t stream;
    std::uint32_t partition;
    std::uint64_t epoch;
    std::uint64_t next;
  };

  [[nodiscard]] bool one_in(std::uint64_t n) { return dice_.below(n) == 0; }
  [[nodiscard]] std::uint32_t up_to(std::uint32_t n) {
    return static_cast<std::uint32_t>(dice_.below(n + 1));
  }

  void choose_settings() {
    into_.well_behaved = one_in(3);
    into_.step_records = 1 + up_to(one_in(4) ? 3 : 60);
    into_.records_per_turn = 1 + up_to(15);
    into_.sync_every_step = one_in(6);
    const std::size_t short_queue = 1 + up_to(4);
    const bool is_short = one_in(4);
    const std::uint32_t streams = one_in(4) ? 2 : 1;
    for (std::uint32_t i = 0; i < streams; ++i) {
      stream_setup s;
      s.strict = one_in(3);
      s.arrival = !s.strict && one_in(2);
      choose_ids(s, i);
      s.deferred = (s.strict || s.arrival) && (into_.seed / 32 + i) % 3 == 0;
      s.folds = one_in(2);
      s.in_headers = one_in(2);
      s.has_epochs = !s.arrival && !s.in_headers && one_in(3);
      const bool may_wrap = s.ids != id_kind::none && !s.in_headers && !s.has_epochs;
      s.is_cloudevents = may_wrap && (into_.seed / 64 + i) % 2 == 0;
      choose_bundles(s, i);
      s.starts_at_end = !into_.well_behaved && one_in(10);
      s.partitions = 1 + up_to(3);
      s.window = into_.well_behaved || one_in(3) ? 86'400'000 : 200 + up_to(3'000);
      s.skew = 50 + up_to(1'000);
      s.checks_times = (into_.seed / 16 + i) % 2 == 0;
      if (s.strict) choose_gaps(s);
      if (one_in(3)) choose_failures(s);
      if ((s.strict || s.fails) && one_in(4)) choose_limits(s);
      choose_retention(s, i);
      choose_too_old(s, i);
      into_.streams.push_back(s);
    }
    // In order latest an event that waits above more dead ones than are looked up is out of reach.
    const bool may_be_short = std::all_of(
        into_.streams.begin(), into_.streams.end(),
        [](const stream_setup& s) { return s.strict || s.arrival || (!s.fails && !s.parks_too_old); });
    if (is_short && may_be_short) into_.queue_events = short_queue;
  }

  /// Fields from headers would be those of all events of a record.
  void choose_bundles(stream_setup& s, std::uint32_t stream) {
    if (s.in_headers || mixed(0, stream) % 5 >= 2) return;
    constexpr std::array k_ways{bundling::array, bundling::member, bundling::lines};
    s.bundles = s.is_cloudevents ? bundling::batch : k_ways.at(mixed(1, stream) % k_ways.size());
  }

  /// So short that much is forgotten; as long as an id is remembered at least, else no config may.
  void choose_retention(stream_setup& s, std::uint32_t stream) {
    if (into_.well_behaved || mixed(2, stream) % 3 != 0) return;
    s.window = std::min<std::int64_t>(s.window, 200 + static_cast<std::int64_t>(mixed(3, stream) % 3'000));
    s.retention = s.window + s.skew + static_cast<std::int64_t>(mixed(4, stream) % 2'000);
    s.changes_retention = mixed(5, stream) % 3 == 0;
    if (s.ids == id_kind::none || s.ids == id_kind::monotonic)
      s.retention = 100 + static_cast<std::int64_t>(mixed(4, stream) % 4'000);
    pauses_ = true;
  }

  /// Where anything may be too old, and the config takes it.
  void choose_too_old(stream_setup& s, std::uint32_t stream) const {
    const bool may_be = s.arrival ? s.ids != id_kind::monotonic : s.retention.has_value();
    s.parks_too_old = may_be && !s.deferred && mixed(6, stream) % 2 == 0;
  }

  /// Where something is forgotten, nothing comes for a while now and then, and some producers begin anew.
  void pause(std::vector<aggregate>& aggregates) {
    if (!pauses_ || pausing_.below(20) != 0) return;
    time_ += static_cast<std::int64_t>(pausing_.below(6'000));
    for (aggregate& a : aggregates) {
      if (into_.streams[a.stream].retention && pausing_.below(2) == 0)
        a.next = first_of(into_.streams[a.stream]);
    }
  }

  /// A number that depends on the seed and these alone.
  [[nodiscard]] std::uint64_t mixed(std::uint64_t what, std::uint32_t stream) const {
    return workload_random{(into_.seed * 64 + what * 8 + stream) ^ k_bundling}.next() >> 8U;
  }

  void choose_ids(stream_setup& s, std::uint32_t stream) {
    if (!s.arrival && one_in(5)) {
      s.ids = id_kind::none;
      return;
    }
    // In order arrival all kinds go, and opaque ones take transactions.
    constexpr std::array k_kinds{id_kind::opaque, id_kind::uuidv7, id_kind::monotonic, id_kind::opaque};
    s.ids = k_kinds.at((into_.seed / 8 + stream) % k_kinds.size());
    if (!s.arrival && (into_.seed / 8 + stream) % k_kinds.size() != 0) s.ids = id_kind::uuidv7;
  }

  void choose_gaps(stream_setup& s) {
    constexpr std::array k_first{first_number::zero, first_number::one, first_number::any};
    s.first = k_first[up_to(2)];
    const bool would_accept = one_in(2);
    s.accepts_epochs = would_accept && s.has_epochs && s.first != first_number::any;  // else no config may
    if (s.first == first_number::any || one_in(2)) {
      s.gap = gap_policy::skip;
    } else if (one_in(8)) {
      s.gap = gap_policy::stop;
    }
    s.gap_timeout = 100 + up_to(3'000);
    if (one_in(5)) s.most_of_aggregate = 1 + up_to(5);
  }

  /// Short against the time that a history takes, so that what failed is tried again, and again together.
  void choose_failures(stream_setup& s) {
    s.fails = true;
    s.retry.attempts = 1 + up_to(4);
    s.retry.backoff = std::chrono::milliseconds{1 + up_to(300)};
    s.retry.most = s.retry.backoff * (1 + up_to(7));
    if (one_in(5)) s.most_of_aggregate = 1 + up_to(5);
    s.stops = one_in(4);
  }

  /// So low that they are reached, and one of them alone or both.
  void choose_limits(stream_setup& s) {
    const std::uint32_t which = up_to(2);
    if (which != 0) s.most_events = 1 + up_to(12);
    if (which != 1) s.most_bytes = 300 + up_to(4'000);
  }

  [[nodiscard]] static std::uint64_t first_of(const stream_setup& s) {
    return s.first == first_number::zero ? 0 : 1;
  }

  [[nodiscard]] std::uint64_t first_sent(const stream_setup& s) {
    if (!s.strict) return 1 + up_to(2);
    return first_of(s) + (s.first == first_number::any || one_in(8) ? up_to(3) : 0);
  }

  void write_messages(std::uint32_t events) {
    std::vector<aggregate> aggregates;
    const std::uint32_t count = 1 + up_to(11);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t stream = up_to(static_cast<std::uint32_t>(into_.streams.size()) - 1);
      aggregates.push_back(
          {stream, up_to(into_.streams[stream].partitions - 1), 0, first_sent(into_.streams[stream])});
    }
    time_ = pauses_ ? k_begin - 20'000 : k_begin;  // the clock does not pause
    while (into_.log.size() < events) {
      const std::uint32_t which = up_to(count - 1);
      aggregate& a = aggregates[which];
      time_ += up_to(80);
      pause(aggregates);
      if (!into_.log.empty() && one_in(5)) {
        into_.log.push_back(
            into_.log[into_.log.size() - 1 -
                      up_to(std::min<std::uint32_t>(30, static_cast<std::uint32_t>(into_.log.size()) - 1))]);
        continue;
      }
      const message& m = add(which, a);
      if (into_.streams[a.stream].strict && one_in(15)) {
        late_.emplace_back(into_.log.size() + up_to(80), &m);
      } else {
        into_.log.push_back(&m);
      }
      send_late_ones();
    }
    shuffle_a_little();
  }

  /// What a producer held back, or a slow partition of the one before it.
  void send_late_ones() {
    std::erase_if(late_, [this](const auto& held_back) {
      if (held_back.first > into_.log.size()) return false;
      into_.log.push_back(held_back.second);
      return true;
    });
  }

  message& add(std::uint32_t which, aggregate& a) {
    const stream_setup& setup = into_.streams[a.stream];
    message& m = into_.messages.emplace_back();
    m.stream = a.stream;
    // An aggregate that a producer spreads over partitions has no order but its sequence.
    m.partition =
        into_.well_behaved && one_in(3) && !setup.arrival ? up_to(setup.partitions - 1) : a.partition;
    m.aggregate = which;
    m.time = time_;
    m.number = a.next;
    m.epoch = a.epoch;
    a.next += 1;
    if (setup.strict && one_in(25)) a.next += 1 + up_to(2);  // these never come
    if (setup.has_epochs && one_in(20)) {
      ++a.epoch;
      a.next = setup.strict ? first_sent(setup) : 0;
    }
    if (setup.in_headers && one_in(12)) m.kind = message_kind::tombstone;
    if (m.kind == message_kind::event) write_payload(m, setup);
    std::int64_t id_time = time_;
    if (has_wrong_clock(which) && setup.checks_times) m.time = time_ + 3'600'000 * (1 + which);
    if (!into_.well_behaved) spoil(m, id_time);
    if (setup.ids != id_kind::none && !m.id) m.id = uuid_v7(id_time, dice_.next(), dice_.next());
    if (setup.ids == id_kind::none) m.id.reset();
    m.drawn_id = m.id;
    if (setup.is_cloudevents) m.source = m.drawn_id->low / 16 % 4 == 0 ? "/till/2" : "/till/1";
    if (setup.ids == id_kind::monotonic) count_up(m);
    spell_out(m, setup);
    return m;
  }

  /// What some aggregates' producer sends is hours ahead, in some histories.
  [[nodiscard]] bool has_wrong_clock(std::uint32_t which) const {
    return into_.seed / 128 % 3 == 0 && which % 4 == 1;
  }

  /// The next number of its partition and source, or one that another has.
  void count_up(message& m) {
    std::uint64_t& last = ordinals_[{m.stream, m.partition, m.source}];
    const bool is_spoilt = !into_.well_behaved && m.drawn_id->low % 16 == 0;
    m.ordinal = is_spoilt ? last / 2 : last + 1 + m.drawn_id->low % 3;
    last = std::max(last, m.ordinal);
  }

  void write_payload(message& m, const stream_setup& setup) {
    if (setup.fails && one_in(10)) {
      constexpr std::array k_how{failing::retry, failing::retry, failing::throws, failing::give_up};
      m.how = k_how[up_to(3)];
      m.times = 1 + up_to(4);
      if (setup.stops && one_in(4)) m.how = failing::stop;
    }
    m.payload = R"({"x":)" + std::to_string(into_.messages.size());
    if (m.how == failing::retry) m.payload += R"(,"retry":)" + std::to_string(m.times);
    if (m.how == failing::throws) m.payload += R"(,"throw":)" + std::to_string(m.times);
    if (m.how == failing::give_up) m.payload += R"(,"give_up":true)";
    if (m.how == failing::stop) m.payload += R"(,"stop":true)";
    m.payload += "}";
  }

  /// What producers should not send.
  void spoil(message& m, std::int64_t& id_time) {
    if (one_in(25)) m.time.reset();
    if (one_in(40)) *(m.time ? m.time : m.time = time_) += up_to(5'000);  // from the future
    if (one_in(20)) id_time -= up_to(6'000);                              // perhaps before the window
    if (one_in(40)) id_time += up_to(4'000);
    if (one_in(15) && m.number > 2) m.number -= 1 + up_to(1);  // a number that another one has
    const stream_setup& setup = into_.streams[m.stream];
    const bool has_none_below = setup.strict && setup.first == first_number::one;
    if (has_none_below && into_.messages.size() % 37 == 0) m.number = 0;
    const message& other = into_.messages[up_to(static_cast<std::uint32_t>(into_.messages.size()) - 1)];
    if (one_in(25)) m.id = other.drawn_id;
    const bool fits = other.how == failing::never || (other.how == failing::stop ? setup.stops : setup.fails);
    if (one_in(25) && m.kind == message_kind::event && !other.payload.empty() && fits) {
      m.payload = other.payload;
      m.how = other.how;
      m.times = other.times;
    }
    if (one_in(30)) m.kind = message_kind::malformed;
  }

  void spell_out(message& m, const stream_setup& setup) {
    const std::string name = "a" + std::to_string(m.aggregate);
    if (m.id) spell_id(m, setup);
    m.sequence_text = std::to_string(m.number);
    m.key = name;
    if (setup.in_headers) {
      if (m.id) m.headers.push_back({"id", m.id_text});
      if (!setup.arrival && m.kind != message_kind::malformed) m.headers.push_back({"seq", m.sequence_text});
      if (m.kind != message_kind::tombstone) m.value = m.payload;
      if (m.kind == message_kind::malformed) m.value = "{\"x\":01}";
      return;
    }
    if (setup.is_cloudevents) return wrap(m, setup);
    std::string text = R"({"p":")" + name + "\"";
    if (m.id && setup.ids == id_kind::monotonic) text += R"(,"id":)" + m.id_text;
    if (m.id && setup.ids != id_kind::monotonic) text += R"(,"id":")" + m.id_text + "\"";
    if (!setup.arrival) text += ",\"n\":" + m.sequence_text;
    if (setup.has_epochs) text += ",\"e\":" + std::to_string(m.epoch);
    text +=
        ",\"v\":" + (m.payload.empty() ? "{}" : m.payload) + (m.kind == message_kind::malformed ? "," : "}");
    m.value = std::move(text);
  }

  /// As the Kafka protocol binding of CloudEvents 1.0 has it, in either mode.
  static void wrap(message& m, const stream_setup& setup) {
    const bool is_binary = m.drawn_id->low / 64 % 2 == 0;
    const std::string data = m.payload.empty() ? "{}" : m.payload;
    if (is_binary) {
      m.headers = {{"ce_specversion", "1.0"}, {"ce_id", m.id_text},  {"ce_source", m.source},
                   {"ce_type", k_event_type}, {"ce_subject", m.key}, {"content-type", "application/json"}};
      if (!setup.arrival) m.headers.push_back({"ce_sequence", m.sequence_text});
      m.value = m.kind == message_kind::malformed ? "{\"x\":01}" : data;
      return;
    }
    m.value = structured_text(m, setup);
  }

  /// What an id is made of its text is pinned elsewhere.
  static void spell_id(message& m, const stream_setup& setup) {
    m.id_text = spell(*m.id);
    if (setup.ids == id_kind::opaque) {
      m.id_text = "evt " + m.id_text;
      m.id = hash_opaque_id(m.id_text);
    }
    if (setup.ids == id_kind::monotonic) {
      m.id_text = std::to_string(m.ordinal);
      m.id =
          id_of_number({"t" + std::to_string(m.stream), partition_id{static_cast<std::int32_t>(m.partition)}},
                       m.source, seq(m.ordinal));
    } else if (setup.is_cloudevents) {
      m.id = id_of_source(setup.ids, *m.id, m.source);
    }
  }

  /// Producers retry and rebalance: what they send comes out of order.
  void shuffle_a_little() {
    const auto size = static_cast<std::uint32_t>(into_.log.size());
    const std::uint32_t swaps = up_to(size);
    for (std::uint32_t i = 0; i < swaps && size > 1; ++i) {
      const std::uint32_t from = up_to(size - 1);
      const std::uint32_t to = std::min(size - 1, from + up_to(12));
      std::swap(into_.log[from], into_.log[to]);
    }
  }

  void write_faults() {
    const auto turns = static_cast<std::uint32_t>(into_.log.size()) / into_.records_per_turn + 40;
    const std::uint32_t count = up_to(12);
    std::uint32_t sum = 0;
    for (const std::uint8_t w : k_weights) sum += w;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t ticket = up_to(sum - 1);
      std::uint32_t kind = 0;
      while (ticket >= k_weights[kind]) ticket -= k_weights[kind++];
      fault f{up_to(turns), static_cast<fault_kind>(kind), up_to(1'000'000), up_to(1'000'000)};
      if (into_.well_behaved && may_lose(f.kind)) continue;
      into_.faults.push_back(f);
    }
    decide_about_old(turns);
    std::stable_sort(into_.faults.begin(), into_.faults.end(),
                     [](const fault& a, const fault& b) { return a.at < b.at; });
  }

  /// Where old events wait for operators, these have more to do.
  void decide_about_old(std::uint32_t turns) {
    const auto parks = [](const stream_setup& s) { return s.parks_too_old; };
    if (into_.well_behaved || std::none_of(into_.streams.begin(), into_.streams.end(), parks)) return;
    const auto drawn = [this](std::uint32_t most) {
      return static_cast<std::uint32_t>(pausing_.below(std::uint64_t{most} + 1));
    };
    for (std::uint32_t i = drawn(8); i > 0; --i)
      into_.faults.push_back({drawn(turns), fault_kind::decision, drawn(1'000'000), drawn(1'000'000)});
  }

  /// Callers with keys of their own, with those of others, and with those that events have as ids.
  void write_requests() {
    std::vector<const message*> of_streams;
    for (const message& m : into_.messages) {
      const stream_setup& setup = into_.streams[m.stream];
      const bool is_event = m.kind != message_kind::ignored && m.parts.empty() && m.as_sent == nullptr;
      if (is_event && setup.arrival && setup.ids == id_kind::opaque) of_streams.push_back(&m);
    }
    if (of_streams.empty()) return;
    const auto turns = into_.log.size() / into_.records_per_turn + 40;
    const std::uint64_t count = asking_.below(24);
    for (std::uint64_t i = 0; i < count; ++i) {
      const message& near = *of_streams[asking_.below(of_streams.size())];
      request r = !into_.requests.empty() && asking_.below(3) == 0
                      ? as_before(into_.requests[asking_.below(into_.requests.size())])
                      : new_request(near, i);
      r.at = static_cast<std::uint32_t>(asking_.below(turns));
      r.patience = 1 + static_cast<std::uint32_t>(asking_.below(12));
      into_.requests.push_back(std::move(r));
    }
  }

  [[nodiscard]] request new_request(const message& near, std::uint64_t number) {
    request r;
    r.stream = near.stream;
    r.aggregate = near.aggregate;
    r.key = asking_.below(12) == 0 ? near.id_text : "key " + std::to_string(number);
    r.id = *hash_opaque_id(r.key);
    if (asking_.below(2) == 0) r.fingerprint = hash128{number, 1};
    if (asking_.below(8) != 0) r.payload = R"({"asked":)" + std::to_string(number) + "}";
    r.fails = asking_.below(8) == 0;
    return r;
  }

  /// Asked once more, by somebody who does not know; or another request with the same key.
  [[nodiscard]] request as_before(request r) {
    if (asking_.below(5) == 0) r.fails = !r.fails;
    if (asking_.below(5) == 0) {
      r.payload = R"({"asked":"otherwise"})";
      if (r.fingerprint) r.fingerprint->low ^= 2U;
    }
    return r;
  }

  history& into_;
  workload_random dice_;
  workload_random asking_;
  workload_random pausing_;
  bool pauses_{false};
  std::int64_t time_{0};
  using writer = std::tuple<std::uint32_t, std::uint32_t, std::string>;  ///< stream, partition, source
  std::map<writer, std::uint64_t> ordinals_;                             ///< the last one that it sent
  std::vector<std::pair<std::size_t, const message*>> late_;  ///< each goes when the log is so long
};

}  // namespace

bool request::has_key_of(const request& other) const {
  return stream == other.stream && aggregate == other.aggregate && id == other.id;
}

bool request::wants_the_same(const request& other) const {
  return has_key_of(other) && fingerprint == other.fingerprint && payload == other.payload &&
         fails == other.fails;
}

history make_history(std::uint64_t seed, std::uint32_t events) {
  history made;
  made.seed = seed;
  made.sink_refuses = seed / 4 % 4 == 1 ? 5 : 0;
  author{made, seed}.write(events);
  return made;
}

}  // namespace ratchet::sim
