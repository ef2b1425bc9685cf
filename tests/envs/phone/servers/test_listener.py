"""Whoever connects and says nothing locks nobody out."""

import socket

import pytest

from coach_gym.envs.phone.servers.listener import HOST, MOST, Listener


@pytest.fixture
def port():
    def echo(connection):
        while data := connection.recv(100):
            connection.sendall(data)

    listener = Listener(echo)
    yield listener.port
    listener.close()


def connected(port):
    return socket.create_connection((HOST, port), timeout=5)


def answers(connection):
    try:
        connection.sendall(b"?")
        return connection.recv(1) == b"?"
    except OSError:
        return False


def test_idle_connections_lock_nobody_out(port):
    worker = connected(port)
    assert answers(worker)
    idle = [connected(port) for _ in range(MOST + 6)]
    late = connected(port)
    assert answers(late) and answers(worker), "those that never said anything go first, the oldest before the others"
    assert not answers(idle[0]) and answers(idle[-1])
    for each in (worker, late, *idle):
        each.close()


def test_among_those_that_talk_the_one_silent_for_longest_goes(port):
    talking = [connected(port) for _ in range(MOST)]
    assert all(answers(each) for each in talking)
    assert answers(talking[0])
    late = connected(port)
    assert answers(late) and answers(talking[0]) and answers(talking[2])
    assert not answers(talking[1])
    for each in (late, *talking):
        each.close()
