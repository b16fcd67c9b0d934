"""What training with parameter servers would take on machines one does not have.

    profile   what machines and links cost (JSON; measured here by ``calibrate``, or named)
    workload  the model, the numbers of tasks, how workers wait for each other
    training  the events of it
    result    step times and throughput

Nothing here computes a model: workers and parameter servers are a few numbers each, and a step is
the messages and waits it consists of. See docs/simulate.md.
"""

from penstock.cluster.simulate.profile import (
    PROFILES as PROFILES,
    Profile as Profile,
    load_profile as load_profile,
)
from penstock.cluster.simulate.result import Result as Result
from penstock.cluster.simulate.training import simulate as simulate
from penstock.cluster.simulate.workload import Compute as Compute, Job as Job, Model as Model
