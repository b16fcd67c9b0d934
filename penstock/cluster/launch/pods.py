"""The pieces of Kubernetes manifests: containers, pods, services, as plain dicts.

All pods run one image.  What a pod's program is told goes through Kubernetes' own means: the index
of a task comes from the pod's metadata into ``TASK_INDEX``, and ``$(TASK_INDEX)`` in ``TF_CONFIG``
and in arguments is replaced when the container starts.

Security comes from one Secret (its name is an option; it is not written here)::

    token            shared by all tasks and clients         PENSTOCK_TOKEN
    tls.crt tls.key  the certificate and key of every task   PENSTOCK_TLS_CERT, PENSTOCK_TLS_KEY
                     (for the name that all objects' names begin with: PENSTOCK_TLS_NAME)
    ca.crt           who signed it                           PENSTOCK_TLS_CA
    jupyter-token    for Jupyter; without it Jupyter makes one up and logs it

Two more are named by options: one of type kubernetes.io/tls for the ingresses, and one whose key
``auth`` lists users and passwords as htpasswd writes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.cluster.launch import kubernetes_values as values
from penstock.cluster.launch.job import place_flags

Object = dict[str, Any]

INDEX = "$(TASK_INDEX)"
LOGS = "/logs"
_TLS = "/etc/penstock/tls"
_TLS_FILES = {"PENSTOCK_TLS_CERT": "tls.crt", "PENSTOCK_TLS_KEY": "tls.key",
              "PENSTOCK_TLS_CA": "ca.crt"}  # fmt: skip
# The image's user: see ``dockerfile``.
USER = 1000
# A task's server touches this file every second (``penstock.cluster.distributed.heartbeat``).
HEARTBEAT_FILE = "/tmp/penstock-heartbeat"
# The name of the port with metrics.
METRICS_NAME = "metrics"
# The one ingress controller whose way to ask for a password is written here.
_NGINX = "nginx"
_NGINX_KEY = "nginx.ingress.kubernetes.io"


@dataclass(frozen=True)
class Options:
    """How a job is put on Kubernetes.

    Args:
      image: the image of all pods.
      name: what all objects' names begin with: a DNS label of at most 40 characters.
      namespace: where the objects live; None: where they are applied.
      port: of the tasks' gRPC.
      cpu: cores of a task.
      memory: of a task, as Kubernetes writes quantities.
      gpus: GPUs of a worker and the chief.
      secret: the Secret's name (see above); "" for none.
      tls: whether the Secret has certificates.
      storage: size of the volume that all pods share at /logs.
      storage_class: of that volume, which must be writable by many nodes; None: the default.
      host: what the ingresses' host must be; None: any.
      restarts: how often a JobSet's or RayJob's failures are made good.
      stuck_after: seconds after which a task whose server has fallen silent starts again; 0: never.
      ingress_class: of the ingresses; None: the cluster's default.
      ingress_tls: the Secret with the certificate of ``host``; "": plain HTTP.
      login: the Secret with the users who may see TensorBoard and Jupyter; "": who reaches them.
      metrics_port: where each task shows its metrics, to all who reach its pod; 0: nowhere.

    Raises:
      ValueError: for what Kubernetes would refuse, or could not do.
    """

    image: str
    name: str = "penstock"
    namespace: str | None = None
    port: int = 8080
    cpu: float = 1.0
    memory: str = "4Gi"
    gpus: int = 0
    secret: str = "penstock-security"
    tls: bool = True
    storage: str = "10Gi"
    storage_class: str | None = None
    host: str | None = None
    restarts: int = 10
    stuck_after: int = 60
    ingress_class: str | None = None
    ingress_tls: str = ""
    login: str = ""
    metrics_port: int = 0

    def __post_init__(self) -> None:
        values.check_prefix(self.name)
        names = {
            "namespace": self.namespace, "secret": self.secret, "login": self.login,
            "storage class": self.storage_class, "ingress class": self.ingress_class,
            "ingress's secret": self.ingress_tls,
        }  # fmt: skip
        for what, name in names.items():
            if name:
                values.check_name(what, name)
        values.check_image(self.image)
        values.check_quantity("memory", self.memory)
        values.check_quantity("storage", self.storage)
        if not 1 <= self.port <= 65535:
            raise ValueError(f"port {self.port} is none: 1 to 65535 are allowed.")
        if not 0 <= self.metrics_port <= 65535 or self.metrics_port == self.port:
            raise ValueError(
                f"port {self.metrics_port} is none for metrics: 1 to 65535 are allowed, but for"
                f" {self.port}, the tasks' own; 0 for none."
            )
        if self.host is not None:
            values.check_host(self.host)
        if self.ingress_tls and self.host is None:
            raise ValueError("an ingress with a certificate needs the host that it is for.")
        if self.login and self.ingress_class != _NGINX:
            raise ValueError(
                f"a login is asked for by the ingress class {_NGINX!r} alone; found"
                f" {self.ingress_class!r}."
            )


def labels(options: Options, component: str) -> dict[str, str]:
    """What the pods of a component are found by."""
    return {"app.kubernetes.io/name": options.name, "app.kubernetes.io/component": component}


def metadata(options: Options, component: str, name: str | None = None) -> Object:
    """Name, namespace and labels of an object."""
    made: Object = {"name": name or f"{options.name}-{component}"}
    if options.namespace is not None:
        made["namespace"] = options.namespace
    return {**made, "labels": labels(options, component)}


def literal(text: str) -> str:
    """Text in which Kubernetes replaces nothing.

    >>> literal("--name=$(HOME)")
    '--name=$$(HOME)'
    """
    return text.replace("$(", "$$(")


def task_environment(job: str, cluster: dict[str, list[str]], index_field: str) -> list[Object]:
    """Variables that tell a pod which task it is; the order matters to Kubernetes."""
    config = {"cluster": cluster, "task": {"type": job, "index": INDEX}}
    # The index is a number: it stands without quotes.
    text = json.dumps(config).replace(f'"{INDEX}"', INDEX)
    field = {"fieldRef": {"fieldPath": index_field}}
    return [
        {"name": "TASK_INDEX", "valueFrom": field},
        {"name": "TF_CONFIG", "value": text},
    ]


def task_flags(job: str, cluster: dict[str, list[str]]) -> list[str]:
    """The flags that tell a pod's program which task it is."""
    return place_flags(job, INDEX, cluster)


