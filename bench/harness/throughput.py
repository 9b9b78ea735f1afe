# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Raw consumption and Ratchet in turn over one topic."""

from .errors import BenchError
from .report import medians

TITLE = f"{'':10} {'raw':>12} {'durable state':>14} {'ratio':>7} {'cpu us/event':>13} {'max RSS':>9} {'written':>11}"


def check_state(figures, right):
    if (figures["aggregates"], figures["digest"]) != (right["aggregates"], right["digest"]):
        raise BenchError("the state is wrong: its figures mean nothing")


def pair(ratchet, topic, events, right, options):
    return beside(ratchet.raw(topic, events), ratchet, topic, events, right, options)


def beside(raw, ratchet, topic, events, right, options):
    """One run to durable state, beside a raw one that came before it."""
    state = ratchet.state(topic, events, *options)
    check_state(state, right)
    return {
        "raw": raw,
        "state": state,
        "ratio": state["per_second"] / raw["per_second"],
        "cpu_microseconds_per_event": state["cpu_seconds"] * 1e6 / events,
    }


def line(name, run):
    state = run["state"]
    return (f"{name:10} {run['raw']['per_second']:>10,.0f}/s {state['per_second']:>12,.0f}/s {run['ratio']:>7.3f} "
            f"{run['cpu_microseconds_per_event']:>13.2f} {state['max_rss_bytes'] / 2**20:>5,.0f} MiB "
            f"{state['disk']['written_bytes_per_event']:>5.0f} B/event")


def pairs(ratchet, topic, events, right, runs, options):
    """So many runs of each, shown while they come. Returns them with their medians."""
    print(TITLE)
    done = []
    for number in range(1, runs + 1):
        done.append(pair(ratchet, topic, events, right, options))
        print(line(f"run {number}", done[-1]), flush=True)
    middle = medians(done)
    print(line("median", middle))
    return {"runs": done, "median": middle}


def disk_line(disk):
    def kind(name):
        return f"{disk[name] / disk['events']:.0f}"

    disk = {**disk, "events": disk["written_bytes"] / disk["written_bytes_per_event"]}
    return (f"written per event: log {kind('log_bytes')} B, flush {kind('flush_bytes')} B, compaction "
            f"{kind('compaction_bytes')} B: {disk['write_amplification']:.2f} times the log; "
            f"on disk {disk['bytes_per_id']:.1f} B per id, {disk['bytes_per_snapshot']:.0f} B per snapshot")
