"""The commands of docs/clusters.md, as they stand there, on two "machines" that are this one."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_course.isolation import servers

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="the page's commands are for Linux, where clusters are"
)
PAGE = Path(__file__).parents[3] / "docs" / "clusters.md"
ROOT = PAGE.parents[1]
FILE = """
import torch
import torch.distributed as dist


def main():
    x = torch.arange(3.0) + 10 * dist.get_rank()
    dist.all_reduce(x)
    return x.tolist()
"""
# Two nodes with a task each, as the page asks Slurm for. A node's task knows its node.
SRUN = """#!/bin/bash
for node in 0 1; do
    SLURM_NODEID=$node SLURM_PROCID=$node "$@" &
    tasks+=($!)
done
for task in "${tasks[@]}"; do
    wait "$task" || exit 1
done
"""
SCONTROL = """#!/bin/bash
[ "$1 $2 $3" = "show hostnames first,second" ] || exit 1
echo localhost
echo second
"""
BOTH = "for NODE in 0 1; do {command} & tasks+=($!); done; wait ${{tasks[0]}} && wait ${{tasks[1]}}"


def block(heading: str) -> str:
    """Returns the first block of commands below a heading of the page."""
    below = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    found = re.search(r"```bash\n(.*?)```", below, re.DOTALL)
    assert found is not None
    return found[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script with a rank for each node, in a folder with a file of that name."""
    (folder / "ring.py").write_text(FILE)
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    # torchrun of this Python, wherever that is.
    (folder / "torchrun").write_text(
        f'#!/bin/bash\nexec "{sys.executable}" -m torch.distributed.run "$@"\n'
    )
    (folder / "torchrun").chmod(0o755)
    given = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "SLURM_NNODES": "2",
        "SLURM_JOB_NODELIST": "first,second",
        "SLURM_JOB_ID": str(free_port()),
    }
    assert script.count("--nproc-per-node 4") == 1
    return subprocess.run(
        ["bash", "-c", script.replace("--nproc-per-node 4", "--nproc-per-node 1")],
        capture_output=True, text=True, env=os.environ | given, cwd=folder, check=False,
    )  # fmt: skip


def test_the_script_for_slurm_runs_on_two_nodes(tmp_path: Path) -> None:
    done = run(block("With Slurm"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {r}: [10.0, 12.0, 14.0]" for r in range(2)]


def test_each_machine_gets_the_same_command_and_a_number(tmp_path: Path) -> None:
    command = block("On several machines").strip()
    assert "$NODE" in command and "first.machine" in command and "29500" in command
    command = command.replace("first.machine", "127.0.0.1").replace("29500", str(free_port()))
    done = run(BOTH.format(command=command), tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {r}: [10.0, 12.0, 14.0]" for r in range(2)]
