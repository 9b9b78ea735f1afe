# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""The one error that is shown to a person without a traceback, and ending in order when told to."""

import signal
import sys


class BenchError(Exception):
    """What happened and, where that helps, what to do about it."""


def run_main(name, main):
    """Calls main(); SIGTERM ends it as Ctrl-C does, so that brokers and directories are cleared away."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except BenchError as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
