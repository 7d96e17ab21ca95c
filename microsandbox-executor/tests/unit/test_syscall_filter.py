"""The BPF program, run by an interpreter of its own against the calls of both machines."""

import re
import struct
from pathlib import Path

import pytest
from executor.runtime.syscall_filter import ABSENT, REFUSED, filter_program

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97


def run(program: bytes, *, arch: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What the kernel would do: the returned action of the filter for one call."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, arch, 0, *(value & (1 << 64) - 1 for value in padded))
    code = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    accumulator = position = 0
    while True:
        operation, if_true, if_false, operand = code[position]
        position += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif operation == 0x06:
            return operand
        else:
            holds = {
                0x15: accumulator == operand,
                0x35: accumulator >= operand,
                0x45: bool(accumulator & operand),
            }[operation]
            position += if_true if holds else if_false


@pytest.fixture(params=[("x86_64", X86_64), ("aarch64", AARCH64)], ids=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> tuple[bytes, int, int]:
    """A machine's program, its architecture's number, and the place of its numbers in a pair."""
    name, arch = request.param
    return filter_program(name), arch, 0 if arch == X86_64 else 1


class TestFilter:
    def test_every_listed_call_is_refused(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        for calls, errno in ((REFUSED, EPERM), (ABSENT, ENOSYS)):
            for name, call in calls.items():
                number = (call.x86_64, call.aarch64)[which]
                if number is not None:
                    assert run(program, arch=arch, number=number) == FAIL | errno, name

    def test_another_architectures_calls_kill_the_process(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, _ = machine
        for other in (X86_64, AARCH64, 0x40000003, 0):
            if other != arch:
                assert run(program, arch=other, number=0) == KILL

    def test_x32_calls_kill_the_process(self) -> None:
        assert run(filter_program("x86_64"), arch=X86_64, number=0x40000000 | 41) == KILL

    def test_ordinary_calls_pass(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        for numbers in (
            (0, 63),
            (1, 64),
            (9, 222),
            (59, 221),
            (202, 98),
            (231, 94),
        ):  # read write mmap execve futex exit
            assert run(program, arch=arch, number=numbers[which]) == ALLOW

    def test_only_unix_and_internet_sockets_pass(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        for numbers in ((41, 198), (53, 199)):
            for family in range(64):
                expected = ALLOW if family in {1, 2, 10} else FAIL | EAFNOSUPPORT
                assert run(program, arch=arch, number=numbers[which], arguments=(family,)) == expected

    def test_the_upper_half_of_an_argument_does_not_change_the_answer(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        socket = (41, 198)[which]
        assert run(program, arch=arch, number=socket, arguments=(40 | 1 << 40,)) == FAIL | EAFNOSUPPORT

    def test_a_process_may_be_made_but_no_namespace(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        clone = (56, 220)[which]
        assert run(program, arch=arch, number=clone, arguments=(0x003D0F00,)) == ALLOW  # what a new thread asks
        for bit in (17, 25, 26, 27, 28, 29, 30):
            assert run(program, arch=arch, number=clone, arguments=(1 << bit | 17,)) == FAIL | EPERM

    def test_no_terminal_input_can_be_faked(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        ioctl = (16, 29)[which]
        assert run(program, arch=arch, number=ioctl, arguments=(0, 0x5401)) == ALLOW
        for request in (0x5412, 0x541C):
            assert run(program, arch=arch, number=ioctl, arguments=(0, request)) == FAIL | EPERM

    def test_no_set_id_file_can_be_made(self, machine: tuple[bytes, int, int]) -> None:
        program, arch, which = machine
        fchmod, openat = (91, 52)[which], (257, 56)[which]
        for mode in (0o4755, 0o2755, 0o6000):
            assert run(program, arch=arch, number=fchmod, arguments=(3, mode)) == FAIL | EPERM
            assert run(program, arch=arch, number=openat, arguments=(3, 0, 0o101, mode)) == FAIL | EPERM
            # Without O_CREAT the kernel does not look at the mode, and the register holds anything.
            assert run(program, arch=arch, number=openat, arguments=(3, 0, 0, mode)) == ALLOW
        assert run(program, arch=arch, number=fchmod, arguments=(3, 0o1777)) == ALLOW

    def test_an_unknown_machine_is_refused(self) -> None:
        with pytest.raises(ValueError, match="riscv64"):
            filter_program("riscv64")

    @pytest.mark.parametrize(
        ("header", "which"),
        [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1)],
    )
    def test_the_numbers_are_those_of_the_kernels_headers(self, header: str, which: int) -> None:
        if not Path(header).exists():
            pytest.skip(f"the kernel's headers are not installed: {header}")
        numbers = {
            name: int(number)
            for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
        }
        for name, call in (REFUSED | ABSENT).items():
            if name in numbers:
                assert (call.x86_64, call.aarch64)[which] == numbers[name], name
