#!/usr/bin/env python3
"""uvcsim.py [--fps N] [--jpegs DIR]... [--only CODE] [--port N]: simulates a USB camera in user space, for uvcvideo

It connects to vhci_hcd (USB/IP over a socket pair) and needs the modules vhci_hcd and uvcvideo. It offers MJPEG and
YUYV, 640x480 and 320x240. MJPEG sends the files *.jpg of DIR in turn, unchanged, even if they are corrupt. YUYV frame n
has luma n % 256. --only offers only the format CODE, such as H264; BA81 has red SBGGR8 frames. Field names: USB Device
Class Definition for Video Devices 1.1.

SIGUSR1   unplugs the camera and ends the program
SIGUSR2   sets the error bit of one frame
SIGHUP    stops the frames; the next SIGHUP continues them
SIGSTOP   stops the frames and the answers to control requests
SIGWINCH  switches to the pictures of the next DIR, which may have another size
"""
import argparse
import glob
import os
import select
import signal
import socket
import struct
import time

SIZES = [(640, 480), (320, 240)]
FORMAT_MJPEG, FORMAT_YUYV = 1, 2
INTERVAL_100NS = 333333
TRANSFER_BYTES = 16384
USB_HIGH_SPEED, DEVICE_ID = 3, 65538
SET_CUR, GET_CUR, GET_MIN, GET_MAX, GET_RES, GET_LEN, GET_INFO, GET_DEF = 1, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87
STRINGS = ["", "monocle", "uvcsim camera", "0001"]
GUID_END = b"\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"


def frame_descriptor(subtype, index, width, height):
    size = width * height * 2
    return struct.pack("<BBBBBHHIIIIBI", 30, 0x24, subtype, index, 0, width, height, 1000, size * 8 * 30, size,
                       INTERVAL_100NS, 1, INTERVAL_100NS)


def streaming_descriptors(only):
    color = bytes([6, 0x24, 13, 1, 1, 4])
    frames = [(i + 1, *size) for i, size in enumerate(SIZES)]
    mjpeg = struct.pack("<BBBBBBBBBBB", 11, 0x24, 6, FORMAT_MJPEG, len(SIZES), 1, 1, 0, 0, 0, 0)
    mjpeg += b"".join(frame_descriptor(7, *f) for f in frames) + color
    yuyv = struct.pack("<BBBBB", 27, 0x24, 4, FORMAT_YUYV, len(SIZES)) + b"YUY2" + GUID_END + bytes([16, 1, 0, 0, 0, 0])
    yuyv += b"".join(frame_descriptor(5, *f) for f in frames) + color
    body, formats = mjpeg + yuyv, 2
    if only:
        body = struct.pack("<BBBBB", 27, 0x24, 4, 1, len(SIZES)) + only + GUID_END + bytes([8, 1, 0, 0, 0, 0])
        body, formats = body + b"".join(frame_descriptor(5, *f) for f in frames) + color, 1
    length = 13 + formats
    header = struct.pack("<BBBBHBBBBBBB", length, 0x24, 1, formats, length + len(body), 0x81, 0, 3, 0, 0, 0, 1)
    return header + bytes(formats) + body


def descriptors(only):
    """Returns the descriptors of the device and of its configuration: a camera with a brightness control, a stream."""
    camera = struct.pack("<BBBBHBBHHHB", 18, 0x24, 2, 1, 0x201, 0, 0, 0, 0, 0, 3) + bytes(3)
    output = struct.pack("<BBBBHBBB", 9, 0x24, 3, 3, 0x101, 0, 2, 0)
    processing = struct.pack("<BBBBBHBHB", 11, 0x24, 5, 2, 1, 0, 2, 1, 0)
    units = camera + processing + output
    control = struct.pack("<BBBHHIBB", 13, 0x24, 1, 0x100, 13 + len(units), 48000000, 1, 1) + units
    stream = streaming_descriptors(only)
    body = bytes([8, 11, 0, 2, 14, 3, 0, 0])
    body += bytes([9, 4, 0, 0, 0, 14, 1, 0, 0]) + control
    body += bytes([9, 4, 1, 0, 1, 14, 2, 0, 0]) + stream + struct.pack("<BBBBHB", 7, 5, 0x81, 2, 512, 0)
    configuration = struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), 2, 1, 0, 0x80, 250) + body
    device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x200, 0xef, 2, 1, 64, 0x1d6b, 0x0102, 0x10, 1, 2, 3, 1)
    return device, configuration


