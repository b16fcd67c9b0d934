"""Decoders to build in Penstock and in TensorFlow 1.15 (runs on Python 3.7 too).

A case builds a network and returns what to fetch.  ``observe`` records its nodes, and runs it, and
its gradients, with weights that depend on the variables' names only.
"""

import numpy as np

from tests.library.recurrent import cases

CASES = {}


class Build(cases.Build):
    """What a case works with."""

    @property
    def s2s(self):
        return self.tf.contrib.seq2seq

    def ids(self, limit, *shape, **options):
        rng = np.random.RandomState(len(self.feeds) + 3)
        return self._feed(
            self.tf.int32, options.get("static", shape), rng.randint(0, limit, shape), "ids"
        )

    def id_steps(self, count, limit, *shape):
        return [self.ids(limit, *shape) for _ in range(count)]

    def weights(self, *shape):
        rng = np.random.RandomState(len(self.feeds) + 5)
        value = rng.randint(0, 2, shape).astype(np.float32)
        return self._feed(self.tf.float32, shape, value, "weights")

    def dense(self, units, bias=False, **options):
        layers = getattr(self.tf, "layers", None)
        if layers is None:
            from penstock.contrib.seq2seq import dense

            return dense.Dense(units, use_bias=bias, **options)
        return layers.Dense(units, use_bias=bias, **options)

    def embedding(self, rows=6, width=4, name="embedding"):
        return self.tf.get_variable(name, [rows, width])

    def gru(self, units=4):
        return self.tf.nn.rnn_cell.GRUCell(units)

    def lstm(self, units=4):
        return self.tf.nn.rnn_cell.BasicLSTMCell(units)


def case(*args, **options):
    """Registers a case, or several of one function: ``name=(args...)``."""
    if args:
        CASES[args[0].__name__] = args[0]
        return args[0]
    gradients = options.pop("gradients", True)

    def register(function):
        for name, values in options.items():

            def build(b, values=values):
                return function(b, **values)

            build.gradients = gradients
            CASES[function.__name__ + "_" + name if name else function.__name__] = build
        return function

    return register


def observe(tf, name):
    """What the case gives: nodes, shapes, values, gradients."""
    build, function = Build(tf), CASES[name]
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        fetches = [tf.convert_to_tensor(t) for t in cases._flat(function(build))]
        found = {
            "nodes": cases.nodes_of(graph),
            "shapes": [str(t.get_shape()) for t in fetches],
            "variables": [(v.name, str(v.get_shape())) for v in tf.global_variables()],
            "trainable": [v.name for v in tf.trainable_variables()],
        }
        kept, variables = [], tf.trainable_variables()
        floats = [p for p in build.feeds if p.dtype.is_floating]
        parts = [t for t in fetches if t.dtype.is_floating]
        if parts and variables + floats and getattr(function, "gradients", True):
            loss = tf.add_n([tf.reduce_sum(tf.square(t) + 0.3 * t) for t in parts])
            gradients = tf.gradients(loss, list(variables) + floats)
            kept = [g for g in gradients if g is not None]
            found["connected"] = [g is not None for g in gradients]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for variable in tf.global_variables():
                if variable.dtype.is_floating:
                    variable.load(cases._value(variable) * 2, sess)
            found["values"], found["gradients"] = sess.run(
                [fetches, [tf.convert_to_tensor(g) for g in kept]], build.feeds
            )
    return found


# ---- helpers and decoders ------------------------------------------------------------------------


def everything(decoded):
    """Outputs, final state and lengths, without what is no tensor."""
    return [part for part in cases._flat(list(decoded)) if hasattr(part, "get_shape")]


@case(
    plain={},
    imputed={"impute_finished": True},
    lstm={"lstm": True, "impute_finished": True},
    limited={"maximum_iterations": 3},
    limited_imputed={"maximum_iterations": 3, "impute_finished": True},
    time_major={"output_time_major": True},
    layer={"units": 5},
    unknown={"static": [None, None, 3]},
    scope={"scope": "dec"},
    swapped={"swap_memory": True, "parallel_iterations": 2},
)
def training(b, lstm=False, units=None, static=None, **options):
    time_major = options.get("output_time_major", False)
    shape = (6, 3, 3) if time_major else (3, 6, 3)
    x = b.x(*shape, static=static or shape)
    helper = b.s2s.TrainingHelper(x, b.lengths(4, 0, 5), time_major=time_major)
    cell = b.lstm() if lstm else b.gru()
    state = cell.zero_state(3, b.tf.float32)
    layer = b.dense(units, True) if units else None
    decoder = b.s2s.BasicDecoder(cell, helper, state, output_layer=layer)
    return everything(b.s2s.dynamic_decode(decoder, **options))


