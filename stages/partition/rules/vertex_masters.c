/* Finds the masters of a vertex cut; vertex_cut.h says how. */
#include "common/base/memory.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/rules/part_loads.h"
#include "stages/partition/rules/vertex_cut.h"

#include <string.h>

struct mastering {
    const struct vertex_cut *cut;
    struct part_loads loads;
    uint32_t *ends; /* [part_count]: edges that end at the present node */
    uint32_t *part;
    uint64_t edge;
};

static bool is_better(const struct mastering *m, uint32_t node, uint32_t p, uint32_t best)
{
    if (m->ends[p] != m->ends[best])
        return m->ends[p] > m->ends[best];
    const bool has = vertex_cut_has(m->cut, node, p), best_has = vertex_cut_has(m->cut, node, best);
    if (has != best_has)
        return has;
    return part_loads_of(&m->loads, node, p) < part_loads_of(&m->loads, node, best);
}

static uint32_t master_of(const struct mastering *m, uint32_t node)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t p = 0; p < m->cut->part_count; p++)
        if (part_loads_may_take(&m->loads, node, p) &&
            (best == UINT32_MAX || is_better(m, node, p, best)))
            best = p;
    must(best != UINT32_MAX); /* part_loads.h: some part may always take it */
    return best;
}

static enum error_code master_chunk(void *context, const struct edge_chunk *chunk,
                                    struct error *err)
{
    struct mastering *m = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = chunk->first_node + row;
        const uint64_t length = chunk->row_start[row + 1] - chunk->row_start[row];
        memset(m->ends, 0, m->cut->part_count * sizeof *m->ends);
        for (uint64_t e = 0; e < length; e++)
            m->ends[m->cut->edge_part[m->edge++]]++;
        m->part[node] = master_of(m, node);
        part_loads_take(&m->loads, node, m->part[node]);
    }
    return ERROR_NONE;
}

enum error_code vertex_cut_masters(const struct vertex_cut *cut,
                                   const struct partition_request *request, uint32_t *part,
                                   struct error *err)
{
    struct mastering m = {.cut = cut};
    m.part = part;
    enum error_code rc = part_loads_init(&m.loads, request, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&m.ends, cut->part_count, "the edges of a node by part", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(request->store, request->schema, master_chunk, &m, err);
    memory_free(m.ends);
    part_loads_release(&m.loads);
    return rc;
}
