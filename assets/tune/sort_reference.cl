// sort_reference.cl: sorts keys

// One work-item merges sorted runs of 1, 2, 4, ... keys, from `keys` to `other` and back.
kernel void sort_reference(int count, global uint *keys, global uint *other)
{
    global uint *from = keys, *to = other;
    for (int run = 1; run < count; run *= 2) {
        for (int start = 0; start < count; start += 2 * run) {
            const int middle = min(start + run, count), end = min(start + 2 * run, count);
            int a = start, b = middle;
            for (int i = start; i < end; i++)
                to[i] = a < middle && (b == end || from[a] <= from[b]) ? from[a++] : from[b++];
        }
        global uint *before = from;
        from = to;
        to = before;
    }
    for (int i = 0; from != keys && i < count; i++)
        keys[i] = from[i];
}
