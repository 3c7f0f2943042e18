"""x_support.py: windows of an X server: their pixels, places and ends, through Xlib"""
import ctypes
import functools
import struct


class Image(ctypes.Structure):
    """The first members of XImage."""
    _fields_ = [(name, ctypes.c_int) for name in ("width", "height", "xoffset", "format")] + [
        ("data", ctypes.c_void_p)] + [(name, ctypes.c_int) for name in (
            "byte_order", "unit", "bit_order", "pad", "depth", "bytes_per_line", "bits_per_pixel")]


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def ignore_error(display, event):  # the default handler ends the process
    return 0


@functools.lru_cache
def xlib():
    """Returns Xlib and the connection to the server of DISPLAY."""
    library = ctypes.CDLL("libX11.so.6")
    library.XOpenDisplay.restype = library.XInternAtom.restype = library.XDefaultRootWindow.restype = ctypes.c_void_p
    library.XGetImage.restype = ctypes.POINTER(Image)
    library.XSetErrorHandler(ignore_error)
    display = library.XOpenDisplay(None)
    assert display, "the X server does not answer"
    return library, ctypes.c_void_p(display)


def atom(name):
    library, display = xlib()
    return library.XInternAtom(display, name, 0)


def process_of(window):
    """Returns the process of a visible window, or None."""
    library, display = xlib()
    attributes = (ctypes.c_int * 64)()  # XWindowAttributes; its map_state is at byte 92
    kind, count, left, data = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)()
    if not library.XGetWindowAttributes(display, ctypes.c_ulong(window), attributes) or attributes[23] != 2:
        return None
    library.XGetWindowProperty(display, ctypes.c_ulong(window), ctypes.c_ulong(atom(b"_NET_WM_PID")), ctypes.c_long(0),
                               ctypes.c_long(1), 0, ctypes.c_ulong(0), ctypes.byref(kind),
                               ctypes.byref(ctypes.c_int()), ctypes.byref(count), ctypes.byref(left),
                               ctypes.byref(data))
    return data[0] if count.value else None


def windows_of(process):
    """Returns the visible windows of a process. Without a window manager, they are children of the root."""
    library, display = xlib()
    root = ctypes.c_ulong(library.XDefaultRootWindow(display))
    ignored, children, count = ctypes.c_ulong(), ctypes.POINTER(ctypes.c_ulong)(), ctypes.c_uint()
    library.XQueryTree(display, root, ctypes.byref(ignored), ctypes.byref(ignored), ctypes.byref(children),
                       ctypes.byref(count))
    found = [children[i] for i in range(count.value) if process_of(children[i]) == process]
    library.XFree(children)
    return found


def place_of(window):
    """Returns x, y, width and height of the window's content; -1: there is no such window."""
    library, display = xlib()
    root, child, width, height = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint(), ctypes.c_uint()
    x, y, unused = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint()
    if not library.XGetGeometry(display, ctypes.c_ulong(window), ctypes.byref(root), ctypes.byref(x), ctypes.byref(y),
                                ctypes.byref(width), ctypes.byref(height), ctypes.byref(unused), ctypes.byref(unused)):
        return -1, -1, -1, -1
    library.XTranslateCoordinates(display, ctypes.c_ulong(window), root, 0, 0, ctypes.byref(x), ctypes.byref(y),
                                  ctypes.byref(child))
    return x.value, y.value, width.value, height.value


def pixels_of(window):
    """Returns the RGB bytes of the window's content."""
    library, display = xlib()
    width, height = place_of(window)[2:]
    image = library.XGetImage(display, ctypes.c_ulong(window), 0, 0, ctypes.c_uint(max(width, 1)),
                              ctypes.c_uint(max(height, 1)), ctypes.c_ulong(-1), 2)
    assert image, "the window has no pixels"
    shape = image.contents
    assert shape.bits_per_pixel == 32 and shape.bytes_per_line == 4 * width, "the pixels do not have 32 bits"
    data = ctypes.string_at(shape.data, 4 * width * height)
    library.XFree(ctypes.c_void_p(shape.data))
    rgb = bytearray(3 * width * height)
    for channel in range(3):
        rgb[channel::3] = data[2 - channel::4]
    return bytes(rgb)


def screen_saver_seconds():
    """Returns the time after which the X server's screen saver starts; 0: never."""
    library, display = xlib()
    values = [ctypes.c_int() for _ in range(4)]
    library.XGetScreenSaver(display, *map(ctypes.byref, values))
    return values[0].value


def pointer_shown():
    """Returns true if the pointer's image has a visible pixel; None without libXfixes."""
    class Cursor(ctypes.Structure):
        _fields_ = [(name, ctypes.c_short) for name in ("x", "y", "width", "height", "xhot", "yhot")] + [
            ("serial", ctypes.c_ulong), ("pixels", ctypes.POINTER(ctypes.c_ulong))]

    try:
        fixes = ctypes.CDLL("libXfixes.so.3")
    except OSError:
        return None
    fixes.XFixesGetCursorImage.restype = ctypes.POINTER(Cursor)
    image = fixes.XFixesGetCursorImage(xlib()[1]).contents
    return any(image.pixels[i] & 0xffffffff for i in range(image.width * image.height))


def end_window(how, window):
    """Destroys the window ("XDestroyWindow"), closes its program's connection ("XKillClient"), or presses its close
    button ("close")."""
    library, display = xlib()
    if how == "close":  # as a window manager does
        event = struct.pack("@iLiPLLi5l", 33, 0, 1, 0, window, atom(b"WM_PROTOCOLS"), 32, atom(b"WM_DELETE_WINDOW"), 0,
                            0, 0, 0).ljust(192, b"\0")
        library.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), event)
    else:
        getattr(library, how)(display, ctypes.c_ulong(window))
    library.XSync(display, 0)
