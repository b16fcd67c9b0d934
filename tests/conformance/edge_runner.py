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
import select
import signal
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
# A job may take this long, what it waited for a core not counted; and so much processor time.
SECONDS = 30.0
TF_CPU_SECONDS = 4.0
CPU_SECONDS = 20.0
# What a job may ask for, beyond what the imports have mapped.
MEMORY = 1 << 30
_TOO_LONG = "it takes too long"


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
    """Runs jobs, each result written as soon as it is known; a timer ends what computes on."""
    _limit_memory()
    backend, run_job, known = loaded
    cpu = CPU_SECONDS if "penstock" in sys.modules else TF_CPU_SECONDS
    with open(target, "ab") as file:
        for job in work:
            signal.setitimer(signal.ITIMER_PROF, cpu)
            result = run_job(backend, job)
            result["known_op"] = known(job["op"])
            pickle.dump(result, file, protocol=4)
            file.flush()


def _starved(child):
    """For how many seconds threads of a process have waited for a core, in all."""
    tasks, waited = f"/proc/{child}/task", 0
    for task in os.listdir(tasks):
        try:
            with open(os.path.join(tasks, task, "schedstat")) as file:
                waited += int(file.read().split()[1])
        except (OSError, IndexError):  # the thread has ended, or the kernel does not say
            pass
    return waited / 1e9


def _end_of(child, alive, target):
    """What a child ends with, in words; one whose job takes too long is ended.

    Args:
      child: its process.
      alive: a pipe that it closes when it ends.
      target: the file that grows with each result.
    """
    written, since, starved = -1, 0.0, 0.0
    while not select.select([alive], [], [], 1.0)[0]:
        size = os.path.getsize(target) if os.path.exists(target) else 0
        now, waited = time.monotonic(), _starved(child)
        if size != written:
            written, since, starved = size, now, waited
        elif now - since - (waited - starved) > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _TOO_LONG
    status = os.waitpid(child, 0)[1]
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGPROF:
        return _TOO_LONG
    return f"signal {number}" if number else f"exit {os.WEXITSTATUS(status)}"


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


def _died(job, why):
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
        alive, end = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            os.close(alive)
            try:
                _child(work[done:], target, loaded)
                status = 0
            finally:
                os._exit(status)
        os.close(end)
        why = _end_of(child, alive, target)
        os.close(alive)
        done = _count(target)
        if done < len(work):
            with open(target, "ab") as file:
                pickle.dump(_died(work[done], why), file, protocol=4)
            done += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
