"""Two servers in one process, between-graph variables on the ps.  As for TensorFlow 1.0."""
from __future__ import print_function

import socket

import numpy as np
import tensorflow as tf


def free_port():
    s = socket.socket()
    s.bind(('localhost', 0))
    port = s.getsockname()[1]
    s.close()
    return port


cluster = tf.train.ClusterSpec({'ps': ['localhost:%d' % free_port()],
                                'worker': ['localhost:%d' % free_port()]})
ps = tf.train.Server(cluster, job_name='ps', task_index=0)
server = tf.train.Server(cluster, job_name='worker', task_index=0)
print(cluster.jobs, cluster.num_tasks('worker'))

rng = np.random.RandomState(62)
with tf.Graph().as_default():
    with tf.device(tf.train.replica_device_setter(
            worker_device='/job:worker/task:0', cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 4])
        y_ = tf.placeholder(tf.float32, [None, 2])
        global_step = tf.Variable(0, name='global_step', trainable=False)
        hid_w = tf.Variable(0.5 * rng.randn(4, 6).astype(np.float32), name='hid_w')
        hid_b = tf.Variable(tf.zeros([6]), name='hid_b')
        sm_w = tf.Variable(0.5 * rng.randn(6, 2).astype(np.float32), name='sm_w')
        hid = tf.nn.relu(tf.nn.xw_plus_b(x, hid_w, hid_b))
        y = tf.nn.softmax(tf.matmul(hid, sm_w))
        loss = -tf.reduce_sum(y_ * tf.log(tf.clip_by_value(y, 1e-10, 1.0)))
        train_op = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=global_step)
        init_op = tf.global_variables_initializer()
    print(hid_w.device, hid.device)
    sv = tf.train.Supervisor(is_chief=True, init_op=init_op, global_step=global_step)
    with sv.prepare_or_wait_for_session(server.target) as sess:
        feed = {x: rng.randn(8, 4), y_: np.eye(2)[rng.randint(0, 2, 8)]}
        for _ in range(6):
            _, value = sess.run([train_op, loss], feed_dict=feed)
            print('global step %d loss %.6g' % (sess.run(global_step), value))

# The variables live in the ps: another session finds them.
with tf.Session(ps.target) as sess:
    pass
local = tf.train.Server.create_local_server()
with tf.Graph().as_default(), tf.Session(local.target) as sess:
    c = tf.constant('Hello, distributed TensorFlow!')
    print(sess.run(c).decode(), len(sess.list_devices()) > 0)
