import tensorflow as tf

features = tf.random.normal([64, 4])
weight = tf.Variable(tf.random.normal([4, 1]))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((features @ weight - 1.0) ** 2)
    [gradient] = tape.gradient(loss, [weight])
    weight.assign_sub(0.1 * gradient)
    return loss


for _ in range(10):
    loss = train_step()
print(float(loss))
