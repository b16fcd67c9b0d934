"""Random programs of nested conditionals and loops, the same in Penstock and in TensorFlow.

``build(tf, seed)`` makes one in the default graph.  A program draws from ``random.Random(seed)``
alone, in the order in which the functions of its constructs are called, so both systems make the
same one.  ``python random_programs.py graphs|values COUNT FILE`` writes what TensorFlow makes of
the first seeds; it runs under Python 3.7 as well.
"""

import random


class Generator:
    """Makes one program: float64 vectors of 2 elements, kept small by ``tanh``."""

    def __init__(self, tf, seed, depth=3):
        self.tf, self.r, self.depth = tf, random.Random(seed), depth
        self.budget = 40

    def program(self):
        tf = self.tf
        names = ("x", "y")
        self.feeds = [tf.placeholder(tf.float64, [2], name=n) for n in names]
        return [self.value(list(self.feeds), self.depth) for _ in range(self.r.randint(1, 2))]

    def constant(self):
        return self.tf.constant([self.r.uniform(-1, 1) for _ in range(2)], self.tf.float64)

    def leaf(self, known):
        return self.constant() if self.r.random() < 0.2 else self.r.choice(known)

    def value(self, known, depth):
        tf, r = self.tf, self.r
        self.budget -= 1
        kinds = ["binary"] * 3 + ["unary"] * 2 + ["leaf"]
        if depth > 0 and self.budget > 0:
            kinds += ["cond"] * 3 + ["loop"] * 3 + ["after"]
        kind = r.choice(kinds)
        if kind == "leaf":
            return self.leaf(known)
        if kind == "unary":
            return r.choice([tf.tanh, tf.sin, tf.negative, tf.identity])(self.leaf(known))
        if kind == "binary":
            op = r.choice([tf.add, tf.subtract, tf.multiply, tf.minimum, tf.maximum])
            left = self.value(known, depth - 1) if r.random() < 0.4 else self.leaf(known)
            return op(left, self.leaf(known))
        if kind == "after":
            # One: TensorFlow takes several in the order of their addresses in memory.
            with tf.control_dependencies([self.leaf(known)]):
                return tf.add(self.value(known, depth - 1), self.constant())
        return self.cond(known, depth) if kind == "cond" else self.loop(known, depth)

    def predicate(self, known):
        tf, r = self.tf, self.r
        number = tf.reduce_sum(self.leaf(known))
        return r.choice([tf.less, tf.greater_equal])(number, r.uniform(-1, 1))

    def cond(self, known, depth):
        count = self.r.randint(1, 2)

        def branch():
            inner, made = list(known), []
            for _ in range(count):
                made.append(self.value(inner, depth - 1))
                inner.append(made[-1])
            return made

        made = self.tf.cond(self.predicate(known), branch, branch)
        return made if count == 1 else self.tf.add(made[0], made[1])

    def loop(self, known, depth):
        tf, r = self.tf, self.r
        if r.random() < 0.5:
            limit = r.randint(0, 3)
        else:
            limit = tf.to_int32(3.0 * tf.abs(tf.tanh(tf.reduce_sum(self.leaf(known)))))
        start = [self.leaf(known) for _ in range(r.randint(1, 3))]
        use_state = r.random() < 0.3

        def condition(i, *variables):
            if not use_state:
                return i < limit
            return tf.logical_and(i < limit, tf.reduce_sum(variables[0]) < 1.5)

        def body(i, *variables):
            inner = known + list(variables)
            return [i + 1] + [tf.tanh(self.value(inner, depth - 1)) for _ in variables]

        bound = {"maximum_iterations": r.randint(1, 3)} if r.random() < 0.2 else {}
        made = tf.while_loop(condition, body, [tf.constant(0)] + start, **bound)
        return r.choice(made[1:])


def build(tf, seed, depth=3):
    """Makes the program of a seed in the default graph.

    Returns:
      The feeds and the fetches.
    """
    generator = Generator(tf, seed, depth)
    fetches = generator.program()
    return generator.feeds, fetches


def feeds_of(seed):
    """Two sets of values to feed the program of a seed."""
    r = random.Random(-seed - 1)
    return [[[r.uniform(-2, 2) for _ in range(2)] for _ in range(2)] for _ in range(2)]


def run(tf, seed):
    """What the program of a seed gives for each of its feeds, as lists."""
    found = []
    with tf.Graph().as_default():
        feeds, fetches = build(tf, seed)
        with tf.Session() as session:
            for values in feeds_of(seed):
                made = session.run(fetches, dict(zip(feeds, values)))
                found.append([m.tolist() for m in made])
    return found


if __name__ == "__main__":
    import json
    import os
    import sys

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    package = tensorflow
    if not tensorflow.__version__.startswith("1."):
        package = tensorflow.compat.v1
        package.disable_v2_behavior()
    kind, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if kind == "values":
        result = []
        for seed in range(count):
            try:
                result.append(run(package, seed))
            except package.errors.InvalidArgumentError as error:
                # Some programs that TensorFlow builds it cannot run: a result stays dead.
                result.append(str(error).splitlines()[0])
    else:
        from programs import dump

        result = [dump(package, lambda tf, s=s: build(tf, s)) for s in range(count)]
    with open(path, "w") as file:
        json.dump(result, file)
