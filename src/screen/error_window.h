// error_window.h: an error in a window of its own, for a program that was started from the menu of a desktop. Main
// thread; no other window may be open.
#pragma once

// Shows the text until the user closes the window or presses a key, or a signal arrives. Does nothing if no window can
// be opened.
void error_window_show(const char *text);
