# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""`ratchet run` in processes of their own, with or without a replicated log, over the stream of `ratchet bench`."""

import datetime
import hashlib
import http.client
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import zlib

from .errors import BenchError
from .machine import cpu_seconds

# The stream is the one of `ratchet bench --only state`.
CONFIG = """version: 1
kafka:
  brokers: [{brokers}]
  group: {group}
  properties: {{fetch.wait.max.ms: 10, session.timeout.ms: {session_ms}}}
state: {{path: {state}, min_free: off}}
http: {{listen: "127.0.0.1:{port}"}}
{replicate}{memory}streams:
  - name: payments
    topics: [{topic}]
    start: earliest
    envelope: {{event_id: /id, aggregate: /payment/id, sequence: /sequence, type: /type, time: /occurred_at}}
    order: {order}
    reducer: {{kind: replace, from: /payment}}
"""
REPLICATE = """replicate:
  topic: {log}
  instance: {name}
  advertise: "{name}:{port}"
  compression: {compression}
  base: {{at_least: {base_at_least}, every: {base_every}, rate: 1GiB}}
"""
SNAPSHOT = b'"snapshot":'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Instance:
    """One directory and, from start() on, the process that has it."""

    def __init__(self, ratchet, name, settings):
        self.ratchet, self.name = ratchet, name
        self.home = ratchet.work / name
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.state, self.config, self.log = self.home / "state", self.home / "ratchet.yaml", self.home / "log"
        self.port, self.process = free_port(), None
        self.log.touch()
        given = {**settings, "name": name, "port": self.port, "state": self.state,
                 "brokers": ratchet.broker.address}
        given["replicate"] = REPLICATE.format(**given) if settings.get("log") else ""
        given["memory"] = f"memory_limit: {settings['memory_limit']}\n" if settings.get("memory_limit") else ""
        self.config.write_text(CONFIG.format(**given))

    def start(self):
        self.begun = time.monotonic()
        with self.log.open("ab") as out:
            self.process = subprocess.Popen([str(self.ratchet.binary), "run", "-c", str(self.config), "--log-format", "json"],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def pids(self):
        return [self.process.pid] if self.process else []

    def cpu(self):
        return cpu_seconds(self.pids())

    def most_resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self):
        """SIGTERM; it has to end with 0."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(120)
        self.process = None
        if code != 0:
            raise BenchError(f"instance {self.name} ended with {code}:\n{self.tail()}")

    def abandon(self):
        if self.process:
            self.kill()

    def lose_directory(self):
        shutil.rmtree(self.state)

    def must_run(self):
        if self.process.poll() is not None:
            raise BenchError(f"instance {self.name} ended by itself with {self.process.returncode}:\n{self.tail()}")

    # What it says.

    def tail(self):
        return self.log.read_bytes()[-2000:].decode(errors="replace")

    def lines(self, code):
        """Those of its log with this code, with the time of each in seconds."""
        found = []
        for text in self.log.read_text(errors="replace").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if line["code"] == code:
                line["at"] = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
                found.append(line)
        return found

    def get(self, path):
        """The answer of its health server, or None where nobody answers."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            client.request("GET", path)
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return None
        finally:
            client.close()

    def handled(self):
        """Records that its durable state has, by its metrics; 0 where nobody answers."""
        answer = self.get("/metrics")
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in (answer[1] if answer else "").splitlines()
                   if line.startswith("ratchet_consumed_records_total{"))

    def is_ready(self):
        answer = self.get("/readyz")
        return answer is not None and answer[0] == 200

    def status(self):
        done = self.call("status", "--output", "json", check=False)
        return json.loads(done) if done else None

    def step(self):
        found = self.status()
        return found["step"] if found else None

    def call(self, *words, check=True):
        done = subprocess.run([str(self.ratchet.binary), *words, "-c", str(self.config)], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=self.ratchet.patience_seconds)
        if check and done.returncode != 0:
            raise BenchError(f"ratchet {words[0]} failed:\n{(done.stderr or done.stdout)[-2000:].decode(errors='replace')}")
        return done.stdout if done.returncode == 0 else b""

    def digests(self):
        """Of all rows of the stream: the digest of `ratchet bench`, and a hash of each byte that `scan` prints."""
        whole, rows, total = hashlib.sha256(), 0, 0
        scan = subprocess.Popen([str(self.ratchet.binary), "scan", "-c", str(self.config), "payments"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        for line in scan.stdout:
            whole.update(line)
            at = line.index(SNAPSHOT) + len(SNAPSHOT)
            aggregate = json.loads(line[:at] + b"null}")["aggregate"].encode()
            rows += 1
            total += zlib.crc32(line[at:line.rindex(b"}")], zlib.crc32(aggregate + b"\t"))
        if scan.wait() != 0:
            raise BenchError(f"the state of instance {self.name} cannot be read")
        return {"aggregates": rows, "digest": total, "bytes": whole.hexdigest()}


def await_that(what, done, instances, pause=0.05):
    """Returns the time at which done() was true, by the clock of time.monotonic()."""
    begun, patience = time.monotonic(), instances[0].ratchet.patience_seconds
    while not done():
        for each in instances:
            each.must_run()
        if time.monotonic() - begun > patience:
            raise BenchError(f"within {patience} s it does not {what}:\n"
                             + "\n".join(f"{each.name}: {each.status()}\n{each.tail()}" for each in instances))
        time.sleep(pause)
    return time.monotonic()
