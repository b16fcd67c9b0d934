"""``penstock k8s``: the manifests of a job for Kubernetes, and what to do with them."""

from __future__ import annotations

from penstock.cli.output import Output, size
from penstock.cluster.launch.job import Job
from penstock.cluster.launch.kubernetes import write_manifests
from penstock.cluster.launch.pods import Options


def write_job(output: Output, job: Job, options: Options, kind: str, directory: str) -> None:
    """Writes manifests and a Dockerfile, and says what they are for."""
    written = write_manifests(job, options, kind, directory)
    output.table(
        ("file", "bytes"), [(path, size(path.stat().st_size)) for path in written], ("bytes",)
    )
    keys = ["token"] if options.secret else []
    keys += ["tls.crt", "tls.key", "ca.crt"] if options.secret and options.tls else []
    if keys:
        output.line(f"needs the secret {options.secret} with {', '.join(keys)}")
    output.line(f"apply with: kubectl apply -f {directory}")
