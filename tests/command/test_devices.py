#!/usr/bin/env python3
"""test_devices.py MONOCLE MONOCLE_MISLED ICD: the facts of devices; drivers that crash, hang or are missing

ICD is a driver without devices that misbehaves when it is loaded (tests/support/icd.c)."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(sys.path[0] + "/../support")
import live_support
from checks import SOURCES, Checks, at, programs, skip
from live_support import NO_EGL, PATIENCE, environment, has_opencl, png, wait_until

MONOCLE, MISLED, ICD = programs(3)
VENDORS = "/etc/OpenCL/vendors"

if not has_opencl(MONOCLE):
    skip("there is no OpenCL device")


def run(*arguments, **env):
    return live_support.run(*arguments, **{"MONOCLE_DRIVERS": None, **env})


def vendors(*libraries, real=True):
    """Makes a directory of drivers: these libraries, and the machine's drivers. Returns its path."""
    os.makedirs(at("vendors"), exist_ok=True)
    for number, library in enumerate(libraries):
        with open(at("vendors/a%d.icd" % number), "w", encoding="utf-8") as file:
            file.write(library + "\n")
    for name in os.listdir(VENDORS) if real else []:
        shutil.copy(os.path.join(VENDORS, name), at("vendors"))
    return at("vendors")


def memory_sizes():
    """Returns the sizes of the memories of all devices, in the loader's order, as clinfo reads them."""
    cl, count = ctypes.CDLL("libOpenCL.so.1"), ctypes.c_uint()
    platforms, devices, size, sizes = (ctypes.c_void_p * 16)(), (ctypes.c_void_p * 16)(), ctypes.c_uint64(), []
    cl.clGetPlatformIDs(16, platforms, ctypes.byref(count))
    for platform in platforms[:count.value]:
        found = ctypes.c_uint()
        cl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_uint64(0xffffffff), 16, devices, ctypes.byref(found))
        for device in devices[:found.value]:
            cl.clGetDeviceInfo(ctypes.c_void_p(device), 0x101f, 8, ctypes.byref(size), None)  # GLOBAL_MEM_SIZE
            sizes.append(size.value)
    return sizes


def facts(c):
    code, out, err = run(MONOCLE, "devices", "--json")
    device = json.loads(out)[0]
    c.check(code == 0 and err == "", code, err)
    # The limits of the child that asks the drivers do not change what they report.
    listed, real = sorted(d["memory_bytes"] for d in json.loads(out)), sorted(memory_sizes())
    c.check(listed == real, listed, real)
    c.check(device["opens"] is True and device["problem"] is None, device)
    c.check(device["vendor_id"].startswith("0x") and device["compute_units"] >= 1, device)
    c.check([r["mode"] for r in device["sharing"]] == ["gl-shared", "mapped", "opencl"], device["sharing"])


def text(c):
    code, short, _ = run(MONOCLE, "devices")
    c.check(code == 0, code, short)
    c.check(b"\nGL\n   window     " in short and b"\n   headless   " in short, short)
    c.check(b"the gl path does not work" not in short, short)
    c.check(re.search(rb"\n   -p auto    (zerocopy|gl|cpu)((, \w+)+: the fastest)?\n", short), short)


def one(c):
    two = {"POCL_DEVICES": "basic pthread"}
    everything = json.loads(run(MONOCLE, "devices", "--json", **two)[1])
    for device in everything:
        code, out, err = run(MONOCLE, "devices", "--json", "-d", str(device["number"]), **two)
        c.check(code == 0 and [d["number"] for d in json.loads(out)] == [device["number"]], code, out, err)
    code, out, err = run(MONOCLE, "devices", "--json", "-d", "no such name")
    c.check(code == 3 and json.loads(out) == [] and "no OpenCL device matches 'no such name'" in err, code, out, err)


def crashes(c):
    """A driver that crashes when it is loaded is named, and the others are listed."""
    place = vendors(ICD)
    for how, broken in ("crash", True), ("", False):
        code, out, err = run(MONOCLE, "devices", "--json", OCL_ICD_VENDORS=place, TEST_ICD=how, TMPDIR=at())
        c.check(code == 0 and json.loads(out)[0]["sharing"][2]["works"], how, code, out, err)
        says = "left out the OpenCL driver %s: it crashed with signal 11; for a remedy, run: monocle doctor\n" % ICD
        c.check((says in err) == broken, how, err)
        c.check(err.count("\n") == broken, how, err)
    c.check(os.listdir(at()) == ["vendors"], os.listdir(at()))


def hangs(c):
    code, out, err = run(MISLED, "devices", OCL_ICD_VENDORS=vendors(ICD, real=False), TEST_ICD="hang",
                         TEST_LIMIT_MS="400")
    c.check(code == 3 and out.startswith(b"GL\n") and "it took longer than" in err, code, out, err)
    c.check("monocle doctor" in err, err)


