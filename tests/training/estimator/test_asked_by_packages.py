"""What tensorflow-estimator asks for by TensorFlow's own paths; values are TensorFlow 1.15's."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import penstock as tf
from penstock.foundation.formats.tree_messages import TreeEnsemble
from penstock.python.eager import monitoring
from penstock.python.ops import boosted_trees_ops
from penstock.python.saved_model import model_utils
from penstock.python.tpu import tpu_embedding
from penstock.python.training import basic_session_run_hooks, training
from penstock.python.util import deprecation, function_utils, module_wrapper, tf_export


@pytest.mark.parametrize(("features", "chosen"), [([0, 1], 0), ([1, 0], 0), ([2, 0, 1], 0)])
def test_of_equal_gains_the_smallest_feature_splits(features: list[int], chosen: int) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        ensemble = boosted_trees_ops.TreeEnsemble("ensemble")
        sess.run(ensemble.initializer)
        count = len(features)
        sess.run(boosted_trees_ops.update_ensemble(
            ensemble.resource_handle, features, [[0]] * count, [[1.0]] * count,
            [[i] for i in range(count)], [[[0.1]]] * count, [[[0.2]]] * count, max_depth=2,
            learning_rate=1.0, pruning_mode=boosted_trees_ops.PruningMode.NO_PRUNING,
        ))  # fmt: skip
        text = sess.run(ensemble.serialize()[1])
    message = TreeEnsemble()
    message.ParseFromString(text)
    split = message.trees[0].nodes[0].bucketized_split
    assert (split.feature_id, split.threshold) == (chosen, features.index(chosen))


def test_a_run_of_several_steps_stops_at_the_last() -> None:
    seen = []
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        many = training.get_or_create_steps_per_run_variable()
        assert many.name == "hooks/steps_per_run:0"
        go = tf.assign_add(step, tf.cast(many, tf.int64))
        hook = basic_session_run_hooks._MultiStepStopAtStepHook(num_steps=7, steps_per_run=3)
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            while not sess.should_stop():
                seen.append(int(sess.run(go)))
    assert seen == [3, 6, 7]


def test_outputs_of_a_mode() -> None:
    assert dict(model_utils.EXPORT_TAG_MAP) == {
        "predict": ["serve"], "train": ["train"], "test": ["eval"],
    }  # fmt: skip
    assert model_utils.SIGNATURE_KEY_MAP["infer"] == "serving_default"
    with tf.Graph().as_default():
        made = model_utils.export_outputs_for_mode("eval", loss=tf.constant(1.0))
        assert type(made["eval"]) is model_utils.EvalOutput


def _taking(x: Any, y: Any, *more: Any, key: int = 1, **others: Any) -> None:
    pass


def test_names_of_arguments() -> None:
    assert function_utils.fn_args(_taking) == ("x", "y")
    assert function_utils.fn_args(functools.partial(_taking, 1)) == ("y",)
    assert function_utils.fn_args(functools.partial(_taking, y=2)) == ("x",)
    assert function_utils.has_kwargs(_taking) and not function_utils.has_kwargs(lambda p: p)


def test_exported_names_gauges_and_wrapped_modules() -> None:
    @tf_export.estimator_export("estimator.Mine", v1=["estimator.Mine", "estimator.Old"])
    class Mine:
        def old(self) -> int:
            return 1

    assert tf_export.get_v1_names(Mine) == ["estimator.Mine", "estimator.Old"]
    with pytest.raises(tf_export.InvalidSymbolNameError, match="tensorflow_estimator"):
        tf_export.estimator_export("keras.x")

    class Newer(Mine):
        old = deprecation.hide_attribute_from_api("gone; use new")  # type: ignore[assignment]

    with pytest.raises(AttributeError, match="gone; use new"):
        Newer().old
    gauge = monitoring.BoolGauge("/used", "whether", "method")
    gauge.get_cell("train").set(True)
    assert gauge.get_cell("train").value() and not gauge.get_cell("evaluate").value()
    with pytest.raises(ValueError, match="labels"):
        gauge.get_cell()
    wrapped = module_wrapper.TFModuleWrapper(function_utils, "functions")
    assert wrapped.fn_args is function_utils.fn_args


def test_what_talks_to_tpus_says_so_when_it_is_used() -> None:
    with pytest.raises(NotImplementedError, match="talks to TPUs"):
        tpu_embedding.AdagradParameters(0.1)
    with pytest.raises(AttributeError, match="talks to TPUs"):
        tpu_embedding.TPUEmbedding
