"""Certificates for tests: an authority, a certificate for localhost, and the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cluster.distributed.security import Security


def environment(folder: Path) -> dict[str, str]:
    """Variables that turn mutual TLS on, with files in ``folder``."""
    trustme = pytest.importorskip("trustme", reason="trustme makes the certificates of this test")
    authority = trustme.CA()
    own = authority.issue_cert("localhost", "127.0.0.1")
    paths = {name: folder / f"{name}.pem" for name in ("CERT", "KEY", "CA")}
    paths["CERT"].write_bytes(b"".join(blob.bytes() for blob in own.cert_chain_pems))
    own.private_key_pem.write_to_path(str(paths["KEY"]))
    authority.cert_pem.write_to_path(str(paths["CA"]))
    return {f"PENSTOCK_TLS_{name}": str(path) for name, path in paths.items()}


def security(folder: Path) -> Security:
    """Mutual TLS."""
    folder.mkdir(exist_ok=True)
    return Security.from_environment(environment(folder))
