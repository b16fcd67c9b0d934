"""What ``dir`` shows of a package of contrib: the user's names, none of the rooms behind them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

import penstock as tf
from tests.spec import load

# Package -> the modules that TensorFlow 1.15 shows in it.
MODULES = json.loads((Path(__file__).parent / "expected" / "listing.json").read_text())
# And those that programs name by these paths, which it does not show until they are imported.
PATHS = {"python", "rnn_cell", "nets", "models", "monitors", "ops", "initializers", "optimizers"}
PATHS |= {"regularizers", "utils", "estimators", "experiment", "metric_spec", "pool"}


@pytest.mark.parametrize("package", sorted(tf.contrib.__all__))
def test_listing(package: str) -> None:
    module = getattr(tf.contrib, package)
    if not isinstance(module, ModuleType):
        pytest.skip("a name of contrib itself")
    shown = {name for name in dir(module) if not name.startswith("__")}
    rooms = {n for n in shown if isinstance(getattr(module, n), ModuleType)}
    assert rooms <= PATHS.union(MODULES.get(package, ()))
    assert not {"Any", "annotations", "Sequence", "np", "json", "dtypes", "wraps"} & shown
    beginning = f"contrib.{package}."
    asked = {
        name.removeprefix(beginning)
        for name in load("public_api.json")
        if name.startswith(beginning)
    }
    there = {name for name in asked if "." not in name and hasattr(module, name)}
    assert there <= shown
