"""What Kubernetes takes as names, host names and quantities, held before anything is written."""

from __future__ import annotations

import re

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_WILDCARD = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
_QUANTITY = re.compile(r"(\d+(\.\d*)?|\.\d+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e-?\d+)?")


# A registry's host and port, a path, a tag, a digest; a path without a host has no upper case.
_PATH_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:(?:[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+|localhost|[A-Za-z0-9.-]+(?=:\d))(?::\d{{1,5}})?/)?"
    rf"{_PATH_PART}(?:/{_PATH_PART})*(?::\w[\w.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?",
    re.ASCII,
)


def check_image(name: str) -> None:
    """Raises:
    ValueError: no image can be called so.
    """
    if len(name) > 255 + 128 or not _IMAGE.fullmatch(name):
        raise ValueError(
            f"image {name!r} is no name of an image: [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST] is"
            " allowed, PATH in lower case, as in registry.example:5000/team/trainer:1.2."
        )


def check_prefix(name: str) -> None:
    """Raises:
    ValueError: names of objects cannot begin with it.
    """
    if not re.fullmatch(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", name):
        raise ValueError(
            f"{name!r} cannot begin the names of Kubernetes objects: lower-case letters,"
            " digits and '-' are allowed, from a letter to a letter or digit, at most 40."
        )


def check_name(what: str, name: str) -> None:
    """Raises:
    ValueError: no object can be called so.
    """
    if len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        raise ValueError(
            f"{what} {name!r} is no name of a Kubernetes object: lower-case letters, digits, '-'"
            " and '.' are allowed, from a letter or digit to a letter or digit, at most 253."
        )


def check_host(host: str) -> None:
    """Raises:
    ValueError: an ingress cannot have this host.
    """
    if len(host) > 253 or not _WILDCARD.fullmatch(host) or re.fullmatch(r"[\d.]+", host):
        raise ValueError(
            f"host {host!r} is no host name of an ingress: a DNS name in lower case is allowed,"
            " perhaps with '*' as its first part; no address, port or path."
        )


def check_quantity(what: str, text: str) -> None:
    """Raises:
    ValueError: Kubernetes would not read it as an amount above zero.
    """
    found = _QUANTITY.fullmatch(text)
    if not found or float(found[1]) == 0:
        raise ValueError(
            f"{what} {text!r} is no quantity: a number above zero is allowed, perhaps with one of"
            " m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, as in 4Gi."
        )
