import numpy as np
import tensorflow.compat.v1 as tf
import horovod.tensorflow as hvd

hvd.init()
tf.disable_eager_execution()
features = np.random.RandomState(0).normal(size=(64, 4)).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 4])
weight = tf.get_variable("weight", [4, 1])
loss = tf.reduce_mean((tf.matmul(x, weight) - 1.0) ** 2)
optimizer = tf.train.MomentumOptimizer(0.01 * hvd.size(), 0.9)
optimizer = hvd.DistributedOptimizer(optimizer)
train_op = optimizer.minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(hvd.broadcast_global_variables(0))
    for step in range(10 // hvd.size()):
        _, value = session.run([train_op, loss], {x: features})
    if hvd.rank() == 0:
        print(value)
