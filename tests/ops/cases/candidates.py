"""Candidate samplers, accidental hits, and what makes sparse tensors dense."""

from tests.ops.opcase import ALL, FLOATS, OpCase, const, feed, real, strings

DRAWN = (
    "it draws random candidates, by another generator than TensorFlow's;"
    " tests/ops/test_candidates checks the distribution"
)
TRUE = [[1, 2], [2, 5], [0, 9]]


def _sampler(op, unique=True, raises=False, true=TRUE, num_true=2, **attrs):
    return OpCase(
        op, [feed(true, "int64")], {"num_true": num_true, "num_sampled": 4, "unique": unique,
                                    **attrs},
        reason=DRAWN, raises=raises,
    )  # fmt: skip


CASES = [
    *(
        _sampler(op, unique, range_max=10)
        for op in (
            "UniformCandidateSampler",
            "LogUniformCandidateSampler",
            "LearnedUnigramCandidateSampler",
            "ThreadUnsafeUnigramCandidateSampler",
        )
        for unique in (True, False)
    ),
    _sampler("UniformCandidateSampler", range_max=3, raises=True),
    _sampler("LogUniformCandidateSampler", range_max=10, num_true=1, raises=True),
    _sampler("FixedUnigramCandidateSampler", range_max=10, unigrams=[float(i) for i in range(10)]),
    _sampler("FixedUnigramCandidateSampler", False, range_max=10, num_reserved_ids=2,
             distortion=0.75, unigrams=[float(i + 1) for i in range(8)]),
    OpCase("AllCandidateSampler", [feed(TRUE, "int64")],
           {"num_true": 2, "num_sampled": 10, "unique": True}),
    OpCase("ComputeAccidentalHits",
           [feed([[1, 2], [2, 5], [7, 7]], "int64"), feed([7, 2, 9, 2, 1], "int64")],
           {"num_true": 2}),
    OpCase("ComputeAccidentalHits", [feed([[1], [2]], "int64"), feed([3, 4], "int64")],
           {"num_true": 1}),
    OpCase("SparseToDense",
           [feed([[0, 1], [2, 0]], "int64"), const([3, 2], "int64"), real(2), real()],
           {}, ALL),
    OpCase("SparseToDense", [feed([1, 3], "int32"), const([5]), real(2), feed(0)], {}, FLOATS),
    OpCase("SparseToDense", [feed([[1, 0], [0, 1]], "int32"), feed([2, 2], "int32"), real(),
                             feed(1)], {"validate_indices": False}),
    OpCase("SparseToDense", [feed(2, "int32"), const([5]), real(), feed(0)]),
    OpCase("SparseToDense", [feed([[0, 1], [2, 0]], "int64"), const([3, 2], "int64"),
                             strings([b"a", b"b"]), strings(b"-")], {}, ("string",)),
    OpCase("SparseToDense", [feed([3, 1], "int32"), const([5]), real(2), feed(0)], raises=True),
    OpCase("SparseToDense", [feed([1, 5], "int32"), const([5]), real(2), feed(0)], raises=True),
    OpCase("SparseToDense", [feed([1, 2], "int32"), const([5]), real(3), feed(0)], raises=True),
]  # fmt: skip
