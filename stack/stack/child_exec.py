"""Becomes another program that dies with its parent.

    python -I -S child_exec.py PARENT SIGNAL UID GID PROGRAM [ARGUMENT...]

Run as a file, in an interpreter without site packages, between fork and exec of every service: the kernel then sends
SIGNAL to the service when the supervisor is gone, however it went. UID and GID are -1 to stay who we are. The user is
changed first, because a change of user clears the parent-death signal.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: "list[str]") -> None:
    parent, death_signal, uid, gid = (int(argument) for argument in arguments[:4])
    program = arguments[4:]
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
            sys.exit(f"prctl(PR_SET_PDEATHSIG): {os.strerror(ctypes.get_errno())}")
    # The parent may have died before the line above: then nobody would tell us.
    if os.getppid() != parent:
        sys.exit("the supervisor is gone")
    try:
        os.execvp(program[0], program)  # noqa: S606 - the point of this file
    except OSError as error:
        sys.exit(f"cannot run {program[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
