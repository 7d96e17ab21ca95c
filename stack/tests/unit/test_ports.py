"""Free and taken ports."""

import os
import socket
from collections.abc import Iterator

import pytest
from stack.ports import LOOPBACK, PortConflict, find_conflicts, is_free, pick_free_ports


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_somebody_listens_on_is_not_free(taken_port: int) -> None:
    assert not is_free(taken_port)


def test_a_conflict_names_the_variable_and_the_holder(taken_port: int) -> None:
    (conflict,) = find_conflicts({"BACKEND_PORT": taken_port})
    message = conflict.message()
    assert f"Port {taken_port} is in use by" in message
    assert f"(pid {os.getpid()})" in message
    assert "set BACKEND_PORT to a free port in .env" in message


def test_a_conflict_on_a_grpc_port_names_the_variable_that_moves_it() -> None:
    message = PortConflict("S3_PORT + 10000", 19651, None).message()
    assert "set S3_PORT (the port is S3_PORT + 10000) to a free port" in message


def test_free_ports_are_no_conflict() -> None:
    assert find_conflicts({"BACKEND_PORT": pick_free_ports(1)[0]}) == []


def test_picked_ports_are_free_and_differ() -> None:
    ports = pick_free_ports(10)
    assert len(set(ports)) == 10
    assert all(is_free(port) for port in ports)


def test_paired_ports_leave_room_for_grpc() -> None:
    assert all(is_free(port) and is_free(port + 10_000) for port in pick_free_ports(5, paired_with_offset=10_000))
