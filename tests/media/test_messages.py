from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator

import pytest

from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.messages import Mailbox


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


def test_a_message_is_there_when_all_of_it_has_arrived(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    mailbox = Mailbox(ours)
    data = pickle.dumps("a message")
    for byte in len(data).to_bytes(8, "big") + data[:-1]:
        theirs.sendall(bytes([byte]))
        assert mailbox.collect() is None
    theirs.sendall(data[-1:])
    assert pickle.loads(mailbox.collect() or b"") == "a message"
    assert mailbox.collect() is None


def test_messages_come_one_by_one_in_their_order(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    for message in ("one", 2, ["three"]):
        Mailbox(theirs).send(message)
    mailbox = Mailbox(ours)
    assert [mailbox.receive() for _ in range(3)] == ["one", 2, ["three"]]


def test_an_end_that_is_closed_is_told(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    theirs.sendall(b"\0\0")
    theirs.close()
    with pytest.raises(EOFError):
        Mailbox(ours).collect()


def test_a_media_error_travels_whole() -> None:
    error = pickle.loads(pickle.dumps(MediaError(MediaFault.truncated, "a.png: cut off")))
    assert (type(error), error.fault, str(error)) == (MediaError, MediaFault.truncated, "a.png: cut off")
