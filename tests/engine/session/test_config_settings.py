"""``tf.config``: what holds for sessions without a config, and for eager execution."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.engine.session import config_settings, placement_log
from penstock.engine.session.options import defaults
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.library.eager import mode, operators

config = tf.config


@pytest.fixture(autouse=True)
def at_startup(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process of its own."""
    monkeypatch.setattr(placement_log, "asked", placement_log.Asked())
    monkeypatch.setattr(config_settings, "settings", config_settings.Settings())
    monkeypatch.setattr(defaults, "make", placement_log.default_config)


def _asked() -> Any:
    return defaults.make()


def test_nothing_holds_before_it_is_asked_for() -> None:
    assert config.threading.get_intra_op_parallelism_threads() == 0
    assert config.threading.get_inter_op_parallelism_threads() == 0
    assert config.optimizer.get_jit() is False
    assert config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False,
    }  # fmt: skip
    assert config.get_soft_device_placement() is False
    assert config.experimental.get_device_policy() == "silent"
    assert config.experimental.get_synchronous_execution() is True
    assert _asked() is None


def test_sessions_without_a_config_have_what_was_asked_for() -> None:
    config.threading.set_intra_op_parallelism_threads(1)
    config.threading.set_inter_op_parallelism_threads(2)
    config.optimizer.set_jit(True)
    config.optimizer.set_experimental_options({"constant_folding": False, "no_such": True})
    config.set_soft_device_placement(True)
    assert config.threading.get_intra_op_parallelism_threads() == 1
    assert config.optimizer.get_experimental_options()["constant_folding"] is False
    assert "no_such" not in config.optimizer.get_experimental_options()
    asked = _asked()
    assert asked.intra_op_parallelism_threads == 1 and asked.inter_op_parallelism_threads == 2
    assert asked.allow_soft_placement
    level = asked.graph_options.optimizer_options.global_jit_level
    assert level == tf.OptimizerOptions.ON_1
    assert asked.graph_options.rewrite_options.constant_folding == 2  # OFF
    with tf.Graph().as_default(), tf.device("/gpu:7"), tf.Session() as session:
        assert session.run(tf.constant(2) * 3) == 6  # refused without soft placement
    config.optimizer.set_jit(False)
    assert _asked().graph_options.optimizer_options.global_jit_level == tf.OptimizerOptions.OFF


def test_a_cpu_is_taken_for_several() -> None:
    (cpu,) = config.experimental.list_physical_devices("CPU")
    virtual = config.experimental.VirtualDeviceConfiguration
    assert config.experimental.get_virtual_device_configuration(cpu) is None
    config.experimental.set_virtual_device_configuration(cpu, [virtual(), virtual()])
    assert config.experimental.get_virtual_device_configuration(cpu) == [virtual(None)] * 2
    names = [each.name for each in config.experimental.list_logical_devices("CPU")]
    assert [name[-5:] for name in names] == ["CPU:0", "CPU:1"]
    assert config.experimental.list_physical_devices("CPU") == [cpu]
    with tf.Graph().as_default(), tf.device("/cpu:1"), tf.Session() as session:
        assert session.run(tf.constant(2) * 3) == 6
    with pytest.raises(ValueError, match="limit on CPU"):
        config.experimental.set_virtual_device_configuration(cpu, [virtual(memory_limit=9)])


def test_devices_that_are_seen() -> None:
    (cpu,) = config.experimental.list_physical_devices("CPU")
    config.experimental.set_visible_devices([], "GPU")
    assert config.experimental.get_visible_devices() == [cpu]
    assert config.experimental.get_visible_devices("GPU") == []
    config.experimental.set_visible_devices([cpu], "CPU")
    with pytest.raises(ValueError, match="Unrecognized device: 3"):
        config.experimental.set_visible_devices([3])


def test_what_is_settled_once_something_has_run() -> None:
    operators.install()
    with default_graph_scope(mode.Program()):
        assert config.get_soft_device_placement() is True
        config.threading.set_intra_op_parallelism_threads(2)
        tf.constant([1.0]) + 1.0
        config.threading.set_intra_op_parallelism_threads(2)
        with pytest.raises(RuntimeError, match="Intra op parallelism cannot be modified after"):
            config.threading.set_intra_op_parallelism_threads(3)
        with pytest.raises(RuntimeError, match="Inter op parallelism cannot be modified after"):
            config.threading.set_inter_op_parallelism_threads(3)


def test_policies_that_do_not_hold_are_refused() -> None:
    config.experimental.set_device_policy("silent")
    config.experimental.set_device_policy(None)
    with pytest.raises(ValueError, match="Not a valid device policy: 'x'"):
        config.experimental.set_device_policy("x")
    with pytest.raises(NotImplementedError, match="copied silently"):
        config.experimental.set_device_policy("explicit")
    config.experimental.set_synchronous_execution(True)
    with pytest.raises(NotImplementedError):
        config.experimental.set_synchronous_execution(False)


def test_functions_run_their_python() -> None:
    seen = []

    @tf.function
    def doubled(x: Any) -> Any:
        seen.append(x)
        return x * 2

    operators.install()
    with default_graph_scope(mode.Program()):
        doubled(tf.constant(1)), doubled(tf.constant(2))
        assert len(seen) == 1
        config.experimental_run_functions_eagerly(True)
        try:
            assert [int(doubled(tf.constant(n))) for n in (3, 4)] == [6, 8]
        finally:
            config.experimental_run_functions_eagerly(False)
        assert len(seen) == 3
