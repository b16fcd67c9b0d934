"""Manifests against the published schemas, and against themselves: names, labels, ports, indices.

Kubernetes' own objects are validated by ``kubernetes-validate``, which carries the OpenAPI schemas
of Kubernetes; JobSets by the models that Kubeflow publishes of JobSet's API.  KubeRay publishes its
schemas in no package: a RayJob is held against a schema of the fields that its reference documents,
its pods against Kubernetes'.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from penstock.cluster.launch import pods as launch_pods
from penstock.cluster.launch.dockerfile import dockerfile
from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.kubernetes import KINDS, manifests, write_manifests
from penstock.cluster.launch.pods import Options
from penstock.cluster.launch.task_process import HEARTBEAT, METRICS
from tests.suite.clock import wait_until
from tests.suite.daily import long_but

kubernetes_validate = pytest.importorskip("kubernetes_validate")
ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "penstock"]
VERSIONS = ("1.30", "1.34", kubernetes_validate.latest_version())
ARGS = ("--rate", "0.1", "--home=$(HOME)", "two words")

JOBS = {
    "picture": Job("train.py", ARGS, ps=2, workers=15, chief=True),
    "workers only": Job("train.py", workers=1),
    "all": Job("bin/train", ARGS, ps=1, workers=2, chief=True, evaluator=True, flags=False),
}
OPTIONS = {
    "default": Options("registry.example/team/train:1"),
    "all": Options(
        "i", "w2v", "research", 2222, 0.5, "8Gi", 2, "sec", True, "1Ti", "nfs", "h.example", 2
    ),
    "shown": Options(
        "i", host="w2v.example", ingress_class="nginx", ingress_tls="web", login="readers"
    ),
    "open": Options("i", secret=""),
    "token": Options("i", tls=False),
}  # fmt: skip

# The fields that KubeRay's API reference documents for ray.io/v1, those written here or likely to.
_TEMPLATE = {"type": "object", "required": ["spec"]}
_PARAMS = {"type": "object", "additionalProperties": {"type": "string"}}
_HEAD = {
    "type": "object",
    "required": ["rayStartParams", "template"],
    "additionalProperties": False,
    "properties": {
        "serviceType": {"type": "string"}, "enableIngress": {"type": "boolean"},
        "headService": {"type": "object"}, "rayStartParams": _PARAMS, "template": _TEMPLATE,
    },
}  # fmt: skip
_GROUP = {
    "type": "object",
    "required": ["groupName", "rayStartParams", "template", "minReplicas", "maxReplicas"],
    "additionalProperties": False,
    "properties": {
        "groupName": {"type": "string"}, "replicas": {"type": "integer", "minimum": 0},
        "minReplicas": {"type": "integer", "minimum": 0},
        "maxReplicas": {"type": "integer", "minimum": 0}, "numOfHosts": {"type": "integer"},
        "idleTimeoutSeconds": {"type": "integer"}, "suspend": {"type": "boolean"},
        "rayStartParams": _PARAMS, "template": _TEMPLATE, "scaleStrategy": {"type": "object"},
    },
}  # fmt: skip
RAY_JOB = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayJob"},
        "metadata": {"type": "object", "required": ["name"]},
        "spec": {
            "type": "object",
            "required": ["entrypoint", "rayClusterSpec"],
            "additionalProperties": False,
            "properties": {
                "entrypoint": {"type": "string"}, "runtimeEnvYAML": {"type": "string"},
                "jobId": {"type": "string"}, "metadata": {"type": "object"},
                "submissionMode": {
                    "enum": ["K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode"],
                },
                "shutdownAfterJobFinishes": {"type": "boolean"},
                "ttlSecondsAfterFinished": {"type": "integer", "minimum": 0},
                "activeDeadlineSeconds": {"type": "integer"},
                "backoffLimit": {"type": "integer", "minimum": 0},
                "suspend": {"type": "boolean"}, "managedBy": {"type": "string"},
                "clusterSelector": {"type": "object"},
                "submitterPodTemplate": _TEMPLATE, "submitterConfig": {"type": "object"},
                "entrypointNumCpus": {"type": "number"}, "entrypointNumGpus": {"type": "number"},
                "entrypointResources": {"type": "string"}, "deletionStrategy": {"type": "object"},
                "rayClusterSpec": {
                    "type": "object",
                    "required": ["headGroupSpec"],
                    "additionalProperties": False,
                    "properties": {
                        "rayVersion": {"type": "string"}, "headGroupSpec": _HEAD,
                        "workerGroupSpecs": {"type": "array", "items": _GROUP},
                        "enableInTreeAutoscaling": {"type": "boolean"},
                        "autoscalerOptions": {"type": "object"},
                        "headServiceAnnotations": {"type": "object"},
                        "gcsFaultToleranceOptions": {"type": "object"},
                        "suspend": {"type": "boolean"}, "managedBy": {"type": "string"},
                    },
                },
            },
        },
    },
}  # fmt: skip


def objects(job: Job, options: Options, kind: str) -> list[dict[str, Any]]:
    """All objects, as they come back from the text."""
    return [
        read
        for made in manifests(job, options, kind).values()
        for read in yaml.safe_load_all(yaml.safe_dump_all(made))
    ]


def of_kind(made: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {o["metadata"]["name"]: o for o in made if o["kind"] == kind}


def pod_template(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "p"},
        "template": template,
    }


def pods(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pod templates of all objects."""
    found = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            spec = value.get("spec")
            if isinstance(spec, dict) and "containers" in spec:
                found.append(value)
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(made)
    return found


