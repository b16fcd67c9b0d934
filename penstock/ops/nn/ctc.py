"""Connectionist temporal classification: the loss of label sequences, and two decoders.

The last class is the blank.  Frames come first: ``inputs`` is ``[time, batch, classes]``.

The loss is the forward-backward recursion over the labels with blanks between them, for the whole
batch at once and in logarithms.  A label may be skipped from two states before it, unless that is
the same label (then the blank between them is needed to tell two labels from one).  Without
``ctc_merge_repeated`` each frame of a label counts as a label, so labels do not stay.

The beam search follows TensorFlow's: a prefix tree, of which the ``beam_width`` best nodes are
kept after each frame; extensions are tried in the order of the beam and of the classes.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, RefusedAtBuild, ShapeContext

_TYPES = "T: {float, double} = float"
_NEVER = -torch.inf
_GONE = (-np.inf, -np.inf, -np.inf)


# ---- the loss ----------------------------------------------------------------------------------


def _check_places(places: list[list[int]], time: int) -> None:
    """Refuses labels out of [0, time) or out of order."""
    for i, (row, column) in enumerate(places):
        if not 0 <= column < time:
            raise ValueError(
                f"labels_indices[{i}] is [{row}, {column}]; its column must be in [0, {time})"
            )
        if i and places[i - 1] >= [row, column]:
            why = "repeated" if places[i - 1] == [row, column] else "out of order"
            raise ValueError(f"labels_indices[{i}] = [{row}, {column}] is {why}")


def _label_rows(
    indices: Any, values: Any, batch: int, classes: int, collapse: bool, time: int
) -> list[list[int]]:
    """The labels of each sequence; one that is no class but the blank or beyond ends them."""
    given: list[list[int]] = [[] for _ in range(batch)]
    _check_places(indices.tolist(), time)
    for (row, _), label in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= row < batch:
            raise ValueError(f"labels_indices names batch {row}, which is not in [0, {batch})")
        if label < 0:
            raise ValueError(
                f"All labels must be nonnegative integers; labels_values holds {label}"
            )
        given[row].append(label)
    rows: list[list[int]] = []
    for number, labels in enumerate(given):
        if not labels:
            raise ValueError(f"Labels length is zero in batch {number}")
        kept = [
            label for i, label in enumerate(labels)
            if not (collapse and i and labels[i - 1] == label)
        ]  # fmt: skip
        ended = [label >= classes - 1 for label in kept]
        count = ended.index(True) if True in ended else len(kept)
        if not all(ended[count:]):
            raise ValueError(
                "Saw a non-null label (index >= num_classes - 1) following a null label: batch"
                f" {number} has labels {labels}; the last of {classes} classes is the blank"
            )
        rows.append(kept[:count])
    return rows


def _ctc_loss(
    inputs: Any,
    labels_indices: Any,
    labels_values: Any,
    sequence_length: list[int],
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> Any:
    _, batch, classes = _checked(inputs, sequence_length, errors.InvalidArgumentError)
    if not batch:
        raise ValueError(f"batch_size must not be 0: inputs have the shape {list(inputs.shape)}")
    rows = _label_rows(
        labels_indices, labels_values, batch, classes, preprocess_collapse_repeated,
        inputs.shape[0],
    )  # fmt: skip
    used = [True] * batch
    for number, (row, frames) in enumerate(zip(rows, sequence_length, strict=True)):
        if len(row) > frames:
            if not ignore_longer_outputs_than_inputs:
                raise ValueError(
                    "Not enough time for target transition sequence (required:"
                    f" {len(row)}, available: {frames}) of batch {number}; with"
                    " ignore_longer_outputs_than_inputs such a loss is 0"
                )
            used[number] = False
    loss = inputs.new_zeros(batch)
    gradient = torch.zeros_like(inputs)
    chosen = [i for i in range(batch) if used[i]]
    if not chosen:
        return loss, gradient
    if not ctc_merge_repeated:
        found = _recursion(inputs[:, chosen], [rows[i] for i in chosen],
                           [sequence_length[i] for i in chosen])  # fmt: skip
    else:
        found = _library(inputs[:, chosen], [rows[i] for i in chosen],
                         [sequence_length[i] for i in chosen])  # fmt: skip
    loss[chosen], gradient[:, chosen] = found
    return loss, gradient


def _checked(
    inputs: Any, sequence_length: list[int], error: Any = errors.FailedPreconditionError
) -> tuple[int, int, int]:
    if inputs.dim() != 3:
        raise ValueError(f"inputs must be [time, batch, classes]; found {list(inputs.shape)}")
    time, batch, classes = inputs.shape
    if not time:
        raise ValueError(f"inputs must have frames; their shape is {list(inputs.shape)}")
    if len(sequence_length) != batch:
        raise error(
            None, None,
            f"len(sequence_length) != batch_size: found {len(sequence_length)} and {batch}",
        )  # fmt: skip
    for number, length in enumerate(sequence_length):
        if length > time:  # TensorFlow takes negative ones, as it takes 0
            message = f"sequence_length({number}) = {length} is not in [0, {time}]"
            raise error(None, None, message)
    return time, batch, classes


def _library(inputs: Any, rows: list[list[int]], lengths: list[int]) -> tuple[Any, Any]:
    """ATen's recursion, for the usual case that repeated frames are one label."""
    blank = inputs.shape[2] - 1
    scores = torch.log_softmax(inputs, 2)
    targets = torch.tensor([label for row in rows for label in row], dtype=torch.int64)
    sizes = [len(row) for row in rows]
    loss, alpha = torch.ops.aten._ctc_loss.default(scores, targets, lengths, sizes, blank, False)
    gradient = torch.ops.aten._ctc_loss_backward.default(
        torch.ones_like(loss), scores, targets, lengths, sizes, loss, alpha, blank, False
    )
    # Where no path fits, TensorFlow's gradient is that of a sequence without any label.
    inside = torch.arange(inputs.shape[0])[:, None] < torch.tensor(lengths)
    impossible = inside & torch.isinf(loss)
    return loss, torch.where(impossible[:, :, None], scores.exp(), gradient)


