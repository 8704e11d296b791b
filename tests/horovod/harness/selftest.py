"""Shows that the harness finds faults: correct programs pass, and with one fault planted in each it names the fault.

Below `../selftest/` are programs and their correct distributed forms, written by hand. A fault is a change of the
latter, with the assertion that must fail, and no other.
"""

import argparse
import copy
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .main import Harness, shown, timed
from .programs import read_programs

PROGRAMS = Path(__file__).resolve().parents[1] / "selftest"


@dataclass
class Fault:
    """A program with some lines replaced; `fails` names the assertion that must see it."""

    name: str
    program: str
    fails: str
    replaced: list
    said: str = ""  # a part of what the assertion must say
    timeout: float = 120
    run: dict = field(default_factory=dict)  # other values than those of run.json


BROADCASTS = [
    ("hvd.broadcast_variables(model.variables, root_rank=0)", "pass"),
    ("hvd.broadcast_variables(optimizer.variables(), root_rank=0)", "pass"),
]
GUARDED = "    if hvd.rank() == 0:\n        "

FAULTS = [
    Fault("no broadcast", "tape", "weights", BROADCASTS, "1 of 4 differ, the first is dense/kernel:0"),
    Fault("no broadcast callback", "fit", "weights", [("[hvd.callbacks.BroadcastGlobalVariablesCallback(0)]", "[]")]),
    Fault("no broadcast of a session", "session", "weights", [("    session.run(hvd.broadcast_global_variables(0))\n", "")]),
    Fault("no broadcast of a variable", "raw", "weights", [("hvd.broadcast_variables([weight], root_rank=0)\n", "")]),
    Fault("gradients not averaged", "tape", "weights", [("    tape = hvd.DistributedGradientTape(tape)\n", "")]),
    Fault("optimizer not distributed", "fit", "weights", [("optimizer = hvd.DistributedOptimizer(optimizer)\n", "")]),
    Fault("session not distributed", "session", "weights", [("optimizer = hvd.DistributedOptimizer(optimizer)\n", "")]),
    Fault("not a number", "raw", "weights", [("0.1 *", "1e30 *")], "not finite"),
    Fault(
        "one rank leaves the loop",
        "tape",
        "ranks",
        [
            ("broadcast_done = True\n", "broadcast_done = True\n        elif hvd.rank() == 1:\n            break\n"),
            (GUARDED + "log.write", "    hvd.allreduce(loss)\n" + GUARDED + "log.write"),
        ],
        "timeout",
        timeout=40,
    ),
    Fault("one rank fails", "fit", "ranks", [("model.fit(", "assert hvd.rank() == 0\nmodel.fit(")], "AssertionError"),
    Fault(
        "not initialised",
        "raw",
        "ranks",
        [
            ("import horovod.tensorflow as hvd\n", ""),
            ("hvd.init()\n", ""),
            ("hvd.broadcast_variables([weight], root_rank=0)\n", ""),
            ("    tape = hvd.DistributedGradientTape(tape)\n", ""),
            (" * hvd.size()", ""),
            (" // hvd.size()", ""),
            ("if hvd.rank() == 0:\n    print", "print"),
        ],
        "not initialised",
    ),
    Fault("both print", "tape", "prints", [(GUARDED + "print(", "    print(")], "rank 1 prints 2 lines"),
    Fault("progress on both", "fit", "prints", [("verbose=1 if hvd.rank() == 0 else 0", "verbose=1")], "rank 1 prints"),
    Fault("nobody prints", "fit", "prints", [("if hvd.rank() == 0:\n    print", "if False:\n    print")], "rank 0 prints 2 lines"),
    Fault(
        "both write a file",
        "tape",
        "files",
        [(GUARDED + "log.write", "    log.write"), ("if hvd.rank() == 0:\n    log = open", "if True:\n    log = open")],
        "rank 1 writes log.txt",
    ),
    Fault(
        "both write elsewhere",
        "raw",
        "files",
        [("if hvd.rank() == 0:\n", 'open("../other.txt", "w").close()\nif hvd.rank() == 0:\n')],
        "/other.txt",
    ),
    Fault(
        "both write a checkpoint",
        "tape",
        "files",
        [("if hvd.rank() == 0:\n    tf.", "if True:\n    tf."), ('"checkpoint/model"', 'f"checkpoint/{hvd.rank() or \'model\'}"')],
        "rank 1 writes checkpoint/1-1.index",
    ),
    Fault(
        "both write a model",
        "fit",
        "files",
        [("if hvd.rank() == 0:\n    callbacks", "if True:\n    callbacks"), ('"best.h5"', 'f"{hvd.rank() or \'best\'}.h5"')],
        "rank 1 writes 1.h5",
    ),
    Fault(
        "both write the same file",
        "fit",
        "ranks",
        [
            ("if hvd.rank() == 0:\n    callbacks", "if True:\n    callbacks"),
            ("model.fit(", "with open('best.h5', 'w'):\n    assert hvd.rank() == 0\nmodel.fit("),
        ],
        "rank 1 writes best.h5",
    ),
    Fault("nobody writes", "fit", "files", [("if hvd.rank() == 0:\n    callbacks", "if False:\n    callbacks")], "doesn't write best.h5"),
    Fault("steps not divided", "tape", "share", [(".take(8 // hvd.size())", ".take(8)")], "16/16 of 16"),
    Fault("steps of fit not divided", "fit", "share", [("8 // hvd.size()", "8")], "16/16 of 16"),
    Fault(
        "one rank makes more steps",
        "raw",
        "share",
        [
            (
                "if hvd.rank() == 0:\n",
                "if hvd.rank() == 1:\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(weight)\n"
                "    tape.gradient(loss, [weight])\nif hvd.rank() == 0:\n",
            )
        ],
        "different numbers",
    ),
    Fault("nothing to broadcast", "raw", "control", [("tf.random.normal([4, 1])", "tf.ones([4, 1])")], "the same without broadcasts"),
    Fault("other number of steps", "raw", "original", [], "10 steps, run.json says 11", run={"steps": 11}),
    Fault("other number of lines", "raw", "original", [], "1 lines, run.json says 2", run={"prints": 2}),
    Fault("other files", "raw", "original", [], "doesn't write model.h5", run={"writes": ["model.h5"]}),
]

