# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Disordered events with repeats, sent while faults befall the pair, and the oracle: what they must lead to.

Two topics. LATEST has events with ids of which the newest counts; some come late. STRICT has numbers that count in
turn; a few events are of the type `bad`, which the reducer gives up, so that an operator has to skip them. The oracle
folds the topics as they stand in Kafka at the end. It shares no code with Ratchet."""
import heapq
import json
import random
import subprocess
import threading
import time
from datetime import datetime, timezone

from cluster import SOON, Failed

LATEST, STRICT = "latest", "strict"
PARTITIONS = 4
AGGREGATES = {LATEST: 400, STRICT: 250}
REPEATED, LATE, BAD = 0.15, 0.1, 0.004
LONGEST_DELAY, LONGEST_LATENESS = 0.3, 4.0  # seconds


def uuid7(dice, now):
    digits = f"{int(now * 1000):012x}7{dice.getrandbits(12):03x}{8 + dice.getrandbits(2):x}{dice.getrandbits(60):015x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class Feed:
    """Sends events to one topic from a thread of its own, from start() to stop()."""

    def __init__(self, cluster, topic, kind, rate, seed):
        self.cluster, self.topic, self.kind, self.rate = cluster, topic, kind, rate
        self.dice = random.Random(f"{seed} {kind}")
        self.numbers, self.lines = {}, {}
        self.due, self.tie = [], 0
        self.process = self.thread = None

    def start(self):
        self.stopped = threading.Event()
        self.process = self.producer()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def producer(self):
        # Brokers may be away for a while; nothing is given up and nothing overtakes.
        return subprocess.Popen(
            ["kcat", "-P", "-b", self.cluster.brokers, "-t", self.topic, "-K", "|", *SOON, "-E",
             "-X", "enable.idempotence=true", "-X", "message.timeout.ms=600000", "-X", "linger.ms=20"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def work(self):
        begun, made = time.monotonic(), 0
        while not self.stopped.wait(0.02):
            now = time.monotonic()
            while made < (now - begun) * self.rate:
                self.make(now)
                made += 1
            self.send(now)
        self.send(float("inf"))

    def make(self, now):
        dice = self.dice
        # A few aggregates have most of the events.
        name = f"p{int(AGGREGATES[self.kind] * dice.random() ** 2):05d}"
        number = self.numbers[name] = self.numbers.get(name, 0) + 1
        bad = self.kind == STRICT and dice.random() < BAD
        event = {"p": name, "n": number, "t": "bad" if bad else "good",
                 "at": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                 "v": {"number": number, "text": f"{dice.getrandbits(160):040x}"}}
        if self.kind == LATEST:
            event["id"] = uuid7(dice, time.time())
        line = self.lines[name, number] = f"{name}|{json.dumps(event, separators=(',', ':'))}\n".encode()
        delay = dice.random() * (LONGEST_LATENESS if dice.random() < LATE else LONGEST_DELAY)
        self.push(now + delay, line)
        if dice.random() < REPEATED:
            self.push(now + delay + dice.random() * LONGEST_LATENESS, line)

    def push(self, at, line):
        self.tie += 1
        heapq.heappush(self.due, (at, self.tie, line))

    def send(self, until):
        lines = []
        while self.due and self.due[0][0] <= until:
            lines.append(heapq.heappop(self.due)[2])
        if not lines:
            return
        try:
            self.process.stdin.write(b"".join(lines))
            self.process.stdin.flush()
        except BrokenPipeError:
            self.process = self.producer()  # it gave up; what it had is sent again at the end

    def stop(self):
        """Returns when each event is in the topic."""
        self.stopped.set()
        self.thread.join()
        for _ in range(10):
            self.end_producer()
            events = [json.loads(record["payload"]) for record in self.cluster.records(self.topic)]
            there = {(event["p"], event["n"]) for event in events}
            missing = [line for which, line in self.lines.items() if which not in there]
            if not missing:
                return
            self.process = self.producer()
            self.process.stdin.write(b"".join(missing))
        raise Failed(f"{len(missing)} events do not get into {self.topic}: the producer gives up")

    def abandon(self):
        """Ends it whatever it has still to send."""
        if self.thread is None:
            return
        self.stopped.set()
        self.thread.join()
        self.process.kill()
        self.process.wait()

    def end_producer(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Expected:
    """What the events of both topics lead to. `skipped`: the (aggregate, number) of STRICT that the operator skipped."""

    def __init__(self):
        self.states = {LATEST: {}, STRICT: {}}  # aggregate -> (sequence, snapshot)
        self.outputs = {LATEST: {}, STRICT: {}}  # aggregate -> payloads in their order
        self.bad = set()
        self.records = {LATEST: 0, STRICT: 0}

    def fold_latest(self, records):
        self.records[LATEST] = len(records)
        states, outputs = self.states[LATEST], self.outputs[LATEST]
        for record in records:
            event = json.loads(record["payload"])
            name, number = event["p"], event["n"]
            if number <= states.get(name, (0,))[0]:
                continue  # a repeat, or late
            states[name] = (number, event["v"])
            outputs.setdefault(name, []).append(event["v"])

    def fold_strict(self, records):
        self.records[STRICT] = len(records)
        found = {}
        for record in records:
            event = json.loads(record["payload"])
            found.setdefault(event["p"], {})[event["n"]] = event
        for name, events in found.items():
            if sorted(events) != list(range(1, len(events) + 1)):
                raise Failed(f"the producer did not send each number of {name}")
            self.bad |= {(name, n) for n, event in events.items() if event["t"] == "bad"}
            good = [(n, events[n]["v"]) for n in sorted(events) if events[n]["t"] != "bad"]
            if good:
                # A skipped number moves the sequence on and leaves the snapshot as it is.
                self.states[STRICT][name] = (len(events), good[-1][1])
                self.outputs[STRICT][name] = [value for _, value in good]
