"""Scripts written for numba.cuda, each run by `python -m simt` in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from simt.foreign.script import main

ROOT = Path(__file__).parents[3]
SCRIPTS = Path(__file__).parent / "scripts"

CLEAN = {
    "vector_add": "before: True\ngrid: True\nforall: True\nhost arrays: True",
    "tiled_matmul": "equal: True",
    "tree_reduction": "sum: 499500",
    "laplace": "quarters: 0.0 25.0 50.0 75.0 100.0",
    "grid_sync": "quarters: 0.0 24.997 49.996 74.997 100.0",
    "sessionise": "sessions: 0 0 2 2 4 4 4 7 8 8",
    "monte_carlo": "near pi: True\nmean and deviation: True True\nall differ: True",
    "dynamic_shared": "turned: 47.0 46.0 45.0 470 460 450",
    "device_functions": "close: True\nwhole: 3.5\nreal: 3.75",
    "reduce": "sum: True\nlargest: 19999.0\npart: 6 145 7\nreturns: None 124750 5",
    "warp_operations": "total: 496 rotated: 1 0 votes: 16 1 0\nalike: 8",
    "memory_spaces": "smooth: 1.0 2.0 3.0 6.0\ntransposed: True",
    "atomics": "counted: True\nextremes: True True winners: 1",
    "host_api": """\
        True 1 (9, 0) 32
        1024 True
        True
        True 0.0 2.0 4.0 6.0 8.0 10.0
        (2, 3) (3, 2) 2 7.0 3 8.0 9.0
        0.0 2.0 4.0 7.0 8.0 9.0 9.0 8.0 7.0 4.0 2.0 0.0
        2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0
        2.0 2.0 2.0 True 6""",
    "spellings": "11131 11100 True",
    "own_tests": "",
}


def run(script: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simt", str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def written(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text("from numba import cuda\nimport numpy as np\n\n\n" + textwrap.dedent(text))
    return path


RACE = """
    @cuda.jit
    def pile_up(x):
        x[0] = cuda.grid(1)

    pile_up[1, 32](np.zeros(1))
"""


QUEUE = """
    @cuda.jit
    def work(out, head, a):
        k = cuda.atomic.add(head, 0, 1)
        while k < out.size:
            out[k] = a[k]
            k = cuda.atomic.add(head, 0, 1)
        if cuda.blockIdx.x == 2:
            {last}

    out, head = np.zeros(6), np.zeros(2, np.int64)
    for _ in range(2):
        head[:] = 0
        work[3, 1](out, head, np.arange(6.0))
    print(out, head)
"""


def test_what_only_another_order_shows_is_found_in_several(tmp_path: Path) -> None:
    """The block that looks at the counter comes last here, and on a GPU when it likes."""
    script = written(tmp_path, QUEUE.format(last="head[1] = head[0]"))
    first = run(script)
    more = run("--orders", "4", str(script))
    assert more.stdout == first.stdout  # each further order leaves the memory as it was
    assert (first.returncode, more.returncode) == (0, 1)
    assert "head[0] is updated by an atomic and read plainly" in more.stderr
    clean = written(tmp_path, QUEUE.format(last="cuda.atomic.add(head, 1, 9)"))
    assert run("--orders", "4", str(clean)).returncode == 0


SPIN = """
    @cuda.jit
    def gather(out, count):
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x - 1:
                pass
            out[0] = 1
        else:
            cuda.atomic.add(count, 0, 1)

    gather[3, 1](np.zeros(1), np.zeros(1, np.int64))
