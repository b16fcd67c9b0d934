"""Linear operators answer as those of TensorFlow 1.15: values, static shapes, hints, errors."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.linear_operators import programs
from tests.ops.tolerance import GRADIENT_FACTOR, difference
from tests.peers import TF115, needs

# Questions that TensorFlow 1.15 answers with an error, and we with a value: pattern of
# "operator variant question", and why.  The values themselves are in test_properties.py.
WIDER = {
    r"toeplitz .* diag_part": "it makes a NumPy array of a tensor there",
    r"zeros .* add_to_tensor .*": "it asks a tuple for its rank",
    r"identity .* cholesky": "it takes the batch shape for a known one",
    r"(diag|scaled_identity) .* add_to_tensor .*": "it does not broadcast the batches there",
    r"\w+ \('complex128'.* assert_(non_singular|positive_definite)": "it compares complex numbers",
    r"composition \('complex128'.* log_abs_determinant": "it adds real and complex logarithms",
}
# Where what we know of a shape is less: only a batch that is broadcast.
VAGUER = r"(diag|scaled_identity) .*True\) add_to_tensor .*"
# Where the answers differ on purpose.
OTHER_DTYPES = {
    r"(real_)?circulant .* (adjoint|inverse)": "it forgets the dtype: complex64",
}
OTHER_HINTS = {
    r"scaled_identity complex128 .* inverse": "the inverse of i is not self-adjoint: it is -i",
    r"(real_)?circulant \w+ (real_)?circulant .*": "it multiplies no spectra of two dtypes",
}

# TensorFlow answers all questions in one process, within a minute of an idle machine.
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    needs(TF115)
    path = tmp_path_factory.mktemp("linear_operators") / "found.json"
    command = [str(TF115), str(Path(__file__).with_name("programs.py")), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def as_json(found: Any) -> Any:
    return json.loads(json.dumps(found))


def unlike(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """The questions with other answers."""
    assert ours.keys() == theirs.keys()
    return {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}


@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hints(name: str, dtype: str, theirs: dict[str, Any]) -> None:
    assert not unlike(programs.all_hints(tf, name, dtype), theirs[f"hints {name} {dtype}"])


@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_operators_made_of_one(name: str, dtype: str, theirs: dict[str, Any]) -> None:
    found = unlike(programs.made_of_one(tf, name, dtype), theirs[f"one {name} {dtype}"])
    assert not {key for key in found if not _stated(f"{name} {dtype} {key}", OTHER_HINTS)}, found


@pytest.mark.parametrize("name", programs.NAMES)
def test_operators_made_of_two(name: str, theirs: dict[str, Any]) -> None:
    found = unlike(programs.made_of_two(tf, name, "float64"), theirs[f"two {name}"])
    assert not {key for key in found if not _stated(f"{name} {key}", OTHER_HINTS)}, found


def test_static_shapes(theirs: dict[str, Any]) -> None:
    found = unlike(programs.known_shapes(tf), theirs["shapes"])
    # Blocks are square, so that we know their rows by their columns.
    ours, wanted = found.pop("block_diag [2, 3, None]")
    assert (ours[0], wanted[0]) == ("(5, 2, 6, 6)", "(5, 2, ?, 6)")
    assert not found


def test_operators_of_ones_own(theirs: dict[str, Any]) -> None:
    found = as_json(programs.custom_values(tf))
    for key, value in theirs["custom"].items():
        if isinstance(value, str):
            assert found[key] == value
        else:
            np.testing.assert_allclose(found[key], value, rtol=1e-12, err_msg=key)


def test_errors(theirs: dict[str, Any]) -> None:
    assert not unlike(programs.error_kinds(tf), theirs["errors"])


def _stated(key: str, table: dict[str, str]) -> bool:
    return any(re.fullmatch(pattern, key) for pattern in table)


def compared(ours: Any, theirs: Any, key: str = "") -> str | None:
    """What differs between two answers about values, or None."""
    if not isinstance(theirs, dict) or "value" not in theirs:
        return None if ours == theirs else f"{ours}, expected {theirs}"
    if "value" not in ours:
        return f"{ours}, expected a value"
    if _stated(key, OTHER_DTYPES) and theirs["dtype"] == "complex64":
        # The same numbers, in lower precision and as pairs.
        pairs = np.array(theirs["value"])
        wanted = pairs if ours["dtype"] == "complex128" else pairs[..., 0]
        return difference(wanted, np.array(ours["value"]), "float32")
    if ours["dtype"] != theirs["dtype"]:
        return f"{ours['dtype']}, expected {theirs['dtype']}"
    if not re.fullmatch(VAGUER, key) and not _knows(ours["static"], theirs["static"]):
        return f"static shape {ours['static']}, expected {theirs['static']}"
    kind = "float64" if ours["dtype"] == "complex128" else ours["dtype"]
    values = (np.array(answer["value"]) for answer in (theirs, ours))
    return difference(*values, kind, factor=GRADIENT_FACTOR)


def _knows(ours: list[int | None] | None, theirs: list[int | None] | None) -> bool:
    """Whether our static shape says at least as much."""
    if ours is None or theirs is None:
        return theirs is None
    return len(ours) == len(theirs) and all(b in (a, None) for a, b in zip(ours, theirs))


@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.parametrize("variant", programs.VARIANTS, ids=str)
def test_values(name: str, variant: Any, theirs: dict[str, Any]) -> None:
    wanted = theirs[f"values {name} {variant}"]
    found = as_json(programs.values(tf, name, variant))
    assert found.keys() == wanted.keys()
    for label, answer in wanted.items():
        if label == "static":
            continue  # test_static_shapes; with sizes that are tensors we know more
        key = f"{name} {variant} {label}"
        told = compared(found[label], answer, key)
        if told and "error" in answer and _stated(key, WIDER):
            assert "error" not in found[label], key
            continue
        assert told is None, f"{key}: {told}"
