"""A program that uses the Python API and ends while its threads are inside wreq exits cleanly, every time."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.live

RUNS = 50
PROGRAM = """
import atexit, random, sys, threading, time
import sleuth
from sleuth_providers.net import impersonation
url, seed = sys.argv[1], int(sys.argv[2])
finished = threading.Semaphore(0)

def work(path):
    while True:
        list(sleuth.read([url + path], cache="off"))
        finished.release()

for path in ("/quick", "/never", "/endless", "/quick"):
    threading.Thread(target=work, args=(path,), daemon=True).start()
finished.acquire()
time.sleep(random.Random(seed).uniform(0, 0.2))  # so that the end finds the threads at different places
assert "wreq" in sys.modules
atexit.unregister(impersonation._cancel_all)
atexit.register(lambda: print(len(impersonation._cancels)))  # after the next one
atexit.register(impersonation._cancel_all)
"""


def test_busy_threads_do_not_crash_the_end_of_python(serve: Any, make_certificate: Any, tmp_path: Path) -> None:
    pytest.importorskip("wreq")

    def respond(connection: Any, request: bytes) -> None:
        page = b"<html><body><p>Words about larches.</p></body></html>"
        if b"GET /never" in request:
            connection.recv(1)
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
        if b"GET /quick" in request:
            connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(page), page))
        else:
            connection.sendall(b"\r\n" + page)
            connection.recv(1)

    certificate = make_certificate("DNS:localhost,IP:127.0.0.1")
    server = serve(respond, context=certificate.context)
    url = f"https://localhost:{server.port}"
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = os.environ | {
        "SSL_CERT_FILE": certificate.file,
        "SLEUTH_HOME": str(tmp_path / "home"),
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
    }
    for run in range(RUNS):
        command = [sys.executable, str(tmp_path / "program.py"), url, str(run)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", ""), f"run {run}"
