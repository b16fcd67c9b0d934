"""Random numbers, initializers, and what fits nowhere else."""

from __future__ import annotations

from tests.differential.args import D, I, M, O, P, R, S, call, drawn

SEED = O(1, None, 0)
FLOAT = D("float32", "float64", "float16", "int32", "bfloat16")

CALLS = [
    drawn("random.normal", S([2, 3]), O(0.0, 1, -1.0), O(1.0, 0.0), FLOAT, SEED),
    drawn("random.truncated_normal", S([2, 3]), O(0.0, 1, -1.0), O(1.0, 0.0), FLOAT, SEED),
    drawn("random.uniform", S([2, 3]), O(0, 1.5, -1), M(S(3)), FLOAT, SEED),
    drawn("random.gamma", S([2]), P(3), M(P(3)), D("float32", "float64", "int32"), SEED),
    drawn("random.poisson", P(3), S([2]), D("float32", "float64", "int32"), SEED),
    drawn("random.categorical", R(2, 3), S(4), M(D("int64", "int32", "float32")), SEED),
    drawn("random.multinomial", R(2, 3), S(4), SEED),
    drawn("random.stateless_normal", S([2, 3]), I([1, 2]), dtype=FLOAT),
    drawn("random.stateless_truncated_normal", S([2, 3]), I([1, 2]), dtype=FLOAT),
    drawn("random.stateless_uniform", S([2, 3]), I([1, 2]), O(0, 1), M(S(5)), FLOAT),
    drawn("random.stateless_categorical", R(2, 3), S(4), I([1, 2])),
    drawn("random.shuffle", R(4, 2), SEED),
    call("get_seed", SEED),
    call("set_random_seed", SEED),
    call("tensor_scatter_update", R(4, 3), I([[0], [2]]), R(2, 3)),
    call("tensor_scatter_add", R(4, 3), I([[0], [2]]), R(2, 3)),
    call("tensor_scatter_sub", R(4, 3), I([[0], [2]]), R(2, 3)),
    call("manip.roll", R(3, 4), S([1, 2]), S([0, 1])),
]
