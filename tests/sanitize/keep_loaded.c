// keep_loaded.c: preloaded for leak checks: keeps libraries loaded, so that a leak's report names its library
int dlclose(void *handle);
int dlclose(void *handle)
{
    return 0;
}
