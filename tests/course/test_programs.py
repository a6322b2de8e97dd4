"""The programs that lessons print for a cluster, as they stand there: they run, and say what is so.

All of them run in one start of torchrun, two ranks under gloo. On GPUs they are the same text, and
`own_device` and the backend follow the machine: that part is tried by hand where there are GPUs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from authoring.checkout import read
from gpu_course.isolation import servers
from gpu_course.lessons.data_parallel.training import SHAPE, flat
from gpu_course.lessons.zero_and_fsdp.units import TINY
from gpu_course.measure.model import MLP, Shape, drawn_gpt, next_token_loss, random_tokens
from tests.course.sources import SOURCES

ROOT = Path(__file__).parents[2]
LESSONS = [path for path in SOURCES if "\n## To a cluster\n" in path.read_text(encoding="utf-8")]
RANKS = 2
FIRST = re.compile(r"# in (?P<file>\w+\.py): your (?P<answer>\w+), and below it|# (?P<own>\w+\.py)")
# What `main` of the file that torchrun starts does: every program, and who is left at the end.
EVERY = """
import atexit, json, os, runpy
from pathlib import Path

import torch.distributed as dist


def left_over():
    names = [(each / "comm").read_text().strip() for each in Path("/proc/self/task").iterdir()]
    left = sorted(name for name in names if "gloo" in name)
    Path(f"left_{os.environ['RANK']}.json").write_text(json.dumps(left))


def main():
    atexit.register(left_over)
    files = json.loads(Path("all.json").read_text())
    got = {file: runpy.run_path(file)["main"]() for file in files}
    Path(f"got_{dist.get_rank()}.json").write_text(json.dumps(got))
"""


def to_a_cluster(lesson: Path) -> str:
    """Returns the section of a lesson that takes it to a cluster."""
    return (
        lesson.read_text(encoding="utf-8").partition("\n## To a cluster\n")[2].partition("\n## ")[0]
    )


def blocks(text: str, language: str) -> list[str]:
    """Returns the blocks of a text in one language."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def program(lesson: Path) -> tuple[str, str]:
    """Returns (file name, whole text) of the program of a lesson, with the solution it asks for."""
    (block,) = blocks(to_a_cluster(lesson), "python")
    first = FIRST.match(block)
    assert first is not None, block
    if first["own"]:
        return first["own"], block
    answer = read(ROOT / "solutions" / lesson.stem / f"{first['answer']}.py")
    return first["file"], f"{answer}\n\n{block}"


