"""Candidate samplers: few classes drawn in place of all, for losses over large vocabularies.

The drawing is done by the samplers of ``penstock.engine.resources.sampler``, one private to
(session, node); the ops here are rows over them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import sampler
from penstock.engine.resources.stream import Stream
from penstock.foundation.base import errors
from penstock.foundation.base.docstrings import documented_as, named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.random.random import SEEDS, seeds

_MISS = float(np.finfo(np.float32).min)


def _stream(attrs: Any) -> Stream:
    return Stream(attrs["seed"], attrs["seed2"])


def _reported(factory: Any) -> Any:
    """``factory`` with its complaints about attrs as errors of the op, as when a kernel fails."""

    def state(attrs: Any, name: str) -> sampler.Sampler:
        try:
            made: sampler.Sampler = factory(attrs, name)
        except (ValueError, OSError) as error:
            raise errors.invalid(f"{name!r}: {error}") from error
        return made

    return state


def _plain(kind: Any) -> Any:
    def state(attrs: Any, name: str) -> sampler.Sampler:
        return kind(_stream(attrs), attrs["range_max"], attrs["num_sampled"], attrs["unique"])

    return state


def _all_classes(attrs: Any, name: str) -> sampler.Sampler:
    # The class count is num_sampled: every class is a candidate.
    return sampler.AllSampler(_stream(attrs), attrs["num_sampled"], attrs["num_sampled"], True)


def _fixed(attrs: Any, name: str) -> sampler.Sampler:
    weights = _weights(attrs)
    if len(weights) != attrs["range_max"]:
        raise ValueError(
            f"range_max is {attrs['range_max']}, but {len(weights)} class(es) are described"
        )
    return sampler.FixedUnigramSampler(
        _stream(attrs), weights, attrs["num_sampled"], attrs["unique"]
    )


def _weights(attrs: Any) -> list[float]:
    file, unigrams = attrs["vocab_file"], attrs["unigrams"]
    if bool(file) == bool(unigrams):
        raise ValueError("exactly one of vocab_file and unigrams must be given")
    if file:
        # A line a class; its last column is the weight.
        with open(file, newline="", encoding="utf-8") as lines:
            unigrams = [float(row[-1]) for row in csv.reader(lines) if row]
    powered = [float(w) ** attrs["distortion"] for w in unigrams]
    everything = [0.0] * attrs["num_reserved_ids"] + powered
    return everything[attrs["shard"] :: attrs["num_shards"]]


def _sample(true_classes: torch.Tensor, num_true: int, state: sampler.Sampler) -> Any:
    if true_classes.dim() != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"true_classes must have shape [batch, {num_true}] (num_true is {num_true}); found"
            f" {list(true_classes.shape)}"
        )
    classes = true_classes.cpu().numpy()
    if isinstance(state, sampler.UniformSampler | sampler.LogUniformSampler):
        _check_range(classes, state.range_max)
    chosen, expected, counts = (torch.from_numpy(part) for part in state.batch(classes))
    if true_classes.is_cpu:
        return chosen, expected, counts
    return tuple(part.to(true_classes.device) for part in (chosen, expected, counts))


def _check_range(classes: np.ndarray, range_max: int) -> None:
    # As unsigned numbers negative ones are the largest, so that one pass finds both kinds.
    if classes.size and classes.view(np.uint64).max() >= range_max:
        outside = classes[(classes < 0) | (classes >= range_max)]
        raise ValueError(f"true_classes holds {outside[0]}, which is not in [0, {range_max})")


def _sample_shape(ctx: ShapeContext) -> list[Any]:
    batch = ctx.rank("true_classes", 2)[0]
    size = ctx.attr("num_sampled")
    return [(size,), (batch, ctx.attr("num_true")), (size,)]


_RANGE = ["range_max: int >= 1"]
_FIXED = [
    *_RANGE,
    "vocab_file: string = ''",
    "distortion: float = 1.0",
    "num_reserved_ids: int = 0",
    "num_shards: int >= 1 = 1",
    "shard: int >= 0 = 0",
    "unigrams: list(float) = []",
]

for _name, _attrs, _state in (
    ("UniformCandidateSampler", _RANGE, _plain(sampler.UniformSampler)),
    ("LogUniformCandidateSampler", _RANGE, _plain(sampler.LogUniformSampler)),
    ("LearnedUnigramCandidateSampler", _RANGE, _plain(sampler.LearnedUnigramSampler)),
    ("ThreadUnsafeUnigramCandidateSampler", _RANGE, _plain(sampler.LearnedUnigramSampler)),
    ("FixedUnigramCandidateSampler", _FIXED, _fixed),
    ("AllCandidateSampler", [], _all_classes),
):
    define_op(
        _name,
        "true_classes: int64"
        " -> sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float",
        attrs=["num_true: int >= 1", "num_sampled: int >= 1", "unique: bool", *_attrs, *SEEDS],
        shape=_sample_shape,
        kernel=_sample,
        no_gradient="candidates are drawn, not computed from the true classes",
        state=_reported(_state),
        random=True,
        stateful=True,
    )


def _hits(true_classes: torch.Tensor, sampled_candidates: torch.Tensor, num_true: int) -> Any:
    if true_classes.dim() != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"true_classes must have shape [batch, {num_true}]; found {list(true_classes.shape)}"
        )
    # Of a class that was sampled several times, the last place counts.
    place = {c: i for i, c in enumerate(sampled_candidates.tolist())}
    flat = true_classes.reshape(-1).tolist()
    found = [(i // num_true, place[c]) for i, c in enumerate(flat) if c in place]
    device = true_classes.device
    rows = torch.tensor([row for row, _ in found], dtype=torch.int32, device=device)
    places = torch.tensor([p for _, p in found], dtype=torch.int64, device=device)
    return rows, places, torch.full((len(found),), _MISS, device=device)


def _hits_shape(ctx: ShapeContext) -> list[Any]:
    width, wanted = ctx.rank("true_classes", 2)[1], ctx.attr("num_true")
    if width not in (None, wanted):
        raise ValueError(
            f"Dimension must be {wanted} but is {width}: true_classes must have num_true columns"
        )
    ctx.rank("sampled_candidates", 1)
    return [(None,), (None,), (None,)]


define_op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float",
    attrs=["num_true: int", *SEEDS],
    shape=_hits_shape,
    kernel=_hits,
    no_gradient="it compares integers",
)


# ---- public functions ------------------------------------------------------------------------

Candidates = tuple[Tensor, Tensor, Tensor]


def _sampler(name: str, op_type: str, doc: str, *others: Callable) -> Callable[..., Candidates]:
    """The public function of a sampler that is told nothing but the number of classes."""

    @named(name, doc, *others)
    def sample(
        true_classes: Any,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> Candidates:
        return _draw(op_type, true_classes, num_true, num_sampled, unique, seed, name, range_max)

    return sample


uniform_candidate_sampler = _sampler(
    "uniform_candidate_sampler",
    "UniformCandidateSampler",
    """Candidates that are equally likely.

    Args:
      true_classes: int64 ``[batch, num_true]``, the target classes.
      num_true: how many target classes an example has.
      num_sampled: how many candidates to draw for the whole batch.
      unique: whether all candidates of a batch differ.
      range_max: how many classes there are.
      seed: op-level seed.

    Returns:
      Candidates ``[num_sampled]`` (int64), expected counts of the true classes
      ``[batch, num_true]`` and of the candidates ``[num_sampled]`` (float32).
    """,
)
log_uniform_candidate_sampler = _sampler(
    "log_uniform_candidate_sampler",
    "LogUniformCandidateSampler",
    """Candidates by ``P(k) = log((k + 2) / (k + 1)) / log(range_max + 1)``.

    It fits vocabularies sorted by decreasing frequency.
    """,
    uniform_candidate_sampler,
)
learned_unigram_candidate_sampler = _sampler(
    "learned_unigram_candidate_sampler",
    "LearnedUnigramCandidateSampler",
    "Candidates as likely as they were true classes in earlier batches of the session.",
    uniform_candidate_sampler,
)


@documented_as(uniform_candidate_sampler)
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Candidates by given weights.

    Args:
      vocab_file: comma-separated file whose last column is the weight, a line a class.
      distortion: power that each weight is raised to.
      num_reserved_ids: classes before the first described one; they are never drawn.
      num_shards, shard: draw only among every ``num_shards``-th class from ``shard`` on.
      unigrams: the weights, in place of ``vocab_file``.
    """
    return _draw(
        "FixedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name,
        range_max, vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids,
        num_shards=num_shards, shard=shard, unigrams=unigrams,
    )  # fmt: skip


@documented_as(uniform_candidate_sampler)
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Every class as a candidate, to compare with the true loss; ``num_sampled`` classes exist."""
    return _draw("AllCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name)


def _draw(
    op_type: str, true_classes: Any, num_true: int, num_sampled: int, unique: bool,
    seed: int | None, name: str | None, range_max: int | None = None, **attrs: Any,
) -> Candidates:  # fmt: skip
    if range_max is not None:
        attrs["range_max"] = range_max
    return make(
        op_type, true_classes, name=name, num_true=num_true, num_sampled=num_sampled,
        unique=unique, **attrs, **seeds(seed),
    )  # fmt: skip


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Where a candidate is one of the true classes of an example.

    Args:
      true_classes: int64 ``[batch, num_true]``.
      sampled_candidates: int64 ``[num_sampled]``.
      num_true: how many target classes an example has.
      seed: unused.

    Returns:
      For each hit, the example (int32), the place among the candidates (int64), and the lowest
      float32, to be added to that candidate's logit.
    """
    return make(
        "ComputeAccidentalHits", true_classes, sampled_candidates, name=name, num_true=num_true,
        **seeds(seed),
    )  # fmt: skip