def _greedy(b, helper, units=6, state=None, **options):
    cell = b.gru()
    state = cell.zero_state(4, b.tf.float32) if state is None else state
    decoder = b.s2s.BasicDecoder(cell, helper, state, output_layer=b.dense(units))
    options.setdefault("maximum_iterations", 7)
    return everything(b.s2s.dynamic_decode(decoder, **options))


@case(
    plain={},
    imputed={"impute_finished": True},
    short={"maximum_iterations": 1},
    time_major={"output_time_major": True, "impute_finished": True},
)
def greedy(b, **options):
    helper = b.s2s.GreedyEmbeddingHelper(b.embedding(), b.ids(6, 4), 2)
    return _greedy(b, helper, state=b.x(4, 4), **options)


@case
def greedy_unbounded(b):
    helper = b.s2s.GreedyEmbeddingHelper(lambda ids: b.tf.one_hot(ids, 6), b.tf.fill([4], 1), 2)

    class Cell:
        """Puts out the token after the one it gets: every sequence ends."""

        output_size = state_size = 6

        def zero_state(self, batch_size, dtype):
            return b.tf.zeros([batch_size, 6], dtype)

        def __call__(self, inputs, state, scope=None):
            rolled = b.tf.concat([inputs[:, -1:], inputs[:, :-1]], 1)
            return rolled + state * 2.0, state * 0.5

    decoder = b.s2s.BasicDecoder(Cell(), helper, b.x(4, 6))
    return everything(b.s2s.dynamic_decode(decoder))


@case(
    plain={"softmax_temperature": 1e-4},
    imputed={"softmax_temperature": 1e-4, "impute_finished": True},
)
def sampled(b, softmax_temperature, **options):
    helper = b.s2s.SampleEmbeddingHelper(
        b.embedding(), b.ids(6, 4), 2, softmax_temperature=softmax_temperature, seed=5
    )
    return _greedy(b, helper, state=b.x(4, 4), **options)


class Sharp:
    """A cell whose output is so large that a draw from it is certain."""

    def __init__(self, cell):
        self.cell, self.output_size, self.state_size = cell, cell.output_size, cell.state_size

    def zero_state(self, batch_size, dtype):
        return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        output, state = self.cell(inputs, state)
        return output * 1e5, state


@case(never={"probability": 0.0}, always={"probability": 1.0}, gradients=False)
def scheduled_embedding(b, probability):
    helper = b.s2s.ScheduledEmbeddingTrainingHelper(
        b.x(3, 5, 4), b.lengths(5, 2, 4), b.embedding(), probability, seed=1, scheduling_seed=2
    )
    cell = Sharp(b.gru(6))
    decoder = b.s2s.BasicDecoder(cell, helper, cell.zero_state(3, b.tf.float32))
    return everything(b.s2s.dynamic_decode(decoder))


@case(
    never={"probability": 0.0},
    always={"probability": 1.0},
    auxiliary={"probability": 1.0, "auxiliary": True},
    function={"probability": 1.0, "function": True},
    both={"probability": 1.0, "auxiliary": True, "function": True},
    auxiliary_never={"probability": 0.0, "auxiliary": True},
)
def scheduled_output(b, probability, auxiliary=False, function=False):
    helper = b.s2s.ScheduledOutputTrainingHelper(
        b.x(3, 5, 4),
        b.lengths(5, 2, 4),
        probability,
        seed=1,
        auxiliary_inputs=b.x(3, 5, 2) if auxiliary else None,
        next_inputs_fn=(lambda outputs: b.tf.tanh(outputs) * 2.0) if function else None,
    )
    cell = b.gru()
    decoder = b.s2s.BasicDecoder(cell, helper, cell.zero_state(3, b.tf.float32))
    return everything(b.s2s.dynamic_decode(decoder))


@case
def custom(b):
    tf = b.tf
    x = b.x(2, 3)
    helper = b.s2s.CustomHelper(
        initialize_fn=lambda: (tf.constant([False, False]), x),
        sample_fn=lambda time, outputs, state: outputs * 2.0,
        next_inputs_fn=lambda time, outputs, state, sample_ids: (
            tf.stack([time >= 1, time >= 3]),
            sample_ids,
            state,
        ),
        sample_ids_shape=[3],
        sample_ids_dtype=tf.float32,
    )
    cell = b.gru(3)
    decoder = b.s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return everything(b.s2s.dynamic_decode(decoder, impute_finished=True))


