// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/demo.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "cli/progress_bar.hpp"
#include "workload/workload_kafka.hpp"

namespace ratchet::cli {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t g_interrupted = 0;

/// Turns SIGINT and SIGTERM into a flag for as long as it lives, so that nothing is left behind.
class interrupt_guard {
 public:
  interrupt_guard() {
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    ::sigaction(SIGINT, &action, &old_int_);
    ::sigaction(SIGTERM, &action, &old_term_);
  }
  ~interrupt_guard() {
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGTERM, &old_term_, nullptr);
  }
  interrupt_guard(const interrupt_guard&) = delete;
  interrupt_guard& operator=(const interrupt_guard&) = delete;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

/// A directory in the place for temporary files, removed at the end unless it is to be kept.
class work_directory {
 public:
  static reported<work_directory> make(bool keep) {
    auto path = (fs::temp_directory_path() / "ratchet-demo-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr)
      return problem{errc::io, "cannot make a directory " + path, {}, {}};
    return work_directory{path, keep};
  }
  work_directory(work_directory&& other) noexcept
      : path_{std::exchange(other.path_, {})}, keep_{other.keep_} {}
  work_directory& operator=(work_directory&&) = delete;
  ~work_directory() {
    std::error_code ignored;
    if (!path_.empty() && !keep_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  work_directory(fs::path path, bool keep) : path_{std::move(path)}, keep_{keep} {}
  fs::path path_;
  bool keep_;
};

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

reported<void> produce(workload_sink& sink, workload_stream& stream, workload_oracle& oracle) {
  progress_bar bar{"producing", stream.dials().events, "records"};
  return fill(sink, stream, oracle, [&bar](std::uint64_t drawn) {
    bar.update(drawn);
    return g_interrupted == 0;
  });
}

/// Killed members stay in their group until their session is over, and so long the next run waits.
reported<std::map<std::string, std::string>> consumer_properties(const demo_options& options) {
  RATCHET_TRY(auto properties, parse_properties(options.kafka_properties));
  // Real brokers refuse less than 6 s, unless their group.min.session.timeout.ms allows it.
  properties.emplace("session.timeout.ms", options.brokers.empty() ? k_embedded_session_ms : "6000");
  properties.emplace("heartbeat.interval.ms", "300");
  return properties;
}

reported<campaign_outcome> consume(const campaign_plan& plan, const workload_oracle& oracle) {
  progress_bar bar{"consuming", oracle.records(), "records"};
  std::size_t kills = 0;
  campaign_watch watch;
  watch.progress = [&](std::uint64_t at) {
    bar.update(at, std::to_string(kills) + " of " + std::to_string(plan.kills) + " kills");
  };
  watch.killed = [&](const campaign_kill& kill) {
    bar.say("kill " + std::to_string(++kills) + ": SIGKILL at offset " + std::to_string(kill.delivered) +
            ", " + std::to_string(kill.read_again) + " records to be read again");
  };
  watch.bounced = [&](std::uint64_t at) {
    bar.say("bounce: the broker was killed at offset " + std::to_string(at) + ", and is back");
  };
  watch.restored = [&](const campaign_restore& restore) {
    bar.say("restore: the state directory is lost at offset " + std::to_string(restore.lost) +
            "; a checkpoint of offset " + std::to_string(restore.taken) +
            " in its place is refused, and then taken over");
  };
  watch.stop = [] { return g_interrupted != 0; };
  return run_campaign(plan, oracle, watch);
}

/// The program as one would type it here.
std::string program_to_type(const std::string& program) {
  const std::filesystem::path relative =
      std::filesystem::path{program}.lexically_proximate(std::filesystem::current_path());
  return relative.string().starts_with("..") ? program : relative.string();
}

void say_what_next(const demo_options& options, const campaign_plan& plan, bool kept) {
  const std::string program = program_to_type(options.program);
  if (kept) {
    say("The state is in " + plan.state.string() + ", the logs of the runs are in " +
        plan.directory.string() + ".");
    say("\nNext, read the stored state:\n\n  " + program + " scan --state " + plan.state.string() +
        " payments | head -3");
    return;
  }
  say("\nNext, write a config for a stream of your own:\n\n  " + program + " init > ratchet.yaml");
}

/// The broker is the first to be made and the last to go.
struct cluster {
  std::unique_ptr<embedded_broker> embedded;
  kafka_target target;
};

reported<cluster> prepare_cluster(const demo_options& options, const std::string& topic) {
  cluster made;
  made.target.brokers = options.brokers;
  made.target.topic = topic;
  if (options.brokers.empty()) {
    say("Broker: embedded (librdkafka's mock cluster inside this process; not a real Kafka).");
    made.target.partitions = embedded_partitions(options.dials);
    RATCHET_TRY(made.embedded, start_embedded(made.target));
  } else {
    say("Broker: " + options.brokers + ", topic " + topic + ", which stays there.");
    RATCHET_TRY(create_target(made.target));
  }
  say("Stream: " + std::to_string(options.dials.events) + " records of " +
      std::to_string(options.dials.aggregates) + " payments in " + std::to_string(made.target.partitions) +
      " partitions, out of order, with repeats and late events.");
  return made;
}

reported<void> run_shell(const std::string& command) {
  const int status = std::system(("{ " + command + "; } >/dev/null").c_str());
  if (status == 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  return problem{errc::check_failed, "`" + command + "` failed", "", {}};
}

campaign_plan plan_of(const demo_options& options, const fs::path& directory, const kafka_target& target) {
  campaign_plan plan;
  plan.binary = fs::read_symlink("/proc/self/exe");
  plan.directory = directory;
  plan.state = options.state.empty() ? directory / "state" : fs::path{options.state};
  plan.brokers = target.brokers;
  plan.topic = plan.group = target.topic;
  plan.kills = options.kills;
  plan.bounces = options.bounces;
  plan.bounce = [command = options.bounce_with] { return run_shell(command); };
  plan.restore = options.restore;
  plan.seed = options.dials.seed;
  if (options.brokers.empty()) plan.restart_delay = k_embedded_restart_delay;
  return plan;
}

}  // namespace

reported<void> run_demo(const demo_options& options) {
  const interrupt_guard guard;
  if (!options.state.empty() && fs::exists(options.state)) {
    return problem{
        errc::usage, options.state + " exists already", "name a directory that does not exist yet", {}};
  }
  if (options.bounces > 0 && (options.bounce_with.empty() || options.brokers.empty())) {
    return problem{
        errc::usage,
        "--bounces needs --brokers and --bounce-with, the command that kills and restarts the broker",
        "in the sources `tools/demo --kafka --bounces 3` does both",
        {}};
  }
  RATCHET_TRY(auto properties, consumer_properties(options));
  auto dials = options.dials;
  dials.start = start_for_end_now(dials);
  RATCHET_TRY(auto stream, workload_stream::make(dials));
  RATCHET_TRY(auto directory, work_directory::make(options.keep || !options.state.empty()));
  RATCHET_TRY(const auto kafka, prepare_cluster(options, directory.path().filename().string()));
  RATCHET_TRY(auto sink, make_kafka_sink(kafka.target));
  workload_oracle oracle{stream};
  RATCHET_TRY(produce(*sink, stream, oracle));
  auto plan = plan_of(options, directory.path(), kafka.target);
  plan.properties = std::move(properties);
  say("Consumer: ratchet run, killed with SIGKILL " + std::to_string(plan.kills) +
      " times while records flow.");
  const auto outcome = consume(plan, oracle);
  const bool stopped = !outcome && outcome.error().code == errc::aborted;
  if (!stopped && (!outcome || !outcome.value().fault.empty())) directory.keep();
  if (!outcome) return outcome.error();
  say("\n" + demo_table(outcome.value(), oracle) + "\n" + outcome.value().verdict);
  if (const auto& fault = outcome.value().fault; !fault.empty()) {
    return problem{errc::check_failed, fault, "The state is in " + plan.state.string(), {}};
  }
  say_what_next(options, plan, options.keep || !options.state.empty());
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet::cli
