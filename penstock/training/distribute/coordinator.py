"""TensorFlow's distribute coordinator, which runs estimators on all tasks at once: it is absent.

What asks whether it is wanted is told no; what would run by it says that it is not there.
"""

from __future__ import annotations

from typing import Any

_WHY = (
    "the distribute coordinator is not there: train with parameter servers (TF_CONFIG), or use"
    " tf.distribute without an Estimator"
)


def init_run_config(config: Any, tf_config: Any) -> None:
    """Notes in a ``RunConfig`` that no coordinator is asked for.

    Args:
      config: the ``RunConfig``.
      tf_config: the dict of ``TF_CONFIG``.

    Raises:
      NotImplementedError: the config asks for one.
    """
    vars(config)["_distribute_coordinator_mode"] = None
    if getattr(config, "_experimental_distribute", None):
        raise NotImplementedError(_WHY)


def should_run_distribute_coordinator(config: Any) -> bool:
    """Whether a ``RunConfig`` asks for a coordinator: none does.

    Args:
      config: the ``RunConfig``.
    """
    return False


def _refuse(*args: Any, **kwargs: Any) -> Any:
    """Would run an estimator by the coordinator.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError(_WHY)


estimator_train = estimator_evaluate = train_and_evaluate = _refuse
