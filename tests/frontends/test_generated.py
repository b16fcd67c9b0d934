"""What front ends are generated from."""

from __future__ import annotations

import importlib.util
from typing import Any

from tests import spec
from tests.peers import ROOT

FRONTENDS = ROOT / "frontends"


def _generator() -> Any:
    found = importlib.util.spec_from_file_location("generate", FRONTENDS / "generate.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_generated_files_are_what_the_generator_writes() -> None:
    generator = _generator()
    assert len(generator.OPS) >= 60
    files = generator.files(spec.load("op_defs.json"))
    assert len(files) == 3
    for path, text in files.items():
        assert path.read_text() == text, f"{path}: python frontends/generate.py OP_DEFS.json"
