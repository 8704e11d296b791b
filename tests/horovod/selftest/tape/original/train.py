import tensorflow as tf

(images, labels), _ = tf.keras.datasets.mnist.load_data()
dataset = tf.data.Dataset.from_tensor_slices((images / 255.0, labels)).shuffle(256).batch(32)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(0.01)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(batch, targets):
    with tf.GradientTape() as tape:
        loss = loss_object(targets, model(batch, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


log = open("log.txt", "w")
for epoch in range(2):
    for batch, targets in dataset.take(8):
        loss = train_step(batch, targets)
    print("epoch", epoch, float(loss))
    log.write(f"{float(loss)}\n")
tf.train.Checkpoint(model=model).save("checkpoint/model")
