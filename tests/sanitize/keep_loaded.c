// keep_loaded.c: preloaded for leak checks: keeps libraries loaded, so that reports name the library of a leak
int dlclose(void *handle);
int dlclose(void *handle)
{
    return 0;
}
