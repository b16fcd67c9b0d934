"""Whether what a script printed is what TensorFlow 1.15 printed."""

import math
from typing import Any


def assert_alike(found: Any, expected: Any, tolerance: float, place: str = "") -> None:
    """Fails with the first place where nestings of dicts, lists, numbers and texts differ.

    Args:
        found: What was printed here.
        expected: What was printed there.
        tolerance: How far floats may be apart, of one more than their size.
        place: Where in a larger nesting these stand.
    """
    if isinstance(expected, dict):
        assert isinstance(found, dict), place
        assert found.keys() == expected.keys(), place
        for key, value in expected.items():
            assert_alike(found[key], value, tolerance, f"{place}/{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), place
        assert len(found) == len(expected), (place, found, expected)
        for number, value in enumerate(expected):
            assert_alike(found[number], value, tolerance, f"{place}/{number}")
    elif isinstance(expected, float) and not math.isnan(expected):
        assert abs(found - expected) <= tolerance * (1 + abs(expected)), (place, found, expected)
    else:
        assert found == expected or (found != found and expected != expected), (place, found)
