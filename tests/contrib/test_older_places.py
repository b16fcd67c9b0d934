"""Names of ``tf.contrib`` before TensorFlow 1.15, which programs of those days use."""

import penstock as tf


def test_first_place_of_the_profiler():
    analyzer = tf.contrib.tfprof.model_analyzer
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [3, 4])
        tf.matmul(tf.ones([2, 3]), w)
        quiet = {"output": "none"}
        options = {**analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, **quiet}
        assert analyzer.print_model_analysis(graph, tfprof_options=options).total_parameters == 12
        options = {**analyzer.FLOAT_OPS_OPTIONS, **quiet}
        assert analyzer.print_model_analysis(graph, tfprof_options=options).total_float_ops > 0


def test_first_place_of_datasets():
    data = tf.contrib.data
    assert data.Dataset is tf.data.Dataset
    assert data.TextLineDataset is tf.data.TextLineDataset
    assert data.TFRecordDataset is tf.data.TFRecordDataset


def test_paths_below_packages():
    contrib = tf.contrib
    training = contrib.training.python.training
    assert training.hparam.HParams is contrib.training.HParams
    ops = contrib.framework.python.ops
    assert ops.variables.get_variables_to_restore is contrib.framework.get_variables_to_restore
    assert ops.arg_scope.arg_scope is contrib.framework.arg_scope
    for name in ("decode_wav", "encode_wav", "audio_spectrogram", "mfcc"):
        assert callable(getattr(ops.audio_ops, name))
