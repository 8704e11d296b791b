"""What a training program does to its variables, seen from inside its process.

Hooks on TensorFlow and Keras note each variable that is trained, each optimizer and each step, without a change of
the program. At the end the observer says what every variable holds.
"""

import functools
import hashlib
import inspect

import tensorflow as tf


class Observer:
    """Notes what the program creates and trains. Everything noted is kept alive until the end."""

    def __init__(self, rank, size):
        self.rank = rank
        self.size = size
        self.made = {}  # by layers, to be trained
        self.trained = {}  # those that gradients are asked for
        self.models = []
        self.states = {}  # of layers, not trained: each rank has its own (moving averages of batch normalisation)
        self.optimizers = []
        self.counters = {}  # of the steps of an optimizer, and where it began
        self.train_ops = {}  # of sessions
        self.session_steps = 0
        self.raw_steps = 0  # gradients of variables, where there is no optimizer
        self.session_values = {}  # of variables of graphs, read before their session closed

    def install(self):
        """Puts the hooks into TensorFlow and Keras."""
        self._watch_layers()
        self._watch_optimizers()
        self._watch_tapes()
        self._watch_graphs()
        self._watch_sessions()

    # Creation

    def _watch_layers(self):
        from keras.src.engine import base_layer, base_layer_v1, training
        from keras.src.metrics import base_metric

        for layer in (base_layer.Layer, base_layer_v1.Layer):
            after(layer, "add_weight", self._note_weight, unless=base_metric.Metric)
        before(training.Model, "__init__", self.models.append)

    def _note_weight(self, _layer, variable, _arguments):
        if hasattr(variable, "trainable"):
            (self.made if variable.trainable else self.states)[id(variable)] = variable

    def _watch_optimizers(self):
        from keras.src.optimizers import optimizer
        from keras.src.optimizers.legacy import optimizer_v2
        from tensorflow.python.training import optimizer as optimizer_v1

        for kind in (optimizer._BaseOptimizer, optimizer_v2.OptimizerV2, optimizer_v1.Optimizer):
            before(kind, "__init__", self.optimizers.append)
        for kind in (optimizer._BaseOptimizer, optimizer_v2.OptimizerV2):
            before(kind, "apply_gradients", self._note_first_step)
        after(optimizer_v1.Optimizer, "compute_gradients", self._note_computed)
        after(optimizer_v1.Optimizer, "apply_gradients", self._note_train_op)

    # Training

    def _note_first_step(self, optimizer):
        """A loaded optimizer's counter doesn't begin at zero."""
        with tf.init_scope():
            if id(optimizer) not in self.counters and tf.executing_eagerly():
                self.counters[id(optimizer)] = (optimizer.iterations, int(optimizer.iterations.numpy()))

    def _watch_tapes(self):
        def note(_tape, gradients, arguments):
            sources = arguments["sources"]
            variables = [isinstance(source, tf.Variable) for source in tf.nest.flatten(sources)]
            if not any(variables):
                return None
            for source in tf.nest.flatten(sources):
                if isinstance(source, tf.Variable):
                    self.trained.setdefault(id(source), source)
            if not self.optimizers:
                self._count_raw_step()
            flat = tf.nest.flatten(gradients, expand_composites=False)
            if self.size == 1 or len(flat) != len(variables):
                return None
            own = [self._own(part) if is_variable else part for part, is_variable in zip(flat, variables)]
            return tf.nest.pack_sequence_as(sources, own) if tf.nest.is_nested(sources) else own[0]

        after(tf.GradientTape, "gradient", note)

    def _watch_graphs(self):
        """What a graph is asked for by `tf.gradients`; an optimizer's `compute_gradients` takes another way."""

        def note(_loss, gradients, arguments):
            sources = tf.nest.flatten(arguments["xs"])
            variables = [source for source in sources if isinstance(source, tf.Variable)]
            for variable in variables:
                self.trained.setdefault(id(variable), variable)
            return [self._own(gradient) for gradient in gradients] if variables and self.size > 1 else None

        after(tf.compat.v1, "gradients", note)

    def _count_raw_step(self):
        def count():
            self.raw_steps += 1
            return self.raw_steps

        if tf.executing_eagerly():
            count()
        else:
            tf.numpy_function(count, [], tf.int64)

    def _own(self, gradient):
        """This rank's gradient: a little different on each, as if its examples were. What averages it sees no difference.

        The operations are the same on all ranks: Horovod tells tensors of a graph apart by names that count them."""
        if gradient is None:
            return None
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(self._own(gradient.values), gradient.indices, gradient.dense_shape)
        if not gradient.dtype.is_floating:
            return gradient
        return gradient * tf.cast(1 + 0.02 * self.rank, gradient.dtype) + tf.cast(1e-4 * self.rank, gradient.dtype)

    def _note_computed(self, _optimizer, pairs, _arguments):
        for gradient, variable in pairs:
            if gradient is not None:  # what is applied may be an iterator
                self.trained.setdefault(id(variable), variable)
        if self.size == 1:
            return None
        return [(self._own(gradient), variable) for gradient, variable in pairs]

    def _note_train_op(self, _optimizer, operation, arguments):
        pairs = arguments["grads_and_vars"]
        for _, variable in pairs if isinstance(pairs, (list, tuple)) else []:
            self.trained.setdefault(id(variable), variable)
        if not tf.executing_eagerly():
            self.train_ops[id(operation)] = operation

    def _watch_sessions(self):
        from tensorflow.python.client import session

        after(session.BaseSession, "run", self._note_run)
        before(session.BaseSession, "close", self._read_session)

    def _note_run(self, _session, _result, arguments):
        parts = fetches(arguments["fetches"])
        fetched = {id(part): part for part in parts if isinstance(part, (tf.Operation, tf.Tensor))}
        operations = {id(part): part for part in (getattr(part, "op", part) for part in fetched.values())}
        for _ in range(4):  # a train step is often in a group, or what another operation waits for
            below = [part for operation in operations.values() for part in operation.control_inputs]
            operations.update((id(part), part) for part in below)
        self.session_steps += len(operations.keys() & self.train_ops.keys())

    def _read_session(self, session):
        if session._closed or not self.session_steps:
            return
        held = [variable for variable in self._all() if getattr(variable, "graph", None) is session.graph]
        reads = [getattr(variable, "_graph_element", None) for variable in held]
        reads = [variable._snapshot if read is None else read for variable, read in zip(held, reads)]
        values = session.run(reads) if reads else []
        self.session_values.update((id(variable), value) for variable, value in zip(held, values))

    # The end

    def _all(self):
        return [*self.made.values(), *self.trained.values(), *self._optimizer_variables(), *self.states.values()]

    def _weights(self):
        """What is trained, and what else the layers of the same models made to be trained: frozen parts."""
        chosen = set(self.trained)
        for model in self.models:
            try:
                own = {id(variable) for variable in model.weights}
            except ValueError:  # it never got any
                continue
            if own & self.trained.keys():
                chosen |= own & self.made.keys()
        return [variable for key, variable in {**self.made, **self.trained}.items() if key in chosen]

    def _optimizer_variables(self):
        seen = set()
        for optimizer in self.optimizers:
            for variable in variables_of(optimizer):
                if id(variable) not in seen:
                    seen.add(id(variable))
                    yield variable

    def steps(self):
        """How many steps the optimizers made, all together."""
        made = sum(int(counter.numpy()) - first for counter, first in self.counters.values())
        return made + self.session_steps + self.raw_steps

    def report(self):
        """What the variables hold. `others` may differ: states of layers, and models that are not trained."""
        weights = self._weights()
        compared = {id(variable) for variable in weights}
        others = [*(self.made[key] for key in self.made if key not in compared), *self.states.values()]
        return {
            "steps": self.steps(),
            "weights": [self._entry(variable) for variable in weights],
            "optimizer": [self._entry(variable) for variable in self._optimizer_variables()],
            "others": [self._entry(variable) for variable in others],
        }

    def _entry(self, variable):
        value = self.session_values.get(id(variable))
        if value is None:
            try:
                value = variable.numpy()
            except Exception as error:  # a variable of a graph that no session gave a value
                return [variable.name, f"no value: {type(error).__name__}", True]
        finite = value.dtype.kind not in "fc" or bool((value == value).all() and (abs(value) != float("inf")).all())
        digest = hashlib.sha256(value.tobytes()).hexdigest()[:16]
        return [variable.name, f"{value.dtype}{list(value.shape)} {digest}", finite]


