"""Policy gradients on a pole in this file.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import math

import numpy as np
import tensorflow as tf

H, D = 8, 4  # hidden neurons, observations
batch_size = 3
gamma = 0.99
rng = np.random.RandomState(36)


class CartPole(object):
    """The usual pole on a cart, Euler's steps."""

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, 4)
        return self.state

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = 10.0 if action == 1 else -10.0
        costheta, sintheta = math.cos(theta), math.sin(theta)
        temp = (force + 0.05 * theta_dot * theta_dot * sintheta) / 1.1
        thetaacc = (9.8 * sintheta - costheta * temp) / (
            0.5 * (4.0 / 3.0 - 0.1 * costheta * costheta / 1.1))
        xacc = temp - 0.05 * thetaacc * costheta / 1.1
        self.state = np.array([x + 0.02 * x_dot, x_dot + 0.02 * xacc,
                               theta + 0.02 * theta_dot, theta_dot + 0.02 * thetaacc])
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * math.pi / 180
        return self.state, 1.0, done


env = CartPole()
observations = tf.placeholder(tf.float32, [None, D], name="input_x")
W1 = tf.get_variable("W1", shape=[D, H],
                     initializer=tf.constant_initializer(0.5 * rng.randn(D, H)))
layer1 = tf.nn.relu(tf.matmul(observations, W1))
W2 = tf.get_variable("W2", shape=[H, 1],
                     initializer=tf.constant_initializer(0.5 * rng.randn(H, 1)))
score = tf.matmul(layer1, W2)
probability = tf.nn.sigmoid(score)

tvars = tf.trainable_variables()
input_y = tf.placeholder(tf.float32, [None, 1], name="input_y")
advantages = tf.placeholder(tf.float32, name="reward_signal")
loglik = tf.log(input_y * (input_y - probability) + (1 - input_y) * (input_y + probability))
loss = -tf.reduce_mean(loglik * advantages)
newGrads = tf.gradients(loss, tvars)

adam = tf.train.AdamOptimizer(learning_rate=1e-2)
W1Grad = tf.placeholder(tf.float32, name="batch_grad1")
W2Grad = tf.placeholder(tf.float32, name="batch_grad2")
batchGrad = [W1Grad, W2Grad]
updateGrads = adam.apply_gradients(zip(batchGrad, tvars))


def discount_rewards(r):
    discounted_r = np.zeros_like(r)
    running_add = 0
    for t in reversed(range(0, r.size)):
        running_add = running_add * gamma + r[t]
        discounted_r[t] = running_add
    return discounted_r


init = tf.initialize_all_variables()
with tf.Session() as sess:
    sess.run(init)
    gradBuffer = sess.run(tvars)
    for ix, grad in enumerate(gradBuffer):
        gradBuffer[ix] = grad * 0
    for episode_number in range(1, 7):
        xs, drs, ys = [], [], []
        observation = env.reset()
        done = False
        while not done and len(xs) < 40:
            x = np.reshape(observation, [1, D])
            tfprob = sess.run(probability, feed_dict={observations: x})
            action = 1 if rng.uniform() < tfprob else 0
            xs.append(x)
            ys.append(1 if action == 0 else 0)
            observation, reward, done = env.step(action)
            drs.append(reward)
        epx, epy, epr = np.vstack(xs), np.vstack(ys), np.vstack(drs)
        discounted_epr = discount_rewards(epr)
        discounted_epr -= np.mean(discounted_epr)
        discounted_epr /= np.std(discounted_epr)
        feed = {observations: epx, input_y: epy, advantages: discounted_epr}
        tGrad, value = sess.run([newGrads, loss], feed_dict=feed)
        for ix, grad in enumerate(tGrad):
            gradBuffer[ix] += grad
        print('episode %d length %d loss %.6g' % (episode_number, len(xs), value))
        if episode_number % batch_size == 0:
            sess.run(updateGrads, feed_dict={W1Grad: gradBuffer[0], W2Grad: gradBuffer[1]})
            for ix, grad in enumerate(gradBuffer):
                gradBuffer[ix] = grad * 0
    print(' '.join('%.6g' % v for v in sess.run(W2).ravel()))
