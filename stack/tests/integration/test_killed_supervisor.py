"""What becomes of the real servers when the supervisor is killed: they end by themselves, and the next start works."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
from stack.testing import embedded_stack

HANG_SECONDS = 60
UNITS = ("postgres", "s3", "redis")
KILLED = """
import sys, time
from stack.testing import embedded_stack
with embedded_stack(*sys.argv[2:], overrides={"DATA_DIR": sys.argv[1]}) as stack:
    print(*(stack.pid(unit) for unit in sys.argv[2:]), flush=True)
    time.sleep(600)
"""


def test_servers_end_with_their_supervisor_and_start_again_on_the_same_data(tmp_path: Path) -> None:
    data = tmp_path / "data"
    supervisor = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(data), *UNITS],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout is not None
    processes = [psutil.Process(int(pid)) for pid in supervisor.stdout.readline().split()]
    assert len(processes) == len(UNITS)
    everything = [*processes, *(child for process in processes for child in process.children(recursive=True))]
    supervisor.kill()
    supervisor.wait()
    _, alive = psutil.wait_procs(everything, timeout=HANG_SECONDS)
    assert alive == []
    with embedded_stack(*UNITS, overrides={"DATA_DIR": str(data)}) as stack:
        assert all(stack.pid(unit) for unit in UNITS)
