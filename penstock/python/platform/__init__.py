"""The frame of a program, as TF1 programs import it by path."""

from penstock.python.platform import (
    app,
    flags,
    gfile,
    googletest,
    resource_loader,
    sysconfig,
    test,
    tf_logging,
)

__all__ = [
    "app",
    "flags",
    "gfile",
    "googletest",
    "resource_loader",
    "sysconfig",
    "test",
    "tf_logging",
]
