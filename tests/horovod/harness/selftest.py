"""Shows that the harness finds faults: correct programs pass, and with one fault planted in each it names the fault.

Below `../selftest/` are programs and their correct distributed forms, written by hand. A fault is a change of the
latter, with the assertion that must fail, and no other.
"""

import copy
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from .main import Harness, shown
from .programs import read_program

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
    Fault("one rank leaves the loop", "tape", "ranks", [("broadcast_done = True\n", "broadcast_done = True\n        elif hvd.rank() == 1:\n            break\n"), ("    if hvd.rank() == 0:\n        log.write", "    hvd.allreduce(loss)\n    if hvd.rank() == 0:\n        log.write")], "timeout", timeout=20),
    Fault("one rank fails", "fit", "ranks", [("model.fit(", "assert hvd.rank() == 0\nmodel.fit(")], "AssertionError", timeout=40),
    Fault("not initialised", "raw", "ranks", [("import horovod.tensorflow as hvd\n", ""), ("hvd.init()\n", ""), ("hvd.broadcast_variables([weight], root_rank=0)\n", ""), ("    tape = hvd.DistributedGradientTape(tape)\n", ""), (" * hvd.size()", ""), (" // hvd.size()", ""), ("if hvd.rank() == 0:\n    print", "print")], "not initialised"),
    Fault("both print", "tape", "prints", [(GUARDED + 'print("', '    print("')], "rank 1 prints 2 lines"),
    Fault("progress on both", "fit", "prints", [("verbose=1 if hvd.rank() == 0 else 0", "verbose=1")], "rank 1 prints"),
    Fault("nobody prints", "fit", "prints", [("if hvd.rank() == 0:\n    print", "if False:\n    print")], "rank 0 prints 4 lines"),
    Fault("both write a file", "tape", "files", [(GUARDED + "log.write", "    log.write"), ('if hvd.rank() == 0:\n    log = open("log.txt", "w")', 'log = open("log.txt", "w")')], "rank 1 writes log.txt"),
    Fault("both write a checkpoint", "tape", "files", [("if hvd.rank() == 0:\n    tf.train", "if True:\n    tf.train")], "rank 1 writes checkpoint/"),
    Fault("both write a model", "fit", "files", [("if hvd.rank() == 0:\n    callbacks", "if True:\n    callbacks")], "rank 1 writes best.h5"),
    Fault("nobody writes", "fit", "files", [("if hvd.rank() == 0:\n    callbacks", "if False:\n    callbacks")], "doesn't write best.h5"),
    Fault("steps not divided", "tape", "share", [(".take(8 // hvd.size())", ".take(8)")], "16/16 of 16"),
    Fault("steps of fit not divided", "fit", "share", [("8 // hvd.size()", "8")], "16/16 of 16"),
    Fault("one rank makes more steps", "session", "share", [("    if hvd.rank() == 0:\n", "    if hvd.rank() == 0:\n        session.run(weight.assign(weight))\n    session.run(train_op, {x: features}) if hvd.rank() else None\n    if hvd.rank() == 0:\n")], "different numbers", timeout=20),
    Fault("broadcast of nothing new", "raw", "control", [("tf.random.normal([4, 1])", "tf.ones([4, 1])")], "the same without broadcasts"),
    Fault("other number of steps", "raw", "original", [], "10 steps, run.json says 11", run={"steps": 11}),
    Fault("other number of lines", "raw", "original", [], "1 lines, run.json says 2", run={"prints": 2}),
    Fault("other files", "raw", "original", [], "doesn't write model.h5", run={"writes": ["model.h5"]}),
]


def check(chosen, scratch):
    """Runs the correct programs and all faults; gives the exit status."""
    chosen.distributed = scratch / "distributed"
    harness = Harness(chosen, scratch)
    missed, started = [], time.monotonic()
    for program in sorted(path.name for path in PROGRAMS.iterdir()):
        if not chosen.only or program in chosen.only:
            verdicts, seconds = one(harness, Fault(program, program, "", []))
            print(shown(program, verdicts, seconds), flush=True)
            if not all(verdict.holds for verdict in verdicts):
                missed.append(program)
    for fault in FAULTS:
        if not chosen.only or fault.name in chosen.only:
            verdicts, seconds = one(harness, fault)
            failed = [verdict for verdict in verdicts if verdict.holds is False]
            found = [verdict.assertion for verdict in failed] == [fault.fails] and fault.said in failed[0].detail
            print(f"{fault.name:28} {'found by ' + fault.fails if found else 'NOT FOUND'}  ({seconds:.1f} s)", flush=True)
            if not found:
                missed.append(fault.name)
                print(shown(fault.name, verdicts, seconds))
    print(f"\n{len(FAULTS)} faults, {len(missed)} not found, {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


def one(harness, fault):
    started = time.monotonic()
    program = read_program(PROGRAMS / fault.program / "original")
    program.name = fault.name.replace(" ", "-")
    for key, value in fault.run.items():
        setattr(program, key, value)
    place = harness.chosen.distributed / program.name
    shutil.copytree(PROGRAMS / fault.program / "distributed", place)
    source = (place / program.entry).read_text(encoding="utf-8")
    for old, new in fault.replaced:
        assert source.count(old) >= 1, f"{fault.name}: the program doesn't have {old!r}"
        source = source.replace(old, new)
    (place / program.entry).write_text(source, encoding="utf-8")
    harness.chosen.timeout = fault.timeout
    return harness.program(program), time.monotonic() - started
