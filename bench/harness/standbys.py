# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""A pair of Ratchet and a pair of Kafka Streams with a standby, in turn over one topic."""

import os
import time

from . import streams_pair
from .errors import BenchError
from .instance import await_that
from .machine import cpu_seconds
from .replicate import check, make_pair, run_way, settings_of
from .report import medians


def ratchet_killed(a, ratchet, topic, right, number):
    """The owner is killed in the middle; the standby takes over and handles the rest. Then the first one comes back with
    an empty directory."""
    events = a.workload["events"]
    owner, standby = make_pair(ratchet, settings_of(a, f"{topic}-{number}-killed", topic, a.compression[0],
                                                    bases=True))
    try:
        owner.start()
        await_that("lead", lambda: owner.lines("lead_taken"), [owner], pause=0.01)
        standby.start()
        await_that("join the group", standby.is_ready, [owner, standby])
        await_that("handle the first records", lambda: owner.handled() >= a.begin * events, [owner, standby], pause=0.01)
        killed = time.monotonic()
        owner.kill()
        await_that("take over", lambda: standby.lines("lead_taken"), [standby], pause=0.01)
        had = standby.handled()
        first = await_that("handle a record", lambda: standby.handled() > had, [standby], pause=0.005)
        if had >= events:
            raise BenchError("all records were handled before the take-over: take more events")
        await_that("handle all records", lambda: standby.handled() >= events, [standby])
        check(standby, right)
        owner.lose_directory()
        os.sync()
        broker = cpu_seconds(ratchet.broker.pids())
        owner.start()
        step = standby.step()
        warm = await_that("be warm", owner.is_ready, [owner, standby], pause=0.01)
        healed = {"seconds": warm - owner.begun, "cpu_seconds": owner.cpu(),
                  "broker_cpu_seconds": cpu_seconds(ratchet.broker.pids()) - broker}
        if owner.step() != step or check(owner, right) != check(standby, right):
            raise BenchError("both replicas differ")
        return {"first_record_seconds": first - killed}, healed
    finally:
        owner.abandon()
        standby.abandon()


def streams_rounds(a, ratchet, classes, topic, right, number):
    events = a.workload["events"]

    def pair(of):
        return streams_pair.StreamsPair(ratchet, classes, f"{topic}-{number}-{of}", topic, a.workload["partitions"],
                                        a.session_timeout_ms)

    first, second = pair("streams"), pair("streams-killed")
    try:
        whole = streams_pair.whole_run(first, events, a.begin * events, right)
        healed = streams_pair.heal(first)
        first.abandon()
        killed = streams_pair.killed_run(second, events, a.begin * events, right)
        return {"whole": whole, "healed": healed, "killed": killed}
    finally:
        first.abandon()
        second.abandon()


def ratchet_rounds(a, ratchet, topic, right, number):
    whole = run_way(a, ratchet, topic, right, a.compression[0], number)
    whole["cpu_microseconds"] = whole["owner_cpu_microseconds"] + whole["standby_cpu_microseconds"]
    killed, healed = ratchet_killed(a, ratchet, topic, right, number)
    return {"whole": whole, "healed": healed, "killed": killed}


TITLE = (f"{'':16} {'events/s':>10} {'us/event':>9} {'in broker':>10} {'kill to record':>15} {'disk lost to warm':>18} "
         f"{'its cpu':>8} {'load':>5}")


def line(name, run):
    whole = run["whole"]
    return (f"{name:16} {whole['per_second']:>10,.0f} {whole['cpu_microseconds']:>9.2f} "
            f"{whole['broker_cpu_microseconds']:>10.2f} {run['killed']['first_record_seconds']:>13.2f} s "
            f"{run['healed']['seconds']:>16.2f} s {run['healed']['cpu_seconds']:>6.2f} s {run['load']:>5.1f}")


def measure(a, ratchet, document, new_topic):
    classes = streams_pair.build(ratchet.work)
    topic = new_topic()
    right = ratchet.fill(topic, a.workload)
    print(f"two processes each, session {a.session_timeout_ms / 1000:g} s\n{TITLE}", flush=True)
    runs = document["runs"] = {"ratchet": [], "streams": []}
    for number in range(1, a.runs + 1):
        for name, one in (("ratchet", lambda: ratchet_rounds(a, ratchet, topic, right, number)),
                          ("streams", lambda: streams_rounds(a, ratchet, classes, topic, right, number))):
            done = one()
            done["load"] = os.getloadavg()[0]
            runs[name].append(done)
            print(line(f"{name} {number}", done), flush=True)
    document["median"] = {name: medians(done) for name, done in runs.items()}
    print("medians; all states were right")
    for name, middle in document["median"].items():
        print(line(name, middle))
