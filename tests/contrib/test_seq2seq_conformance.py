"""Decoders, attention, beam search and legacy_seq2seq against TensorFlow 1.15.

Nodes in their order, variables, shapes, values and gradients; one TensorFlow process for all.
"""

import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.contrib import legacy_seq2seq_cases, seq2seq_cases
from tests.peers import TF115, needs

assert legacy_seq2seq_cases  # importing it adds its cases
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:The TensorArray"),
    pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices"),
]

PEER = Path(__file__).with_name("seq2seq_peer.py")
TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def observed(tmp_path_factory):
    needs(TF115)
    out = tmp_path_factory.mktemp("tf1") / "observed.pickle"
    subprocess.run([TF115, PEER, out, *seq2seq_cases.CASES], check=True, capture_output=True)
    return pickle.loads(out.read_bytes())


@pytest.mark.parametrize("name", seq2seq_cases.CASES)
def test_case(name, observed):
    theirs = observed[name]
    assert "error" not in theirs, theirs["error"]
    ours = seq2seq_cases.observe(tf, name)
    for node, wanted in zip(ours["nodes"], theirs["nodes"], strict=False):
        assert node == wanted
    for key in ("nodes", "variables", "trainable", "shapes", "connected"):
        assert ours.get(key) == theirs.get(key), key
    for key in ("values", "gradients"):
        assert len(ours[key]) == len(theirs[key]), key
        for one, other in zip(ours[key], theirs[key], strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype, key
            np.testing.assert_allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, err_msg=key)
