"""Runs a command on a pseudo-terminal and types what a script says.

stdin: {"argv": [...], "cwd": "...", "env": {...}, "steps": [["text to wait for", "what to type"], ...]}
stdout: {"output": "...", "code": n, "missed": "text that never came" | null}
A step waits for its text in what came after the text of the step before it. "SIG..." is sent as a signal, "CLOSE"
takes the terminal away.
"""

import json
import os
import pty
import select
import signal
import sys
import time

LIMIT = 50

job = json.load(sys.stdin)
pid, master = pty.fork()
if pid == 0:
    os.chdir(job["cwd"])
    os.execvpe(job["argv"][0], job["argv"], job["env"])

output = ""
seen = 0
missed = None
deadline = time.monotonic() + LIMIT
steps = list(job["steps"])
raw = b""
while True:
    while steps and master is not None:
        wanted, text = steps[0]
        at = output.find(wanted, seen)
        if at < 0:
            break
        seen = at + len(wanted)
        steps.pop(0)
        if text == "CLOSE":
            os.close(master)
            master = None
        elif text.startswith("SIG"):
            os.kill(pid, getattr(signal, text))
        else:
            os.write(master, text.encode())
    if master is None:
        break
    left = deadline - time.monotonic()
    if left <= 0:
        missed = steps[0][0] if steps else "the end"
        os.kill(pid, signal.SIGKILL)
        break
    ready, _, _ = select.select([master], [], [], left)
    if not ready:
        continue
    try:
        chunk = os.read(master, 65536)
    except OSError:
        break
    if not chunk:
        break
    raw += chunk
    output = raw.decode("utf-8", "replace")

while True:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        break
    if time.monotonic() > deadline:
        missed = missed or "the end"
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.01)
if missed is None and steps:
    missed = steps[0][0]
json.dump({"output": output, "code": os.waitstatus_to_exitcode(status), "missed": missed}, sys.stdout)
