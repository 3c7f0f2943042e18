// byte_stores.cl: stores bytes one by one, for the test of src/compute/device.c
//
// Every third byte stays as it is, so a store of more than one byte shows.
__kernel void store_bytes(__global uchar *to)
{
    const int i = get_global_id(0);
    if (i % 3 != 1)
        to[i] = (uchar)(i * 7 + 3);
}
