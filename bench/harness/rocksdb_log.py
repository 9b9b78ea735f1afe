# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What RocksDB says in its LOG of the files that it wrote."""

import json
import pathlib
import re

EVENT = re.compile(r"EVENT_LOG_v1 (\{.*\})$", re.MULTILINE)


def events_of(directory):
    text = (pathlib.Path(directory) / "LOG").read_text(errors="replace")
    return [json.loads(line) for line in EVENT.findall(text)]


def disk_report(state, figures):
    """Of a state that `ratchet bench --only state --inspect` has left: `state` and `state`.flushed.

    The log's bytes are what the process wrote beyond RocksDB's table files. Write amplification is all that was
    written over what was written to the log, as every row goes there once.
    """
    flushes, family_of, flushed, compacted = set(), {}, 0, 0
    for event in events_of(state):
        if event["event"] == "flush_started":
            flushes.add(event["job"])
        elif event["event"] == "table_file_creation":
            family_of[event["file_number"]] = event["cf_name"]
            if event["job"] in flushes:
                flushed += event["file_size"]
            else:
                compacted += event["file_size"]
    live = {}
    for file in pathlib.Path(f"{state}.flushed").glob("*.sst"):
        family = family_of.get(int(file.stem), "unknown")
        live[family] = live.get(family, 0) + file.stat().st_size
    written = figures["flushed"]["written_bytes"]
    log = written - flushed - compacted
    counters = figures["counters"]
    ids = counters["applied"] + counters["superseded"]
    snapshots = live.get("sequences", 0) + live.get("snapshots", 0)
    events = figures["records"]
    return {
        "written_bytes": written,
        "log_bytes": log,
        "flush_bytes": flushed,
        "compaction_bytes": compacted,
        "written_bytes_per_event": written / events,
        "log_bytes_per_event": log / events,
        "write_amplification": written / log if log > 0 else None,
        "table_bytes": live,
        "ids": ids,
        "bytes_per_id": live.get("dedup", 0) / ids if ids else None,
        "bytes_per_snapshot": snapshots / figures["aggregates"] if figures["aggregates"] else None,
    }
