# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""A real Kafka of a run's own, by tools/kafka: one node or three. And what kcat says of its topics."""
import json
import os
import subprocess
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
# Where a broker is away for seconds, clients come back soon.
SOON = ["-X", "reconnect.backoff.max.ms=500"]


class Failed(Exception):
    """Something that the run found wrong, or that it cannot go on without."""


def run(command, timeout=300, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}: "
                     f"{(done.stderr or done.stdout).decode(errors='replace')[-2000:]}")
    return done


class Cluster:
    """Thread-safety: one thread, but for leader(), topic() and log_of()."""

    def __init__(self, directory, nodes):
        self.directory, self.nodes = Path(directory), nodes
        options = ["--port", "auto", "--heap", "320m"]
        if nodes == 3:
            options += ["--nodes", "3"]
        self.tool(*options, "start")
        self.brokers = self.tool("bootstrap").stdout.decode().strip()
        self.down = None  # the node that is killed or stands still, and how

    def tool(self, *words, node=None):
        which = ["--node", node] if node and self.nodes == 3 else []
        return run([TOOLS / "kafka", "--dir", self.directory, *which, *words])

    def remove(self):
        self.tool("kill")
        self.tool("delete")

    def make_topics(self, names, partitions):
        for name in names:
            self.tool("topics", "create", name, "--partitions", partitions)

    def metadata(self, topic):
        done = run(["kcat", "-L", "-J", "-b", self.brokers, "-t", topic, "-m", "10", *SOON], check=False)
        return json.loads(done.stdout)["topics"][0] if done.returncode == 0 else None

    def leader(self, topic):
        """The node that leads its first partition, or 1."""
        found = self.metadata(topic)
        return found["partitions"][0]["leader"] if found and found["partitions"] else 1

    def in_sync(self, topic):
        """The fewest replicas that a partition of the topic has in sync."""
        found = self.metadata(topic)
        return min((len(each["isrs"]) for each in found["partitions"]), default=0) if found else 0

    def elect(self):
        """Gives each partition back to its preferred leader."""
        self.tool("run", "org.apache.kafka.tools.LeaderElectionCommand", "--bootstrap-server", self.brokers,
                  "--election-type", "preferred", "--all-topic-partitions")

    def records(self, topic):
        """Each record of the topic, as kcat's JSON has it, by partition and offset."""
        done = run(["kcat", "-C", "-e", "-q", "-b", self.brokers, "-t", topic, "-o", "beginning", "-J", *SOON])
        found = [json.loads(line) for line in done.stdout.splitlines()]
        return sorted(found, key=lambda each: (each["partition"], each["offset"]))

    def log_of(self, topic, into):
        """Writes the topic's only partition as tools/slot-log reads it."""
        done = run(["kcat", "-C", "-e", "-q", "-b", self.brokers, "-t", topic, "-p", "0", "-o", "beginning",
                    "-f", "%o %R%s", *SOON])
        Path(into).write_bytes(done.stdout)


def machine():
    system = os.uname()
    return f"{os.cpu_count()} cores, {system.machine}, {system.sysname} {system.release}"
