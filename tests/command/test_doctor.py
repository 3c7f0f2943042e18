#!/usr/bin/env python3
"""test_doctor.py MONOCLE ICD: the findings of `monocle doctor` on this machine, and on made-up ones (--root)

ICD is a driver without devices that misbehaves when it is loaded (tests/support/icd.c)."""
import json
import os
import shutil
import sys

sys.path.append(sys.path[0] + "/../support")
from checks import Checks, at, programs
from live_support import NO_EGL, has_opencl, run

MONOCLE, ICD = programs(2)
LEVELS = {"ok", "warning", "problem"}
# root may open everything, so it gives up its rights.
PLAIN = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
CHECKS = ["drivers", "devices", "gpus", "render nodes", "display", "gl", "cameras", "pipewire", "virtual camera",
          "cache", "results", "programs", "mattes"]


def machine(**files):
    """Makes a root directory with these files: the names have __ for /. Returns its path."""
    shutil.rmtree(at("root"), ignore_errors=True)
    os.mkdir(at("root"))
    for name, text in files.items():
        write(name.replace("__", "/"), text)
    return at("root")


def write(name, text, mode=0o644):
    path = at("root", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)  # its mode may forbid to write
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def gpu(vendor, place="0000:01:00.0", kind="0x030000"):
    write("sys/bus/pci/devices/%s/vendor" % place, vendor + "\n")
    write("sys/bus/pci/devices/%s/class" % place, kind + "\n")


def doctor(c, *args, program=(), root=True, **env):
    """Returns the findings by check. Every run checks the form of the JSON and the exit status."""
    env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_CACHE_HOME": at(), "XDG_DATA_HOME": at("data"),
           "MONOCLE_DRIVERS": None, **NO_EGL, **env}
    args = [*program, MONOCLE, "doctor", "--json", *(["--root", at("root")] if root else []), *args]
    code, out, err = run(*args, **env)
    findings = json.loads(out)
    for finding in findings:
        c.check(set(finding) == {"check", "level", "text", "fix"} and finding["level"] in LEVELS, finding)
        c.check(finding["check"] in CHECKS and finding["text"] and finding["fix"] != "", finding)
    c.check(code == any(f["level"] == "problem" for f in findings) and err == "", code, err, findings)
    return {name: [(f["level"], f["text"], f["fix"] or "") for f in findings if f["check"] == name] for name in CHECKS}


def expect(c, found, level, text, fix):
    """One finding of the check has this level, and contains the texts."""
    c.check(len(found) == 1 and found[0][0] == level and text in found[0][1] and fix in found[0][2], level, text, fix,
            found)


def empty(c):
    machine()
    found = doctor(c)
    expect(c, found["drivers"], "problem", "no OpenCL driver is installed", "apt install pocl-opencl-icd")
    expect(c, found["gpus"], "ok", "no GPU", "")
    expect(c, found["display"], "warning", "DISPLAY and WAYLAND_DISPLAY are not set", "export DISPLAY=")
    expect(c, found["cameras"], "warning", "there is no camera", "")
    expect(c, found["virtual camera"], "warning", "not installed", "apt install v4l2loopback-dkms")
    expect(c, found["results"], "ok", "no tuning results", "")
    c.check(found["devices"] == found["render nodes"] == [], found)
    c.check(len(found["gl"]) == 1 and "without a window: " in found["gl"][0][1], found["gl"])


def drivers(c):
    rows = [("libnowhere.so.7", "", "problem", "libnowhere.so.7: cannot open shared object file", "dpkg -S"),
            (ICD, "crash", "problem", "crashed with signal 11", "sudo mv"),
            (ICD, "", "warning", "lists no device", ""),
            ("", "", "problem", "names no library", "sudo rm")]
    for library, how, level, text, fix in rows:
        machine(etc__OpenCL__vendors__a=library)  # not read: its name does not end in .icd
        write("etc/OpenCL/vendors/a.icd", library + "\n")
        found = doctor(c, TEST_ICD=how)
        expect(c, found["drivers"], level, text, fix)
        expect(c, found["devices"], "problem", "there is no OpenCL device", "")
        c.check(sorted(os.listdir(at("root"))) == ["etc"], os.listdir(at("root")))


def good_and_bad(c):
    """The devices of good drivers are tested beside broken ones."""
    if not has_opencl(MONOCLE):
        return
    machine()
    write("etc/OpenCL/vendors/a.icd", ICD + "\n")
    for name in os.listdir("/etc/OpenCL/vendors"):
        shutil.copy(os.path.join("/etc/OpenCL/vendors", name), at("root/etc/OpenCL/vendors"))
    found = doctor(c, TEST_ICD="crash")
    c.check([f[0] for f in found["drivers"]][:2] == ["problem", "ok"], found["drivers"])
    c.check(found["devices"] and all(f[0] == "ok" and "opencl" in f[1] for f in found["devices"]), found["devices"])


