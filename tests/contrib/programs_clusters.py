"""Programs of cluster resolvers that ask a service (``recorded``), which is a made-up one."""

import os
from contextlib import contextmanager

from tests.contrib.recorded import refused


@contextmanager
def _environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _slurm(tf, rank, tasks, jobs, **arguments):
    class Resolver(tf.contrib.cluster_resolver.SlurmClusterResolver):
        def _resolve_hostnames(self):
            return ["t01", "t02"]

    with _environment(SLURM_PROCID=rank, SLURM_NTASKS=tasks, SLURM_NTASKS_PER_NODE="2"):
        resolver = Resolver(jobs, **arguments)
        found = [resolver.master(), resolver.get_task_info(), resolver.num_accelerators()]
        found += [resolver.cluster_spec().as_dict(), resolver.get_task_info(), resolver.master()]
        found += [resolver.task_type, resolver.task_id, resolver.rpc_layer, resolver.environment]
        found.append(os.environ.get("CUDA_VISIBLE_DEVICES", ""))
        return found + [resolver.master("worker", 0), resolver.master("worker", 1, "http")]


def case_slurm(tf):
    with _environment(CUDA_VISIBLE_DEVICES=""):
        return [
            _slurm(tf, "3", "4", {"worker": 3, "ps": 1}, gpus_per_node=2),
            _slurm(tf, "1", "4", {"worker": 4}, gpus_per_node=4, gpus_per_task=2, port_base=9),
            _slurm(tf, "0", "2", {"worker": 2}, tasks_per_node=1, auto_set_gpu=False, rpc_layer=""),
            refused(lambda: _slurm(tf, "0", "4", {"worker": 4}), "Requested more GPUs per node"),
            refused(lambda: _slurm(tf, "0", "4", {"worker": 5}, gpus_per_node=2), "more tasks"),
            refused(lambda: _slurm(tf, "0", "4", {"worker": 3}, gpus_per_node=2), "more tasks"),
        ]


class _Record:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class _Pods:
    def list_pod_for_all_namespaces(self, label_selector):
        name = label_selector.partition("=")[2]
        phase = "Pending" if name == "bad" else "Running"
        status = [_Record(host_ip=f"10.0.0.{i}", phase=phase) for i in (2, 1)]
        pods = [_Record(status=s, metadata=_Record(name=name + s.host_ip[-1])) for s in status]
        return _Record(items=pods)


def case_kubernetes(tf):
    def make(*given):
        return tf.contrib.cluster_resolver.KubernetesClusterResolver(
            *given, override_client=_Pods()
        )

    one, two = make(), make({"worker": ["job=a", "job=b"], "ps": ["job=c"]}, 9, "http")
    found = [one.cluster_spec().as_dict(), one.master(), one.task_type, one.task_id, one.rpc_layer]
    found += [one.environment, two.cluster_spec().as_dict(), two.master("ps", 1)]
    found += [two.master("ps", 1, "grpc")]
    two.task_type, two.task_id = "worker", 0
    found.append(two.master())
    bad = make({"worker": ["job=bad"]})
    return found + [refused(bad.cluster_spec, 'is not running; phase: "Pending"')]


class _Request:
    def __init__(self, value):
        self.execute = lambda: value


class _Service:
    """Compute Engine with two machines, one a page."""

    def __init__(self):
        self.asked = []

    def instanceGroups(self):
        return self

    instances = instanceGroups

    def listInstances(self, **asked):
        self.asked.append(sorted(map(str, asked.items())))
        return _Request({"items": [{"instance": "https://host/instances/i2"}]})

    def listInstances_next(self, previous_request, previous_response):
        if "i1" in str(previous_response):
            return None
        self.asked.append("next page")
        return _Request({"items": [{"instance": "https://host/instances/i1"}]})

    def get(self, **asked):
        self.asked.append(sorted(map(str, asked.items())))
        address = "10.1.1." + asked["instance"][-1]
        return _Request({"name": asked["instance"], "networkInterfaces": [{"networkIP": address}]})


def case_compute_engine(tf):
    def make(*given):
        service = _Service()
        make_one = tf.contrib.cluster_resolver.GCEClusterResolver
        resolver = make_one(
            "project", "zone", "group", 8470, *given, credentials=None, service=service
        )
        return resolver, service

    found = []
    for resolver, service in (make(), make("ps", 1, "http")):
        found += [resolver.cluster_spec().as_dict(), resolver.master(), service.asked[:3]]
        found += [resolver.task_type, resolver.task_id, resolver.rpc_layer, resolver.environment]
        found.append(resolver.master(resolver.task_type, 0, "other"))
    return found
