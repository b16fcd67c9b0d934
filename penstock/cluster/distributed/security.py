"""Who may speak to a server: loopback only, mutual TLS, a shared token.

A server listens at the host of its own address in the ClusterSpec.  That is the loopback interface
or, for other hosts, allowed with TLS; without TLS it must be asked for, because whoever reaches the
port can run graphs there.  With TLS both ends show a certificate that the same authority signed.  A
token is a secret that each call carries; alone, it keeps other users of a machine away.

Environment, read by ``Security.from_environment``:

    PENSTOCK_TLS_CERT, _TLS_KEY, _TLS_CA   PEM files: certificate chain, key, authority
    PENSTOCK_TLS_NAME                      the name in the servers' certificates, if not their host
    PENSTOCK_TOKEN                         the shared token
    PENSTOCK_INSECURE=1                    allows hosts other than loopback without TLS
    PENSTOCK_BIND                          host or address to listen at instead of the own one's
    PENSTOCK_MAX_MESSAGE_BYTES             largest message that is sent or taken
    PENSTOCK_MAX_TENSOR_BYTES              largest tensor that is taken over a link
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.foundation.base import errors

if TYPE_CHECKING:
    import grpc

TOKEN_KEY = "penstock-token"
# The most that a protobuf message can hold.
MAX_MESSAGE_BYTES = (1 << 31) - 1
_DEFAULT_MESSAGE_BYTES = 1 << 30
_DEFAULT_TENSOR_BYTES = 1 << 40
# Hosts to listen at that mean all addresses of the machine.
EVERY_HOST = ("", "0.0.0.0", "::")


@dataclass(frozen=True)
class Tls:
    """Mutual TLS.

    Args:
      certificate, key: PEM of this process's certificate chain and its private key.
      authority: PEM of the authority that signed the certificates of all tasks and clients.
      server_name: the name in servers' certificates; None where it is the host of their address.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    authority: bytes
    server_name: str | None = None


@dataclass(frozen=True)
class Security:
    """How a server and its peers trust each other.

    Args:
      tls: mutual TLS, or None.
      token: a secret that all processes of the cluster share, or None.
      insecure: allows hosts other than loopback without TLS.
      bind: host to listen at instead of the own address's.
      max_message_bytes: the largest message that is sent or taken.
      max_tensor_bytes: the largest tensor that is taken over a link.

    >>> Security().listen_at("localhost:2222")
    'localhost:2222'
    """

    tls: Tls | None = None
    token: str | None = field(default=None, repr=False)
    insecure: bool = False
    bind: str | None = None
    max_message_bytes: int = _DEFAULT_MESSAGE_BYTES
    max_tensor_bytes: int = _DEFAULT_TENSOR_BYTES

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Security:
        """What the environment says.

        Raises:
          tf.errors.InvalidArgumentError: some of the TLS files are named and others not, a file
            cannot be read, or a limit is no number.
        """
        insecure = environ.get("PENSTOCK_INSECURE", "")
        if insecure not in ("", "0", "1"):
            raise errors.invalid(f"PENSTOCK_INSECURE is {insecure!r}; allowed are 0 and 1")
        return cls(
            tls=_tls(environ),
            token=environ.get("PENSTOCK_TOKEN") or None,
            insecure=insecure == "1",
            bind=environ.get("PENSTOCK_BIND") or None,
            max_message_bytes=min(
                _size(environ, "PENSTOCK_MAX_MESSAGE_BYTES", _DEFAULT_MESSAGE_BYTES),
                MAX_MESSAGE_BYTES,
            ),
            max_tensor_bytes=_size(environ, "PENSTOCK_MAX_TENSOR_BYTES", _DEFAULT_TENSOR_BYTES),
        )

    def listen_at(self, address: str) -> str:
        """Where the server of an address of the ClusterSpec is to listen, "host:port".

        Raises:
          tf.errors.InvalidArgumentError: the address is not "host:port".
          tf.errors.PermissionDeniedError: the host is not loopback, and neither TLS nor
            ``insecure`` is set.
        """
        host, port = split_address(address)
        host = host if self.bind is None else self.bind
        if not (is_loopback(host) or self.tls is not None or self.insecure):
            raise errors.PermissionDeniedError(
                None,
                None,
                f"the server of {address} would listen at {host or 'every host'}, where others can"
                " reach it and run what they like: set PENSTOCK_TLS_CERT, PENSTOCK_TLS_KEY and"
                " PENSTOCK_TLS_CA for mutual TLS, or PENSTOCK_INSECURE=1 on a network that you"
                " trust; localhost needs neither",
            )
        return join_address("0.0.0.0" if host in EVERY_HOST else host, port)

    def check_token(self, shown: str | bytes | None) -> None:
        """Checks what a caller shows as token.

        Raises:
          tf.errors.UnauthenticatedError: it is missing or not the one of this cluster.
        """
        if self.token is None:
            return
        if shown is None:
            raise errors.UnauthenticatedError(
                None, None, "the call has no token; set PENSTOCK_TOKEN to the cluster's"
            )
        found = shown.encode() if isinstance(shown, str) else shown
        if not hmac.compare_digest(found, self.token.encode()):
            raise errors.UnauthenticatedError(
                None, None, "the call's token is not the cluster's; see PENSTOCK_TOKEN"
            )

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What each call carries to show who calls."""
        return () if self.token is None else ((TOKEN_KEY, self.token),)

    def server_credentials(self) -> grpc.ServerCredentials | None:
        """For a gRPC server; None without TLS."""
        import grpc

        if self.tls is None:
            return None
        return grpc.ssl_server_credentials(
            [(self.tls.key, self.tls.certificate)],
            root_certificates=self.tls.authority,
            require_client_auth=True,
        )

    def channel_credentials(self) -> grpc.ChannelCredentials | None:
        """For a gRPC channel; None without TLS."""
        import grpc

        if self.tls is None:
            return None
        return grpc.ssl_channel_credentials(
            root_certificates=self.tls.authority,
            private_key=self.tls.key,
            certificate_chain=self.tls.certificate,
        )


def split_address(address: str) -> tuple[str, int]:
    """Host and port of "host:port"; an IPv6 host stands in brackets.

    Raises:
      tf.errors.InvalidArgumentError: it has another form.

    >>> split_address("[::1]:2222")
    ('::1', 2222)
    """
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise errors.invalid(f"{address!r} is no address of a server; allowed is 'host:port'")
    return host, int(port)


def join_address(host: str, port: int) -> str:
    """The inverse of ``split_address``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _tls(environ: Mapping[str, str]) -> Tls | None:
    names = ("PENSTOCK_TLS_CERT", "PENSTOCK_TLS_KEY", "PENSTOCK_TLS_CA")
    paths = [environ.get(name) for name in names]
    if not any(paths):
        return None
    if not all(paths):
        missing = " and ".join(n for n, path in zip(names, paths) if not path)
        raise errors.invalid(f"TLS needs {', '.join(names)}; {missing} is not set")
    try:
        certificate, key, authority = (Path(str(path)).read_bytes() for path in paths)
    except OSError as error:
        raise errors.invalid(f"a file of TLS cannot be read: {error}") from error
    return Tls(certificate, key, authority, environ.get("PENSTOCK_TLS_NAME") or None)


def _size(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if not text:
        return default
    try:
        size = int(text)
    except ValueError:
        size = 0
    if size <= 0:
        raise errors.invalid(f"{name} is {text!r}; allowed is a positive number of bytes")
    return size
