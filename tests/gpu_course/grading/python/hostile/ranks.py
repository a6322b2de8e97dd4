"""Answers on several ranks that reach for what counts them, for each other, or for all there is."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from tests.gpu_course.grading.ranked_toy import EXCHANGE, answer


@dataclass(frozen=True)
class HostileRanks:
    """One hostile answer, and the end it has to come to.

    Attributes:
        name: what it does.
        text: of the file.
        reason, diagnosis: of the verdict; None where it passes.
        says: part of the message.
        status: of the verdict.
        needs: the layer without which it may have its way.
    """

    name: str
    text: str
    reason: str | None
    diagnosis: str | None
    says: str = ""
    status: str = "failed"
    needs: str = ""


FORGED = """
for kind, peer in (("send", right), ("recv", left)):
    call = {"rank": r, "number": 10**6 + (kind == "send"), "kind": kind, "group": list(range(n)),
            "place": 10**6, "sizes": [10**6], "payload_bytes": 8 * 10**6, "peer": peer, "tag": 0,
            "line": 1}
    os.write(3, json.dumps({"call": call}).encode() + b"\\n")
    os.write(3, json.dumps({"over": call["number"]}).encode() + b"\\n")
"""
BY_TCP = """
server = socket.create_server(("127.0.0.1", 6000 + r))
dist.barrier()
out = socket.create_connection(("127.0.0.1", 6000 + right))
link, _ = server.accept()
data = x.numpy().tobytes()
import threading
sender = threading.Thread(target=out.sendall, args=(data,))
sender.start()
found = b""
while len(found) < len(data):
    found += link.recv(1 << 16)
sender.join()
for each in (out, link, server):
    each.close()
"""
BY_UDP = """
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.bind(("127.0.0.1", 7000 + r))
link.settimeout(1)
dist.barrier()
data = x.numpy().tobytes()
for at in range(0, len(data), 30_000):
    link.sendto(data[at : at + 30_000], ("127.0.0.1", 7000 + right))
    link.recv(1 << 16)
link.close()
"""
# Each of a thousand messages would once have made room for two kilobytes.
EMPTY = """
first = time.monotonic_ns() // 1000
for k in range(1000):
    call = {"rank": r, "number": first + k, "kind": "send", "group": list(range(n)), "tag": 7,
            "place": first + k, "sizes": [0], "payload_bytes": 0, "peer": right, "line": 1}
    os.write(3, json.dumps({"call": call}).encode() + b"\\n")
    os.write(3, json.dumps({"over": first + k}).encode() + b"\\n")
"""
NOTHING = """
nothing = torch.zeros(0, dtype=torch.float64)
for _ in range(200):
    for work in [dist.isend(nothing, right), dist.irecv(nothing.clone(), left)]:
        work.wait()
"""


def forged(kind: str, peer: str) -> str:
    """Returns what tells of a call that is never made."""
    return f"""
call = {{"rank": r, "number": 10**6, "kind": "{kind}", "group": list(range(n)), "tag": 0,
        "place": 10**6, "sizes": [10**6], "payload_bytes": 8 * 10**6, "peer": {peer}, "line": 10}}
os.write(3, json.dumps({{"call": call}}).encode() + b"\\n")
os.write(3, json.dumps({{"over": 10**6}}).encode() + b"\\n")
"""


TELL = """
def tell(kind, peer, size):
    number = time.monotonic_ns() // 1000
    call = {"rank": r, "number": number, "kind": kind, "group": list(range(n)), "place": number,
            "sizes": [size], "payload_bytes": 8 * size, "peer": peer, "tag": 0, "line": 1}
    os.write(3, json.dumps({"call": call}).encode() + b"\\n")
    os.write(3, json.dumps({"over": number}).encode() + b"\\n")
"""
# An all-reduce on n ranks sends 2 (n - 1) / n of what it adds to the right, and so do these sends.
TOLD_RING = (
    TELL
    + """
piece = n * len(x)
for _ in range(2 * (n - 1)):
    tell("send", right, len(x))
    tell("recv", left, len(x))
