# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Runs of `ratchet bench --only`, each in a process of its own."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from . import rocksdb_log
from .errors import BenchError
from .machine import ROOT, cpu_seconds

DEFAULT_BINARY = ROOT / "build" / "release" / "bin" / "ratchet"
KILLED = -9


class Workload:
    """The stream that a topic is filled with; the names are those of the options of `ratchet bench`."""

    OPTIONS = ("events", "aggregates", "introduction", "zipf", "duplicates", "late", "withhold", "size", "rate", "seed", "partitions")

    def __init__(self, **dials):
        self.dials = {name: value for name, value in dials.items() if value is not None}

    def but(self, **dials):
        return Workload(**{**self.dials, **dials})

    def arguments(self):
        given = [(f"--{name}", value) for name, value in self.dials.items() if value is not None and value is not False]
        return [word for name, value in given for word in ((name,) if value is True else (name, str(value)))]

    def __getitem__(self, name):
        return self.dials[name]


class Ratchet:
    """The command under test, against one broker. State directories are made in `work`. What takes longer than
    `patience_seconds` is taken for hung."""

    def __init__(self, binary, broker, work, patience_seconds=600):
        self.binary, self.broker, self.work = pathlib.Path(binary), broker, pathlib.Path(work)
        self.patience_seconds = patience_seconds
        if not self.binary.exists():
            raise BenchError(f"{self.binary} is missing: cmake --preset release && cmake --build --preset release")

    def versions(self):
        lines = subprocess.run([str(self.binary), "version"], capture_output=True, text=True, check=True).stdout
        return dict(re.findall(r"([A-Za-z0-9-]+) (\d[\w.]*)", lines))

    def fill(self, topic, workload):
        """Makes and fills the topic. Returns the number of records, and what the right state is."""
        return self._part("fill", topic, workload.arguments())

    def raw(self, topic, events):
        return self._measured("raw", topic, ["--events", str(events)])

    def state(self, topic, events, *options, name="state", keep=False, inspect=True):
        """One run from the topic to durable state, and what it has written where."""
        directory = self.work / name
        arguments = ["--events", str(events), "--state", str(directory), *options]
        try:
            figures = self._measured("state", topic, arguments + (["--inspect"] if inspect else []))
            if inspect:
                figures["disk"] = rocksdb_log.disk_report(directory, figures)
        finally:
            if not keep:
                self.forget(name)
        return figures

    def state_until_killed(self, topic, events, kill_at, *options, name="state"):
        """A run that dies by SIGKILL; its directory stays."""
        done = self._call("state", topic, ["--events", str(events), "--state", str(self.work / name), "--kill-at",
                                           str(kill_at), *options])
        if done.returncode != KILLED:
            raise BenchError(f"the run was to be killed at {kill_at} records, and ended with {done.returncode}:\n"
                             f"{done.stderr[-2000:]}")

    def latency(self, topic, seconds, workload, *options, name="state"):
        """Records sent evenly to a new topic; how long each took until it was readable in durable state."""
        try:
            dials = workload.but(events=None, rate=None).arguments()
            return self._measured("latency", topic, [*dials, "--state", str(self.work / name), "--seconds",
                                                     str(seconds), *options])
        finally:
            self.forget(name)

    def status(self, directory):
        """Of a state directory that nobody has open."""
        words = [str(self.binary), "status", "--state", str(directory), "--output", "json"]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    def forget(self, name="state"):
        for directory in (self.work / name, self.work / (name + ".flushed")):
            shutil.rmtree(directory, ignore_errors=True)

    def _measured(self, part, topic, arguments):
        os.sync()  # what an earlier run has left to be written must not be written during this one
        before = cpu_seconds(self.broker.pids())
        figures = self._part(part, topic, arguments)
        if self.broker.pids():
            figures["broker_cpu_seconds"] = round(cpu_seconds(self.broker.pids()) - before, 2)
        return figures

    def _part(self, part, topic, arguments):
        done = self._call(part, topic, arguments)
        if done.returncode != 0:
            raise BenchError(f"ratchet bench --only {part} failed:\n{done.stderr[-2000:].strip()}")
        return json.loads(done.stdout)

    def _call(self, part, topic, arguments):
        return subprocess.run([str(self.binary), "bench", "--only", part, "--brokers", self.broker.address, "--topic",
                               topic, *arguments], capture_output=True, text=True)
