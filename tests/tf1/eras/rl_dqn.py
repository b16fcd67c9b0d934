"""A DQN with a replay memory and a target network on a corridor.  As for TensorFlow 1.4."""
import collections
import random

import numpy as np
import tensorflow as tf

random.seed(37)
np.random.seed(37)
Transition = collections.namedtuple("Transition", ["state", "action", "reward", "next", "done"])


class Corridor(object):
    """Seven cells; the right end pays 1, the left 0.1."""

    def reset(self):
        self.at = 3
        return self.observe()

    def observe(self):
        return np.eye(7)[self.at]

    def step(self, action):
        self.at += 1 if action == 1 else -1
        done = self.at in (0, 6)
        return self.observe(), (1.0 if self.at == 6 else 0.1 if self.at == 0 else 0.0), done


class DeepQNetwork:
    def __init__(self, n_actions, n_features, learning_rate=0.02, replace_target_iter=6):
        self.n_actions, self.n_features, self.lr = n_actions, n_features, learning_rate
        self.replace_target_iter = replace_target_iter
        self.learn_step_counter = 0
        self.memory = collections.deque(maxlen=60)
        self._build_net()
        t_params = tf.get_collection('target_net_params')
        e_params = tf.get_collection('eval_net_params')
        self.replace_target_op = [tf.assign(t, e) for t, e in zip(t_params, e_params)]
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _layers(self, s, c_names):
        c_names = [c_names, tf.GraphKeys.GLOBAL_VARIABLES]
        for name, shape in [('l1', [self.n_features, 10]), ('l2', [10, self.n_actions])]:
            with tf.variable_scope(name):
                w = tf.get_variable('w', shape, collections=c_names, initializer=(
                    tf.constant_initializer(0.3 * np.random.randn(*shape))))
                b = tf.get_variable('b', [1, shape[1]], collections=c_names,
                                    initializer=tf.constant_initializer(0.1))
                s = tf.matmul(s, w) + b
                if name == 'l1':
                    s = tf.nn.relu(s)
        return s

    def _build_net(self):
        self.s = tf.placeholder(tf.float32, [None, self.n_features], name='s')
        self.q_target = tf.placeholder(tf.float32, [None], name='Q_target')
        self.a = tf.placeholder(tf.int32, [None], name='a')
        with tf.variable_scope('eval_net'):
            self.q_eval = self._layers(self.s, 'eval_net_params')
        chosen = tf.reduce_sum(self.q_eval * tf.one_hot(self.a, self.n_actions), axis=1)
        with tf.variable_scope('loss'):
            self.loss = tf.losses.huber_loss(self.q_target, chosen)
        with tf.variable_scope('train'):
            self._train_op = tf.train.RMSPropOptimizer(self.lr).minimize(
                self.loss, var_list=tf.get_collection('eval_net_params'))
        self.s_ = tf.placeholder(tf.float32, [None, self.n_features], name='s_')
        with tf.variable_scope('target_net'):
            self.q_next = self._layers(self.s_, 'target_net_params')

    def choose_action(self, observation, epsilon):
        if np.random.uniform() < epsilon:
            return np.random.randint(0, self.n_actions)
        actions = self.sess.run(self.q_eval, {self.s: observation[np.newaxis, :]})
        return np.argmax(actions)

    def learn(self, batch_size=12):
        if self.learn_step_counter % self.replace_target_iter == 0:
            self.sess.run(self.replace_target_op)
        batch = Transition(*map(np.array, zip(*random.sample(self.memory, batch_size))))
        q_next = self.sess.run(self.q_next, {self.s_: batch.next})
        target = batch.reward + 0.9 * (1 - batch.done) * q_next.max(axis=1)
        _, cost = self.sess.run([self._train_op, self.loss], {
            self.s: batch.state, self.a: batch.action, self.q_target: target})
        self.learn_step_counter += 1
        return cost


env = Corridor()
brain = DeepQNetwork(2, 7)
for episode in range(12):
    observation, done, total, costs = env.reset(), False, 0.0, []
    while not done:
        action = brain.choose_action(observation, epsilon=0.8)
        observation_, reward, done = env.step(action)
        brain.memory.append(Transition(observation, action, reward, observation_, float(done)))
        total += reward
        if len(brain.memory) > 20 and len(costs) < 4:
            costs.append(brain.learn())
        observation = observation_
    print('episode %d reward %.6g costs %s' % (
        episode, total, ' '.join('%.6g' % c for c in costs)))
for row in brain.sess.run(brain.q_eval, {brain.s: np.eye(7)[1:6]}):
    print('%.6g %.6g' % tuple(row))
