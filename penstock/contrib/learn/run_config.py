"""``tf.contrib.learn.RunConfig``: the form of RunConfig that came before ``tf.estimator``'s.

TF_CONFIG means less here: a task's "type" may be missing, "environment" ("local", "cloud") says
whether the chief is worker 0 or master 0, and nothing is checked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.engine.session.options import ConfigProto, GPUOptions
from penstock.training.estimator import run_config

_USE_DEFAULT: Any = 0
_CLOUD, _LOCAL = "cloud", "local"
# What does not tell one run from another.
_NOT_IN_UID = (
    "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)  # fmt: skip


class TaskType:
    """The jobs that a task can belong to."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class RunConfig(run_config.RunConfig):
    """The configuration of a trainer.

    Args:
      master: target of sessions; default is what TF_CONFIG says.
      num_cores: threads of sessions; 0 lets them choose.
      log_device_placement: whether sessions log where nodes run.
      gpu_memory_fraction: part of a GPU's memory that sessions may use.
      evaluation_master: target of the sessions that evaluate.
      tf_random_seed, save_summary_steps, save_checkpoints_secs, save_checkpoints_steps,
        keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps, protocol,
        model_dir, session_config, session_creation_timeout_secs: as of ``tf.estimator.RunConfig``.

    Raises:
      ValueError: ``model_dir`` is another one in TF_CONFIG, or the task is not in the cluster.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: Any = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if save_checkpoints_secs == _USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self._given_master = master
        self._given_evaluation_master = evaluation_master
        super().__init__(
            model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps,
            save_checkpoints_secs, session_config, keep_checkpoint_max,
            keep_checkpoint_every_n_hours, log_step_count_steps, protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )  # fmt: skip
        self._session_config = session_config
        self._tf_config = ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )

    def _read_cluster(self, tf_config: Any) -> None:
        task = tf_config.get("task", {})
        self._service = None
        self._cluster_spec = ClusterSpec(tf_config.get("cluster", {}))
        self._task_type = task.get("type")
        self._task_id = self.get_task_id()
        self._environment = tf_config.get("environment", _LOCAL)
        self._global_id_in_cluster = None
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(jobs.get(TaskType.PS, ()))
        self._num_worker_replicas = sum(
            len(jobs.get(job, ())) for job in (TaskType.WORKER, TaskType.MASTER)
        )
        chief = TaskType.MASTER if self._environment == _CLOUD else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        self._evaluation_master = self._given_evaluation_master or ""
        self._master = self._target() if self._given_master is None else self._given_master

    def _target(self) -> str:
        spec = self._cluster_spec
        if not spec or not self._task_type:
            return ""
        if len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1:
            return ""
        if self._task_type not in spec.jobs or self._task_id not in spec.task_indices(
            self._task_type
        ):
            raise ValueError(
                f"task {self._task_id} of type {self._task_type!r} in TF_CONFIG is not in the"
                f" cluster {spec}"
            )
        return self._own_address()

    @property
    def environment(self) -> str:
        """What TF_CONFIG says under "environment": "local" or "cloud"."""
        return str(self._environment)

    @property
    def tf_config(self) -> Any:
        """The ``ConfigProto`` made of the arguments."""
        return self._tf_config

    @staticmethod
    def get_task_id() -> int:
        """The task's index in TF_CONFIG; 0 where there is none."""
        return int(run_config.read_tf_config().get("task", {}).get("index") or 0)

    def uid(self, whitelist: Collection[str] | None = None) -> str:
        """A text that is equal for equal configurations.

        Args:
          whitelist: names of values that do not count.
        """
        left_out = {f"_{name}" for name in (_NOT_IN_UID if whitelist is None else whitelist)}
        state = {k: v for k, v in vars(self).items() if k not in left_out}
        state["_cluster_spec"] = self._cluster_spec.as_dict()
        return ", ".join(f"{name}={state[name]!r}" for name in sorted(state))
