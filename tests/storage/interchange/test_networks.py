"""The networks that were asked for leave, and give what they gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.storage.interchange.model import Unportable, of_session
from tests.storage.interchange.leaving import WAYS as OTHER_WAYS, by_pt2
from tests.storage.interchange.networks import LARGE, SMALL, Network

WAYS = {**OTHER_WAYS, "pt2": by_pt2}
# Where torch.export cannot keep dims open, since the number of rounds or of rows depends on them.
_FIXED = {("lstm_language_model", "pt2")}
_REFUSED = {("wide_and_deep", "pt2"): r"Range '.*range' does not export to pt2"}


def _check(network: Network, way: str, folder: Path, fixed: bool = False) -> None:
    expected = network.run()
    shapes = {name: np.shape(each) for name, each in network.feeds.items()} if fixed else None
    model = of_session(network.session, network.inputs, network.outputs, shapes)
    found = WAYS[way](model, folder, network.feeds)
    for want, have in zip(expected, found, strict=True):
        assert have.shape == want.shape and have.dtype == want.dtype
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5 * max(1, np.abs(want).max()))


@pytest.mark.long
@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("name", sorted(SMALL))
def test_network_leaves(name: str, way: str, tmp_path: Path) -> None:
    if way == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    if (name, way) in _REFUSED:
        with pytest.raises(Unportable, match=_REFUSED[name, way]):
            _check(SMALL[name](), way, tmp_path)
        return
    _check(SMALL[name](), way, tmp_path, (name, way) in _FIXED)


@pytest.mark.long
def test_a_program_of_torch_keeps_open_dims_or_says_which_it_cannot(tmp_path: Path) -> None:
    network = SMALL["digits_cnn"]()
    path = str(tmp_path / "digits.pt2")
    assert tf.export(network.session, path, inputs=network.inputs, outputs=network.outputs) == [
        path
    ]
    program = torch.export.load(path).module()
    (name,) = network.inputs
    for count in (1, 5, 40):
        images = np.resize(network.feeds[name], (count, 8, 8, 1)).astype(np.float32)
        expected = network.session.run(
            list(network.outputs.values()), {network.inputs[name]: images}
        )
        for want, have in zip(expected, program(torch.from_numpy(images)), strict=True):
            np.testing.assert_allclose(have, want, atol=1e-5)
    network = SMALL["lstm_language_model"]()
    with pytest.raises(Unportable, match="TensorArrayV3 '.*' does not export to pt2"):
        _check(network, "pt2", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_network_leaves(name: str, way: str, tmp_path: Path) -> None:
    if way == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    _check(LARGE[name](), way, tmp_path)
