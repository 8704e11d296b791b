"""Writes projects: fifty programs that train, each with modules of its own, or one large program."""

from pathlib import Path

PROGRAMS = 50
MODULES = 19

TRAIN = """\
import tensorflow as tf
{imports}

def build():
    return tf.keras.Sequential([{layers}])

model = build()
optimizer = tf.keras.optimizers.SGD(0.1)
for images, labels in tf.data.Dataset.range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images) - labels)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""

MODULE = """\
import tensorflow as tf


class Block{index}(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)

    def call(self, inputs):
        return self.dense(inputs)


def make_{index}(units):
    return Block{index}(units)
"""

# A module whose import stands where restrictions forbid it.
LATE = """\
def make_{index}(units):
    import tensorflow as tf
    return tf.keras.layers.Dense(units)
"""


def write(root: Path) -> None:
    """Writes fifty programs below `root`, a thousand files."""
    (root / "hvdlint.toml").write_text("")
    for program in range(PROGRAMS):
        write_program(root / f"program_{program}", MODULES)


def write_program(folder: Path, modules: int) -> None:
    """Writes a program with some modules of its own into a new folder."""
    folder.mkdir()
    for index in range(modules):
        (folder / f"layers_{index}.py").write_text(MODULE.format(index=index))
    imports = "\n".join(f"from layers_{index} import make_{index}" for index in range(modules))
    layers = ", ".join(f"make_{index}({index + 1})" for index in range(modules))
    (folder / "train.py").write_text(TRAIN.format(imports=imports, layers=layers))