class Camera:
    """Answers control requests; None means a stall."""

    def __init__(self, fps, jpegs, only=b""):
        self.period_s = 1 / fps
        self.jpegs = jpegs  # a list for each DIR
        self.only = only
        self.device, self.configuration = descriptors(only)
        self.brightness = 128
        self.negotiate(FORMAT_MJPEG, 1)

    def negotiate(self, format_index, frame_index):
        self.format = format_index if format_index in (FORMAT_MJPEG, FORMAT_YUYV) else FORMAT_MJPEG
        self.frame = frame_index if 1 <= frame_index <= len(SIZES) else 1
        width, height = SIZES[self.frame - 1]
        self.probe = struct.pack("<HBBIHHHHHII", 1, self.format, self.frame, INTERVAL_100NS, 0, 0, 0, 0, 0,
                                 width * height * 2, TRANSFER_BYTES)

    def descriptor(self, kind, index):
        if kind == 1:
            return self.device
        if kind == 2:
            return self.configuration
        if kind == 3:
            text = b"\x09\x04" if index == 0 else STRINGS[index].encode("utf-16le")
            return bytes([len(text) + 2, 3]) + text
        return None

    def streaming(self, request, data):
        if request == SET_CUR:
            self.negotiate(data[2], data[3])
            return b""
        if request in (GET_CUR, GET_MIN, GET_MAX, GET_DEF):
            return self.probe
        return {GET_LEN: struct.pack("<H", len(self.probe)), GET_INFO: b"\x03"}.get(request)

    def processing(self, request, data):
        if request == SET_CUR:
            self.brightness, = struct.unpack("<h", data[:2])
            return b""
        if request == GET_INFO:
            return b"\x03"
        value = {GET_CUR: self.brightness, GET_MIN: 0, GET_MAX: 255, GET_RES: 1, GET_DEF: 128}.get(request)
        return None if value is None else struct.pack("<h", value)

    def control(self, setup, data):
        kind, request, value, index, length = struct.unpack("<BBHHH", setup)
        answer = None
        selector, entity, interface = value >> 8, index >> 8, index & 255
        if kind == 0x80 and request == 6:
            answer = self.descriptor(selector, value & 255)
        elif kind == 0x80 and request == 0:
            answer = b"\0\0"
        elif kind & 0x60 == 0:  # SET_CONFIGURATION, SET_INTERFACE, CLEAR_FEATURE
            answer = b""
        elif interface == 1 and selector in (1, 2):
            answer = self.streaming(request, data)
        elif interface == 0 and entity == 2 and selector == 2:
            answer = self.processing(request, data)
        return None if answer is None else answer[:length]

    def picture(self, number):
        width, height = SIZES[self.frame - 1]
        if self.only == b"BA81":  # red only: rows of blue and green (0, 0) and rows of green and red (0, 200)
            return (bytes([0, 0]) * (width // 2) + bytes([0, 200]) * (width // 2)) * (height // 2)
        if self.format == FORMAT_MJPEG and self.jpegs:
            return self.jpegs[0][number % len(self.jpegs[0])]
        return bytes([number & 255, 128]) * (width * height)


def plug_in(port):
    """Connects a socket pair to a port of vhci_hcd. Returns the camera's end."""
    end, other = socket.socketpair()
    with open("/sys/devices/platform/vhci_hcd.0/attach", "w") as attach:
        attach.write("%d %d %d %d" % (port, other.fileno(), DEVICE_ID, USB_HIGH_SPEED))
    other.close()
    return end


class Plug:
    """Reads USB/IP commands from the driver and sends the camera's transfers."""
    SUBMIT, UNLINK, RET_SUBMIT, RET_UNLINK = 1, 2, 3, 4
    STALLED, UNLINKED = -32, -104  # -EPIPE, -ECONNRESET

    def __init__(self, camera, end):
        self.camera, self.end = camera, end
        self.unplugged = self.error = self.stalled = False
        self.received = bytearray()
        self.waiting = []  # (sequence number, size) of the bulk transfers that the driver has queued
        self.newest, self.early = 0, set()  # latest sequence number; numbers that were unlinked before they arrived
        self.picture, self.sent, self.number, self.frame_id, self.due_s = None, 0, 0, 0, 0.0

    def answer(self, sequence, status, data=b"", length=None):
        self.end.sendall(struct.pack(">IIIIIiiiii8x", self.RET_SUBMIT, sequence, 0, 0, 0, status,
                                     len(data) if length is None else length, 0, 0, 0) + data)

    def submit(self, sequence, to_host, endpoint):
        """Handles a command. Returns its size in bytes; 0 if it has not arrived completely."""
        _, length, _, _, _ = struct.unpack(">Iiiii", self.received[20:40])
        total = 48 + (0 if to_host else length)
        if len(self.received) < total:
            return 0
        self.newest = max(self.newest, sequence)
        if sequence in self.early:  # already unlinked: an answer would make vhci_hcd disconnect
            return total
        if endpoint != 0:
            self.waiting.append((sequence, length))
            return total
        answer = self.camera.control(bytes(self.received[40:48]), bytes(self.received[48:total]))
        if answer is None:
            self.answer(sequence, self.STALLED)
        else:
            self.answer(sequence, 0, answer if to_host else b"", None if to_host else length)
        return total

    def unlink(self, sequence):
        victim, = struct.unpack(">I", self.received[20:24])
        early = victim > self.newest
        found = early or any(s == victim for s, _ in self.waiting)
        self.early |= {victim} if early else set()
        self.waiting = [w for w in self.waiting if w[0] != victim]
        self.end.sendall(struct.pack(">IIIIIi24x", self.RET_UNLINK, sequence, 0, 0, 0, self.UNLINKED if found else 0))
        self.picture = None
        return 48

    def receive(self):
        data = self.end.recv(65536)
        if not data:
            self.unplugged = True
        self.received += data
        while len(self.received) >= 48:
            command, sequence, _, to_host, endpoint = struct.unpack(">IIIII", self.received[:20])
            taken = self.submit(sequence, to_host, endpoint) if command == self.SUBMIT else self.unlink(sequence)
            if taken == 0:
                return
            del self.received[:taken]

    def begin_picture(self):
        now = time.monotonic()
        if now < self.due_s:
            return False
        self.due_s = max(self.due_s + self.camera.period_s, now)
        self.picture = self.camera.picture(self.number)
        self.sent = 0
        self.number += 1
        self.frame_id ^= 1
        return True

    def send(self):
        """Sends payloads of the current picture in the queued transfers."""
        while self.waiting and not self.stalled and (self.picture is not None or self.begin_picture()):
            sequence, room = self.waiting.pop(0)
            part = self.picture[self.sent:self.sent + min(room, TRANSFER_BYTES) - 2]
            self.sent += len(part)
            last = self.sent >= len(self.picture)
            flags = 0x80 | self.frame_id | (2 if last else 0) | (0x40 if self.error else 0)
            if last:
                self.picture, self.error = None, False
            self.answer(sequence, 0, bytes([2, flags]) + part)

    def run(self):
        while not self.unplugged:
            patience_s = max(0.001, self.due_s - time.monotonic()) if self.waiting and not self.stalled else 0.2
            if select.select([self.end], [], [], patience_s)[0]:
                self.receive()
            self.send()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fps", type=float, default=15)
    parser.add_argument("--jpegs", action="append", default=[], help="folder of the pictures that MJPEG sends")
    parser.add_argument("--only", default="", help="code of the only format; BA81: raw frames of a sensor, all red")
    parser.add_argument("--port", type=int, default=0, help="of vhci_hcd; a second camera needs another one")
    options = parser.parse_args()
    jpegs = [[] for _ in options.jpegs]
    for pictures, folder in zip(jpegs, options.jpegs):
        for name in sorted(glob.glob(os.path.join(folder, "*.jpg"))):
            with open(name, "rb") as file:
                pictures.append(file.read())
    plug = Plug(Camera(options.fps, jpegs, options.only.encode()), plug_in(options.port))
    signal.signal(signal.SIGUSR1, lambda *_: setattr(plug, "unplugged", True))
    signal.signal(signal.SIGUSR2, lambda *_: setattr(plug, "error", True))
    signal.signal(signal.SIGHUP, lambda *_: setattr(plug, "stalled", not plug.stalled))
    signal.signal(signal.SIGWINCH, lambda *_: jpegs.append(jpegs.pop(0)))
    plug.run()
    print("uvcsim: unplugged after", plug.number, "frames", flush=True)


if __name__ == "__main__":
    main()
