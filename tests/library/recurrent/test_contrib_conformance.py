"""``contrib_cases`` against TensorFlow 1.15: nodes, variables, shapes, values, gradients."""

import pytest

from penstock.foundation.opdef.registry import all_ops
from tests.library.recurrent import conformance, contrib_cases

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def observed(tmp_path_factory):
    return conformance.observed(contrib_cases, tmp_path_factory.mktemp("tf1"))


@pytest.mark.parametrize("name", contrib_cases.CASES)
def test_case(name, observed):
    if name == "conv3d_lstm" and "Conv3D" not in all_ops():
        pytest.skip("there is no Conv3D yet")
    conformance.check(contrib_cases, name, observed[name])
