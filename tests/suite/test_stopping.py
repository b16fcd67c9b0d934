from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from tests.suite.stopping import stop

_COUNTS = """
import threading, time
def count():
    while True:
        print("on", flush=True)
        time.sleep(0.001)
for _ in range(4):
    threading.Thread(target=count).start()
"""


def test_nothing_of_a_stopped_process_runs_on() -> None:
    with subprocess.Popen([sys.executable, "-c", _COUNTS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        for _ in range(20):
            stop(process.pid)
            while process.stdout.read(1 << 16):  # what it has said by now
                pass
            time.sleep(0.01)
            assert not process.stdout.read()
            process.send_signal(signal.SIGCONT)
        process.kill()
