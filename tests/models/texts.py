"""Texts for the tests of the language model: one that is made up, and the Penn Treebank's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

_SUBJECTS = ("the dog", "a cat", "my friend", "one bird")
_VERBS = ("sees", "follows", "likes")


def made_up(sentences: int, seed: int) -> str:
    """Sentences of three or four phrases, each on its line; order tells much about the words."""
    random = np.random.RandomState(seed)
    lines = []
    for _ in range(sentences):
        subject, other = (_SUBJECTS[random.randint(len(_SUBJECTS))] for _ in range(2))
        lines.append(f"{subject} {_VERBS[random.randint(len(_VERBS))]} {other}")
    return "\n".join(lines) + "\n"


def penn_treebank(name: str) -> Path:
    """A file of the Penn Treebank, from `PENSTOCK_PTB` or beside this checkout; else skips."""
    given = os.environ.get("PENSTOCK_PTB")
    folders = [Path(given)] if given else [
        folder / "shared" / "data" / "ptb" for folder in Path(__file__).resolve().parents
    ]  # fmt: skip
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    pytest.skip(f"no {name} in shared/data/ptb above this checkout (or in $PENSTOCK_PTB)")
