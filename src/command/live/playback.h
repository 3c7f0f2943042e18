// playback.h: pause, seek and step of the source. Main thread.
#pragma once

#include <stdbool.h>

struct session;

// Freezes the view or continues. A source that can seek waits meanwhile; others go on, and their frames are skipped.
void playback_pause(struct session *session, bool paused);

// The next functions return false if the source cannot seek; `why` is then one line.
enum { PLAYBACK_WHY = 400 };
// Continues at this time of the source. A paused view then shows that frame.
bool playback_seek(struct session *session, double seconds, char why[PLAYBACK_WHY]);
// The same by a number of frames, and pauses.
bool playback_step(struct session *session, int frames, char why[PLAYBACK_WHY]);

enum { PLAYBACK_TIME = 64 };
// Writes the position, and the duration if it is known: "0:12.3 of 1:30.0". "": the source cannot seek.
void playback_print(const struct session *session, char text[PLAYBACK_TIME]);
