"""Python functions that worker processes run; see ``test_dataset_workers.py``."""

import os
import signal
import time

import numpy as np


def doubled(value):
    time.sleep(0.001 * (int(value) % 3))
    return np.int64(value * 2)


def scaled(factor, value):
    return np.int64(value * factor)


def process(value):
    time.sleep(0.05)
    return np.int64(os.getpid())


def failing(value):
    if value == 2:
        raise ValueError("two is bad")
    return np.int64(value)


def dying(value):
    if value == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.int64(value)


def slow(value):
    if "SLOW_HAS_BEGUN" in os.environ:
        open(os.environ["SLOW_HAS_BEGUN"], "w").close()
    time.sleep(3600)
    return np.int64(value)


def unpicklable(value):
    return lambda: value


def counting(count):
    for number in range(int(count)):
        yield number * 10


def ending(path):
    try:
        yield os.getpid()
        yield 2
    finally:
        with open(path, "w") as file:
            file.write("ended")
