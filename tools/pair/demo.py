#!/usr/bin/env python3
# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Two instances over one replicated log: the owner is killed again and again while records flow, its disk is deleted
once, and the other one goes on. tools/demo --pair runs it."""
import argparse
import sys
import time

from judge import judge
from program import play


def main():
    parser = argparse.ArgumentParser(prog="tools/demo --pair", description=__doc__)
    parser.add_argument("--kills", type=int, default=5, help="of the owner, each of which must be taken over (%(default)s)")
    parser.add_argument("--nodes", type=int, default=3, choices=(1, 3), help="brokers (%(default)s)")
    parser.add_argument("--session", type=float, default=6,
                        help="seconds until the brokers notice a killed owner (%(default)s, as Ratchet's own default)")
    parser.add_argument("--rate", type=float, default=500, help="new events a second of each of two topics (%(default)s)")
    options = parser.parse_args()

    def begin():
        nodes = "three nodes" if options.nodes == 3 else "one node"
        print(f"Broker: Apache Kafka, {nodes} on this machine, started for this.\n"
              f"Stream: {2 * options.rate:.0f} new events a second, out of order, with repeats and late events, in two topics.\n"
              f"Pair: two times ratchet run with replicate; a session of {options.session:g} s. The owner is killed with\n"
              f"      SIGKILL {options.kills} times while records flow; once its directory is deleted, too.\n", flush=True)

    def game(pair):
        kill_owners(pair, options.kills)
        pair.come_to_rest()
        tell(judge(pair))

    return play("demo", options, begin, game, "tools/demo: ")


def kill_owners(pair, kills):
    print("  kill   of   its disk   the other one owns the state   its first record", flush=True)
    for kill in range(1, kills + 1):
        # When an instance joins, the group asks for the state back and gives it again.
        pair.await_that("have an owner", lambda: pair.owner() is not None)
        owner = pair.owner()
        deleted = kill == (kills + 1) // 2
        since = time.monotonic()
        owner.kill()
        if deleted:
            owner.lose_directory()
        led, handled = pair.await_successor(owner, since)
        print(f"  {kill:4}   {owner.name}    {'deleted' if deleted else 'kept':8}        {'after':>5} {led:6.2f} s"
              f"             after {handled:6.2f} s", flush=True)
        owner.start()
        # The next one is killed when this one has all of the log again.
        pair.await_that("follow again", lambda one=owner: (one.status() or {}).get("ready"), pause=0.1)
        time.sleep(2)


def tell(figures):
    print(f"""
  records              {figures['records']:9,}   handled once each, in {figures['steps']:,} steps
  messages to a sink   {figures['messages']:9,}   each received once by its id; {figures['again']:,} came again, with the same bytes
  decisions            {figures['answers']:9,}   of an operator, each answered and there once

state is right: {figures['aggregates']} of {figures['aggregates']} aggregates, on both instances""")


if __name__ == "__main__":
    sys.exit(main())
