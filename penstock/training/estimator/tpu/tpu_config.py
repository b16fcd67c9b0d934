"""The configuration of a ``TPUEstimator``: ``RunConfig`` with what a program says of its TPUs.

What is said of TPUs is checked and kept.  Only how often is logged, and the sessions' target,
depend on it where there is none.
"""

from __future__ import annotations

import logging
import re
from typing import Any, NamedTuple

from penstock.engine.session.options import ConfigProto
from penstock.training.estimator import run_config

_log = logging.getLogger("penstock")
_CORES = (1, 2, 4, 8, 16, 32, 64, 128)
_SECONDS = {"s": 1, "m": 60, "h": 3600}


class InputPipelineConfig:
    """How often ``input_fn`` is called for the cores of TPUs."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Fields(NamedTuple):
    iterations_per_loop: Any
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_Fields):
    """What a program says of its TPUs.

    Args:
      iterations_per_loop: steps of one call of a TPU, or a time such as ``"60s"`` or ``"5m"``.
      num_shards: how many replicas of the model there are.
      num_cores_per_replica: cores that one replica is split among.
      per_host_input_for_training: a value of ``InputPipelineConfig``; True is ``PER_HOST_V1``,
        False ``PER_SHARD_V1``.
      tpu_job_name: the job of the TPUs; default what TF_CONFIG says under "service".
      initial_infeed_sleep_secs: seconds before the first batch is sent.
      input_partition_dims: how features (and labels) are split among a replica's cores.
      eval_training_input_configuration: ``PER_HOST_V1`` or ``SLICED``.
      experimental_host_call_every_n_steps: steps between two host calls.

    Raises:
      ValueError: a value that is not allowed.
      TypeError: a count is no integer.

    Example:
      >>> import penstock as tf
      >>> tf.contrib.tpu.TPUConfig(iterations_per_loop=100).per_host_input_for_training
      2
    """

    __slots__ = ()

    def __new__(
        cls, iterations_per_loop: Any = 2, num_shards: int | None = None,
        num_cores_per_replica: int | None = None, per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None, initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:  # fmt: skip
        """Checks the arguments."""
        loop_of(iterations_per_loop)
        check_positive_integer(num_shards, "TPUConfig num_shards")
        check_positive_integer(
            initial_infeed_sleep_secs or None, "TPUConfig initial_infeed_sleep_secs"
        )
        if input_partition_dims is not None:
            _check_partition(
                input_partition_dims, per_host_input_for_training, num_cores_per_replica
            )
        if num_cores_per_replica not in (None, *_CORES):
            raise ValueError(
                f"num_cores_per_replica must be {', '.join(map(str, _CORES))}; got"
                f" {num_cores_per_replica}"
            )
        allowed = InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED
        if eval_training_input_configuration not in allowed:
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got"
                f" {eval_training_input_configuration}"
            )
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = 2 if per_host_input_for_training else 1
        return super().__new__(
            cls, iterations_per_loop, num_shards, num_cores_per_replica,
            per_host_input_for_training, tpu_job_name or _job_in_tf_config(),
            initial_infeed_sleep_secs, input_partition_dims, eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )  # fmt: skip


def check_positive_integer(value: Any, name: str) -> None:
    """Checks a count that may be None.

    Raises:
      TypeError: it is no integer.
      ValueError: it is not above 0.
    """
    if value is None:
        return
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def loop_of(iterations_per_loop: Any) -> tuple[int, bool]:
    """Steps or seconds of one call of a TPU, and whether they are seconds.

    Raises:
      ValueError: it is neither a count nor a time.
    """
    found = re.fullmatch(r"([1-9]\d*)([smh]?)", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. It must be a positive integer, or a"
            f" time such as '3600s', '60m' or '1h'; found {iterations_per_loop!r}"
        )
    unit = found[2]
    return int(found[1]) * _SECONDS.get(unit, 1), bool(unit)


def _check_partition(dims: Any, per_host: Any, cores: int | None) -> None:
    if len(dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
    if per_host is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if cores is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_in_tf_config() -> str | None:
    service = run_config.read_tf_config().get("service") or {}
    found: str | None = service.get("tpu_worker_job_name")
    return found


class RunConfig(run_config.RunConfig):
    """``tf.estimator.RunConfig`` with what is said of TPUs and where they are.

    Args:
      tpu_config: a ``TPUConfig``.
      evaluation_master: target of the sessions that evaluate; default ``master``.
      master: target of the sessions that train.
      cluster: a cluster resolver, which says both in place of ``master``.
      **kwargs: arguments of ``tf.estimator.RunConfig``.

    Raises:
      ValueError: both ``master`` and ``cluster`` are given, or ``cluster`` and the session's own
        cluster.

    Example:
      >>> import penstock as tf
      >>> config = tf.contrib.tpu.RunConfig(save_checkpoints_steps=10)
      >>> config.tpu_config.iterations_per_loop, config.master
      (2, '')
    """

    def __init__(
        self, tpu_config: TPUConfig | None = None, evaluation_master: str | None = None,
        master: str | None = None, cluster: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        # A TPU's sessions talk to all tasks, so no filter of devices is added.
        self._session_config = kwargs.get("session_config")
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        if master is not None:
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != run_config.TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._join(cluster.cluster_spec())

    def _join(self, spec: Any) -> None:
        self._cluster_spec = spec
        if self._session_config is None:
            self._session_config = ConfigProto(
                allow_soft_placement=True, isolate_session_state=True
            )
        if self._session_config.HasField("cluster_def"):
            raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
        if spec:
            self._session_config.cluster_def.CopyFrom(spec.as_cluster_def())

    @property
    def tpu_config(self) -> TPUConfig:
        """What is said of TPUs."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The cluster resolver, or None."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values.

        Args:
          **kwargs: ``tpu_config``, and what ``tf.estimator.RunConfig.replace`` takes.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        made: Any = super().replace(**kwargs)
        made._tpu_config = tpu_config
        found: RunConfig = made
        return found
