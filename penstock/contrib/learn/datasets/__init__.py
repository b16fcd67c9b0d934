"""``tf.contrib.learn.datasets``: data sets from local files; explicit re-exports."""

from penstock.contrib.learn.datasets import base as base, mnist as mnist
