# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What the programs that play with one pair have in common: its brokers, its directory, and its end."""
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from cluster import Cluster, Failed
from pair import Pair


def play(name, options, begin, game, prefix=""):
    """Starts brokers, has begin() called, and has game() play with a pair that makes progress. Returns the exit code.
    Where it fails, state and logs stay."""
    # So that what was started is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = Path(tempfile.mkdtemp(prefix=f"ratchet-{name}-pair-"))
    cluster = Cluster(home / "kafka", options.nodes)
    pair = None
    try:
        begin()
        pair = Pair(cluster, home / "pair", f"{name}-{int(time.time())}", 1, options.rate, lambda text: None,
                    session_ms=int(options.session * 1000))
        pair.start()
        pair.await_progress()
        game(pair)
    except Failed as why:
        print(f"{prefix}{why}\nstate and logs are in {home}", file=sys.stderr)
        home = None
        return 1
    finally:
        if pair is not None:
            pair.close()
        cluster.remove()
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)
    return 0
