"""What TensorBoard's backend reads in the demo's logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.config_pb2 import RunMetadata

from tests.tensorboard.board import Board
from tests.tensorboard.conftest import STEPS

pytestmark = pytest.mark.long


def scalars(board: Board, run: str, tag: str) -> list[tuple[int, float]]:
    """The steps and values of a scalar."""
    return [
        (step, value) for _, step, value in board.json("plugin/scalars/scalars", run=run, tag=tag)
    ]


def test_runs(board: Board) -> None:
    assert sorted(board.json("runs")) == ["test", "train"]


def test_scalars(board: Board, logdir: Path) -> None:
    metrics: dict[str, Any] = json.loads((logdir / "metrics.json").read_text())
    loss = scalars(board, "train", "progress/loss")
    assert [step for step, _ in loss] == list(range(10, STEPS + 1, 10))
    assert loss[0][1] > loss[-1][1] == pytest.approx(metrics["final_loss"])
    accuracy = scalars(board, "test", "progress/accuracy")
    assert accuracy[-1] == (STEPS, pytest.approx(metrics["test_accuracy"]))
    assert scalars(board, "test", "progress/loss")[-1][1] == pytest.approx(metrics["test_loss"])


def test_images_are_pngs(board: Board) -> None:
    query = {"run": "train", "tag": "digits/learned/image/0", "sample": "0"}
    listed = board.json("plugin/images/images", **query)
    assert [image["step"] for image in listed] == [100, 200]
    assert board.get(f"plugin/images/individualImage?{listed[-1]['query']}").startswith(b"\x89PNG")


def test_histograms(board: Board) -> None:
    query = {"run": "train", "tag": "weights/conv1/kernel"}
    for _, step, buckets in board.json("plugin/histograms/histograms", **query):
        assert step in (100, 200)
        assert sum(count for _, _, count in buckets) == pytest.approx(3 * 3 * 1 * 32)


def test_graph_and_trace(board: Board) -> None:
    graph = board.get("plugin/graphs/graph", run="train").decode()
    assert 'name: "conv1/Conv2D"' in graph and 'op: "ApplyAdam"' in graph
    text = board.get("plugin/graphs/run_metadata", run="train", tag="step 100")
    (device,) = text_format.Parse(text, RunMetadata()).step_stats.dev_stats
    assert device.device.endswith("device:CPU:0")
    # A convolution is timed as the relu that it was folded into, or by itself.
    for layer in ("conv1/", "conv2/", "hidden/", "train/gradients/conv2/", "train/Adam/"):
        stats = [node for node in device.node_stats if node.node_name.startswith(layer)]
        assert sum(node.all_end_rel_micros for node in stats) > 0, layer
    made = [o.tensor_description for node in device.node_stats for o in node.output]
    bytes_made = [tensor.allocation_description.requested_bytes for tensor in made]
    assert max(bytes_made) >= 4 * 64 * 4 * 4 * 32  # what the first block hands to the second


def test_projector(board: Board) -> None:
    config = board.json("plugin/projector/info", run="test")
    (embedding,) = config["embeddings"]
    assert embedding["tensorShape"] == [360, 128]
    query = {"run": "test", "name": embedding["tensorName"]}
    assert len(board.get("plugin/projector/tensor", **query)) == 4 * 360 * 128
    labels = board.get("plugin/projector/metadata", **query).decode().splitlines()
    assert labels[0].split("\t")[0] == "label" and len(labels) == 361
    assert board.get("plugin/projector/sprite_image", **query).startswith(b"\x89PNG")
