"""Cars' prices: the file's lines in their parts, and programs that learn from them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import car_prices, imports85

BODIES = car_prices.BODY_STYLES
MAKES = ["audi", "bmw", "honda"]


def price(body: int, make: int, weight: int) -> int:
    return 3000 + 2500 * body + 2000 * make + 2 * weight


@pytest.fixture
def cars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """200 cars, and two of which something is not known."""
    random, found = np.random.RandomState(0), []
    for number in range(200):
        body, make, weight = random.randint(5), random.randint(3), random.randint(1500, 4000)
        row = {name: "x" if kind is str else str(number) for name, kind in imports85.types.items()}
        row |= {"body-style": BODIES[body], "make": MAKES[make], "curb-weight": str(weight)}
        found.append(row | {"highway-mpg": "30", "price": str(price(body, make, weight))})
    unknown = [row | {name: "?"} for row, name in zip(found, ("price", "make"))]
    path = tmp_path / "imports-85.data"
    lines = [",".join(row.values()) for row in [*found, *unknown]]
    path.write_text("\n".join(lines) + "\n\n")
    monkeypatch.setattr(imports85, "_get_imports85", lambda: str(path))
    return found


def test_every_whole_line_is_in_one_part(cars: list[dict[str, str]]) -> None:
    nexts = [
        part.make_one_shot_iterator().get_next() for part in imports85.dataset("curb-weight", 0.6)
    ]
    rows: list[list[Any]] = [[], []]
    with tf.Session() as session:
        for part, wanted in zip(rows, nexts):
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    part.append(session.run(wanted))
    assert 90 < len(rows[0]) < 150 and len(rows[0]) + len(rows[1]) == len(cars)
    for features, label in rows[0] + rows[1]:
        car = cars[features["symboling"]]
        assert label == float(car["curb-weight"]) and "curb-weight" not in features
        assert features["make"] == car["make"].encode()
        assert features["price"] == float(car["price"])
    assert list(imports85.types)[2] == "make" and imports85.types["make"] is str


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["linear_regression", "linear_regression_categorical", "dnn_regression"]
)
def test_a_program_learns(
    name: str, cars: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    program = import_module(f"penstock.models.tutorials.{name}")
    off = []
    for steps in (1, 40):
        monkeypatch.setattr(program, "STEPS", steps)
        program.main([])
        off.append(float(capsys.readouterr().out.split("RMS error for the test set: $")[1]))
    assert off[1] < off[0]


@pytest.mark.long
def test_a_program_with_its_own_network(
    cars: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = import_module("penstock.models.tutorials.custom_regression")
    params = {
        "feature_columns": car_prices.numbers()[:1], "hidden_units": [], "learning_rate": 0.1,
        "optimizer": tf.train.GradientDescentOptimizer,
    }  # fmt: skip
    x, y = np.array([[1.0], [2.0]], np.float32), np.array([3.0, 5.0], np.float32)
    modes = tf.estimator.ModeKeys
    tf.train.create_global_step()
    train = program.my_dnn_regression_fn({"curb-weight": x}, y, modes.TRAIN, params)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        slope, bias = session.run(tf.trainable_variables())
        loss, _ = session.run([train.loss, train.train_op])
        stepped = session.run(tf.trainable_variables())
    wrong = x[:, 0] * slope[0, 0] + bias[0] - y
    np.testing.assert_allclose(loss, (wrong**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(stepped[1][0], bias[0] - 0.1 * 2 * wrong.mean(), rtol=1e-5)
    monkeypatch.setattr(program, "STEPS", 1)
    program.main([])


def test_a_missing_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"imports-85\.data"):
        imports85.dataset()
