"""Programs of Python's control flow over tensors, for Penstock and TensorFlow 1.15 (Python 3.7).

``python -m tests.library.autograph.programs`` writes what TensorFlow 1.15 finds to
``expected.json``, in its environment.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

EXPECTED = Path(__file__).resolve().parent / "expected.json"
X, V = 3.0, [1.0, -2.0, 4.0]


class Counter:
    def __init__(self):
        self.total = 0.0


def helper(x):
    if x > 2:
        return x * 10
    return x


def fact(tf, n):
    if n < 2:
        return n
    return n * 2


def p_if(tf, x, v):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def p_if_without_else(tf, x, v):
    y = x
    if x < 0:
        y = -x
    return y


def p_elif(tf, x, v):
    if x > 10:
        y = 1.0
    elif x > 2:
        y = 2.0
    else:
        y = 3.0
    return y


def p_nested_if(tf, x, v):
    y = 0.0
    if x > 0:
        if x > 5:
            y = 1.0
        else:
            y = 2.0
        y = y + x
    return y


def p_return_in_both(tf, x, v):
    if x > 0:
        return x
    else:
        return -x


def p_return_early(tf, x, v):
    if x > 5:
        return x * 2
    if x > 2:
        return x * 3
    return x


def p_return_nested(tf, x, v):
    if x > 0:
        if x > 5:
            return 1.0
        else:
            return 2.0
    return 3.0


def p_return_lacks(tf, x, v):
    if x > 0:
        return 1.0


def p_return_two(tf, x, v):
    if x > 0:
        return x, x + 1
    return -x, x


def p_return_structures_differ(tf, x, v):
    if x > 0:
        return x, x
    return x


def p_undefined_after_if(tf, x, v):
    if x > 0:
        y = 1.0
    return y


def p_undefined_but_dead(tf, x, v):
    if x > 0:
        y = 1.0
        z = y  # noqa: F841
    return x


def p_dtypes_differ(tf, x, v):
    if x > 0:
        y = 1.0
    else:
        y = 2
    return y


def p_python_if(tf, x, v):
    if len([1, 2]) > 1:
        return x
    return -x


def p_while(tf, x, v):
    n = 0
    while x > 0:
        x = x - 1.0
        n = n + 1
    return n, x


def p_while_of_python(tf, x, v):
    i = 0
    while i < 3:
        x = x * 2
        i += 1
    return x, i


def p_while_undefined(tf, x, v):
    while x > 0:
        x = x - 1.0
        z = x
    return z


def p_while_local(tf, x, v):
    while x > 0:
        half = x / 2
        x = half - 0.5
    return x


def p_while_dtype_changes(tf, x, v):
    i = 0
    while x > 0:
        i = i + 0.5
        x = x - 1.0
    return i


def p_while_none(tf, x, v):
    i = None
    while x > 0:
        i = 0.5
        x = x - 1.0
    return i


def p_while_break(tf, x, v):
    i = 0
    while x > -10:
        x = x - 1.0
        if x < 0:
            break
        i = i + 1
    return i, x


def p_while_continue(tf, x, v):
    i, s = 0, 0
    while i < tf.cast(x, tf.int32) * 2:
        i = i + 1
        if i % 2 == 0:
            pass
        if i > 4:
            continue
        s = s + i
    return i, s


def p_while_break_and_continue(tf, x, v):
    i, s = tf.constant(0), 0
    while i < 20:
        i = i + 1
        if i < 3:
            continue
        if i > 7:
            break
        s = s + i
    return i, s


def p_while_nested(tf, x, v):
    s = 0
    i = tf.constant(0)
    while i < 3:
        j = tf.constant(0)
        while j < i:
            s = s + j
            j = j + 1
        i = i + 1
    return s


def p_while_grows(tf, x, v):
    while tf.reduce_sum(v) < 20.0:
        v = v * 2
    return v


def p_while_logic(tf, x, v):
    n = 0
    while x > 0 and n < 2:
        x = x - 1.0
        n = n + 1
    return n, x


def p_for_rows(tf, x, v):
    s = 0.0
    for row in v:
        s = s + row * row
    return s


def p_for_matrix(tf, x, v):
    s = tf.zeros([2])
    for row in tf.reshape(tf.range(6.0), [3, 2]):
        s = s + row
    return s


def p_for_range(tf, x, v):
    s = 0
    for i in range(tf.cast(x, tf.int32)):
        s = s + i
    return s


def p_for_tf_range(tf, x, v):
    s = 0
    for i in tf.range(2, 10, 3):
        s = s * 10 + i
    return s


def p_for_range_of_python(tf, x, v):
    for i in range(3):
        x = x + i
    return x


def p_for_break(tf, x, v):
    s = 0.0
    for row in v:
        if row < 0:
            break
        s = s + row
    return s


def p_for_continue(tf, x, v):
    s = 0.0
    for row in v:
        if row < 0:
            continue
        s = s + row
    return s


def p_for_item_after(tf, x, v):
    for row in v:  # noqa: B007
        pass
    return row


def p_for_return(tf, x, v):
    for row in v:
        if row > 1:
            return row
    return x


def p_for_dataset(tf, x, v):
    s = 0
    for i in tf.data.Dataset.range(5):
        s = s + tf.cast(i, tf.int32)
    return s


def p_for_list_of_python(tf, x, v):
    made = []
    for i in [1.0, 2.0]:
        if i > 1:
            continue
        made.append(x * i)
    return made


def p_for_python_break(tf, x, v):
    for i in [1, 2, 3]:
        if i == 2:
            break
        x = x + i
    return x


def p_for_python_else(tf, x, v):
    for i in [1, 2, 3]:
        x = x + i
    return x


def p_for_nested(tf, x, v):
    s = 0.0
    for a in v:
        for b in v:
            s = s + a * b
    return s


def p_for_if(tf, x, v):
    most = v[0]
    for row in v:
        if row > most:
            most = row
    return most


def p_for_tuple_state(tf, x, v):
    a, b = 0, 1
    for _ in tf.range(10):
        a, b = b, a + b
    return a


def p_for_of_return_of_python(tf, x, v):
    for i in [1, 2, 3]:
        if i == 2:
            return x * i
    return x


def p_and_or_not(tf, x, v):
    return x > 0 and x < 5, x < 0 or x > 1, not x > 0


def p_and_of_python(tf, x, v):
    return x if (1 and 2) == 2 and not 0 else -x


def p_chained(tf, x, v):
    return x > 0 and x < 5 and x > 2


def p_lazy_and(tf, x, v):
    return tf.size(v) > 5 and v[0] > 0


def p_conditional_expression(tf, x, v):
    return x * 2 if x > 0 else -x


def p_conditional_expression_types(tf, x, v):
    return 1.0 if x > 0 else 2


def p_not_in_if(tf, x, v):
    if not x > 0:
        return x
    return -x


def p_len(tf, x, v):
    return len(v), len([1, 2])


def p_numbers(tf, x, v):
    return int(x), float(tf.cast(x, tf.int32)), abs(-x), int("3")


def p_call(tf, x, v):
    return helper(x) + helper(1.0)


def p_call_of_call(tf, x, v):
    def inner(y):
        if y > 2:
            return helper(y)
        return y * 0

    return inner(x) + inner(x - 2)


def p_lambda(tf, x, v):
    f = lambda y: y if y > 5 else -y  # noqa: E731
    return f(x)


def p_closure(tf, x, v):
    scale = 2.0

    def scaled(y):
        if y > 0:
            return y * scale
        return y

    if x > 0:
        scale = 3.0
    return scaled(x)


def p_attribute(tf, x, v):
    c = Counter()
    if x > 0:
        c.total = x
    else:
        c.total = -x
    return c.total


def p_attribute_in_loop(tf, x, v):
    c = Counter()
    for row in v:
        c.total = c.total + row
    return c.total


def p_map_fn(tf, x, v):
    return tf.map_fn(lambda row: tf.abs(row), v)


def p_while_array(tf, x, v):
    array = tf.TensorArray(tf.float32, size=3)
    i = 0
    while i < tf.cast(x, tf.int32):
        array = array.write(i, tf.cast(i, tf.float32) * 2)
        i = i + 1
    return array.stack()


def p_collatz(tf, x, v):
    n, steps = tf.constant(27), 0
    while n > 1:
        if n % 2 > 0:
            n = 3 * n + 1
        else:
            n = n // 2
        steps = steps + 1
    return steps


def p_gcd(tf, x, v):
    a, b = tf.constant(48), tf.constant(18)
    while b > 0:
        a, b = b, a % b
    return a


def p_newton(tf, x, v):
    y = x
    while tf.abs(y * y - x) > 1e-4:
        y = (y + x / y) / 2
    return y


def p_sort(tf, x, v):
    for _ in tf.range(3):
        a, b, c = v[0], v[1], v[2]
        if a > b:
            a, b = b, a
        if b > c:
            b, c = c, b
        v = tf.stack([a, b, c])
    return v


def p_if_of_tuple(tf, x, v):
    pair = (x, x)
    if x > 0:
        pair = (x + 1, x)
    return pair


def p_if_of_dict(tf, x, v):
    d = {"a": x}
    if x > 0:
        d = {"a": -x}
    return d["a"]


def p_raise_in_python(tf, x, v):
    if len([1]) == 1:
        raise ValueError("no")
    return x


def p_with(tf, x, v):
    with tf.name_scope("s"):
        if x > 0:
            y = x
        else:
            y = -x
    return y


def p_try(tf, x, v):
    try:
        y = x + 1
        if x > 0:
            y = y * 2
    finally:
        x = x + 1
    return x, y


def p_aug_assign(tf, x, v):
    s = 1.0
    if x > 0:
        s += x
        s *= 2
    return s


def p_del(tf, x, v):
    y = x
    if x > 0:
        y = y + 1
    del x
    return y


def p_list_append(tf, x, v):
    made = []
    for i in tf.range(3):
        made.append(i)
    return made


def p_set_item(tf, x, v):
    v[0] = 7.0
    return v


def p_condition_float(tf, x, v):
    if x:
        return 1.0
    return 2.0


def p_doc(tf, x, v):
    """A docstring stays."""
    if x > 0:
        return x
    return -x


PROGRAMS = {k[2:]: f for k, f in sorted(globals().items()) if k.startswith("p_")}
# Where TensorFlow 1.15 refuses: the words that both errors have.
WORDS = {
    "return_lacks": "A value must also be returned from the else branch",
    "undefined_after_if": "must also be initialized in the else branch: ('y',)",
    "dtypes_differ": '"y" has dtype float32 in the TRUE branch, but dtype=int32 in the FALSE',
    "while_undefined": "following symbols must be defined before the loop: ('z',)",
    "while_none": "None values not supported",
    "while_dtype_changes": "has type float32 that does not match type int32 of argument 'x'",
    "for_item_after": "following symbols must be defined before the loop: ('row',)",
    "for_return": "return statements are not supported within a TensorFlow loop",
    "raise_in_python": "no",
    "set_item": "object does not support item assignment",
}


def run(tf, name, eager):
    """Values of a program, or the type of its error."""
    program = PROGRAMS[name]

    def call(x, v):
        return program(tf, x, v)

    try:
        if eager:
            found = tf.function(call)(tf.constant(X), tf.constant(V))
            return plain(mapped(lambda t: t.numpy(), found))
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder_with_default(X, [])
            v = tf.placeholder_with_default(V, [3])
            found = tf.autograph.to_graph(program)(tf, x, v)
            found = mapped(tf.convert_to_tensor, found)
            return plain(session.run(found))
    except Exception as error:
        said = WORDS.get(name)
        return {"error": type(error).__name__, "said": said is not None and said in str(error)}


def mapped(function, value):
    if isinstance(value, (list, tuple)):
        return [mapped(function, v) for v in value]
    return function(value)


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.tolist()]
    return value


def found_by(tf, eager):
    """What all programs find, in one of the two modes, which a process has one of."""
    if eager:
        tf.enable_eager_execution()
    return {name: run(tf, name, eager) for name in PROGRAMS}


def main(path):
    """Runs the programs under TensorFlow 1.15, in each mode in a process of its own."""
    if path in ("eager", "graph"):
        import tensorflow

        print(json.dumps(found_by(tensorflow, path == "eager")))
        return
    both = []
    for mode in ("eager", "graph"):
        command = [sys.executable, "-m", "tests.library.autograph.programs", mode]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        both.append(json.loads(said.decode().splitlines()[-1]))
    lines = [json.dumps(n) + ": " + json.dumps([both[0][n], both[1][n]]) for n in PROGRAMS]
    Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(EXPECTED))
