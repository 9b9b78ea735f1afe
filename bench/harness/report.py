# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Medians, and the JSON file that a benchmark leaves."""

import json
import pathlib
import statistics

from . import machine
from .ratchet import DEFAULT_BINARY


def medians(runs):
    """Of every number that all runs have, under the same names."""
    found = {}
    for name, value in runs[0].items():
        values = [run.get(name) for run in runs]
        if isinstance(value, dict):
            found[name] = medians(values)
        elif all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values):
            found[name] = statistics.median(values)
    return found


def begin(benchmark, ratchet, broker, workload):
    return {
        "benchmark": benchmark,
        "started": machine.now(),
        # Of what was built here; where a binary was built from that was given, nobody knows.
        "commit": machine.commit() if ratchet.binary == DEFAULT_BINARY else "a given binary",
        "machine": machine.describe(),
        "versions": ratchet.versions(),
        "broker": broker.describe(),
        "workload": workload.dials,
    }


def write(path, document):
    if path:
        pathlib.Path(path).write_text(json.dumps(document, indent=2) + "\n")
        print(f"written: {path}")
