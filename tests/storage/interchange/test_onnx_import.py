"""ONNX comes in: what was exported, and graphs as others make them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.interchange.model import Unportable, of_session
from tests.storage.interchange.networks import LARGE, SMALL, Network

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
helper = onnx.helper


def _read(model: Any, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    from penstock.storage.interchange.onnx_operators import RULES
    from penstock.storage.interchange.onnx_reader import read_model

    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs = read_model(model, RULES)
        given = {inputs[name]: value for name, value in feeds.items() if name in inputs}
        return [np.asarray(v) for v in session.run(list(outputs.values()), given)]


def _round_trip(network: Network) -> None:
    from penstock.storage.interchange.onnx_file import onnx_model

    made = onnx_model(of_session(network.session, network.inputs, network.outputs))
    for want, have in zip(network.run(), _read(made, network.feeds), strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_export_comes_in_again(name: str) -> None:
    _round_trip(SMALL[name]())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_export_comes_in_again(name: str) -> None:
    _round_trip(LARGE[name]())