@case(plain={}, function={"function": True})
def inference(b, function=False):
    tf = b.tf
    helper = b.s2s.InferenceHelper(
        sample_fn=lambda outputs: tf.cast(outputs > 0.0, tf.float32),
        sample_shape=[3],
        sample_dtype=tf.float32,
        start_inputs=b.x(2, 3),
        end_fn=lambda sample: tf.reduce_sum(sample, 1) < 0.5,
        next_inputs_fn=(lambda sample: sample * 2.0 - 1.0) if function else None,
    )
    cell = b.gru(3)
    decoder = b.s2s.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return everything(b.s2s.dynamic_decode(decoder, maximum_iterations=5))


# ---- attention -----------------------------------------------------------------------------------


def attention(b, kind, memory=None, **options):
    memory = b.x(3, 5, 6) if memory is None else memory
    return getattr(b.s2s, kind + "Attention")(4, memory, **options)


def attended(b, mechanism, cell=None, decode=None, **options):
    cell = b.s2s.AttentionWrapper(cell or b.gru(), mechanism, **options)
    helper = b.s2s.TrainingHelper(b.x(3, 4, 2), b.lengths(4, 2, 3))
    decoder = b.s2s.BasicDecoder(cell, helper, cell.zero_state(3, b.tf.float32))
    outputs, state, lengths = b.s2s.dynamic_decode(decoder, **(decode or {}))
    flat = [part.stack() if hasattr(part, "stack") else part for part in cases._flat(list(state))]
    return [list(outputs), flat, lengths]


_KINDS = {
    "bahdanau": {"kind": "Bahdanau"},
    "bahdanau_normed": {"kind": "Bahdanau", "normalize": True},
    "luong": {"kind": "Luong"},
    "luong_scaled": {"kind": "Luong", "scale": True},
    "bahdanau_masked": {"kind": "Bahdanau", "masked": True},
    "luong_masked": {"kind": "Luong", "masked": True, "score_mask_value": -50.0},
    "bahdanau_monotonic": {"kind": "BahdanauMonotonic", "masked": True},
    "bahdanau_monotonic_normed": {
        "kind": "BahdanauMonotonic",
        "normalize": True,
        "mode": "recursive",
        "score_bias_init": -1.0,
    },
    "bahdanau_monotonic_hard": {"kind": "BahdanauMonotonic", "mode": "hard"},
    "luong_monotonic": {"kind": "LuongMonotonic", "masked": True, "mode": "recursive"},
    "luong_monotonic_scaled": {"kind": "LuongMonotonic", "scale": True},
    "luong_monotonic_hard": {"kind": "LuongMonotonic", "mode": "hard", "score_bias_init": 0.5},
}


@case(**_KINDS)
def wrapper(b, kind, masked=False, **options):
    lengths = b.lengths(3, 5, 1) if masked else None
    mechanism = attention(b, kind, memory_sequence_length=lengths, **options)
    return attended(b, mechanism, attention_layer_size=3)


@case(
    plain={},
    history={"alignment_history": True},
    lstm={"lstm": True, "alignment_history": True},
    imputed={"alignment_history": True, "decode": {"impute_finished": True}},
    cell_output={"output_attention": False},
    sized={"attention_layer_size": 3, "output_attention": False},
    named={"name": "wrapped", "attention_layer_size": 2},
    input_fn={"input_fn": True},
    layer={"layer": True},
    hardmax={"hardmax": True},
    key_value={"key_value": True},
    function={"function": True},
    state={"state": True},
)
def wrapped(
    b,
    lstm=False,
    input_fn=False,
    layer=False,
    hardmax=False,
    key_value=False,
    function=False,
    state=False,
    **options,
):
    tf, more = b.tf, {}
    if hardmax:
        more["probability_fn"] = b.s2s.hardmax
    if key_value:
        more["custom_key_value_fn"] = lambda keys, values: (keys * 2.0, tf.tanh(values))
    mechanism = attention(b, "Luong", memory_sequence_length=b.lengths(3, 5, 1), **more)
    if input_fn:
        options["cell_input_fn"] = lambda inputs, attention: inputs * 2.0
    if layer:
        options["attention_layer"] = b.dense(3, name="mixing")
    if function:

        def attend(mechanism, cell_output, attention_state, attention_layer):
            alignments, new_state = mechanism(cell_output, state=attention_state)
            return (
                b.tf.reduce_sum(mechanism.values * alignments[:, :, None], 1),
                alignments,
                new_state,
            )

        options["attention_fn"] = attend
    if state:
        options["initial_cell_state"] = b.x(3, 4)
    return attended(b, mechanism, cell=b.lstm() if lstm else None, **options)


