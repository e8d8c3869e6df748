#include "pipelines/export/export_loads.h"

#include "common/base/memory.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/export/export_parts.h"
#include "store/records/partition/node_permutation.h"
#include "store/topology/topology.h"
#include "store/versions/merged_parts.h"

/* One part whose seconds are distributed to its nodes. */
struct sharing {
    struct node_loads *loads;
    const uint32_t *number;  /* [nodes of the part], dataset nodes */
    const uint64_t *in_edge; /* [nodes of the part], in-edges, plus one for the node itself */
    uint32_t count;
};

enum share { BY_DRAWING, BY_READS, BY_IN_EDGES };

static uint64_t amount_of(const struct sharing *part, enum share share, uint32_t node)
{
    const uint32_t number = part->number[node];
    const uint64_t reads = part->loads->reads[number];
    return share == BY_IN_EDGES  ? part->in_edge[node]
           : share == BY_DRAWING ? reads + part->loads->edges[number]
                                 : reads;
}

/* Distributes seconds to the nodes of a part by their reads, or by in-edges if no kept mini-batch
 * read the part. */
static void share_out(const struct sharing *part, enum share share, double seconds)
{
    uint64_t sum = 0;
    for (uint32_t node = 0; node < part->count; node++)
        sum += amount_of(part, share, node);
    if (sum == 0 && share != BY_IN_EDGES) {
        share_out(part, BY_IN_EDGES, seconds);
        return;
    }
    for (uint32_t node = 0; sum > 0 && node < part->count; node++)
        part->loads->nanoseconds[part->number[node]] +=
            (uint64_t)(1e9 * seconds * (double)amount_of(part, share, node) / (double)sum);
}

static void count_in_edges(const struct topology *topology, int part, uint32_t count,
                           uint64_t *in_edge)
{
    for (uint32_t node = 0; node < count; node++)
        in_edge[node] = 1;
    for (uint32_t r = 0; r < topology_relations(topology); r++) {
        const struct topology_part *rows = topology_rows(topology, part, r);
        const uint32_t first = rows->first_node - topology->book[part];
        for (uint32_t row = 0; row < rows->node_count; row++)
            in_edge[first + row] +=
                topology_row_start(rows, row + 1) - topology_row_start(rows, row);
    }
}

static enum error_code share_part(const struct topology *topology,
                                  const struct node_permutation *permutation, int p,
                                  const struct part_time *time, struct node_loads *loads,
                                  struct error *err)
{
    uint64_t *in_edge = NULL;
    const uint32_t first = topology->book[p], count = topology->book[p + 1] - first;
    enum error_code rc = topology_open_part(topology, p, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&in_edge, count, "the edges of a part", err);
    if (rc == ERROR_NONE) {
        const struct sharing part = {loads, permutation->to_dataset + first, in_edge, count};
        count_in_edges(topology, p, count, in_edge);
        share_out(&part, BY_DRAWING, time->sample);
        share_out(&part, BY_READS, time->step);
        share_out(&part, BY_IN_EDGES, time->infer);
    }
    memory_free(in_edge);
    return rc;
}

static enum error_code share_parts(const struct run_folder *folder, const struct part_time *time,
                                   struct node_loads *loads, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    struct node_permutation permutation = {0};
    struct topology topology = {0};
    enum error_code rc =
        merged_permutation_get(folder->store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = topology_open(folder->store, book, &topology, err);
    if (rc == ERROR_NONE)
        rc = node_loads_add_times(loads, err);
    for (int p = 0; rc == ERROR_NONE && p < book->part_count; p++)
        rc = share_part(&topology, &permutation, p, &time[p], loads, err);
    topology_close(&topology);
    store_release_record(&permutation.view);
    return rc;
}

static enum error_code add_times(const struct run_folder *folder, struct node_loads *loads,
                                 struct error *err)
{
    const int parts = folder->run.book.part_count;
    struct part_time *time = NULL;
    enum error_code rc = export_part_times(folder, &time, err);
    if (rc == ERROR_NONE && !part_times_are_known(time, parts))
        rc = error_set(err, ERROR_NOT_FOUND,
                       "no times of the parts of run %s: workers keep them in the folder of the "
                       "run, in times/",
                       folder->run.plan.id);
    if (rc == ERROR_NONE)
        rc = share_parts(folder, time, loads, err);
    memory_free(time);
    return rc;
}

enum error_code export_loads(const struct run_folder *folder, bool with_times, const char *path,
                             struct load_figures *figures, struct error *err)
{
    struct node_loads loads = {0};
    struct export_ids ids = {.of = {.node_count = 0}};
    enum error_code rc = batch_loads_count(folder, &loads, figures, err);
    if (rc == ERROR_NONE && with_times)
        rc = add_times(folder, &loads, err);
    if (rc == ERROR_NONE)
        rc = export_ids_open(folder, &ids, err);
    if (rc == ERROR_NONE)
        rc = node_loads_write(path, &loads, &ids.of, err);
    export_ids_close(&ids);
    node_loads_release(&loads);
    return rc;
}
