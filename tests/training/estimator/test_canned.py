"""Canned estimators are TensorFlow 1.15's: graphs, variables, losses, metrics, exports.

``canned.json`` is what TensorFlow made of ``canned_programs.py``, but for the graphs; these are
compared by a long test, which asks TensorFlow again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.training.estimator.canned.heads import RegressionHead
from tests.peers import ROOT, TF115, needs
from tests.training.estimator import canned_programs
from tests.training.estimator.test_programs import HERE, differences

EXPECTED = json.loads((HERE / "canned.json").read_text())


@pytest.mark.long
@pytest.mark.parametrize("name", canned_programs.PROGRAMS)
def test_canned(name: str) -> None:
    found = canned_programs.found_by(tf, name)
    kept = {k: v for k, v in found.items() if k not in canned_programs.GRAPHS}
    assert not differences(kept, EXPECTED[name])


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    needs(TF115)
    output: Path = tmp_path_factory.mktemp("tf115") / "found.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    command = [str(TF115), "-m", "tests.training.estimator.canned_programs", str(output)]
    root = ROOT
    subprocess.run(command, env=environment, cwd=root, check=True, capture_output=True)
    return json.loads(output.read_text())


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", canned_programs.PROGRAMS)
def test_canned_graphs_are_tensorflows(theirs: Any, name: str) -> None:
    assert not differences(canned_programs.found_by(tf, name), theirs[name])


X = "x"
ERRORS = {
    "optimizer": (
        "Unsupported optimizer name: Sgd",
        lambda c: tf.estimator.DNNClassifier([1], [c[X]], optimizer="Sgd"),
    ),
    "optimizer_kind": (
        "The given object is not an Optimizer instance",
        lambda c: tf.estimator.LinearRegressor([c[X]], optimizer=3),
    ),
    "labels_dtype": (
        "Labels dtype should be integer",
        lambda c: tf.estimator.DNNClassifier([1], [c[X]], n_classes=3),
    ),
    "label_shape": (
        "Mismatched label shape",
        lambda c: tf.estimator.LinearRegressor([c[X]], label_dimension=3),
    ),
    "not_dense": (
        "Items of feature_columns must be a _DenseColumn",
        lambda c: tf.estimator.DNNClassifier([1], [c["w"]]),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes(name: str, tmp_path: Path) -> None:
    words, make = ERRORS[name]
    made = make(canned_programs.columns(tf))
    with pytest.raises(ValueError, match=words):
        made.train(canned_programs.read(tf, canned_programs.PAIRS[:, 0]), steps=1)


def test_mistakes_of_arguments() -> None:
    columns = canned_programs.columns(tf)
    with pytest.raises(ValueError, match="n_classes must be > 2"):
        tf.estimator.DNNClassifier([1], [columns["x"]], n_classes=1)
    with pytest.raises(ValueError, match="Invalid loss_reduction"):
        tf.estimator.LinearClassifier([columns["x"]], loss_reduction="none")
    with pytest.raises(ValueError, match="Either linear_feature_columns or dnn"):
        tf.estimator.DNNLinearCombinedClassifier()
    with pytest.raises(ValueError, match="dnn_hidden_units must be defined"):
        tf.estimator.DNNLinearCombinedClassifier(dnn_feature_columns=[columns["x"]])
    with pytest.raises(ValueError, match="following not expected args"):
        tf.estimator.add_metrics(tf.estimator.BaselineRegressor(), lambda other: {})
    with pytest.raises(ValueError, match="label should not be used as feature"):
        tf.estimator.classifier_parse_example_spec([columns["x"]], "x")
    with pytest.raises(ValueError, match="weight_column should not be used as feature"):
        tf.estimator.regressor_parse_example_spec([columns["x"]], "y", weight_column="x")


@pytest.mark.long
def test_heads_that_are_given() -> None:
    columns = canned_programs.columns(tf)
    head = RegressionHead()
    read = canned_programs.read(tf, canned_programs.NUMBERS)
    for made in (
        tf.estimator.DNNEstimator(head, [2], [columns["x"]], dropout=0.5),
        tf.estimator.LinearEstimator(head, [columns["x"]]),
        tf.estimator.DNNLinearCombinedEstimator(head, linear_feature_columns=[columns["x"]]),
        tf.estimator.BaselineEstimator(head),
    ):
        made.train(read, steps=2)
        once = canned_programs.read(tf, canned_programs.NUMBERS, repeat=1)
        assert made.evaluate(once)["global_step"] == 2


@pytest.mark.long
def test_a_canned_estimator_begins_with_another(tmp_path: Path) -> None:
    columns = canned_programs.columns(tf)
    read = canned_programs.read(tf, canned_programs.BINARY, repeat=1)
    used = [[4, 3], [columns["x"], columns["e"]]]
    first = tf.estimator.DNNClassifier(*used, str(tmp_path)).train(read)
    later = tf.estimator.DNNClassifier(*used, warm_start_from=str(tmp_path))
    wanted, found = first.evaluate(read), later.evaluate(read)
    assert found["loss"] == wanted["loss"]
    assert (found["global_step"], wanted["global_step"]) == (0, 3)
