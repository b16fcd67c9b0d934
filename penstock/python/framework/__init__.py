"""Modules of the framework that TF1 programs import by path."""

from penstock.python.framework import function as function, smart_cond as smart_cond
