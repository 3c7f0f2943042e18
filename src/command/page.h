// page.h: pages of HTML with results
#pragma once

#include <stdbool.h>

struct claim;  // of base/file.h
struct json_t; // of jansson

// Writes a page from an embedded template, "assets/report.html", and the results that it shows. False on failure
// (logged).
bool page_write(struct claim *claim, const char *template, const struct json_t *results);
