"""Settings of the test suite: what is collected and selected, and how Hypothesis searches.

Tests mirror the tree: `tests/foundation/graph/` holds those of `penstock/foundation/graph/`. Files
are collected in pytest's importlib mode, so two rooms may each have a `test_errors.py`. Only
`tests` itself and what runs with ``python -m`` (`tests.conformance`) are packages by need.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.suite import collecting, turns

# Kernels' first calls and shared machines make wall-clock deadlines noise. `derandomize` makes a
# failure in CI the failure at the desk; `--hypothesis-profile=explore` searches anew each time.
settings.register_profile(
    "penstock", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("penstock")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under tests/, only `test_*.py` is collected, also when doctests are looked for.

    The programs that compare with TensorFlow import it, and it is not in the tests' environment.
    """
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    is_test = collection_path.name.startswith("test_")
    if not is_test or collecting.is_left_out(collection_path, config.option.markexpr):
        return True
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--turn 2/5`` selects, of the tests that ``-m long`` did, those of one turn."""
    parser.addoption("--turn", help="of the selected tests only those of this turn, as in '2/5'")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps those of the turn."""
    asked = config.getoption("--turn")
    if asked is None:
        return
    try:
        turn, of = turns.parse(asked)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    drawn = [turns.turn_of(turns.goes_with(item), of) == turn for item in items]
    others = [item for item, its_turn in zip(items, drawn, strict=True) if not its_turn]
    items[:] = [item for item, its_turn in zip(items, drawn, strict=True) if its_turn]
    config.hook.pytest_deselected(items=others)
