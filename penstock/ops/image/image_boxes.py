"""Non-maximum suppression: of boxes that overlap much, the one with the best score stays.

Boxes are picked in the order of their scores (of equal ones the first); each takes the boxes that
it covers out of what is left, in one step over all of them.  The soft form lowers their scores
instead.  As in TensorFlow 1.15 (and not in 2) an overlap of just the threshold is too much; other
than there, a box that has no area is not picked over and over again.  The loops are over the boxes
picked, on the host: which is picked next depends on the last one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show

_Similarity = Callable[[int, np.ndarray], np.ndarray]


# ---- kernels -------------------------------------------------------------------------------


def _overlap(boxes: np.ndarray) -> _Similarity:
    """Intersection over union of one box with others; corners may be given in any order."""
    top, bottom = np.minimum(boxes[:, 0], boxes[:, 2]), np.maximum(boxes[:, 0], boxes[:, 2])
    left, right = np.minimum(boxes[:, 1], boxes[:, 3]), np.maximum(boxes[:, 1], boxes[:, 3])
    area = (bottom - top) * (right - left)

    def of(one: int, others: np.ndarray) -> np.ndarray:
        if area[one] <= 0:
            return np.zeros(len(others), boxes.dtype)
        height = np.minimum(bottom[one], bottom[others]) - np.maximum(top[one], top[others])
        width = np.minimum(right[one], right[others]) - np.maximum(left[one], left[others])
        both = np.maximum(height, 0) * np.maximum(width, 0)
        either = area[one] + area[others] - both
        return np.where(area[others] > 0, both / np.where(either > 0, either, 1), 0)

    return of


def _picked(
    scores: np.ndarray, limit: int, threshold: float, least: float, similar: _Similarity,
    just_enough: bool = True,
) -> np.ndarray:  # fmt: skip
    """Numbers of the boxes that stay, best first; ``just_enough``: the threshold is too much."""
    too_much = operator.ge if just_enough else operator.gt
    order = np.argsort(-scores, kind="stable")
    left = order[scores[order] > least]
    found: list[int] = []
    while len(left) and len(found) < limit:
        found.append(int(left[0]))
        rest = left[1:]
        left = rest[~too_much(similar(found[-1], rest), threshold)]
    return np.array(found, np.int32)


def _softly_picked(
    scores: np.ndarray, limit: int, threshold: float, least: float, sigma: float,
    similar: _Similarity,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Numbers and lowered scores of the boxes that stay, best first."""
    scores = scores.copy()
    left = np.flatnonzero(scores > least)
    found: list[int] = []
    while len(left) and len(found) < limit:
        best = int(np.argmax(scores[left]))
        found.append(int(left[best]))
        left = np.delete(left, best)
        near = similar(found[-1], left)
        scores[left] *= np.exp(-0.5 / sigma * near * near)
        left = left[(scores[left] > least) & ~(near >= threshold)]
    return np.array(found, np.int32), scores[found]


def _check(boxes: Any, scores: Any, limit: int, threshold: float) -> None:
    problem = None
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        problem = f"boxes must be 2-D with 4 columns; found shape {list(boxes.shape)}"
    elif scores.dim() != 1 or scores.shape[0] != boxes.shape[0]:
        problem = (
            f"scores has incompatible shape {list(scores.shape)}; allowed is [{boxes.shape[0]}]"
        )
    elif not 0 <= threshold <= 1:
        problem = f"iou_threshold must be in [0, 1]; found {threshold}"
    if problem is not None:
        raise errors.invalid(problem)


def _on_host(value: Any) -> np.ndarray:
    return value.cpu().numpy()


def _suppressed(boxes: Any, scores: Any, limit: int, threshold: float, least: float) -> Any:
    _check(boxes, scores, limit, threshold)
    limit = limit if limit >= 0 else len(scores)  # as TensorFlow takes a negative number
    found = _picked(_on_host(scores), limit, threshold, least, _overlap(_on_host(boxes)))
    return torch.from_numpy(found).to(boxes.device)