def security_environment(options: Options) -> list[Object]:
    """Variables that ``penstock.cluster.distributed.security`` reads."""
    values = {"PENSTOCK_BIND": "0.0.0.0"}
    if options.secret and options.tls:
        values |= {name: f"{_TLS}/{file}" for name, file in _TLS_FILES.items()}
        # One certificate does for all tasks.
        values["PENSTOCK_TLS_NAME"] = options.name
    else:
        # Asked for by leaving TLS out; the network policy keeps others away.
        values["PENSTOCK_INSECURE"] = "1"
    made: list[Object] = [{"name": name, "value": value} for name, value in values.items()]
    if options.secret:
        token = {"name": "PENSTOCK_TOKEN", "valueFrom": _secret_key(options, "token", False)}
        made.append(token)
    return made


def liveness(options: Options) -> Object:
    """The probe that finds a task which lives no more, though its process does.

    A program without a server never touches the file, and one that is done takes it away: both
    count as alive.
    """
    age = f"$(( $(date +%s) - $(stat -c %Y {HEARTBEAT_FILE}) ))"
    command = f"test ! -e {HEARTBEAT_FILE} || test {age} -lt {options.stuck_after}"
    return {
        "exec": {"command": ["sh", "-c", command]},
        "periodSeconds": 10,
        "timeoutSeconds": 5,
        "failureThreshold": 2,
    }


def readiness(options: Options) -> Object:
    """The probe that finds out whether a task's server listens."""
    if options.metrics_port:
        asked: Object = {"httpGet": {"path": "/readyz", "port": METRICS_NAME}}
    else:
        asked = {"tcpSocket": {"port": "grpc"}}
    return {**asked, "periodSeconds": 10}


def _scraped(options: Options, contained: Object) -> Object:
    """The annotations by which Prometheus finds a pod with metrics, as most set-ups read them."""
    if not any(port["name"] == METRICS_NAME for port in contained["ports"]):
        return {}
    told = {"scrape": "true", "port": str(options.metrics_port), "path": "/metrics"}
    return {"annotations": {f"prometheus.io/{key}": value for key, value in told.items()}}


def _secret_key(options: Options, key: str, optional: bool) -> Object:
    return {"secretKeyRef": {"name": options.secret, "key": key, "optional": optional}}


def container(
    options: Options,
    name: str,
    command: Sequence[str],
    ports: dict[str, int],
    environment: Sequence[Object] = (),
    gpus: int = 0,
) -> Object:
    """A container of the image, without any rights beyond its user's."""
    limits: Object = {"cpu": f"{options.cpu:g}", "memory": options.memory}
    if gpus:
        limits["nvidia.com/gpu"] = str(gpus)
    mounts: list[Object] = [{"name": "logs", "mountPath": LOGS}]
    if options.secret and options.tls:
        mounts.append({"name": "tls", "mountPath": _TLS, "readOnly": True})
    made: Object = {
        "name": name,
        "image": options.image,
        "env": [
            {"name": "PYTHONUNBUFFERED", "value": "1"},
            *environment,
            *security_environment(options),
        ],
        "ports": [
            {"name": n, "containerPort": port, "protocol": "TCP"} for n, port in ports.items()
        ],
        "resources": {"requests": dict(limits), "limits": limits},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }
    if command:
        made["command"] = list(command)
    return made