def chosen(c):
    """OCL_ICD_VENDORS names a directory, a file of the usual directory or another, or a library. Only it is tested."""
    machine()
    other = at("libother.so")
    for name in "libnvidia-opencl.so.1", "libother.so":
        shutil.copy(ICD, at(name))
    write("etc/OpenCL/vendors/nvidia.icd", at("libnvidia-opencl.so.1") + "\n")
    write("etc/OpenCL/vendors/other.icd", other + "\n")
    write("some/one.icd", other + "\n")
    for place in at("root/some"), at("root/some/one.icd"), "other.icd", other:
        expect(c, doctor(c, OCL_ICD_VENDORS=place)["drivers"], "warning", other + " loads, but lists no device", "")
    expect(c, doctor(c, OCL_ICD_VENDORS=at("none"))["drivers"], "problem", "no OpenCL driver is installed", "")
    expect(c, doctor(c, OCL_ICD_VENDORS="nvidia.icd")["drivers"], "ok", "there is no GPU of NVIDIA", "")
    gpu("0x10de")
    expect(c, doctor(c, OCL_ICD_VENDORS="nvidia.icd")["drivers"], "warning", "lists no device", "")


def gpus(c):
    machine()
    gpu("0x10de")
    expect(c, doctor(c)["gpus"], "problem", "kernel module is not loaded", "install nvidia-driver nvidia-opencl-icd")
    write("sys/module/nvidia/version", "580\n")
    expect(c, doctor(c)["gpus"], "problem", "01:00.0 has no OpenCL device: NVIDIA's OpenCL driver is not installed",
           "apt install nvidia-opencl-icd")
    write("etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n")
    expect(c, doctor(c)["gpus"], "problem", "does not match the kernel module", "nvidia-smi")
    machine()
    gpu("0x8086", kind="0x060000")  # a bridge
    expect(c, doctor(c)["gpus"], "ok", "no GPU", "")
    gpu("0x8086", kind="0x038000")
    expect(c, doctor(c)["gpus"], "problem", "its driver is not installed", "apt install intel-opencl-icd")
    for release, package in (("VERSION_ID=\"13\"\nID=debian\n", "mesa-opencl-icd && export RUSTICL_ENABLE=iris"),
                             ("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n", "intel-opencl-icd")):
        write("etc/os-release", release)
        expect(c, doctor(c)["gpus"], "problem", "its driver is not installed", "apt install " + package)
    machine(**{"proc__device-tree__model": "Raspberry Pi 5 Model B Rev 1.0\0"})
    found = doctor(c)
    expect(c, found["gpus"], "problem", "GPU of the Raspberry Pi", "RUSTICL_ENABLE=v3d")
    expect(c, found["cameras"], "warning", "there is no camera", "libcamerify")


def isp(c):
    """The nodes of an image signal processor are no cameras without libcamera."""
    machine()
    write("sys/class/video4linux/video0/name", "Intel IPU6 ISYS Capture 0\n")
    write("dev/video0", "", 0o666)
    expect(c, doctor(c)["cameras"], "warning", "signal processor Intel IPU6 need libcamera", "libcamerify")


def rusticl(c):
    library = at("libRusticlOpenCL.so.1")
    shutil.copy(ICD, library)
    machine()
    gpu("0x1002")
    expect(c, doctor(c)["gpus"], "problem", "AMD GPU", "apt install mesa-opencl-icd && export RUSTICL_ENABLE=radeonsi")
    write("etc/OpenCL/vendors/rusticl.icd", library + "\n")
    found = doctor(c)
    expect(c, found["drivers"], "warning", "RUSTICL_ENABLE is not set", "export RUSTICL_ENABLE=radeonsi")
    expect(c, found["gpus"], "problem", "rusticl is not enabled", "export RUSTICL_ENABLE=radeonsi")
    found = doctor(c, RUSTICL_ENABLE="radeonsi")
    expect(c, found["gpus"], "problem", "rusticl is enabled, but does not find it", "")


def permissions(c):
    machine()
    for mode in 0o000, 0o666:
        write("dev/dri/renderD128", "", mode)
        write("dev/video0", "", mode)
        found = doctor(c, program=PLAIN)
        if mode:
            expect(c, found["render nodes"], "ok", "/dev/dri/renderD128", "")
            c.check(found["cameras"] == [], found["cameras"])
        else:
            expect(c, found["render nodes"], "problem", "no permission to open /dev/dri/renderD128", "usermod -aG ")
            expect(c, found["cameras"], "problem", "no permission to open /dev/video0", "usermod -aG ")
    os.remove(at("root/dev/video0"))
    shutil.rmtree(at("root/dev/dri"))
    write("sys/class/video4linux/video0", "")
    write("sys/class/drm/renderD128", "")
    found = doctor(c)
    expect(c, found["cameras"], "problem", "container", "--device=/dev/video0")
    expect(c, found["render nodes"], "problem", "container", "--device=/dev/dri")


