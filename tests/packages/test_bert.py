"""BERT over Penstock: values as over TensorFlow 1.15, fine-tuning, and checkpoints both ways."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run, run_115
from tests.peers import TF115

pytestmark = pytest.mark.long
SCRIPT = "bert_models.py"


@cache
def _answers() -> Any:
    return run(SCRIPT, "bert-tensorflow")


@pytest.mark.parametrize("part", sorted(expected(SCRIPT)))
def test_models_are_as_under_tensorflow(part: str) -> None:
    """Outputs and gradients, steps of the optimizer, features of texts, what fine-tuning does."""
    package("bert-tensorflow")
    assert_alike(_answers()[part], expected(SCRIPT)[part], 2e-5, part)


def test_fine_tuning_learns() -> None:
    package("bert-tensorflow")
    assert _answers()["fine_tuning"]["falls"]
    assert _answers()["fine_tuning"]["learns"]


@pytest.mark.skipif(not TF115.exists(), reason="TensorFlow 1.15 is not here: make venv-tf115")
@pytest.mark.parametrize(
    ("write", "read"), [(run, run_115), (run_115, run)], ids=["to TensorFlow", "from TensorFlow"]
)
def test_a_checkpoint_goes_both_ways(
    write: Callable[..., Any],
    read: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package("bert-tensorflow")
    monkeypatch.setenv("BERT_TO", str(tmp_path))
    written = write("bert_checkpoint.py", "bert-tensorflow")
    monkeypatch.setenv("BERT_FROM", str(tmp_path))
    assert_alike(read("bert_checkpoint.py", "bert-tensorflow"), written, 1e-5)
