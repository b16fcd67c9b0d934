"""The random programs, and the judge of programs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.conformance import programs, random_programs, shrink
from tests.conformance.program_jobs import packed


def test_a_seed_is_a_program() -> None:
    texts = [random_programs.source(seed) for seed in range(300)]
    assert texts == [random_programs.source(seed) for seed in range(300)]
    assert len(set(texts)) == 300
    together = "\n".join(texts)
    for part in (
        "tf.cond(", "tf.case(", "tf.while_loop(", "tf.map_fn(", "tf.scan(", "tf.foldl(",
        "tf.foldr(", "tf.TensorArray(", "tf.gradients(", "tf.assign_add(", "back_prop=False",
        "maximum_iterations=", "tf.TensorShape([None])", "use_resource=True", "use_resource=False",
    ):  # fmt: skip
        assert part in together, part
    depth = max(len(m) for m in re.findall(r"^( *)def ", together, re.MULTILINE))
    assert depth >= 12, "functions in functions in functions"


@pytest.mark.parametrize("seed", range(12))
def test_both_ways_agree(seed: int) -> None:
    source, feeds = random_programs.source(seed), random_programs.feeds_of(seed)
    assert shrink.trouble(source, feeds) is None, source


def test_differences_are_seen() -> None:
    one = packed([np.array([1.0, 2.0]), None])
    assert programs.difference(one, packed([np.array([1.0, 2.0]), None])) is None
    assert "[0]" in (programs.difference(one, packed([np.array([1.0, 2.00001]), None])) or "")
    assert programs.difference(one, packed([np.array([1.0, 2.0], "f"), None]))
    assert programs.difference(one, packed([np.array([[1.0, 2.0]]), None]))
    assert programs.difference(one, packed([np.array([1.0, 2.0]), np.array(0.0)]))


def test_a_program_is_cut_down() -> None:
    source = random_programs.source(3)
    cut = shrink.shrink(source, lambda text: "tf.while_loop" in text)
    assert "tf.while_loop" in cut and len(cut) < len(source)
