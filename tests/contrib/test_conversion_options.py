"""The expression of ``ConversionOptions`` makes equal ones, and ``converted_call`` takes them."""

import ast

import penstock as tf
from penstock.contrib import autograph


def test_its_expression_makes_equal_options():
    features = (autograph.Feature.LISTS, autograph.Feature.NAME_SCOPES)
    for options in (
        autograph.ConversionOptions(),
        autograph.ConversionOptions(True, True, False, features),
        autograph.ConversionOptions(optional_features=None),
    ):
        code = compile(ast.Expression(options.to_ast()), "options", "eval")
        assert eval(code, {"ag__": autograph}) == options


def test_a_converted_call_takes_them():
    def absolute(x):
        if x < 0:
            return -x
        return x

    with tf.Graph().as_default(), tf.Session() as sess:
        options = autograph.ConversionOptions(recursive=True)
        called = autograph.converted_call(absolute, options, (tf.constant(-3),), {})
        assert sess.run(called) == 3
