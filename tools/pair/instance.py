# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""One instance of the pair: its directory, its process, and what it says of itself."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
from datetime import datetime
from pathlib import Path

from cluster import Failed

BINARY = Path(os.environ.get("RATCHET_BINARY", Path(__file__).resolve().parents[2] / "build/release/bin/ratchet"))

CONFIG = """version: 1
kafka:
  brokers: [{brokers}]
  group: {group}
  properties: {{reconnect.backoff.max.ms: 500, session.timeout.ms: {session_ms}}}
state: {{path: {state}, min_free: off}}
http: {{listen: "127.0.0.1:{port}"}}
memory_limit: 256MiB
replicate:
  {{topic: {log}, instance: {name}, advertise: "{name}:{port}", compression: {compression}, base: {{at_least: 1MiB, rate: 4MiB}}, digest: {{every: 1s, bytes: 1MiB}}}}
sinks:
  - {{name: receipts, http: {{url: "{url}", timeout: 2s, concurrency: 8}}, retry: {{first: 20ms, most: 200ms}}}}
streams:
  - name: latest
    topics: [{latest}]
    start: earliest
    envelope: {{aggregate: /p, event_id: /id, sequence: /n, type: /t, time: /at}}
    order: latest
    reducer: {{kind: replace, from: /v}}
    emit: [{{topic: {out}}}]
  - name: strict
    topics: [{strict}]
    start: earliest
    envelope: {{aggregate: /p, sequence: /n, type: /t}}
    order: strict
    dedup: off
    reducer: {{kind: flaky, from: /v, fail: {{type: bad, how: give_up}}}}
    emit: [{{topic: {out}}}, {{sink: receipts}}]
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Instance:
    """Thread-safety: one thread. Errors are thrown as Failed."""

    def __init__(self, directory, name, settings):
        self.name = name
        self.directory = Path(directory) / name
        self.directory.mkdir(parents=True)
        self.state, self.config = self.directory / "state", self.directory / "ratchet.yaml"
        self.log, self.port = self.directory / "log", free_port()
        self.config.write_text(CONFIG.format(name=name, state=self.state, port=self.port, **settings))
        self.process, self.is_stopped, self.starts = None, False, 0
        self.unread = 0
        self.role = None  # owner, standby: what its log said last
        self.resumed = []  # (time, topic, partition, offset)
        self.leads = []  # the times at which it took the lead
        self.lost = []  # lost it
        self.leaves = []  # and at which it began to hand it over

    # Its life.

    def start(self):
        self.starts += 1
        self.has_begun, self.role, self.is_stopped = False, None, False
        with self.log.open("ab") as out:
            self.process = subprocess.Popen([BINARY, "run", "-c", self.config, "--log-format", "json"],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def must_run(self):
        if self.process is not None and self.process.poll() is not None:
            raise Failed(f"instance {self.name} ended by itself with {self.process.returncode}: {self.tail()}")

    def kill(self):
        self.must_run()
        self.process.kill()
        self.process.wait()
        self.process = None
        self.read_log()
        self.role = None

    def stop(self):
        """SIGTERM: it has to end with 0. Before it takes signals it is the system that ends it."""
        self.must_run()
        self.read_log()
        early = not self.has_begun
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failed(f"instance {self.name} does not end at SIGTERM: {self.tail()}") from None
        if code != 0 and not (early and code == -signal.SIGTERM):
            raise Failed(f"instance {self.name} ended at SIGTERM with {code}: {self.tail()}")
        self.process = None
        self.read_log()
        self.role = None

    def hand_over(self):
        """What `ratchet handover` comes to: (exit code, what it says)."""
        done = self.run("handover", "-c", self.config, "--output", "json")
        said = (done.stdout or done.stderr).decode(errors="replace").strip()
        self.read_log()
        if done.returncode not in (0, 69):
            raise Failed(f"instance {self.name}: handover ended with {done.returncode}: {said}")
        return done.returncode, said

    def stand_still(self):
        self.must_run()
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def lose_directory(self):
        shutil.rmtree(self.state)

    def copy_directory(self, to):
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.state, to, ignore=lambda at, names: [n for n in names if n.endswith(".sock")])

    def roll_back(self, to):
        shutil.rmtree(self.state)
        shutil.copytree(to, self.state)

    # What it says.

    def tail(self, size=3000):
        return self.log.read_bytes()[-size:].decode(errors="replace")

    def read_log(self):
        """Takes the lines that are new, and returns them."""
        lines = []
        with self.log.open("rb") as log:
            log.seek(self.unread)
            data = log.read()
        end = data.rfind(b"\n") + 1
        self.unread += end
        for text in data[:end].splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            line["at"] = datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
            lines.append(line)
            self.note(line)
        return lines

    def note(self, line):
        if line["code"] == "run_started":
            self.role = None
        elif line["code"] == "handover_begun":
            self.leaves.append(line["at"])
        elif line["code"] in ("standby_following", "lead_lost"):
            self.has_begun, self.role = True, "standby"
            self.lost += [line["at"]] if line["code"] == "lead_lost" else []
        elif line["code"] == "lead_taken":
            self.role = "owner"
            self.leads.append(line["at"])
        elif line["code"] == "replica_differs":
            raise Failed(f"{self.name}: {line}")
        elif line["code"] == "resumed":
            self.resumed.append((line["at"], line["topic"], line["partition"], line["offset"]))

    def is_owner(self):
        self.read_log()
        return self.process is not None and self.role == "owner"

    def ask(self, *words, timeout=30):
        """The output of a command as JSON, or None where nobody answers."""
        try:
            done = subprocess.run([BINARY, *words, "-c", self.config, "--output", "json"], capture_output=True,
                                  timeout=timeout, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        return [json.loads(line) for line in done.stdout.splitlines()]

    def status(self):
        found = self.ask("status", timeout=10)
        return found[0] if found else None

    def handled(self, timeout=1.0):
        """How many records its counters have, by its metrics. None: nobody answers."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            client.request("GET", "/metrics")
            text = client.getresponse().read().decode()
        except OSError:
            return None
        finally:
            client.close()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith("ratchet_consumed_records_total{"))

    def run(self, *words):
        return subprocess.run([BINARY, *words], capture_output=True, check=False, timeout=300, stdin=subprocess.DEVNULL)