def _recursion(inputs: Any, rows: list[list[int]], lengths: list[int]) -> tuple[Any, Any]:
    """The recursion in which each frame of a label is a label of its own."""
    time, batch, classes = inputs.shape
    scores = torch.log_softmax(inputs, 2)
    states = 2 * max(len(row) for row in rows) + 1
    label = torch.full((batch, states), classes - 1, dtype=torch.int64)
    for number, row in enumerate(rows):
        label[number, 1 : 2 * len(row) : 2] = torch.tensor(row)
    is_blank = label == classes - 1
    # Blanks stay and labels do not; labels skip the blank before them.
    stay = torch.where(is_blank, 0.0, _NEVER).to(inputs.dtype)
    skip = torch.where(is_blank, _NEVER, 0.0).to(inputs.dtype)
    emitted = scores.gather(2, label.expand(time, batch, states))
    edge = inputs.new_full((batch, 1), _NEVER)

    def shifted(x: Any, by: int) -> Any:
        gone = edge.expand(batch, abs(by))
        return torch.cat([gone, x[:, :-by]], 1) if by > 0 else torch.cat([x[:, -by:], gone], 1)

    forward = inputs.new_full((time, batch, states), _NEVER)
    forward[0, :, :2] = emitted[0, :, :2]
    for t in range(1, time):
        last = forward[t - 1]
        forward[t] = emitted[t] + torch.logaddexp(
            torch.logaddexp(last + stay, shifted(last, 1)), shifted(last, 2) + skip
        )
    backward = inputs.new_full((time, batch, states), _NEVER)
    ends = torch.tensor([2 * len(row) for row in rows])
    number = torch.arange(batch)
    final = inputs.new_full((batch, states), _NEVER)
    final[number, ends] = 0.0
    final[number, ends - 1] = 0.0
    stop = torch.tensor(lengths)
    following = final
    for t in reversed(range(time)):
        if t + 1 < time:
            later = following + emitted[t + 1]
            moved = torch.logaddexp(
                torch.logaddexp(later + stay, shifted(later, -1)), shifted(later + skip, -2)
            )
            following = torch.where((stop == t + 1)[:, None], final, moved)
        backward[t] = torch.where((t < stop)[:, None], following, edge.expand(batch, states))
    loss = -torch.logsumexp(forward[stop - 1, number] + final, 1)
    joint = (forward + backward + loss[None, :, None]).exp()
    counted = torch.zeros_like(inputs).scatter_add_(2, label.expand(time, batch, states), joint)
    inside = torch.arange(time)[:, None] < stop
    return loss, (scores.exp() - counted) * inside[:, :, None]


def _loss_shape(ctx: ShapeContext) -> list[Dims]:
    inputs = ctx.rank("inputs", 3)
    indices, values = ctx.rank("labels_indices", 2), ctx.rank("labels_values", 1)
    length = ctx.rank("sequence_length", 1)
    if None not in (indices[0], values[0]) and indices[0] != values[0]:
        raise ValueError(
            f"labels_indices has {indices[0]} row(s), labels_values {values[0]} element(s)"
        )
    batch = inputs[1] if inputs[1] is not None else length[0]
    if None not in (length[0], batch) and length[0] != batch:
        raise ValueError(f"inputs has a batch of {batch}, sequence_length {length[0]} element(s)")
    return [(batch,), (inputs[0], batch, inputs[2])]


