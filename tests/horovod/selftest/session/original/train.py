import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
features = np.random.RandomState(0).normal(size=(64, 4)).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 4])
weight = tf.get_variable("weight", [4, 1])
loss = tf.reduce_mean((tf.matmul(x, weight) - 1.0) ** 2)
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(10):
        _, value = session.run([train_op, loss], {x: features})
    print(value)
