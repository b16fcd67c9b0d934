"""Registered ops that lack a row in the op table, or a kernel: op type -> why."""

from __future__ import annotations

WITHOUT_ROW: dict[str, str] = {
    "Placeholder": "its value is whatever is fed; every row of the table feeds one",
}

# Ops that make state (variables, queues) have ``state`` in place of a kernel: not named here.
WITHOUT_KERNEL: dict[str, str] = {
    "Const": "its value is bound in the program",
    "Placeholder": "its value is fed; running it is an error",
    "_Feed": "its value is an argument of the program",
}
