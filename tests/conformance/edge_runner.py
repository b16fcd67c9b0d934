"""Runs pickled jobs that may end the process: ``python edge_runner.py jobs.pickle results.pickle``.

The same file serves TensorFlow (2.21, and 1.15 under Python 3.7) and Penstock: it runs what the
Python that runs it has.  The system is imported once; the jobs run in a child process made by
``fork``.  If a job ends its process, or takes too long, it gets an error of class ``ProcessDied``,
and another child goes on with the next.  Memory is limited, so that a size of 2^31 is refused here
as on a small machine, rather than fill this one.
"""

import importlib.util
import os
import pickle
import resource
import signal
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
# A job may take this long; its processor time is what counts on a busy machine.
SECONDS = 30.0
TF_CPU_SECONDS = 4.0
CPU_SECONDS = 20.0
# What a job may ask for, beyond what the imports have mapped.
MEMORY = 1 << 30


def load():
    """Returns the backend of this Python, ``run_job``, and whether an op type is known."""
    if importlib.util.find_spec("tensorflow") is not None:
        import jobs
        import tf_runner

        backend = tf_runner.TensorFlow()
        return backend, jobs.run_job, lambda op: backend.op_def(op) is not None
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    from tests.conformance import jobs
    from tests.ops.engine import BACKEND

    return BACKEND, jobs.run_job, lambda op: True


def _limit_memory():
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _child(work, target, loaded):
    """Runs jobs, each result written as soon as it is known; an alarm ends a job that hangs."""
    _limit_memory()
    backend, run_job, known = loaded
    cpu = CPU_SECONDS if "penstock" in sys.modules else TF_CPU_SECONDS
    with open(target, "ab") as file:
        for job in work:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            signal.setitimer(signal.ITIMER_PROF, cpu)
            result = run_job(backend, job)
            result["known_op"] = known(job["op"])
            pickle.dump(result, file, protocol=4)
            file.flush()


def _count(target):
    """How many whole results the file has; what a dying child left of another is cut off."""
    count = end = 0
    if os.path.exists(target):
        with open(target, "rb+") as file:
            while True:
                try:
                    pickle.load(file)
                except (EOFError, pickle.UnpicklingError):
                    break
                count, end = count + 1, file.tell()
            file.truncate(end)
    return count


def _died(job, status):
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    why = f"signal {number}" if number else f"exit {os.WEXITSTATUS(status)}"
    why = "it takes too long" if number in (signal.SIGALRM, signal.SIGPROF) else why
    error = {"class": "ProcessDied", "bases": [], "stage": "run", "trace": ""}
    error["message"] = "the process died: " + why
    return {"id": job["id"], "error": error, "known_op": True}


def main(source, target):
    """Runs the jobs of the file ``source``; appends one pickle a job to ``target``."""
    with open(source, "rb") as file:
        work = pickle.load(file)
    loaded = load()
    done = 0
    while done < len(work):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _child(work[done:], target, loaded)
                status = 0
            finally:
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        done = _count(target)
        if done < len(work):
            with open(target, "ab") as file:
                pickle.dump(_died(work[done], status), file, protocol=4)
            done += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
