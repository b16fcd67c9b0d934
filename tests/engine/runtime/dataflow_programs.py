"""Graphs written with the primitives of control flow, most of which no `if` and `while` can say.

Each program takes an adapter (``ours`` or ``theirs``) and returns what to fetch, a dict; ``WANTED``
has what comes out for each feed of ``p`` and ``q``, None where a fetch is dead.  ``Random(kit,
seed)`` makes a random one and says itself what comes out.  Run under Python 3.7 in TensorFlow 1.15
the file writes what that makes of all: ``python dataflow_programs.py COUNT FILE``.
"""

import json
import random
import sys


class Kit:
    """The primitives of one system."""

    def __init__(self, tf, ops, enter, next_iteration):
        self.tf, self.ops = tf, ops
        self._enter, self._next = enter, next_iteration
        self.switch, self.exit, self.loop_cond = ops.switch, ops.exit, ops.loop_cond

    def merge(self, values):
        return self.ops.merge(values)

    def enter(self, value, frame, constant=False):
        return self._enter(value, frame, is_constant=constant)

    def known(self, value, frames):
        """A constant inside loops in loops."""
        made = self.scalar(value)
        for frame in frames:
            made = self.enter(made, frame, True)
        return made

    def variable(self, value, frame):
        """The Merge of a loop's variable; its way back is closed with ``close``."""
        first = self.enter(value, frame)
        return self.merge([first, first])[0]

    def close(self, merged, following):
        merged.op._update_input(1, self._next(following))

    def scalar(self, value):
        return self.tf.constant(value, self.tf.float64)

    def flags(self):
        return [self.tf.placeholder(self.tf.bool, [], name=n) for n in "pq"]

    def after(self, op, value):
        """``value`` by a node that waits for ``op``."""
        made = self.tf.identity(value)
        made.op._add_control_input(op)
        return made


def ours():
    import penstock as tf
    from penstock.python.ops import control_flow_ops as ops

    return Kit(tf, ops, ops.enter, ops.next_iteration)


def theirs():
    import tensorflow as tf
    from tensorflow.python.ops import control_flow_ops as ops, gen_control_flow_ops

    tf.logging.set_verbosity(tf.logging.ERROR)
    kit = Kit(tf, ops, ops._Enter, ops._NextIteration)
    kit.ops.control_trigger = gen_control_flow_ops.control_trigger
    return kit


PROGRAMS, WANTED = {}, {}
FEEDS = [(False, False), (False, True), (True, False), (True, True)]


def program(*wanted):
    """What comes out for each of FEEDS: a dict each, or one for all."""

    def register(build):
        PROGRAMS[build.__name__] = build
        WANTED[build.__name__] = list(wanted) if len(wanted) > 1 else list(wanted) * len(FEEDS)
        return build

    return register


@program({"a": 1, "i": 0}, {"a": 2, "i": 1}, {"a": None, "i": None}, {"a": 2, "i": 1})
def merge_over_two_predicates(k):
    # Of the sides of two predicates one lives at most, since one of them asks both.
    p, q = k.flags()
    one = k.switch(k.scalar(1.0), p)[0]
    two = k.switch(k.scalar(2.0), q)[1]
    late = k.switch(one, q)[0]
    merged, index = k.merge([late, two])
    return {"a": merged, "i": index}


@program({"a": 4}, {"a": 3}, {"a": 2}, {"a": 1})
def merge_of_four(k):
    p, q = k.flags()
    no, yes = k.switch(k.scalar(1.0), p)
    parts = [
        k.switch(yes, q)[1],
        k.switch(yes, q)[0] * 2.0,
        k.switch(no, q)[1] * 3.0,
        k.switch(no, q)[0] * 4.0,
    ]
    return {"a": k.merge(parts)[0]}


@program({"a": 5, "b": None}, {"a": 5, "b": None}, {"a": None, "b": 50}, {"a": 7, "b": 50})
def sides_that_cross(k):
    # A value of p's true side is used on q's true side, and merged with p's false side.
    p, q = k.flags()
    no, yes = k.switch(k.scalar(5.0), p)
    crossed = k.switch(yes, q)[1] + 2.0
    return {"a": k.merge([no, crossed])[0], "b": yes * 10.0}


@program(
    {"a": None, "b": 9, "c": 9},
    {"a": None, "b": 9, "c": 9},
    {"a": 9, "b": 9, "c": 9},
    {"a": 9, "b": 9, "c": 9},
)
def dead_controls(k):
    p, _ = k.flags()
    yes = k.switch(k.scalar(1.0), p)[1] + 1.0
    trigger = k.ops.control_trigger()
    trigger._add_control_input(yes.op)
    merged = k.merge([k.scalar(9.0), k.switch(k.scalar(9.0), p)[1]])[0]
    merged.op._add_control_input(yes.op)
    return {
        "a": k.after(yes.op, k.scalar(9.0)),
        "b": k.after(trigger, k.scalar(9.0)),
        "c": merged,
    }


