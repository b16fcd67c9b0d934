"""Some seconds of hostile requests; ``fuzz.py`` goes on for as long as one likes."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.cluster.serving import fuzz
from tests.cluster.serving.models_of_tests import serving
from tests.suite.daily import long_but


@pytest.mark.parametrize("seed", long_but([0], range(2)))
def test_hostile_requests_are_refused(tmp_path: Path, seed: int) -> None:
    with serving(fuzz.served(tmp_path)) as server:
        counts = fuzz.attack(server, random.Random(seed), time.monotonic() + 2)
    assert counts["400"] > 5 and counts["INVALID_ARGUMENT"] > 5, counts
