"""TLS: the process-wide context with the system's certificates, and the handshake, also inside another TLS connection.

Loaded only when a connection is encrypted, because `ssl` takes longer to import than a plain search takes.
"""

from __future__ import annotations

import os
import ssl
import sys
import time
from functools import cache

from sleuth_providers.errors import UnreachableError
from sleuth_providers.net.connection import CHUNK_BYTES, remaining

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CA_FOLDERS = ("/etc/ssl/certs", "/etc/pki/tls/certs")


@cache
def tls_context() -> Any:
    """Return the TLS context of this process, created on first use.

    OpenSSL looks certificates up one by one in a folder of hashed names; loading a bundle file costs more than the
    rest of start-up.
    """
    if sys.platform != "linux":
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        try:
            context.load_verify_locations(file or None, folder or None)
        except OSError as problem:
            raise UnreachableError("no certificates found in SSL_CERT_FILE or SSL_CERT_DIR") from problem
    elif hashed := next(filter(is_hashed, CA_FOLDERS), None):
        context.load_verify_locations(capath=hashed)
    else:
        context.load_default_certs()
    context.set_alpn_protocols(["http/1.1"])
    context.hostname_checks_common_name = False  # obsolete, and refused by browsers
    return context


def has_system_certificates() -> bool:
    """Tell whether this system has CA certificates; not every container does."""
    known = sys.platform != "linux" or any(map(is_hashed, CA_FOLDERS))
    return known or bool(ssl.create_default_context().get_ca_certs())


def is_hashed(folder: str) -> bool:
    """Tell whether a folder has certificates with hashed names, which OpenSSL finds."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".0") for entry in entries)
    except OSError:
        return False


class NestedTLS:
    """A socket with TLS inside TLS, as an https:// proxy needs it: `wrap_socket` cannot wrap an SSLSocket."""

    def __init__(self, outer: ssl.SSLSocket, context: Any, server_hostname: Any, until: float) -> None:
        self._outer, self._until = outer, until
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname)
        self._run(self._tls.do_handshake)

    def settimeout(self, seconds: float) -> None:
        """Set when the next call must end, however many TLS records it takes."""
        self._until = time.monotonic() + seconds

    def recv_into(self, buffer: Any) -> int:
        """Decrypt into a buffer and return the number of bytes, 0 at the end of the stream."""
        try:
            return int(self._run(lambda: self._tls.read(len(buffer), buffer)))
        except ssl.SSLZeroReturnError:
            return 0

    def sendall(self, data: bytes) -> None:
        """Encrypt and send everything."""
        self._run(lambda: self._tls.write(data))

    def close(self) -> None:
        """Close the outer connection."""
        self._outer.close()

    def _run(self, step: Any) -> Any:
        """Repeat a TLS operation, moving records in and out, until it needs no more input."""
        while True:
            try:
                result, done = step(), True
            except ssl.SSLWantReadError:
                result, done = None, False
            self._outer.settimeout(remaining(self._until))
            if data := self._outgoing.read():
                self._outer.sendall(data)
            if done:
                return result
            if data := self._outer.recv(CHUNK_BYTES):
                self._incoming.write(data)
            else:
                self._incoming.write_eof()


def wrap(plain: Any, host: Any, until: float, context: Any = None) -> Any:
    """Return a connection after the TLS handshake as `host`; one that is encrypted already is encrypted once more."""
    context = context or tls_context()
    if isinstance(plain, ssl.SSLSocket):
        return NestedTLS(plain, context, host, until)
    plain.settimeout(remaining(until))
    return context.wrap_socket(plain, server_hostname=host)
