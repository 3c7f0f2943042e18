// plan.c: a chain cut into fused passes
#include "filter/plan.h"

#include <stdio.h>
#include <string.h>

static struct pass *next_pass(struct plan *plan)
{
    struct pass *pass = &plan->pass[plan->count++];
    *pass = (struct pass){0};
    return pass;
}

static void add_name(struct pass *pass, const char *name)
{
    const size_t used = strlen(pass->name);
    snprintf(pass->name + used, sizeof(pass->name) - used, "%s%s", used ? "+" : "", name);
}

// Point filters don't care where a pixel is, so geometry moves past them: to the pass's load while there is no stencil,
// to its store behind one.
static void add_geometry(struct pass *pass, const struct filter *filter)
{
    if (pass->stencil) {
        pass->store_mirror ^= filter->mirror;
        pass->store_flip ^= filter->flip;
    } else {
        pass->load_mirror ^= filter->mirror;
        pass->load_flip ^= filter->flip;
    }
}

void plan_make(struct plan *plan, const struct chain *chain)
{
    plan->chain = *chain;
    plan->count = 0;
    struct pass *pass = next_pass(plan);
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &plan->chain.stage[i];
        switch (stage->filter->kind) {
        case FILTER_GEOMETRY:
            add_geometry(pass, stage->filter);
            if (!stage->filter->mirror && !stage->filter->flip)
                continue; // `none`
            break;
        case FILTER_POINT:
            if (pass->stencil)
                pass->after[pass->after_count++] = stage;
            else
                pass->before[pass->before_count++] = stage;
            break;
        case FILTER_STENCIL:
            if (pass->stencil)
                pass = next_pass(plan);
            pass->stencil = stage;
            break;
        }
        add_name(pass, stage->filter->name);
    }
    for (int i = 0; i < plan->count; i++) {
        if (!plan->pass[i].name[0])
            add_name(&plan->pass[i], "convert");
    }
}
