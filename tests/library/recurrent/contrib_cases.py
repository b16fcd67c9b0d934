"""Cases of ``tf.contrib.rnn``; see ``cases``."""

from tests.library.recurrent import cases

one_step, two_steps = cases.one_step, cases.two_steps
CASES = {}
RANDOM = {"layer_norm_lstm_dropout"}


def case(function):
    CASES[function.__name__] = function
    return function


def observe(tf, name, run=True):
    """As of ``cases``."""
    return cases.observe(tf, CASES[name], run and name not in RANDOM)


@case
def contrib_names_are_the_same(b):
    rnn = b.tf.contrib.rnn
    cell = rnn.MultiRNNCell([rnn.BasicLSTMCell(5), rnn.GRUCell(4), rnn.LSTMCell(3)])
    return rnn.static_rnn(cell, b.steps(2, 3, 4), dtype=b.tf.float32)


@case
def layer_norm_lstm(b):
    return two_steps(b, b.tf.contrib.rnn.LayerNormBasicLSTMCell(5))


@case
def layer_norm_lstm_off(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.LayerNormBasicLSTMCell(
            5, forget_bias=0.2, layer_norm=False, activation=b.tf.sigmoid
        ),
    )


@case
def layer_norm_lstm_gains(b):
    return one_step(b, b.tf.contrib.rnn.LayerNormBasicLSTMCell(5, norm_gain=0.9, norm_shift=0.1))


@case
def layer_norm_lstm_dropout(b):
    return two_steps(
        b, b.tf.contrib.rnn.LayerNormBasicLSTMCell(5, dropout_keep_prob=0.5, dropout_prob_seed=4)
    )


@case
def nas(b):
    return two_steps(b, b.tf.contrib.rnn.NASCell(5))


@case
def nas_projected(b):
    return two_steps(b, b.tf.contrib.rnn.NASCell(5, num_proj=3, use_bias=True))


@case
def coupled(b):
    return two_steps(b, b.tf.contrib.rnn.CoupledInputForgetGateLSTMCell(5))


@case
def coupled_everything(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
            5,
            use_peepholes=True,
            num_proj=3,
            proj_clip=0.3,
            layer_norm=True,
            norm_gain=0.9,
            forget_bias=0.4,
        ),
    )


@case
def coupled_flat(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.CoupledInputForgetGateLSTMCell(5, state_is_tuple=False, num_unit_shards=2),
    )


@case
def time_freq(b):
    # Its state size is that of one window; with two a state must be given.
    cell = b.tf.contrib.rnn.TimeFreqLSTMCell(
        3, feature_size=2, frequency_skip=2, use_peepholes=True, cell_clip=0.5
    )
    return cell(b.x(3, 4), b.x(3, 12))


@case
def grid(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.GridLSTMCell(
            3, feature_size=2, frequency_skip=2, num_frequency_blocks=[2]
        ),
    )


@case
def grid_peepholes(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.GridLSTMCell(
            3,
            use_peepholes=True,
            cell_clip=0.5,
            feature_size=2,
            frequency_skip=1,
            num_frequency_blocks=[3],
            state_is_tuple=False,
        ),
    )


@case
def grid_shared_coupled(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.GridLSTMCell(
            3,
            use_peepholes=True,
            share_time_frequency_weights=True,
            couple_input_forget_gates=True,
            feature_size=2,
            frequency_skip=2,
            num_frequency_blocks=[1, 1],
            start_freqindex_list=[0, 2],
            end_freqindex_list=[2, 4],
        ),
    )


@case
def bidirectional_grid(b):
    return two_steps(
        b,
        b.tf.contrib.rnn.BidirectionalGridLSTMCell(
            3, feature_size=2, frequency_skip=2, num_frequency_blocks=[2], use_peepholes=True
        ),
    )


@case
def attention(b):
    cells = b.tf.contrib.rnn
    return two_steps(b, cells.AttentionCellWrapper(cells.BasicLSTMCell(5), 3))


@case
def attention_flat(b):
    cells = b.tf.contrib.rnn
    return two_steps(
        b,
        cells.AttentionCellWrapper(
            cells.GRUCell(5), 3, attn_size=4, attn_vec_size=2, input_size=6, state_is_tuple=False
        ),
    )


