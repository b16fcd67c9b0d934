"""Random programs of nested conditionals and loops with their gradients, as text.

``source(seed)`` is a Python function ``program(tf)``: it builds into the default graph and returns
``feeds`` (name -> placeholder) and ``fetches`` (values, then gradients; those may be None).  The
text alone is the program, so every system builds the same one, and it can be printed and cut down.

The values of a program are of five kinds: ``v`` float vectors [n], ``s`` float scalars, ``i`` int32
scalars, ``g`` float vectors of any length (which loops may change), and variables.  What touches a
variable is put in order by control dependencies, also over the iterations of a loop, so that every
order of execution that the graph allows gives the same.  Values are float64 and kept small.
"""

from __future__ import annotations

import random

HEAD = """\
def program(tf):
    def like(a, b):
        a = tf.identity(a)
        a.set_shape(b.shape)
        return a
    def after(done, *values):
        if done is None:
            return list(values)
        with tf.control_dependencies([done]):
            return [tf.identity(a) for a in values]
    D = tf.{dtype}
    x = tf.placeholder(D, {dims}, name="x")
    w = tf.placeholder(D, {dims}, name="w")
    n = tf.placeholder(tf.int32, [], name="n")
    p = tf.placeholder(tf.bool, [], name="p")
    feeds = {{"x": x, "w": w, "n": n, "p": p}}
"""
ARITHMETIC = {
    "v": (
        "tf.tanh({v} * {v})", "tf.sin({v}) + {v}", "{v} * 0.5", "{v} - {v} * tf.reduce_sum({v})",
        "tf.maximum({v}, {v})", "tf.where({v} > {v}, {v}, {v} * 0.3)", "{v} * {s}", "{v} + {s}",
        "tf.reverse({v}, [0])", "tf.identity({v})", "tf.stop_gradient({v}) * {v}",
        "tf.reshape(tf.matmul(tf.reshape({v}, [1, -1]), {v}[:, None] * {v}[None, :]), [-1])",
    ),
    "s": (
        "tf.reduce_sum({v}) * 0.2", "tf.sin({s}) * {s}", "tf.cast({i}, D) * 0.1", "{s} - 0.3",
        "tf.reduce_sum({g}) * 0.1", "tf.reduce_max(tf.concat([{v}, [{s}]], 0))",
        "tf.exp(-{s} * {s})",
    ),
    "i": (
        "({i} + 1) % 7", "({i} * 3 + {i}) % 5", "tf.minimum(tf.size({g}), 5)", "tf.constant({k})",
        "tf.cast({s} > 0.1, tf.int32)", "tf.maximum({i}, {i}) - 1",
    ),
    "g": (
        "tf.concat([{g}, {v}], 0)[:16]", "tf.sin({g}) * {s}", "{g}[1:]",
        "tf.reshape({g}, [-1]) * 0.7",
        "tf.gather({g}, tf.range(tf.size({g}) // 2))", "tf.concat([{v}, [{s}]], 0)",
    ),
}  # fmt: skip
PREDICATES = (
    "tf.reduce_sum({v}) > {f}", "{s} < {f}", "tf.equal({i} % 2, {b})", "{i} < {k}", "p",
    "tf.logical_and(p, {i} > {b})", "tf.logical_or(tf.logical_not(p), {s} > {f})",
    "tf.size({g}) < 5", "tf.reduce_any({v} > 0.9)",
)  # fmt: skip
# How many statements a program has at most at the top.
SIZE = 10
START = {"v": "{v}", "s": "{s}", "i": "{i}", "g": "{v}"}
Names = dict[str, list[str]]


class _Scope:
    """The names that a function sees, and the last of its steps that touched a variable."""

    def __init__(self, names: Names, effects: bool) -> None:
        self.names = {kind: list(found) for kind, found in names.items()}
        self.effects = effects
        self.done: str | None = None