def validate_job_set(job_set: dict[str, Any]) -> None:
    """A model keeps only the fields that the API has, with their types: nothing may be lost."""
    models = pytest.importorskip("kubeflow_trainer_api.models")
    read = models.JobsetV1alpha2JobSet.from_dict(job_set)
    assert json.loads(read.to_json()) == job_set


def validate(made: dict[str, Any], version: str) -> None:
    if made["kind"] == "JobSet":
        validate_job_set(made)
        for replicated in made["spec"]["replicatedJobs"]:
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
            kubernetes_validate.validate({**job, **replicated["template"]}, version, strict=True)
    elif made["kind"] == "RayJob":
        jsonschema.Draft202012Validator(RAY_JOB).validate(made)
        for template in pods([made]):
            kubernetes_validate.validate(pod_template(template), version, strict=True)
    else:
        kubernetes_validate.validate(made, version, strict=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "job, options",
    long_but(
        [("picture", "default"), ("workers only", "open")],
        [
            ("picture", "default"),
            ("picture", "token"),
            ("workers only", "open"),
            ("all", "all"),
            ("all", "shown"),
        ],
    ),
)
def test_manifests_are_valid(job: str, options: str, kind: str) -> None:
    for made in objects(JOBS[job], OPTIONS[options], kind):
        for version in VERSIONS if options == "all" else VERSIONS[-1:]:
            validate(made, version)


@pytest.mark.parametrize(
    "kind, path",
    [
        ("statefulset", ("StatefulSet", "spec", "replica")),
        ("statefulset", ("Service", "spec", "clusterIp")),
        ("statefulset", ("Ingress", "spec", "rule")),
        ("jobset", ("JobSet", "spec", "sucessPolicy")),
        ("rayjob", ("RayJob", "spec", "entryPoint")),
    ],
)
def test_the_validators_see_a_wrong_field(kind: str, path: tuple[str, str, str]) -> None:
    made = objects(JOBS["picture"], OPTIONS["default"], kind)
    broken = next(iter(of_kind(made, path[0]).values()))
    broken[path[1]][path[2]] = "x"
    with pytest.raises((jsonschema.ValidationError, AssertionError)):
        validate(broken, VERSIONS[-1])


def test_the_validators_see_a_wrong_pod() -> None:
    for kind, name in (("jobset", "JobSet"), ("rayjob", "RayJob"), ("statefulset", "StatefulSet")):
        (broken, *_) = of_kind(objects(JOBS["picture"], OPTIONS["default"], kind), name).values()
        pods([broken])[0]["spec"]["containers"][0]["comand"] = ["x"]
        with pytest.raises((jsonschema.ValidationError, AssertionError)):
            validate(broken, VERSIONS[-1])


def test_the_picture() -> None:
    made = objects(JOBS["picture"], OPTIONS["default"], "statefulset")
    sets = of_kind(made, "StatefulSet")
    assert {name: s["spec"]["replicas"] for name, s in sets.items()} == {
        "penstock-master": 1, "penstock-ps": 2, "penstock-worker": 15,
    }  # fmt: skip
    services = of_kind(made, "Service")
    for name in sets:
        assert services[name]["spec"]["clusterIP"] == "None"
        assert services[name]["spec"]["ports"][0]["port"] == 8080
    assert services["penstock-jupyter"]["spec"]["ports"][0]["port"] == 80
    assert services["penstock-tensorboard"]["spec"]["ports"][0]["port"] == 6006
    assert set(of_kind(made, "Ingress")) == {"penstock-jupyter", "penstock-tensorboard"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS)