def _v1(boxes: Any, scores: Any, max_output_size: int, iou_threshold: float) -> Any:
    return _suppressed(boxes, scores, max_output_size, iou_threshold, -np.inf)


def _v3(
    boxes: Any, scores: Any, max_output_size: int, iou_threshold: float, score_threshold: float
) -> Any:
    return _suppressed(boxes, scores, max_output_size, iou_threshold, score_threshold)


def _padded(values: Any, length: int) -> Any:
    return torch.nn.functional.pad(values, (0, max(length - values.shape[0], 0)))


def _v4(
    boxes: Any, scores: Any, max_output_size: int, iou_threshold: float, score_threshold: float,
    pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    found = _suppressed(boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = torch.tensor(found.shape[0], dtype=torch.int32, device=found.device)
    return (_padded(found, max_output_size) if pad_to_max_output_size else found), count


def _v5(
    boxes: Any, scores: Any, max_output_size: int, iou_threshold: float, score_threshold: float,
    soft_nms_sigma: float, pad_to_max_output_size: bool,
) -> Any:  # fmt: skip
    _check(boxes, scores, max_output_size, iou_threshold)
    if not soft_nms_sigma >= 0:
        raise errors.invalid(f"soft_nms_sigma must not be negative; found {soft_nms_sigma}")
    given, similar = _on_host(scores), _overlap(_on_host(boxes))
    most = max_output_size if max_output_size >= 0 else len(given)
    limits = (most, iou_threshold, score_threshold)
    if soft_nms_sigma > 0:
        index, lowered = _softly_picked(given, *limits, soft_nms_sigma, similar)
    else:
        index = _picked(given, *limits, similar)
        lowered = given[index]
    numbers = torch.from_numpy(index).to(boxes.device)
    values = torch.from_numpy(lowered).to(boxes.device, scores.dtype)
    count = torch.tensor(len(index), dtype=torch.int32, device=boxes.device)
    if pad_to_max_output_size:
        numbers, values = (_padded(v, max_output_size) for v in (numbers, values))
    return numbers, values, count


def _with_overlaps(
    overlaps: Any, scores: Any, max_output_size: int, overlap_threshold: float,
    score_threshold: float,
) -> Any:  # fmt: skip
    if overlaps.dim() != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise errors.invalid(f"overlaps must be square; found shape {list(overlaps.shape)}")
    if scores.dim() != 1 or scores.shape[0] != overlaps.shape[0]:
        raise errors.invalid(f"scores has incompatible shape {list(scores.shape)}")
    table = _on_host(overlaps)
    found = _picked(
        _on_host(scores), max_output_size if max_output_size >= 0 else len(scores),
        overlap_threshold, score_threshold,
        lambda one, others: table[others, one],
    )  # fmt: skip
    return torch.from_numpy(found).to(overlaps.device)


def _best_of_classes(
    boxes: np.ndarray, scores: np.ndarray, limit: int, threshold: float, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, scores and classes that stay of one image, best first."""
    shared = boxes.shape[1] == 1
    kept = [(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))]
    for number in range(scores.shape[1]):
        mine, given = boxes[:, 0 if shared else number], scores[:, number]
        index = _picked(given, limit, threshold, least, _overlap(mine), just_enough=False)
        kept.append((mine[index], given[index], np.full(len(index), number, np.float32)))
    found, values, classes = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    order = np.argsort(-values, kind="stable")
    return found[order], values[order], classes[order]


def _combined(
    boxes: Any, scores: Any, max_output_size_per_class: int, max_total_size: int,
    iou_threshold: float, score_threshold: float, pad_per_class: bool, clip_boxes: bool,
) -> Any:  # fmt: skip
    _check_combined(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold)
    batch, classes = scores.shape[0], scores.shape[2]
    total = max_total_size
    if pad_per_class:
        total = min(total, max_output_size_per_class * classes)
    made = [np.zeros(s, np.float32) for s in ((batch, total, 4), (batch, total), (batch, total))]
    valid = np.zeros(batch, np.int32)
    every_box, every_score = _on_host(boxes), _on_host(scores)
    for image in range(batch):
        kept = _best_of_classes(
            every_box[image], every_score[image], max_output_size_per_class, iou_threshold,
            score_threshold,
        )  # fmt: skip
        valid[image] = count = min(total, len(kept[1]))
        for into, values in zip(made, kept, strict=True):
            into[image, :count] = values[:count]
    if clip_boxes:
        made[0].clip(0, 1, out=made[0])
    return tuple(torch.from_numpy(array).to(boxes.device) for array in (*made, valid))


def _check_combined(boxes: Any, scores: Any, per_class: int, total: int, threshold: float) -> None:
    problem = None
    if boxes.dim() != 4 or boxes.shape[3] != 4:
        problem = f"boxes must be [batch, boxes, classes or 1, 4]; found {list(boxes.shape)}"
    elif scores.dim() != 3 or scores.shape[:2] != boxes.shape[:2]:
        problem = f"scores has incompatible shape {list(scores.shape)}"
    elif boxes.shape[2] not in (1, scores.shape[2]):
        problem = (
            f"third dimension of boxes must be either 1 or num classes ({scores.shape[2]}); found"
            f" {boxes.shape[2]}"
        )
    elif per_class < 0:
        problem = f"max_size_per_class must not be negative; found {per_class}"
    elif total <= 0:
        problem = f"max_total_size must be > 0; found {total}"
    elif not 0 <= threshold <= 1:
        problem = f"iou_threshold must be in [0, 1]; found {threshold}"
    if problem is not None:
        raise errors.invalid(problem)


# ---- shape rules ---------------------------------------------------------------------------


def _check_static(ctx: ShapeContext) -> None:
    boxes, scores = ctx.rank("boxes", 2), ctx.rank("scores", 1)
    _check_scalars(ctx, ("boxes", "scores"))
    if None not in (boxes[0], scores[0]) and boxes[0] != scores[0]:
        raise ValueError(f"scores must have one entry a box; found {scores[0]} for {boxes[0]}")
    if boxes[1] not in (None, 4):
        raise ValueError(f"boxes must have 4 columns; found {boxes[1]}")


def _some(ctx: ShapeContext) -> Dims:
    _check_static(ctx)
    return (None,)


def _length(ctx: ShapeContext) -> int | None:
    """How many entries a padded output has."""
    limit = ctx.value("max_output_size") if ctx.attr("pad_to_max_output_size") else None
    return None if limit is None else int(limit)


def _some_counted(ctx: ShapeContext) -> list[Dims]:
    _check_static(ctx)
    return [(_length(ctx),), ()]


def _some_scored(ctx: ShapeContext) -> list[Dims]:
    _check_static(ctx)
    return [(_length(ctx),), (_length(ctx),), ()]


def _check_scalars(ctx: ShapeContext, tensors: tuple[str, str]) -> None:
    for name in ctx.op.inputs_by_name():
        if name not in tensors:
            ctx.rank(name, 0)


def _some_of_table(ctx: ShapeContext) -> Dims:
    _check_scalars(ctx, ("overlaps", "scores"))
    overlaps, scores = ctx.rank("overlaps", 2), ctx.rank("scores", 1)
    # Where the number of rows is not known, TensorFlow compares nothing.
    for other in (overlaps[1], scores[0]):
        if None not in (overlaps[0], other) and overlaps[0] != other:
            raise ValueError(
                f"Dimensions must be equal, but are {overlaps[0]} and {other}: overlaps must be"
                f" [boxes, boxes] and scores [boxes]; found {overlaps} and {scores}"
            )
    return (None,)


def _combined_shape(ctx: ShapeContext) -> list[Dims]:
    boxes, scores = ctx.rank("boxes", 4), ctx.rank("scores", 3)
    _check_scalars(ctx, ("boxes", "scores"))
    for one, other in zip(boxes[:2], scores[:2], strict=True):
        if None not in (one, other) and one != other:
            raise ValueError(
                f"Dimensions must be equal, but are {one} and {other}: boxes has shape"
                f" {show(boxes)}, scores {show(scores)}"
            )
    batch = boxes[0] if boxes[0] is not None else scores[0]
    if boxes[3] not in (None, 4):
        raise ValueError(f"boxes must have 4 coordinates; found {boxes[3]}")
    if None not in (boxes[2], scores[2]) and boxes[2] not in (1, scores[2]):
        raise ValueError(
            f"third dimension of boxes must be either 1 or num classes; found {boxes[2]} for"
            f" {scores[2]}"
        )
    size, total = ctx.value("max_output_size_per_class"), ctx.value("max_total_size")
    for number, value in ((2, size), (3, total)):
        if value is not None and value < 0:
            raise ValueError(
                f"Dimension size, given by scalar input {number}, must be non-negative but is"
                f" {value}"
            )
    length = None if total is None else int(total)
    if ctx.attr("pad_per_class"):
        known = None not in (size, length, scores[2])
        length = min(int(total), int(size) * scores[2]) if known else None  # type: ignore[arg-type]
    return [(batch, length, 4), (batch, length), (batch, length), (batch,)]


# ---- definitions ---------------------------------------------------------------------------

_T = "T: {half, float} = float"
_THRESHOLD = "T_threshold: {half, float} = float"
_PAD = "pad_to_max_output_size: bool = False"
_LIMITS = "max_output_size: int32, iou_threshold: {}, score_threshold: {}"
_V3 = "boxes: T, scores: T, " + _LIMITS.format("T_threshold", "T_threshold")
_V5 = "boxes: T, scores: T, " + _LIMITS.format("T", "T") + ", soft_nms_sigma: T"
_PICKED = "selected_indices: int32"

for _name, _inputs, _outputs, _attrs, _rule, _kernel, _host in (
    (
        "NonMaxSuppression", "boxes: float, scores: float, max_output_size: int32", _PICKED,
        ["iou_threshold: float = 0.5"], _some, _v1, ("max_output_size",),
    ),
    (
        "NonMaxSuppressionV2",
        "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold", _PICKED,
        [_T, _THRESHOLD], _some, _v1, ("max_output_size", "iou_threshold"),
    ),
    (
        "NonMaxSuppressionV3", _V3, _PICKED, [_T, _THRESHOLD], _some, _v3,
        ("max_output_size", "iou_threshold", "score_threshold"),
    ),
    (
        "NonMaxSuppressionV4", _V3, f"{_PICKED}, valid_outputs: int32", [_T, _THRESHOLD, _PAD],
        _some_counted, _v4, ("max_output_size", "iou_threshold", "score_threshold"),
    ),
    (
        "NonMaxSuppressionV5", _V5, f"{_PICKED}, selected_scores: T, valid_outputs: int32",
        [_T, _PAD], _some_scored, _v5,
        ("max_output_size", "iou_threshold", "score_threshold", "soft_nms_sigma"),
    ),
    (
        "NonMaxSuppressionWithOverlaps",
        "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float,"
        " score_threshold: float",
        _PICKED, [], _some_of_table, _with_overlaps,
        ("max_output_size", "overlap_threshold", "score_threshold"),
    ),
    (
        "CombinedNonMaxSuppression",
        "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32,"
        " iou_threshold: float, score_threshold: float",
        "nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, valid_detections: int32",
        ["pad_per_class: bool = False", "clip_boxes: bool = True"], _combined_shape, _combined,
        ("max_output_size_per_class", "max_total_size", "iou_threshold", "score_threshold"),
    ),
):  # fmt: skip
    define_op(
        _name,
        f"{_inputs} -> {_outputs}",
        attrs=_attrs,
        shape=_rule,
        kernel=_kernel,
        host=_host,
        no_gradient="which boxes stay does not change smoothly",
    )

# ---- public functions ----------------------------------------------------------------------


def _thresholds(**values: Any) -> list[Tensor]:
    return [convert_to_tensor(value, name=name) for name, value in values.items()]


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers of the boxes that stay, best first.

    Args:
      boxes: [boxes, 4]: y1, x1, y2, x2 of two opposite corners; half or float32.
      scores: [boxes].
      max_output_size: how many stay at most.
      iou_threshold: boxes that overlap a better one by this or more (intersection over union) go.
      score_threshold: boxes with a score no greater go.

    Returns:
      int32 [as many as stay].
    """
    with name_scope(name, "non_max_suppression"):
        limits = _thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold)
        return make("NonMaxSuppressionV3", boxes, scores, max_output_size, *limits)


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """As ``non_max_suppression``, with scores, which overlaps may lower instead.

    Args:
      boxes, scores, max_output_size, iou_threshold, score_threshold, name: see there.
      soft_nms_sigma: above 0, a score is multiplied by ``exp(-overlap ** 2 / (2 * sigma))`` for
        each better box.

    Returns:
      int32 [as many as stay]: their numbers; and their scores.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        limits = _thresholds(
            iou_threshold=iou_threshold, score_threshold=score_threshold,
            soft_nms_sigma=soft_nms_sigma,
        )  # fmt: skip
        made = make(
            "NonMaxSuppressionV5", boxes, scores, max_output_size, *limits,
            pad_to_max_output_size=False,
        )  # fmt: skip
        return made[0], made[1]


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """As ``non_max_suppression``, filled up with zeros to ``max_output_size``.

    Args:
      boxes, scores, max_output_size, iou_threshold, score_threshold, name: see there.
      pad_to_max_output_size: whether it is filled up.

    Returns:
      A pair: int32 numbers of boxes, and how many of them count.
    """
    with name_scope(name, "non_max_suppression_padded"):
        limits = _thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold)
        return make(
            "NonMaxSuppressionV4", boxes, scores, max_output_size, *limits,
            pad_to_max_output_size=pad_to_max_output_size,
        )  # fmt: skip


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """As ``non_max_suppression``, for any measure of overlap.

    Args:
      overlaps: float32 [boxes, boxes].
      scores: float32 [boxes].
      max_output_size: how many stay at most.
      overlap_threshold: boxes that overlap a better one by this or more go.
      score_threshold: boxes with a score no greater go.

    Returns:
      int32 [as many as stay].
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        (threshold,) = _thresholds(overlap_threshold=overlap_threshold)
        return make(
            "NonMaxSuppressionWithOverlaps", overlaps, scores, max_output_size, threshold,
            score_threshold,
        )  # fmt: skip


def combined_non_max_suppression(
    boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Non-maximum suppression for each class of each image.

    Args:
      boxes: float32 [batch, boxes, classes or 1, 4].
      scores: float32 [batch, boxes, classes].
      max_output_size_per_class: how many stay at most of one class.
      max_total_size: how many stay at most of one image.
      iou_threshold, score_threshold: as for ``non_max_suppression``.
      pad_per_class: whether outputs are no longer than the classes can fill.
      clip_boxes: whether boxes are cut to [0, 1].

    Returns:
      Boxes, scores, classes (float32), best first and filled up with zeros, and how many count.
    """
    with name_scope(name, "combined_non_max_suppression"):
        limits = [
            convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold"),
            convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold"),
        ]
        return make(
            "CombinedNonMaxSuppression", boxes, scores, max_output_size_per_class, max_total_size,
            *limits, pad_per_class=pad_per_class, clip_boxes=clip_boxes,
        )  # fmt: skip
