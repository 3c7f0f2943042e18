"""lens.py: prints the text of `lens` for monocle lane --config, from pictures of a chessboard with 9x6 inner corners

    python3 lens.py board*.jpg >car.json
"""
import sys

import cv2
import numpy

size, views, board = (9, 6), [], numpy.zeros((54, 3), numpy.float32)
board[:, :2] = numpy.mgrid[:9, :6].T.reshape(-1, 2)
for name in sys.argv[1:]:
    grey = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
    found, corners = cv2.findChessboardCorners(grey, size)
    views += [corners] if found else []
_, k, d, _, _ = cv2.calibrateCamera([board] * len(views), views, grey.shape[::-1], None, None,
                                    flags=cv2.CALIB_FIX_K3)
print('{"size": [%d, %d], "lens": "%.1f %.1f %.1f %.1f %.4f %.4f %.5f %.5f"}' %
      (*grey.shape[::-1], k[0, 0], k[1, 1], k[0, 2], k[1, 2], *d[0, :4]))
