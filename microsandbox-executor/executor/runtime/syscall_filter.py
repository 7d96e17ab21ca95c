"""The system calls a guest may not make: a classic BPF program, assembled here, that bubblewrap installs.

Namespaces alone leave doors open: AF_VSOCK is not part of a network namespace, and each rarely used system call is a
piece of the shared kernel that nothing in a data analysis needs. Numbers are those of the kernel's tables for x86-64
and for arm64 (`asm-generic`); they never change.
"""

import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_FAIL_WITH = 0x00050000

# Offsets in `struct seccomp_data`; arguments are 64 bits wide, little-endian on both architectures.
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

_EPERM = 1
_ENOSYS = 38
_EAFNOSUPPORT = 97
_X32_CALLS = 0x40000000
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NEW_NAMESPACE_FLAGS = 0x7E020000
_TERMINAL_INPUT_REQUESTS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SOCKET_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_PERSONALITIES = (0, 0xFFFFFFFF)  # the plain one, and the question which it is
_SET_ID = 0o6000
_MAKES_A_FILE = 0o100 | 0o20000000  # O_CREAT, O_TMPFILE


class _Architecture(IntEnum):
    """Machine kinds as the audit interface of the kernel names them."""

    X86_64 = 0xC000003E
    AARCH64 = 0xC00000B7


@dataclass(frozen=True, slots=True)
class _Call:
    """One system call's number in each table; None where the architecture does not have it."""

    x86_64: int | None
    aarch64: int | None

    def number(self, architecture: _Architecture) -> int | None:
        return self.x86_64 if architecture is _Architecture.X86_64 else self.aarch64


def _same(number: int) -> _Call:
    """A call younger than the common table: one number everywhere."""
    return _Call(number, number)


_CLONE = _Call(56, 220)
_IOCTL = _Call(16, 29)
_SOCKET = _Call(41, 198)
_SOCKETPAIR = _Call(53, 199)
_PERSONALITY = _Call(135, 92)
# Calls that set a file's mode, and the argument that holds it.
_MODE_SETTERS = (
    *((_Call(90, None), 1), (_Call(91, 52), 1), (_Call(268, 53), 2), (_same(452), 2)),  # chmod, fchmod, fchmodat(2)
    *((_Call(85, None), 1), (_Call(133, None), 1), (_Call(259, 33), 2)),  # creat, mknod, mknodat
)
# Calls that may make a file: the arguments that hold the flags and the mode.
_OPENERS = ((_Call(2, None), 1, 2), (_Call(257, 56), 2, 3))  # open, openat

# Refused with EPERM.
REFUSED: dict[str, _Call] = {
    # other processes' memory and state
    "ptrace": _Call(101, 117),
    "process_vm_readv": _Call(310, 270),
    "process_vm_writev": _Call(311, 271),
    "process_madvise": _same(440),
    "process_mrelease": _same(448),
    "pidfd_getfd": _same(438),
    "kcmp": _Call(312, 272),
    "move_pages": _Call(279, 239),
    "migrate_pages": _Call(256, 238),
    # keys, which are not namespaced
    "keyctl": _Call(250, 219),
    "add_key": _Call(248, 217),
    "request_key": _Call(249, 218),
    # programs in the kernel and looking into it
    "bpf": _Call(321, 280),
    "perf_event_open": _Call(298, 241),
    "userfaultfd": _Call(323, 282),
    "syslog": _Call(103, 116),
    "lookup_dcookie": _Call(212, 18),
    "fanotify_init": _Call(300, 262),
    # mounts and namespaces
    "mount": _Call(165, 40),
    "umount2": _Call(166, 39),
    "pivot_root": _Call(155, 41),
    "chroot": _Call(161, 51),
    "open_tree": _same(428),
    "open_tree_attr": _same(467),
    "move_mount": _same(429),
    "fsopen": _same(430),
    "fsconfig": _same(431),
    "fsmount": _same(432),
    "fspick": _same(433),
    "mount_setattr": _same(442),
    "statmount": _same(457),
    "listmount": _same(458),
    "unshare": _Call(272, 97),
    "setns": _Call(308, 268),
    # file handles reach past a mount's edge
    "name_to_handle_at": _Call(303, 264),
    "open_by_handle_at": _Call(304, 265),
    # the machine itself
    "init_module": _Call(175, 105),
    "finit_module": _Call(313, 273),
    "delete_module": _Call(176, 106),
    "create_module": _Call(174, None),
    "query_module": _Call(178, None),
    "get_kernel_syms": _Call(177, None),
    "kexec_load": _Call(246, 104),
    "kexec_file_load": _Call(320, 294),
    "reboot": _Call(169, 142),
    "swapon": _Call(167, 224),
    "swapoff": _Call(168, 225),
    "acct": _Call(163, 89),
    "quotactl": _Call(179, 60),
    "quotactl_fd": _same(443),
    "nfsservctl": _Call(180, 42),
    "settimeofday": _Call(164, 170),
    "clock_settime": _Call(227, 112),
    "clock_adjtime": _Call(305, 266),
    "adjtimex": _Call(159, 171),
    "sethostname": _Call(170, 161),
    "setdomainname": _Call(171, 162),
    "vhangup": _Call(153, 58),
    "iopl": _Call(172, None),
    "ioperm": _Call(173, None),
    "modify_ldt": _Call(154, None),
    "uselib": _Call(134, None),
    "ustat": _Call(136, None),
    "sysfs": _Call(139, None),
    "_sysctl": _Call(156, None),
}

