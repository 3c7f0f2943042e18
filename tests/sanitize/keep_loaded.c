// keep_loaded.c: preloaded for leak checks: libraries stay loaded, so that a leak's library has a name to be known by
int dlclose(void *handle);
int dlclose(void *handle)
{
    return 0;
}
