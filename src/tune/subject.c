// subject.c: frees what the tuner tunes
#include "tune/subject.h"

void subject_close(struct subject *subject)
{
    if (!subject)
        return;
    space_finish(&subject->space);
    subject->type->close(subject);
}
