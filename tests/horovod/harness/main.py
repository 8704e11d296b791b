"""The command line: which programs, how they are made distributed, and a line for each."""

import argparse
import copy
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import launch, verdict
from .programs import BadProgram, copy_program, fix, programs, refused
from .verdict import Verdict

HERE = Path(__file__).resolve().parents[1]


def options(arguments):
    parser = argparse.ArgumentParser(prog="tests/horovod/run", description=sys.modules["__main__"].__doc__)
    parser.add_argument("hvdlint", nargs="?", type=Path, help="the executable that rewrites the programs")
    parser.add_argument("--distributed", type=Path, metavar="DIR", help="take the distributed programs from DIR/<name>/ instead")
    parser.add_argument("--originals", action="store_true", help="run only the originals: does run.json say the truth?")
    parser.add_argument("--fixtures", type=Path, default=HERE.parents[1] / "fixtures", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this program; repeatable")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="for one run (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="programs at a time (default: %(default)s)")
    parser.add_argument("--horovodrun", action="store_true", help="start the ranks with horovodrun (slower)")
    parser.add_argument("--keep", action="store_true", help="keep the temporary directory")
    parser.add_argument("--selftest", action="store_true", help="show that faults are found, instead")
    chosen = parser.parse_args(arguments)
    if not (chosen.selftest or chosen.originals or chosen.hvdlint or chosen.distributed):
        parser.error("the path of hvdlint, --distributed, --originals or --selftest is needed")
    if chosen.hvdlint:
        chosen.hvdlint = chosen.hvdlint.resolve()
    return chosen


class Harness:
    """Runs programs and judges how they ran."""

    def __init__(self, chosen, scratch):
        self.chosen = chosen
        self.scratch = scratch
        self.context = launch.start_server(scratch)
        self.horovodrun = chosen.horovodrun

    def with_horovodrun(self):
        """The same, but the ranks are started with horovodrun."""
        other = copy.copy(self)
        other.horovodrun = True
        return other

    def program(self, program):
        """All verdicts about one program. What can't be judged after a failure isn't."""
        place = self.scratch / program.name
        original = copy_program(program.folder, place / "source")
        distributed = place / "distributed"
        run = self.run(program, original, place / "original")
        found = [verdict.judge_original(program, run)]
        [alone] = run.ranks
        if self.chosen.originals:
            return found
        found.append(self.make_distributed(program, original, distributed))
        if not all(one.holds for one in found):
            return found
        run = self.run(program, distributed, place / "ranks", launch.RANKS)
        ranks = run.ranks
        found.append(verdict.judge_ranks(run))
        if not found[-1].holds:
            return found
        same = verdict.judge_weights(ranks)
        found.append(same)
        found.append(verdict.judge_prints(alone, ranks))
        found.append(verdict.judge_files(program, run))
        found.append(verdict.judge_share(program, alone, ranks))
        if not same.holds:
            found.append(Verdict("control", None, "the weights differ already"))
        elif program.broadcast_control:
            run = self.run(program, distributed, place / "control", launch.RANKS, broadcasts=False)
            found.append(verdict.judge_control(run.ranks))
        else:
            found.append(Verdict("control", None, program.why))
        return found

    def make_distributed(self, program, original, place):
        if self.chosen.distributed:
            shutil.copytree(self.chosen.distributed / program.folder.name, place)
            return Verdict("fix", True, "given")
        copy_program(original, place)
        try:
            changed = fix(self.chosen.hvdlint, place)
            if not changed:
                return Verdict("fix", False, "nothing was rewritten")
            again = fix(self.chosen.hvdlint, place)
        except RuntimeError as error:
            return Verdict("fix", False, str(error))
        return Verdict("fix", not again, f"a second --fix changes {', '.join(again)}" if again else "")

    def refused(self, folder):
        """A program that can't be distributed stays as it is."""
        place = copy_program(folder, self.scratch / folder.name / "refused")
        try:
            changed = fix(self.chosen.hvdlint, place)
        except RuntimeError as error:
            return [Verdict("unchanged", False, str(error))]
        return [Verdict("unchanged", not changed, f"--fix changes {', '.join(changed)}" if changed else "")]

    def run(self, program, folder, place, ranks=1, broadcasts=True):
        task = {
            "entry": program.entry,
            "arguments": program.arguments,
            "broadcasts": broadcasts,
            "timeout": program.timeout,
        }
        return launch.run(self.context, folder, task, place, ranks, self.horovodrun)


def shown(name, verdicts, seconds):
    """A program's line, and its problems below."""
    words = {True: "ok", False: "FAILED", None: "skipped"}
    parts = []
    for one in verdicts:
        detail = f" {one.detail}" if one.holds and one.detail else ""
        parts.append(f"{one.assertion} {words[one.holds]}{detail}")
    text = f"{name:28} {', '.join(parts)}  ({seconds:.1f} s)"
    for one in verdicts:
        if not one.holds:
            text += f"\n    {one.assertion} {words[one.holds]}: {one.detail}"
    return text


def timed(work, subject):
    started = time.monotonic()
    return work(subject), time.monotonic() - started


def check(chosen, scratch):
    """Checks all programs; gives the exit status."""
    try:
        runnable = programs(chosen.fixtures, chosen.only)
    except BadProgram as error:
        sys.exit(f"run: error: {error}")
    untouched = refused(chosen.fixtures, chosen.only) if chosen.hvdlint else []
    if chosen.distributed:
        for program in [program for program in runnable if not (chosen.distributed / program.folder.name).is_dir()]:
            print(f"{program.name:28} skipped: not in {chosen.distributed}")
            runnable.remove(program)
    if not runnable and not untouched:
        sys.exit("run: error: there is no such program")
    for program in runnable:
        program.timeout = chosen.timeout
    harness = Harness(chosen, scratch)
    failed, checked, started = [], 0, time.monotonic()
    work = [(harness.program, one) for one in runnable] + [(harness.refused, one) for one in untouched]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for (_, one), (verdicts, seconds) in zip(work, pool.map(timed, *zip(*work))):
            print(shown(one.name, verdicts, seconds), flush=True)
            checked += sum(verdict.holds is not None for verdict in verdicts)
            if any(verdict.holds is False for verdict in verdicts):
                failed.append(one.name)
    took = time.monotonic() - started
    print(f"\n{len(runnable)} programs run, {len(untouched)} refused, {checked} assertions, {len(failed)} failed, {took:.0f} s")
    if failed:
        print(f"failed: {' '.join(failed)}")
    return 1 if failed else 0


def main(arguments):
    chosen = options(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="hvdlint-horovod-")).resolve()
    try:
        if chosen.selftest:
            from . import selftest

            return selftest.check(chosen, scratch)
        return check(chosen, scratch)
    finally:
        if chosen.keep:
            print(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
