"""Where the peers' interpreters are stands once, in ``tests/peers.py``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import peers

FOLDERS = [path.relative_to(peers.ROOT).parts[0] for path in peers.PYTHON.values()]
# Text that no program looks anything up by: how a script is run.
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def _literals(tree: ast.Module) -> Iterator[str]:
    """The strings of a module, without its docstrings."""
    documented = [node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)]
    docs = {id(n.body[0].value) for n in documented if n.body and isinstance(n.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_no_other_test_spells_their_folders() -> None:
    found = {}
    for path in sorted((peers.ROOT / "tests").rglob("*.py")):
        text = path.read_text()
        if path != Path(peers.__file__) and any(folder in text for folder in FOLDERS):
            spelled = [s for s in _literals(ast.parse(text)) for f in FOLDERS if f in s]
            if spelled:
                found[str(path.relative_to(peers.ROOT))] = spelled
    assert found == {}


def test_they_are_looked_for_beside_the_package() -> None:
    assert (peers.ROOT / "penstock" / "__init__.py").exists()
    assert {p.parent.parent.parent for p in peers.PYTHON.values()} == {peers.ROOT}


def test_a_test_without_one_says_what_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = peers.ROOT / "none" / "bin" / "python"
    monkeypatch.setitem(peers._MADE_BY, gone, "make none")
    with pytest.raises(pytest.skip.Exception, match="no none: `make none` makes it"):
        peers.needs(gone)
    assert peers.needed(gone).kwargs == {"reason": "no none: `make none` makes it"}
