"""PPO2 and DQN of stable-baselines solve CartPole on gymnasium.

Prints for each the mean return of 100 episodes before and after training, and the steps that it
took.  Training stops where 20 episodes have a mean of 475, which is what CartPole-v1 asks.  PPO2
acts as its policy draws, which is what it trains: some policies hold the pole for long untrained
where they always take the likelier of two actions that are almost alike.
"""

import json
import tempfile
import time
import warnings

import gymnasium_as_gym as gym
import numpy as np
import tensorflow as tf

warnings.filterwarnings("ignore")
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
from stable_baselines import DQN, PPO2  # noqa: E402  after the warnings are off
from stable_baselines.common import callbacks  # noqa: E402
from stable_baselines.common.vec_env import DummyVecEnv  # noqa: E402

EPISODES, STEPS = 100, 100000


def made(seed):
    """An environment that begins as the seed says."""
    environment = gym.make("CartPole-v1")
    environment.seed(seed)
    return environment


def mean_return(model, deterministic):
    """Of episodes that no model was trained on."""
    environment = made(7)
    total = 0.0
    for _ in range(EPISODES):
        observed, done = environment.reset(), False
        while not done:
            action, _ = model.predict(observed, deterministic=deterministic)
            observed, reward, done, _ = environment.step(int(action))
            total += float(reward)
    return total / EPISODES


def learned(model, deterministic, every):
    """What training changes; it is looked at after so many calls of the environments."""
    before = mean_return(model, deterministic)
    stop = callbacks.StopTrainingOnRewardThreshold(475, verbose=0)
    look = callbacks.EvalCallback(
        made(1000), callback_on_new_best=stop, n_eval_episodes=20, eval_freq=every,
        deterministic=deterministic, verbose=0,
    )  # fmt: skip
    begun = time.perf_counter()
    model.learn(total_timesteps=STEPS, callback=look)
    seconds = time.perf_counter() - begun
    after = mean_return(model, deterministic)
    return {"before": before, "after": after, "steps": model.num_timesteps, "seconds": seconds}


def main():
    environments = DummyVecEnv([lambda i=i: made(i) for i in range(8)])
    ppo2 = PPO2(
        "MlpPolicy", environments, n_steps=32, nminibatches=1, noptepochs=20, gamma=0.98, lam=0.8,
        learning_rate=lambda left: left * 1e-3, cliprange=lambda left: left * 0.2, ent_coef=0.0,
        seed=3, n_cpu_tf_sess=1,
    )  # fmt: skip
    answer = {"ppo2": learned(ppo2, deterministic=False, every=500)}
    assert not tf.get_default_graph().get_operations()  # each model has a graph of its own
    with tempfile.TemporaryDirectory() as folder:
        ppo2.save(f"{folder}/ppo2")
        again = PPO2.load(f"{folder}/ppo2")
    seen = np.linspace(-1, 1, 4)
    answer["the same when loaded"] = bool(
        np.allclose(again.action_probability(seen), ppo2.action_probability(seen))
    )
    dqn = DQN(
        "MlpPolicy", made(0), learning_rate=1e-3, buffer_size=50000, exploration_fraction=0.1,
        exploration_final_eps=0.02, prioritized_replay=True, seed=3, n_cpu_tf_sess=1,
    )  # fmt: skip
    answer["dqn"] = learned(dqn, deterministic=True, every=2000)
    print(json.dumps(answer))


main()
