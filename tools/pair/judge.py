# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Whether all that a pair has kept, sent and answered is right. Each finding is thrown as Failed."""
import json
import re
from collections import Counter

from cluster import TOOLS, Failed, run
from stream import LATEST, STRICT, Expected


def expect(good, what):
    if not good:
        raise Failed(what)


def judge(pair):
    """Of a pair at rest. Stops both instances, and returns figures for people."""
    owner = pair.owner()
    figures = {}
    wanted = Expected()
    wanted.fold_latest(pair.cluster.records(pair.topics[LATEST]))
    wanted.fold_strict(pair.cluster.records(pair.topics[STRICT]))
    told = [judge_state(each, wanted) for each in (owner, pair.other(owner))]
    expect(told[0] == told[1], f"the instances tell apart: {first_difference(*told)}")
    judge_answers(pair, owner, wanted)
    judge_resumes(pair)
    figures["messages"], figures["again"] = judge_sink(pair, wanted)
    judge_topic(pair, wanted)
    # The owner last: alone in its group it may still write a step.
    for each in (pair.other(owner), owner):
        each.stop()
        done = each.run("verify", "--state", each.state)
        expect(done.returncode == 0, f"verify of {each.name}: {(done.stdout + done.stderr).decode()}")
    fates = judge_log(pair, owner.status()["step"])
    figures.update(records=sum(wanted.records.values()), aggregates=sum(map(len, wanted.states.values())), steps=owner.status()["step"], answers=len(pair.operator.answered),
                   fences=fates.get("fence", 0), digests=fates.get("digest", 0),
                   passed_over=sum(fates.get(fate, 0) for fate in ("zombie", "rival", "gap")))
    return figures


def first_difference(a, b):
    for key in a:
        if a[key] != b.get(key):
            return f"{key}: {str(a[key])[:600]} and {str(b.get(key))[:600]}"
    return "one has more"


def judge_state(instance, wanted):
    """Returns all that must be equal on both instances."""
    told = {}
    for stream in (LATEST, STRICT):
        rows = instance.ask("scan", stream, timeout=120)
        expect(rows is not None, f"scan of {instance.name} gives nothing")
        told[f"scan {stream}"] = rows
        found = {row["aggregate"]: (row["sequence"], row["snapshot"]) for row in rows if row.get("snapshot") is not None}
        for name in wanted.states[stream].keys() | found.keys():
            expect(found.get(name) == wanted.states[stream].get(name),
                   f"{instance.name}: {stream} {name} is {found.get(name)} and not {wanted.states[stream].get(name)}")
    status = instance.status()
    for name, stream in status["streams"].items():
        for partition in stream["partitions"]:
            for key in ("committed", "lag", "assigned"):
                partition.pop(key, None)
        # What the fields of events are is told by the process that read them.
        stream.pop("fields", None)
        told[f"status {name}"] = stream
        verdicts = stream["verdicts"]
        expect(sum(verdicts.values()) == stream["consumed"] == wanted.records[name],
               f"{instance.name}: the ledger of {name} has {stream['consumed']} records, {verdicts}; "
               f"the topic has {wanted.records[name]}")
    told["outbox"] = status["outbox"]
    told["audit"] = instance.ask("status", "--audit")[0]["audit"]
    told["waiting"] = instance.ask("waiting", "list")
    return told


def judge_answers(pair, owner, wanted):
    """Each answered decision is there once, and each bad event was skipped once."""
    rows = owner.ask("status", "--audit")[0]["audit"]
    skipped = Counter()
    for row in rows:
        text = json.dumps(row)
        for where in re.findall(r"(p\d{5})\D{1,40}?(\d+)", text):
            if "skip" in text:
                skipped[(where[0], int(where[1]))] += 1
    for where in pair.operator.answered:
        expect(skipped[where] == 1, f"the answered decision about {where} is there {skipped[where]} times")
    for where in wanted.bad:
        expect(skipped[where] == 1, f"the bad event {where} was skipped {skipped[where]} times")


def judge_resumes(pair):
    """No commit that Kafka took may pass what a later owner goes on from."""
    for instance in pair.both:
        for at, topic, partition, offset in instance.resumed:
            before = [c for when, t, p, c in pair.committed if (t, p) == (topic, partition) and when < at - 0.1]
            expect(max(before, default=0) <= offset,
                   f"{instance.name} resumed {topic}/{partition} at {offset}; {max(before, default=0)} was committed")


def judge_messages(name, messages, wanted):
    """`messages`: (id, subject, the whole, the body) in the order of arrival. Returns how many there are, and repeats."""
    first, order, repeats = {}, {}, 0
    for ident, subject, whole, body in messages:
        if ident in first:
            repeats += 1
            expect(first[ident] == whole, f"{name}: the message {ident} came as {first[ident]} and as {whole}")
            continue
        first[ident] = whole
        order.setdefault(subject, []).append(json.loads(body))
    for subject in wanted.keys() | order.keys():
        got, must = order.get(subject, []), wanted.get(subject, [])
        if got != must:
            at = next((i for i, (g, w) in enumerate(zip(got, must)) if g != w), min(len(got), len(must)))
            raise Failed(f"{name}: {subject} has {len(got)} messages in place of {len(must)}; "
                         f"from {at}: {got[at:at + 3]}, not {must[at:at + 3]}")
    return len(first), repeats


def judge_sink(pair, wanted):
    taken = [(ident, subject, whole, whole[-1]) for _, ident, subject, whole in pair.receiver.taken]
    return judge_messages("the sink", taken, wanted.outputs[STRICT])


def judge_topic(pair, wanted):
    by_stream = {LATEST: [], STRICT: []}
    for record in pair.cluster.records(pair.out):
        headers = dict(zip(record["headers"][::2], record["headers"][1::2]))
        whole = (record["key"], record["payload"], tuple(record["headers"]))
        by_stream[headers["ce_source"].rsplit("/", 1)[1]].append(
            (headers["ce_id"], headers["ce_subject"], whole, record["payload"]))
    for stream, messages in by_stream.items():
        judge_messages(f"the topic of {stream}", messages, wanted.outputs[stream])


def judge_log(pair, step):
    """An independent reader takes the log as one chain without a gap, up to the last step of the owner."""
    file = pair.directory / "slot.log"
    pair.cluster.log_of(pair.log, file)
    done = run([TOOLS / "slot-log", "--cut", file], timeout=600, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    expect(done.returncode == 0, f"slot-log refuses the log: {lines[-1:]} {done.stderr[-500:]}")
    end = re.match(r"the history ends with step (\d+)", lines[-1])
    expect(end and int(end[1]) == step, f"{lines[-1]}, and the owner's directory with {step}")
    return {word: int(count) for word, count in (part.split(" ") for part in lines[-2].split(", "))}
