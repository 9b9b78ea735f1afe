// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The inbox pattern, in batches: one transaction holds the ids that are new, the newest state of each
// aggregate, and the next offsets. Each connection has a thread, a consumer and a share of the partitions, so
// that no two ever write one row. An inbox keeps the id of every event that was looked at, also of those that
// came too late: the second time those are duplicates here, and stale in Ratchet.
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "peer_consumer.hpp"
#include "peer_event.hpp"
#include "peer_report.hpp"

namespace {

using namespace peers;
using steady = std::chrono::steady_clock;

constexpr std::size_t k_batch = 5'000;
/// A batch that is not full is written when nothing came for so long.
constexpr std::chrono::milliseconds k_wait{100};

struct result_deleter {
  void operator()(PGresult* r) const noexcept { PQclear(r); }
};
using result = std::unique_ptr<PGresult, result_deleter>;

class connection {
 public:
  explicit connection(const std::string& how) : handle_{PQconnectdb(how.c_str())} {
    if (PQstatus(handle_) != CONNECTION_OK) die(PQerrorMessage(handle_));
  }
  ~connection() { PQfinish(handle_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  result run(const char* sql) { return checked(PQexec(handle_, sql)); }
  void prepare(const char* name, const char* sql) { checked(PQprepare(handle_, name, sql, 0, nullptr)); }
  template <std::size_t N>
  result run_prepared(const char* name, const std::array<const char*, N>& values) {
    return checked(PQexecPrepared(handle_, name, N, values.data(), nullptr, nullptr, 0));
  }

 private:
  result checked(PGresult* raw) {
    result r{raw};
    const auto status = PQresultStatus(r.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) die(PQerrorMessage(handle_));
    return r;
  }

  PGconn* handle_;
};

/// The text of a PostgreSQL array, element by element.
class array_text {
 public:
  array_text() { clear(); }
  void clear() { text_ = "{"; }
  void plain(std::string_view element) {  // has no character that means anything
    separate();
    text_ += element;
  }
  void quoted(std::string_view element) {
    separate();
    text_ += '"';
    for (const char c : element) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }
  [[nodiscard]] const char* close() {
    text_ += '}';
    return text_.c_str();
  }

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }
  std::string text_;
};

struct owned_event {
  std::string id;
  std::string aggregate;
  std::uint64_t sequence{0};
  std::string snapshot;
};

void make_tables(connection& db) {
  db.run("CREATE TABLE IF NOT EXISTS inbox (id uuid PRIMARY KEY)");
  // Room for the next version of a row in its page, so that an update need not touch the index.
  db.run(
      "CREATE TABLE IF NOT EXISTS payments (aggregate text PRIMARY KEY, sequence bigint NOT NULL, snapshot "
      "text "
      "NOT NULL) WITH (fillfactor = 50)");
  db.run("CREATE TABLE IF NOT EXISTS offsets (partition int PRIMARY KEY, next bigint NOT NULL)");
}

void prepare(connection& db) {
  db.prepare("new_ids", "INSERT INTO inbox SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING RETURNING id");
  db.prepare("lasts", "SELECT aggregate, sequence FROM payments WHERE aggregate = ANY($1::text[])");
  db.prepare("states",
             "INSERT INTO payments SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[]) ON CONFLICT "
             "(aggregate) DO UPDATE SET sequence = excluded.sequence, snapshot = excluded.snapshot WHERE "
             "payments.sequence < excluded.sequence");
  db.prepare("offsets",
             "INSERT INTO offsets SELECT * FROM unnest($1::int[], $2::bigint[]) ON CONFLICT (partition) DO "
             "UPDATE SET next = excluded.next");
}

/// One connection with its share of the partitions.
class worker {
 public:
  worker(const arguments& a, std::size_t number) : db_{a.state}, from_{a.brokers, a.topic, a.group} {
    prepare(db_);
    for (std::int32_t p = 0; p < from_.partitions(); ++p) {
      if (static_cast<std::size_t>(p) % a.connections == number) next_[p] = 0;
    }
    const result stored = db_.run("SELECT partition, next FROM offsets");
    for (int row = 0; row < PQntuples(stored.get()); ++row) {
      const auto at = next_.find(std::stoi(PQgetvalue(stored.get(), row, 0)));
      if (at != next_.end()) at->second = std::stoll(PQgetvalue(stored.get(), row, 1));
    }
    from_.assign({next_.begin(), next_.end()});
  }

  /// Takes up what there is, at most a batch. True: something was written.
  bool turn() {
    std::vector<owned_event> batch;
    batch.reserve(k_batch);
    while (batch.size() < k_batch) {
      const auto messages = from_.poll(k_batch - batch.size(), k_wait);
      if (messages.empty()) break;
      if (counted_.sum() == 0 && batch.empty()) times_.first = steady::now();
      for (const message& m : messages) take(*m, batch);
    }
    if (batch.empty()) return false;
    write(batch);
    times_.durable = steady::now();
    return true;
  }

  [[nodiscard]] const tally& counted() const noexcept { return counted_; }
  [[nodiscard]] const stopwatch& times() const noexcept { return times_; }

