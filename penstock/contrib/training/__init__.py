"""``tf.contrib.training``: which parameter server has which variable."""

from penstock.train.device_setter import (
    GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy,
    RandomStrategy as RandomStrategy,
    byte_size_load_fn as byte_size_load_fn,
)
