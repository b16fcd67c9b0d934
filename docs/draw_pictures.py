"""Draws the pictures of docs/ideas.md from the graphs that its examples build.

    python docs/draw_pictures.py [FOLDER]      default: docs

The drawer is that of notebooks (``penstock/foundation/graph/drawing.py``).  A test holds that the
pictures in the repository are what this makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import penstock as tf
from penstock.compiler.partition.split import partition
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.drawing import graph_svg

FOLDER = Path(__file__).resolve().parent
_TITLE = 26


def network(layers: Sequence[int] = (4, 2)) -> tuple[Any, Any]:
    """The page's network: what it is fed, and its loss."""
    x = tf.placeholder(tf.float32, [None, layers[0]], name="x")
    weights = tf.Variable(tf.zeros(layers), name="weights")
    y = tf.nn.relu(tf.matmul(x, weights, name="product"), name="y")
    return x, tf.reduce_mean(tf.square(y, name="squares"), name="loss")


def graph() -> str:
    """A graph of a network."""
    network()
    return graph_svg(tf.get_default_graph().get_operations())


def step() -> str:
    """What is left of it for one fetch."""
    x, _ = network()
    y = tf.get_default_graph().get_tensor_by_name("y:0")
    return graph_svg(prune(tf.get_default_graph(), [x], [y], []).operations)


def parts() -> str:
    """The parts of a step over a parameter server and a worker, side by side."""
    with tf.device("/job:ps/task:0"):
        weights = tf.Variable(tf.zeros([4, 2]), name="weights")
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.nn.relu(tf.matmul(x, weights, name="product"), name="y")
    found = prune(tf.get_default_graph(), [x], [y], [])
    places = {op: f"{_task(op)}/device:CPU:0" for op in found.operations}
    return _beside([(part.task, part.step.operations) for part in partition(found, places)])


def _task(op: Any) -> str:
    job = "ps" if "ps" in op.device else "worker"
    return f"/job:{job}/replica:0/task:0"


def replicas() -> str:
    """A step of two towers that share their weights."""
    weights = tf.Variable(tf.zeros([4, 2]), name="weights")
    batches = [tf.placeholder(tf.float32, [None, 4], name=f"batch_{n}") for n in range(2)]
    losses = []
    for number, batch in enumerate(batches):
        product = tf.matmul(batch, weights, name=f"product_{number}")
        losses.append(tf.reduce_mean(product, name=f"loss_{number}"))
    loss = tf.add_n(losses, name="loss")
    return graph_svg(prune(tf.get_default_graph(), batches, [loss], []).operations)


def _beside(drawings: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """Drawings with titles, side by side in one."""
    inner, left, height = [], 0, 0
    for title, operations in drawings:
        svg = graph_svg(operations)
        wide, high = (int(svg.split(f'{name}="')[1].split('"')[0]) for name in ("width", "height"))
        inner.append(
            f'<text x="{left + 16}" y="18" font-weight="bold">{title}</text>'
            f'<svg x="{left}" y="{_TITLE}" {svg.removeprefix("<svg ")}'
        )
        left, height = left + wide + 30, max(height, high + _TITLE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="{height}"'
        f' viewBox="0 0 {left} {height}" font-family="sans-serif" font-size="11">'
        + "".join(inner)
        + "</svg>"
    )


PICTURES: dict[str, Callable[[], str]] = {
    "idea-graph": graph, "idea-step": step, "idea-parts": parts, "idea-replicas": replicas,
}  # fmt: skip


def draw(folder: Path) -> None:
    """Writes the pictures."""
    for name, made in PICTURES.items():
        with tf.Graph().as_default():
            (folder / f"{name}.svg").write_text(made() + "\n")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
