# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""A broker to measure against: one of tools/kafka in a directory of its own, or one that runs already."""

import pathlib
import subprocess

from .errors import BenchError
from .machine import ROOT, kafka_version


class Broker:
    """To be used in `with`: what was started is stopped, and its data removed, at the end."""

    def __init__(self, brokers, directory, heap, properties=()):
        self.given, self.directory, self.heap = brokers, pathlib.Path(directory), heap
        self.properties = [word for one in properties for word in ("--set", one)]
        self.address, self.pid = brokers, None

    def __enter__(self):
        if self.given:
            return self
        try:
            self._tool("--port", "auto", "--heap", self.heap, *self.properties, "start")
            self.address = self._tool("bootstrap").strip()
            self.pid = int((self.directory / "pid").read_text())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if not self.given:
            self._tool("delete", check=False)

    def create(self, topic, partitions, *configs):
        """For topics that need more than `ratchet bench --only fill` asks for."""
        self._tool("topics", "create", topic, "--partitions", str(partitions),
                   *[word for one in configs for word in ("--config", one)])

    def delete(self, topic):
        """A broker that was given keeps its topics: it is not ours."""
        if not self.given:
            self._tool("topics", "delete", topic, check=False)

    def pids(self):
        return [self.pid] if self.pid else []

    def describe(self):
        if self.given:
            return {"given": self.given}
        return {"kafka": kafka_version(), "nodes": 1, "heap": self.heap, "jvm": "17, serial GC, C1 only"}

    def _tool(self, *arguments, check=True):
        done = subprocess.run([str(ROOT / "tools" / "kafka"), "--dir", str(self.directory), *arguments],
                              capture_output=True, text=True)
        if check and done.returncode != 0:
            raise BenchError(f"tools/kafka {arguments[-1]} failed:\n{done.stderr.strip()}")
        return done.stdout
