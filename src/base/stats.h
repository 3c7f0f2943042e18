// stats.h: the last values of one measured quantity and their percentiles
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { STATS_WINDOW = 4096 }; // over two minutes at 30 fps in 16 KiB; memory stays flat however long a run is

struct stats {
    float value[STATS_WINDOW]; // ring; the newest is value[(count - 1) % STATS_WINDOW]
    uint64_t count;            // values ever added
};

void stats_add(struct stats *stats, double value);
// The value below which `percent` of the window lies (nearest rank); 0 when there is none.
double stats_percentile(const struct stats *stats, double percent);
// The same over the `newest` values alone.
double stats_late(const struct stats *stats, size_t newest, double percent);
// Value added `age` additions ago, 0 = newest; 0 when there is none that old.
double stats_recent(const struct stats *stats, size_t age);
