"""Random ``tf.data`` programs and what comes out of them, as JSON lines.

Run as ``python dataset_programs.py MODULE FIRST COUNT``: MODULE is ``penstock`` or ``tensorflow``.
A seed makes the same program for each module: what is drawn depends on the seed and on the types
and static shapes of the dataset so far.  ``dataset_programs.json`` holds what TensorFlow prints for
the first seeds.

A position is saved and restored by Penstock as such; TensorFlow, which cannot save all of them,
starts over and takes as many elements as had been taken.
"""

import json
import os
import random
import sys
import warnings

import numpy as np

NAMES = ("int32", "int64", "float32", "float64", "bool", "string")


def leaves(value):
    """The leaves of tuples and dicts."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def mapped(function, value):
    if isinstance(value, dict):
        return {key: mapped(function, value[key]) for key in value}
    if isinstance(value, tuple):
        return tuple(mapped(function, part) for part in value)
    return function(value)


def element_of(args):
    """The element that a function is called with: the parts of a tuple come one by one."""
    return args if len(args) > 1 else args[0]


class Program:
    """Draws a pipeline and runs it.

    Args:
      tf: the module.
      seed: of what is drawn.
    """

    def __init__(self, tf, seed):
        self.tf, self.rng, self.seed = tf, random.Random(seed), seed
        self.D, self.X = tf.data.Dataset, tf.data.experimental
        self.unordered = False
        self.log = []

    # ---- sources

    def array(self, count, name):
        rng = self.rng
        dims = rng.choice([(), (), (), (2,), (3,), (2, 2)])
        size = int(np.prod((count, *dims)))
        if name == "string":
            flat = [rng.choice(["a", "bb", "", "ccc"]) for _ in range(size)]
            return np.array(flat, object).reshape((count, *dims))
        if name == "bool":
            return np.array([rng.random() < 0.5 for _ in range(size)]).reshape((count, *dims))
        flat = [rng.randrange(-3, 9) for _ in range(size)]
        return np.array(flat, name).reshape((count, *dims))

    def nest(self, make):
        form = self.rng.choice(["one", "one", "pair", "dict", "nested", "triple"])
        if form == "one":
            return make()
        if form == "pair":
            return make(), make()
        if form == "triple":
            return make(), make(), make()
        if form == "dict":
            return {"b": make(), "a": make()}
        return make(), {"k": make(), "j": (make(), make())}

    def source(self):
        rng, D = self.rng, self.D
        kind = rng.choice(["range", "range", "slices", "slices", "slices", "tensors", "generator"])
        self.log.append(kind)
        if kind == "range":
            start, step = rng.randrange(-3, 4), rng.choice([1, 1, 2, 3, -1, -2])
            bounds = (start, start + step * rng.randrange(0, 9), step)
            return rng.choice([lambda: D.range(*bounds), lambda: D.range(abs(bounds[1]))])()
        if kind == "tensors":
            element = self.nest(lambda: self.array(rng.randrange(1, 4), rng.choice(NAMES)))
            return D.from_tensors(element)
        if kind == "slices":
            count = rng.randrange(1, 9)
            return D.from_tensor_slices(self.nest(lambda: self.array(count, rng.choice(NAMES))))
        count, odd = rng.randrange(0, 6), rng.random() < 0.5
        tf = self.tf
        if odd:
            return D.from_generator(
                lambda: ((i, [i] * (i % 3)) for i in range(count)),
                (tf.int64, tf.int32),
                ([], [None]),
            )
        return D.from_generator(lambda: iter(range(count)), tf.int32, [])

    # ---- functions

    def key(self, *args):
        """An int64 scalar of an element."""
        tf = self.tf
        x = leaves(element_of(args))[0]
        if x.dtype == tf.string:
            x = tf.equal(x, "a")
        return tf.reduce_sum(tf.cast(x, tf.int64))

    def change(self, x):
        tf = self.tf
        if x.dtype == tf.string:
            return tf.string_join([x, tf.constant("!")])
        if x.dtype == tf.bool:
            return tf.logical_not(x)
        return x * 2 + 1

    def function(self, safe=False):
        tf, rng, key = self.tf, self.rng, self.key
        kinds = ["change", "restructure", "first", "ragged", "expand", "key", "same", "select"]
        kind = rng.choice(kinds if safe else [*kinds, "divide", "captured", "numerics", "py"])
        number = rng.randrange(1, 5)
        self.log.append(kind)
        captured = tf.constant(number, tf.int64) if kind == "captured" else None
        return {
            "change": lambda *a: mapped(self.change, element_of(a)),
            "restructure": lambda *a: (key(*a), {"z": element_of(a), "y": tf.constant([1.5, 2.0])}),
            "first": lambda *a: leaves(element_of(a))[-1],
            "ragged": lambda *a: (tf.range(key(*a) % number), tf.fill([key(*a) % 3], "s")),
            "expand": lambda *a: mapped(lambda x: tf.expand_dims(x, 0), element_of(a)),
            "key": key,
            "same": lambda *a: element_of(a),
            "select": lambda *a: tf.where(key(*a) > number, key(*a) - number, key(*a) * 2),
            "divide": lambda *a: (number * 2) // (key(*a) - number),
            "captured": lambda *a: (element_of(a), key(*a) * captured),
            "numerics": lambda *a: tf.debugging.check_numerics(
                1.0 / tf.cast(key(*a) - number, tf.float32), "bad"
            ),
            "py": lambda *a: tf.py_func(lambda v: np.int64(v * 3), [key(*a)], tf.int64),
        }[kind]

    def predicate(self):
        modulus = self.rng.randrange(1, 4)
        rest = self.rng.randrange(modulus + 1)
        return lambda *a: self.tf.not_equal(self.key(*a) % modulus, rest)

    def inner(self):
        """A function that makes a dataset of an element."""
        kind, number = self.rng.choice(["repeat", "range", "slices"]), self.rng.randrange(1, 4)
        D = self.D
        self.log.append(kind)
        return {
            "repeat": lambda *a: D.from_tensors(element_of(a)).repeat(number),
            "range": lambda *a: D.range(self.key(*a) % (number + 1)),
            "slices": lambda *a: D.from_tensor_slices(
                self.key(*a) + self.tf.range(self.key(*a) % (number + 1))
            ),
        }[kind]

    # ---- transformations

    def shapes(self, d):
        return leaves(mapped(lambda s: s.dims, self.tf.data.get_output_shapes(d)))

    def transformed(self, d):
        """One more transformation; the last of a program where that is all that is drawn."""
        names = [n[3:] for n in sorted(dir(self)) if n.startswith("do_")]
        weights = {"map": 4, "batch": 3, "filter": 2, "padded_batch": 2, "window": 2}
        name = self.rng.choices(names, [weights.get(n, 1) for n in names])[0]
        self.log.append(name)
        return getattr(self, "do_" + name)(d)

    def calls(self):
        return self.rng.choice([None, None, 1, 2, 3])

    def count(self, low=0, high=6):
        return self.rng.choice([self.rng.randrange(low, high)] * 12 + [-1])

    def do_map(self, d):
        return d.map(self.function(), num_parallel_calls=self.calls())

    def do_filter(self, d):
        return d.filter(self.predicate())

    def do_batch(self, d):
        return d.batch(self.count(1, 5), drop_remainder=self.rng.random() < 0.4)

    def do_map_and_batch(self, d):
        size, whole = self.rng.randrange(1, 5), self.rng.random() < 0.4
        function = self.function()
        return d.apply(self.X.map_and_batch(function, size, drop_remainder=whole))

    def do_padded_batch(self, d):
        rng, tf = self.rng, self.tf
        if rng.random() < 0.5 or None in self.shapes(d):
            number = rng.randrange(2, 6)
            d = d.map(lambda *a: (tf.range(self.key(*a) % number), self.key(*a)))
            dims = ([rng.choice([None, -1, 4, 3])], [])
            values = rng.choice([None, (np.int64(-1), np.int64(7))])
        else:
            shapes = tf.data.get_output_shapes(d)
            dims = mapped(lambda s: [rng.choice([n, n, None, 3]) for n in s.as_list()], shapes)
            values = None
        return d.padded_batch(
            rng.randrange(1, 4), dims, padding_values=values, drop_remainder=rng.random() < 0.3
        )

    def do_take(self, d):
        return d.take(self.count())

    def do_skip(self, d):
        return d.skip(self.count())

    def do_shard(self, d):
        number = self.rng.randrange(1, 4)
        return d.shard(number, self.rng.randrange(number + (self.rng.random() < 0.1)))

    def do_repeat(self, d):
        count = self.rng.choice([0, 1, 2, 2, 3, None])
        return d.repeat().take(self.rng.randrange(12)) if count is None else d.repeat(count)

    def do_concatenate(self, d):
        form = self.rng.choice(["take", "map", "other"])
        if form == "other":
            return d.concatenate(self.source())
        if form == "map":
            return d.concatenate(d.map(lambda *a: mapped(self.change, element_of(a))))
        return d.take(3).concatenate(d.skip(2))

    def do_zip(self, d):
        form = self.rng.choice(["pair", "dict", "nested", "self"])
        other = d if form == "self" else self.source()
        if form == "dict":
            return self.D.zip({"q": d, "p": other})
        return self.D.zip((d, (other, d)) if form == "nested" else (other, d))

    def do_flat_map(self, d):
        return d.flat_map(self.inner())

    def do_interleave(self, d):
        rng = self.rng
        return d.interleave(
            self.inner(), rng.randrange(1, 4), rng.randrange(1, 4), num_parallel_calls=self.calls()
        )

    def do_window(self, d):
        rng = self.rng
        size, shift, stride = rng.randrange(1, 4), rng.randrange(1, 5), rng.choice([1, 1, 2])
        windows = d.window(size, shift, stride, rng.random() < 0.4)
        number = rng.randrange(1, 4)

        def put(*args):
            value = element_of(args)
            return (self.D.zip(value) if isinstance(value, (tuple, dict)) else value).batch(number)

        return windows.flat_map(put)

    def do_unbatch(self, d):
        if any(not s for s in self.shapes(d)):
            d = d.batch(self.rng.randrange(1, 4))
        return d.apply(self.X.unbatch())

    def do_cache(self, d):
        d = d.cache()
        return d.repeat(2) if self.rng.random() < 0.5 else d

    def do_prefetch(self, d):
        return d.prefetch(self.rng.choice([0, 1, 3, -1]))

    def do_scan(self, d):
        if self.rng.random() < 0.5:
            return d.apply(self.X.scan(np.int64(1), lambda s, x: (s + self.key(x), (s, x))))
        return d.apply(
            self.X.scan((np.int64(0), np.int64(1)), lambda s, x: ((s[1], s[0] + self.key(x)), s[0]))
        )

    def do_take_while(self, d):
        limit = self.rng.randrange(0, 7)
        return d.apply(self.X.take_while(lambda *a: self.key(*a) < limit))

    def do_unique(self, d):
        return d.map(self.key).apply(self.X.unique())

    def do_enumerate(self, d):
        start = self.rng.randrange(3)
        return d.apply(self.X.enumerate_dataset(start)) if start else d.enumerate()

    def do_ignore_errors(self, d):
        return d.map(self.function()).apply(self.X.ignore_errors())

    def do_choose(self, d):
        others = [d, d.take(2), d.skip(1)]
        choice = self.D.range(self.rng.randrange(9)).map(lambda i: i % 3)
        return self.X.choose_from_datasets(others, choice)

    def do_group_by_window(self, d):
        modulus, size = self.rng.randrange(1, 4), self.rng.randrange(1, 4)
        sizes = {"window_size": size}
        if self.rng.random() < 0.4:
            sizes = {"window_size_func": lambda key: key + size}
        batch = self.rng.randrange(1, 4)
        return d.apply(
            self.X.group_by_window(
                lambda *a: self.key(*a) % modulus, lambda key, group: group.batch(batch), **sizes
            )
        )

    def do_group_by_reducer(self, d):
        modulus = self.rng.randrange(1, 4)
        reducer = self.X.Reducer(
            lambda key: np.int64(0), lambda s, *a: s + self.key(*a), lambda s: (s, s * 2)
        )
        return d.apply(self.X.group_by_reducer(lambda *a: self.key(*a) % modulus, reducer))

    def pipeline(self):
        d = self.source()
        for _ in range(self.rng.randrange(1, 6)):
            d = self.transformed(d)
        if self.rng.random() < 0.12:
            self.log.append("shuffle")
            self.unordered = True
            seed, size = self.rng.choice([None, 3]), self.rng.randrange(1, 12)
            again = self.rng.choice([None, True, False])
            if self.rng.random() < 0.3:
                d = d.apply(self.X.shuffle_and_repeat(size, 2, seed))
            else:
                d = d.shuffle(size, seed, again).repeat(self.rng.randrange(1, 3))
        return d

    # ---- what is done with it

    def steps(self):
        """Operations of an iterator; all its elements at the end."""
        rng = self.rng
        if self.unordered:
            return [("drain", 0)] + [("init", 0), ("drain", 0)] * rng.randrange(2)
        made = []
        for _ in range(rng.randrange(4)):
            what = rng.choice(["next", "next", "init", "save", "restore"])
            made.append((what, rng.randrange(1, 5)))
        return [*made, ("drain", 0)]

    def run(self):
        tf, rng = self.tf, self.rng
        out = {"trace": []}
        try:
            with tf.Graph().as_default(), tf.Session() as session:
                tf.set_random_seed(1)
                d = self.pipeline()
                for what in ("types", "shapes"):
                    found = getattr(tf.data, f"get_output_{what}")(d)
                    out[what] = static(found)
                use = rng.choice(["init", "init", "init", "shot", "structure", "handle", "reduce"])
                if use == "reduce" and not self.unordered:
                    total = d.reduce(np.int64(0), lambda s, x: s * 3 + self.key(x))
                    out["trace"].append(self.attempt(lambda: show(session.run(total))))
                    return out
                taken = Taken(self, session, d, use)
                for what, count in self.steps():
                    out["trace"] += getattr(taken, what)(count)
        except Exception as error:
            out["error"] = type(error).__name__
            if os.environ.get("SHOW_ERRORS"):
                out["message"] = str(error)
        return out

    def attempt(self, call):
        try:
            return call()
        except self.tf.errors.OutOfRangeError:
            return "end"
        except self.tf.errors.OpError as error:
            if os.environ.get("SHOW_ERRORS"):
                print(self.seed, str(error).replace("\n", " ")[:600], file=sys.stderr)
            return type(error).__name__


class Taken:
    """An iterator in use."""

    def __init__(self, program, session, dataset, use):
        tf = program.tf
        self.program, self.session = program, session
        self.initializer = None
        if use == "shot":
            iterator = dataset.make_one_shot_iterator()
        elif use == "structure":
            iterator = tf.data.Iterator.from_structure(
                tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
            )
            self.initializer = iterator.make_initializer(dataset)
        else:
            iterator = dataset.make_initializable_iterator()
            self.initializer = iterator.initializer
        self.element, self.feed = iterator.get_next(), {}
        if use == "handle":
            handle = tf.placeholder(tf.string, [])
            self.element = tf.data.Iterator.from_string_handle(
                handle, tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset)
            ).get_next()
            self.feed = {handle: session.run(iterator.string_handle())}
        self.iterator = iterator
        self.count = 0
        self.started = False
        self.saved = None
        self.position = None
        if tf.__name__ == "penstock":
            self.position = tf.data.experimental.make_saveable_from_iterator(iterator)
            self.restored = self.position.restore([tf.placeholder(tf.variant, [])], None)
        self.first = program.attempt(self.one) if program.rng.random() < 0.1 else None
        self.init(0)

    def one(self):
        return show(self.session.run(self.element, self.feed))

    def init(self, _):
        if self.initializer is None:
            return []
        self.count = 0
        outcome = self.program.attempt(lambda: self.session.run(self.initializer))
        self.started = self.started or outcome is None
        return [outcome]

    def next(self, count):
        self.count += count
        return [self.program.attempt(self.one) for _ in range(count)]

    def drain(self, _):
        found = []
        failed = 0
        while len(found) < 60 and failed < 3:
            found.append(self.next(1)[0])
            failed += found[-1] == "end" or isinstance(found[-1], str) and "Error" in found[-1]
        return sorted(found, key=repr) if self.program.unordered else found

    def save(self, _):
        if not self.started:
            return []
        self.saved = self.count
        if self.position is not None:
            self.data = self.session.run(self.position.specs[0].tensor)
        return []

    def restore(self, _):
        if self.saved is None:
            return []
        if self.position is None:
            self.init(0)
            self.next(self.saved)
        else:
            fed = self.restored.inputs[1]
            self.session.run(self.restored, {fed: np.array(self.data, object)})
        self.count = self.saved
        return []


def show(value):
    """A value with its types, as JSON has it."""
    if isinstance(value, dict):
        return {key: show(value[key]) for key in sorted(value)}
    if isinstance(value, tuple):
        return {"tuple": [show(part) for part in value]}
    array = np.asarray(value)
    if isinstance(value, bytes) or array.dtype == object:
        return ["string", list(array.shape), repr(array.tolist())]
    return [str(array.dtype), list(array.shape), repr(array.tolist())]


def static(value):
    if isinstance(value, dict):
        return {key: static(value[key]) for key in sorted(value)}
    if isinstance(value, tuple):
        return [static(part) for part in value]
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    return None if value.dims is None else value.as_list()


def module(name):
    """Penstock or TensorFlow 1's interface."""
    warnings.filterwarnings("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if name == "penstock":
        import penstock

        return penstock
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    Program.run = tf.autograph.experimental.do_not_convert(Program.run)
    tf.logging.set_verbosity("ERROR")
    return tf


def main(name, first, count):
    tf = module(name)
    for seed in range(first, first + count):
        program = Program(tf, seed)
        out = program.run()
        print(json.dumps([seed, out, program.log], sort_keys=True), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
