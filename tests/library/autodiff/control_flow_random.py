"""Random programs of nested conditionals and loops, and the names of all programs."""

import random

from tests.library.autodiff import control_flow_nested  # noqa: F401  (it registers its programs)
from tests.library.autodiff.control_flow_programs import PROGRAMS, given, loop


class _Random:
    """Writes a program of nested conditionals and loops over vectors of length 3."""

    def __init__(self, tf, seed):
        self.tf, self.rng = tf, random.Random(seed)
        self.known = self.pick(2) == 0
        self.x, self.w, self.n = given(tf, "x", "w", "n", known=self.known)

    def pick(self, n):
        return self.rng.randrange(n)

    def value(self, scope, depth):
        """An expression over the tensors of ``scope``; nested at most ``depth`` deep."""
        kind = self.pick(9 if depth else 5)
        a = scope[self.pick(len(scope))]
        b = scope[self.pick(len(scope))]
        if kind < 5:
            return [
                lambda: a * b, lambda: self.tf.sin(a) + b, lambda: self.tf.tanh(a * b) * 1.5,
                lambda: a * 0.5, lambda: a - b * self.tf.reduce_sum(a),
            ][kind]()  # fmt: skip
        if kind < 7:
            return self.conditional(scope, depth - 1)
        return self.loop(scope, depth - 1)

    def steps(self, scope, depth):
        scope = list(scope)
        for _ in range(1 + self.pick(3)):
            scope.append(self.tf.tanh(self.value(scope, depth)))
        return scope

    def predicate(self, scope):
        kind = self.pick(4)
        if kind == 0:
            return self.tf.reduce_sum(scope[self.pick(len(scope))]) > 0.1
        if kind == 1:
            return self.n > self.pick(5)
        a = self.counters[self.pick(len(self.counters))] if self.counters else self.n
        return self.tf.equal(a % 2, self.pick(2)) if kind == 2 else a > self.pick(3)

    counters = ()

    def conditional(self, scope, depth):
        predicate = self.predicate(scope)
        # Each branch is written from a seed of its own: TensorFlow may call them in any order.
        seeds = [self.pick(1 << 30), self.pick(1 << 30)]

        def branch(seed):
            def build():
                saved, self.rng = self.rng, random.Random(seed)
                try:
                    return self.steps(scope, depth)[-1] * 1.0
                finally:
                    self.rng = saved

            return build

        return self.tf.cond(predicate, branch(seeds[0]), branch(seeds[1]))

    def loop(self, scope, depth):
        count = 1 + self.pick(3)
        start = [scope[self.pick(len(scope))] for _ in range(count)]
        rounds = self.pick(4)
        data = self.pick(3) == 0

        def cond(i, *values):
            more = i < rounds
            if data:
                more = self.tf.logical_and(more, self.tf.reduce_sum(values[0]) < 1.0)
            return more

        seed = self.pick(1 << 30)

        def body(i, *values):
            saved, self.rng = self.rng, random.Random(seed)
            counters, self.counters = self.counters, tuple(self.counters) + (i,)
            inside = self.steps(list(scope) + list(values), depth)
            following = [inside[-1 - self.pick(len(inside))] for _ in values]
            if self.pick(2):
                following[0] = inside[-1]
            self.rng, self.counters = saved, counters
            return [i + 1] + following

        start = [self.tf.constant(0)] + start
        if self.known:
            result = self.tf.while_loop(cond, body, start)
        else:
            result = loop(self.tf, cond, body, start)
        return result[1 + self.pick(count)]


def random_program(seed):
    """A program made from ``seed``."""

    def build(tf):
        made = _Random(tf, seed)
        value = made.steps([made.x, made.w], 1 + made.pick(3))[-1]
        return [value] + tf.gradients(value, [made.x, made.w])

    build.__name__ = f"random_{seed}"
    return build


def named(name):
    """The program of a name: one of those above, or ``random_SEED``."""
    if name.startswith("random_"):
        return random_program(int(name[len("random_") :]))
    return PROGRAMS[name]
