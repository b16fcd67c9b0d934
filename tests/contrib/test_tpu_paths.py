"""``tf.contrib.tpu`` and ``eager`` by the paths of their files, as packages import them."""

from __future__ import annotations

import pytest

import penstock as tf


def test_paths_lead_to_the_same_objects() -> None:
    from penstock.contrib.eager.python import tfe
    from penstock.contrib.tpu.python.ops import tpu_ops
    from penstock.contrib.tpu.python.tpu import tpu_config, tpu_estimator, tpu_optimizer

    assert tfe is tf.contrib.eager
    assert tpu_config.TPUConfig is tf.contrib.tpu.TPUConfig
    assert tpu_estimator.TPUEstimator is tf.contrib.tpu.TPUEstimator
    assert tpu_optimizer.CrossShardOptimizer is tf.contrib.tpu.CrossShardOptimizer
    assert tpu_ops.cross_replica_sum is tf.contrib.tpu.cross_replica_sum


def test_the_number_of_shards_is_known_in_its_block() -> None:
    from penstock.contrib.tpu.python.tpu import tpu_function

    context = tpu_function.get_tpu_context()
    assert context is tpu_function.get_tpu_context() and context.number_of_shards is None
    with tpu_function.tpu_shard_context(4):
        assert context.number_of_shards == 4
        with (
            pytest.raises(NotImplementedError, match="cannot be nested"),
            tpu_function.tpu_shard_context(2),
        ):
            pass
        assert context.number_of_shards == 4
    assert context.number_of_shards is None


def test_tpu_paths_of_the_core_lead_there_too() -> None:
    from penstock.python.tpu import tpu_config, tpu_estimator, tpu_function
    from penstock.python.tpu.topology import Topology

    assert tpu_config.TPUConfig is tpu_estimator.TPUConfig is tf.contrib.tpu.TPUConfig
    assert tpu_function.get_tpu_context().number_of_shards is None
    with pytest.raises(NotImplementedError, match="there is no TPU system"):
        Topology(b"")
