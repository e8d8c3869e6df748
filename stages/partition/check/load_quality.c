#include "stages/partition/check/load_quality.h"

#include "common/base/memory.h"
#include "stages/partition/layout/edge_walk.h"
#include "stages/partition/layout/partition_quality.h"
#include "store/records/dataset/edge_chunk.h"

struct sampled {
    const uint32_t *edge_cost, *part; /* [node_count] */
    uint64_t all, cut;
};

static enum error_code add_edges(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct sampled *s = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = chunk->first_node + row, own = s->part[node];
        const uint64_t cost =
            s->edge_cost[node] - LOAD_LEAST; /* an edge that was never sampled costs nothing */
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            s->all += cost;
            s->cut += s->part[chunk->neighbor[e]] != own ? cost : 0;
        }
    }
    return ERROR_NONE;
}

enum error_code load_quality_measure(struct store *store, const struct dataset_schema *schema,
                                     const struct measured_loads *loads, const uint32_t *part,
                                     int part_count, struct load_quality *out, struct error *err)
{
    struct sampled sampled = {.edge_cost = loads->edge_cost, .part = part};
    uint64_t *reads = NULL;
    enum error_code rc = memory_new(&reads, (size_t)part_count, "the reads of parts", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(store, schema, add_edges, &sampled, err);
    if (rc == ERROR_NONE) {
        for (uint32_t node = 0; node < schema->node_count; node++)
            reads[part[node]] += loads->load[node];
        *out = (struct load_quality){
            .cut_share = sampled.all ? (double)sampled.cut / (double)sampled.all : 0.0,
            .reads = partition_quality_balance(reads, 1, part_count)};
        out->efficiency = (double)loads->load_sum / part_count / (double)out->reads.most;
    }
    memory_free(reads);
    return rc;
}