def pod(options: Options, component: str, contained: Object, **spec: Any) -> Object:
    """A pod template around one container."""
    volumes: list[Object] = [
        {"name": "logs", "persistentVolumeClaim": {"claimName": f"{options.name}-logs"}}
    ]
    if options.secret and options.tls:
        items = [{"key": file, "path": file} for file in _TLS_FILES.values()]
        volumes.append(
            {
                "name": "tls",
                "secret": {"secretName": options.secret, "items": items, "defaultMode": 0o440},
            }
        )
    return {
        "metadata": {"labels": labels(options, component), **_scraped(options, contained)},
        "spec": {
            **spec,
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER,
                "runAsGroup": USER,
                "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [contained],
            "volumes": volumes,
        },
    }


def service(
    options: Options, component: str, port: int, target: str, headless: bool = False
) -> Object:
    """A service in front of a component's pods; a headless one gives each pod a name of its own."""
    spec: Object = {
        "selector": labels(options, component),
        "ports": [{"name": target, "port": port, "targetPort": target}],
    }
    if headless:
        # Tasks look each other up while they start, before they are ready.
        spec |= {"clusterIP": "None", "publishNotReadyAddresses": True}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(options, component),
        "spec": spec,
    }


def storage(options: Options) -> Object:
    """The volume that all pods share: checkpoints, event files, notebooks."""
    spec: Object = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": options.storage}},
    }
    if options.storage_class is not None:
        spec["storageClassName"] = options.storage_class
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(options, "logs"),
        "spec": spec,
    }


def network_policy(options: Options, components: Sequence[str]) -> Object:
    """Only this job's own pods may speak to its tasks; all may read their metrics."""
    mine = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": options.name}}}
    chosen = {
        "key": "app.kubernetes.io/component",
        "operator": "In",
        "values": list(components),
    }
    allowed: list[Object] = [{"from": [mine], "ports": [{"port": options.port, "protocol": "TCP"}]}]
    if options.metrics_port:
        # Prometheus runs in a namespace of its own, whose name is not known here.
        allowed.append({"ports": [{"port": options.metrics_port, "protocol": "TCP"}]})
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(options, "tasks"),
        "spec": {
            "podSelector": {
                "matchLabels": {"app.kubernetes.io/name": options.name},
                "matchExpressions": [chosen],
            },
            "policyTypes": ["Ingress"],
            "ingress": allowed,
        },
    }


def tools(options: Options) -> list[Object]:
    """Jupyter and TensorBoard, each a deployment, a service and an ingress."""
    token = (
        [{"name": "JUPYTER_TOKEN", "valueFrom": _secret_key(options, "jupyter-token", True)}]
        if options.secret
        else []
    )
    jupyter = ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser",
               "--ServerApp.base_url=/jupyter", f"--ServerApp.root_dir={LOGS}"]  # fmt: skip
    tensorboard = ["tensorboard", f"--logdir={LOGS}", "--bind_all", "--port=6006",
                   "--path_prefix=/tensorboard"]  # fmt: skip
    return [
        *_tool(options, "jupyter", jupyter, 8888, 80, token),
        *_tool(options, "tensorboard", tensorboard, 6006, 6006, []),
    ]


def _tool(
    options: Options,
    component: str,
    command: list[str],
    port: int,
    shown: int,
    environment: list[Object],
) -> list[Object]:
    contained = container(options, component, command, {"http": port}, environment)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(options, component),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels(options, component)},
            "template": pod(options, component, contained),
        },
    }
    backend = {"service": {"name": f"{options.name}-{component}", "port": {"number": shown}}}
    path = {"path": f"/{component}", "pathType": "Prefix", "backend": backend}
    rule: Object = {"http": {"paths": [path]}}
    if options.host is not None:
        rule = {"host": options.host, **rule}
    return [
        deployment, service(options, component, shown, "http"), _ingress(options, component, rule)
    ]  # fmt: skip


def _ingress(options: Options, component: str, rule: Object) -> Object:
    about = metadata(options, component)
    if options.login:
        about["annotations"] = {
            f"{_NGINX_KEY}/auth-type": "basic",
            f"{_NGINX_KEY}/auth-secret": options.login,
            f"{_NGINX_KEY}/auth-realm": options.name,
        }
    spec: Object = {"rules": [rule]}
    if options.ingress_class is not None:
        spec["ingressClassName"] = options.ingress_class
    if options.ingress_tls:
        spec["tls"] = [{"hosts": [options.host], "secretName": options.ingress_tls}]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": about,
        "spec": spec,
    }