def _loss_grad(op: Any, grad: Tensor, _: Any) -> list[Any]:
    message = (
        "Currently there is no way to take the second derivative of ctc_loss due to the fused"
        " implementation's interaction with tf.gradients()"
    )
    stored: Any = make("PreventGradient", op.outputs[1], message=message)
    column = make("ExpandDims", grad, -1)
    return [column * stored, None, None, None]


# ---- decoders ----------------------------------------------------------------------------------


def _sparse_rows(rows: list[list[int]]) -> tuple[Any, Any, Any]:
    """Sequences as the three parts of a sparse tensor."""
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    shape = [len(rows), max(map(len, rows), default=0)]
    return (
        torch.tensor(indices, dtype=torch.int64).reshape(-1, 2),
        torch.tensor(values, dtype=torch.int64),
        torch.tensor(shape, dtype=torch.int64),
    )


def _greedy(inputs: Any, sequence_length: list[int], merge_repeated: bool) -> Any:
    time, batch, classes = _checked(inputs, sequence_length)
    sequence_length = [max(length, 0) for length in sequence_length]
    if not classes:
        raise ValueError(f"inputs must not be empty; its shape is {list(inputs.shape)}")
    missing = torch.isnan(inputs)
    if missing.any():  # NaN is greater than nothing, but stays where it stands first
        most, best = torch.where(missing, -torch.inf, inputs).max(2)
        first = missing[:, :, 0]
        most, best = torch.where(first, inputs[:, :, 0], most), torch.where(first, 0, best)
    else:
        most, best = inputs.max(2)
    inside = torch.arange(time)[:, None] < torch.tensor(sequence_length)
    # Frames behind the end do not count, though all of them may be impossible (-inf).
    score = -torch.where(inside.to(most.device), most, 0.0).sum(0, keepdim=True).T
    rows = []
    for number, length in enumerate(sequence_length):
        classes_in_time, last, row = best[:length, number].tolist(), -1, []
        for label in classes_in_time:
            if label != classes - 1 and not (merge_repeated and label == last):
                row.append(label)
            last = label
        rows.append(row)
    return *_sparse_rows(rows), score


class _Node:
    """A prefix: log-probabilities of ending in a blank or in its last label, now and before."""

    __slots__ = ("parent", "label", "children", "total", "blank", "ending", "old")

    def __init__(self, parent: _Node | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, _Node] = {}
        self.reset()
        self.old = _GONE

    def reset(self) -> None:
        self.total = self.blank = self.ending = -np.inf

    @property
    def active(self) -> bool:
        return bool(self.total != -np.inf)

    def labels(self, merge_repeated: bool) -> list[int]:
        made: list[int] = []
        node: _Node | None = self
        last = -1
        while node is not None and node.parent is not None:
            if not (merge_repeated and node.label == last):
                made.append(node.label)
            last = node.label
            node = node.parent
        return made[::-1]


class _Beam:
    """The best ``width`` nodes: a heap with the worst on top, the newer one first among equals."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.heap: list[tuple[float, int, _Node]] = []
        self.count = 0

    def accepts(self, total: float) -> bool:
        if total == -np.inf:
            return False
        return len(self.heap) < self.width or total > self.heap[0][0]

    def push(self, node: _Node) -> None:
        self.count += 1
        item = (node.total, -self.count, node)
        if len(self.heap) < self.width:
            heapq.heappush(self.heap, item)
        elif item > self.heap[0]:
            heapq.heapreplace(self.heap, item)

    def sorted(self) -> list[_Node]:
        return [node for _, _, node in sorted(self.heap, key=lambda i: (-i[0], -i[1]))]


def _log_of_sum(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))``, rounded as TensorFlow does."""
    if a == b == -np.inf:
        return a
    low, high = (a, b) if a <= b else (b, a)
    return high + np.log1p(np.exp(low - high))


def _step(beam: _Beam, frame: np.ndarray, norm: Any) -> _Beam:
    """The beam after one more frame of scores, which less ``norm`` are log-probabilities.

    Sums are rounded one by one, in TensorFlow's order: of paths of the same probability, that
    decides which one stays.
    """
    branches, blank, chances = beam.sorted(), frame[-1], frame - norm
    following = _Beam(beam.width)
    for node in branches:
        node.old = (node.total, node.blank, node.ending)
    for node in branches:
        if node.parent is not None:
            if node.parent.active:
                before = node.parent.old[1 if node.label == node.parent.label else 0]
                node.ending = _log_of_sum(node.ending, before)
            node.ending += chances[node.label]
        node.blank = node.old[0] + blank - norm
        node.total = _log_of_sum(node.blank, node.ending)
        following.push(node)
    for node in branches:
        if following.accepts(node.old[0]):
            _extend(node, chances, following)
    return following


