"""Op types of tf.data say what TensorFlow 1.15's do; the specification's own file leaves them out.

``dataset_ops.json`` is TensorFlow 1.15's registry of the op types that are registered here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.foundation.opdef.registry import OPS
from tests.foundation.opdef.test_signatures import _argument, _attr

DATASET_OPS: dict[str, Any] = json.loads(Path(__file__).with_name("dataset_ops.json").read_text())


@pytest.mark.parametrize("name", sorted(DATASET_OPS))
def test_signature(name: str) -> None:
    op, said = OPS[name], DATASET_OPS[name]
    assert [_argument(a) for a in op.inputs] == said["inputs"]
    assert [_argument(a) for a in op.outputs] == said["outputs"]
    assert {a: _attr(d) for a, d in op.attrs.items()} == said["attrs"]
