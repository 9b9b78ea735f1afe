#!/usr/bin/env python3
# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""How long take-overs take, and how fast an empty directory is filled from the log: a pair on a real Kafka, whose owner
is killed again and again while records flow. Prints one JSON object a line."""
import argparse
import json
import random
import subprocess
import sys
import time
from datetime import datetime, timezone

from cluster import Failed, machine, run
from instance import BINARY
from judge import judge
from program import play
from stream import LATEST, uuid7

FILL_AT_ONCE = 250_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="of the owner, by SIGKILL (%(default)s)")
    parser.add_argument("--ends", type=int, default=10, help="of the owner, by SIGTERM (%(default)s)")
    parser.add_argument("--handovers", type=int, default=10, help="by `ratchet handover` (%(default)s)")
    parser.add_argument("--joins", type=int, default=5, help="of a standby that was stopped (%(default)s)")
    parser.add_argument("--session", type=float, default=6, help="seconds (%(default)s)")
    parser.add_argument("--nodes", type=int, default=3, choices=(1, 3))
    parser.add_argument("--fill", type=int, default=0,
                        help="then send so many events at once, and fill an empty directory from the log; the state is not judged")
    parser.add_argument("--aggregates", type=int, default=0,
                        help="before all that, fill the state with so many; it is not judged then")
    parser.add_argument("--rate", type=float, default=300, help="new events a second of each of two topics (%(default)s)")
    options = parser.parse_args()

    def game(pair):
        what = {"machine": machine(), "nodes": options.nodes, "session": options.session, "rate": 2 * options.rate,
                "aggregates": options.aggregates}
        for first in range(0, options.aggregates, FILL_AT_ONCE):
            fill(pair, min(FILL_AT_ONCE, options.aggregates - first), first)
            time.sleep(3)  # the end of the log is asked for once a second
            pair.await_that("take them in", lambda: lag(pair) < FILL_AT_ONCE / 100)
        for how, count in (("SIGKILL", options.kills), ("SIGTERM", options.ends)):
            found = [take_over(pair, how == "SIGKILL") for _ in range(count)]
            tell(what, how, "to the lead", [led for led, _ in found], options.session)
            tell(what, how, "to the first record", [handled for _, handled in found], options.session)
        found = [hand_over(pair) for _ in range(options.handovers)]
        for until, each in zip(("to the lead", "to the first record", "to the answer"), zip(*found)):
            tell(what, "handover", until, each, options.session)
        tell(what, "join of a standby", "the owner led again", [join(pair) for _ in range(options.joins)], options.session)
        pair.come_to_rest()
        if options.fill:
            fill(pair, options.fill, options.aggregates)
            pair.await_that("come to rest", pair.is_at_rest, pause=0.3)
            print(json.dumps(what | heal(pair)), flush=True)
        elif not options.aggregates:
            judge(pair)

    return play("measure", options, lambda: None, game)


def settle(pair):
    """Until one owns the state, the other one follows, and the group asks for nothing more."""
    time.sleep(1 + pair.session / 4)
    pair.await_that("be a pair", lambda: pair.owner() is not None
                    and (pair.other(pair.owner()).status() or {}).get("ready"))
    pair.await_progress()


def take_over(pair, kill):
    owner = None
    while owner is None:
        settle(pair)
        owner = pair.owner()
    since = time.monotonic()
    if kill:
        owner.kill()
    else:
        owner.stop()
    seconds = pair.await_successor(owner, since)
    owner.start()
    return seconds


def hand_over(pair):
    """The seconds from when the owner begins to leave."""
    owner = None
    while owner is None:
        settle(pair)
        owner = pair.owner()
    typed, begun = time.monotonic(), time.time()
    command = subprocess.Popen([BINARY, "handover", "-c", owner.config, "--output", "json"], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
    led, handled = pair.await_successor(owner, typed)
    said = command.communicate(timeout=60)[0].decode()
    if command.returncode != 0:
        raise Failed(f"the hand-over ended with {command.returncode}: {said}")
    owner.read_log()
    before = owner.leaves[-1] - begun
    return led - before, handled - before, time.monotonic() - typed


def join(pair):
    """The standby is stopped and comes again: the seconds in which the owner does not lead meanwhile."""
    owner = None
    while owner is None:
        settle(pair)
        owner = pair.owner()
    standby = pair.other(owner)
    standby.stop()
    time.sleep(2)
    owner.read_log()
    taken, lost = len(owner.leads), len(owner.lost)
    standby.start()
    settle(pair)
    if pair.owner() is not owner:
        raise Failed("the standby took the state when it joined")
    return sum(owner.leads[taken:]) - sum(owner.lost[lost:])


def tell(what, how, until, seconds, session):
    if not seconds:
        return
    found = sorted(seconds)
    at = {f"p{part}": round(found[min(len(found) - 1, int(len(found) * part / 100))], 2) for part in (50, 90, 99)}
    print(json.dumps(what | {"how": how, "until": until, "n": len(found), "least": round(found[0], 2), **at,
                             "most": round(found[-1], 2)}), flush=True)


def fill(pair, events, first):
    """Each of another aggregate, the first of which has this number, with a payload of 300 bytes."""
    now = time.time()
    lines = []
    for number in range(first, first + events):
        event = {"p": f"f{number:08d}", "n": 1, "t": "good", "id": uuid7(random.Random(number), now),
                 "at": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                 "v": {"text": f"{random.getrandbits(1200):0300x}"}}
        lines.append(f"{event['p']}|{json.dumps(event, separators=(',', ':'))}\n")
    file = pair.directory / "fill"
    file.write_text("".join(lines))
    lines.clear()
    run(["kcat", "-P", "-b", pair.cluster.brokers, "-t", pair.topics[LATEST], "-K", "|", "-l", file], timeout=300)


def lag(pair):
    """Records that the owner has not handled yet; others come meanwhile."""
    status = pair.owner().status() if pair.owner() else None
    if status is None:
        return FILL_AT_ONCE
    return sum(each.get("lag") or 0 for stream in status["streams"].values() for each in stream["partitions"])


def heal(pair):
    """Of a pair at rest: the standby's directory is deleted, and filled again from the log."""
    standby = pair.other(pair.owner())
    standby.kill()
    standby.lose_directory()
    file = pair.directory / "slot.log"
    pair.cluster.log_of(pair.log, file)
    size = file.stat().st_size
    wanted = pair.owner().status()["step"]
    begun = time.monotonic()
    standby.start()
    pair.await_that("heal", lambda: (standby.status() or {}).get("step", 0) >= wanted, pause=0.02)
    seconds = time.monotonic() - begun
    return {"how": "empty directory", "log_mb": round(size / 1e6, 1), "steps": wanted, "seconds": round(seconds, 2),
            "mb_per_second": round(size / 1e6 / seconds, 1)}


if __name__ == "__main__":
    sys.exit(main())
