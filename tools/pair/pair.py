# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Two instances over one log, with all that they read, write and send to."""
import time
from collections import Counter

from cluster import Failed, run
from instance import BINARY, Instance
from operator_calls import Operator
from receiver import Receiver
from stream import LATEST, PARTITIONS, STRICT, Feed

PATIENCE = 180  # seconds without progress
SLOW = 5  # seconds that are worth a line


class Pair:
    def __init__(self, cluster, directory, name, seed, rate, say, session_ms=2000, compression="none"):
        self.say = say
        self.cluster, self.directory, self.session = cluster, directory, session_ms / 1000
        self.topics = {LATEST: f"{name}.latest", STRICT: f"{name}.strict"}
        self.out, self.log = f"{name}.out", f"{name}.ratchet"
        self.receiver = Receiver(seed)
        settings = dict(brokers=cluster.brokers, group=name, session_ms=session_ms,
                        log=self.log, url=self.receiver.url, latest=self.topics[LATEST], compression=compression,
                        strict=self.topics[STRICT], out=self.out)
        self.both = [Instance(directory, each, settings) for each in ("a", "b")]
        self.feeds = [Feed(cluster, topic, kind, rate, seed) for kind, topic in self.topics.items()]
        self.operator = Operator(self.owner)
        self.handovers = Counter()  # by the exit code of the command
        self.committed = []  # (time, topic, partition, offset): what the owner said that Kafka has of it
        cluster.make_topics([*self.topics.values(), self.out], PARTITIONS)
        run([BINARY, "topics", "-c", self.both[0].config, "--replicas", cluster.nodes])

    def start(self):
        for each in self.both:
            each.start()
        for each in self.feeds:
            each.start()
        self.operator.start()

    def owner(self):
        """The instance that took the lead last, if it runs. One that stands still is asked no more."""
        leading = [each for each in self.both if each.is_owner() and not each.is_stopped]
        return max(leading, key=lambda each: each.leads[-1], default=None)

    def other(self, one):
        return self.both[1] if one is self.both[0] else self.both[0]

    def must_run(self):
        for each in self.both:
            each.must_run()

    def await_that(self, what, done, patience=PATIENCE, pause=0.1):
        """Returns the seconds that it took."""
        begun = time.monotonic()
        while not done():
            self.must_run()
            if time.monotonic() - begun > patience:
                raise Failed(f"within {patience} s it does not {what}; "
                             + "; ".join(f"{e.name}: {e.role}, {e.status()}\n{e.tail(1500)}" for e in self.both))
            time.sleep(pause)
        seconds = time.monotonic() - begun
        if seconds > SLOW:
            self.say(f"waited {seconds:.1f} s to {what}")
        return seconds

    def await_progress(self):
        """Until an owner has handled more records than there were."""
        seen = {}

        def more():
            one = self.owner()
            now = one.handled() if one else None
            if now is None:
                return False
            seen.setdefault(one.name, now)
            return now > seen[one.name]

        return self.await_that("handle more records", more)

    def await_successor(self, old, since):
        """The seconds from `since` until another instance than `old` has handled a record as the owner."""
        one = self.other(old)
        before = len(one.leads)
        self.await_that("take over", lambda: one.is_owner() and len(one.leads) > before, pause=0.01)
        begun = one.handled()
        while begun is None:
            begun = one.handled()
        led = one.leads[-1] - (time.time() - time.monotonic()) - since
        self.await_that("handle a record behind a take-over", lambda: (one.handled() or 0) > begun, pause=0.005)
        return led, time.monotonic() - since

    def note_commits(self):
        one = self.owner()
        status = one.status() if one else None
        if status is None or not status.get("running"):
            return
        now = time.time()
        for stream in status["streams"].values():
            for each in stream["partitions"]:
                if each.get("committed") is not None:
                    self.committed.append((now, each["topic"], each["partition"], each["committed"]))

    # Rest.

    def come_to_rest(self):
        """Stops the feeds, and waits until one instance owns the state, all is handled and sent, and the other one has
        the same step."""
        for each in self.feeds:
            each.stop()
        self.operator.stop()
        self.await_that("come to rest", self.is_at_rest, pause=0.3)

    def is_at_rest(self):
        one = self.owner()
        if one is None or self.other(one).process is None or self.other(one).is_owner():
            return False
        status, follower = one.status(), self.other(one).status()
        if status is None or follower is None:
            return False
        for stream in status["streams"].values():
            if any(each.get("lag") != 0 or each["committed"] != each["next_offset"] for each in stream["partitions"]):
                return False
            if stream["waiting"]["dead"]:
                self.operator.skip_some(one, most=1000)
                return False
            if stream["waiting"]["parked"] or stream["waiting"]["retrying"]:
                return False
        if status["outbox"]["messages"] or any(each["messages"] for each in status["sinks"].values()):
            return False
        return status["step"] == follower["step"] and status["ready"] and follower["ready"]

    def close(self):
        for each in self.both:
            if each.process is not None:
                each.process.kill()
                each.process.wait()
                each.process = None
        for each in self.feeds:
            each.abandon()
        if self.operator.thread is not None:
            self.operator.stopped.set()
        self.receiver.close()
