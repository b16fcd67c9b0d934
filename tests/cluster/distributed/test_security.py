"""Who may speak to a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cluster.distributed import rpc
from penstock.cluster.distributed.security import (
    Security,
    is_loopback,
    join_address,
    split_address,
)
from penstock.foundation.base import errors
from tests.cluster.distributed import certificates


def test_only_loopback_without_tls(tmp_path: Path) -> None:
    for host in ("localhost", "127.0.0.1", "127.8.9.1", "[::1]"):
        assert Security().listen_at(f"{host}:2222") == f"{host}:2222"
    for host in ("0.0.0.0", "", "worker-0.example", "10.0.0.5", "[fe80::1]"):
        with pytest.raises(errors.PermissionDeniedError, match="TLS_CERT.*INSECURE"):
            rpc.serve(f"{host}:0", {}, Security())
    open_to_all = Security(insecure=True)
    assert open_to_all.listen_at(":2222") == "0.0.0.0:2222"
    assert open_to_all.listen_at("worker-0.example:1") == "worker-0.example:1"
    assert certificates.security(tmp_path).listen_at("10.0.0.5:1") == "10.0.0.5:1"
    assert Security(bind="localhost").listen_at("worker-0.example:1") == "localhost:1"
    with pytest.raises(errors.PermissionDeniedError):
        Security(bind="0.0.0.0").listen_at("localhost:1")


@pytest.mark.parametrize("address", ["", "a", "a:", ":x", "a:70000", "::1:5", "a:-1", "a:٣"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="host:port"):
        split_address(address)


def test_addresses() -> None:
    for address in ("a:1", "[::1]:2", ":3"):
        assert join_address(*split_address(address)) == address
    assert is_loopback("LOCALHOST.") and not is_loopback("localhost.example")


def test_the_environment(tmp_path: Path) -> None:
    environ = certificates.environment(tmp_path)
    assert Security.from_environment({}) == Security()
    made = Security.from_environment(
        {
            **environ,
            "PENSTOCK_TOKEN": "secret",
            "PENSTOCK_INSECURE": "1",
            "PENSTOCK_BIND": "::",
            "PENSTOCK_TLS_NAME": "penstock",
            "PENSTOCK_MAX_MESSAGE_BYTES": "1000",
            "PENSTOCK_MAX_TENSOR_BYTES": "2000",
        }
    )
    assert made.tls and made.tls.certificate.startswith(b"-----BEGIN CERTIFICATE")
    assert made.tls.server_name == "penstock" and made.token == "secret" and made.insecure
    assert (made.bind, made.max_message_bytes, made.max_tensor_bytes) == ("::", 1000, 2000)
    # What is secret stays out of logs and tracebacks.
    assert "secret" not in repr(made) and "PRIVATE KEY" not in repr(made)


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"PENSTOCK_TLS_CERT": "a"}, "PENSTOCK_TLS_KEY and PENSTOCK_TLS_CA is not set"),
        ({f"PENSTOCK_TLS_{n}": "/nowhere" for n in ("CERT", "KEY", "CA")}, "cannot be read"),
        ({"PENSTOCK_INSECURE": "yes"}, "allowed are 0 and 1"),
        ({"PENSTOCK_MAX_MESSAGE_BYTES": "1M"}, "positive number of bytes"),
        ({"PENSTOCK_MAX_TENSOR_BYTES": "0"}, "positive number of bytes"),
    ],
)
def test_an_environment_that_makes_no_sense(environ: dict[str, str], text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=text):
        Security.from_environment(environ)


def test_tokens() -> None:
    Security().check_token(None)
    Security(token="a").check_token(b"a")
    for shown in (None, "", "b", "aa", "ä"):
        with pytest.raises(errors.UnauthenticatedError, match="PENSTOCK_TOKEN"):
            Security(token="a").check_token(shown)
