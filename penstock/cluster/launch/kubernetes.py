"""A job on Kubernetes: parameter servers, workers and a master, as one of three kinds of objects.

=============  ===================================================================================
statefulset    a StatefulSet and a headless service for each of ps, worker and master.  Pods always
               run there; those of workers wait when their program is done (``penstock hold``).
jobset         one JobSet (jobset.x-k8s.io): done when workers and master are, parameter servers
               then go; a program that fails starts again in its pod, at its name.
rayjob         one RayJob of KubeRay (ray.io) whose entry point is ``penstock launch --on ray``.
=============  ===================================================================================

The master runs the task ``chief 0``.  Addresses are DNS names, which a pod keeps when it starts
again, so a cluster never changes.  Beside them: the shared volume, and Jupyter and TensorBoard
behind ingresses.  Everything is made as dicts and written by PyYAML.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import yaml

from penstock.cluster.launch import pods
from penstock.cluster.launch.dockerfile import dockerfile
from penstock.cluster.launch.job import CHIEF, EVALUATOR, PS, WORKER, Job
from penstock.cluster.launch.pods import Object, Options
from penstock.cluster.launch.task_process import HEARTBEAT, METRICS

MASTER = "master"
_COMPONENTS = {CHIEF: MASTER, PS: PS, WORKER: WORKER, EVALUATOR: EVALUATOR}
# Where a pod reads its index: Kubernetes 1.28 and newer.
_SET_INDEX = "metadata.labels['apps.kubernetes.io/pod-index']"
_JOB_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
RAY_VERSION = "2.60.0"


def _sizes(job: Job) -> dict[str, int]:
    return {**job.sizes, **({EVALUATOR: 1} if job.evaluator else {})}


def _task_container(
    job: Job, options: Options, task_job: str, cluster: dict[str, list[str]], index: str, hold: bool
) -> Object:
    program = ["python", job.program] if job.program.endswith(".py") else [job.program]
    command = (["penstock", "hold", "--"] if hold else []) + [*program, *job.args]
    command = [pods.literal(word) for word in command]
    if job.flags:
        command += pods.task_flags(task_job, cluster)
    environment = pods.task_environment(task_job, cluster, index)
    if options.stuck_after:
        environment.append({"name": HEARTBEAT, "value": pods.HEARTBEAT_FILE})
    ports = {"grpc": options.port}
    if options.metrics_port and task_job != EVALUATOR:  # which has no server
        environment.append({"name": METRICS, "value": f"0.0.0.0:{options.metrics_port}"})
        ports[pods.METRICS_NAME] = options.metrics_port
    made = pods.container(
        options,
        _COMPONENTS[task_job],
        command,
        ports,
        environment,
        options.gpus if task_job in (CHIEF, WORKER) else 0,
    )
    if task_job != EVALUATOR:
        made["readinessProbe"] = pods.readiness(options)
    if options.stuck_after:
        made["livenessProbe"] = pods.liveness(options)
    return made


# ---- StatefulSets ------------------------------------------------------------------------------


def stateful_sets(job: Job, options: Options) -> list[Object]:
    """A headless service and a StatefulSet for each job of the cluster."""
    cluster = {
        task_job: [
            f"{_named(options, task_job)}-{i}.{_named(options, task_job)}:{options.port}"
            for i in range(count)
        ]
        for task_job, count in job.sizes.items()
    }
    made = []
    for task_job, count in _sizes(job).items():
        component = _COMPONENTS[task_job]
        contained = _task_container(job, options, task_job, cluster, _SET_INDEX, task_job != PS)
        made += [
            pods.service(options, component, options.port, "grpc", headless=True),
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": pods.metadata(options, component),
                "spec": {
                    "serviceName": _named(options, task_job),
                    "replicas": count,
                    # All at once: tasks wait for each other.
                    "podManagementPolicy": "Parallel",
                    "selector": {"matchLabels": pods.labels(options, component)},
                    "template": pods.pod(options, component, contained),
                },
            },
        ]
    return made


def _named(options: Options, task_job: str) -> str:
    return f"{options.name}-{_COMPONENTS[task_job]}"


# ---- JobSet ------------------------------------------------------------------------------------


def job_set(job: Job, options: Options) -> list[Object]:
    """One JobSet with an indexed Job for each job of the cluster."""
    cluster = {
        task_job: [
            f"{_named(options, task_job)}-0-{i}.{options.name}:{options.port}" for i in range(count)
        ]
        for task_job, count in job.sizes.items()
    }
    replicated = []
    for task_job, count in _sizes(job).items():
        component = _COMPONENTS[task_job]
        contained = _task_container(job, options, task_job, cluster, _JOB_INDEX, False)
        template = pods.pod(options, component, contained, restartPolicy="OnFailure")
        spec = {
            "parallelism": count,
            "completions": count,
            "completionMode": "Indexed",
            "backoffLimit": options.restarts * count,
            "template": template,
        }
        replicated.append({"name": component, "replicas": 1, "template": {"spec": spec}})
    waited_for = [_COMPONENTS[j] for j in _sizes(job) if j != PS]
    return [
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": pods.metadata(options, "jobset", options.name),
            "spec": {
                "network": {
                    "enableDNSHostnames": True,
                    "subdomain": options.name,
                    "publishNotReadyAddresses": True,
                },
                "successPolicy": {"operator": "All", "targetReplicatedJobs": waited_for},
                "failurePolicy": {"maxRestarts": options.restarts},
                "replicatedJobs": replicated,
            },
        }
    ]


# ---- RayJob ------------------------------------------------------------------------------------


def ray_job(job: Job, options: Options) -> list[Object]:
    """One RayJob: a Ray cluster with a pod for each task, and the launcher as its entry point."""
    cores = max(1, round(options.cpu))
    groups = {PS: job.ps, WORKER: len(job.tasks) - job.ps}
    workers = [
        {
            "groupName": group,
            "replicas": count,
            "minReplicas": count,
            "maxReplicas": count,
            "rayStartParams": {"num-cpus": str(cores)},
            "template": _ray_pod(options, group, options.gpus if group == WORKER else 0),
        }
        for group, count in groups.items()
        if count
    ]
    # The head runs no tasks.
    head = {
        "rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"},
        "template": _ray_pod(options, "head", 0),
    }
    return [
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayJob",
            "metadata": pods.metadata(options, "rayjob", options.name),
            "spec": {
                "entrypoint": shlex.join(_entry_point(job, options, cores)),
                "submissionMode": "K8sJobMode",
                "shutdownAfterJobFinishes": True,
                "ttlSecondsAfterFinished": 600,
                "backoffLimit": 0,
                "rayClusterSpec": {
                    "rayVersion": RAY_VERSION,
                    "headGroupSpec": head,
                    "workerGroupSpecs": workers,
                },
            },
        }
    ]


def _ray_pod(options: Options, component: str, gpus: int) -> Object:
    ports = {"gcs-server": 6379, "dashboard": 8265, "client": 10001} if component == "head" else {}
    # No command: KubeRay puts its own `ray start` there.
    name = "ray-head" if component == "head" else "ray-worker"
    return pods.pod(options, component, pods.container(options, name, [], ports, gpus=gpus))


def _entry_point(job: Job, options: Options, cores: int) -> list[str]:
    numbers = {"--ps": job.ps, "--workers": job.workers, "--restarts": options.restarts,
               "--cpus": cores, "--gpus": options.gpus}  # fmt: skip
    words = ["penstock", "launch", "--on", "ray"]
    words += [word for flag, number in numbers.items() for word in (flag, str(number))]
    flags = {"--chief": job.chief, "--evaluator": job.evaluator, "--no-flags": not job.flags}
    words += [flag for flag, given in flags.items() if given]
    return [*words, job.program, "--", *job.args]


# ---- files -------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Job, Options], list[Object]]] = {
    "statefulset": stateful_sets,
    "jobset": job_set,
    "rayjob": ray_job,
}


def manifests(job: Job, options: Options, kind: str) -> dict[str, list[Object]]:
    """The objects of a job, by the file they go into.

    Args:
      job: what to run; its program is a path in the image.
      options: names, sizes, security.
      kind: statefulset, jobset or rayjob.

    Raises:
      ValueError: for another kind, or for metrics of a RayJob, whose tasks share their pods' ports.
    """
    if kind not in KINDS:
        raise ValueError(f"Manifests of kind {kind!r}: there are {', '.join(KINDS)}.")
    if kind == "rayjob" and options.metrics_port:
        raise ValueError("Metrics of a RayJob are Ray's: a metrics port is for the other kinds.")
    cluster = KINDS[kind](job, options)
    if kind != "rayjob":  # Ray's own ports, and KubeRay, must get through
        cluster.append(pods.network_policy(options, [_COMPONENTS[j] for j in _sizes(job)]))
    return {
        "storage.yaml": [pods.storage(options)],
        "cluster.yaml": cluster,
        "tools.yaml": pods.tools(options),
    }


def write_manifests(job: Job, options: Options, kind: str, directory: str) -> list[Path]:
    """Writes a job's manifests and its Dockerfile.

    Args:
      job, options, kind: as for ``manifests``.
      directory: made when it is missing; files of these names are replaced.

    Returns:
      What was written.
    """
    made = manifests(job, options, kind)
    texts = {
        file: yaml.safe_dump_all(objects, sort_keys=False, width=100, explicit_start=True)
        for file, objects in made.items()
    }
    texts["Dockerfile"] = dockerfile(ray=kind == "rayjob")
    where = Path(directory)
    where.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (where / file).write_text(text)
    return [where / file for file in texts]