class _Writer:
    """Writes one program.  State: the lines, their indent, names used, what may still be made."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent, self.used = 1, 0
        self.left = self.random.randint(3, size)
        self.known = self.random.random() < 0.4
        # Where a loop's variable does not depend on itself, TensorFlow's gradient is float32 zeros.
        self.wide = self.random.random() < 0.75
        self.variables = self.random.choice([(), (), ("u",), ("r",), ("u", "r")])

    # ---- words ---------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, kind: str) -> str:
        self.used += 1
        return f"{kind}{self.used}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fill(self, template: str, scope: _Scope) -> str:
        """The template with a name of each kind that it asks for."""
        text = ""
        for part in template.split("{"):
            head, end, rest = part.partition("}")
            text += self.word(head, scope) + rest if end else part
        return text

    def word(self, kind: str, scope: _Scope) -> str:
        r = self.random
        if kind == "f":
            return f"{r.uniform(-0.8, 0.8):.2f}"
        if kind in "kb":
            return str(r.randrange(5 if kind == "k" else 2))
        found = scope.names[kind]
        # Mostly what was made last, so that little is unused.
        return found[-1] if self.chance(0.35) else r.choice(found)

    def put(self, kind: str, text: str, scope: _Scope) -> str:
        made = self.name(kind)
        self.line(f"{made} = {text}")
        scope.names[kind].append(made)
        return made

    # ---- statements ----------------------------------------------------------------------------

    def block(self, scope: _Scope, depth: int, count: int) -> None:
        for _ in range(count):
            self.statement(scope, depth)

    def statement(self, scope: _Scope, depth: int) -> None:
        kinds = ["plain"] * 6 + ["inner_gradient"]
        if scope.effects:
            kinds += ["effect"] * 3
        if depth > 0 and self.left > 0:
            kinds += ["cond"] * 5 + ["loop"] * 6 + ["case", "array", "rows", "map", "scan", "fold"]
        kind = self.random.choice(kinds)
        if kind not in ("plain", "effect", "inner_gradient"):
            self.left -= 1
        getattr(self, kind)(scope, depth)

    def plain(self, scope: _Scope, depth: int) -> None:
        kind = self.random.choice("vvvvssig")
        self.put(kind, self.fill(self.random.choice(ARITHMETIC[kind]), scope), scope)

    def inner_gradient(self, scope: _Scope, depth: int) -> None:
        a = self.put("v", self.fill("{v} * 1.5", scope), scope)
        y = self.fill(f"tf.sin({a}) * {a} * {{v}}", scope)
        self.put("v", f"tf.tanh(tf.gradients({y}, [{a}])[0])", scope)

    def effect(self, scope: _Scope, depth: int) -> None:
        variable = self.random.choice(self.variables)
        how = self.random.choice([
            "{x}.read_value() * 0.7", "tf.assign_add({x}, {s}) * 0.5", "tf.assign({x}, {s}) * 0.3",
            "tf.assign_sub({x}, {s} * 0.3) * 0.4",
        ])  # fmt: skip
        value = self.name("s")
        how = self.fill(how.replace("{x}", variable), scope)
        before = f"[{scope.done}]" if scope.done else "[]"
        self.line(f"with tf.control_dependencies({before}):")
        self.line(f"    {value} = {how}")
        scope.names["s"].append(value)
        scope.done = value

    def function(self, scope: _Scope, label: str, arguments: Names, results: str, depth: int,
                 effects: bool) -> str:  # fmt: skip
        """Writes a function whose body may use all that is seen; returns its name."""
        name = self.name(label)
        flat = [a for kind in arguments.values() for a in kind]
        inner = _Scope(scope.names, effects)
        for kind, found in arguments.items():
            if kind in inner.names:
                inner.names[kind] += found
        self.line(f"def {name}({', '.join(flat)}):")
        self.indent += 1
        self.block(inner, depth - 1, self.random.randint(1, 3))
        values = [self.word(kind, inner) for kind in results]
        if flat:
            values = [self.following("s", values[0], flat[0])]
        if effects:
            values = self.gated(inner, values)
        self.line(f"return [{', '.join(values)}]" if len(values) > 1 else f"return {values[0]}")
        self.indent -= 1
        return name

    def gated(self, scope: _Scope, values: list[str]) -> list[str]:
        made = [self.name("a") for _ in values]
        self.line(f"{', '.join(made)}, = after({scope.done}, {', '.join(values)})")
        return made

    def results(self, kinds: str, scope: _Scope, made: str, effects: bool) -> None:
        """Names for what a construct gave."""
        names = [self.name(kind) for kind in kinds]
        self.line(f"{', '.join(names)} = {made}")
        for kind, name in zip(kinds, names, strict=True):
            scope.names[kind].append(name)
        if effects:
            scope.done = names[0]

    def predicate(self, scope: _Scope) -> str:
        text = self.fill(self.random.choice(PREDICATES), scope)
        return f"after({scope.done}, {text})[0]" if scope.done else text

    def kinds(self, most: int) -> str:
        return "".join(self.random.choice("vvvsig") for _ in range(self.random.randint(1, most)))

    def cond(self, scope: _Scope, depth: int) -> None:
        kinds, predicate = self.kinds(3), self.name("b")
        self.line(f"{predicate} = {self.predicate(scope)}")
        yes, no = (
            self.function(scope, label, {}, kinds, depth, scope.effects) for label in ("yes", "no")
        )
        self.results(kinds, scope, f"tf.cond({predicate}, {yes}, {no})", scope.effects)

    def case(self, scope: _Scope, depth: int) -> None:
        kinds, predicates = self.kinds(2), [self.name("b"), self.name("b")]
        for name in predicates:
            self.line(f"{name} = {self.predicate(scope)}")
        first, second, other = (
            self.function(scope, "pick", {}, kinds, depth, scope.effects) for _ in range(3)
        )
        a, b = predicates
        self.results(
            kinds, scope, f"tf.case([({a}, {first}), ({b}, {second})], default={other})",
            scope.effects,
        )  # fmt: skip

    def loop(self, scope: _Scope, depth: int) -> None:
        r = self.random
        kinds = self.kinds(3)
        starts = [self.fill(START[kind], scope) for kind in kinds]
        rounds = str(r.randint(0, 4))
        if self.chance(0.4):
            rounds = self.fill("tf.minimum({i}, 4)", scope)
        bound = self.name("i")
        self.line(f"{bound} = {rounds}")
        counter, names = self.name("i"), [self.name(kind) for kind in kinds]
        arguments = ", ".join([counter, *names])
        more, body = self.name("more"), self.name("body")
        inner = _Scope(scope.names, scope.effects)
        inner.names["i"].append(counter)
        for kind, name in zip(kinds, names, strict=True):
            inner.names[kind].append(name)
        test = f"{counter} < {bound}"
        if self.chance(0.3):
            test = f"tf.logical_and({test}, {self.fill('{s} < 1.2', inner)})"
        elif self.chance(0.15):
            test = f"tf.logical_and({test}, {self.fill(r.choice(PREDICATES), inner)})"
        self.line(f"def {more}({arguments}):")
        self.line(f"    return {test}")
        self.line(f"def {body}({arguments}):")
        self.indent += 1
        inner.done = counter if scope.effects else None
        self.block(inner, depth - 1, r.randint(1, 3))
        values = [self.word(kind, inner) for kind in kinds]
        following = [f"{counter} + 1"] + [
            self.following(k, a, b) for k, a, b in zip(kinds, values, names, strict=True)
        ]
        if scope.effects:
            following = self.gated(inner, following)
        self.line(f"return [{', '.join(following)}]")
        self.indent -= 1
        begin = f"after({scope.done}, tf.constant(0))[0]" if scope.done else "tf.constant(0)"
        invariants = [
            "tf.TensorShape([None])" if k in "g" else f"{a}.shape"
            for k, a in zip(kinds, starts, strict=True)
        ]  # fmt: skip
        more_arguments = [
            f"shape_invariants=[tf.TensorShape([]), {', '.join(invariants)}]",
            *(["back_prop=False"] if self.chance(0.06) else []),
            *([f"maximum_iterations={r.randint(0, 3)}"] if self.chance(0.2) else []),
            *([f"parallel_iterations={r.choice([1, 2])}"] if self.chance(0.2) else []),
            *(["swap_memory=True"] if self.chance(0.1) else []),
        ]
        made = f"tf.while_loop({more}, {body}, [{', '.join([begin, *starts])}],"
        count, finals = self.name("i"), [self.name(kind) for kind in kinds]
        self.line(f"{', '.join([count, *finals])} = {made}")
        self.line(f"    {', '.join(more_arguments)})")
        scope.names["i"].append(count)
        for kind, name in zip(kinds, finals, strict=True):
            scope.names[kind].append(name)
        if scope.effects:
            scope.done = count

    def following(self, kind: str, value: str, variable: str) -> str:
        """A loop variable's next value: small, and where it must, of the one before."""
        if kind == "i":
            return f"{value} % 7"
        if self.wide or self.chance(0.5):
            before = f"tf.reduce_sum({variable})" if kind == "g" else variable
            value = f"{value} + {before} * 0.2"
        return f"like(tf.tanh({value}), {variable})" if kind == "v" else f"tf.tanh({value})"

    # ---- TensorArrays ----------------------------------------------------------------------------

    def array(self, scope: _Scope, depth: int) -> None:
        """A loop that writes an array of scalars, and may read what it wrote."""
        rounds, keep = self.random.randint(0, 4), self.chance(0.5)
        array, counter, value = self.name("t"), self.name("i"), self.name("v")
        inner = _Scope(scope.names, False)
        inner.names["i"].append(counter)
        inner.names["v"].append(value)
        body, held = self.name("body"), self.name("h")
        size = "0, dynamic_size=True" if self.chance(0.4) else str(rounds)
        keeps = ", clear_after_read=False" if keep else ""
        self.line(f"{array} = tf.TensorArray(D, {size}, element_shape=[]{keeps})")
        self.line(f"def {body}({counter}, {value}, {held}):")
        self.indent += 1
        self.block(inner, depth - 1, self.random.randint(1, 2))
        self.line(f"{held} = {held}.write({counter}, {self.word('s', inner)})")
        if keep:
            read = f"{held}.read({counter} // 2)"
            self.put("v", f"{self.word('v', inner)} * {read}", inner)
        following = self.following("v", self.word("v", inner), value)
        self.line(f"return [{counter} + 1, {following}, {held}]")
        self.indent -= 1
        start = self.word("v", scope)
        final, last = self.name("v"), self.name("h")
        self.line(
            f"_, {final}, {last} = tf.while_loop(lambda k, *_: k < {rounds}, {body},"
            f" [0, {start}, {array}])"
        )
        scope.names["v"].append(final)
        self.put("g", f"{last}.stack()", scope)

    def rows(self, scope: _Scope, depth: int) -> None:
        """A loop over the elements of an array that was filled from a tensor."""
        array, source = self.name("t"), self.word("g", scope)
        how = self.random.choice(["unstack({g})", "scatter(tf.range(tf.size({g})), {g})"])
        self.line(
            f"{array} = tf.TensorArray(D, tf.size({source}), clear_after_read=False)."
            f"{how.replace('{g}', source)}"
        )
        counter, value, body = self.name("i"), self.name("s"), self.name("body")
        inner = _Scope(scope.names, False)
        inner.names["i"].append(counter)
        inner.names["s"].append(value)
        self.line(f"def {body}({counter}, {value}):")
        self.indent += 1
        self.put("s", f"{array}.read({counter}) * 0.5", inner)
        self.block(inner, depth - 1, self.random.randint(1, 2))
        self.line(f"return [{counter} + 1, tf.tanh({self.word('s', inner)} + {value})]")
        self.indent -= 1
        made = self.name("s")
        start = self.word("s", scope)
        self.line(
            f"_, {made} = tf.while_loop(lambda k, _: k < tf.size({source}), {body}, [0, {start}])"
        )
        scope.names["s"].append(made)

    def over(self, scope: _Scope, depth: int, arguments: int) -> str:
        names = [self.name("s") for _ in range(arguments)]
        return self.function(scope, "each", {"s": names}, "s", depth, False)

    def map(self, scope: _Scope, depth: int) -> None:
        over = self.word("v", scope)
        each = self.over(scope, depth, 1)
        self.put("v", f"like(tf.map_fn({each}, {over}), {over})", scope)

    def scan(self, scope: _Scope, depth: int) -> None:
        over, start = self.word("v", scope), self.word("s", scope)
        each = self.over(scope, depth, 2)
        back = ", reverse=True" if self.chance(0.3) else ""
        text = f"like(tf.scan({each}, {over}, initializer={start}{back}), {over})"
        self.put("v", text, scope)

    def fold(self, scope: _Scope, depth: int) -> None:
        over, start = self.word("v", scope), self.word("s", scope)
        each = self.over(scope, depth, 2)
        how = self.random.choice(["foldl", "foldr"])
        self.put("s", f"tf.{how}({each}, {over}, initializer={start})", scope)

    # ---- the whole -------------------------------------------------------------------------------

    def head(self) -> str:
        dims, dtype = "[3]" if self.known else "[None]", "float64" if self.wide else "float32"
        return HEAD.format(dims=dims, dtype=dtype).rstrip()

    def program(self) -> str:
        self.lines = [self.head()]
        for name in self.variables:
            kind = f"initializer=tf.constant(0.4, D), use_resource={name == 'r'}"
            self.line(f'{name} = tf.get_variable("{name}", {kind})')
        names: Names = {"v": ["x", "w"], "s": ["s0"], "i": ["n"], "g": ["x"]}
        self.line("s0 = tf.reduce_sum(x * w) * 0.3")
        scope = _Scope(names, bool(self.variables))
        depth = self.random.randint(1, 3)
        while self.left > 0:
            self.left -= 1
            self.statement(scope, depth)
        ends = [scope.names[kind][-1] for kind in "vsig"]
        if scope.effects:
            ends = self.gated(scope, ends)
        self.line(f"ends = [{', '.join(ends)}]")
        self.line("loss = sum(tf.reduce_sum(e) for e in ends if e.dtype.is_floating)")
        self.line(f"grads = tf.gradients(loss, [{', '.join(['x', 'w', *self.variables])}])")
        self.line("return feeds, ends + grads")
        return "\n".join(self.lines) + "\n"


def source(seed: int, size: int = SIZE) -> str:
    """The text of the program of a seed; ``size`` bounds how many statements it has at the top."""
    return _Writer(seed, size).program()


def feeds_of(seed: int) -> list[dict[str, object]]:
    """Two sets of values for a program; the length of vectors changes where it may."""
    r = random.Random(-seed - 1)
    known = _Writer(seed, SIZE).known
    lengths = [3, 3 if known else r.choice([0, 1, 2, 3, 5])]
    return [
        {
            "x": [r.uniform(-1, 1) for _ in range(length)],
            "w": [r.uniform(-1, 1) for _ in range(length)],
            "n": r.randrange(5), "p": r.random() < 0.5,
        }
        for length in lengths
    ]  # fmt: skip


if __name__ == "__main__":
    import sys

    print(source(int(sys.argv[1])))