def fetches(structure):
    """What a session is asked for. A monitored one gives hooks as keys, which can't be sorted as `tf.nest` does."""
    if isinstance(structure, dict):
        structure = list(structure.values())
    if isinstance(structure, (list, tuple)):
        return [part for inner in structure for part in fetches(inner)]
    return [structure]


def variables_of(optimizer):
    """An optimizer's variables: a list or a method, by the kind of the optimizer."""
    if getattr(optimizer, "_slots", None) is not None and not hasattr(optimizer, "iterations"):  # TensorFlow 1
        return [variable for slots in optimizer._slots.values() for variable in slots.values()]
    variables = getattr(optimizer, "variables", [])
    return list(variables() if callable(variables) else variables)


def after(owner, name, note, unless=()):
    """After each call of a method `note` is called with the object, the result and the arguments by name; it may
    give another result."""
    original = getattr(owner, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def method(self, *arguments, **named):
        result = original(self, *arguments, **named)
        if isinstance(self, unless):
            return result
        other = note(self, result, signature.bind(self, *arguments, **named).arguments)
        return result if other is None else other

    setattr(owner, name, method)


def before(owner, name, note):
    """Before each call of a method `note` is called with the object."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self, *arguments, **named):
        note(self)
        return original(self, *arguments, **named)

    setattr(owner, name, method)
