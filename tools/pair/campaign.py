#!/usr/bin/env python3
# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Faults at random on two instances over one replicated log, on a real Kafka. tools/crash --pair runs it."""
import argparse
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

from cluster import Cluster, Failed, machine
from faults import Striker, draw
from judge import judge
from pair import Pair

FAULTS_IN_A_ROUND = 20


class Log:
    """A line for each fault and each round, with its date: a campaign goes on behind the last whole round."""

    def __init__(self, path, seed):
        self.path, self.seed = path, seed

    def write(self, text):
        if self.path is None:
            return
        with self.path.open("a") as out:
            out.write(f"{datetime.now(timezone.utc):%FT%TZ} seed {self.seed} {text}\n")

    def done(self):
        """Whole rounds, and the faults in them."""
        if self.path is None or not self.path.exists():
            return 0, 0
        found = re.findall(rf" seed {self.seed} round \d+ is right: (\d+) faults", self.path.read_text())
        return len(found), sum(map(int, found))


class Round:
    def __init__(self, cluster, directory, number, options, log):
        self.cluster, self.directory, self.number, self.options, self.log = cluster, directory, number, options, log
        self.begun, self.trace = time.monotonic(), []
        self.counts, self.striker = Counter(), None

    def say(self, text):
        self.trace.append(f"  {time.monotonic() - self.begun:7.2f} s: {text}")
        if self.options.verbose:
            print(self.trace[-1], flush=True)

    def run(self, faults, first):
        seed = f"{self.options.seed} {self.number}"
        dice = random.Random(seed)
        pair = Pair(self.cluster, self.directory, f"pair-{self.options.seed}-{self.number}-{int(time.time())}", seed,
                    self.options.rate, self.say)
        try:
            self.strike_all(pair, dice, draw(dice, faults, self.cluster.nodes), first)
            self.say("records stop")
            pair.come_to_rest()
            self.say("at rest")
            figures = judge(pair)
            self.say("judged")
        finally:
            pair.close()
        figures["starts"] = sum(each.starts for each in pair.both)
        figures["handed over"] = pair.handovers[0]
        return figures

    def strike_all(self, pair, dice, kinds, first):
        self.striker = Striker(pair, dice, self.say)
        pair.start()
        pair.await_progress()
        for at, kind in enumerate(kinds):
            self.log.write(f"round {self.number} fault {first + at + 1} {kind}")
            self.say(kind)
            pair.note_commits()
            self.striker.strike(kind)
            self.counts[kind] += 1
            # Half of the faults fall on a pair that is not yet over the one before.
            if dice.random() < 0.5:
                pair.await_progress()
            time.sleep(dice.random() * 0.5)
            pair.must_run()


def seconds_of(take_overs):
    """n, median, p99 and the longest of the seconds to the first record."""
    found = sorted(handled for _, handled, _ in take_overs)
    if not found:
        return "no take-over was timed"
    at = [found[min(len(found) - 1, int(len(found) * part))] for part in (0.5, 0.99)]
    return f"{len(found)} take-overs, p50 {at[0]:.2f} s, p99 {at[1]:.2f} s, longest {found[-1]:.2f} s"


def main():
    parser = argparse.ArgumentParser(prog="tools/crash --pair", description=__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, default=0, help="begin with that round")
    parser.add_argument("--nodes", type=int, default=3, choices=(1, 3), help="brokers")
    parser.add_argument("--rate", type=float, default=300, help="new events a second of each of the two topics")
    parser.add_argument("--log", type=Path, help="a line for each fault; the same command again goes on behind it")
    parser.add_argument("--keep", action="store_true", help="keep states and logs of rounds that were right, too")
    parser.add_argument("--verbose", action="store_true", help="print each fault as it strikes")
    options = parser.parse_args()
    # So that what was started is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    log = Log(options.log, options.seed)
    rounds, done = log.done()
    number = options.round + rounds
    log.write(f"begins at fault {done + 1} of {options.faults}, {options.nodes} brokers, on {machine()}")
    home = Path(tempfile.mkdtemp(prefix="ratchet-pair-"))
    cluster = Cluster(home / "kafka", options.nodes)
    counts, take_overs, wrong = Counter(), [], False
    try:
        while done < options.faults and not wrong:
            faults = min(FAULTS_IN_A_ROUND, options.faults - done)
            one = Round(cluster, home / f"round-{number}", number, options, log)
            wrong = not finish(one, faults, done, log, take_overs)
            number += 1
            counts += one.counts
            if not wrong:
                done += faults
                if not options.keep:
                    shutil.rmtree(one.directory)
    finally:
        cluster.remove()
        if not wrong and not options.keep:
            shutil.rmtree(home, ignore_errors=True)
    if wrong:
        return 1
    text = f"{done} faults in {number - options.round} rounds, all right; {seconds_of(take_overs)}; " + ", ".join(
        f"{kind} {count}" for kind, count in counts.most_common())
    log.write(f"ends: {text}")
    print(f"seed {options.seed}: {text}")
    return 0


def finish(one, faults, first, log, take_overs):
    """Whether the round was right."""
    begun = time.monotonic()
    try:
        figures = one.run(faults, first)
    except Failed as why:
        log.write(f"round {one.number} FAILED: {str(why).splitlines()[0]}")
        print(f"seed {one.options.seed} round {one.number} failed; state and logs are in {one.directory}\n{why}\n"
              + "\n".join(one.trace), file=sys.stderr)
        return False
    take_overs += one.striker.take_overs
    text = (f"round {one.number} is right: {faults} faults, {time.monotonic() - begun:.0f} s, "
            + ", ".join(f"{word} {count}" for word, count in figures.items())
            + "; to the first record: " + " ".join(f"{handled:.2f}" for _, handled, _ in one.striker.take_overs))
    log.write(text)
    print(f"seed {one.options.seed} {text}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
