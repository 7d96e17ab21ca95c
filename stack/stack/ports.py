"""TCP ports on loopback: which are taken and by whom, and which are free."""

import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

LOOPBACK = "127.0.0.1"
# Below the range that Linux hands out to outgoing connections (32768 and up), so that nothing takes a port in between.
_FREE_PORT_RANGE = range(20_000, 32_000)
# Ports whose neighbour at + 10000 must be below that range as well.
_PAIRED_PORT_RANGE = range(20_000, 22_700)


@dataclass(frozen=True, slots=True)
class PortConflict:
    """A port the stack needs and cannot have."""

    variable: str
    port: int
    holder: str | None

    def message(self) -> str:
        """What to tell the person: the port, who holds it when that can be seen, and the variable to change."""
        held = f" by {self.holder}" if self.holder else ""
        base, plus, offset = self.variable.partition(" + ")
        where = f"{base} (the port is {base} + {offset})" if plus else base
        return f"Port {self.port} is in use{held}. Stop that program, or set {where} to a free port in .env."


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set it too: connections of a stopped server that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def find_conflicts(ports: Mapping[str, int]) -> list[PortConflict]:
    """The ports of `ports` (variable -> port) that are taken."""
    return [PortConflict(name, port, holder_of(port)) for name, port in ports.items() if not is_free(port)]


def holder_of(port: int) -> str | None:
    """`name (pid N)` of the process that listens on `port`, when this user may see it."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return None
    for connection in connections:
        if connection.status != psutil.CONN_LISTEN or not connection.laddr or connection.pid is None:
            continue
        if connection.laddr.port != port:
            continue
        try:
            return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
        except psutil.Error:
            return f"pid {connection.pid}"
    return None


def pick_free_ports(count: int, *, paired_with_offset: int = 0) -> list[int]:
    """`count` different free ports; with an offset, each port + offset is free too."""
    candidates = list(_PAIRED_PORT_RANGE if paired_with_offset else _FREE_PORT_RANGE)
    picked: list[int] = []
    for port in random.sample(candidates, len(candidates)):
        if is_free(port) and (not paired_with_offset or is_free(port + paired_with_offset)):
            picked.append(port)
            if len(picked) == count:
                return picked
    raise RuntimeError(f"there are no {count} free ports between {candidates[0]} and {candidates[-1]}")