def test_selectors_find_pods_and_ports(options: str, kind: str) -> None:
    made = objects(JOBS["all"], OPTIONS[options], kind)
    namespaces = {o["metadata"].get("namespace") for o in made}
    assert namespaces == {OPTIONS[options].namespace}
    labelled = [
        (p["metadata"]["labels"], {port["name"] for port in p["spec"]["containers"][0]["ports"]})
        for p in pods(made)
    ]
    for service in of_kind(made, "Service").values():
        spec = service["spec"]
        (ports,) = [n for labels, n in labelled if spec["selector"].items() <= labels.items()]
        assert {port["targetPort"] for port in spec["ports"]} <= ports
    for kind_of_set in ("StatefulSet", "Deployment"):
        for owner in of_kind(made, kind_of_set).values():
            labels = owner["spec"]["template"]["metadata"]["labels"]
            assert owner["spec"]["selector"]["matchLabels"] == labels
    for ingress in of_kind(made, "Ingress").values():
        backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        ports = of_kind(made, "Service")[backend["name"]]["spec"]["ports"]
        assert backend["port"]["number"] == ports[0]["port"]
    claims = of_kind(made, "PersistentVolumeClaim")
    for pod in pods(made):
        for volume in pod["spec"]["volumes"]:
            if claim := volume.get("persistentVolumeClaim"):
                assert claim["claimName"] in claims
        volumes = {v["name"] for v in pod["spec"]["volumes"]}
        mounts = {m["name"] for c in pod["spec"]["containers"] for m in c["volumeMounts"]}
        assert mounts == volumes


def addresses(job: Job, options: Options, kind: str) -> dict[Task, str]:
    """Where Kubernetes' DNS finds the tasks' pods, from the objects alone."""
    made = objects(job, options, kind)
    found = {}
    jobs = {"master": "chief"}
    if kind == "statefulset":
        for name, owner in of_kind(made, "StatefulSet").items():
            component = owner["metadata"]["labels"]["app.kubernetes.io/component"]
            for index in range(owner["spec"]["replicas"]):
                host = f"{name}-{index}.{owner['spec']['serviceName']}"
                found[Task(jobs.get(component, component), index)] = f"{host}:{options.port}"
    else:
        ((name, owner),) = of_kind(made, "JobSet").items()
        for replicated in owner["spec"]["replicatedJobs"]:
            component = replicated["name"]
            for index in range(replicated["template"]["spec"]["completions"]):
                host = f"{name}-{component}-0-{index}.{owner['spec']['network']['subdomain']}"
                found[Task(jobs.get(component, component), index)] = f"{host}:{options.port}"
    return {task: at for task, at in found.items() if task.job != "evaluator"}


def expanded(text: str, variables: dict[str, str]) -> str:
    """``$(NAME)`` replaced as Kubernetes does it: ``$$(`` is literal, unknown names stay."""
    return re.sub(
        r"\$\$|\$\((\w+)\)",
        lambda m: "$" if m[0] == "$$" else variables.get(m[1], m[0]),
        text,
    )


def started(contained: dict[str, Any], index: int) -> tuple[dict[str, str], list[str]]:
    """The environment and the command line that a pod of this index starts with."""
    variables: dict[str, str] = {}
    for variable in contained["env"]:
        if "value" in variable:
            variables[variable["name"]] = expanded(variable["value"], variables)
        elif "fieldRef" in variable["valueFrom"]:
            variables[variable["name"]] = str(index)
    return variables, [expanded(word, variables) for word in contained["command"]]


@pytest.mark.parametrize("kind", ["statefulset", "jobset"])
@pytest.mark.parametrize("name", JOBS)
def test_pods_are_told_who_they_are(name: str, kind: str) -> None:
    job, options = JOBS[name], OPTIONS["default"]
    at = addresses(job, options, kind)
    assert set(at) == set(job.cluster_tasks)
    seen = set()
    for template in pods(objects(job, options, kind)):
        (contained,) = template["spec"]["containers"]
        task_job = {"master": "chief"}.get(contained["name"], contained["name"])
        if task_job in ("jupyter", "tensorboard"):
            continue
        for index in range({**job.sizes, "evaluator": 1}[task_job]):
            task = Task(task_job, index)
            variables, command = started(contained, index)
            assert variables["TF_CONFIG"] == job.tf_config(task, at)
            program = ["python", job.program] if job.program.endswith(".py") else [job.program]
            hold = ["penstock", "hold", "--"] * (kind == "statefulset" and task_job != "ps")
            assert command == [*hold, *program, *job.arguments(task, at)]
            seen.add(task)
    assert seen == set(job.tasks)