@program({"a": 1}, {"a": 1}, {"a": 1}, {"a": 1})
def a_switch_itself_is_alive(k):
    # Whoever waits for a Switch and for none of its sides runs whatever is chosen.
    p, _ = k.flags()
    return {"a": k.after(k.switch(k.scalar(3.0), p)[0].op, k.scalar(1.0))}


def _search(k, frame, start, limit, bound, step, around=()):
    """``x = step(x)`` at most ``limit`` times, left at once when ``x > bound``: two exits."""
    x, i = k.variable(start, frame), k.variable(k.known(0.0, around), frame)
    limit, bound = k.enter(limit, frame, True), k.enter(bound, frame, True)
    more = k.loop_cond(i < limit)
    x_end, x_on = k.switch(x, more)
    i_end, i_on = k.switch(i, more)
    following = step(x_on, i_on)
    found = following > bound
    goes_on, leaves = k.switch(following, found)
    k.close(x, goes_on)
    k.close(i, k.switch(i_on + k.known(1.0, (*around, frame)), found)[0])
    return k.exit(x_end), k.exit(leaves), k.exit(i_end)


@program(
    {"end": None, "found": 128, "a": 128, "i": 1},
    {"end": None, "found": 128, "a": 128, "i": 1},
    {"end": 8, "found": None, "a": 8, "i": 0},
    {"end": 8, "found": None, "a": 8, "i": 0},
)
def two_exits(k):
    p, _ = k.flags()
    limit = k.merge([k.switch(k.scalar(9.0), p)[0], k.switch(k.scalar(3.0), p)[1]])[0]
    end, found, _ = _search(k, "search", k.scalar(1.0), limit, k.scalar(100.0), lambda x, i: x + x)
    merged, index = k.merge([end, found])
    return {"end": end, "found": found, "a": merged, "i": index}


@program({"end": None, "a": -1}, {"end": None, "a": -1}, {"end": 16, "a": 16}, {"end": 16, "a": 16})
def a_loop_not_entered(k):
    p, _ = k.flags()
    no, yes = k.switch(k.scalar(1.0), p)
    end, found, _ = _search(k, "search", yes, k.scalar(4.0), k.scalar(100.0), lambda x, i: x + x)
    return {"end": end, "a": k.merge([end, found, -no])[0]}


@program({"a": 43}, {"a": 43}, {"a": 39}, {"a": 39})
def into_the_middle(k):
    # Two entries: at the head (x doubles, then 5 is added) or behind the doubling, by p.
    p, _ = k.flags()
    frame = "middle"
    first = k.enter(k.scalar(1.0), frame)
    at_head, behind = k.switch(first, k.enter(p, frame))
    head = k.merge([at_head, at_head])[0]
    end, on = k.switch(head, k.loop_cond(head < k.enter(k.scalar(20.0), frame, True)))
    inside = k.merge([on + on, behind])[0]
    k.close(head, inside + k.enter(k.scalar(5.0), frame, True))
    return {"a": k.exit(end)}


@program({"a": 3, "n": 4})
def tells_the_first_round(k):
    # A round uses which input its Merge took: 0 in the first, 1 in those after it.
    frame = "first"
    start = k.enter(k.scalar(0.0), frame)
    total, index = k.merge([start, start])
    n = k.variable(k.scalar(0.0), frame)
    more = k.loop_cond(n < k.enter(k.scalar(4.0), frame, True))
    end, on = k.switch(total, more)
    n_end, n_on = k.switch(n, more)
    k.close(total, on + k.switch(k.tf.cast(index, k.tf.float64), more)[1])
    k.close(n, n_on + k.enter(k.scalar(1.0), frame, True))
    return {"a": k.exit(end), "n": k.exit(n_end)}


@program({"a": 8, "i": 4})
def loops_in_loops(k):
    # The inner search doubles until it passes the outer counter's bound, and so leaves either way.
    def step(x, i):
        start = x + k.enter(k.scalar(1.0), "outer", True)
        limit = k.enter(k.scalar(2.0), "outer", True)
        bound = i + k.enter(k.scalar(4.5), "outer", True)
        end, found, _ = _search(k, "inner", start, limit, bound, lambda y, j: y + j, ["outer"])
        return k.merge([end, found])[0]

    end, found, count = _search(k, "outer", k.scalar(1.0), k.scalar(4.0), k.scalar(1e6), step)
    return {"a": k.merge([end, found])[0], "i": count}