def other_commands(c):
    """batch leaves the driver out, names it, and lists the devices of the others; the cpu path asks no driver."""
    photo = os.path.join(SOURCES, "assets/raccoon.jpg")
    batch = [MONOCLE, "batch", "-f", "gray", "-o", at("out"), "--overwrite", photo]
    env = {"OCL_ICD_VENDORS": vendors(ICD), "TEST_ICD": "crash", "TMPDIR": at()}
    for _ in range(2):
        code, out, err = run(*batch, "-p", "opencl", "-d", "no such name", **env)
        c.check(code == 3 and err.count("\n") == 2, code, err)
        c.check("left out the OpenCL driver " + ICD in err and "devices: 0 '" in err, err)
    code, out, err = run(*batch, "-p", "cpu", **env)
    c.check(code == 0 and err == "", code, err)
    c.check(sorted(os.listdir(at())) == ["out", "vendors"], os.listdir(at()))


def crashes_later(c):
    """A driver that crashes when it compiles: the facts known before are listed."""
    for how, why in ("crash", "crashed with signal 11"), ("leave", "ended the process with status 0"):
        code, out, err = run(MISLED, "devices", "--json", TEST_MISBEHAVE=how, TEST_LIMIT_MS="100000",
                             XDG_CACHE_HOME=at())
        device = json.loads(out)[0]
        c.check(code == 0 and device["opens"] and device["vendor_id"], how, code, out, err)
        c.check(not any(r["works"] for r in device["sharing"]), how, device["sharing"])
        c.check(why in device["problem"] and why in device["sharing"][2]["why"], how, device["problem"])


def read(name):
    if not os.path.exists(at(name)):
        return ""
    with open(at(name), encoding="utf-8") as file:
        return file.read()


def start(*args, **env):
    return subprocess.Popen([MISLED, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True,
                            env=environment(TEST_STUCK_MS="300", MONOCLE_DRIVERS=None, **env))


def signals(c):
    """One SIGTERM ends a run whose driver does not return, from a compile or when it is loaded."""
    png(at("a.png"), 16, 16)
    runs = {"live": ["live", "pattern:16x16", "-f", "gray", "-p", "opencl", "--headless"],
            "batch": ["batch", "-f", "gray", "-p", "opencl", "-o", at("out"), at("a.png")],
            "tune": ["tune", "-f", "gray", "-s", "16x16"], "devices": ["devices"]}
    loads = {"TEST_ICD": "hang", "OCL_ICD_VENDORS": vendors(ICD, real=False), "TEST_LIMIT_MS": "100000"}
    for how, env in ("compile", {"TEST_LIMIT_MS": "100000"}), ("load", loads):
        begun = {name: start(*words, TEST_CHILDREN=at(how + name), XDG_CACHE_HOME=at(),
                             TEST_MISBEHAVE="hang" if name == "devices" else "stuck", **env)
                 for name, words in runs.items()}
        for name, process in begun.items():
            inside = "%d\n" % process.pid if how == "compile" and name != "devices" else "\n"  # else its child hangs
            wait_until(lambda: process.poll() is not None or inside in read(how + name))
            process.send_signal(signal.SIGTERM)
        for name, process in begun.items():
            err = process.communicate(timeout=60 * PATIENCE)[1]
            c.check(process.returncode == 143, how, name, process.returncode, err)
            c.check(err == "" or "a driver call does not return" in err, how, name, err)


def signal_leaves_nothing(c):
    """A signal while a driver is asked alone: its temporary files are removed."""
    os.mkdir(at("tmp"))
    process = start("devices", OCL_ICD_VENDORS=vendors(ICD, real=False), TEST_ICD="hang", TEST_LIMIT_MS="500",
                    TEST_CHILDREN=at("children"), XDG_CACHE_HOME=at(), TMPDIR=at("tmp"))
    wait_until(lambda: process.poll() is not None or os.listdir(at("tmp")))  # the first child asks all drivers
    c.check(process.poll() is None and os.listdir(at("tmp"))[0].startswith("monocle-drivers-"), os.listdir(at("tmp")))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60 * PATIENCE)
    c.check((process.returncode, os.listdir(at("tmp"))) == (143, []), process.returncode, os.listdir(at("tmp")))


def talkative(c):
    """A driver that prints text hides no fact."""
    code, out, err = run(MISLED, "devices", "--json", TEST_MISBEHAVE="print")
    device = json.loads(out)[0]
    c.check(code == 0 and device["opens"] and device["sharing"][2]["works"], code, out, err)


def internal(c):
    code, out, err = run(MONOCLE, "inspect")
    c.check(code == 2 and "this command is internal" in err and out == b"", code, out, err)
    code, out, err = run(MONOCLE, "inspect", "1", "opencl", "")
    c.check(code == 1 and out == b"", "a child whose parent is another process", code, out, err)


sys.exit(Checks().run(facts, text, one, crashes, hangs, other_commands, crashes_later, signals,
                      signal_leaves_nothing, talkative, internal))
