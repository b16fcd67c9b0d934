"""Clusters that another service knows: pods of Kubernetes, machines of Google's Compute Engine.

Their clients are given, or taken from their packages where these are installed.

Source: the resolvers of TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.training.distribute.cluster_resolver.resolvers import (
    ClusterResolver,
    address_of,
    address_with_layer,
)


class KubernetesClusterResolver(ClusterResolver):
    """The cluster of running pods.

    Args:
      job_to_label_mapping: labels that select the pods of each job, as ``name=value``; default
        ``{"worker": ["job-name=tensorflow"]}``.
      tf_server_port: the port of all tasks.
      rpc_layer: the protocol of addresses.
      override_client: a client of Kubernetes; default that of the package ``kubernetes``.

    Raises:
      ImportError: no client, and no such package.
    """

    def __init__(
        self, job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470, rpc_layer: str = "grpc", override_client: Any = None,
    ) -> None:  # fmt: skip
        if override_client is None:
            override_client = _kubernetes()
        self._client = override_client
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> Any:
        """The cluster, of each label the pods by name.

        Raises:
          RuntimeError: a pod does not run.
        """
        found = {
            job: [address for label in labels for address in self._addresses(label)]
            for job, labels in self._labels.items()
        }
        return ClusterSpec(found)

    def _addresses(self, label: str) -> list[str]:
        pods = self._client.list_pod_for_all_namespaces(label_selector=label).items
        for pod in pods:
            if pod.status.phase != "Running":
                raise RuntimeError(
                    f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"'
                )
        pods = sorted(pods, key=lambda pod: pod.metadata.name)
        return [f"{pod.status.host_ip}:{self._port}" for pod in pods]

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task, by default of ``task_type`` and ``task_id`` if these are set."""
        return address_of(self, task_type, task_id, rpc_layer)


def _kubernetes() -> Any:
    try:
        package = importlib.import_module("kubernetes")
    except ImportError as error:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster"
            " Resolver: run `pip install kubernetes`, or give override_client."
        ) from error
    package.config.load_kube_config()
    return package.client.CoreV1Api()


class GCEClusterResolver(ClusterResolver):
    """The cluster of the running machines of an instance group, all of one job.

    Args:
      project: the project.
      zone: the zone of the group.
      instance_group: the group's name.
      port: the port of all tasks.
      task_type: the job.
      task_id: the number of this task.
      rpc_layer: the protocol of addresses.
      credentials: for the service; default the application's own.
      service: a client of Compute Engine; default that of the package ``googleapiclient``.

    Raises:
      ImportError: no service, and no such package.
    """

    def __init__(
        self, project: str, zone: str, instance_group: str, port: int,
        task_type: str = "worker", task_id: int = 0, rpc_layer: str = "grpc",
        credentials: Any = "default", service: Any = None,
    ) -> None:  # fmt: skip
        self._service = _compute_engine(credentials) if service is None else service
        self._project, self._zone, self._group = project, zone, instance_group
        self._port = port
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    def cluster_spec(self) -> Any:
        """The cluster, machines by address."""
        group = self._service.instanceGroups()
        request = group.listInstances(
            project=self._project, zone=self._zone, instanceGroups=self._group,
            body={"instanceState": "RUNNING"}, orderBy="name",
        )  # fmt: skip
        found: list[str] = []
        while request is not None:
            response = request.execute()
            names = [each["instance"].rpartition("/")[2] for each in response["items"]]
            found += map(self._address, names)
            request = group.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self.task_type: sorted(found)})

    def _address(self, name: str) -> str:
        instances = self._service.instances()
        request = instances.get(project=self._project, zone=self._zone, instance=name)
        return f"{request.execute()['networkInterfaces'][0]['networkIP']}:{self._port}"

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task, by default of this one."""
        kind = task_type if task_type is not None else self.task_type
        number = task_id if task_id is not None else self.task_id
        address = self.cluster_spec().task_address(kind, number)
        return address_with_layer(address, rpc_layer or self.rpc_layer)


def _compute_engine(credentials: Any) -> Any:
    try:
        discovery = importlib.import_module("googleapiclient.discovery")
        if credentials == "default":
            client = importlib.import_module("oauth2client.client")
            credentials = client.GoogleCredentials.get_application_default()
    except ImportError as error:
        raise ImportError(
            "googleapiclient must be installed before using the GCE cluster resolver; or give"
            " service"
        ) from error
    return discovery.build("compute", "v1", credentials=credentials)
