"""One process of a run: goes to its folder, puts the hooks in, runs the program, reports."""

import atexit
import faulthandler
import json
import os
import random
import sys
import tempfile
import time
import traceback
import types

# Imported here, so that the server that forks the processes of all runs has it imported already.
import horovod.tensorflow
import numpy
import tensorflow

from . import datasets
from .observe import Observer

tensorflow.keras.Model  # the modules of Keras are loaded when they are first used


def main(task):
    """Runs a task: `entry` with `arguments` in `work`. What it leaves is put into `folder`, each rank's own."""
    os.setsid()
    atexit._clear()  # what is registered there is the server's
    os.environ.update(task["environment"])
    for name in ("PYTHONPATH", "HVDLINT_HOROVOD_ENV"):
        os.environ.pop(name, None)
    folder = task["folder"]
    redirect(os.path.join(folder, "stdout"), 1)
    redirect(os.path.join(folder, "stderr"), 2)
    faulthandler.enable()
    faulthandler.dump_traceback_later(task["timeout"] + 0.3, exit=True)
    tempfile.tempdir = None  # found by the server already
    os.chdir(task["work"])

    rank = int(os.environ.get("HOROVOD_RANK", 0))
    size = int(os.environ.get("HOROVOD_SIZE", 1))
    seed(rank)
    datasets.install()
    observer = Observer(rank, size)
    observer.install()
    if not task["broadcasts"]:
        no_broadcasts()

    os.environ["HVDLINT_WRITES"] = os.path.join(folder, "writes")
    if size > 1 and rank == 0:
        os.environ["HVDLINT_SLOW"] = os.path.realpath(task["work"])
    status = run_program(task["entry"], task["arguments"], task["work"])
    report = observer.report()
    report["size"] = horovod.tensorflow.size() if horovod.tensorflow.is_initialized() else None
    report["status"] = status
    report["processor"] = time.process_time()
    atexit._run_exitfuncs()  # a forked process ends without them; Horovod's shutdown is one
    sys.stdout.flush()
    sys.stderr.flush()
    with open(os.path.join(folder, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file)
    os._exit(status)


def redirect(path, descriptor):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(file, descriptor)
    os.close(file)


def run_program(entry, arguments, folder):
    """Runs the program as `python entry arguments` would; gives its status."""
    sys.argv = [entry, *arguments]
    sys.path[:] = [os.path.dirname(os.path.join(folder, entry))] + [
        path for path in sys.path if path and path != os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    ]
    module = types.ModuleType("__main__")
    module.__file__ = os.path.join(folder, entry)
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    try:
        with open(module.__file__, "rb") as file:
            code = compile(file.read(), module.__file__, "exec")
        exec(code, module.__dict__)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def seed(rank):
    """Each rank draws other numbers: weights begin differently, data come in another order.

    A seed that the program gives TensorFlow is moved by the rank too. Those of `random` and NumPy stay as they are:
    programs make data with them, which have to be the same on each rank."""
    own = 1000 * rank
    random.seed(1 + own)
    numpy.random.seed(1 + own)
    for module, name in (
        (tensorflow.random, "set_seed"),
        (tensorflow.compat.v2.random, "set_seed"),
        (tensorflow.compat.v1, "set_random_seed"),
        (tensorflow.compat.v1.random, "set_random_seed"),
    ):
        original = getattr(module, name)
        setattr(module, name, lambda value, original=original: original(value if value is None else value + own))

    from keras.src import backend
    from keras.src.utils import tf_utils

    original_all = tf_utils.set_random_seed

    def set_random_seed(value):
        original_all(value)
        backend._SEED_GENERATOR.generator = random.Random(value + own)

    tf_utils.set_random_seed = set_random_seed
    tensorflow.keras.utils.set_random_seed = set_random_seed
    tensorflow.random.set_seed(1)


def no_broadcasts():
    """Broadcasts of variables do nothing. Those of values (`hvd.broadcast`) stay: loops count with them."""

    def nothing(*_, **__):
        return None if tensorflow.executing_eagerly() else tensorflow.no_op()

    horovod.tensorflow.broadcast_variables = nothing
    horovod.tensorflow.functions.broadcast_variables = nothing


if __name__ == "__main__":  # started by horovodrun, with the folder that has the tasks
    with open(os.path.join(sys.argv[1], f"task-{os.environ['HOROVOD_RANK']}.json"), encoding="utf-8") as own_task:
        main(json.load(own_task))