@pytest.mark.parametrize("kind", KINDS)
def test_security(kind: str) -> None:
    def variables(options: Options) -> list[dict[str, Any]]:
        made = [p["spec"]["containers"][0] for p in pods(objects(JOBS["picture"], options, kind))]
        return [{v["name"]: v.get("value", v.get("valueFrom")) for v in c["env"]} for c in made]

    for found in variables(OPTIONS["default"]):
        token = {"name": "penstock-security", "key": "token", "optional": False}
        assert found["PENSTOCK_TOKEN"] == {"secretKeyRef": token}
        assert found["PENSTOCK_TLS_CERT"] == "/etc/penstock/tls/tls.crt"
        assert found["PENSTOCK_TLS_KEY"] == "/etc/penstock/tls/tls.key"
        assert found["PENSTOCK_TLS_CA"] == "/etc/penstock/tls/ca.crt"
        assert found["PENSTOCK_TLS_NAME"] == "penstock"
        assert "PENSTOCK_INSECURE" not in found
    for found in variables(OPTIONS["open"]):
        assert not {"PENSTOCK_TOKEN", "PENSTOCK_TLS_CERT"} & set(found)
        assert found["PENSTOCK_INSECURE"] == "1"
    for found in variables(OPTIONS["token"]):
        assert "PENSTOCK_TOKEN" in found and "PENSTOCK_TLS_CERT" not in found
    for template in pods(objects(JOBS["picture"], OPTIONS["default"], kind)):
        assert template["spec"]["securityContext"]["runAsNonRoot"]
        paths = {m["mountPath"] for m in template["spec"]["containers"][0]["volumeMounts"]}
        assert paths == {"/logs", "/etc/penstock/tls"}


def test_the_variables_are_those_that_servers_read() -> None:
    security = pytest.importorskip("penstock.cluster.distributed.security")
    documented = security.__doc__ or ""
    for name in ("PENSTOCK_TOKEN", "PENSTOCK_TLS_NAME", "PENSTOCK_BIND", "PENSTOCK_INSECURE"):
        assert name in documented
    assert security.Security.from_environment({"PENSTOCK_BIND": "0.0.0.0"}).bind == "0.0.0.0"


def test_gpus_go_to_workers_and_the_master() -> None:
    for kind in KINDS:
        limits = {
            p["spec"]["containers"][0]["name"]: p["spec"]["containers"][0]["resources"]["limits"]
            for p in pods(objects(JOBS["all"], OPTIONS["all"], kind))
            if p["metadata"]["labels"]["app.kubernetes.io/component"] != "ps"
        }
        with_gpus = {name for name, limit in limits.items() if "nvidia.com/gpu" in limit}
        assert with_gpus == ({"ray-worker"} if kind == "rayjob" else {"master", "worker"})


