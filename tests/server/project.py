"""Writes a project of a thousand files: fifty programs that train, each with modules of its own."""

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
    """Writes the project below `root`."""
    (root / "hvdlint.toml").write_text("")
    for program in range(PROGRAMS):
        folder = root / f"program_{program}"
        folder.mkdir()
        for index in range(MODULES):
            (folder / f"layers_{index}.py").write_text(MODULE.format(index=index))
        imports = "\n".join(f"from layers_{index} import make_{index}" for index in range(MODULES))
        layers = ", ".join(f"make_{index}({index + 1})" for index in range(MODULES))
        (folder / "train.py").write_text(TRAIN.format(imports=imports, layers=layers))
