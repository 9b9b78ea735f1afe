# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""An operator who skips the events that the reducer gave up, on whoever owns the state."""
import threading


class Operator:
    """Asks from a thread of its own, from start() to stop(). `answered` has the (aggregate, number) of each decision
    that an instance said to have made."""

    def __init__(self, owner):
        self.owner = owner  # returns the instance to ask, or None
        self.answered = []
        self.asked = 0
        self.thread = None

    def start(self):
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.stopped.wait(0.7):
            one = self.owner()
            if one is not None:
                self.skip_some(one)

    def skip_some(self, one, most=4):
        """Returns how many are left, or None where nobody answers."""
        found = one.ask("waiting", "list", "strict", "--reason", "reducer", timeout=5)
        if found is None:
            return None
        for event in found[:most]:
            where = (event["aggregate"], int(event["sequence"]))
            self.asked += 1
            if one.ask("waiting", "skip", "strict", "--aggregate", where[0], "--sequence", str(where[1]), "--yes",
                       "--why", "it is bad", timeout=8) is not None:
                self.answered.append(where)
        return max(0, len(found) - most)

    def stop(self):
        self.stopped.set()
        self.thread.join()