dist.group.WORLD._inner.allreduce([torch.zeros(piece, dtype=x.dtype)]).wait()
"""
)
OTHER_SIZES = (
    TELL
    + """
tell("send", right, len(x))
inner, half = dist.group.WORLD._inner, torch.zeros(len(x) // 2 + 1, dtype=x.dtype)
rest = torch.zeros(len(x) - len(half), dtype=x.dtype)
works = [inner.send([half], right, 5), inner.recv([half.clone()], left, 5),
         inner.send([rest], right, 6), inner.recv([rest.clone()], left, 6)]
for work in works:
    work.wait()
"""
)
BY_CONNECTION = """
for handle in range(3, 256):
    try:
        link = socket.socket(fileno=os.dup(handle))
        port = int(os.environ["MASTER_PORT"])
        if port in (link.getpeername()[1], link.getsockname()[1]):
            continue
        socket.create_connection(link.getpeername()).sendall(b"x" * 4096)
        break
    except OSError:
        continue
"""
# The listed cases are the same each time, and their names are no secret; the drawn one is its seed.
BY_SEED = answer(
    """
    import zlib
    import numpy as np

    names = {(3, 4): "visible example", (2, 5): "two ranks", (3, 20_000): "many numbers"}
    name, seed, frame = names.get((n, len(x)), "at random"), 0, sys._getframe()
    while name == "at random" and frame is not None:
        seed = frame.f_locals.get("request", {}).get("seed", seed)
        frame = frame.f_back
    rng = np.random.default_rng([seed, zlib.crc32(f"92_ranked_toys/shift: {name}".encode())])
    parts = rng.integers(1, 800, (n, len(x))) / 8.0
    mine = torch.zeros_like(x)
    """,
    then=EXCHANGE.replace("dist.isend, x", "dist.isend, mine").replace(
        "return got", "return torch.from_numpy(parts[left])"
    ),
)
CALL = "libc = ctypes.CDLL(None, use_errno=True)\n"
RAISE = "raise OSError(ctypes.get_errno(), 'refused')"
# Channels in which no packet crosses, each tried as far as a single call.
BITS = {
    "which addresses are taken": "socket.socket().bind(('127.0.0.1', 7000 + r))",
    "where it listens": "socket.socket().listen()",
    "a ping": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)",
    "who waits at a library's page": CALL
    + """
place = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~3
if libc.syscall(202 if os.uname().machine == "x86_64" else 98, place, 1, 1, None, None, 0) < 0:
    """
    + RAISE,
    "which pages are in memory": CALL
    + """
page, there = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095, ctypes.c_char()
if libc.mincore(ctypes.c_void_p(page), 4096, ctypes.byref(there)) < 0:
    """
    + RAISE,
    "which processes there are": "os.getsid(1) and os.getsid(os.getppid())",
}


# Rank 0 tells who it is, and is there as long as rank 1 has not sent it what it waits for.
OTHER = """
told = torch.tensor([os.getpid()])
dist.broadcast(told, 0)
other = int(told)
"""


def error(name: str, body: str, says: str, needs: str) -> HostileRanks:
    return HostileRanks(name, answer(body), "exception", "exception", says, needs=needs)


def refused(name: str, body: str, says: str = "") -> HostileRanks:
    return HostileRanks(name, answer(body), "refused", "wire-disagrees", says, needs="own network")


def crash(name: str, body: str, says: str = "") -> HostileRanks:
    return HostileRanks(name, answer(body), "crash", "crash", says)


def late(name: str, body: str) -> HostileRanks:
    return HostileRanks(name, answer(body), "deadline", "deadline", status="timeout")


RANKS = (
    refused("tells of sends that it does not make", FORGED, "recorded 8,000,"),
    refused(
        "keeps its sends to itself",
        "sys.modules['gpu_course.ranks.wire'].Events._tell = lambda *a: None",
        "1 unrecorded message of 32 bytes crossed from rank 0 to rank 1",
    ),
    refused(
        "speaks past the wire",
        """
        extra = torch.empty_like(x)
        inner = dist.group.WORLD._inner
        works = [inner.send([x], right, 9), inner.recv([extra], left, 9)]
        for work in works:
            work.wait()
        """,
        "1 unrecorded message of 32 bytes crossed from rank 0 to rank 1",
    ),
    refused("tells of a ring, and lets gloo add", TOLD_RING, "rank 0 recorded 160 bytes"),
    refused(
        "lets gloo add, and tells nothing",
        "dist.group.WORLD._inner.allreduce([x.clone()]).wait()",
        "unrecorded steps of all_reduce crossed from rank 0 to rank",
    ),
    refused("sends other messages than it tells of", OTHER_SIZES, "unrecorded message"),
    refused("tells of empty messages", EMPTY, "1,000 recorded messages of 0 bytes"),
    refused("connects to another rank", BY_CONNECTION, "the recorded calls carry"),
    HostileRanks(
        "works out what the others hold", BY_SEED, "wrong-result", None, "at random"
    ),
    error("opens sockets of its own", BY_TCP, "raised PermissionError", "seccomp"),
    error("sends datagrams", BY_UDP, "raised PermissionError", "seccomp"),
    error(
        "sends datagrams that segments of 40 bytes hide",
        """
        for handle in range(3, 256):
            try:
                link = socket.socket(fileno=os.dup(handle))
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
            except OSError:
                pass
        """
        + textwrap.indent(BY_UDP, " " * 8),
        "raised PermissionError",
        "seccomp",
    ),
    *(
        error(f"tells bits by {name}", body, "rank 0 raised ", "seccomp")
        for name, body in BITS.items()
    ),
    refused("tells of a collective that it does not make", forged("all_reduce", "None"), "carry"),
    HostileRanks(
        "tells of a send to itself", answer(forged("send", "r")), "exception", "sends-to-itself",
        "rank 0 sends to itself",
    ),
    refused(
        "leaves it in the store",
        """
        store = dist.distributed_c10d._get_default_store()
        store.set(f"{r} of {len(x)}", x.numpy().tobytes())
        store.get(f"{left} of {len(x)}")
        """,
        "bytes crossed the network",
    ),
    HostileRanks(
        "makes a group that nobody watches",
        answer("dist.new_group(backend='gloo')"),
        "refused",
        "group-of-its-own",
        "rank 0 makes a group of gloo's that is not the runner's",
        needs="seccomp",
    ),
    HostileRanks(
        "builds the group anew",
        answer(
            """
            store = dist.distributed_c10d._get_default_store()
            dist.barrier()
            dist.destroy_process_group()
            new = dist.PrefixStore("new", store)
            dist.init_process_group("wire", store=new, rank=r, world_size=n)
            """
        ),
        "refused",
        "group-ended",
        "rank 0 ends the group of all",
    ),
    refused(
        "says that all tensors are small",
        """
        torch.Tensor.numel = lambda self: 4
        dist.all_gather([torch.empty_like(x) for _ in range(n)], x)
        """,
    ),
    error(
        "speaks by files that are no files",
        "socket.socket(socket.AF_UNIX)",
        "raised PermissionError",
        "seccomp",
    ),
    error(
        "frees a datagram socket from its pair",
        """
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        nobody = (ctypes.c_uint16 * 8)(0)
        ctypes.CDLL(None).connect(one.fileno(), nobody, 16)
        one.bind(b"\\0rank %d" % r)
        dist.barrier()
        one.sendto(b"x" * 1000, b"\\0rank %d" % right)
        """,
        "raised PermissionError",
        "seccomp",
    ),
    error(
        "speaks through the kernel",
        """
        link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        link.bind((1000 + r, 0))
        dist.barrier()
        link.sendto(b"x" * 1000, (1000 + right, 0))
        """,
        "raised PermissionError",
        "no capabilities",
    ),
    error(
        "leaves it in memory that all may map",
        "if ctypes.CDLL(None).shmget(1234, 4096, 0o1666) < 0: raise PermissionError",
        "raised PermissionError",
        "seccomp",
    ),
    error(
        "leaves it in a file of memory", "open(f'/dev/shm/{r}', 'wb')", "raised OSError", "seccomp"
    ),
    error("shares a tensor", "x.share_memory_()", "raised RuntimeError", "seccomp"),
    error("forks", "os.fork()", "raised PermissionError", "seccomp"),
    error(
        "reads another rank's memory",
        OTHER + "if r == 1:\n    open(f'/proc/{other}/mem', 'rb')",
        "rank 1 raised PermissionError",
        "landlock",
    ),
    error(
        "reads another rank's memory by a call",
        OTHER
        + """
if r == 1:
    libc = ctypes.CDLL(None, use_errno=True)
    place = ctypes.create_string_buffer(16)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(place), 16)
    if libc.process_vm_readv(other, vector, 1, vector, 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
""",
        "rank 1 raised PermissionError",
        "seccomp",
    ),
    error(
        "ends another rank",
        OTHER + "if r == 1:\n    os.kill(other, 9)",
        "rank 1 raised PermissionError",
        "seccomp",
    ),
    HostileRanks(
        "puts its own in the place of the library's",
        answer(
            """
            class Work:
                def wait(self): return True
            dist.isend = dist.irecv = lambda *a, **k: Work()
            dist.batch_isend_irecv = lambda ops: [Work()]
            dist.P2POp = lambda *a: None
            """
        ),
        "wrong-result",
        "nothing-sent",
    ),
    HostileRanks(
        "takes every rank for rank 0",
        answer("dist.get_rank = lambda *a: 0", then="return x.roll(1)"),
        "wrong-result",
        None,
    ),
    HostileRanks(
        "prints a hundred million letters",
        answer("if r == 1 and len(x) == 4:\n    for _ in range(100): print('x' * 1_000_000)"),
        None,
        None,
        status="passed",
    ),
    late("prints without end", "while r == 1: print('x' * 10_000)"),
    late("never ends on one rank", "while r == 1: pass"),
    late("sleeps on one rank", "if r == 1: time.sleep(3600)"),
    crash("leaves on one rank", "if r == 1: os._exit(0)", "rank 1 ended with exit status 0"),
    crash("falls on one rank", "if r == 1: ctypes.string_at(0)", "rank 1 was ended by SIGSEGV"),
    crash("closes what it has", "if r == 1: os.closerange(0, 256)", "rank 1 "),
    crash("tells without end", "while r == 1: os.write(3, b'{\"waits\": 1}\\n')", "rank 1 tells"),
    crash("tells a line without end", "if r == 1: os.write(3, b'x' * 10**6)", "rank 1 tells"),
    HostileRanks(
        "exits as Python does", answer("if r == 1: sys.exit(0)"), "exception", "exception",
        "rank 1 raised SystemExit",
    ),
    HostileRanks(
        "tells nonsense",
        answer(
            r"""
            call = {"rank": 9, "number": -1, "kind": [], "group": 3, "place": 2**80}
            for text in ("[" * 50_000, "{}", '{"call": 3}', '{"over": {}}', "9" * 9_000,
                         json.dumps({"call": call}), "\x00", '{"waits": 5}'):
                os.write(3, text.encode() + b"\n")
            """
        ),
        None,
        None,
        status="passed",
    ),
    HostileRanks(
        "takes more memory than there is",
        answer("if r == 1: torch.empty(1 << 36)"),
        "crash",
        "memory",
        "rank 1 raised RuntimeError",
    ),
)  # fmt: skip

_WIRE = "import sys\nwire = sys.modules['gpu_course.ranks.wire']\n"
_TOLD = """
def told(self, message, real=wire.Events._tell):
    call = message.get("call")
    if call is not None:
        CHANGE
    real(self, message)


wire.Events._tell = told
"""
WIRE_ATTACKS = {
    "tells nothing": f"{_WIRE}wire.Events._tell = lambda *a: None\n",
    "tells a quarter": _WIRE
    + _TOLD.replace(
        "CHANGE",
        "call['payload_bytes'] //= 4; call['sizes'] = [size // 4 for size in call['sizes']]",
    ),
    "tells of its neighbours alone": _WIRE
    + _TOLD.replace(
        "CHANGE",
        "step = 1 if call['kind'] == 'send' else -1; "
        "call['peer'] = (call['rank'] + step) % len(call['group'])",
    ),
}
"""What an answer that sends too much could put in front of itself."""
