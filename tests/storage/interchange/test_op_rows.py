"""Every row of the op table leaves in both forms and gives what Penstock gives, or is refused.

``DIFFERS`` lists rows whose values differ in ONNX, ``UNLOADED`` those that onnxruntime refuses,
each with its reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.interchange.model import Unportable, of_session
from tests.conformance.jobs import build, run_built
from tests.conformance.peers import to_job
from tests.ops.cases import all_cases
from tests.ops.engine import BACKEND, allowed_dtypes, definition_of
from tests.ops.opcase import OpCase
from tests.ops.tolerance import difference
from tests.storage.interchange.leaving import WAYS as OTHER_WAYS, by_pt2

WAYS = {**OTHER_WAYS, "pt2": by_pt2}

DIFFERS = {
    "ArgMax_5": "of NaN", "ArgMin_5": "of NaN", "ClipByValue_1_edges": "of NaN",
    "Mean_8": "of nothing",
}  # fmt: skip
UNLOADED = {
    "AvgPool_1": "onnxruntime: no channels",
    "MaxPool3D_0": "onnxruntime: nothing is pooled",
    "Pad_2": "onnxruntime: a scalar", "Reshape_4": "onnxruntime: no elements and -1",
    "InTopK_0_sorting": "onnxruntime refuses a class that is not there",
    "SparseSegmentSum_wider": "onnxruntime: half in ScatterND",
}  # fmt: skip
# Of variables: a frozen graph has none of these ops.
_OF_VARIABLES = ("DebugGradientRefIdentity", "IsVariableInitialized", "RefIdentity",
                 "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp",
                 "VariableShape")  # fmt: skip
# Types that NumPy or onnxruntime has not, or for which torch's kernels of one call are missing.
_NO_TYPE = ("bfloat16", "uint16", "uint32", "uint64")


def cases() -> list[OpCase]:
    found = []
    for case in all_cases():
        definition = definition_of(case)
        if definition is None or case.raises or definition.random or definition.writes:
            continue
        if case.id == "Cast_3":  # gives bfloat16, which NumPy has not
            continue
        dtypes = allowed_dtypes(case)
        if dtypes and dtypes[0] not in _NO_TYPE and case.op not in _OF_VARIABLES:
            found.append(case)
    return found


def outcome(case: OpCase, way: str, folder: Path) -> str:
    """Empty, or what is wrong, be it an error; ``refused`` where the row cannot leave."""
    try:
        return _leaves(case, way, folder)
    except Exception as error:  # of which torch has many kinds
        return f"{type(error).__name__}: {error}"[:200]


def _leaves(case: OpCase, way: str, folder: Path) -> str:
    """Empty, or what is wrong; ``refused`` where the row cannot leave."""
    bound = case.bind(allowed_dtypes(case)[0])
    with tf.Graph().as_default(), tf.Session() as session:
        built = build(BACKEND, to_job(bound))
        given = run_built(BACKEND, session, built)
        wanted = [(t, n, v) for t, (n, v) in zip(built.op.outputs, given) if v is not None]
        if not wanted:
            return "refused"
        inputs = {f"in{i}": tensor for i, tensor in enumerate(built.feeds)}
        outputs = {f"out{i}": tensor for i, (tensor, _, _) in enumerate(wanted)}
        try:
            model = of_session(session, inputs, outputs)
            found = WAYS[way](model, folder, {k: built.feeds[t] for k, t in inputs.items()})
        except Unportable:
            return "refused"
    for (_, name, want), have in zip(wanted, found, strict=True):
        wrong = difference(want, np.asarray(have), name, rtol=case.rtol, atol=case.atol)
        if wrong is not None:
            return wrong
    return ""


@pytest.mark.long
@pytest.mark.timeout(900)
def test_rows_leave_as_python(tmp_path: Path) -> None:
    said = {}
    for case in cases():
        said[case.id] = outcome(case, "python", tmp_path)
    assert {name: wrong for name, wrong in said.items() if wrong not in ("", "refused")} == {}
    assert sum(not wrong for wrong in said.values()) > 1700


@pytest.mark.long
@pytest.mark.timeout(900)
def test_rows_leave_as_onnx(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    wrong: dict[str, Any] = {}
    done = 0
    for case in cases():
        try:
            said = _leaves(case, "onnx", tmp_path)
        except Exception as error:  # onnxruntime has many classes of them
            if "NOT_IMPLEMENTED" not in str(error) and "implementation" not in str(error):
                wrong[case.id] = str(error)[:200]
            continue
        done += not said
        if said not in ("", "refused"):
            wrong[case.id] = said
    assert set(wrong) == {*DIFFERS, *UNLOADED}, wrong
    assert done > 850
