"""The same code in many processes at the same moment: forked from one that has imported what they need."""

import os
import subprocess
import sys

LAUNCHER = """
import os, sys, traceback

count, imports, code, *arguments = sys.argv[1:]
names = {"arguments": arguments}
exec(imports, names)
start, ready = os.pipe()
children = []
for number in range(int(count)):
    if not (child := os.fork()):
        os.close(ready)
        os.read(start, 1)  # returns when the parent closes its end: all start together
        try:
            exec(code, names | {"number": number})
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
os.close(ready)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def run_at_once(count: int, imports: str, code: str, *arguments: object) -> str:
    """Run code in processes of its own, which know their `number` and the `arguments`; return what they print."""
    command = [sys.executable, "-W", "ignore", "-c", LAUNCHER, str(count), imports, code, *map(str, arguments)]
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
