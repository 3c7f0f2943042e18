// property_table.h: the settings of the live view
#pragma once

#include "control/properties.h"

extern const struct property live_properties[]; // their context is the session; ends with a row without a name
