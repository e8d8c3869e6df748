#include "stages/partition/methods/metis_partitioner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/methods/isolated_call.h"

#include <inttypes.h>
#include <metis.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "built for METIS with 32-bit idx_t, as Debian's");

enum { METIS_TYPE_COUNT_MAX = 16, BYTES_PER_EDGE = 80, BYTES_PER_NODE = 100 };

/* What the child works on: copy-on-write memory of the parent. */
struct metis_call {
    const struct metis_request *request;
    idx_t load_count;
    idx_t *load; /* [node_count, load_count] */
};

static int call_metis(void *context, void *result)
{
    const struct metis_call *call = context;
    const struct undirected_graph *graph = call->request->graph;
    idx_t node_count = (idx_t)graph->node_count, load_count = call->load_count;
    idx_t part_count = (idx_t)call->request->part_count, cut = 0;
    idx_t options[METIS_NOPTIONS];
    if (METIS_SetDefaultOptions(options) != METIS_OK)
        return METIS_ERROR;
    options[METIS_OPTION_SEED] = (idx_t)(call->request->seed % INT32_MAX);
    options[METIS_OPTION_NUMBERING] = 0;
    const int answer =
        METIS_PartGraphKway(&node_count, &load_count, graph->row_start, graph->neighbor, call->load,
                            NULL, NULL, &part_count, NULL, NULL, options, &cut, result);
    return answer == METIS_OK ? 0 : answer; /* METIS_OK is 1 */
}

static enum error_code metis_failure(int status, struct error *err)
{
    if (status == METIS_ERROR_MEMORY)
        return error_set(err, ERROR_NO_MEMORY, "METIS: it got no memory");
    if (status == METIS_ERROR_INPUT)
        return error_set(err, ERROR_INPUT, "METIS refused the graph");
    return error_set(err, ERROR_INPUT, "METIS failed with status %d", status);
}

/* Can this load be spread over the parts? */
static bool is_spreadable(const struct metis_request *request, uint64_t total)
{
    return total >= request->part_count && total <= INT32_MAX;
}

/* What is to be spread: constraints of METIS, in this order. */
struct loads {
    bool of_type[METIS_TYPE_COUNT_MAX];
    bool of_edges, of_train;
    idx_t count;
};

static struct loads choose_loads(const struct metis_request *request)
{
    const uint32_t node_count = request->graph->node_count;
    uint64_t nodes[METIS_TYPE_COUNT_MAX] = {0}, edges = 0, train = 0;
    struct loads loads = {0};
    for (uint32_t node = 0; node < node_count; node++) {
        nodes[request->type ? request->type[node] : 0]++;
        edges += request->edge_load ? request->edge_load[node] : 0;
        train += request->train_load ? request->train_load[node] : 0;
    }
    for (int t = 0; t < METIS_TYPE_COUNT_MAX; t++) {
        loads.of_type[t] = is_spreadable(request, nodes[t]);
        loads.count += loads.of_type[t];
    }
    loads.of_type[0] |= loads.count == 0; /* METIS wants one */
    loads.of_edges = is_spreadable(request, edges);
    loads.of_train = is_spreadable(request, train);
    loads.count = (loads.count ? loads.count : 1) + loads.of_edges + loads.of_train;
    return loads;
}

static enum error_code make_loads(struct metis_call *call, struct error *err)
{
    const struct metis_request *request = call->request;
    const uint32_t node_count = request->graph->node_count;
    const struct loads loads = choose_loads(request);
    call->load_count = loads.count;
    enum error_code rc = memory_new(&call->load, (size_t)node_count * (size_t)call->load_count,
                                    "the loads for METIS", err);
    if (rc != ERROR_NONE)
        return rc;
    idx_t *load = call->load;
    for (uint32_t node = 0; node < node_count; node++) {
        const int type = request->type ? request->type[node] : 0;
        for (int t = 0; t < METIS_TYPE_COUNT_MAX; t++)
            if (loads.of_type[t])
                *load++ = t == type;
        if (loads.of_edges)
            *load++ = (idx_t)request->edge_load[node];
        if (loads.of_train)
            *load++ = request->train_load[node];
    }
    return ERROR_NONE;
}

/* More parts or fewer change little: the first level of METIS holds the whole graph. */
static enum error_code advise(const struct undirected_graph *graph, struct error *err)
{
    const uint64_t edges = (uint64_t)graph->row_start[graph->node_count];
    char want[32];
    return error_context(err, ERROR_NO_MEMORY,
                         "METIS takes about %s for %" PRIu32 " nodes and %" PRIu64
                         " edges; run where there is as much, or set partition.method: hash",
                         text_size(metis_partition_bytes(graph->node_count, edges), want),
                         graph->node_count, edges);
}

static enum error_code run_metis(const struct metis_request *request, uint32_t *part,
                                 struct error *err)
{
    struct metis_call call = {.request = request};
    int status = 0;
    enum error_code rc = make_loads(&call, err);
    if (rc == ERROR_NONE)
        rc = isolated_call("METIS", call_metis, &call, part,
                           (size_t)request->graph->node_count * sizeof *part, &status, err);
    if (rc == ERROR_NONE && status != 0)
        rc = metis_failure(status, err);
    if (rc == ERROR_NO_MEMORY)
        rc = advise(request->graph, err);
    if (rc == ERROR_NONE) /* a negative part is a huge one here */
        rc = assignment_check(part, request->graph->node_count, request->part_count, err);
    if (rc == ERROR_CORRUPT)
        rc = error_context(err, ERROR_INPUT, "METIS answered nonsense");
    memory_free(call.load);
    return rc;
}

enum error_code metis_partition(const struct metis_request *request, uint32_t *part,
                                struct error *err)
{
    const struct undirected_graph *graph = request->graph;
    const uint32_t node_count = graph->node_count, part_count = request->part_count;
    must(part_count >= 1 && part_count <= node_count);
    enum error_code rc = undirected_graph_check(graph, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "the graph for METIS");
    if (part_count == 1 || part_count == node_count || graph->row_start[node_count] == 0) {
        for (uint32_t node = 0; node < node_count; node++)
            part[node] = (uint32_t)((uint64_t)node * part_count / node_count);
        return ERROR_NONE;
    }
    rc = run_metis(request, part, err);
    return rc == ERROR_NONE ? assignment_fill_empty(part, node_count, part_count, err) : rc;
}

uint64_t metis_partition_bytes(uint64_t node_count, uint64_t edge_count)
{
    return node_count * BYTES_PER_NODE + edge_count * BYTES_PER_EDGE;
}
