"""Rows of connectionist temporal classification, edit distances and buckets."""

import numpy as np

from tests.ops.opcase import FLOAT_DOUBLE, OpCase, const, feed, real, strings

_LABELS = [feed([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], "int64"), feed([0, 1, 2, 2, 0], "int32")]
_LENGTHS = feed([4, 6], "int32")

# TensorFlow adds logarithms in single precision, whatever the type.
_SINGLE = {
    "rtol": 1e-5,
    "atol": 1e-6,
    "tol_reason": "TensorFlow adds logarithms in single precision",
}

_NO_GRAD = {
    "grad": False,
    "grad_reason": "the second output is the gradient; tests/library/nn/test_ctc.py",
}


def _loss(attrs, labels=_LABELS, lengths=_LENGTHS, logits=None, **more):
    inputs = [logits or real(6, 2, 4), *labels, lengths]
    more = more if more.get("raises") else {**_SINGLE, **_NO_GRAD, **more}
    return OpCase("CTCLoss", inputs, attrs, FLOAT_DOUBLE, **more)


_SHORT = feed([1, 6], "int32")


def _distance(hypothesis, truth, normalize=True, sweep=("int64",), **more):
    inputs = [part for h in (hypothesis, truth) for part in h]
    return OpCase("EditDistance", inputs, {"normalize": normalize}, sweep, **more)


def _sparse(indices, values, shape, how=feed):
    return [feed(np.array(indices).reshape(-1, len(shape)), "int64"), values, how(shape, "int64")]


_GUESS = _sparse([[0, 0], [0, 1], [0, 2], [2, 0]], feed([1, 2, 3, 4]), [3, 3])
_TRUTH = _sparse([[0, 0], [0, 1], [1, 0]], feed([1, 3, 5]), [4, 2])
_WORDS = _sparse([[0, 0, 0], [0, 0, 1], [1, 1, 0]], strings(["a", "b", "c"]), [2, 2, 2], const)
_OTHERS = _sparse([[0, 0, 0], [1, 1, 0], [1, 1, 1]], strings(["b", "c", "d"]), [2, 2, 2], const)

CASES = [
    _loss({}),
    _loss({"preprocess_collapse_repeated": True}),
    _loss({"ctc_merge_repeated": False}),
    _loss({"preprocess_collapse_repeated": True, "ctc_merge_repeated": False}),
    _loss({"ignore_longer_outputs_than_inputs": True}, lengths=_SHORT),
    _loss({"ignore_longer_outputs_than_inputs": True}, lengths=feed([4, 3], "int32")),
    _loss({}, lengths=_SHORT, raises=True),
    _loss({}, lengths=feed([0, 6], "int32"), raises=True),
    _loss({"ignore_longer_outputs_than_inputs": True}, lengths=feed([0, 6], "int32")),
    _loss({}, labels=[feed([[1, 0]], "int64"), feed([2], "int32")], raises=True),
    _loss({}, lengths=feed([4, 7], "int32"), raises=True),
    _loss({}, labels=[_LABELS[0], feed([0, 1, 3, 2, 0], "int32")], raises=True),
    *(
        OpCase("CTCGreedyDecoder", [real(6, 3, 4), feed([6, 3, 0], "int32")],
               {"merge_repeated": merge}, FLOAT_DOUBLE, id=f"CTCGreedyDecoder_{merge}")
        for merge in (False, True)
    ),
    OpCase("CTCGreedyDecoder", [real(6, 3, 4), feed([7, 3, 0], "int32")], raises=True),
    *(
        OpCase("CTCBeamSearchDecoder", [real(time, 3, 4, lo=-3, hi=3), feed(lengths, "int32")],
               {"beam_width": width, "top_paths": paths, "merge_repeated": merge}, FLOAT_DOUBLE,
               id=f"CTCBeamSearchDecoder_{n}", **_SINGLE)
        for n, (time, lengths, width, paths, merge) in enumerate([
            (6, [6, 3, 4], 10, 1, True), (6, [6, 3, 4], 10, 3, False), (8, [8, 8, 8], 4, 4, False),
            (12, [12, 11, 10], 25, 2, False), (5, [5, 5, 5], 2, 1, True),
        ])
    ),
    OpCase("CTCBeamSearchDecoder", [real(6, 1, 4), feed([6], "int32")],
           {"beam_width": 2, "top_paths": 3}, raises=True),
    OpCase("CTCGreedyDecoder", [real(0, 2, 4), feed([0, 0], "int32")], raises=True),
    OpCase("CTCBeamSearchDecoder", [real(0, 2, 4), feed([0, 0], "int32")],
           {"beam_width": 2, "top_paths": 1}, raises=True),
    _distance(_GUESS, _TRUTH, sweep=("int64", "int32", "float32", "uint8")),
    _distance(_GUESS, _TRUTH, normalize=False),
    _distance(_WORDS, _OTHERS, sweep=("string",)),
    # Indices that go back: a sequence ends there, and which has a partner depends on the order.
    *(
        _distance(_sparse(indices, feed([1, 2, 3, 4]), [3, 3]), _TRUTH, normalize, oracle="tf1")
        for indices in (
            [[0, 0], [1, 0], [0, 1], [0, 2]], [[2, 0], [1, 1], [0, 0], [0, 1]],
            [[1, 0], [0, 0], [1, 1], [0, 1]],
        )
        for normalize in (True, False)
    ),
    _distance([*_GUESS[:2], feed([3, -1], "int64")], _TRUTH, raises=True),
    _distance(_GUESS, _WORDS[:1] + [feed([1, 2, 3])] + _WORDS[2:], raises=True),
    OpCase("Bucketize", [feed([[-5.0, 0.0, 9.5], [10.0, 100.0, 200.0]])],
           {"boundaries": [0.0, 10.0, 100.0]}, ("float32", "float64", "int32", "int64")),
    OpCase("Bucketize", [real(3)], {"boundaries": []}),
    OpCase("Bucketize", [real(3)], {"boundaries": [2.0, 1.0]}, raises=True),
]  # fmt: skip
