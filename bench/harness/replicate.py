# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What a replicated log costs: one instance without it, and pairs with it, in turn over one topic. And how fast an empty
directory is filled."""

import os
import re
import time

from .errors import BenchError
from .instance import Instance, await_that
from .machine import cpu_seconds
from .report import medians

LOOK_SECONDS = 0.05
# Memtables are still flushed when the last record is durable: each side has that behind it.
SETTLE_SECONDS = 1.0
LEAST_BASE_BYTES = 1 << 20  # of the log, which a base waits for
WAYS = {"alone": None, "none": "none", "lz4": "lz4"}


def settings_of(a, group, topic, compression, bases=False):
    """Without `bases` the log is all that there is."""
    return {"group": group, "topic": topic, "log": f"{group}.log" if compression else None, "compression": compression,
            "session_ms": a.session_timeout_ms, "order": a.order or "latest", "memory_limit": a.memory_limit,
            "base_at_least": "1MiB" if bases else "1024GiB", "base_every": "5s" if bases else "24h"}


def make_pair(ratchet, settings, names=("owner", "standby")):
    """Two instances, and the topics of their log."""
    pair = [Instance(ratchet, name, settings) for name in names]
    pair[0].call("topics", "--replicas", "1")
    return pair


def look(owner, standby, broker):
    return {"at": time.monotonic(), "handled": owner.handled(), "owner_cpu": owner.cpu(),
            "standby_cpu": standby.cpu() if standby else 0.0, "broker_cpu": cpu_seconds(broker.pids())}


def watch(owner, standby, broker, events, begin):
    """Until all is durable. Returns two looks: at the one after `begin` records, and at the end. Before that the process
    starts, and the standby becomes a member of the group, which costs a rebalance."""
    before, is_settled = None, standby is None or begin == 0
    while True:
        for each in (owner, standby):
            if each:
                each.must_run()
        is_settled = is_settled or standby.is_ready()
        now = look(owner, standby, broker)
        if before is None and now["handled"] >= begin:
            if not is_settled:
                raise BenchError("the standby is not in the group yet: take more events, or a later --begin")
            before = now
        if now["handled"] >= events:
            return before, now
        patience = owner.ratchet.patience_seconds
        if now["at"] - owner.begun > patience:
            raise BenchError(f"{now['handled']} of {events} records are durable after {patience} s:\n{owner.tail()}")
        time.sleep(LOOK_SECONDS)


def check(instance, right):
    found = instance.digests()
    if (found["aggregates"], found["digest"]) != (right["aggregates"], right["digest"]):
        raise BenchError(f"the state of instance {instance.name} is wrong: its figures mean nothing")
    return found


def run_way(a, ratchet, topic, right, compression, number):
    """One run over the whole topic. The state of each replica is compared afterwards."""
    events = a.workload["events"]
    settings = settings_of(a, f"{topic}-{number}-{compression or 'alone'}", topic, compression)
    if compression:
        owner, standby = make_pair(ratchet, settings)
    else:
        owner, standby = Instance(ratchet, "alone", settings), None
    try:
        os.sync()
        owner.start()
        if standby:
            await_that("lead", lambda: owner.lines("lead_taken"), [owner], pause=0.01)
            standby.start()
        before, after = watch(owner, standby, ratchet.broker, events, a.begin * events)
        handled = after["handled"] - before["handled"]
        figures = {"records": handled, "seconds": after["at"] - before["at"]}
        if standby:
            # A standby that joins late costs a rebalance, after which the owner may write a step more.
            caught = await_that("have the owner's step", lambda: standby.step() == owner.step(), [owner, standby])
            figures["standby_behind_seconds"] = caught - after["at"]
        time.sleep(SETTLE_SECONDS)
        done = look(owner, standby, ratchet.broker)
        figures["per_second"] = handled / figures["seconds"]
        for who in ("owner", "standby", "broker"):
            figures[f"{who}_cpu_microseconds"] = (done[f"{who}_cpu"] - before[f"{who}_cpu"]) * 1e6 / handled
        figures["owner_rss_bytes"] = owner.most_resident_bytes()
        if standby:
            figures["standby_rss_bytes"] = standby.most_resident_bytes()
            figures["bases"] = len(owner.lines("base_written"))
            if standby.lines("lead_taken"):
                raise BenchError(f"the standby took over in the middle of the run:\n{standby.tail()}")
        found = check(owner, right)
        if standby and check(standby, right) != found:
            raise BenchError("owner and standby differ")
        # The standby first: nobody is to take over.
        for each in (standby, owner):
            if each:
                each.stop()
        return figures
    finally:
        for each in (owner, standby):
            if each:
                each.abandon()


TITLE = (f"{'':8} {'alone':>10} {'with log':>10} {'rate':>6} {'alone':>8} {'owner':>8} {'ratio':>6} {'standby':>8} {'of owner':>8} "
         f"{'broker':>13} {'load':>5}")


def line(name, way, run):
    alone, with_log, ratio = run["alone"], run[way], run["ratios"][way]
    return (f"{name + ' ' + way:8} {alone['per_second']:>8,.0f}/s {with_log['per_second']:>8,.0f}/s {ratio['rate']:>6.2f} "
            f"{alone['owner_cpu_microseconds']:>5.2f} us {with_log['owner_cpu_microseconds']:>5.2f} us {ratio['owner_cpu']:>6.2f} "
            f"{with_log['standby_cpu_microseconds']:>5.2f} us {ratio['standby_cpu']:>8.2f} "
            f"{alone['broker_cpu_microseconds']:>5.2f}, {with_log['broker_cpu_microseconds']:>5.2f} {run['load']:>6.1f}")


def ratios(run, ways):
    alone = run["alone"]
    return {way: {"rate": run[way]["per_second"] / alone["per_second"],
                  "owner_cpu": run[way]["owner_cpu_microseconds"] / alone["owner_cpu_microseconds"],
                  "standby_cpu": run[way]["standby_cpu_microseconds"] / run[way]["owner_cpu_microseconds"]} for way in ways}


def measure(a, ratchet, document, new_topic):
    topic = new_topic()
    right = ratchet.fill(topic, a.workload)
    ways = [way for way in WAYS if way != "alone" and way in a.compression]
    print("processor time in microseconds an event; in the broker: alone, with log\n" + TITLE)
    runs = document["runs"] = []
    for number in range(1, a.runs + 1):
        run = {}
        for way in ("alone", *ways):
            run[way] = run_way(a, ratchet, topic, right, WAYS[way], number)
        run["load"] = os.getloadavg()[0]
        run["ratios"] = ratios(run, ways)
        runs.append(run)
        for way in ways:
            print(line(str(number), way, run), flush=True)
    document["median"] = medians(runs)
    print("medians; all states were right, and those of both replicas the same")
    for way in ways:
        print(line("", way, document["median"]))


def measure_heal(a, ratchet, document, new_topic):
    """A standby's directory is lost: it reads a base, or the log from its first record on."""
    if a.brokers and "log" in a.source:
        raise BenchError("the size of the log is seen in the directory of a broker of this run: take --source base")
    if a.workload["events"] * a.workload["size"] < LEAST_BASE_BYTES * 4:
        raise BenchError("no base is written of so little: take more events")
    topic = new_topic()
    right = ratchet.fill(topic, a.workload)
    print(heal_title())
    document["from"] = {}
    for source in a.source:
        runs = heal_runs(a, ratchet, topic, right, source)
        document["from"][source] = {"runs": runs, "median": medians(runs)}
    print("medians; all states were right, and those of both replicas the same")
    for source, measured in document["from"].items():
        print(heal_line(source, measured["median"]))


