"""PPO2 and DQN of stable-baselines learn to balance CartPole's pole.

Prints for each the mean return of episodes before and after training, and the seconds of a step of
the environment, training included.
"""

import json
import tempfile
import time
import warnings

import gym
import numpy as np
import tensorflow as tf

warnings.filterwarnings("ignore")
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
from stable_baselines import DQN, PPO2  # noqa: E402  after the warnings are off
from stable_baselines.common.vec_env import DummyVecEnv  # noqa: E402

EPISODES = 10


def returns(model, seed):
    """The mean return of episodes in which the model acts as it finds best."""
    environment = gym.make("CartPole-v1")
    environment.seed(seed)
    total = 0.0
    for _ in range(EPISODES):
        observed, done = environment.reset(), False
        while not done:
            action, _ = model.predict(observed, deterministic=True)
            observed, reward, done, _ = environment.step(int(action))
            total += float(reward)
    return total / EPISODES


def made(seed):
    """An environment that begins as the seed says."""
    environment = gym.make("CartPole-v1")
    environment.seed(seed)
    return environment


def learned(model, steps):
    """What training changes."""
    before = returns(model, 7)
    begun = time.perf_counter()
    model.learn(total_timesteps=steps)
    seconds = time.perf_counter() - begun
    after = returns(model, 7)
    return {"before": before, "after": after, "seconds": seconds / steps}


def main():
    environments = DummyVecEnv([lambda i=i: made(i) for i in range(4)])
    ppo2 = PPO2(
        "MlpPolicy", environments, n_steps=64, nminibatches=4, noptepochs=10, gamma=0.98,
        learning_rate=2e-3, ent_coef=0.0, seed=3, n_cpu_tf_sess=1,
    )  # fmt: skip
    answer = {"ppo2": learned(ppo2, 40000)}
    assert not tf.get_default_graph().get_operations()  # each model has a graph of its own
    with tempfile.TemporaryDirectory() as folder:
        ppo2.save(f"{folder}/ppo2")
        again = PPO2.load(f"{folder}/ppo2")
    seen = np.linspace(-1, 1, 4)
    answer["the same when loaded"] = bool(
        np.allclose(again.action_probability(seen), ppo2.action_probability(seen))
    )
    dqn = DQN(
        "MlpPolicy", made(0), learning_rate=1e-3, buffer_size=50000, learning_starts=1000,
        exploration_fraction=0.15, target_network_update_freq=250, batch_size=64, seed=3,
        n_cpu_tf_sess=1, policy_kwargs={"layers": [64, 64]},
    )  # fmt: skip
    answer["dqn"] = learned(dqn, 25000)
    answer["variables"] = {
        "ppo2": {v.name: v.shape.as_list() for v in ppo2.get_parameter_list()},
        "dqn": {v.name: v.shape.as_list() for v in dqn.get_parameter_list()},
    }
    print(json.dumps(answer))


main()
