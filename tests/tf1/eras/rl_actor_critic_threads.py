"""Actor-critic workers with a global network and a Coordinator.  Written as for TensorFlow 1.0.

The workers take turns by events, so that the order of the updates is always the same.
"""
import threading

import numpy as np
import tensorflow as tf

N_WORKERS, UPDATES, GLOBAL_NET_SCOPE = 3, 4, 'Global_Net'
GAMMA, ENTROPY_BETA = 0.9, 0.01
N_S, N_A = 4, 3


class ACNet(object):
    def __init__(self, scope, globalAC=None, sess=None):
        self.sess = sess
        with tf.variable_scope(scope):
            self.s = tf.placeholder(tf.float32, [None, N_S], 'S')
            self.a_prob, self.v = self._build_net()
        self.a_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope + '/actor')
        self.c_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope + '/critic')
        if scope == GLOBAL_NET_SCOPE:
            return
        with tf.variable_scope(scope):
            self.a_his = tf.placeholder(tf.int32, [None, ], 'A')
            self.v_target = tf.placeholder(tf.float32, [None, 1], 'Vtarget')
            td = tf.subtract(self.v_target, self.v, name='TD_error')
            self.c_loss = tf.reduce_mean(tf.square(td))
            log_prob = tf.reduce_sum(
                tf.log(self.a_prob) * tf.one_hot(self.a_his, N_A, dtype=tf.float32),
                axis=1, keep_dims=True)
            exp_v = log_prob * tf.stop_gradient(td)
            entropy = -tf.reduce_sum(self.a_prob * tf.log(self.a_prob + 1e-5),
                                     axis=1, keep_dims=True)
            self.a_loss = tf.reduce_mean(-(ENTROPY_BETA * entropy + exp_v))
            self.a_grads = tf.gradients(self.a_loss, self.a_params)
            self.c_grads = tf.gradients(self.c_loss, self.c_params)
        with tf.name_scope('sync'):
            self.pull = [l.assign(g) for l, g in zip(self.a_params + self.c_params,
                                                     globalAC.a_params + globalAC.c_params)]
            self.push = [OPT_A.apply_gradients(zip(self.a_grads, globalAC.a_params)),
                         OPT_C.apply_gradients(zip(self.c_grads, globalAC.c_params))]

    def _build_net(self):
        rng = np.random.RandomState(38)

        def dense(x, n, name, act=None):
            shape = [x.get_shape()[-1].value, n]
            with tf.variable_scope(name):
                w = tf.get_variable('w', shape, initializer=tf.constant_initializer(
                    0.4 * rng.randn(*shape)))
                b = tf.get_variable('b', [n], initializer=tf.zeros_initializer())
            x = tf.matmul(x, w) + b
            return act(x) if act else x

        with tf.variable_scope('actor'):
            a_prob = dense(dense(self.s, 8, 'la', tf.nn.relu6), N_A, 'ap', tf.nn.softmax)
        with tf.variable_scope('critic'):
            v = dense(dense(self.s, 6, 'lc', tf.nn.relu6), 1, 'v')
        return a_prob, v


class Worker(object):
    def __init__(self, number, globalAC, sess):
        self.number, self.rng, self.sess = number, np.random.RandomState(number), sess
        self.AC = ACNet('W_%i' % number, globalAC, sess)

    def work(self):
        s = self.rng.randn(N_S)
        for _ in range(UPDATES):
            if COORD.should_stop():
                break
            TURNS[self.number].wait()
            TURNS[self.number].clear()
            buffer_s, buffer_a, buffer_r = [], [], []
            for _ in range(5):
                prob = self.sess.run(self.AC.a_prob, {self.AC.s: s[np.newaxis]})[0]
                a = int(np.searchsorted(np.cumsum(prob), self.rng.rand() * 0.999))
                buffer_s.append(s)
                buffer_a.append(a)
                buffer_r.append(float(np.argmax(s[:N_A]) == a))
                s = self.rng.randn(N_S)
            v_s_ = self.sess.run(self.AC.v, {self.AC.s: s[np.newaxis]})[0, 0]
            targets = []
            for r in buffer_r[::-1]:
                v_s_ = r + GAMMA * v_s_
                targets.append(v_s_)
            feed = {self.AC.s: np.vstack(buffer_s), self.AC.a_his: np.array(buffer_a),
                    self.AC.v_target: np.vstack(targets[::-1])}
            a_loss, c_loss, _ = self.sess.run([self.AC.a_loss, self.AC.c_loss, self.AC.push], feed)
            self.sess.run(self.AC.pull)
            print('W_%d actor %.6g critic %.6g' % (self.number, a_loss, c_loss))
            TURNS[(self.number + 1) % N_WORKERS].set()


SESS = tf.Session()
with tf.device("/cpu:0"):
    OPT_A = tf.train.RMSPropOptimizer(0.01, name='RMSPropA')
    OPT_C = tf.train.RMSPropOptimizer(0.02, name='RMSPropC')
    GLOBAL_AC = ACNet(GLOBAL_NET_SCOPE)
    workers = [Worker(i, GLOBAL_AC, SESS) for i in range(N_WORKERS)]
COORD = tf.train.Coordinator()
SESS.run(tf.global_variables_initializer())
TURNS = [threading.Event() for _ in workers]
TURNS[0].set()
worker_threads = []
for worker in workers:
    t = threading.Thread(target=worker.work)
    t.start()
    worker_threads.append(t)
COORD.join(worker_threads)
print(' '.join('%.6g' % v for v in SESS.run(GLOBAL_AC.a_params[-1])))