def _extend(node: _Node, frame: np.ndarray, beam: _Beam) -> None:
    scores = frame[:-1] + node.old[0]
    if node.label >= 0:
        scores[node.label] = frame[node.label] + node.old[1]
    floor = beam.heap[0][0] if len(beam.heap) == beam.width else -np.inf
    for label in sorted({*np.flatnonzero(scores > floor).tolist(), *node.children}):
        child = node.children.get(label)
        if child is not None and child.active:
            continue
        total = scores[label]
        if not beam.accepts(total):
            if child is not None:  # it fell out of the beam: it is not extended any more
                child.old = _GONE
            continue
        if child is None:
            child = node.children[label] = _Node(node, label)
        child.ending, child.blank, child.total = total, -np.inf, total
        if len(beam.heap) == beam.width:
            beam.heap[0][2].reset()
        beam.push(child)


def _norms(scores: np.ndarray) -> np.ndarray:
    """``log(sum(exp(scores)))`` over the classes, added up in their order."""
    if not scores.size:
        return np.zeros(scores.shape[:2], scores.dtype)
    top = scores.max(2)
    total = np.zeros_like(top)
    for label in range(scores.shape[2]):
        total += np.exp(scores[..., label] - top)
    found: np.ndarray = top + np.log(total)
    return found


@np.errstate(all="ignore")
def _beam_search(
    inputs: Any, sequence_length: list[int], beam_width: int, top_paths: int, merge_repeated: bool
) -> Any:
    time, batch, _ = _checked(inputs, sequence_length)
    sequence_length = [max(length, 0) for length in sequence_length]
    if top_paths > beam_width:
        raise ValueError(f"top_paths {top_paths} is more than beam_width {beam_width}")
    scores = inputs.cpu().numpy()
    norms = _norms(scores)
    none = scores.dtype.type(0)
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    found = np.zeros((batch, top_paths), scores.dtype)
    for number, length in enumerate(sequence_length):
        root = _Node(None, -1)
        root.total = root.blank = none
        beam = _Beam(beam_width)
        beam.push(root)
        for t in range(length):
            beam = _step(beam, scores[t, number], norms[t, number])
        best = beam.sorted()
        if len(best) < top_paths:
            raise ValueError(
                f"top_paths {top_paths} is more than the {len(best)} path(s) that the beam of"
                f" batch {number} holds"
            )
        for place in range(top_paths):
            paths[place].append(best[place].labels(merge_repeated))
            found[number, place] = best[place].total
    decoded = [_sparse_rows(rows) for rows in paths]
    parts = [[path[i] for path in decoded] for i in range(3)]
    return *parts, torch.from_numpy(found).to(inputs.device)


def _decoder_batch(ctx: ShapeContext) -> int | None:
    inputs, length = ctx.rank("inputs", 3), ctx.rank("sequence_length", 1)
    batch = inputs[1] if inputs[1] is not None else length[0]
    if None not in (length[0], batch) and length[0] != batch:
        raise RefusedAtBuild(
            f"len(sequence_length) != batch_size: found {length[0]} and {batch}: Dimensions must"
            " be equal",
            at_run="FailedPreconditionError",
        )
    return batch


def _greedy_shape(ctx: ShapeContext) -> list[Dims]:
    return [(None, 2), (None,), (2,), (_decoder_batch(ctx), 1)]


def _beam_shape(ctx: ShapeContext) -> list[Dims]:
    count, batch = ctx.attr("top_paths"), _decoder_batch(ctx)
    every: list[Dims] = [(None, 2)] * count + [(None,)] * count + [(2,)] * count
    return [*every, (batch, count)]


define_op(
    "CTCLoss",
    "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32"
    " -> loss: T, gradient: T",
    attrs=[
        "preprocess_collapse_repeated: bool = False", "ctc_merge_repeated: bool = True",
        "ignore_longer_outputs_than_inputs: bool = False", _TYPES,
    ],
    shape=_loss_shape,
    kernel=_ctc_loss,
    host=("sequence_length",),
    gradient=_loss_grad, on_host=True,
)  # fmt: skip
define_op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64,"
    " decoded_shape: int64, log_probability: T",
    attrs=["merge_repeated: bool = False", _TYPES],
    later=["blank_index: int = -1"],
    shape=_greedy_shape,
    kernel=_greedy,
    host=("sequence_length",),
    no_gradient="decoded labels do not change smoothly",
    on_host=True,
)
define_op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64,"
    " decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T",
    attrs=["beam_width: int >= 1", "top_paths: int >= 1", "merge_repeated: bool = True", _TYPES],
    shape=_beam_shape,
    kernel=_beam_search,
    host=("sequence_length",),
    no_gradient="decoded labels do not change smoothly",
    on_host=True,
)
