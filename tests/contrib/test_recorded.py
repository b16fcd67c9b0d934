"""The packages of ``tf.contrib`` against what TensorFlow 1.15 finds (``recorded``)."""

import json
import subprocess

import pytest

import penstock as tf
from tests.contrib import recorded
from tests.peers import ROOT, TF115, needs

# Programs that take seconds, where others of their module hold the same code.
_LONG = {
    ("distributions_composed", "vector_diffeomixture"), ("distributions_scalars", "quantized"),
    ("dynamic_rnn", "a_state_that_is_given"), ("dynamic_rnn", "classes_by_step"),
    ("dynamic_rnn", "one_class"), ("dynamic_rnn", "one_number_without_lengths"),
    ("dynamic_rnn", "two_classes_by_step_without_lengths"), ("estimator", "early_stopping"),
    ("estimator", "multi_label_head"), ("estimator", "saved_model_estimator"), ("heads", "multi"),
    ("heads", "multi_label"), ("integrate", "odeint"),
    ("keras_exports", "training_goes_on_after_loading_weights"), ("learn", "network_names"),
    ("learn", "wide_and_deep_graphs"), ("learn", "wide_and_deep_values"),
    ("metrics_kept", "of_confidence"), ("metrics_kept", "of_dynamic_auc"),
    ("predictor", "from_contrib_estimator"), ("quantize", "losses"),
    ("quantize", "losses_with_delays"), ("rnn_estimator", "classifier"),
    ("rnn_estimator", "clipped_gradients"), ("rnn_estimator", "estimator"),
    ("runs", "input_checkpoints"), ("runs", "logistic_regressor"),
    ("slim_names", "embedding_with_distributed_aggregation"), ("svm", "l1"), ("svm", "l2"),
    ("svm", "numbers"), ("svm", "weighted_examples"), ("svm", "weighted_words"),
    ("training", "stratified"), ("trees", "classifiers"), ("trees", "heads_and_limits"),
    ("trees", "in_memory"), ("trees", "regressors"),
}  # fmt: skip


def _programs():
    for module in recorded.modules():
        short = module.removeprefix("programs_")
        for name in recorded.cases(module):
            marks = pytest.mark.long if (short, name) in _LONG else ()
            yield pytest.param(module, name, id=f"{short}-{name}", marks=marks)


@pytest.mark.parametrize("module, name", list(_programs()))
def test_finds_what_tensorflow_found(module, name):
    wanted = json.loads((recorded.EXPECTED / f"{module}.json").read_text())[name]
    case = recorded.cases(module)[name]
    recorded.check(recorded.run(tf, case), wanted, **getattr(case, "tolerance", {}))


@pytest.mark.long
@pytest.mark.parametrize("module", recorded.modules())
def test_what_is_recorded_is_what_tensorflow_finds(module, tmp_path):
    needs(TF115)
    path = tmp_path / "found.json"
    command = [str(TF115), "-m", "tests.contrib.recorded", module, str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found = json.loads(path.read_text())
    wanted = json.loads((recorded.EXPECTED / f"{module}.json").read_text())
    assert sorted(found) == sorted(wanted)
    for name, case in recorded.cases(module).items():
        recorded.check(wanted[name], found[name], name, **getattr(case, "peer_tolerance", {}))
