"""Rows of crossed columns."""

from __future__ import annotations

from tests.ops.opcase import OpCase, feed, strings

_PLACES = feed([[0, 0], [1, 0], [1, 1]], "int64")
_OTHERS = feed([[1, 0], [2, 0], [2, 2]], "int64")
_WORDS = strings(["a", "b", "c"])
_NUMBERS = feed([3, -1, 2], "int64")
_SIZE = feed([3, 3], "int64")
_DENSE = strings([["x", "y"], ["z", "w"], ["u", "v"]])
_CODES = feed([[7], [9], [11]], "int64")


def _crossed(sparse, dense, *, raises=False, **attrs):
    hashed = "num_buckets" in attrs
    numbers = any(v is _NUMBERS for _, v in sparse) or any(d is _CODES for d in dense)
    more = {
        "hashed_output": hashed, "num_buckets": 0, "hash_key": 0xDECAFCAFFE, **attrs,
        "out_type": "int64" if hashed else "string",
        "internal_type": "int64" if hashed and numbers else "string",
    }  # fmt: skip
    inputs = [[p for p, _ in sparse], [v for _, v in sparse], [_SIZE] * len(sparse), dense]
    # Later versions refuse strings made of numbers.
    oracle = "tf1" if numbers and not hashed else "tf2"
    return OpCase("SparseCross", inputs, more, ("string",), raises=raises, oracle=oracle)


def _feature_crossed(sparse, dense, **attrs):
    """The same by the op types of contrib, with TensorFlow 1.15's values as reference."""
    row = _crossed(sparse, dense, **attrs)
    return OpCase(
        "SparseFeatureCross" + ("V2" if "hash_key" in attrs else ""), row.inputs,
        {k: v for k, v in row.attrs.items() if k != "hash_key" or "hash_key" in attrs},
        row.dtypes, oracle="tf1",
    )  # fmt: skip


_BOTH = [(_PLACES, _WORDS), (_OTHERS, _WORDS)]
_MIXED = [(_PLACES, _WORDS), (_PLACES, _NUMBERS)]

CASES = [
    *(
        _crossed(sparse, dense, **attrs)
        for attrs in ({}, {"num_buckets": 0}, {"num_buckets": 100, "hash_key": 5})
        for sparse, dense in ((_BOTH, []), (_BOTH, [_DENSE]), (_MIXED, [_CODES]), ([], [_DENSE]))
    ),
    _crossed(_BOTH, [strings([["x"]])], raises=True),
    # What comes after a row that is not there, or after a later one, is left out.
    _crossed([(feed([[0, 0], [3, 0], [1, 1]], "int64"), _WORDS)], [_DENSE]),
    _crossed([(feed([[1, 0], [0, 0], [2, 1]], "int64"), _WORDS)], [_DENSE]),
    *(
        _feature_crossed(sparse, dense, **attrs)
        for attrs in ({}, {"num_buckets": 0}, {"num_buckets": 20, "hash_key": 5})
        for sparse, dense in ((_BOTH, [_DENSE]), (_MIXED, [_CODES]))
    ),
]
