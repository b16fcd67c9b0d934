"""``tf.contrib.legacy_seq2seq``, as cases of ``seq2seq_cases``."""

from tests.contrib.seq2seq_cases import case


def old(b):
    return b.tf.contrib.legacy_seq2seq


@case(plain={}, lstm={"lstm": True}, fed={"fed": True})
def rnn_decoder(b, lstm=False, fed=False):
    cell = b.lstm() if lstm else b.gru()
    state = cell.zero_state(3, b.tf.float32)
    loop = (lambda previous, i: b.tf.tanh(previous) + float(i)) if fed else None
    return old(b).rnn_decoder(b.steps(3, 3, 4), state, cell, loop_function=loop)


@case
def basic_seq2seq(b):
    return old(b).basic_rnn_seq2seq(b.steps(2, 3, 4), b.steps(3, 3, 4), b.gru())


@case
def tied_seq2seq(b):
    return old(b).tied_rnn_seq2seq(b.steps(2, 3, 4), b.steps(3, 3, 4), b.lstm())


def projection(b, width=4, symbols=6):
    return b.tf.get_variable("proj_w", [width, symbols]), b.tf.get_variable("proj_b", [symbols])


@case(
    plain={},
    fed={"feed_previous": True},
    projected={"feed_previous": True, "project": True},
    still={"feed_previous": True, "project": True, "update_embedding_for_previous": False},
)
def embedding_decoder(b, project=False, **options):
    cell = b.gru(4)
    if project:
        options["output_projection"] = projection(b)
    return old(b).embedding_rnn_decoder(
        b.id_steps(3, 4, 3), b.x(3, 4), cell, 6 if project else 4, 5, **options
    )


@case(
    plain={},
    fed={"feed_previous": True},
    projected={"project": True},
    projected_fed={"project": True, "feed_previous": True},
    chosen={"choose": True},
)
def embedding_seq2seq(b, project=False, choose=False, **options):
    if project:
        options["output_projection"] = projection(b)
    if choose:
        options["feed_previous"] = b._feed(b.tf.bool, [], True, "feed")
    return old(b).embedding_rnn_seq2seq(
        b.id_steps(2, 5, 3), b.id_steps(3, 6, 3), b.lstm(), 5, 6, 4, **options
    )


@case(
    plain={},
    fed={"feed_previous": True},
    fewer={"feed_previous": True, "num_decoder_symbols": 4},
    projected={"project": True},
    chosen={"choose": True},
)
def embedding_tied(b, project=False, choose=False, **options):
    if project:
        options["output_projection"] = projection(b)
    if choose:
        options["feed_previous"] = b._feed(b.tf.bool, [], False, "feed")
    return old(b).embedding_tied_rnn_seq2seq(
        b.id_steps(2, 4, 3), b.id_steps(3, 4, 3), b.gru(), 6, 4, **options
    )


@case(
    plain={},
    heads={"num_heads": 2},
    lstm={"lstm": True, "initial_state_attention": True},
    sized={"output_size": 5},
    fed={"fed": True},
)
def attention_decoder(b, lstm=False, fed=False, **options):
    cell = b.lstm() if lstm else b.gru()
    state = cell.zero_state(3, b.tf.float32)
    if fed:
        options["loop_function"] = lambda previous, i: b.tf.tanh(previous)
    return old(b).attention_decoder(b.steps(3, 3, 4), state, b.x(3, 5, 4), cell, **options)


@case(
    plain={},
    fed={"feed_previous": True},
    projected={"feed_previous": True, "project": True},
    attended={"initial_state_attention": True},
)
def embedding_attention_decoder(b, project=False, **options):
    if project:
        options["output_projection"] = projection(b)
        options["output_size"] = 4
    return old(b).embedding_attention_decoder(
        b.id_steps(3, 6, 3), b.x(3, 4), b.x(3, 5, 4), b.gru(), 6, 4, **options
    )


@case(
    plain={},
    fed={"feed_previous": True, "num_heads": 2},
    projected={"project": True, "feed_previous": True},
    chosen={"choose": True},
)
def embedding_attention(b, project=False, choose=False, **options):
    if project:
        options["output_projection"] = projection(b)
    if choose:
        options["feed_previous"] = b._feed(b.tf.bool, [], True, "feed")
    return old(b).embedding_attention_seq2seq(
        b.id_steps(2, 5, 3), b.id_steps(3, 6, 3), b.lstm(), 5, 6, 4, **options
    )


@case(plain={}, fed={"feed_previous": True}, chosen={"choose": True})
def one2many(b, choose=False, **options):
    if choose:
        options["feed_previous"] = b._feed(b.tf.bool, [], True, "feed")
    decoder_inputs = {"a": b.id_steps(3, 5, 3), "b": b.id_steps(2, 4, 3)}
    outputs, states = old(b).one2many_rnn_seq2seq(
        b.id_steps(2, 5, 3),
        decoder_inputs,
        b.gru(),
        {"a": b.gru(), "b": b.gru()},
        5,
        {"a": 5, "b": 4},
        4,
        **options,
    )
    return [outputs["a"], outputs["b"], states["a"], states["b"]]


@case(
    plain={},
    each={"per_example_loss": True},
    named={"name": "buckets"},
    function={"function": True},
)
def buckets(b, function=False, **options):
    legacy = old(b)
    weights = [b.weights(3) for _ in range(4)]
    targets = b.id_steps(4, 6, 3)
    if function:
        options["softmax_loss_function"] = lambda labels, logits: (
            b.tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits) * 2.0
        )

    def seq2seq(encoder_inputs, decoder_inputs):
        return legacy.embedding_rnn_seq2seq(
            encoder_inputs, decoder_inputs, b.gru(6), 5, 6, 4, output_projection=None
        )

    return list(
        legacy.model_with_buckets(
            b.id_steps(3, 5, 3),
            b.id_steps(4, 6, 3),
            targets,
            weights,
            [(2, 3), (3, 4)],
            seq2seq,
            **options,
        )
    )


@case(plain={}, whole={"average_across_timesteps": False}, named={"name": "cost"})
def by_example(b, **options):
    return old(b).sequence_loss_by_example(
        b.steps(3, 2, 5), b.id_steps(3, 5, 2), [b.weights(2) for _ in range(3)], **options
    )


@case(plain={}, summed={"average_across_batch": False}, function={"function": True})
def old_loss(b, function=False, **options):
    if function:
        options["softmax_loss_function"] = lambda labels, logits: (
            b.tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits) * 2.0
        )
    return old(b).sequence_loss(
        b.steps(3, 2, 5), b.id_steps(3, 5, 2), [b.weights(2) for _ in range(3)], **options
    )
