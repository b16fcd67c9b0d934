"""The environment variables that Penstock, torch and their libraries read, and what they do.

A variable that Penstock reads has a row here; a test looks for ``PENSTOCK_`` in all its code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

_TLS = "secured links: this task's"
# Name to what it does, in a line.
KNOWN = {
    "PENSTOCK_AS_TENSORFLOW": "instead: penstock.as_tensorflow replaces an installed TensorFlow",
    "PENSTOCK_BIND": "the address that servers listen on",
    "PENSTOCK_CACHE": "the folder of what is kept between runs; off: nothing is",
    "PENSTOCK_COLLECTIVE_STORE": "host:port where the workers of a strategy meet",
    "PENSTOCK_COLLECTIVE_TIMEOUT": "seconds that a collective waits for its peers",
    "PENSTOCK_DATAFLOW": "1: all control flow is run by the executor that follows tokens",
    "PENSTOCK_HEARTBEAT": "where a server says that it lives: a file, or penstock launch's pipe",
    "PENSTOCK_INSECURE": "1: servers may listen to other hosts without TLS",
    "PENSTOCK_KEEP_MEMORY": "0: memory that a step frees goes back to the system",
    "PENSTOCK_KERAS_CODE": "1: Lambda layers of a Keras configuration may bring their code",
    "PENSTOCK_MAX_GRAPH_BYTES": "the largest graph that a server takes",
    "PENSTOCK_MAX_MESSAGE_BYTES": "the largest message between tasks",
    "PENSTOCK_MAX_TENSOR_BYTES": "the largest tensor between tasks",
    "PENSTOCK_METRICS": "port or host:port at which servers show counts and how they do",
    "PENSTOCK_NATIVE": "off or on: no step gets a compiled form, or all; auto (unset): hot ones",
    "PENSTOCK_OUTSIDE_PATHS": "1: a graph's assets and constants may lie outside its folder",
    "PENSTOCK_PLACEMENT": "cost: nodes are placed by what they are estimated to cost",
    "PENSTOCK_PRODUCTS": "mm or another kernel's name: takes it for matrix products, measures none",
    "PENSTOCK_RESTARTS": "how often penstock launch has started this task again",
    "PENSTOCK_TF_VERSION": "what tf.__version__ is under penstock.as_tensorflow",
    "PENSTOCK_TLS_CA": f"{_TLS} authority (a file)",
    "PENSTOCK_TLS_CERT": f"{_TLS} certificate (a file)",
    "PENSTOCK_TLS_KEY": f"{_TLS} key (a file)",
    "PENSTOCK_TLS_NAME": f"{_TLS} peers' name in their certificates",
    "PENSTOCK_TOKEN": "the secret that the tasks of a cluster show each other",
    "PENSTOCK_TRACEBACK": "full: errors are shown with the frames of Penstock's own code",
    "PENSTOCK_UP_SECONDS": "seconds that a client waits for servers to come up",
    "TF_CONFIG": "the cluster and this task's place in it, as JSON",
    "TF_DETERMINISTIC_OPS": "1: no step gets a compiled form because it proves hot",
    "TF_FORWARD_COMPATIBILITY_DELTA_DAYS": "moves the date of tf.compat.forward_compatible",
    "ATEN_CPU_CAPABILITY": "torch: the best kernels it may use (default, avx2, avx512)",
    "ONEDNN_MAX_CPU_ISA": "oneDNN: the most instructions it may use",
    "DNNL_MAX_CPU_ISA": "oneDNN: the most instructions it may use (older name)",
    "ONEDNN_CPU_ISA_HINTS": "oneDNN: PREFER_YMM keeps it to 256-bit registers",
    "DNNL_CPU_ISA_HINTS": "oneDNN: PREFER_YMM keeps it to 256-bit registers (older name)",
    "ONEDNN_VERBOSE": "oneDNN: prints a line a kernel, which takes time",
    "DNNL_VERBOSE": "oneDNN: prints a line a kernel, which takes time (older name)",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "oneDNN: how many prepared kernels are kept",
    "ONEDNN_DEFAULT_FPMATH_MODE": "oneDNN: may compute float32 with fewer digits",
    "MKL_ENABLE_INSTRUCTIONS": "MKL: the most instructions it may use",
    "MKL_CBWR": "MKL: the same bits on every machine, at less speed",
    "MKL_DEBUG_CPU_TYPE": "MKL before 2020.1: pretends another processor; ignored since",
    "MKL_VERBOSE": "MKL: prints a line a call, which takes time",
    "MKL_NUM_THREADS": "MKL: the most threads of a product",
    "MKL_DYNAMIC": "MKL: FALSE takes all its threads, whatever the size",
    "MKL_THREADING_LAYER": "MKL: which library makes its threads",
    "MKL_SERVICE_FORCE_INTEL": "MKL: takes the threading layer without a check",
    "OMP_NUM_THREADS": "OpenMP: the most threads of a kernel",
    "OMP_THREAD_LIMIT": "OpenMP: the most threads of the process",
    "OMP_WAIT_POLICY": "OpenMP: ACTIVE spins while it waits, PASSIVE sleeps",
    "OMP_DYNAMIC": "OpenMP: true gives kernels fewer threads when the load is high",
    "OMP_PROC_BIND": "OpenMP: whether threads stay on their cores",
    "OMP_PLACES": "OpenMP: the cores that threads stay on",
    "OMP_SCHEDULE": "OpenMP: how loops are cut into parts",
    "OMP_MAX_ACTIVE_LEVELS": "OpenMP: how deep teams may be nested",
    "OMP_STACKSIZE": "OpenMP: the stack of its threads",
    "OMP_DISPLAY_ENV": "OpenMP: prints its settings at start",
    "GOMP_SPINCOUNT": "libgomp: how long threads spin before they sleep",
    "GOMP_CPU_AFFINITY": "libgomp: the cores that threads stay on",
    "KMP_BLOCKTIME": "Intel's OpenMP: milliseconds that threads spin before they sleep",
    "KMP_AFFINITY": "Intel's OpenMP: the cores that threads stay on",
    "KMP_DUPLICATE_LIB_OK": "Intel's OpenMP: goes on where it is loaded twice",
    "OPENBLAS_NUM_THREADS": "NumPy's OpenBLAS: the most threads of a product",
    "CUDA_VISIBLE_DEVICES": "the GPUs that torch sees; empty: none",
    "CUDA_LAUNCH_BLOCKING": "1: waits for each GPU kernel, which takes time",
    "TORCH_NUM_THREADS": "read by launchers of torch, not by torch itself",
    "TORCH_SHOW_CPP_STACKTRACES": "1: torch's errors show their C++ calls",
    "TORCH_LOGS": "what torch's compiler logs",
    "TORCH_HOME": "the folder where torch keeps downloads",
    "TF_ENABLE_ONEDNN_OPTS": "TensorFlow (a peer of the benchmarks) with or without oneDNN",
    "TF_CPP_MIN_LOG_LEVEL": "TensorFlow (a peer of the benchmarks): what it logs",
    "XDG_CACHE_HOME": "the folder of caches",
    "LD_PRELOAD": "libraries loaded before all others: allocators, OpenMP",
    "MALLOC_ARENA_MAX": "the C allocator: the most pools of memory",
    "GRPC_VERBOSITY": "what gRPC logs",
}  # fmt: skip
_READ = re.compile(
    "(PENSTOCK_|OMP_|GOMP_|KMP_|MKL_|ONEDNN_|DNNL_|TORCH|TF_|GRPC_).*|" + "|".join(KNOWN)
)
_SECRET = re.compile(r".*(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_?KEY)\w*")
HIDDEN = "(hidden)"


@dataclass(frozen=True)
class Variable:
    """A variable that is set.

    Args:
      name, value: of the variable; a secret's value is not told.
      meaning: what it does; None where that is not known.
    """

    name: str
    value: str
    meaning: str | None


def variables(environ: Mapping[str, str] = os.environ) -> list[Variable]:
    """Those variables of the environment that Penstock or a library under it reads, by name."""
    return [
        Variable(name, HIDDEN if value and _SECRET.fullmatch(name) else value, KNOWN.get(name))
        for name, value in sorted(environ.items())
        if _READ.fullmatch(name)
    ]
