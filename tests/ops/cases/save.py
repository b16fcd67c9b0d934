"""Rows for the ops on checkpoints; tests/ops/test_save.py has those that write and read."""

from __future__ import annotations

from tests.ops.opcase import OpCase, const, real, strings

NOWHERE = strings("nowhere/model")
KEYS = strings(["a"])
TWO = strings(["a", "b"])
WHOLE = strings([""])
FLOAT = real(2, dtype="float32")

CASES = [
    OpCase("SaveV2", [NOWHERE, TWO, TWO, [FLOAT]], raises=True),
    OpCase("SaveV2", [KEYS, KEYS, WHOLE, [FLOAT]], raises=True),
    OpCase("SaveSlices", [NOWHERE, TWO, TWO, [FLOAT]], raises=True),
    OpCase("Save", [NOWHERE, TWO, [FLOAT]], raises=True),
    OpCase("RestoreV2", [NOWHERE, KEYS, WHOLE], {"dtypes": ["float32"]}, raises=True),
    OpCase("RestoreV2", [NOWHERE, KEYS, TWO], {"dtypes": ["float32"]}, raises=True),
    OpCase("Restore", [NOWHERE, strings("a")], {"dt": "float32"}, raises=True),
    OpCase("RestoreSlice", [NOWHERE, strings("a"), strings("")], {"dt": "float32"}, raises=True),
    OpCase("MergeV2Checkpoints", [strings(["nowhere/part"]), NOWHERE], raises=True),
    OpCase("ShardedFilename", [NOWHERE, const(3, "int32"), const(12, "int32")]),
    OpCase("ShardedFilename", [strings(""), const(0, "int32"), const(100000, "int32")]),
    OpCase("ShardedFilespec", [NOWHERE, const(12, "int32")]),
]
