// settings.h: the numbers of the search for lines that users can change (docs/lane.md)
#pragma once

struct lane_settings {
    double noise;      // brightness differences up to this are noise
    double windows;    // strips of the bird's-eye picture, each with a window per line
    double window;     // metres: width of the last windows; the first ones are twice as wide
    double peak;       // smallest height of a new line's peak in the histogram; 1: an unbroken line
    double gap;        // metres: smallest distance between lines
    double smoothing;  // share of the old offset in the new one
    double confidence; // smallest one of a reported line
};

extern const struct lane_settings lane_settings_default;
