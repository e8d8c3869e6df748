#include "stages/partition/methods/metis_partitioner.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/rules/isolated_call.h"
#include "stages/partition/rules/partitioner.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/node_splits.h"

#include <inttypes.h>
#include <metis.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "built for METIS with 32-bit idx_t, as Debian's");

enum { METIS_TYPE_COUNT_MAX = 16, BYTES_PER_EDGE = 80, BYTES_PER_NODE = 100 };

/* The input of the child: copy-on-write memory of the parent. */
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
                            NULL, graph->edge_cost, &part_count, NULL, NULL, options, &cut, result);
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

/* Returns whether this load can be spread over the parts. */
static bool is_spreadable(const struct metis_request *request, uint64_t total)
{
    return total >= request->part_count && total <= INT32_MAX;
}

/* The loads to balance: constraints of METIS, in this order. */
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
    loads.of_type[0] |= loads.count == 0; /* METIS needs at least one */
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
    if (!metis_partition_holds(node_count, (uint64_t)request->graph->row_start[node_count],
                               (uint64_t)loads.count))
        return error_set(
            err, ERROR_INVALID,
            "%" PRIu32
            " nodes with %d loads each to balance are more than METIS's limit of %d; " ADVICE
            "use partition.method: fennel or hash",
            node_count, (int)loads.count, INT32_MAX);
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

/* Says how much memory METIS needs. The number of parts changes little: the first level of METIS
 * holds the whole graph. */
static enum error_code advise(const struct undirected_graph *graph, struct error *err)
{
    const uint64_t edges = (uint64_t)graph->row_start[graph->node_count];
    char want[32];
    return error_context(err, ERROR_NO_MEMORY,
                         "METIS takes about %s for %" PRIu32 " nodes and %" PRIu64
                         " edges; run where there is as much, or set partition.method: fennel",
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
    if (rc == ERROR_NONE) /* a negative part is a large unsigned number here */
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

bool metis_partition_holds(uint64_t node_count, uint64_t edge_count, uint64_t load_count)
{
    return node_count < INT32_MAX && edge_count <= INT32_MAX &&
           node_count * load_count <= INT32_MAX;
}

/* --- the row --- */

static uint64_t edges_both_ways(const struct dataset_schema *schema)
{
    return schema->edge_count * (schema->undirected ? 1 : 2);
}

/* Returns the most loads that choose_loads() may choose. */
static uint64_t loads_at_most(const struct partition_request *request)
{
    return (uint64_t)dataset_type_count(request->schema) +
           (request->settings->partition.balance_edges ? 1 : 0) +
           (request->settings->partition.balance_train ? 1 : 0);
}

static uint64_t bytes_of(const struct partition_request *request)
{
    const uint64_t nodes = request->schema->node_count, edges = edges_both_ways(request->schema);
    return metis_partition_holds(nodes, edges, loads_at_most(request))
               ? metis_partition_bytes(nodes, edges)
               : UINT64_MAX;
}

static enum error_code check_budget(const struct partition_request *request, struct error *err)
{
    const struct dataset_schema *schema = request->schema;
    const uint64_t both_ways = edges_both_ways(schema);
    const uint64_t wanted = metis_partition_bytes(schema->node_count, both_ways);
    char wanted_text[32], budget_text[32];
    if (wanted <= request->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "METIS takes about %s for %" PRIu32 " nodes and %" PRIu64
                     " edges, of the memory budget %s are left; " ADVICE
                     "give more --memory, or use "
                     "partition.method: fennel, hash or file",
                     text_size(wanted, wanted_text), schema->node_count, both_ways,
                     text_size(request->budget_bytes, budget_text));
}

static enum error_code make_train_load(const struct partition_request *request, uint8_t **load,
                                       struct error *err)
{
    const uint32_t node_count = request->schema->node_count;
    if (!request->settings->partition.balance_train)
        return ERROR_NONE;
    const enum error_code rc = memory_new(load, node_count, "the training load", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        (*load)[i] = request->split_marks[i] == SPLIT_TRAIN + 1;
    return rc;
}

static enum error_code make_types(const struct partition_request *request, uint8_t **type,
                                  struct error *err)
{
    const uint32_t node_count = request->schema->node_count;
    if (dataset_type_count(request->schema) == 1)
        return ERROR_NONE;
    const enum error_code rc = memory_new(type, node_count, "the types of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        (*type)[i] = (uint8_t)dataset_type_of(request->schema, i);
    return rc;
}

static enum error_code assign(const struct partition_request *request, uint32_t *part,
                              struct error *err)
{
    const struct pipeline_settings *settings = request->settings;
    struct undirected_graph graph = {0};
    uint8_t *train_load = NULL, *type = NULL;
    enum error_code rc = check_budget(request, err);
    if (rc == ERROR_NONE)
        rc = undirected_graph_build(request->store, request->schema, &graph, err);
    if (rc == ERROR_NONE && request->loads)
        rc = undirected_graph_set_cost(&graph, request->store, request->schema,
                                       request->loads->edge_cost, err);
    if (rc == ERROR_NONE)
        rc = make_train_load(request, &train_load, err);
    if (rc == ERROR_NONE)
        rc = make_types(request, &type, err);
    if (rc == ERROR_NONE) {
        const uint32_t *load = request->loads ? request->loads->load : request->in_degree;
        const struct metis_request metis = {
            .graph = &graph,
            .part_count = (uint32_t)settings->partition.parts,
            .seed = settings->seed,
            .edge_load = settings->partition.balance_edges ? load : NULL,
            .train_load = train_load,
            .type = type,
        };
        rc = metis_partition(&metis, part, err);
    }
    memory_free(type);
    memory_free(train_load);
    undirected_graph_release(&graph);
    return rc;
}

const struct partitioner metis_partitioner = {.assign = assign, .bytes = bytes_of};
