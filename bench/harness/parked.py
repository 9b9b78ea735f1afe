# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Many events that wait in strict order, and are released when all gaps close."""

import pathlib

from .throughput import check_state

STRICT = ("--order", "strict")


def bytes_of(directory):
    return sum(file.stat().st_blocks * 512 for file in pathlib.Path(directory).rglob("*") if file.is_file())


def empty(ratchet, topic, workload, options):
    """What the process takes that has next to nothing to do."""
    one = workload.but(events=1, withhold=None)
    ratchet.fill(topic, one)
    return ratchet.state(topic, 1, *STRICT, *options, inspect=False)


def round_of(ratchet, number, topic, workload, right, options):
    """Two runs over a topic whose first events come last: a whole one, and one that is killed when everything
    waits and goes on from there, so that what lies on the disk can be looked at, and the release measured."""
    events, parked = workload["events"], workload["events"] - workload["aggregates"]
    whole = ratchet.state(topic, events, *STRICT, *options)
    check_state(whole, right)
    killable = [*STRICT, *options, "--group", f"{topic}-{number}", "--session-timeout-ms", "6000"]
    # A kill comes a sync or two late, and the first of the events that come last release the most.
    ratchet.state_until_killed(topic, events, parked - parked // 50, *killable)
    disk = bytes_of(ratchet.work / "state")
    waiting = ratchet.status(ratchet.work / "state")["streams"]["payments"]["waiting"]["parked"]
    back = ratchet.state(topic, events, *killable)
    check_state(back, right)
    return {
        "parked_events": waiting,
        "whole": whole,
        "released": back,
        "parked_disk_bytes": disk,
        "released_per_second": waiting / back["seconds"],
    }


TITLE = f"{'':10} {'parked':>10} {'on the disk':>12} {'max RSS':>9} {'releasing':>10} {'released':>12} {'all of it':>12}"


def line(name, run):
    return (f"{name:10} {run['parked_events']:>10,.0f} {run['parked_disk_bytes'] / 2**20:>8,.0f} MiB "
            f"{run['whole']['max_rss_bytes'] / 2**20:>5,.0f} MiB "
            f"{run['released']['max_rss_bytes'] / 2**20:>6,.0f} MiB {run['released_per_second']:>10,.0f}/s "
            f"{run['whole']['per_second']:>10,.0f}/s")