TOOLS = {  # what is run in place of hvdlint: what is said of a program that it should rewrite, and of one that it shouldn't
    "tool that does nothing": ("exit 0", "nothing was rewritten", ""),
    "tool that never ends": ("echo '# more' >> train.py", "a second --fix changes train.py", "--fix changes train.py"),
    "tool that fails": ("echo no >&2; exit 2", "status 2\nno", "status 2\nno"),
}


def check(chosen, scratch):
    """Runs the correct programs and all faults; gives the exit status."""
    chosen.distributed = scratch / "distributed"
    harness = Harness(chosen, scratch)
    names = sorted(path.name for path in PROGRAMS.iterdir())
    cases = [Fault(name, name, "", []) for name in names] + [Fault("with horovodrun", "tape", "", [])] + FAULTS
    cases = [case for case in cases if not chosen.only or case.name in chosen.only]
    missed, started = [], time.monotonic()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        results = pool.map(lambda case: timed(lambda one: judge(harness, one), case), cases)
        for case, (verdicts, seconds) in zip(cases, results):
            if as_expected(case, verdicts):
                print(f"{case.name:28} {f'found by {case.fails}' if case.fails else 'correct'}  ({seconds:.1f} s)", flush=True)
            else:
                missed.append(case.name)
                print(f"NOT AS EXPECTED: {shown(case.name, verdicts, seconds)}", flush=True)
    for name, (script, fixed, refused) in TOOLS.items():
        verdicts = judge_tool(harness, name, script)
        if all(said in one.detail and one.holds != bool(said) for said, one in zip((fixed, refused), verdicts)):
            print(f"{name:28} found by fix")
        else:
            missed.append(name)
            print(f"NOT AS EXPECTED: {shown(name, verdicts, 0)}")
    print(f"\n{len(cases) + len(TOOLS)} cases, {len(missed)} not as expected, {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


def as_expected(case, verdicts):
    failed = [verdict for verdict in verdicts if verdict.holds is False]
    if not case.fails:
        return not failed and verdicts[-1].assertion == "control" and verdicts[-1].holds
    return [verdict.assertion for verdict in failed] == [case.fails] and case.said in failed[0].detail


def judge(harness, case):
    """Plants the fault and gives the verdicts."""
    [program] = read_programs(PROGRAMS / case.program / "original")
    program.name = case.name.replace(" ", "-")
    program.folder = shutil.copytree(program.folder, harness.scratch / "fixtures" / program.name)
    program.timeout = case.timeout
    for key, value in case.run.items():
        setattr(program, key, value)
    place = harness.chosen.distributed / program.name
    shutil.copytree(PROGRAMS / case.program / "distributed", place)
    source = (place / program.entry).read_text(encoding="utf-8")
    for old, new in case.replaced:
        assert old in source, f"{case.name}: the program doesn't have {old!r}"
        source = source.replace(old, new)
    (place / program.entry).write_text(source, encoding="utf-8")
    if case.name == "with horovodrun":
        harness = harness.with_horovodrun()
    return harness.program(program)


def judge_tool(harness, name, script):
    """What is said of a tool, about a program that it should rewrite and one that it should leave."""
    tool = harness.scratch / name.replace(" ", "-")
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    harness = copy.copy(harness)
    harness.chosen = argparse.Namespace(distributed=None, hvdlint=tool)
    folder = shutil.copytree(PROGRAMS / "raw" / "original", harness.scratch / f"{tool.name}-program")
    return [harness.make_distributed(None, folder, harness.scratch / f"{tool.name}-rewritten"), harness.refused(folder)[0]]
