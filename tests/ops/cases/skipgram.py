"""Rows of NegTrain without negative samples: with them it draws; tests/ops/test_skipgram.py."""

from tests.ops.opcase import OpCase, const, feed, real, var

_ATTRS = {"vocab_count": [5, 3, 2, 1], "num_negative_samples": 0}


def _train(examples: list[int], labels: list[int], raises: bool = False) -> OpCase:
    return OpCase(
        "NegTrain",
        [
            var(real(4, 3, dtype="float32")), var(real(4, 3, dtype="float32")),
            feed(examples, "int32"), feed(labels, "int32"), const(0.5, "float32"),
        ],
        _ATTRS,
        raises=raises,
    )  # fmt: skip


CASES = [
    _train([0, 1, 2], [3, 2, 1]),
    # Each example sees what those before it have changed.
    _train([1, 1, 1, 0], [2, 2, 3, 2]),
    _train([], []),
    _train([1, 2], [3], raises=True),
]
