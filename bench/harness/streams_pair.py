# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Two members of a Kafka Streams application, each with standbys of the other's tasks (bench/peers/streams/Member.java)."""

import json
import os
import shutil
import subprocess
import time

from .errors import BenchError
from .machine import ROOT, cpu_seconds, kafka_version

JVM = ["-Xms2g", "-Xmx2g", "-XX:+UseParallelGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
PATIENCE_SECONDS = 600
# Behind the last row of a changelog stands the mark of a transaction that ended.
MARKS = 4


def build(work):
    """Returns the class path of the program."""
    target = work / "streams"
    done = subprocess.run([str(ROOT / "bench" / "peers" / "streams" / "build"), str(target), kafka_version()],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(done.stderr[-2000:].strip())
    return f"{target / 'classes'}:{target / 'libs'}/*"


class Member:
    """Thread-safety: one thread. What it is asked it answers at once."""

    def __init__(self, classes, broker, work, name, group, topic, session_ms):
        self.name, self.directory, self.log = name, work / f"streams-{name}", work / f"streams-{name}.log"
        self.command = ["java", *JVM, "-cp", classes, "Member", "--brokers", broker.address, "--topic", topic, "--group",
                        group, "--state", str(self.directory), "--standby-replicas", "1", "--session-timeout-ms", str(session_ms),
                        "--heartbeat-interval-ms", "250"]
        self.process = None

    def start(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.begun = time.monotonic()
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out, text=True)

    def ask(self, what):
        try:
            self.process.stdin.write(what + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise BenchError(f"the member {self.name} of Kafka Streams is gone:\n{self.log.read_text()[-2000:]}")
        return json.loads(answer)

    def cpu(self):
        return cpu_seconds([self.process.pid]) if self.process else 0.0

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None

    def abandon(self):
        if self.process:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def wait(what, done, pause=0.02):
    """Returns the time at which done() was true."""
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > PATIENCE_SECONDS:
            raise BenchError(f"Kafka Streams does not {what} within {PATIENCE_SECONDS} s")
        time.sleep(pause)
    return time.monotonic()


class StreamsPair:
    def __init__(self, ratchet, classes, group, topic, partitions, session_ms):
        self.broker, self.partitions = ratchet.broker, partitions
        self.both = [Member(classes, ratchet.broker, ratchet.work, name, group, topic, session_ms) for name in ("a", "b")]

    def start(self):
        for each in self.both:
            each.start()

    def is_settled(self):
        """Each task is active at one member and a standby at the other one."""
        all_of = list(range(self.partitions))
        told = [each.ask("status") for each in self.both]
        return (all(one["state"] == "RUNNING" for one in told) and sorted(told[0]["active"] + told[1]["active"]) == all_of
                and sorted(told[0]["standby"] + told[1]["standby"]) == all_of)

    def committed(self):
        return next(each for each in self.both if each.process).ask("committed")["committed"]

    def look(self):
        return {"at": time.monotonic(), "handled": self.committed(), "cpu": sum(each.cpu() for each in self.both),
                "broker_cpu": cpu_seconds(self.broker.pids())}

    def digest(self):
        """Of the members that are active."""
        told = [each.ask("digest") for each in self.both if each.process and each.ask("status")["active"]]
        return {name: sum(one[name] for one in told) for name in ("aggregates", "digest")}

    def abandon(self):
        for each in self.both:
            each.abandon()


def check(pair, right):
    found = pair.digest()
    if (found["aggregates"], found["digest"]) != (right["aggregates"], right["digest"]):
        raise BenchError(f"Kafka Streams: the state is wrong: {found}, and {right} is right")


def whole_run(pair, events, begin, right):
    """From `begin` records on to the last one, without a fault."""
    os.sync()
    pair.start()
    wait("take its tasks", pair.is_settled)
    before = pair.look()
    if before["handled"] > begin:
        raise BenchError("the members of Kafka Streams came to rest too late: take more events, or a later --begin")
    wait("handle the first records", lambda: pair.committed() >= begin)
    before = pair.look()
    wait("handle all records", lambda: pair.committed() >= events)
    after = pair.look()
    time.sleep(1.0)
    done = pair.look()
    check(pair, right)
    handled = after["handled"] - before["handled"]
    return {"records": handled, "seconds": after["at"] - before["at"],
            "per_second": handled / (after["at"] - before["at"]),
            "cpu_microseconds": (done["cpu"] - before["cpu"]) * 1e6 / handled,
            "broker_cpu_microseconds": (done["broker_cpu"] - before["broker_cpu"]) * 1e6 / handled}


def heal(pair):
    """One member loses its process and its stores: until it is not behind in any of them."""
    lost = pair.both[1]
    lost.kill()
    wait("give all tasks to the other member",
         lambda: len(pair.both[0].ask("status")["active"]) == pair.partitions)
    stores = 2 * pair.partitions
    lost.start()
    told = {}

    def is_warm():
        told.update(lost.ask("lags"))
        return told["stores"] >= stores and told["most_behind"] <= MARKS

    warm = wait("fill its stores", is_warm)
    return {"seconds": warm - lost.begun, "cpu_seconds": lost.cpu(), "changelog_records": told["position"]}


def killed_run(pair, events, begin, right):
    """One member is killed in the middle, and has standbys at the other one. Returns the seconds until that one handles a
    record of a partition which it did not have, and until it handles one of each such partition."""
    pair.start()
    wait("take its tasks", pair.is_settled)
    wait("handle the first records", lambda: pair.committed() >= begin)
    stays, goes = pair.both
    orphans = [str(partition) for partition in goes.ask("status")["active"]]
    had = stays.ask("status")["handled"]
    killed = time.monotonic()
    goes.kill()
    seen = {}

    def all_go_on():
        now = stays.ask("status")["handled"]
        for partition in orphans:
            if now.get(partition, 0) > had.get(partition, 0):
                seen.setdefault(partition, time.monotonic() - killed)
        return len(seen) == len(orphans)

    wait("go on with the partitions of the other member", all_go_on, pause=0.005)
    if pair.committed() >= events:
        raise BenchError("all records were handled before the take-over: take more events")
    wait("handle all records", lambda: pair.committed() >= events)
    check(pair, right)
    return {"first_record_seconds": min(seen.values()), "all_partitions_seconds": max(seen.values()),
            "partitions": len(orphans)}
