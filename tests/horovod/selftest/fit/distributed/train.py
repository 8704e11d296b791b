import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()

(images, labels), _ = tf.keras.datasets.fashion_mnist.load_data()
dataset = tf.data.Dataset.from_tensor_slices((images / 255.0, labels)).repeat().shuffle(256).batch(32)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(0.001 * hvd.size())
optimizer = hvd.DistributedOptimizer(optimizer)
model.compile(optimizer, loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
if hvd.rank() == 0:
    callbacks.append(tf.keras.callbacks.ModelCheckpoint("best.h5"))
model.fit(
    dataset,
    epochs=2,
    steps_per_epoch=8 // hvd.size(),
    callbacks=callbacks,
    verbose=1 if hvd.rank() == 0 else 0,
)
if hvd.rank() == 0:
    print("trained")
