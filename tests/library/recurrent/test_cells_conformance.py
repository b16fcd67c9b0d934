"""``cases`` against TensorFlow 1.15: nodes, variables, shapes, values, gradients."""

import pytest

from tests.library.recurrent import cases, conformance

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def observed(tmp_path_factory):
    return conformance.observed(cases, tmp_path_factory.mktemp("tf1"))


@pytest.mark.parametrize("name", cases.CASES)
def test_case(name, observed):
    conformance.check(cases, name, observed[name])
