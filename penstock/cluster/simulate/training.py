"""The events of training with parameter servers.

A step of a worker, with n parameter servers:

    begin      step_cpu; n requests leave one after another
    request    reaches a ps: its cores take it and send the shard back
    fetched    when all n shards are there: compute
    push       n shards of update leave
    pushed     a shard is received; async: it is applied; sync: it is added to what was gathered,
               and when the needed number has come, their average is applied; too late: dropped
    acked      when all n ps have answered, the step is over
               async: the next begins
               sync: the worker asks ps 0 for a token; tokens are there when all ps have applied

This is what a session does over TensorFlow's graph of variables on ps tasks, in async mode and with
SyncReplicasOptimizer. A ps reads its variables without a lock (as TensorFlow does by default).

State of ``_Worker``: the update that its step is of, when it began, shards and answers still to
come, the latest of those that came. State of the run: the update that is being gathered, for each
ps how many gradients of it came and until when, how many ps have applied, who waits for a token.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from penstock.cluster.simulate.events import Action, EventQueue
from penstock.cluster.simulate.network import FairNetwork, FifoNetwork, Loopback, Network
from penstock.cluster.simulate.profile import Profile
from penstock.cluster.simulate.result import Result, percentile
from penstock.cluster.simulate.servers import FifoServer, Server, SharingServer, Slots
from penstock.cluster.simulate.workload import Job, Model

# Steps at the beginning that are not counted: all workers begin at once, later they spread.
WARM_UP_SHARE = 0.1


@dataclass
class _Worker:
    """One worker."""

    number: int
    task: int
    source: random.Random
    update: int = 0
    began: float = 0.0
    missing: int = 0
    latest: float = 0.0


@dataclass
class _Ps:
    """One parameter server: so many bytes, in so many tensors beyond the first."""

    number: int
    size: float
    further: int
    cores: Server
    updates: Server
    gathered: int = 0
    gathered_at: float = 0.0


def _nothing(_: float) -> None:
    """What follows on work that nobody waits for."""


class _Training:
    """A run."""

    def __init__(self, model: Model, job: Job, profile: Profile) -> None:
        self._model, self._job, self._profile = model, job, profile
        self.queue = queue = EventQueue()
        self._host = SharingServer(queue, profile.host_cores) if profile.host_cores else None
        shares = job.shares or (1.0 / job.ps,) * job.ps
        self.ps = [self._make_ps(k, share * model.step_bytes) for k, share in enumerate(shares)]
        self.workers = [
            _Worker(w, job.ps + w, random.Random(f"{job.seed}:{w}")) for w in range(job.workers)
        ]
        tasks = job.ps + job.workers
        self.network: Network
        if self._host is not None:
            self.network = Loopback(queue, profile, self._host)
        elif profile.sharing == "fair":
            self.network = FairNetwork(queue, profile, tasks)
        else:
            self.network = FifoNetwork(queue, profile, tasks)
        # Where a task has its own machine, bytes are work for the ps's cores; on one host the
        # network itself does that work.
        own = self._host is None
        self._read_byte = profile.send_byte_cpu if own else 0.0
        self._write_byte = profile.recv_byte_cpu if own else 0.0
        # On one host messages and computing share cores, so that what of the message work goes on
        # beside the computing is work of its own; on its own machine it costs a worker nothing.
        self._waits = 1.0 - profile.overlap if profile.host_cores else 1.0
        # What a worker does, each way, for the tensors after the first of each ps.
        further = sum(ps.further for ps in self.ps) * profile.tensor_cpu
        self._further = further * self._waits
        ends = 2 * job.ps * (profile.send_cpu + profile.recv_cpu) + job.ps * profile.recv_cpu
        self._beside = (1.0 - self._waits) * (ends + 3 * further)
        self._sync = job.mode == "sync"
        self._applied = 0
        self._applied_at = 0.0
        self._update = 0
        self._waiting: list[_Worker] = []
        self.finished: list[tuple[float, float]] = []  # when, and how long it took
        self._last_update = 0.0
        self.pushed = self.dropped = 0

    def _make_ps(self, number: int, size: float) -> _Ps:
        profile, queue = self._profile, self.queue
        ps = self._job.ps
        further = max(0, self._model.tensors // ps + (number < self._model.tensors % ps) - 1)
        if self._host is not None:
            slots = Slots(queue, profile.update_slots, self._host)
            return _Ps(number, size, further, self._host, slots)
        cores = FifoServer(queue, profile.ps_cores)
        updates = FifoServer(queue, profile.update_slots, in_order=True)
        return _Ps(number, size, further, cores, updates)

    def _work(self, worker: _Worker, at: float, seconds: float, then: Action) -> None:
        """Work of a worker, which on its own machine has nobody to wait for."""
        if self._host is None:
            then(at + seconds, worker)
        else:
            self._host.serve(at, seconds, then, worker)

    def run(self) -> None:
        """Runs until enough steps are done."""
        for worker in self.workers:
            self._begin(0.0, worker)
        self.queue.run()

    def _begin(self, at: float, worker: _Worker) -> None:
        worker.began = at
        worker.update = self._update
        worker.missing = self._job.ps
        worker.latest = 0.0
        self.network.expect(worker.task, self._job.ps)
        self._work(worker, at, self._profile.step_cpu, self._ask)

    def _ask(self, at: float, worker: _Worker) -> None:
        self._send_all(at, worker, self._asked)

    def _send_all(self, at: float, worker: _Worker, then: Action) -> None:
        """Work for n messages: on its own machine each leaves when it is ready, else the last."""
        if self._host is None:
            then(at, worker)
        else:
            work = self._profile.send_cpu * self._job.ps * self._waits
            self._host.serve(at, work, then, worker)

    def _asked(self, at: float, worker: _Worker) -> None:
        each = self._profile.send_cpu if self._host is None else 0.0
        for ps in self.ps:
            at += each
            self.queue.at(at + self._profile.latency, self._request, worker, ps)

    def _request(self, worker: _Worker, ps: _Ps) -> None:
        profile = self._profile
        work = profile.recv_cpu + profile.send_cpu + ps.size * self._read_byte
        work += ps.further * profile.tensor_cpu
        ps.cores.serve(self.queue.now, work, self._reply, worker, ps)

    def _reply(self, at: float, worker: _Worker, ps: _Ps) -> None:
        self.network.send(at, ps.number, worker.task, ps.size, self._got, worker)

    def _got(self, at: float, worker: _Worker) -> None:
        worker.missing -= 1
        if at > worker.latest:
            worker.latest = at
        if not worker.missing:
            work = self._profile.recv_cpu * self._job.ps * self._waits + self._further
            self._work(worker, worker.latest, work, self._fetched)

    def _fetched(self, at: float, worker: _Worker) -> None:
        seconds = self._model.compute.draw(worker.source) + self._further
        if self._host is not None:
            self._host.serve(at, self._beside, _nothing)
        self._work(worker, at, seconds, self._computed)

    def _computed(self, at: float, worker: _Worker) -> None:
        # What other workers send at the same time must be sent in the order of time.
        if at > self.queue.now:
            self.queue.at(at, self._push, at, worker)
        else:
            self._push(at, worker)

    def _push(self, at: float, worker: _Worker) -> None:
        worker.missing = self._job.ps
        worker.latest = 0.0
        self._send_all(at, worker, self._push_all)

    def _push_all(self, at: float, worker: _Worker) -> None:
        each = self._profile.send_cpu if self._host is None else 0.0
        self.pushed += 1
        for ps in self.ps:
            at += each
            self.network.send(
                at, worker.task, ps.number, ps.size, self._pushed, worker, ps, worker.update
            )

    def _pushed(self, at: float, worker: _Worker, ps: _Ps, update: int) -> None:
        work = self._profile.recv_cpu + ps.further * self._profile.tensor_cpu
        work = work * self._waits + ps.size * self._write_byte
        ps.cores.serve(at, work, self._received, worker, ps, update)

    def _received(self, at: float, worker: _Worker, ps: _Ps, update: int) -> None:
        profile = self._profile
        if not self._sync:
            ps.updates.serve(at, ps.size * profile.update_byte, self._acked, worker)
        elif update != self._update or ps.gathered >= self._job.needed:
            self.dropped += ps.number == 0
            self._acked(at, worker)
        else:
            ps.gathered += 1
            work = ps.size * profile.accumulate_byte
            ps.updates.serve(at, work, self._added, worker, ps, ps.gathered)

    def _added(self, at: float, worker: _Worker, ps: _Ps, number: int) -> None:
        ps.gathered_at = max(ps.gathered_at, at)
        self._acked(at, worker)
        if number == self._job.needed:
            work = ps.size * (self._profile.update_byte + self._profile.sync_byte)
            work += self._profile.sync_ps_cpu
            work += ps.further * self._profile.sync_tensor_cpu
            ps.updates.serve(ps.gathered_at, work, self._ps_applied)

    def _acked(self, at: float, worker: _Worker) -> None:
        worker.missing -= 1
        worker.latest = max(worker.latest, at + self._profile.latency)
        if not worker.missing:
            work = self._profile.recv_cpu * self._job.ps * self._waits
            self._work(worker, worker.latest, work, self._step_done)

    def _step_done(self, at: float, worker: _Worker) -> None:
        if at > self.queue.now:
            self.queue.at(at, self._step_done, at, worker)
            return
        if self._sync:
            self.queue.at(at + self._profile.latency, self._token_wanted, worker)
            return
        self.finished.append((at, at - worker.began))
        if len(self.finished) >= self._job.steps * self._job.workers:
            self.queue.stop()
            return
        self._begin(at, worker)

    # -- sync only

    def _ps_applied(self, at: float) -> None:
        self._applied += 1
        self._applied_at = max(self._applied_at, at + self._profile.latency)
        if self._applied == self._job.ps:
            then = self._applied_at
            if self._host is None:
                self.queue.at(then + self._profile.sync_cpu, self._tokens, 0.0)
            else:
                self._host.serve(then, self._profile.sync_cpu, self._tokens)

    def _tokens(self, _: float) -> None:
        """The update is over: the chief has put tokens on ps 0."""
        now = self.queue.now
        self.finished.append((now, now - self._last_update))
        self._last_update = now
        self._update += 1
        self._applied, self._applied_at = 0, 0.0
        for ps in self.ps:
            ps.gathered, ps.gathered_at = 0, 0.0
        if self._update >= self._job.steps:
            self.queue.stop()
            return
        waiting, self._waiting = self._waiting, []
        for worker in waiting:
            self._give_token(worker)

    def _token_wanted(self, worker: _Worker) -> None:
        if worker.update < self._update:
            self._give_token(worker)
        else:
            self._waiting.append(worker)

    def _give_token(self, worker: _Worker) -> None:
        work = self._profile.recv_cpu + self._profile.send_cpu
        self.ps[0].cores.serve(self.queue.now, work, self._token_sent, worker)

    def _token_sent(self, at: float, worker: _Worker) -> None:
        at += self._profile.latency
        self.queue.at(at, self._begin, at, worker)


def simulate(model: Model, job: Job, profile: Profile) -> Result:
    """Simulates training and says what a step takes.

    Args:
        model: What is trained.
        job: The tasks.
        profile: The costs.

    Returns:
        Step times and throughput. The same arguments give the same result.

    Example:
        >>> from penstock.cluster.simulate import Compute
        >>> ideal = Profile("ideal", latency=0.0)
        >>> model = Model(batch=32, compute=Compute(mean=0.5))
        >>> result = simulate(model, Job(ps=1, workers=4, mode="sync", steps=10), ideal)
        >>> result.median, result.throughput
        (0.5, 256.0)
    """
    run = _Training(model, job, profile)
    run.run()
    skipped = int(len(run.finished) * WARM_UP_SHARE)
    counted = run.finished[skipped:]
    seconds = [took for _, took in counted]
    start = run.finished[skipped - 1][0] if skipped else 0.0
    end = counted[-1][0]
    examples = model.batch * (job.needed if job.mode == "sync" else 1)
    whole = max(end, 1e-300)
    ps, workers = range(job.ps), range(job.ps, job.ps + job.workers)
    busiest = max(each.updates.busy for each in run.ps)
    return Result(
        median=percentile(seconds, 0.5),
        p10=percentile(seconds, 0.1),
        p90=percentile(seconds, 0.9),
        mean=sum(seconds) / len(seconds),
        throughput=examples * len(counted) / max(end - start, 1e-300),
        steps=len(counted),
        dropped=run.dropped / run.pushed if run.pushed else 0.0,
        ps_network=run.network.busiest(ps) / whole,
        worker_network=run.network.busiest(workers) / whole,
        # Work that was booked ahead of the end counts, too.
        ps_updates=min(1.0, busiest / whole / profile.update_slots),
        sent=run.network.sent,
        received=run.network.received,
        events=run.queue.done,
    )
