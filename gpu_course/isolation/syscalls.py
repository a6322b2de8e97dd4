"""The system calls an answer may make, by name, with their numbers on the two machines we know.

Source: Linux 6.1, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64")
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Nothing here changes a file, starts a process, reaches another process or the network. Calls
# whose arguments decide are in `seccomp`.
_FREE = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, lseek 8 62,
close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291, access 21 -, faccessat 269 48,
faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61,
getcwd 79 17, chdir 80 49, fchdir 81 50, statfs 137 43, fstatfs 138 44, umask 95 166,
mprotect 10 226, munmap 11 215, mremap 25 216, brk 12 214,
msync 26 227, membarrier 324 283,
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigtimedwait 128 137,
rt_sigpending 127 136, rt_sigsuspend 130 133, sigaltstack 131 132,
futex_waitv 449 449, set_robust_list 273 99, rseq 334 293, set_tid_address 218 96,
sched_yield 24 124, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
nanosleep 35 101, gettimeofday 96 169, time 201 -, times 100 153, setitimer 38 103,
getitimer 36 102, alarm 37 -, pause 34 -, getpid 39 172, gettid 186 178,
getppid 110 173, getuid 102 174, geteuid 107 175,
getgid 104 176, getegid 108 177, getpgrp 111 -,
getresuid 118 148, getresgid 120 150, getgroups 115 158, uname 63 160, sysinfo 99 179,
getrusage 98 165, getcpu 309 168, getrlimit 97 163, getrandom 318 278,
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, pipe 22 -, pipe2 293 59, eventfd2 290 19,
exit 60 93, exit_group 231 94, restart_syscall 219 128, arch_prctl 158 -
"""

_BY_ARGUMENT = """
open 2 -, openat 257 56, clone 56 220, clone3 435 435, prctl 157 167, prlimit64 302 261,
kill 62 129, tkill 200 130, tgkill 234 131, ioctl 16 29, fcntl 72 25,
mmap 9 222, madvise 28 233, futex 202 98,
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120, getpgid 121 155,
getsid 124 156, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114
"""

# For ranks in a network of their own; `seccomp` for what closes half of these again.
_SOCKETS = """
socket 41 198, socketpair 53 199, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
connect 42 203, getsockname 51 204, getpeername 52 205, sendto 44 206, recvfrom 45 207,
setsockopt 54 208, getsockopt 55 209, shutdown 48 210, sendmsg 46 211, recvmsg 47 212,
seccomp 317 277
"""


def _table(text: str) -> dict[str, dict[str, int]]:
    rows = [row.split() for row in text.replace("\n", " ").split(",") if row.strip()]
    return {
        machine: {row[0]: int(row[column]) for row in rows if row[column] != "-"}
        for column, machine in enumerate(MACHINES, start=1)
    }


FREE = _table(_FREE)
"""Machine -> {name: number} of the calls that are allowed whatever their arguments."""

BY_ARGUMENT = _table(_BY_ARGUMENT)
"""Machine -> {name: number} of the calls whose arguments decide."""

SOCKETS = _table(_SOCKETS)
"""Machine -> {name: number} of the calls on sockets, which most processes may not make."""

FIRST_RECENT = 424
"""From this number on (Linux 5.1) both machines number alike, and a libc knows ways around."""
