#include "stages/partition/rules/measured_loads.h"

#include "common/base/memory.h"
#include "stages/plan/model/node_loads.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

static enum error_code read_table(const char *path, struct store *store,
                                  const struct dataset_schema *schema, struct node_loads *table,
                                  struct error *err)
{
    struct node_ids ids;
    bool has_ids = false;
    enum error_code rc = merged_ids_find(store, schema->id, &has_ids, &ids, err);
    if (rc == ERROR_NONE && !has_ids && schema->node_id_form == NODE_ID_CONSECUTIVE)
        ids.node_count = schema->node_count;
    if (rc == ERROR_NONE && ids.node_count != schema->node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "node ids of %s: expected %" PRIu32 " nodes, found %" PRIu32, schema->id,
                       schema->node_count, ids.node_count);
    if (rc == ERROR_NONE)
        rc = node_loads_read(path, schema->node_count, &ids, table, err);
    store_release_record(&ids.view);
    return rc;
}

/* Scales a load down, so that METIS, which adds in 32 bits, can balance the loads. A load above 0
 * stays above 0. */
static uint64_t scaled(uint64_t load, int shift)
{
    return shift ? (load >> shift) + (load > 0) : load;
}

static uint64_t load_of(const struct node_loads *table, uint32_t node, int shift)
{
    return scaled(table->nanoseconds ? table->nanoseconds[node] : table->reads[node], shift);
}

/* Returns whether the scaled loads fit. The sum cannot overflow: it ends as soon as it exceeds 2^31
 * - 1. */
static bool fits(const struct node_loads *table, int shift)
{
    uint64_t sum = 0;
    for (uint32_t node = 0; node < table->node_count && sum <= INT32_MAX; node++)
        sum += load_of(table, node, shift);
    return sum <= INT32_MAX;
}

/* Scales the loads, in the reads of the table. */
static uint64_t scale_loads(struct node_loads *table)
{
    int shift = 0;
    uint64_t sum = 0;
    while (!fits(table, shift) && shift < 63)
        shift++;
    for (uint32_t node = 0; node < table->node_count; node++) {
        table->reads[node] = (uint32_t)load_of(table, node, shift);
        sum += table->reads[node];
    }
    return sum;
}

static uint32_t cost_of(double samples, double mean)
{
    const double cost = LOAD_LEAST + LOAD_ONE * (samples / mean);
    return cost < LOAD_MOST ? (uint32_t)cost : LOAD_MOST;
}

/* Replaces the counts in edges [node_count] by costs. */
static void find_costs(uint32_t *edges, const struct dataset_schema *schema,
                       const uint32_t *in_degree)
{
    const double edge_count = (double)schema->edge_count / (schema->undirected ? 2 : 1);
    double sampled = 0;
    for (uint32_t node = 0; node < schema->node_count; node++)
        sampled += edges[node]; /* the sum of whole numbers is exact */
    const double mean = sampled > 0 ? sampled / edge_count : 1;
    for (uint32_t node = 0; node < schema->node_count; node++)
        edges[node] = cost_of(in_degree[node] ? (double)edges[node] / in_degree[node] : 0, mean);
}

enum error_code measured_loads_read(const char *path, struct store *store,
                                    const struct dataset_schema *schema, const uint32_t *in_degree,
                                    struct measured_loads *out, struct error *err)
{
    struct node_loads table = {0};
    *out = (struct measured_loads){0};
    const enum error_code rc = read_table(path, store, schema, &table, err);
    if (rc == ERROR_NONE) {
        find_costs(table.edges, schema, in_degree);
        out->load_sum = scale_loads(&table);
        out->load = table.reads;
        out->edge_cost = table.edges;
        table.reads = table.edges = NULL; /* ownership moves to the caller */
    }
    node_loads_release(&table);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "partition.loads");
}

void measured_loads_release(struct measured_loads *loads)
{
    memory_free(loads->load);
    memory_free(loads->edge_cost);
    *loads = (struct measured_loads){0};
}
