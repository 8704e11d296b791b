import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
features = tf.random.normal([64, 4])
weight = tf.Variable(tf.random.normal([4, 1]))
hvd.broadcast_variables([weight], root_rank=0)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((features @ weight - 1.0) ** 2)
    tape = hvd.DistributedGradientTape(tape)
    [gradient] = tape.gradient(loss, [weight])
    weight.assign_sub(0.1 * hvd.size() * gradient)
    return loss


for _ in range(10 // hvd.size()):
    loss = train_step()
if hvd.rank() == 0:
    print(float(loss))
