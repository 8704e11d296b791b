"""The programs: what the folders of `fixtures/` say about how they are run, and how they are made distributed."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from .launch import changes, files_below

KEYS = {"entry", "arguments", "writes", "steps", "prints", "sharded", "broadcast_control", "own_files",
        "why"}


@dataclass
class Program:
    """A folder that is to be run. The numbers are those of the original, on one process."""

    name: str
    folder: Path
    entry: str
    arguments: list
    writes: list  # patterns of the paths of the files that it writes
    steps: int
    prints: int
    sharded: bool = True
    broadcast_control: bool = True
    own_files: str = ""  # pattern of the files that each rank has for itself
    why: str = ""
    timeout: float = 120  # seconds for one run; not in run.json

    def unexpected(self, written):
        """What is wrong with the files that were written: written and not said, said and not written."""
        said = [path for path in written if not any(fnmatch(path, pattern) for pattern in self.writes)]
        missing = [pattern for pattern in self.writes if not any(fnmatch(path, pattern) for path in written)]
        return [f"writes {path}" for path in said] + [f"doesn't write {pattern}" for pattern in missing]


class BadProgram(Exception):
    """A `run.json` that doesn't say what it has to."""


def read_programs(folder):
    """The programs of a folder: `run.json` is about one, or a list. The second has its entry in its name."""
    path = folder / "run.json"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadProgram(f"{path}: {error}") from error
    if isinstance(said, dict):
        return [read_program(path, folder.name, said)]
    return [read_program(path, f"{folder.name}:{one.get('entry')}", one) for one in said]


def read_program(path, name, said):
    try:
        if unknown := said.keys() - KEYS:
            raise BadProgram(f"{path}: unknown {', '.join(sorted(unknown))}")
        program = Program(name, path.parent, **said)
    except TypeError as error:
        raise BadProgram(f"{path}: {error}") from error
    if not (program.sharded and program.broadcast_control) and not program.why:
        raise BadProgram(f"{path}: an exception needs a `why`")
    if not (path.parent / program.entry).is_file():
        raise BadProgram(f"{path}: there is no {program.entry}")
    return program


def programs(root, only=()):
    """The programs below a folder that are to be run, by name."""
    folders = [path.parent for path in sorted(root.glob("*/run.json"))]
    return [program for folder in folders if not only or folder.name in only for program in read_programs(folder)]


def refused(root, only=()):
    """The folders with a program that must not be rewritten."""
    found = [path.parent for path in sorted(root.glob("*/refused.txt"))]
    return [folder for folder in found if not only or folder.name in only]


def fix(hvdlint, folder):
    """Lets hvdlint rewrite a folder; gives the files that it changed. Raises `RuntimeError` if it can't."""
    before = files_below(folder)
    done = subprocess.run(
        [hvdlint, "check", "--fix", "--exit-zero", "."], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        raise RuntimeError(f"hvdlint check --fix: status {done.returncode}\n{done.stderr[-2000:]}")
    return changes(before, files_below(folder))


def copy_program(folder, place):
    """A copy of a program without what only the tests read."""
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("run.json", "expected.txt", "loops.json", "refused.txt"))
    return place