def test_the_entry_point_of_a_ray_job_is_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words are given to the command itself, which makes the same job of them."""
    import shlex

    from typer.testing import CliRunner

    from penstock.cli import launching
    from penstock.cli.main import app

    seen: list[Any] = []
    monkeypatch.setattr(launching, "launch_on_ray", lambda *words: seen.append(words) or 0)
    for job in JOBS.values():
        (made,) = of_kind(objects(job, OPTIONS["all"], "rayjob"), "RayJob").values()
        command, *words = shlex.split(made["spec"]["entrypoint"])
        done = CliRunner().invoke(app, words)
        assert command == "penstock" and done.exit_code == 0, done.output
        _, launched, policy, _, options = seen.pop()
        assert launched == job
        assert policy.restarts == 2 and options.gpus == 2
        workers = made["spec"]["rayClusterSpec"]["workerGroupSpecs"]
        assert sum(group["replicas"] for group in workers) == len(job.tasks)


@pytest.mark.long
def test_the_command_writes_what_kubectl_takes(tmp_path: Path) -> None:
    words = ["k8s", "--ps", "2", "--workers", "15", "--image", "i", "--kind", "jobset", "--out"]
    done = subprocess.run(
        [*COMMAND, *words, str(tmp_path / "out"), "train.py", "--", "--steps", "9"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "needs the secret penstock-security with token, tls.crt, tls.key, ca.crt" in done.stdout
    files = {p.name: p.read_text() for p in (tmp_path / "out").iterdir()}
    assert set(files) == {"storage.yaml", "cluster.yaml", "tools.yaml", "Dockerfile"}
    for name, text in files.items():
        if name.endswith(".yaml"):
            for made in yaml.safe_load_all(text):
                validate(made, VERSIONS[-1])
    assert "jobset.x-k8s.io/v1alpha2" in files["cluster.yaml"]


@pytest.mark.long
def test_files_are_the_objects(tmp_path: Path) -> None:
    for kind in KINDS:
        written = write_manifests(JOBS["all"], OPTIONS["all"], kind, str(tmp_path))
        read = [
            o for p in written if p.suffix == ".yaml" for o in yaml.safe_load_all(p.read_text())
        ]
        assert read == objects(JOBS["all"], OPTIONS["all"], kind)
        assert (tmp_path / "Dockerfile").read_text() == dockerfile(ray=kind == "rayjob")


@pytest.mark.parametrize("name", ["Upper", "-a", "a-", "", "a" * 41, "a.b", "1a", "a\n"])
def test_names_that_kubernetes_refuses(name: str) -> None:
    with pytest.raises(ValueError, match="cannot begin the names"):
        Options("i", name)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"image": "Bad Name"}, "image 'Bad Name' is no name of an image"),
        ({"image": ""}, "is no name of an image"),
        ({"image": "Upper/case"}, "is no name of an image"),
        ({"image": "img:"}, "is no name of an image"),
        ({"image": "img:a b"}, "is no name of an image"),
        ({"image": "img\nx: y"}, "is no name of an image"),
        ({"image": "a//b"}, "is no name of an image"),
        ({"memory": "4 Gi"}, "memory '4 Gi' is no quantity"),
        ({"memory": "0Gi"}, "above zero"),
        ({"memory": "4gb"}, "as in 4Gi"),
        ({"storage": "10Gi\n"}, "is no quantity"),
        ({"storage": ""}, "storage '' is no quantity"),
        ({"host": "Example.org"}, "host 'Example.org'"),
        ({"host": "h.example:80"}, "no address, port or path"),
        ({"host": "10.0.0.1"}, "host '10.0.0.1'"),
        ({"host": "a..b"}, "host 'a..b'"),
        ({"port": 0}, "port 0 is none"),
        ({"metrics_port": 65536}, "port 65536 is none for metrics"),
        ({"metrics_port": 8080}, "but for 8080, the tasks' own"),
        ({"namespace": "Research"}, "namespace 'Research'"),
        ({"secret": "a_b"}, "secret 'a_b'"),
        ({"storage_class": "-x"}, "storage class '-x'"),
        ({"ingress_class": "my class"}, "ingress class 'my class'"),
        ({"ingress_tls": "web"}, "needs the host"),
        ({"login": "readers"}, "'nginx' alone; found None"),
        ({"login": "readers", "ingress_class": "traefik"}, "found 'traefik'"),
    ],
)  # fmt: skip
def test_values_that_kubernetes_refuses(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Options(**({"image": "i"} | wrong))


@pytest.mark.parametrize("text", ["4Gi", "1.5", "500m", "1e3", ".5Gi", "12E"])
def test_quantities(text: str) -> None:
    assert Options("i", memory=text, storage=text).memory == text


@pytest.mark.parametrize("host", ["*.example.org", "a-b.c", "localhost"])
def test_hosts(host: str) -> None:
    assert Options("i", host=host).host == host


def test_ingresses_ask_for_a_login_and_speak_tls() -> None:
    made = of_kind(objects(JOBS["all"], OPTIONS["shown"], "jobset"), "Ingress")
    assert len(made) == 2
    for ingress in made.values():
        spec = ingress["spec"]
        assert spec["ingressClassName"] == "nginx"
        assert spec["tls"] == [{"hosts": ["w2v.example"], "secretName": "web"}]
        assert spec["rules"][0]["host"] == "w2v.example"
        asked = ingress["metadata"]["annotations"]
        assert asked["nginx.ingress.kubernetes.io/auth-secret"] == "readers"
        assert asked["nginx.ingress.kubernetes.io/auth-type"] == "basic"
    plain = of_kind(objects(JOBS["all"], OPTIONS["default"], "jobset"), "Ingress")
    for ingress in plain.values():
        assert set(ingress["spec"]) == {"rules"} and "annotations" not in ingress["metadata"]


@pytest.mark.parametrize("kind", ["statefulset", "jobset"])
def test_tasks_are_probed(kind: str) -> None:
    tools = {"jupyter", "tensorboard"}
    for options, watched in ((OPTIONS["default"], True), (Options("i", stuck_after=0), False)):
        for template in pods(objects(JOBS["all"], options, kind)):
            (contained,) = template["spec"]["containers"]
            is_task = contained["name"] not in tools
            assert ("livenessProbe" in contained) == (watched and is_task)
            named = {variable["name"] for variable in contained["env"]}
            assert (HEARTBEAT in named) == (watched and is_task)
            serves = is_task and contained["name"] != "evaluator"
            assert ("readinessProbe" in contained) == serves


@pytest.mark.long
def test_the_probe_tells_a_server_that_lives_from_one_that_fell_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "heartbeat"
    monkeypatch.setattr(launch_pods, "HEARTBEAT_FILE", str(file))

    def alive(seconds: int) -> bool:
        command = launch_pods.liveness(Options("i", stuck_after=seconds))["exec"]["command"]
        return subprocess.run(command, check=False).returncode == 0

    assert alive(1)  # no server yet, or none at all
    program = "from penstock.cluster.distributed import heartbeat as h; h.begin(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE,
        env={**os.environ, HEARTBEAT: str(file)},
    ) as server:  # fmt: skip
        wait_until(file.exists)
        server.send_signal(signal.SIGSTOP)
        wait_until(lambda: not alive(2))
        server.send_signal(signal.SIGCONT)
        wait_until(lambda: alive(2))
        server.kill()


@pytest.mark.parametrize("kind", ["statefulset", "jobset"])
def test_metrics_are_shown_where_they_are_asked_for(kind: str) -> None:
    made = objects(JOBS["all"], Options("i", metrics_port=9090), kind)
    for each in made:
        validate(each, VERSIONS[-1])
    shown = set()
    for template in pods(made):
        (contained,) = template["spec"]["containers"]
        variables = {v["name"]: v.get("value") for v in contained["env"]}
        if METRICS not in variables:
            assert "annotations" not in template["metadata"]
            continue
        shown.add(contained["name"])
        assert variables[METRICS] == "0.0.0.0:9090"
        ports = {port["name"]: port["containerPort"] for port in contained["ports"]}
        assert ports["metrics"] == 9090
        assert contained["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}
        assert template["metadata"]["annotations"] == {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9090",
            "prometheus.io/path": "/metrics",
        }
    assert shown == {"master", "ps", "worker"}
    (policy,) = of_kind(made, "NetworkPolicy").values()
    inside, anybody = policy["spec"]["ingress"]
    assert inside["ports"][0]["port"] == 8080 and "from" in inside
    assert anybody == {"ports": [{"port": 9090, "protocol": "TCP"}]}


def test_metrics_are_off_by_default() -> None:
    text = yaml.safe_dump_all(objects(JOBS["all"], OPTIONS["default"], "statefulset"))
    assert "metrics" not in text.lower() and "annotations" not in text


def test_a_ray_job_has_no_port_for_metrics() -> None:
    with pytest.raises(ValueError, match="Metrics of a RayJob are Ray's"):
        manifests(JOBS["all"], Options("i", metrics_port=9090), "rayjob")


def test_unknown_kinds() -> None:
    with pytest.raises(ValueError, match="statefulset, jobset, rayjob"):
        manifests(JOBS["all"], OPTIONS["all"], "pod")


# ---- penstock hold -----------------------------------------------------------------------------


def hold(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "hold", "--", *command], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_hold_waits_when_the_program_is_done() -> None:
    process = hold(sys.executable, "-c", "print('trained')")
    assert process.stdout is not None
    assert process.stdout.readline() == "trained\n"
    assert "waiting" in process.stdout.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.terminate()
    assert process.wait() == 0
    process.stdout.close()


def test_hold_takes_the_heartbeat_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "heartbeat"
    monkeypatch.setenv(HEARTBEAT, str(file))
    process = hold(sys.executable, "-c", f"open({str(file)!r}, 'w'); print('trained')")
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)][1].startswith("done")
    assert not file.exists()
    process.terminate()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    "code, status", [("raise SystemExit(5)", 5), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_hold_passes_failures_on(code: str, status: int) -> None:
    with hold(sys.executable, "-c", code) as process:
        assert process.wait() == status


def test_hold_forwards_signals(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    with hold(sys.executable, "-c", code) as process:
        wait_until(lambda: mark.exists() and mark.read_text())
        process.terminate()
        assert process.wait() == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