"""


def test_a_block_that_waits_for_a_later_one_is_advice_where_several_orders_are_tried(
    tmp_path: Path,
) -> None:
    script = written(tmp_path, SPIN)
    assert run(script).stderr == ""
    done = run("--orders", "9", str(script))
    assert done.returncode == 0
    assert "advice: EndlessLoopError: this loop waits for count[0] to change" in done.stderr
    assert "room for 1 block at a time" in done.stderr


def test_every_script_is_run_by_a_test() -> None:
    others = {"conftest", "sibling", "racy", "lenient", "arguments", "raises", "printing"}
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(CLEAN) | others


@pytest.mark.series(1 / 6)
@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_script_computes_and_the_simulator_is_silent(name: str) -> None:
    done = run(SCRIPTS / f"{name}.py")
    assert "\n".join(line.strip() for line in done.stdout.splitlines()) == textwrap.dedent(
        CLEAN[name]
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_kernel_prints_stands_between_the_lines_of_the_host() -> None:
    done = run(SCRIPTS / "printing.py")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["before", "0", "1", "after"]


def test_a_racy_script_ends_with_its_hazard_once_and_status_1() -> None:
    done = run(SCRIPTS / "racy.py")
    assert done.stdout == "done\n"
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "The simulator found 1 error in 2 launches."
    assert lines[2] == "error: RaceError: own[63] is read and written in no fixed order"
    assert lines[3].endswith("tests/simt/foreign/scripts/racy.py:12")
    assert lines[4] == "          x[t] = own[63 - t]"
    assert lines[-1] == "  seen:   in 2 of 2 launches of turn_round"


def test_what_a_gpu_allows_is_advice_and_status_0() -> None:
    done = run(SCRIPTS / "lenient.py")
    assert (done.stdout, done.returncode) == ("1 0 5\n", 0)
    assert "found 3 pieces of advice in 1 launch." in done.stderr
    assert (
        "advice: RaceError: found[0] is written by several threads, all with one value"
        in done.stderr
    )
    assert "advice: BarrierDivergenceError: 16 of 32 threads miss this barrier" in done.stderr


def test_a_script_gets_its_arguments_its_name_its_folder_and_keeps_its_status() -> None:
    done = run(SCRIPTS / "arguments.py", "3", "--help", "two words")
    assert done.stdout == "['3', '--help', 'two words'] __main__ arguments.py found\n"
    assert (done.returncode, done.stderr) == (3, "")


def test_an_exception_looks_as_python_shows_it() -> None:
    script = SCRIPTS / "raises.py"
    direct = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert direct.stderr.startswith("Traceback (most recent call last):")
    assert direct.returncode == 1
    done = run(script)
    assert (done.returncode, done.stderr) == (1, direct.stderr)


def test_a_refused_kernel_shows_the_launch_and_the_line_and_nothing_of_ours(
    tmp_path: Path,
) -> None:
    text = """
        @cuda.jit
        def wait(x):
            x[0] = cuda.libdevice.sinpif(1.0)

        wait[1, 32](np.zeros(1))
    """
    done = run(written(tmp_path, text))
    assert done.returncode == 1
    assert "the simulator does not know cuda.libdevice.sinpif" in done.stderr
    assert "script.py:8    x[0] = cuda.libdevice.sinpif(1.0)" in done.stderr
    assert "wait[1, 32](np.zeros(1))" in done.stderr
    assert str(ROOT) not in done.stderr


def test_a_syntax_error_is_pythons_own(tmp_path: Path) -> None:
    done = run(written(tmp_path, "x = = 1"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].endswith('script.py", line 5')
    assert done.stderr.splitlines()[-1] == "SyntaxError: invalid syntax"


@pytest.mark.parametrize(
    ("ending", "status", "shown"),
    [
        ("", 1, ""),
        ("raise SystemExit", 1, ""),
        ("raise SystemExit(5)", 5, ""),
        ("raise SystemExit('no more')", 1, "no more\n"),
        ("print(1 / 0)", 1, "ZeroDivisionError: division by zero\n"),
    ],
)
def test_hazards_are_told_however_the_script_ends(
    tmp_path: Path, ending: str, status: int, shown: str
) -> None:
    done = run(written(tmp_path, textwrap.dedent(RACE) + ending))
    assert done.returncode == status
    before, told, _ = done.stderr.partition("The simulator found 1 error in 1 launch.")
    assert told
    assert before.endswith(shown)


def test_hazards_in_a_thread_that_outlives_the_script_count(tmp_path: Path) -> None:
    text = """
        import threading

        @cuda.jit
        def pile_up(x):
            x[0] = cuda.grid(1)

        def later():
            go.wait()
            pile_up[1, 32](np.zeros(1))

        go = threading.Event()
        threading.Thread(target=later).start()
        go.set()
    """
    done = run(written(tmp_path, text))
    assert done.returncode == 1
    assert "The simulator found 1 error in 1 launch." in done.stderr


@pytest.mark.series(1 / 6)
@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("cuda.compile_ptx(1)", "the simulator does not know cuda.compile_ptx: it runs kernels as"),
        ("cuda.declare_device()", "the simulator does not know cuda.declare_device: it stands for"),
        ("cuda.nothing_such", "the simulator does not know cuda.nothing_such"),
        ("from numba.cuda import nothing_such", "cannot import name 'nothing_such'"),
        ("import numba.cuda.lowering", "the simulator does not know numba.cuda.lowering"),
        ("import numba_cuda_mlir.nothing", "the simulator does not know numba_cuda_mlir.nothing"),
        ("cuda.jit(link=['a.cu'])", "does not know cuda.jit(link=...): a.cu is foreign code"),
        ("cuda.threadIdx.x + 1", "unsupported operand"),
        ("cuda.grid(1)", "cuda.grid exists inside a kernel only, and the host has used it"),
    ],
)
def test_what_is_not_there_is_refused_by_name(
    tmp_path: Path, statement: str, complaint: str
) -> None:
    done = run(written(tmp_path, statement))
    assert done.returncode == 1
    assert complaint in done.stderr
    assert f'File "{ROOT / "gpu_course"}' not in done.stderr


USAGE = "usage: python -m simt [OPTIONS] SCRIPT [ARGS], or python -m simt [OPTIONS] -m MODULE"


@pytest.mark.parametrize("name", ["simt", "gpu_course.simt"])
def test_both_names_run_a_script(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", name, "--orders=1", "--", str(SCRIPTS / "arguments.py"), "3", "-m"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.stdout == "['3', '-m'] __main__ arguments.py found\n"
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, USAGE),
        (["--help"], 0, USAGE),
        (["-h", "nowhere.py"], 0, USAGE),
        (["--orders", "0", "x.py"], 2, "argument --orders: 0 is no whole number from 1 on"),
        (["--count", "x.py"], 2, "unrecognized arguments: --count"),
        (["--format"], 2, "argument --format: expected one argument"),
        (["--format", "xml", "x.py"], 2, "--format xml: there is no such form"),
    ],
)
def test_the_command_line(
    arguments: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert told in (out if status == 0 else err)
    assert (err if status == 0 else out) == ""


def test_a_script_that_is_not_there() -> None:
    done = run(Path("nowhere.py"))
    assert (done.returncode, done.stdout) == (2, "")
    fact, step = done.stderr.splitlines()
    assert fact == "nowhere.py cannot be read: No such file or directory"
    assert step.startswith("  try:    see that its name is right")


@pytest.mark.parametrize(
    ("name", "outermost"), [("nowhere", "nowhere"), ("nowhere.at_all", "nowhere"), (".x", "")]
)
def test_a_module_that_is_not_there(name: str, outermost: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simt", "-m", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (2, "")
    fact, step = done.stderr.splitlines()
    assert fact == f"there is no module {outermost or name}"
    assert step.startswith("  try:    run this in the folder that ")


def test_numba_is_imported_only_by_scripts_that_ask_for_it(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import sys\nprint({'numba', 'torch', 'matplotlib'} & set(sys.modules))\n")
    assert run(path).stdout == "set()\n"


ENDINGS = {
    "_exit": "launch(); os._exit(0)",
    "shutdown": "atexit.register(launch)",
    "another program": "launch(); os.execv('/bin/true', ['true'])",
    "itself again": "os.execv(sys.executable, [sys.executable, '-c', AGAIN])",
    "all kinds of processes": "beneath()",
}
"""How a script ends whose last lines nobody of its own process reads."""

BENEATH = """
import atexit, multiprocessing, os, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
AGAIN = f"import sys; sys.path.insert(0, {sys.path[0]!r}); import script; script.launch()"

