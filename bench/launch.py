"""Runs one command and prints its time in seconds, its peak memory in kilobytes and its exit code.

    python -I -S bench/launch.py COMMAND…    →    "0.0123 9876 0"

Imports little: until exec, the child has the memory of this process, which would count.
"""

import os
import sys
import time

silence = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
started = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silence)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - started
os.write(1, b"%.6f %d %d" % (seconds, usage.ru_maxrss, os.waitstatus_to_exitcode(status)))