@case
def attention_three_steps(b):
    cells = b.tf.contrib.rnn
    return b.tf.nn.static_rnn(
        cells.AttentionCellWrapper(cells.GRUCell(5), 2), b.steps(3, 3, 4), dtype=b.tf.float32
    )


@case
def highway(b):
    cells = b.tf.contrib.rnn
    return two_steps(b, cells.HighwayWrapper(cells.BasicLSTMCell(4)))


@case
def highway_not_coupled(b):
    cells = b.tf.contrib.rnn
    return two_steps(b, cells.HighwayWrapper(cells.GRUCell(4), False, 0.5))


@case
def input_projection(b):
    cells = b.tf.contrib.rnn
    return two_steps(b, cells.InputProjectionWrapper(cells.GRUCell(5), 3, activation=b.tf.nn.relu))


@case
def output_projection(b):
    cells = b.tf.contrib.rnn
    return two_steps(
        b, cells.OutputProjectionWrapper(cells.BasicLSTMCell(5), 3, activation=b.tf.tanh)
    )


@case
def embedding_wrapper(b):
    tf, cells = b.tf, b.tf.contrib.rnn
    cell = cells.EmbeddingWrapper(cells.GRUCell(5), 7, 3)
    ids = [b.lengths(1, 6, 2), b.lengths(0, 3, 3)]
    return tf.nn.static_rnn(cell, ids, dtype=tf.float32)


@case
def ugrnn(b):
    return two_steps(b, b.tf.contrib.rnn.UGRNNCell(5))


@case
def intersection(b):
    return two_steps(b, b.tf.contrib.rnn.IntersectionRNNCell(5, num_in_proj=5))


@case
def intersection_same_size(b):
    return one_step(b, b.tf.contrib.rnn.IntersectionRNNCell(4))


@case
def phased(b):
    tf = b.tf
    cell = tf.contrib.rnn.PhasedLSTMCell(5)
    times = [b.x(3, 1) for _ in range(2)]
    return tf.nn.static_rnn(cell, list(zip(times, b.steps(2, 3, 4))), dtype=tf.float32)


@case
def phased_everything(b):
    tf = b.tf
    cell = tf.contrib.rnn.PhasedLSTMCell(
        5,
        use_peepholes=True,
        leak=0.1,
        ratio_on=0.3,
        trainable_ratio_on=False,
        period_init_min=2.0,
        period_init_max=10.0,
    )
    return cell((b.x(3, 1), b.x(3, 4)), cell.zero_state(3, tf.float32))


@case
def conv1d_lstm(b):
    tf = b.tf
    cell = tf.contrib.rnn.Conv1DLSTMCell(input_shape=[6, 2], output_channels=3, kernel_shape=[3])
    return tf.nn.static_rnn(cell, b.steps(2, 2, 6, 2), dtype=tf.float32)


@case
def conv2d_lstm(b):
    tf = b.tf
    cell = tf.contrib.rnn.Conv2DLSTMCell(
        input_shape=[5, 4, 2], output_channels=3, kernel_shape=[3, 2], skip_connection=True
    )
    return cell(b.x(2, 5, 4, 2), cell.zero_state(2, tf.float32))[0]


@case
def conv2d_lstm_dynamic(b):
    tf = b.tf
    cell = tf.contrib.rnn.Conv2DLSTMCell(
        input_shape=[5, 4, 2],
        output_channels=3,
        kernel_shape=[3, 2],
        use_bias=False,
        initializers=tf.constant_initializer(0.1),
        forget_bias=0.5,
    )
    return tf.nn.dynamic_rnn(cell, b.x(2, 3, 5, 4, 2), b.lengths(3, 1), dtype=tf.float32)


@case
def conv3d_lstm(b):
    tf = b.tf
    cell = tf.contrib.rnn.Conv3DLSTMCell(
        input_shape=[3, 4, 2, 2], output_channels=2, kernel_shape=[2, 2, 2]
    )
    return tf.nn.static_rnn(cell, b.steps(2, 2, 3, 4, 2, 2), dtype=tf.float32)


