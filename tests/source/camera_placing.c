// camera_placing.c: a camera whose buffers move to other memory
#include "camera_placing.h"

#include "lender.h"

#include <stdio.h>

// Buffers move into lent memory while the stream runs. They stay if the driver cannot write there.
void camera_placing(struct check *check, struct source *source)
{
    enum { ENOUGH = 12, PATIENCE_MS = 20000 }; // each buffer has been used twice
    struct lender lender = lender_of(LENDER_PIECES), sealed = lender_of(LENDER_PIECES);
    sealed.sealed = true;
    const struct {
        struct pages_owner *owner;
        bool lent;
    } turns[] = {{NULL, false}, {&lender.owner, true}, {&sealed.owner, true}, {NULL, false}, {&lender.owner, true}};
    const bool moves = source && source_health(source).userptr;
    struct frame frame;
    for (size_t i = 0; source && i < sizeof(turns) / sizeof(*turns); i++) {
        bool lent = false;
        source_set_owner(source, turns[i].owner);
        for (int n = 0; n < ENOUGH; n++) {
            if (!check_that(check, source_next(source, &frame, PATIENCE_MS) == SOURCE_FRAME, "placed: frame %d", n))
                break;
            lent = lender_holds(&lender, &frame.image);
            check_that(check, !moves || frame.image.reach_bytes >= image_bytes(&frame.image.shape) + IMAGE_SPARE_BYTES,
                       "placed: a device may load whole blocks");
            check_that(check, !lent || frame.image.plane[0][1] != 0, "placed: the driver fills the lent memory");
            source_return(source, &frame);
        }
        check_that(check, lent == (moves && turns[i].lent), "placed: at turn %zu the picture lies wrong", i);
    }
    printf("buffers %s\n", moves ? "move" : "are the driver's");
    check_that(check, sealed.taken <= 1, "placed: refused memory is tried %d times", sealed.taken);
    source_close(source);
    check_that(check, lender_out(&lender) == 0 && lender_out(&sealed) == 0, "placed: all is given back");
}
