#include "stages/plan/settings/type_shares.h"

#include "common/graph/relation_block.h"

#include <stdbool.h>
#include <string.h>

/* Returns the smallest type that has no share yet; `count` if there is none. */
static uint32_t smallest(const uint64_t *portion, const bool *done, uint32_t count)
{
    uint32_t best = count;
    for (uint32_t t = 0; t < count; t++)
        if (portion[t] && !done[t] && (best == count || portion[t] < portion[best]))
            best = t;
    return best;
}

void type_shares(const uint64_t *portion, uint32_t count, uint64_t budget_bytes, uint64_t *share)
{
    bool done[RELATION_TYPE_COUNT_MAX] = {false};
    uint64_t all = 0, held = 0;
    memset(share, 0, count * sizeof *share);
    for (uint32_t t = 0; t < count; t++)
        all += portion[t];
    const uint64_t room = all <= budget_bytes ? budget_bytes : budget_bytes / 2;
    uint32_t type = smallest(portion, done, count);
    for (; type < count; type = smallest(portion, done, count)) {
        const uint64_t left = budget_bytes - held;
        const bool fits = held + portion[type] <= room;
        share[type] = fits ? portion[type] : left < portion[type] ? left : portion[type] - 1;
        held += fits ? portion[type] : 0;
        done[type] = true;
    }
}