@case(
    plain={"sizes": None},
    sized={"sizes": [3, 2]},
    history={"sizes": [3, 2], "alignment_history": True},
)
def several(b, sizes, **options):
    mechanisms = [attention(b, "Bahdanau"), attention(b, "Luong", memory=b.x(3, 2, 5))]
    return attended(b, mechanisms, attention_layer_size=sizes, **options)


@case
def wrapper_unknown(b):
    memory = b.x(3, 5, 6, static=[None, None, 6])
    mechanism = attention(b, "Luong", memory, memory_sequence_length=b.lengths(3, 5, 1))
    cell = b.s2s.AttentionWrapper(
        b.lstm(), mechanism, attention_layer_size=4, alignment_history=True
    )
    batch = b.tf.shape(memory)[0]
    helper = b.s2s.GreedyEmbeddingHelper(b.embedding(), b.tf.fill([batch], 1), 2)
    state = cell.zero_state(batch, b.tf.float32)
    decoder = b.s2s.BasicDecoder(cell, helper, state, output_layer=b.dense(6))
    outputs, state, lengths = b.s2s.dynamic_decode(
        decoder, maximum_iterations=5, impute_finished=True
    )
    return [list(outputs), list(state.cell_state), state.alignment_history.stack(), lengths]


@case(plain={}, unknown={"static": [None, 4]}, no_rank={"static": None})
def wrapper_clone(b, **options):
    cell = b.s2s.AttentionWrapper(b.lstm(), attention(b, "Luong"))
    state = cell.zero_state(3, b.tf.float32)
    other = b.tf.nn.rnn_cell.LSTMStateTuple(b.x(3, 4, **options), b.x(3, 4))
    return cell(b.x(3, 2), state.clone(cell_state=other))[0]


# ---- pieces --------------------------------------------------------------------------------------


@case(parallel={"mode": "parallel"}, recursive={"mode": "recursive"}, hard={"mode": "hard"})
def monotonic(b, mode):
    p = b.tf.sigmoid(b.x(3, 5) * 3.0)
    previous = b.tf.nn.softmax(b.x(3, 5))
    if mode == "hard":
        p = b.tf.round(p)
        previous = b.tf.one_hot([0, 1, 3], 5)
    return b.s2s.monotonic_attention(p, previous, mode)


@case
def cumprod(b):
    p = b.tf.sigmoid(b.x(3, 5))
    return [
        b.s2s.safe_cumprod(p, axis=1),
        b.s2s.safe_cumprod(p, axis=0, exclusive=True),
        b.s2s.safe_cumprod(p, axis=1, reverse=True),
    ]


@case
def hard_maximum(b):
    return [
        b.s2s.hardmax(b.x(3, 5)),
        b.s2s.hardmax(b.x(2, 2, 3)),
        b.s2s.hardmax(b.x(3, 5, static=[None, None])),
    ]


@case
def tiled(b):
    return [
        b.s2s.tile_batch(b.x(3, 5), 2),
        b.s2s.tile_batch((b.x(2, 2, 3), b.lengths(1, 2)), multiplier=3),
        b.s2s.tile_batch(b.x(3, 5, static=[None, 5]), b.tf.constant(2)),
    ]


@case
def trees(b):
    tf = b.tf
    rng = np.random.RandomState(0)
    steps, parents = (rng.randint(0, n, [6, 3, 4]).astype(np.int32) for n in (5, 4))
    return [
        b.s2s.gather_tree(steps, parents, b.lengths(6, 3, 0), 1),
        b.s2s.gather_tree(tf.constant(steps), tf.constant(parents), [9, 1, 4], end_token=4),
    ]


@case(
    both={},
    steps={"average_across_batch": False},
    batch={"average_across_timesteps": False},
    each={"average_across_batch": False, "average_across_timesteps": False},
    sums={
        "average_across_batch": False,
        "average_across_timesteps": False,
        "sum_over_timesteps": True,
        "sum_over_batch": True,
    },
    sum_steps={
        "average_across_batch": False,
        "average_across_timesteps": False,
        "sum_over_timesteps": True,
    },
    sum_batch={
        "average_across_batch": False,
        "average_across_timesteps": False,
        "sum_over_batch": True,
    },
    mixed={
        "average_across_batch": True,
        "average_across_timesteps": False,
        "sum_over_timesteps": True,
    },
    named={"name": "cost"},
    function={"function": True},
)
def loss(b, function=False, **options):
    if function:
        options["softmax_loss_function"] = lambda labels, logits: (
            b.tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits) * 2.0
        )
    return b.s2s.sequence_loss(b.x(3, 4, 5), b.ids(5, 3, 4), b.weights(3, 4), **options)


