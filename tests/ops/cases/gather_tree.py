"""Rows for GatherTree, which TensorFlow 1.15 has in contrib only.

tests/contrib/test_seq2seq_conformance.py holds it, and beam searches with it, against that.
"""

import numpy as np

from tests.ops.opcase import OpCase, const, feed

_CONTRIB = "only contrib's library of TensorFlow 1.15 has it; tests/contrib compares with that"


def _beams(steps, parents, lengths, end_token):
    """Follows one beam at a time."""
    times, batch, width = steps.shape
    beams = np.full_like(steps, end_token)
    for example in range(batch):
        length = min(times, lengths[example])
        for beam in range(width):
            at = beam
            for time in range(length - 1, -1, -1):
                beams[time, example, beam] = steps[time, example, at]
                at = parents[time, example, at]
            found = list(beams[:, example, beam])
            if end_token in found:
                beams[found.index(end_token) :, example, beam] = end_token
    return beams


_RNG = np.random.default_rng(3)
_STEPS, _PARENTS = _RNG.integers(0, 9, (7, 4, 3)), _RNG.integers(0, 3, (7, 4, 3))
_OPTIONS = {"dtypes": ("int32",), "reason": _CONTRIB, "ref": _beams}


def _row(steps, parents, lengths, end_token, **options):
    inputs = [feed(steps), feed(parents), feed(lengths, "int32"), feed(end_token)]
    return OpCase("GatherTree", inputs, {}, **{**_OPTIONS, **options})


CASES = [
    _row(_STEPS, _PARENTS, [7, 5, 0, 9], 20),
    _row(_STEPS, _PARENTS, [7, 7, 7, 1], 4),
    _row(_STEPS[:1], _PARENTS[:1], [1, 1, 1, 1], 0),
    _row(_STEPS[:, :, :1], _PARENTS[:, :, :1] * 0, [3, 2, 7, 4], 1),
    _row(_STEPS[:0], _PARENTS[:0], [0, 0, 0, 0], 1),
    _row(_STEPS[:, :0], _PARENTS[:, :0], np.zeros(0), 1),
    OpCase(
        "GatherTree",
        [const(_STEPS, "T"), const(_PARENTS, "T"), const([7, 7, 7, 7]), const(1, "T")],
        **_OPTIONS,
    ),
    _row(_STEPS, _PARENTS + 3, [7, 7, 7, 7], 1, raises=True, ref=None),
    _row(_STEPS, _PARENTS, [7, 7], 1, raises=True, ref=None),
    _row(_STEPS, _PARENTS[:3], [7, 7, 7, 7], 1, raises=True, ref=None),
]
