"""Starts the processes of a run, ends them when they hang, and collects what they left.

The processes are forked from one server that has imported TensorFlow and Horovod already (that is most of the time
of a small program) and has not used them yet. They meet at Horovod's own rendezvous server, with the environment
that `horovodrun --gloo` gives; `use_horovodrun` starts them with `horovodrun` itself.
"""

import contextlib
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

RANKS = 2
SINGLE_THREADED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "4",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}
GRACE = 10  # seconds that a rank has to end after another one failed
LOST = 255  # the status of a process of which the server that forked it tells none (`multiprocessing.popen_forkserver`)


@dataclass
class Rank:
    """What one process left."""

    status: object  # the exit status, or "timeout", or "stopped" where another rank failed
    stdout: str
    stderr: str
    written: list  # files that it opened to write, renamed or removed
    report: dict  # as `rank.main` writes it


@dataclass
class Run:
    """What the processes of a run left."""

    ranks: list
    changed: list  # files of the program's folder that are new, other or gone


def start_server(scratch):
    """Makes ready what forks the processes. Files for it are put into `scratch`."""
    writes = scratch / "writes.so"
    source = Path(__file__).parent / "writes.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", writes, source, "-ldl"], check=True)
    os.environ.update(SINGLE_THREADED, HOME=str(scratch), TMPDIR=str(scratch), PYTHONPATH=str(Path(__file__).parents[1]))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["harness.server"])
    os.environ["LD_PRELOAD"] = str(writes)  # for what is started from now on
    multiprocessing.forkserver.ensure_running()
    return context


def run(context, program, task, place, ranks=1, use_horovodrun=False):
    """Runs a copy of the folder `program` below `place` on that many ranks, all in one folder, as on one machine."""
    work = Path(place) / "work"
    shutil.copytree(program, work)
    before = files_below(work)
    folders = [Path(place) / f"rank-{rank}" for rank in range(ranks)]
    tasks = []
    for folder in folders:
        for own in ("home", "tmp"):
            (folder / own).mkdir(parents=True)
        tasks.append({**task, "work": str(work), "folder": str(folder), "environment": own_folders(folder)})
    start = run_with_horovodrun if use_horovodrun and ranks > 1 else run_forked
    statuses = start(context, tasks)
    left = []
    for status, folder in zip(statuses, folders):
        own = report(folder)
        # What a process reports last is the status that it ends with.
        status = own.get("status", status) if status == LOST else status
        left.append(Rank(status, text(folder / "stdout"), text(folder / "stderr"), written(work, folder), own))
    return Run(left, changes(before, files_below(work)))


def own_folders(folder):
    return {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp")}


def run_forked(context, tasks):
    """One forked process per task; gives their statuses."""
    server = None
    if len(tasks) > 1:
        server, environments = rendezvous(len(tasks))
        tasks = [{**task, "environment": {**task["environment"], **own}} for task, own in zip(tasks, environments)]
    try:
        processes = [context.Process(target=start_rank, args=(task,)) for task in tasks]
        for process in processes:
            process.start()
        return wait(processes, time.monotonic() + tasks[0]["timeout"])
    finally:
        if server:
            server.stop()


def start_rank(task):
    """In the forked process."""
    from . import rank

    rank.main(task)


def rendezvous(count):
    """Horovod's server where the ranks meet, and the environment of each, as `horovodrun --gloo` makes them."""
    from horovod.runner.common.util import hosts
    from horovod.runner.gloo_run import create_slot_env_vars
    from horovod.runner.http.http_server import RendezvousServer

    server = RendezvousServer()
    port = server.start()
    slots = hosts.get_host_assignments([hosts.HostInfo("localhost", count)], count)
    server.init(slots)
    common = {
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
        "HOROVOD_GLOO_IFACE": "lo",
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
    }
    return server, [{**common, **create_slot_env_vars(slot)} for slot in slots]


def wait(processes, deadline):
    """Waits for the processes, until the deadline or shortly after one failed; ends the others. Gives statuses."""
    reason = "timeout"
    while alive := [process for process in processes if is_alive(process)]:
        told = [process.sentinel for process in alive if process.exitcode is None]
        left = max(0, deadline - time.monotonic())
        if len(told) == len(alive):
            multiprocessing.connection.wait(told, left)
        else:
            time.sleep(min(left, 0.1))
        if reason == "timeout" and any(process.exitcode not in (None, 0, LOST) for process in processes):
            reason, deadline = "stopped", min(deadline, time.monotonic() + GRACE)
        if time.monotonic() >= deadline:
            break
    statuses = []
    for process in processes:
        if is_alive(process):
            process.join(1)  # it writes its stack at the time limit
            end_group(process.pid)
            process.join()
            statuses.append(reason)
        else:
            statuses.append(process.exitcode)
    return statuses


def is_alive(process):
    """Whether a process runs, also one whose status is lost."""
    if process.exitcode != LOST:
        return process.exitcode is None
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def end_group(leader):
    """Ends a process that leads a group, and what it started."""
    for kill in (os.killpg, os.kill):  # it may not lead a group yet, or have ended
        with contextlib.suppress(ProcessLookupError):
            kill(leader, signal.SIGKILL)


def run_with_horovodrun(_context, tasks):
    """The same with `horovodrun`, which starts the interpreter anew for each rank."""
    bin_folder = Path(sys.executable).parent
    place = Path(tasks[0]["folder"]).parent
    command = [bin_folder / "horovodrun", "-np", str(len(tasks)), "--gloo", sys.executable, "-m", "harness.rank", place]
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for rank, task in enumerate(tasks):
        (place / f"task-{rank}.json").write_text(json.dumps(task))
    with open(place / "horovodrun.log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            process.wait(tasks[0]["timeout"] + 30)  # it starts TensorFlow
        except subprocess.TimeoutExpired:
            process.terminate()  # and it ends what it started
            process.wait()
    return [report(Path(task["folder"])).get("status", f"none of {process.returncode}") for task in tasks]


def written(work, folder):
    """The files that a rank wrote, as the program names them. Temporary ones and the report don't count."""
    found = set()
    for line in text(folder / "writes").splitlines():
        path = Path(os.path.normpath(line))
        if path.is_relative_to(work):
            found.add(path.relative_to(work).as_posix())
        elif path.is_relative_to(folder / "home"):
            found.add(f"~/{path.relative_to(folder / 'home').as_posix()}")
        elif not any(path.is_relative_to(other) for other in (folder / "tmp", folder / "report.json", "/dev", "/proc")):
            found.add(str(path))
    return sorted(found)


def files_below(folder):
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def changes(old, new):
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def text(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def report(folder):
    path = folder / "report.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