def heal_runs(a, ratchet, topic, right, source):
    settings = settings_of(a, f"{topic}-{source}", topic, a.compression[0], bases=source == "base")
    owner, standby = make_pair(ratchet, settings)
    runs = []
    try:
        owner.start()
        await_that("lead", lambda: owner.lines("lead_taken"), [owner])
        await_that("take all records in", lambda: owner.handled() >= a.workload["events"], [owner])
        if source == "base":
            await_that("write a base of the last step", lambda: newest_base(owner)[0] == owner.step(), [owner], pause=0.5)
            size = newest_base(owner)[1]
        else:
            size = log_bytes(ratchet.broker, settings["log"])
        for number in range(1, a.runs + 1):
            runs.append(heal(ratchet, owner, standby, size))
            print(heal_line(f"{source} {number}", runs[-1]), flush=True)
            if check(standby, right) != check(owner, right):
                raise BenchError("owner and standby differ")
            if len(standby.lines("base_restored")) != (number if source == "base" else 0):
                raise BenchError(f"it was not filled from the {source}:\n{standby.tail()}")
            standby.kill()
            standby.lose_directory()
        return runs
    finally:
        owner.abandon()
        standby.abandon()


def newest_base(owner):
    """Its step, and the bytes of its rows; zeros while there is none."""
    lines = owner.lines("base_written")
    found = re.search(r"base of step (\d+): (\d+) bytes", lines[-1]["message"]) if lines else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def log_bytes(broker, topic):
    """Of the topic's only partition, as the broker has it."""
    return sum(file.stat().st_size for file in (broker.directory / "data" / f"{topic}-0").glob("*.log"))


def heal(ratchet, owner, standby, size):
    os.sync()
    broker, load = cpu_seconds(ratchet.broker.pids()), os.getloadavg()[0]
    before = len(standby.lines("standby_following"))
    standby.start()
    warm = await_that("be warm", standby.is_ready, [owner, standby], pause=0.01)
    cpu = standby.cpu()
    # An instance that has read a base makes a new client, and follows again: the first line counts.
    joined = standby.lines("group_joining")[-1]["at"] - standby.lines("standby_following")[before]["at"]
    await_that("have the owner's step", lambda: standby.step() == owner.step(), [owner, standby])
    return {"bytes": size, "seconds": warm - standby.begun, "read_seconds": joined, "mb_per_second": size / 1e6 / joined,
            "cpu_seconds": cpu, "cpu_milliseconds_per_mb": cpu * 1e3 / (size / 1e6),
            "broker_cpu_seconds": cpu_seconds(ratchet.broker.pids()) - broker, "rss_bytes": standby.most_resident_bytes(),
            "load": load}


def heal_title():
    return f"{'':8} {'bytes':>9} {'warm':>8} {'read':>8} {'rate':>10} {'cpu':>7} {'cpu/MB':>9} {'in broker':>9} {'load':>5}"


def heal_line(name, run):
    return (f"{name:8} {run['bytes'] / 1e6:>6,.0f} MB {run['seconds']:>6.2f} s {run['read_seconds']:>6.2f} s "
            f"{run['mb_per_second']:>5,.0f} MB/s {run['cpu_seconds']:>5.2f} s {run['cpu_milliseconds_per_mb']:>6.2f} ms "
            f"{run['broker_cpu_seconds']:>7.2f} s {run['load']:>5.1f}")
