"""reference.py: the scores of lane lines, written from their definitions in docs/lane.md

A frame is a list of rows and a list of lanes; a lane has a number for each row, negative where it has no point.
"""
import itertools
import math


def angle(rows, lane):
    """Returns the angle of the straight line through the points, by least squares."""
    points = [(y, x) for y, x in zip(rows, lane) if x >= 0]
    middle_y, middle_x = (sum(column) / len(points) for column in zip(*points))
    spread = sum((y - middle_y) ** 2 for y, _ in points)
    return math.atan(sum((y - middle_y) * (x - middle_x) for y, x in points) / spread) if spread else 0


def right(rows, truth, found):
    """Returns the share of right points."""
    threshold = 20 / math.cos(angle(rows, truth))
    points = [(t, f) for t, f in zip(truth, found) if t >= 0 or f >= 0]
    return sum(min(t, f) >= 0 and abs(t - f) < threshold for t, f in points) / len(points)


def tusimple(rows, truth, found):
    """Returns accuracy, rate of false positives and rate of false negatives of a frame."""
    truth, found = ([lane for lane in lanes if max(lane) >= 0] for lanes in (truth, found))
    best = [max([right(rows, t, f) for f in found], default=0) for t in truth]
    matched = sum(b >= 0.85 for b in best)
    false_positives = max(0, len(found) - matched) / len(found) if found else 0
    if not truth:
        return float(not found), false_positives, 0.0
    if len(truth) <= 4:
        return sum(best) / len(truth), false_positives, (len(truth) - matched) / len(truth)
    missed = max(0, len(truth) - matched - 1)
    return (sum(best) - min(best)) / 4, false_positives, missed / 4


def distance(x, y, a, b):
    """Returns the distance of a point from the segment a b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    t = min(1, max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / length)) if length else 0
    return math.hypot(x - a[0] - t * dx, y - a[1] - t * dy)


def area(rows, lane, size):
    """Returns the pixels of a line that is 30 pixels wide in a picture of 1640x590 pixels."""
    points = [(x * 1640 / size[0], y * 590 / size[1]) for y, x in zip(rows, lane) if x >= 0]
    pixels = set()
    for a, b in zip(points, points[1:] or points):
        for y in range(max(0, int(min(a[1], b[1])) - 16), min(590, int(max(a[1], b[1])) + 17)):
            for x in range(max(0, int(min(a[0], b[0])) - 16), min(1640, int(max(a[0], b[0])) + 17)):
                if distance(x, y, a, b) <= 15:
                    pixels.add((x, y))
    return pixels


def overlaps(rows, truth, found, size):
    """Returns the share of the common area for each truth line and found line."""
    truth, found = ([area(rows, lane, size) for lane in lanes if max(lane) >= 0] for lanes in (truth, found))
    return [[len(t & f) / len(t | f) if t & f else 0 for f in found] for t in truth]


def matches(shares):
    """Returns the largest number of pairs of a truth line and a found line with a share of at least 0.5."""
    lines = len(shares)
    columns = list(range(len(shares[0]) if shares else 0)) + [None] * lines  # None: no found line
    return max((sum(c is not None and shares[t][c] >= 0.5 for t, c in enumerate(choice))
                for choice in set(itertools.permutations(columns, lines))), default=0)
