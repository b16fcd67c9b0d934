"""The frame of a program, as TF1 programs import it by path."""

from penstock.python.platform import (
    app as app,
    flags as flags,
    gfile as gfile,
    googletest as googletest,
    resource_loader as resource_loader,
    sysconfig as sysconfig,
    test as test,
    tf_logging as tf_logging,
)