def trained_by_one(shape: Shape) -> float:
    """The sum of a GPT's weights after the three steps of lessons 22 and 23, by one process."""
    model = drawn_gpt(shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        for rank in range(RANKS):
            tokens = random_tokens(shape, 2, rank)
            (next_token_loss(model(tokens), tokens) / RANKS).backward()
        optimizer.step()
        optimizer.zero_grad()
    return flat(model).sum().item()


def whole_mlp() -> float:
    """What lesson 24's layer gives when nobody cuts it."""
    torch.manual_seed(24)
    return MLP(64, dropout=0.0).double()(torch.ones(4, 64, dtype=torch.float64)).sum().item()


def attention_of(rank: int) -> float:
    """The norm of a rank's rows of the attention of lesson 25, with all tokens in one place."""
    parts = []
    for each in range(RANKS):
        torch.manual_seed(each)
        parts.append(torch.randn(8, 512, 64, dtype=torch.float64))
    x = torch.cat(parts, 1)
    out = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    return out.chunk(RANKS, 1)[rank].norm().item()


def right(rank: int) -> dict[str, Any]:
    """What each program is to return, by the number of its lesson."""
    trained = {"22": trained_by_one(SHAPE), "23": trained_by_one(TINY)}
    alone = {**trained, "24": whole_mlp(), "25": attention_of(rank)}
    found: dict[str, Any] = {number: pytest.approx(x, rel=1e-12) for number, x in alone.items()}
    return {"21": [float(RANKS * k) for k in range(8)], **found}


@pytest.mark.skipif(not servers.available(), reason="the lessons' commands are for Linux")
def test_the_programs_of_the_lessons_run_under_torchrun(tmp_path: Path) -> None:
    names = {}
    for lesson in LESSONS:
        file, text = program(lesson)
        names[lesson.stem[:2]] = f"{lesson.stem}_{file}"
        (tmp_path / names[lesson.stem[:2]]).write_text(text, encoding="utf-8")
    (tmp_path / "all.json").write_text(json.dumps(list(names.values())))
    (tmp_path / "every.py").write_text(EVERY)
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node", str(RANKS), "-m", "gpu_course.ranks.runner", "every.py"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for rank in range(RANKS):
        got = json.loads((tmp_path / f"got_{rank}.json").read_text())
        assert {number: got[file] for number, file in names.items()} == right(rank)
        # A mesh outlives its program in a cache. Its groups' threads must not: they would end
        # the process by SIGABRT when they let go of a tensor after Python.
        assert json.loads((tmp_path / f"left_{rank}.json").read_text()) == []


def test_each_lesson_on_ranks_has_a_program() -> None:
    assert [lesson.stem[:2] for lesson in LESSONS] == ["21", "22", "23", "24", "25"]


def test_the_page_prints_the_program_of_lesson_21() -> None:
    (block,) = blocks(read(ROOT / "docs" / "clusters.md"), "python")
    assert [block] == blocks(to_a_cluster(LESSONS[0]), "python")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_every_command_starts_the_program_that_is_printed(lesson: Path) -> None:
    file, _ = program(lesson)
    commands = "\n".join(blocks(to_a_cluster(lesson), "bash")).replace("\\\n", " ")
    starts = [line for line in commands.splitlines() if "torchrun" in line]
    assert len(starts) >= 2
    for start in starts:
        assert re.search(rf"-m gpu_course\.ranks\.runner {re.escape(file)}$", start), start
        if "srun" not in start and "--nnodes" in start:
            assert "--node-rank $NODE" in start and "--master-port" in start


def srun_of(script: str) -> str:
    """Returns a script for Slurm from its first command on, in one spelling of it all."""
    text = re.sub(r"(?m)^#.*\n", "", script).replace("\\\n", " ")
    text = re.sub(r"--nproc-per-node \d+", "--nproc-per-node N", text)
    return " ".join(re.sub(r"runner \w+\.py", "runner FILE", text).split())


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_the_script_for_slurm_is_that_of_the_page_which_is_run(lesson: Path) -> None:
    """`tests/gpu_course/ranks/test_clusters.py` runs the page's; each job has an id and a port."""
    (ours,) = [each for each in blocks(to_a_cluster(lesson), "bash") if "srun" in each]
    (pages,) = [each for each in blocks(read(ROOT / "docs/clusters.md"), "bash") if "srun" in each]
    assert srun_of(ours) == srun_of(pages)
    assert '--rdzv-id "$SLURM_JOB_ID"' in srun_of(ours) and "29500" not in ours


def test_a_script_without_an_id_or_with_a_fixed_port_is_another_one() -> None:
    good = textwrap.dedent(
        """\
        #!/bin/bash
        # why
        srun torchrun --nproc-per-node 4 \\
            --rdzv-id "$SLURM_JOB_ID" --rdzv-endpoint "$head:$port" \\
            -m gpu_course.ranks.runner ring.py
        """
    )
    other = good.replace("4 \\", "8 \\").replace("ring.py", "cut.py")
    assert srun_of(other) == srun_of(good)
    for fault in (
        good.replace('--rdzv-id "$SLURM_JOB_ID" ', ""), good.replace("$port", "29500")
    ):  # fmt: skip
        assert srun_of(fault) != srun_of(good)