class Random:
    """A random program that also computes what comes out.

    An item is a tensor, its value (None if dead), and whether its node is alive.
    """

    def __init__(self, kit, seed):
        self.k, self.r = kit, random.Random(seed)
        self.flags = [(flag, self.r.random() < 0.5) for flag in kit.flags()]
        self.items, self.loops = [], 0
        for _ in range(2):
            value = self.number()
            self.items.append((kit.scalar(value), value, True))
        kinds = ["switch"] * 4 + ["binary"] * 3 + ["merge"] * 4 + ["control"] * 2 + ["loop"]
        for _ in range(self.r.randint(5, 25)):
            getattr(self, self.r.choice(kinds))()

    def number(self):
        return float(self.r.randint(1, 9))

    def any(self):
        return self.r.choice(self.items)

    def add(self, tensor, value, alive=None):
        self.items.append((tensor, value, value is not None if alive is None else alive))

    def flag(self):
        return self.r.choice(self.flags)

    def switch(self):
        tensor, value, _ = self.any()
        flag, taken = self.flag()
        sides = self.k.switch(tensor, flag)
        for side in (0, 1):
            self.add(sides[side], value if side == taken else None, value is not None)

    def binary(self):
        (a, x, _), (b, y, _) = self.any(), self.any()
        self.add(self.k.tf.minimum(a, b) + 1.0, None if None in (x, y) else min(x, y) + 1.0)

    def merge(self):
        inputs, live = [], None
        for item in self.r.sample(self.items, min(len(self.items), self.r.randint(1, 6))):
            if item[1] is None:
                inputs.append(item)
            elif live is None:
                live = item
                inputs.append(item)
        tensor, index = self.k.merge([t for t, _, _ in inputs])
        self.add(tensor, None if live is None else live[1])
        found = None if live is None else float(inputs.index(live))
        self.add(self.k.tf.cast(index, self.k.tf.float64), found)

    def control(self):
        (a, x, _), (b, _, alive) = self.any(), self.any()
        kind = self.r.choice(["identity", "merge", "trigger"])
        if kind == "identity":
            self.add(self.k.after(b.op, a), x if alive else None)
        elif kind == "merge":
            made = self.k.merge([a])[0]
            made.op._add_control_input(b.op)
            self.add(made, x)
        else:
            trigger = self.k.ops.control_trigger()
            trigger._add_control_input(b.op)
            self.add(self.k.after(trigger, a), x)

    def loop(self):
        self.loops += 1
        frame, inner = f"loop{self.loops}", f"inner{self.loops}"
        start, x, _ = self.any()
        limit, bound, nested = self.r.randint(0, 4), self.r.randint(1, 40), self.r.random() < 0.5
        outside = self.number()
        k = self.k
        added = k.enter(k.scalar(outside), frame, True)

        def step(y, i):
            if not nested:
                return y + added
            limits = k.enter(k.scalar(float(limit)), frame, True) - i
            bounds = k.enter(k.scalar(float(bound)), frame, True)
            end, found, _ = _search(k, inner, y, limits, bounds, lambda z, j: z + j, [frame])
            return k.merge([end, found])[0] + added

        def compute(y, i):
            if nested:
                end, found, _ = search(y, limit - i, bound, lambda z, j: z + j)
                y = found if end is None else end
            return y + outside

        made = _search(k, frame, start, k.scalar(float(limit)), k.scalar(float(bound)), step)
        if x is None:
            wanted = None, None, None if limit > 0 else 0.0
        else:
            wanted = search(x, limit, bound, compute)
        for tensor, value in zip(made, wanted):
            self.add(tensor, value)

    def run(self, session):
        """What the live ones give, and whether some of the dead ones are refused."""
        feeds = dict(self.flags)
        live = [item for item in self.items if item[1] is not None]
        dead = [item for item in self.items if item[1] is None][-3:]
        found = session.run([t for t, _, _ in live], feeds)
        refused = [_fetched(self.k, session, t, feeds) is None for t, _, _ in dead]
        return [float(v) for v in found], refused

    def wanted(self):
        live = [v for _, v, _ in self.items if v is not None]
        return live, [True] * min(3, len(self.items) - len(live))


def search(x, limit, bound, step):
    """What ``_search`` gives: one of the first two is None."""
    i = 0
    while i < limit:
        x = step(x, i)
        if x > bound:
            return None, x, None
        i += 1
    return x, None, float(i)


def _fetched(kit, session, tensor, feeds):
    try:
        return float(session.run(tensor, feeds))
    except kit.tf.errors.InvalidArgumentError:
        return None


def run(kit, name, config=None):
    """What a program gives for each of FEEDS."""
    found = []
    with kit.tf.Graph().as_default() as graph:
        fetches = PROGRAMS[name](kit)
        names = {op.name for op in graph.get_operations()}
        with kit.tf.Session(config=config) as session:
            for values in FEEDS:
                feeds = {n + ":0": v for n, v in zip("pq", values) if n in names}
                found.append({f: _fetched(kit, session, t, feeds) for f, t in fetches.items()})
    return found


def run_random(kit, seed, config=None):
    """What a random program gives, and what it says that it gives."""
    with kit.tf.Graph().as_default():
        made = Random(kit, seed)
        with kit.tf.Session(config=config) as session:
            found = made.run(session)
    return [list(found), list(made.wanted())]


if __name__ == "__main__":
    import os

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    kit = theirs()
    config = kit.tf.ConfigProto()
    # What TensorFlow's rewrites make of such graphs is another matter.
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    answer = {
        "programs": {name: run(kit, name, config) for name in PROGRAMS},
        "random": [run_random(kit, seed, config) for seed in range(int(sys.argv[1]))],
    }
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)