 private:
  void take(const rd_kafka_message_t& m, std::vector<owned_event>& batch) {
    next_[m.partition] = m.offset + 1;
    const auto e = parser_.parse({static_cast<const char*>(m.payload), m.len});
    if (!e) {
      ++counted_.malformed;
      return;
    }
    batch.push_back({std::string{e->id}, std::string{e->aggregate}, e->sequence, std::string{e->snapshot}});
  }

  void write(const std::vector<owned_event>& batch) {
    db_.run("BEGIN");
    auto fresh = new_ids(batch);
    const auto lasts = last_sequences(batch);
    std::unordered_map<std::string_view, const owned_event*> newest;
    tally now;
    for (const owned_event& e : batch) {
      if (fresh.erase(e.id) == 0) {
        ++now.duplicate;
        continue;
      }
      const auto at = newest.find(e.aggregate);
      const auto stored = lasts.find(e.aggregate);
      const std::uint64_t last = at != newest.end()      ? at->second->sequence
                                 : stored != lasts.end() ? stored->second
                                                         : 0;
      if (e.sequence <= last) {
        ++now.stale;
        continue;
      }
      ++now.applied;
      newest[e.aggregate] = &e;
    }
    write_states(newest);
    write_offsets();
    db_.run("COMMIT");
    counted_.applied += now.applied;
    counted_.duplicate += now.duplicate;
    counted_.stale += now.stale;
  }

  [[nodiscard]] std::unordered_set<std::string> new_ids(const std::vector<owned_event>& batch) {
    array_text ids;
    for (const owned_event& e : batch) ids.plain(e.id);
    const result inserted = db_.run_prepared<1>("new_ids", {ids.close()});
    std::unordered_set<std::string> fresh;
    for (int row = 0; row < PQntuples(inserted.get()); ++row)
      fresh.emplace(PQgetvalue(inserted.get(), row, 0));
    return fresh;
  }

  [[nodiscard]] std::unordered_map<std::string, std::uint64_t> last_sequences(
      const std::vector<owned_event>& batch) {
    std::unordered_set<std::string_view> wanted;
    array_text names;
    for (const owned_event& e : batch) {
      if (wanted.insert(e.aggregate).second) names.quoted(e.aggregate);
    }
    const result rows = db_.run_prepared<1>("lasts", {names.close()});
    std::unordered_map<std::string, std::uint64_t> lasts;
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
      lasts.emplace(PQgetvalue(rows.get(), row, 0), std::stoull(PQgetvalue(rows.get(), row, 1)));
    }
    return lasts;
  }

  void write_states(const std::unordered_map<std::string_view, const owned_event*>& newest) {
    array_text names;
    array_text sequences;
    array_text snapshots;
    for (const auto& [name, e] : newest) {
      names.quoted(name);
      sequences.plain(std::to_string(e->sequence));
      snapshots.quoted(e->snapshot);
    }
    db_.run_prepared<3>("states", {names.close(), sequences.close(), snapshots.close()});
  }

  void write_offsets() {
    array_text partitions;
    array_text nexts;
    for (const auto& [partition, next] : next_) {
      partitions.plain(std::to_string(partition));
      nexts.plain(std::to_string(next));
    }
    db_.run_prepared<2>("offsets", {partitions.close(), nexts.close()});
  }

  connection db_;
  consumer from_;
  event_parser parser_;
  std::map<std::int32_t, std::int64_t> next_;
  tally counted_;
  stopwatch times_;
};

[[nodiscard]] ratchet::workload_digest digest_of(const std::string& how) {
  connection db{how};
  ratchet::workload_digest all;
  const result rows = db.run("SELECT aggregate, snapshot FROM payments");
  for (int row = 0; row < PQntuples(rows.get()); ++row) {
    all.row(PQgetvalue(rows.get(), row, 0), PQgetvalue(rows.get(), row, 1));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const arguments a = arguments::parse(argc, argv);
  {
    connection db{a.state};
    make_tables(db);
  }
  std::vector<std::unique_ptr<worker>> workers;
  for (std::size_t i = 0; i < a.connections; ++i) workers.push_back(std::make_unique<worker>(a, i));
  std::mutex mutex;
  std::uint64_t handled = 0;
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (const auto& w : workers) {
    threads.emplace_back([&] {
      for (;;) {
        const auto before = w->counted().sum();
        w->turn();
        const std::scoped_lock lock{mutex};
        handled += w->counted().sum() - before;
        if (handled >= a.records) return;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const double cpu = cpu_seconds();
  tally counted;
  stopwatch times{steady::time_point::max(), steady::time_point::min()};
  for (const auto& w : workers) {
    if (w->counted().sum() == 0) continue;  // its partitions are empty
    counted.applied += w->counted().applied;
    counted.duplicate += w->counted().duplicate;
    counted.stale += w->counted().stale;
    counted.malformed += w->counted().malformed;
    times.first = std::min(times.first, w->times().first);
    times.durable = std::max(times.durable, w->times().durable);
  }
  print(counted, times, cpu, digest_of(a.state));
}