@cuda.jit
def pile_up(x):
    x[0] = cuda.grid(1)

@cuda.jit
def fine(x):
    x[cuda.grid(1)] = 1

def launch(kernel=RACY):
    kernel[1, 32](np.zeros(32))

def beneath():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(launch)
    process = multiprocessing.get_context("spawn").Process(target=launch)
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", AGAIN], check=True)
    if (child := os.fork()) == 0:
        launch()
        os._exit(0)
    os.waitpid(child, 0)

if __name__ == "__main__":
    END
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kernel", ["pile_up", "fine"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_launches_are_seen_however_a_script_ends(tmp_path: Path, ending: str, kernel: str) -> None:
    text = BENEATH.replace("RACY", kernel).replace("END", ENDINGS[ending])
    done = run(written(tmp_path, text))
    if kernel == "fine":
        assert (done.returncode, done.stderr) == (0, "")
        return
    launches = "4 launches" if ending == "all kinds of processes" else "1 launch"
    assert done.returncode == 1, done.stderr
    assert f"found 1 error in {launches}." in done.stderr
    assert "several threads" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a signal ends no program there")
def test_a_script_that_is_killed_is_told_of_and_its_status_says_so(tmp_path: Path) -> None:
    end = "import signal; launch(); os.kill(os.getpid(), signal.SIGKILL)"
    done = run(written(tmp_path, BENEATH.replace("RACY", "pile_up").replace("END", end)))
    assert done.returncode == 128 + 9
    assert "found 1 error in 1 launch." in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_where_a_process_goes_on_the_status_says_that_not_all_was_seen(tmp_path: Path) -> None:
    end = """
    ready, done = os.pipe()
    if os.fork() == 0:
        launch()
        os.close(1), os.close(2)
        os.write(done, b".")
        sys.stdin.read()  # until the test lets it go
        os._exit(0)
    os.read(ready, 1)
    """
    text = BENEATH.replace("RACY", "fine").replace("    END", textwrap.dedent(end).strip())
    script = written(tmp_path, text.replace('if __name__ == "__main__":', ""))
    command = [sys.executable, "-m", "simt", str(script)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stderr is not None
        assert b"not all was seen" in done.stderr.read()
        assert done.wait() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kernel", ["pile_up", "fine"])
def test_a_python_of_its_own_does_where_no_fork_is_safe(tmp_path: Path, kernel: str) -> None:
    text = BENEATH.replace("RACY", kernel).replace("END", "print(sys.argv[1:]); launch()")
    program = (
        "from simt.foreign import child, script; import sys; child.FORKS = False; "
        f"sys.exit(script.main([{str(written(tmp_path, text))!r}, '--out', 'x']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout == "['--out', 'x']\n"
    assert done.returncode == int(kernel == "pile_up")
    assert ("found 1 error in 1 launch." in done.stderr) == (kernel == "pile_up")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a script runs in no fork")
def test_a_signal_that_comes_before_the_handler_reaches_the_script() -> None:
    code = """
import os, signal
from simt.foreign import child
look = child._at_a_keyboard
def interrupted():
    os.kill(os.getpid(), signal.SIGUSR1)
    return look()
child._at_a_keyboard = interrupted
parent = os.getpid()
signal.signal(signal.SIGUSR1, lambda *_: os._exit(3 if os.getpid() == parent else 7))
def script():
    while True:
        pass
raise SystemExit(child.forked(script))
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 7


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name == "nt", reason="a signal ends no program there")
def test_an_editor_s_button_for_stopping_reaches_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('ready', flush=True)\nwhile True:\n    pass\n")
    command = [sys.executable, "-m", "simt", str(script)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Of no terminal, as an editor starts it: the signal goes to this one process. A job in the
    # background of a shell ignores it, and so would all that it starts.
    how = {"start_new_session": True, "preexec_fn": _heed_interrupts}
    with subprocess.Popen(command, cwd=ROOT, text=True, **how, **pipes) as done:
        assert done.stdout is not None and done.stderr is not None
        assert done.stdout.readline() == "ready\n"
        done.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in done.stderr.read()
        assert done.wait() == 130
