# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What befalls a pair and its brokers. The same seed draws the same faults; at which record they strike is up to the
machine."""
import threading
import time

# name, weight, whether it takes more than one broker
WEIGHTS = (
    ("kill_owner", 22, False),
    ("kill_standby", 6, False),
    ("kill_both", 4, False),
    ("kill_starting", 6, False),
    ("stop_owner", 16, False),  # SIGSTOP for 0.5 to 2 sessions
    ("stop_standby", 4, False),
    ("stop_both", 3, False),
    ("end_owner", 8, False),  # SIGTERM
    ("end_standby", 3, False),
    ("hand_over", 8, False),
    ("lose_owner_directory", 5, False),
    ("lose_standby_directory", 4, False),
    ("lose_both_directories", 1, False),
    ("roll_back_owner", 5, False),
    ("roll_back_standby", 4, False),
    ("kill_broker", 6, False),
    ("pause_broker", 6, False),
    ("end_broker", 5, True),  # its leaderships move before it goes
    ("elect_leaders", 3, True),  # and come back
)


def draw(dice, count, nodes):
    rows = [(name, weight) for name, weight, many in WEIGHTS if nodes == 3 or not many]
    return dice.choices([name for name, _ in rows], [weight for _, weight in rows], k=count)


class Striker:
    """Strikes a pair. take_overs has (seconds to the lead, seconds to the first record, how) of each that was waited
    for."""

    def __init__(self, pair, dice, say):
        self.pair, self.dice, self.say = pair, dice, say
        self.take_overs = []
        self.copies = {each.name: each.directory / "copy" for each in pair.both}

    def strike(self, kind):
        getattr(self, kind)()

    def sides(self):
        """The owner, or the one that led last, and the other."""
        owner = self.pair.owner() or max(self.pair.both, key=lambda each: each.leads[-1:] or [0])
        return owner, self.pair.other(owner)

    def kill(self, one):
        one.kill()
        # Some time later a directory goes back to this.
        if one.state.exists() and self.dice.random() < 0.4:
            one.copy_directory(self.copies[one.name])
        return time.monotonic()

    def measured_kill(self, how, between=lambda one: None):
        """Kills the owner. Two times of three its successor is waited for before it starts again."""
        leads = self.pair.owner() is not None
        owner, other = self.sides()
        waits = leads and self.dice.random() < 0.67 and not other.is_stopped
        before = other.handled()  # a standby that answers
        since = time.monotonic()
        self.kill(owner)
        between(owner)
        if waits and before is not None:
            led, handled = self.pair.await_successor(owner, since)
            self.take_overs.append((led, handled, how))
            self.say(f"took over: led after {led:.2f} s, first record after {handled:.2f} s")
        else:
            time.sleep(self.dice.random() * self.pair.session)
        owner.start()

    # The instances.

    def kill_owner(self):
        self.measured_kill("kill")

    def kill_standby(self):
        _, standby = self.sides()
        self.kill(standby)
        time.sleep(self.dice.random())
        standby.start()

    def kill_both(self):
        for each in self.pair.both:
            self.kill(each)
        for each in self.dice.sample(self.pair.both, 2):
            each.start()
            time.sleep(self.dice.random() * 0.5)

    def kill_starting(self):
        one = self.dice.choice(self.pair.both)
        for _ in range(self.dice.randint(2, 4)):
            self.kill(one)
            one.start()
            time.sleep(self.dice.random() * 0.8)

    def stand_still(self, who):
        seconds = self.pair.session * self.dice.uniform(0.5, 2)
        for each in who:
            each.stand_still()
        time.sleep(seconds)
        for each in who:
            each.go_on()
        self.say(f"stood still for {seconds:.2f} s")

    def stop_owner(self):
        self.stand_still(self.sides()[:1])

    def stop_standby(self):
        self.stand_still(self.sides()[1:])

    def stop_both(self):
        self.stand_still(self.sides())

    def end(self, one):
        since = time.monotonic()
        one.stop()
        self.say(f"ended within {time.monotonic() - since:.2f} s")
        time.sleep(self.dice.random())
        one.start()

    def end_owner(self):
        self.end(self.sides()[0])

    def end_standby(self):
        self.end(self.sides()[1])

    def hand_over(self):
        """Of the owner, where a standby is there; else it may be refused by name."""
        owner, standby = self.sides()
        status = standby.status() if self.pair.owner() is owner else None
        is_pair = status is not None and status.get("ready")
        since = time.monotonic()
        code, said = (owner if is_pair or self.dice.random() < 0.67 else standby).hand_over()
        self.say(f"hand-over: {code}, {said} ({time.monotonic() - since:.2f} s)")
        self.pair.handovers[code] += 1

    # The directories.

    def lose_owner_directory(self):
        self.measured_kill("kill", lambda one: one.lose_directory())

    def lose_standby_directory(self):
        standby = self.sides()[1]
        self.kill(standby)
        standby.lose_directory()
        standby.start()

    def lose_both_directories(self):
        for each in self.pair.both:
            self.kill(each)
            each.lose_directory()
        for each in self.pair.both:
            each.start()

    def back(self, one):
        if self.copies[one.name].exists():
            one.roll_back(self.copies[one.name])

    def roll_back_owner(self):
        self.measured_kill("kill", self.back)

    def roll_back_standby(self):
        standby = self.sides()[1]
        self.kill(standby)
        self.back(standby)
        standby.start()

    # The brokers.

    def node(self):
        """The leader of the log two times of three."""
        if self.pair.cluster.nodes == 1:
            return None
        return self.pair.cluster.leader(self.pair.log) if self.dice.random() < 0.67 else self.dice.randint(1, 3)

    def all_in_sync(self):
        """Kafka keeps what it acknowledged while no second node goes before the first one is back in sync."""
        topics = [*self.pair.topics.values(), self.pair.out, self.pair.log, f"{self.pair.log}.base",
                  "__consumer_offsets"]
        if self.pair.cluster.nodes == 3:
            self.pair.await_that("have all replicas in sync",
                                 lambda: all(self.pair.cluster.in_sync(each) == 3 for each in topics), pause=0.3)

    def kill_broker(self):
        self.take_down("kill", 3)

    def end_broker(self):
        self.take_down("stop", 2)

    def take_down(self, command, longest):
        self.all_in_sync()
        node = self.node()
        self.pair.cluster.tool(command, node=node)
        time.sleep(self.dice.random() * longest)
        self.pair.cluster.tool("start", node=node)

    def pause_broker(self):
        self.all_in_sync()
        node = self.node()
        seconds = self.dice.uniform(0.5, 2) * self.pair.session
        self.pair.cluster.tool("pause", node=node)
        time.sleep(seconds)
        self.pair.cluster.tool("resume", node=node)
        self.say(f"node {node} stood still for {seconds:.2f} s")

    def elect_leaders(self):
        self.pair.cluster.elect()
