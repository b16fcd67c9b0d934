"""``op_def_registry``: the op types there are, as programs list them."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto import op_def_pb2

from penstock.python.framework import op_def_registry
from penstock.storage.export import op_registry


def test_op_types_are_listed_with_their_definitions() -> None:
    known = op_def_registry.get_registered_ops()
    assert len(known) > 900 and not any(name.startswith("_") for name in known)
    assert known["InplaceUpdate"].input_arg[1].name == "i"
    assert known["Empty"].is_stateful and known["Empty"].attr[1].name == "init"


def test_a_program_lists_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op_registry, "_listed", {})
    listed = op_def_pb2.OpList(op=[op_def_pb2.OpDef(name="Foo")])
    op_def_registry.register_op_list(listed)
    op_def_registry.register_op_list(listed)
    assert op_def_registry.get_registered_ops()["Foo"].name == "Foo"
    changed = op_def_pb2.OpList(op=[op_def_pb2.OpDef(name="Foo", is_stateful=True)])
    with pytest.raises(ValueError, match="Registered op_def for Foo"):
        op_def_registry.register_op_list(changed)
    with pytest.raises(TypeError, match="3 is <class 'int'>, not an op_def_pb2.OpList"):
        op_def_registry.register_op_list(3)
