"""Names that users and checkpoints see, and whole graphs, as TensorFlow 1.15 makes them."""

from __future__ import annotations

import re

import pytest

import penstock as tf
from tests.training.train import programs
from tests.training.train.expectations import GRAPHS, STYLES

# Case: slots of W, its update op (with its style), name of the training op.
NAMES: dict[str, tuple[list[str], str, str]] = {
    "sgd": ([], "GradientDescent/update_W/{}ApplyGradientDescent", "GradientDescent"),
    "momentum": (["W/Momentum"], "Momentum/update_W/{}ApplyMomentum", "Momentum"),
    "adagrad": (["W/Adagrad"], "Adagrad/update_W/{}ApplyAdagrad", "Adagrad"),
    "adagrad_da": (
        ["W/AdagradDA", "W/AdagradDA_1"], "AdagradDA/update_W/{}ApplyAdagradDA", "AdagradDA",
    ),
    "adadelta": (
        ["W/Adadelta", "W/Adadelta_1"], "Adadelta/update_W/{}ApplyAdadelta", "Adadelta",
    ),
    "rmsprop": (["W/RMSProp", "W/RMSProp_1"], "RMSProp/update_W/{}ApplyRMSProp", "RMSProp"),
    "centered": (
        ["W/RMSProp", "W/RMSProp_1", "W/RMSProp_2"], "RMSProp/update_W/{}ApplyCenteredRMSProp",
        "RMSProp",
    ),
    "adam": (["W/Adam", "W/Adam_1"], "Adam/update_W/{}ApplyAdam", "Adam"),
    "ftrl": (["W/Ftrl", "W/Ftrl_1"], "Ftrl/update_W/{}ApplyFtrl", "Ftrl"),
    "ftrl_shrinkage": (["W/Ftrl", "W/Ftrl_1"], "Ftrl/update_W/{}ApplyFtrlV2", "Ftrl"),
    "proximal_sgd": (
        [], "ProximalGradientDescent/update_W/{}ApplyProximalGradientDescent",
        "ProximalGradientDescent",
    ),
    "proximal_adagrad": (
        ["W/ProximalAdagrad"], "ProximalAdagrad/update_W/{}ApplyProximalAdagrad", "ProximalAdagrad",
    ),
}  # fmt: skip
CASES = [(case, style) for case in NAMES for style in STYLES]


@pytest.mark.parametrize(("case", "style"), CASES)
def test_slots_updates_and_training_op(case: str, style: str) -> None:
    slots, update, train_op = NAMES[case]
    with tf.Graph().as_default() as graph:
        loss, dense, _, _ = programs.model(tf, STYLES[style])
        step = tf.train.create_global_step()
        optimizer = programs.optimizers(tf)[case](step)
        made = optimizer.minimize(loss)
        assert made.name == train_op
        assert made in graph.get_collection(tf.GraphKeys.TRAIN_OP)
        own = [v for v in tf.global_variables() if v.op.name.startswith("W/")]
        assert [v.op.name for v in own] == slots
        assert {optimizer.get_slot(dense, n) for n in optimizer.get_slot_names()} == set(own)
        assert not any(v.trainable for v in own)
        prefix = "Resource" if STYLES[style] else ""
        name = update.format(prefix)
        assert graph.get_operation_by_name(name).type == name.rpartition("/")[2]


@pytest.mark.parametrize("style", STYLES)
def test_adam_makes_powers_and_counts(style: str) -> None:
    with tf.Graph().as_default() as graph:
        loss, *_ = programs.model(tf, STYLES[style])
        optimizer = tf.train.AdamOptimizer()
        optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
        assert [v.name for v in optimizer.variables()] == [
            "E/Adam:0", "E/Adam_1:0", "W/Adam:0", "W/Adam_1:0", "beta1_power:0", "beta2_power:0",
        ]  # fmt: skip
        names = {op.name for op in graph.get_operations()}
        expected = ["Adam/learning_rate", "Adam/beta1", "Adam/beta2", "Adam/epsilon", "Adam/update"]
        expected += ["Adam/mul", "Adam/mul_1", "Adam"]
        if style == "ref":
            expected += ["Adam/Assign", "Adam/Assign_1", "Adam/value"]
        else:
            expected += ["Adam/AssignVariableOp", "Adam/AssignVariableOp_1"]
        assert names.issuperset(expected)


def test_second_optimizer_and_given_names() -> None:
    with tf.Graph().as_default():
        loss, dense, _, _ = programs.model(tf, False)
        assert tf.train.AdamOptimizer().minimize(loss).name == "Adam"
        second = tf.train.AdamOptimizer()
        assert second.minimize(loss).name == "Adam_1"
        assert second.get_slot(dense, "m").name == "W/Adam_2:0"
        assert [v.name for v in second._get_beta_accumulators()] == [
            "beta1_power_1:0", "beta2_power_1:0",
        ]  # fmt: skip
        third = tf.train.MomentumOptimizer(0.1, 0.9, name="Mine")
        assert third.minimize(loss, name="train").name == "train"
        assert third.get_slot(dense, "momentum").name == "W/Mine:0"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("case", sorted(programs.optimizers(tf)))
def test_training_graph_is_tensorflows(case: str, style: str) -> None:
    found = programs.nodes(tf, case, STYLES[style], counted=True)
    assert found == GRAPHS["train"][f"{case}/{style}"]


@pytest.mark.parametrize("style", STYLES)
def test_training_graph_without_step(style: str) -> None:
    found = programs.nodes(tf, "sgd", STYLES[style], counted=False)
    assert found == GRAPHS["train"][f"sgd/{style}/uncounted"]


def _outside_conditionals(lines: list[str]) -> list[str]:
    """The nodes that are not part of a conditional, which Penstock builds otherwise."""
    inside = re.compile(r"^(.*/)?(cond|case)/|^(\S*/)?(Is|Var)\w*Initialized\w* =")
    return [line for line in lines if not inside.match(line)]


def _comparable(lines: list[str]) -> list[str]:
    # The average's initial value is the result of a conditional, whose name differs.
    assigned = "v/ExponentialMovingAverage/Assign ="
    return [line for line in _outside_conditionals(lines) if not line.startswith(assigned)]


@pytest.mark.parametrize("style", STYLES)
def test_moving_average_graph_is_tensorflows(style: str) -> None:
    found, _ = programs.averages(tf, STYLES[style])
    assert _comparable(found) == _comparable(GRAPHS["averages"][style])


@pytest.mark.parametrize("name", sorted(set(programs.schedules(tf)) - {"piecewise"}))
def test_schedule_graph_is_tensorflows(name: str) -> None:
    found = programs.schedule_nodes(tf, name)
    wanted = GRAPHS["schedules"][name]
    assert _outside_conditionals(found) == _outside_conditionals(wanted)


def test_piecewise_result_has_tensorflows_name() -> None:
    found = programs.schedule_nodes(tf, "piecewise")
    assert found[-1] == GRAPHS["schedules"]["piecewise"][-1]
