"""lane_support.py: a window of monocle lane, and the colours in it"""
import subprocess

from checks import at
from live_support import need_window, wait_until


class Window:
    """A run in a window, which receives keys."""

    def __init__(self, binary, *args):
        need_window()
        self.process = subprocess.Popen([binary, "lane", *args], cwd=at(), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.name = ""
        wait_until(self.find)

    def find(self):
        self.name = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)],
                                   capture_output=True, text=True).stdout.strip()
        return self.name or self.process.poll() is not None

    def key(self, *names):
        subprocess.run(["xdotool", "key", *names], check=True)

    def drag(self, *places):
        """Presses the button at the first place, and releases it at the last one."""
        x, y = places[0]
        command = ["xdotool", "mousemove", "--window", self.name, str(x), str(y), "mousedown", "1"]
        for x, y in places[1:]:
            command += ["mousemove", "--window", self.name, str(x), str(y)]
        subprocess.run([*command, "mouseup", "1"], check=True)

    def shot(self):
        """Returns the pixels of the window as rows of (red, green, blue)."""
        done = subprocess.run(["import", "-window", self.name, "-depth", "8", "ppm:-"], check=True, capture_output=True)
        head, size, depth, data = done.stdout.split(b"\n", 3)
        width, height = map(int, size.split())
        pixels = list(zip(data[::3], data[1::3], data[2::3]))
        return [pixels[y * width:(y + 1) * width] for y in range(height)]

    def end(self, key="q"):
        self.key(key)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def places(rows, test):
    return [(x, y) for y, row in enumerate(rows) for x, pixel in enumerate(row) if test(*pixel)]


def is_red(red, green, blue):  # a line
    return red > 200 and green < 100 and blue < 80


def is_yellow(red, green, blue):  # a peak, or the point of a window
    return red > 240 and 190 < green < 235 and blue < 40


def is_green(red, green, blue):  # a window that shows its line
    return red < 100 and green > 190 and 60 < blue < 130


def is_blue(red, green, blue):  # the curve of the sums
    return red < 130 and green > 170 and blue > 230
