import tensorflow as tf

(images, labels), _ = tf.keras.datasets.fashion_mnist.load_data()
dataset = tf.data.Dataset.from_tensor_slices((images / 255.0, labels)).repeat().shuffle(256).batch(32)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(10)])
model.compile("adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(dataset, epochs=2, steps_per_epoch=8, callbacks=[tf.keras.callbacks.ModelCheckpoint("best.h5")])
print("trained")