# Reported as not there, so that libraries use what they used before the call existed. The flags of clone3 lie in
# memory, out of a filter's sight; glibc falls back to clone.
ABSENT: dict[str, _Call] = {
    "clone3": _same(435),
    "io_uring_setup": _same(425),
    "io_uring_enter": _same(426),
    "io_uring_register": _same(427),
    "memfd_secret": _same(447),
    # The mode of a new file lies in memory here too.
    "openat2": _same(437),
}


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _fail(errno: int) -> bytes:
    return _instruction(_RETURN, _FAIL_WITH | errno)


def _load_argument(index: int) -> bytes:
    """Load the low 32 bits: the kernel reads no more of the arguments that are looked at here."""
    return _instruction(_LOAD_WORD, _ARGUMENTS + 8 * index)


def _when_called(call: _Call, architecture: _Architecture, body: list[bytes]) -> Iterator[bytes]:
    """Run `body`, which ends in a return, for this call; go on behind it for any other."""
    number = call.number(architecture)
    if number is not None:
        yield _instruction(_JUMP_EQUAL, number, 0, len(body))
        yield from body


def _only(allowed: tuple[int, ...], error: int) -> list[bytes]:
    """Let these values of the first argument pass."""
    checks = [_instruction(_JUMP_EQUAL, value, len(allowed) - position, 0) for position, value in enumerate(allowed)]
    return [_load_argument(0), *checks, _fail(error), _instruction(_RETURN, _ALLOW)]


def _no_set_id(mode_argument: int) -> list[bytes]:
    """A set-user-id file of a guest would run as the executor's user when somebody on the host ran it."""
    return [
        _load_argument(mode_argument),
        _instruction(_JUMP_ANY_BIT, _SET_ID, 0, 1),
        _fail(_EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _no_set_id_when_made(flags_argument: int, mode_argument: int) -> list[bytes]:
    return [
        _load_argument(flags_argument),
        _instruction(_JUMP_ANY_BIT, _MAKES_A_FILE, 1, 0),
        _instruction(_RETURN, _ALLOW),
        *_no_set_id(mode_argument),
    ]


def _clone_check() -> list[bytes]:
    return [
        _load_argument(0),
        _instruction(_JUMP_ANY_BIT, _NEW_NAMESPACE_FLAGS, 0, 1),
        _fail(_EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _ioctl_check() -> list[bytes]:
    first, second = _TERMINAL_INPUT_REQUESTS
    return [
        _load_argument(1),
        _instruction(_JUMP_EQUAL, first, 1, 0),
        _instruction(_JUMP_EQUAL, second, 0, 1),
        _fail(_EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _program(architecture: _Architecture) -> Iterator[bytes]:
    yield _instruction(_LOAD_WORD, _ARCHITECTURE)
    yield _instruction(_JUMP_EQUAL, architecture, 1, 0)
    yield _instruction(_RETURN, _KILL_PROCESS)
    yield _instruction(_LOAD_WORD, _NUMBER)
    if architecture is _Architecture.X86_64:
        yield _instruction(_JUMP_AT_LEAST, _X32_CALLS, 0, 1)
        yield _instruction(_RETURN, _KILL_PROCESS)
    for call in REFUSED.values():
        yield from _when_called(call, architecture, [_fail(_EPERM)])
    for call in ABSENT.values():
        yield from _when_called(call, architecture, [_fail(_ENOSYS)])
    yield from _when_called(_CLONE, architecture, _clone_check())
    yield from _when_called(_IOCTL, architecture, _ioctl_check())
    yield from _when_called(_SOCKET, architecture, _only(_SOCKET_FAMILIES, _EAFNOSUPPORT))
    yield from _when_called(_SOCKETPAIR, architecture, _only(_SOCKET_FAMILIES, _EAFNOSUPPORT))
    yield from _when_called(_PERSONALITY, architecture, _only(_PERSONALITIES, _EPERM))
    for call, mode in _MODE_SETTERS:
        yield from _when_called(call, architecture, _no_set_id(mode))
    for call, flags, mode in _OPENERS:
        yield from _when_called(call, architecture, _no_set_id_when_made(flags, mode))
    yield _instruction(_RETURN, _ALLOW)


def filter_program(machine: str | None = None) -> bytes:
    """The filter as an array of `struct sock_filter`, for `bwrap --seccomp`.

    `machine` is as `uname -m` says it. Raises `ValueError` for one that there is no table for.
    """
    name = machine or platform.machine()
    architectures = {"x86_64": _Architecture.X86_64, "aarch64": _Architecture.AARCH64, "arm64": _Architecture.AARCH64}
    if name not in architectures:
        raise ValueError(f"no system call table for machine {name!r}")
    return b"".join(_program(architectures[name]))
