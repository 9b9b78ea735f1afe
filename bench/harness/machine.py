# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What a figure was measured on and with, and the processor time of other processes."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_model():
    found = re.search(r"^model name\s*: (.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def describe():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "") if hasattr(platform, "freedesktop_os_release") else ""
    return {
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "shared_with": "the broker, and whatever else runs on the machine",
        "memory_bytes": memory,
        "system": system,
        "kernel": platform.release(),
        "load_average_before": os.getloadavg()[0],
    }


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def commit():
    asked = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else "unknown"


def kafka_version():
    return re.search(r"^version=(\S+)$", (ROOT / "tools" / "kafka").read_text(), re.MULTILINE)[1]


def cpu_seconds(pids):
    """Of these processes so far, all threads. One that is gone counts as nothing."""
    total = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])  # its own, and that of children that have ended
    return total / TICKS


def family_of(pid):
    """A process and those that it started."""
    family = [pid]
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "stat").read_text().rsplit(")", 1)[1].split()[1] == str(pid):
                family.append(int(entry.name))
        except OSError:
            continue
    return family
