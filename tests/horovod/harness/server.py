"""What the server that forks the processes does once, so that each process has it already.

It imports TensorFlow and Horovod, and lets AutoGraph convert Horovod's own functions: `tf.function` converts what it
calls and keeps the result by the function's code. Together these are five of six seconds of a small program. None of
it starts a thread, so that forking is safe.
"""

import os

import horovod.tensorflow as hvd
from horovod.common.basics import HorovodBasics
from horovod.common.process_sets import ProcessSet, global_process_set
from horovod.common.util import get_average_backwards_compatibility_fun
from horovod.tensorflow import functions, mpi_ops, util
from tensorflow.python.autograph.core.converter import ConversionOptions, ProgramContext
from tensorflow.python.autograph.impl import api

from . import rank  # noqa: F401


def convert():
    """Converts what traced programs call. A function that is not here is converted by the process that calls it."""
    reduce = hvd._make_allreduce_grads_fn(
        "warm", "", "", hvd.Compression.none, False, hvd.Average, 1.0, 0, global_process_set
    )
    entries = [reduce.python_function, functions._make_broadcast_group_fn().python_function]
    called = [
        hvd.DistributedGradientTape,
        hvd._DistributedGradientTape.gradient,
        hvd._allreduce_cond,
        hvd.allreduce,
        hvd.broadcast_variables,
        hvd.Compression.none.compress,
        hvd.Compression.none.decompress,
        get_average_backwards_compatibility_fun(mpi_ops),
        mpi_ops._allreduce,
        mpi_ops._normalize_name,
        mpi_ops.broadcast,
        util._executing_eagerly,
        HorovodBasics._process_set_size,
        HorovodBasics.rank,
        HorovodBasics.rocm_built,
        HorovodBasics.size,
        ProcessSet.included,
        ProcessSet.size,
    ]
    for requested, converted in ((True, entries), (False, entries + called)):
        options = ConversionOptions(recursive=True, user_requested=requested, optional_features=())
        for function in converted:
            api._convert_actual(function, ProgramContext(options=options))


convert()
assert len(os.listdir("/proc/self/task")) == 1, "a process with threads can't be forked safely"
