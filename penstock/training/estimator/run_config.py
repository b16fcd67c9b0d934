"""``tf.estimator.RunConfig``: how a trainer runs, and what of a cluster it is (TF_CONFIG).

TF_CONFIG is a JSON object in the environment::

    {"cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]},
     "task": {"type": "worker", "index": 0},
     "model_dir": ..., "session_master": ..., "eval_session_master": ..., "service": {...}}

Without "cluster" it is one process.  The chief's job is "chief", or "master" where there is one; an
"evaluator" is in no cluster.
"""

from __future__ import annotations

import copy
import enum
import inspect
import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.engine.session.options import ConfigProto

_log = logging.getLogger("penstock")
_LOCAL = ""


class _Default(enum.Enum):
    USE = "what is not given follows from what is"


_USE_DEFAULT: Any = _Default.USE


class TaskType:
    """The jobs that a task can belong to."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


# What ``replace`` may set: the rule that a value other than None keeps, and what it says.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (bool, "should be non-empty"),
    "tf_random_seed": (lambda v: isinstance(v, int), "must be integer"),
    "save_summary_steps": (lambda v: v >= 0, "should be >= 0"),
    "save_checkpoints_steps": (lambda v: v >= 0, "should be >= 0"),
    "save_checkpoints_secs": (lambda v: v >= 0, "should be >= 0"),
    "session_config": (lambda v: isinstance(v, ConfigProto), "must be instance of ConfigProto"),
    "keep_checkpoint_max": (lambda v: v >= 0, "should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda v: v > 0, "should be > 0"),
    "log_step_count_steps": (lambda v: v > 0, "should be > 0"),
    "train_distribute": (lambda v: True, ""),
    "device_fn": (lambda v: _takes_op(v), 'must be callable with exactly one argument "op"'),
    "protocol": (lambda v: v in ("grpc", "grpc+verbs"), "should be grpc or grpc+verbs"),
    "eval_distribute": (lambda v: True, ""),
    "experimental_distribute": (lambda v: True, ""),
    "experimental_max_worker_delay_secs": (lambda v: isinstance(v, int), "must be an integer"),
    "session_creation_timeout_secs": (lambda v: v > 0, "should be > 0"),
    "durable": (lambda v: isinstance(v, bool), "must be a bool"),
}


def _takes_op(function: Any) -> bool:
    return callable(function) and list(inspect.signature(function).parameters) == ["op"]


class RunConfig:
    """The configuration of a trainer; values are read, and changed by ``replace``.

    Args:
      model_dir: directory of the model; TF_CONFIG may say it instead.
      tf_random_seed: the graph's seed.
      save_summary_steps: steps between summaries.
      save_checkpoints_steps: steps between checkpoints.
      save_checkpoints_secs: seconds between checkpoints; default 600, unless steps are given.
      session_config: a ``ConfigProto``; default, in a cluster, is one by which a worker talks to
        parameter servers and itself only.
      keep_checkpoint_max: how many checkpoints are kept; None and 0 keep all.
      keep_checkpoint_every_n_hours: one checkpoint in so many hours is kept for good.
      log_step_count_steps: steps between two logs of the speed.
      train_distribute: the strategy that training is distributed by.
      device_fn: ``f(op) -> device``; default is ``replica_device_setter``'s choice.
      protocol: of servers: "grpc" (also by None).
      eval_distribute: the strategy that evaluation is distributed by.
      experimental_distribute: both, with what belongs to them.
      experimental_max_worker_delay_secs: the most seconds that a worker's start is held back.
      session_creation_timeout_secs: the longest that a worker waits for its session.
      durable: whether savers are to wait until a checkpoint is on the disk; for
        ``tf.train.Saver(durable=config.durable)``.

    Raises:
      ValueError: a value that is not allowed, both ``save_checkpoints_*``, or a TF_CONFIG that
        makes no sense.
      TypeError: "service" in TF_CONFIG is no object.

    Example:
      >>> import penstock as tf
      >>> config = tf.estimator.RunConfig(save_checkpoints_steps=50)
      >>> config.is_chief, config.num_worker_replicas, config.save_checkpoints_secs
      (True, 1, None)
      >>> config.replace(model_dir="here").model_dir
      'here'
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Any = _USE_DEFAULT,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], Any] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
        durable: bool = False,
    ) -> None:
        steps, secs = save_checkpoints_steps, save_checkpoints_secs
        if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
            secs = 600
        steps = None if steps is _USE_DEFAULT else steps
        secs = None if secs is _USE_DEFAULT else secs
        tf_config = read_tf_config()
        if model_dir is not None:
            model_dir = os.fsdecode(model_dir)
        self._set(
            model_dir=_model_dir(model_dir, tf_config), tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps, save_checkpoints_steps=steps,
            save_checkpoints_secs=secs, session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps, train_distribute=train_distribute,
            device_fn=device_fn, protocol=protocol, eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
            durable=durable,
        )  # fmt: skip
        self._read_cluster(tf_config)
        if self._session_config is None and self._cluster_spec:
            self._session_config = _filtered_session(self._task_type, self._task_id)

    # ---- the cluster -------------------------------------------------------------------------

    def _read_cluster(self, tf_config: Mapping[str, Any]) -> None:
        self._service = tf_config.get("service")
        if self._service is not None and not isinstance(self._service, dict):
            raise TypeError(
                f'"service" in TF_CONFIG must be an object; found {type(self._service).__name__}'
            )
        self._cluster_spec = ClusterSpec(tf_config.get("cluster", {}))
        task = tf_config.get("task", {})
        if not self._cluster_spec:
            self._be_alone(tf_config, task)
            return
        chief = TaskType.MASTER if TaskType.MASTER in self._cluster_spec.jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in self._cluster_spec.jobs:
            raise ValueError(
                "If `master` node exists in `cluster`, job `chief` is not supported; found"
                f" {self._cluster_spec}"
            )
        self._task_type, self._task_id = _task_of(self._cluster_spec, task, chief)
        self._is_chief = self._task_type == chief
        evaluates = self._task_type == TaskType.EVALUATOR
        if evaluates and chief == TaskType.MASTER:
            raise ValueError("a cluster with a `master` has no task of type `evaluator`")
        self._evaluation_master = (
            tf_config.get("eval_session_master", _LOCAL) if evaluates else _LOCAL
        )
        if evaluates:
            self._cluster_spec = ClusterSpec({})
            self._master, self._global_id_in_cluster = _LOCAL, None
            self._num_ps_replicas = self._num_worker_replicas = 0
            return
        jobs = self._cluster_spec.as_dict()
        self._master = tf_config.get("session_master", self._own_address())
        self._num_ps_replicas = len(jobs.get(TaskType.PS, ()))
        self._num_worker_replicas = len(jobs.get(TaskType.WORKER, ())) + len(jobs[chief])
        self._global_id_in_cluster = _global_id(
            self._cluster_spec, self._task_type, self._task_id, chief
        )

    def _be_alone(self, tf_config: Mapping[str, Any], task: Mapping[str, Any]) -> None:
        self._task_type = task.get("type", TaskType.WORKER)
        self._task_id = int(task.get("index", 0))
        alone = 'If "cluster" is not set in TF_CONFIG, task'
        if self._task_type != TaskType.WORKER:
            raise ValueError(f"{alone} type must be WORKER; found {self._task_type!r}")
        if self._task_id != 0:
            raise ValueError(f"{alone} index must be 0; found {self._task_id}")
        self._global_id_in_cluster = 0
        self._master = tf_config.get("session_master", _LOCAL)
        self._evaluation_master = tf_config.get("eval_session_master", _LOCAL)
        self._is_chief = True
        self._num_ps_replicas, self._num_worker_replicas = 0, 1

    def _own_address(self) -> str:
        spec = self._cluster_spec
        if len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1:
            return _LOCAL
        return f"grpc://{spec.task_address(self._task_type, self._task_id)}"

    # ---- what there is to read ---------------------------------------------------------------

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster; empty for one process, and for an evaluator."""
        return self._cluster_spec

    @property
    def device_fn(self) -> Any:
        """The device function that was given."""
        return self._device_fn

    @property
    def evaluation_master(self) -> str:
        """Target of the sessions that evaluate."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes, saves and summarizes."""
        return self._is_chief

    @property
    def master(self) -> str:
        """Target of the sessions that train: the own server of this task, or empty."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many tasks train, the chief among them."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """Index of this task in its job."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """Number of this task among all: chief, others by job name, parameter servers last."""
        return self._global_id_in_cluster

    @property
    def experimental_max_worker_delay_secs(self) -> int | None:
        """The most seconds that a worker's start is held back."""
        return self._experimental_max_worker_delay_secs

    @property
    def task_type(self) -> str:
        """Job of this task."""
        return self._task_type

    @property
    def tf_random_seed(self) -> int | None:
        """The graph's seed."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        """Steps between summaries."""
        return self._save_summary_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        """Seconds between checkpoints."""
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> Any:
        """The ``ConfigProto`` of sessions."""
        return self._session_config

    @property
    def save_checkpoints_steps(self) -> int | None:
        """Steps between checkpoints."""
        return self._save_checkpoints_steps

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many checkpoints are kept."""
        return self._keep_checkpoint_max

    @property
    def session_creation_timeout_secs(self) -> float:
        """The longest that a worker waits for its session."""
        return self._session_creation_timeout_secs

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        """One checkpoint in so many hours is kept for good."""
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        """Steps between two logs of the speed."""
        return self._log_step_count_steps

    @property
    def durable(self) -> bool:
        """Whether saving waits until a checkpoint is on the disk: ``durable`` of ``Saver``."""
        return self._durable

    @property
    def model_dir(self) -> str | None:
        """Directory of the model."""
        return self._model_dir

    @property
    def service(self) -> Any:
        """What TF_CONFIG says under "service"."""
        return self._service

    @property
    def train_distribute(self) -> Any:
        """The strategy that training is distributed by."""
        return self._train_distribute

    @property
    def eval_distribute(self) -> Any:
        """The strategy that evaluation is distributed by."""
        return self._eval_distribute

    @property
    def protocol(self) -> str | None:
        """The protocol of servers."""
        return self._protocol

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values.

        Args:
          **kwargs: arguments of the constructor.

        Raises:
          ValueError: a name that cannot be replaced, or a value that is not allowed.
        """
        made = copy.deepcopy(self)
        made._set(**kwargs)
        return made

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            if name not in _RULES:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {list(_RULES)}"
                )
            holds, rule = _RULES[name]
            if value is not None and not holds(value):
                raise ValueError(f"{name} {rule}; found {value!r}")
            setattr(self, f"_{name}", value)
        steps, secs = (values.get(f"save_checkpoints_{unit}") for unit in ("steps", "secs"))
        if steps is not None and secs is not None:
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot both be set"
            )
        if steps is not None:
            self._save_checkpoints_secs: float | None = None
        elif secs is not None:
            self._save_checkpoints_steps: int | None = None

    _global_id_in_cluster: int | None
    # Set by ``_set``.
    _model_dir: str | None
    _tf_random_seed: int | None
    _save_summary_steps: int | None
    _session_config: Any
    _keep_checkpoint_max: int | None
    _keep_checkpoint_every_n_hours: float
    _log_step_count_steps: int | None
    _train_distribute: Any
    _eval_distribute: Any
    _device_fn: Any
    _protocol: str | None
    _experimental_max_worker_delay_secs: int | None
    _session_creation_timeout_secs: float
    _durable: bool


def read_tf_config() -> dict[str, Any]:
    """TF_CONFIG as a dict; empty where it is not set.

    Raises:
      ValueError: it is no JSON object.
    """
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"TF_CONFIG must be a JSON object; found {text!r}: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object; found {text!r}")
    if found:
        _log.info("TF_CONFIG environment variable: %s", found)
    return found


def _model_dir(given: str | None, tf_config: Mapping[str, Any]) -> str | None:
    told = tf_config.get("model_dir")
    if told == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty")
    if given == "":
        raise ValueError("model_dir should be non-empty")
    if told and given and told != given:
        raise ValueError(f"model_dir is {given!r}, and {told!r} in TF_CONFIG; they must be equal")
    return given or told


def _task_of(spec: ClusterSpec, task: Mapping[str, Any], chief: str) -> tuple[str, int]:
    """Type and index of this task."""
    if chief not in spec.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node; found {spec}'
        )
    if spec.num_tasks(chief) > 1:
        raise ValueError(
            f'The "cluster" in TF_CONFIG must have only one "{chief}" node; found {spec}'
        )
    kind, index = task.get("type"), task.get("index")
    if not kind or index is None:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, task {"index" if kind else "type"} must be set:'
            f" they say what of it this process is; found {dict(task)}"
        )
    index = int(index)
    if index < 0:
        raise ValueError(f"Task index must be non-negative number; found {index}")
    if kind == TaskType.EVALUATOR:
        return kind, index
    if kind not in spec.jobs:
        raise ValueError(f"{kind} is not a valid task_type in the cluster_spec: {spec}")
    if index >= spec.num_tasks(kind):
        raise ValueError(
            f"{index} is not a valid task_id for task_type {kind} in the cluster_spec: {spec}"
        )
    return kind, index


def _global_id(spec: ClusterSpec, kind: str, index: int, chief: str) -> int:
    others = [job for job in sorted(spec.jobs) if job not in (chief, TaskType.PS)]
    order = [chief, *others, TaskType.PS]
    return index + sum(spec.num_tasks(job) for job in order[: order.index(kind)])


def _filtered_session(kind: str, index: int) -> Any:
    """A session that talks only to the tasks that this one works with; None for other jobs."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{index}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    if kind not in filters:
        return None
    config = ConfigProto(allow_soft_placement=True, device_filters=filters[kind])
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config
