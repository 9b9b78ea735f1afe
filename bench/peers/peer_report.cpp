// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "peer_report.hpp"

#include <sys/resource.h>

#include <cinttypes>
#include <cstdio>
#include <map>

#include "peer_consumer.hpp"

namespace peers {

arguments arguments::parse(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
  for (const char* name : {"--brokers", "--topic", "--group", "--state", "--records"}) {
    if (given[name].empty()) die(std::string{"missing: "} + name + "; started by bench/peers/run");
  }
  arguments a{given["--brokers"], given["--topic"], given["--group"], given["--state"],
              std::stoull(given["--records"])};
  if (!given["--connections"].empty()) a.connections = std::stoull(given["--connections"]);
  return a;
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void print(const tally& counted, const stopwatch& times, double cpu_seconds,
           const ratchet::workload_digest& digest) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const double took = std::chrono::duration<double>(times.durable - times.first).count();
  std::printf("{\"records\":%" PRIu64
              ",\"seconds\":%.6f,\"per_second\":%.1f,\"cpu_seconds\":%.3f,\"max_rss_bytes\":%ld,"
              "\"counters\":{\"applied\":%" PRIu64 ",\"duplicate\":%" PRIu64 ",\"stale\":%" PRIu64
              ",\"malformed\":%" PRIu64 "},\"aggregates\":%" PRIu64 ",\"digest\":%" PRIu64 "}\n",
              counted.sum(), took, static_cast<double>(counted.sum()) / took, cpu_seconds,
              used.ru_maxrss * 1024L, counted.applied, counted.duplicate, counted.stale, counted.malformed,
              digest.rows(), digest.sum());
}

}  // namespace peers
