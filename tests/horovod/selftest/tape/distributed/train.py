import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()

(images, labels), _ = tf.keras.datasets.mnist.load_data()
dataset = tf.data.Dataset.from_tensor_slices((images / 255.0, labels)).shuffle(256).batch(32)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(0.01 * hvd.size())
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(batch, targets):
    with tf.GradientTape() as tape:
        loss = loss_object(targets, model(batch, training=True))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


if hvd.rank() == 0:
    log = open("log.txt", "w")
broadcast_done = False
for epoch in range(2):
    for batch, targets in dataset.take(8 // hvd.size()):
        loss = train_step(batch, targets)
        if not broadcast_done:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(optimizer.variables(), root_rank=0)
            broadcast_done = True
    if hvd.rank() == 0:
        print("epoch", epoch, float(loss))
    if hvd.rank() == 0:
        log.write(f"{float(loss)}\n")
if hvd.rank() == 0:
    tf.train.Checkpoint(model=model).save("checkpoint/model")