@case
def glstm(b):
    return two_steps(b, b.tf.contrib.rnn.GLSTMCell(4, number_of_groups=2))


@case
def glstm_projected(b):
    return two_steps(b, b.tf.contrib.rnn.GLSTMCell(4, num_proj=6, number_of_groups=2))


@case
def sru(b):
    return two_steps(b, b.tf.contrib.rnn.SRUCell(4))


@case
def ind_rnn(b):
    return two_steps(b, b.tf.contrib.rnn.IndRNNCell(5))


@case
def indy_gru(b):
    return two_steps(b, b.tf.contrib.rnn.IndyGRUCell(5))


@case
def indy_lstm(b):
    return two_steps(b, b.tf.contrib.rnn.IndyLSTMCell(5, forget_bias=0.3))


@case
def compiled(b):
    cells = b.tf.contrib.rnn
    return two_steps(b, cells.CompiledWrapper(cells.GRUCell(5)))


@case
def fused_adaptor(b):
    tf, rnn = b.tf, b.tf.contrib.rnn
    return rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(5))(b.x(3, 2, 4), dtype=tf.float32)


@case
def fused_adaptor_dynamic(b):
    tf, rnn = b.tf, b.tf.contrib.rnn
    return rnn.FusedRNNCellAdaptor(rnn.GRUCell(5), use_dynamic_rnn=True)(
        b.x(3, 2, 4), dtype=tf.float32, sequence_length=b.lengths(3, 1)
    )


@case
def fused_reversed(b):
    tf, rnn = b.tf, b.tf.contrib.rnn
    inner = rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(5), use_dynamic_rnn=True)
    first = rnn.TimeReversedFusedRNN(inner)(b.x(3, 2, 4), dtype=tf.float32)
    inner = rnn.FusedRNNCellAdaptor(rnn.BasicRNNCell(5), use_dynamic_rnn=True)
    return first, rnn.TimeReversedFusedRNN(inner)(
        b.x(3, 2, 4), dtype=tf.float32, sequence_length=b.lengths(3, 1), scope="second"
    )


@case
def stack_bidirectional(b):
    rnn = b.tf.contrib.rnn
    return rnn.stack_bidirectional_rnn(
        [rnn.BasicRNNCell(3), rnn.GRUCell(4)],
        [rnn.BasicRNNCell(3), rnn.GRUCell(4)],
        b.steps(3, 2, 4),
        dtype=b.tf.float32,
    )


@case
def stack_bidirectional_dynamic(b):
    rnn = b.tf.contrib.rnn
    return rnn.stack_bidirectional_dynamic_rnn(
        [rnn.BasicRNNCell(3), rnn.GRUCell(4)],
        [rnn.BasicRNNCell(3), rnn.GRUCell(4)],
        b.x(2, 3, 4),
        dtype=b.tf.float32,
        sequence_length=b.lengths(3, 1),
    )


@case
def transpose_batch_time(b):
    transpose = b.tf.contrib.rnn.transpose_batch_time
    return transpose(b.x(2, 3, 4)), transpose(b.x(2, 3, static=(None, 3)))


@case
def lstm_block_cell(b):
    return two_steps(b, b.tf.contrib.rnn.LSTMBlockCell(5))


@case
def lstm_block_cell_peephole(b):
    return two_steps(
        b, b.tf.contrib.rnn.LSTMBlockCell(5, forget_bias=0.2, cell_clip=0.3, use_peephole=True)
    )


@case
def gru_block_cell(b):
    return two_steps(b, b.tf.contrib.rnn.GRUBlockCellV2(5))


@case
def gru_block_cell_older(b):
    return two_steps(b, b.tf.contrib.rnn.GRUBlockCell(5))


@case
def lstm_block_fused(b):
    return b.tf.contrib.rnn.LSTMBlockFusedCell(5)(b.x(4, 3, 6), dtype=b.tf.float32)


@case
def lstm_block_fused_lengths(b):
    cell = b.tf.contrib.rnn.LSTMBlockFusedCell(5, use_peephole=True, cell_clip=0.5)
    return cell(b.x(4, 3, 6), dtype=b.tf.float32, sequence_length=b.lengths(4, 0, 2))
