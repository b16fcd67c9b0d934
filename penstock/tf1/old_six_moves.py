"""``six.moves``: what Python 3 has under other names than Python 2."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.foundation.base.missing import missing_attribute

# From the name there to a module, and behind ":" a name in it.
MOVES = {
    "range": "builtins:range", "xrange": "builtins:range", "zip": "builtins:zip",
    "map": "builtins:map", "filter": "builtins:filter", "input": "builtins:input",
    "reduce": "functools:reduce", "intern": "sys:intern", "getcwd": "os:getcwd",
    "getcwdb": "os:getcwdb", "getoutput": "subprocess:getoutput",
    "UserDict": "collections:UserDict", "UserList": "collections:UserList",
    "UserString": "collections:UserString",
    "filterfalse": "itertools:filterfalse", "zip_longest": "itertools:zip_longest",
    "reload_module": "importlib:reload", "shlex_quote": "shlex:quote",
    "StringIO": "io:StringIO", "cStringIO": "io:StringIO",
    "builtins": "builtins", "configparser": "configparser", "copyreg": "copyreg",
    "cPickle": "pickle", "html_entities": "html.entities", "html_parser": "html.parser",
    "http_client": "http.client", "http_cookiejar": "http.cookiejar", "queue": "queue",
    "reprlib": "reprlib", "socketserver": "socketserver", "_thread": "_thread",
    "tkinter": "tkinter", "urllib_parse": "urllib.parse", "urllib_error": "urllib.error",
    "xmlrpc_client": "xmlrpc.client",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in MOVES:
        raise missing_attribute(f"module 'six.moves' has no attribute {name!r}")
    module, _, inside = MOVES[name].partition(":")
    found = import_module(module)
    return getattr(found, inside) if inside else found