def virtual_camera(c):
    machine()
    write("lib/modules/%s/updates/dkms/v4l2loopback.ko.xz" % os.uname().release, "")
    expect(c, doctor(c)["virtual camera"], "warning", "not loaded", "sudo modprobe v4l2loopback")
    write("sys/module/v4l2loopback/version", "0.12.7\n")
    expect(c, doctor(c)["virtual camera"], "ok", "is loaded", "")


def display(c):
    machine()
    found = doctor(c, WAYLAND_DISPLAY="wayland-9")
    expect(c, found["display"], "warning", "needs XWayland", "apt install xwayland")
    c.check(found["gl"][0][0] == "problem", found["gl"])
    found = doctor(c, DISPLAY=":4711")
    expect(c, found["display"], "ok", ":4711", "")
    expect(c, found["gl"][:1], "problem", "cannot open the display", "xhost")
    c.check("without a window: " in found["gl"][1][1], found["gl"])


def directories(c):
    machine()
    os.mkdir(at("monocle"))
    expect(c, doctor(c)["cache"], "ok", "has 0 files", "")
    os.chmod(at("monocle"), 0o777)
    expect(c, doctor(c)["cache"], "problem", "can be written by other users", "chmod go-w " + at("monocle"))
    os.chmod(at("monocle"), 0o500)
    expect(c, doctor(c, program=PLAIN)["cache"], "problem", "cannot be written", "export XDG_CACHE_HOME=")
    os.makedirs(at("data/monocle"), 0o700)
    found = doctor(c)
    expect(c, found["results"], "ok", "can be written", "")
    expect(c, found["mattes"][:1], "ok", "finds people is not installed; run: monocle matte --install person", "")
    os.mkdir(at("data/monocle/mattes"))
    shutil.copy(MONOCLE, at("data/monocle/mattes/person.tflite"))
    expect(c, doctor(c)["mattes"][:1], "ok", "the network that finds people is installed", "")
    os.chmod(at("data/monocle"), 0o777)
    expect(c, doctor(c)["results"], "problem", "can be written by other users", "chmod go-w " + at("data/monocle"))
    found = doctor(c, PATH="/proc/nowhere")["programs"]
    expect(c, found[:1], "warning", "cc is not installed", "apt install gcc")
    expect(c, found[1:], "warning", "ffmpeg is not installed", "apt install ffmpeg")


def real(c):
    """This machine, whose PoCL and llvmpipe work."""
    found = doctor(c, root=False, DISPLAY=os.environ["DISPLAY"], **{name: None for name in NO_EGL})
    if has_opencl(MONOCLE):
        c.check(any(f[0] == "ok" and "opencl" in f[1] for f in found["devices"]), found["devices"])
        c.check(any(f[0] == "ok" for f in found["drivers"]), found["drivers"])
    c.check(len(found["gl"]) == 4 and all(f[0] == "ok" or "there is a GPU" in f[1] for f in found["gl"]), found["gl"])
    words = "GLX", "EGL", "OpenGL ES", "without a window: OpenGL"
    c.check(all(word in found["gl"][i][1] for i, word in enumerate(words)), found["gl"])
    expect(c, found["display"], "ok", os.environ["DISPLAY"], "")


def text(c):
    machine()
    code, out, err = run(MONOCLE, "doctor", "--root", at("root"), DISPLAY="", WAYLAND_DISPLAY="", XDG_CACHE_HOME=at())
    lines = out.decode().splitlines()
    c.check(code == 1 and err == "", code, err)
    c.check(lines[0] == "problem: drivers: no OpenCL driver is installed; only the cpu path works", lines)
    c.check(lines[1].startswith("    fix: sudo apt install pocl-opencl-icd"), lines)
    c.check(lines[-1].startswith("1 problem, "), lines)
    for place in at("none"), at("root/etc/os-release"):
        write("etc/os-release", "")
        code, out, err = run(MONOCLE, "doctor", "--root", place)
        c.check(code == 2 and out == b"" and err == f"monocle: error: --root: {place} is not a directory\n", code, err)
    code, out, err = run(MONOCLE, "doctor", "now")
    c.check(code == 2 and "unexpected argument" in err, code, err)


sys.exit(Checks().run(empty, drivers, good_and_bad, chosen, gpus, isp, rusticl, permissions, virtual_camera, display,
                      directories, real, text))
