#!/usr/bin/env python3
"""reduce.py DIRECTORY: writes smaller copies of PoCL's files, with which tests build kernels in a third of the time

PoCL reads a library of 9 MB in each process that compiles, and a header of 18,000 lines twice for each program. The
copies lack the functions of half, of 3, 8 and 16 numbers, of vectors of double and long, and some others (RARE). A
kernel that calls one of these does not build. tests/support/contained shows the copies to tests in place of the files.
"""
import ctypes
import glob
import os
import re
import sys
import tempfile

RARE = r"half|convert_\w*(_rt|3|8|16|(double|long)[24])|_explicit|async_|sub_group"
HEADER = re.compile(r".*__ovld.*(" + RARE + r"|(char|short|int|long|float|double)(3|8|16)\b|(long|double)[24]\b).*;$")
FUNCTIONS = re.compile(r"(?!.*printf).*(" + RARE + r"|Dh|Dv(3|8|16)_|Dv[24]_[dlm]|Sleef_\w*[248]_)|llvm\.")
pocl = ctypes.CDLL("libpocl.so.2")  # also provides the C interface of PoCL's LLVM


def llvm(name, *arguments, returns=ctypes.c_void_p):
    function = getattr(pocl, "LLVM" + name)
    function.restype = returns
    return function(*arguments)


def reduce_library(name, reduced):
    """Writes a library without the functions that FUNCTIONS matches and that no other one uses."""
    buffer, module, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    if llvm("CreateMemoryBufferWithContentsOfFile", name.encode(), ctypes.byref(buffer),
            ctypes.byref(ctypes.c_char_p()), returns=int) or \
            llvm("ParseBitcode2", buffer, ctypes.byref(module), returns=int):
        sys.exit("reduce.py: cannot read " + name)
    llvm("StripModuleDebugInfo", module)
    functions, at = set(), llvm("GetFirstFunction", module)
    while at:
        name = llvm("GetValueName2", ctypes.c_void_p(at), ctypes.byref(size), returns=ctypes.c_char_p).decode()
        if FUNCTIONS.match(name):
            functions.add(at)
        at = llvm("GetNextFunction", ctypes.c_void_p(at))
    unused = True
    while unused:
        unused = {function for function in functions if not llvm("GetFirstUse", ctypes.c_void_p(function))}
        functions -= unused
        for function in unused:
            llvm("DeleteFunction", ctypes.c_void_p(function), returns=None)
    llvm("WriteBitcodeToFile", module, reduced.encode())


def main():
    sources = "/usr/share/pocl"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        level = "avx512" if " avx512f " in file.read() else "avx2"
    with tempfile.TemporaryDirectory(dir=os.path.dirname(sys.argv[1])) as directory:
        for name in glob.glob(sources + "/kernel-*-%s.bc" % level):
            reduce_library(name, os.path.join(directory, os.path.basename(name)))
        os.mkdir(directory + "/include")
        with open(sources + "/include/opencl-c.h", encoding="utf-8") as whole, \
                open(directory + "/include/opencl-c.h", "w", encoding="utf-8") as part:
            part.writelines(line for line in whole if not HEADER.match(line))
        if not os.path.exists(sys.argv[1]):
            os.rename(directory, sys.argv[1])


main()