# ---- beam search ---------------------------------------------------------------------------------


def searched(decoded):
    outputs, state, lengths = decoded
    inner = outputs.beam_search_decoder_output
    flat = cases._flat(list(state))
    flat = [part.stack() if hasattr(part, "unstack") else part for part in flat]
    return [
        outputs.predicted_ids,
        list(inner),
        lengths,
        [part for part in flat if hasattr(part, "get_shape")],
    ]


@case(
    plain={},
    wide={"beam_width": 5},
    one={"beam_width": 1},
    penalized={"length_penalty_weight": 0.8},
    reversed={"length_penalty_weight": -0.5},
    lstm={"lstm": True},
    time_major={"decode": {"output_time_major": True}},
    short={"decode": {"maximum_iterations": 2}},
    embedded={"function": True},
    gradients=False,
)
def beam(b, beam_width=3, lstm=False, decode=None, function=False, **options):
    cell = b.lstm() if lstm else b.gru()
    state = b.x(2, 4)
    if lstm:
        state = b.tf.nn.rnn_cell.LSTMStateTuple(b.x(2, 4), state)
    table = b.embedding()
    embedding = (lambda ids: b.tf.nn.embedding_lookup(table, ids)) if function else table
    decoder = b.s2s.BeamSearchDecoder(
        cell,
        embedding,
        b.ids(6, 2),
        2,
        b.s2s.tile_batch(state, beam_width),
        beam_width,
        output_layer=b.dense(6),
        **options,
    )
    decode = dict({"maximum_iterations": 6}, **(decode or {}))
    return searched(b.s2s.dynamic_decode(decoder, **decode))


@case(
    luong={"kind": "Luong"},
    bahdanau={"kind": "Bahdanau"},
    history={"kind": "Luong", "alignment_history": True},
    unordered={
        "kind": "Luong",
        "alignment_history": True,
        "decoder": {"reorder_tensor_arrays": False},
    },
    coverage={"kind": "Bahdanau", "decoder": {"coverage_penalty_weight": 0.4}},
    both={
        "kind": "Luong",
        "alignment_history": True,
        "attention_layer_size": 4,
        "decoder": {"coverage_penalty_weight": 0.3, "length_penalty_weight": 0.5},
    },
    dynamic={"kind": "Luong", "alignment_history": True, "dynamic": True},
    dynamic_two={"kind": "Luong", "second": "Bahdanau", "alignment_history": True, "dynamic": True},
    dynamic_unordered={
        "kind": "Luong",
        "alignment_history": True,
        "dynamic": True,
        "decoder": {"reorder_tensor_arrays": False},
    },
    two={"kind": "Luong", "second": "Bahdanau", "alignment_history": True},
    gradients=False,
)
def beam_attention(b, kind, second=None, decoder=None, **options):
    width = 3
    options, batch = dict(options), 2
    memory, lengths = b.x(2, 5, 6), b.lengths(3, 5)
    start = None
    if options.pop("dynamic", False):
        start = b.ids(6, 2, static=[None])
        batch = b.tf.size(start)
    tiled_memory = b.s2s.tile_batch(memory, width)
    tiled_lengths = b.s2s.tile_batch(lengths, width)
    mechanism = [
        attention(b, k, tiled_memory, memory_sequence_length=tiled_lengths)
        for k in (kind, second)
        if k
    ]
    if len(mechanism) == 1:
        mechanism = mechanism[0]
    cell = b.s2s.AttentionWrapper(b.lstm(), mechanism, **options)
    tiled_state = b.s2s.tile_batch(b.tf.nn.rnn_cell.LSTMStateTuple(b.x(2, 4), b.x(2, 4)), width)
    state = cell.zero_state(batch * width, b.tf.float32).clone(cell_state=tiled_state)
    search = b.s2s.BeamSearchDecoder(
        cell,
        b.embedding(),
        b.tf.fill([2], 1) if start is None else start,
        2,
        state,
        width,
        output_layer=b.dense(6),
        **(decoder or {}),
    )
    return searched(b.s2s.dynamic_decode(search, maximum_iterations=6))
