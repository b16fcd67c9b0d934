"""Steps of stable-baselines' DQN and PPO2 from equal values, over equal batches.

Prints what each step returns, and what has become of the variables.
"""

import json
import warnings

import gym
import numpy as np
import tensorflow as tf

warnings.filterwarnings("ignore")
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
from stable_baselines import DQN, PPO2  # noqa: E402  after the warnings are off
from stable_baselines.common.vec_env import DummyVecEnv  # noqa: E402

STEPS, SHOWN, BATCH = 200, 20, 32


def begin(model, dice):
    """The same values for its variables, whatever TensorFlow drew."""
    values = {}
    for name, value in model.get_parameters().items():
        deviation = 1 / np.sqrt(value.shape[0]) if value.ndim == 2 else 0.01
        values[name] = np.float32(dice.normal(0, deviation, value.shape))
    for name in values:  # the target network begins as the one that is trained
        if "target_q_func" in name:
            values[name] = values[name.replace("target_q_func/", "")]
    model.load_parameters(values)


def norms(model):
    """One number for each variable."""
    return {name: float(np.abs(v).sum()) for name, v in sorted(model.get_parameters().items())}


def observations(dice):
    """As CartPole's are in size."""
    return dice.uniform(-1, 1, (BATCH, 4)).astype(np.float32)


def dqn_steps():
    """The temporal differences of each step: their mean and their mean size."""
    model = DQN("MlpPolicy", gym.make("CartPole-v1"), learning_rate=1e-3, seed=0, n_cpu_tf_sess=1)
    dice = np.random.RandomState(1)
    begin(model, dice)
    found = []
    for step in range(STEPS):
        seen, after = observations(dice), observations(dice)
        actions, over = dice.randint(0, 2, BATCH), (dice.rand(BATCH) < 0.1).astype(np.float32)
        weights = dice.uniform(0.2, 1, BATCH).astype(np.float32)
        _, errors = model._train_step(
            seen, actions, np.ones(BATCH, np.float32), after, after, over, weights, sess=model.sess
        )
        found.append([float(errors.mean()), float(np.abs(errors).mean())])
        if step % 50 == 49:
            model.update_target(sess=model.sess)
    return {"steps": found[:SHOWN], "last": found[-1], "variables": norms(model)}


def ppo2_steps():
    """The losses, entropy, divergence and clipped share of each step."""
    environments = DummyVecEnv([lambda: gym.make("CartPole-v1")])
    model = PPO2("MlpPolicy", environments, n_steps=BATCH, ent_coef=0.01, seed=0, n_cpu_tf_sess=1)
    dice = np.random.RandomState(2)
    begin(model, dice)
    found = []
    for step in range(STEPS):
        seen = observations(dice)
        actions, masks = dice.randint(0, 2, BATCH), np.zeros(BATCH, bool)
        returns, values = dice.uniform(0, 5, (2, BATCH)).astype(np.float32)
        chances = -np.log(dice.uniform(0.3, 0.9, BATCH)).astype(np.float32)
        answer = model._train_step(
            1e-3, 0.2, seen, returns, masks, actions, values, chances, step, None, cliprange_vf=0.2
        )
        found.append([float(part) for part in answer])
    return {"steps": found[:SHOWN], "last": found[-1], "variables": norms(model)}


print(json.dumps({"dqn": dqn_steps(), "ppo2": ppo2_steps()}))
