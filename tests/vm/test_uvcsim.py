#!/usr/bin/env python3
"""test_uvcsim.py: USB transfers of the simulated camera: in order, unlinked, unlinked before they arrive

Drivers unlink transfers when they stop or close a camera. vhci_hcd may unlink a transfer before it submits it, and
breaks the connection if the transfer is answered nevertheless. This is rare on a real machine.
"""
import socket
import struct
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import Checks, programs
from uvcsim import FORMAT_YUYV, Camera, Plug

programs(0)
ROOM = 512
BULK = 1


class Cable:
    """A connection between a driver, played by the test, and the camera."""

    def __init__(self):
        end, self.end = socket.socketpair()
        self.end.setblocking(False)
        self.plug = Plug(Camera(1000, []), end)
        self.plug.camera.negotiate(FORMAT_YUYV, 2)

    def submit(self, sequence):
        self.end.sendall(struct.pack(">IIIIIIiiii8x", Plug.SUBMIT, sequence, 0, 1, BULK, 0, ROOM, 0, 0, 0))

    def unlink(self, sequence, victim):
        self.end.sendall(struct.pack(">IIIIII24x", Plug.UNLINK, sequence, 0, 0, 0, victim))

    def answers(self):
        """Returns kind, sequence number and status of the camera's answers to all requests."""
        self.plug.receive()
        self.plug.send()
        said = []
        try:
            data = self.end.recv(1 << 20)
        except BlockingIOError:
            data = b""
        while data:
            kind, sequence, _, _, _, status, length = struct.unpack(">IIIIIii", data[:28])
            said.append((kind, sequence, status))
            data = data[48 + (length if kind == Plug.RET_SUBMIT else 0):]
        return said


def in_order(c):
    cable = Cable()
    for sequence in (1, 2, 3):
        cable.submit(sequence)
    said = cable.answers()
    c.check(said == [(Plug.RET_SUBMIT, n, 0) for n in (1, 2, 3)], said)


def taken_back(c):
    cable = Cable()
    cable.plug.stalled = True
    for sequence in (1, 2):
        cable.submit(sequence)
    cable.unlink(3, 1)
    said = cable.answers()
    c.check(said == [(Plug.RET_UNLINK, 3, Plug.UNLINKED)], said)
    cable.plug.stalled = False
    cable.submit(4)
    said = cable.answers()
    c.check(said == [(Plug.RET_SUBMIT, 2, 0), (Plug.RET_SUBMIT, 4, 0)], said)
    cable.unlink(5, 4)
    said = cable.answers()
    c.check(said == [(Plug.RET_UNLINK, 5, 0)], "has been answered already", said)


def taken_back_early(c):
    cable = Cable()
    cable.submit(1)
    cable.unlink(3, 2)
    cable.submit(2)
    cable.submit(4)
    said = cable.answers()
    c.check((Plug.RET_UNLINK, 3, Plug.UNLINKED) in said, said)
    answered = [n for kind, n, _ in said if kind == Plug.RET_SUBMIT]
    c.check(answered == [1, 4], "the others are answered, and it is not", said)


sys.exit(Checks().run(in_order, taken_back, taken_back_early))
