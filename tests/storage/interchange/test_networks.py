"""The networks that were asked for leave, and give what they gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.storage.interchange.model import of_session
from tests.storage.interchange.leaving import WAYS
from tests.storage.interchange.networks import LARGE, SMALL, Network


def _check(network: Network, way: str, folder: Path) -> None:
    expected = network.run()
    model = of_session(network.session, network.inputs, network.outputs)
    found = WAYS[way](model, folder, network.feeds)
    for want, have in zip(expected, found, strict=True):
        assert have.shape == want.shape and have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("name", sorted(SMALL))
def test_network_leaves(name: str, way: str, tmp_path: Path) -> None:
    if way == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    _check(SMALL[name](), way, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_network_leaves(name: str, way: str, tmp_path: Path) -> None:
    if way == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    _check(LARGE[name](), way, tmp_path)
