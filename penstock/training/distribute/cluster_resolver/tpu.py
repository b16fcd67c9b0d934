"""``TPUClusterResolver``: where a program says its TPU is."""

from __future__ import annotations

import os
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.training.distribute.cluster_resolver.resolvers import ClusterResolver

_VARIABLES = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME")
_GOOGLES = ("/bns", "localhost:", "uptc://")


class TPUClusterResolver(ClusterResolver):
    """The cluster of a TPU that is given by its address.

    Names of Cloud TPUs are looked up by Google's client in TensorFlow; here only addresses are
    taken, since there is no kernel for what a TPU runs.

    Args:
      tpu: ``"grpc://host:port"`` (several with commas between), ``""`` or ``"local"``, or a list of
        one of them; default what the environment says.
      zone, project, credentials, service, discovery_url: of Google's service; not used.
      job_name: the job of the TPU's tasks.
      coordinator_name: the job of this process, if it is to be in the cluster.
      coordinator_address: the address of this process.

    Raises:
      ValueError: no TPU is named.
      NotImplementedError: several TPUs are named.
      ImportError: a name of a Cloud TPU, which is not looked up here.

    Example:
      >>> import penstock as tf
      >>> resolver = tf.distribute.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470")
      >>> resolver.master(), resolver.cluster_spec().as_dict()
      ('grpc://10.0.0.1:8470', {'worker': ['10.0.0.1:8470']})
    """

    def __init__(
        self, tpu: Any = None, zone: str | None = None, project: str | None = None,
        job_name: str = "worker", coordinator_name: str | None = None,
        coordinator_address: str | None = None, credentials: Any = "default", service: Any = None,
        discovery_url: str | None = None,
    ) -> None:  # fmt: skip
        name = _one_of(tpu)
        self._is_googles = name in ("", "local") or name.startswith(_GOOGLES)
        if not self._is_googles and not name.startswith("grpc://"):
            raise ImportError(
                "googleapiclient and oauth2client must be installed before using the TPU cluster"
                f" resolver: that finds the Cloud TPU {name!r} in TensorFlow. Penstock does not run"
                " on TPUs; it takes an address, grpc://host:port, or use_tpu=False"
            )
        self._environment = "google" if self._is_googles else ""
        self.task_type, self.task_id = job_name, 0
        self.rpc_layer = None if self._is_googles else "grpc"
        self._addresses = name.removeprefix("grpc://").split(",")
        self._coordinator = coordinator_name, coordinator_address

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The target of sessions: the first address, whatever task is named."""
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{self._addresses[0]}" if layer else self._addresses[0]

    def get_master(self) -> str:
        """``master()``."""
        return self.master()

    def get_job_name(self) -> str | None:
        """None: the job is known of Cloud TPUs alone, which are not looked up."""
        return None

    def cluster_spec(self) -> Any:
        """The tasks of the TPU; None where it is local."""
        if self._is_googles:
            return None
        jobs = {self.task_type: [_without_layer(each) for each in self._addresses]}
        name, address = self._coordinator
        if name and address:
            jobs[name] = [address]
        return ClusterSpec(jobs)

    @property
    def environment(self) -> str:
        """``"google"`` where it is local, else ``""``."""
        return self._environment


def _without_layer(address: str) -> str:
    return address.partition("://")[2] or address


def _one_of(tpu: Any) -> str:
    if isinstance(tpu, list):
        if not tpu:
            raise ValueError("At least one TPU must be specified.")
        if len(tpu) != 1:
            raise NotImplementedError(
                "Using multiple TPUs in a single session is not yet implemented"
            )
        tpu = tpu[0]
    if tpu is None:
        tpu = next((os.environ[name] for name in _VARIABLES if name in os.environ), None)
    if tpu is None:
        raise ValueError(
            "Please provide a TPU Name to connect to: an argument, or TPU_NAME in the environment"
        )
    return os.fsdecode(tpu)
