#include "stages/partition/rules/part_loads.h"

#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/node_splits.h"

#include <math.h>
#include <string.h>

/* With these bounds the largest part is at most 1.05 times the smallest. */
static const double spread_of_nodes = 0.024, edge_spread = 0.05;

/* Sets the class of each node before renumbering: twice the type, plus one for training nodes. */
static void classify(struct part_loads *loads, const struct partition_request *request,
                     uint32_t nodes[NODE_CLASS_COUNT_MAX])
{
    const bool by_train = request->settings->partition.balance_train;
    for (uint32_t node = 0; node < loads->node_count; node++) {
        const uint32_t type = dataset_type_of(request->schema, node);
        const bool is_train = by_train && request->split_marks[node] == SPLIT_TRAIN + 1;
        loads->class_of[node] = (uint8_t)(2 * type + is_train);
        nodes[loads->class_of[node]]++;
    }
}

static void bound(struct node_class *class, uint32_t part_count)
{
    class->mean = (double)class->nodes / part_count;
    const uint32_t floor_mean = class->nodes / part_count;
    const uint32_t ceiling = floor_mean + (class->nodes % part_count != 0);
    const uint32_t least = (uint32_t)ceil(class->mean * (1 - spread_of_nodes));
    const uint32_t most = (uint32_t)(class->mean * (1 + spread_of_nodes));
    class->least = least < floor_mean ? least : floor_mean;
    class->most = most > ceiling ? most : ceiling;
}

/* Numbers the classes that have nodes from 0 on. The small ones share the last number. */
static void renumber(struct part_loads *loads, const uint32_t nodes[NODE_CLASS_COUNT_MAX])
{
    uint8_t number[NODE_CLASS_COUNT_MAX] = {0};
    uint32_t small = 0;
    for (int c = 0; c < NODE_CLASS_COUNT_MAX; c++)
        if (nodes[c] >= loads->part_count) {
            number[c] = (uint8_t)loads->class_count;
            loads->class[loads->class_count++].nodes = nodes[c];
        } else {
            small += nodes[c];
        }
    for (int c = 0; c < NODE_CLASS_COUNT_MAX; c++)
        if (nodes[c] && nodes[c] < loads->part_count)
            number[c] = (uint8_t)loads->class_count;
    if (small)
        loads->class[loads->class_count++].nodes = small;
    for (uint32_t c = 0; c < loads->class_count; c++)
        bound(&loads->class[c], loads -> part_count);
    for (uint32_t node = 0; node < loads->node_count; node++)
        loads->class_of[node] = number[loads->class_of[node]];
}

enum error_code part_loads_init(struct part_loads *loads, const struct partition_request *request,
                                struct error *err)
{
    const uint32_t node_count = request->schema->node_count;
    const uint32_t part_count = (uint32_t)request->settings->partition.parts;
    uint32_t nodes[NODE_CLASS_COUNT_MAX] = {0};
    *loads = (struct part_loads){.node_count = node_count,
                                 .part_count = part_count,
                                 .edge_load =
                                     request->loads ? request->loads->load : request->in_degree};
    enum error_code rc = memory_new(&loads->class_of, node_count, "the classes of nodes", err);
    if (rc == ERROR_NONE) {
        classify(loads, request, nodes);
        renumber(loads, nodes);
        rc = memory_new(&loads->count, (size_t)loads->class_count * part_count,
                        "the loads of parts", err);
    }
    if (rc == ERROR_NONE && request->settings->partition.balance_edges) {
        rc = memory_new(&loads->edges, part_count, "the loads of parts", err);
        const uint64_t total =
            request->loads ? request->loads->load_sum : request->schema->edge_count;
        loads->edges_most = (uint64_t)((double)total / part_count * (1 + edge_spread));
    }
    if (rc == ERROR_NONE)
        part_loads_reset(loads);
    else
        part_loads_release(loads);
    return rc;
}

void part_loads_release(struct part_loads *loads)
{
    memory_free(loads->class_of);
    memory_free(loads->count);
    memory_free(loads->edges);
    *loads = (struct part_loads){0};
}

void part_loads_reset(struct part_loads *loads)
{
    memset(loads->count, 0, (size_t)loads->class_count * loads->part_count * sizeof *loads->count);
    if (loads->edges)
        memset(loads->edges, 0, loads->part_count * sizeof *loads->edges);
    for (uint32_t c = 0; c < loads->class_count; c++) {
        loads->class[c].left = loads->class[c].nodes;
        loads->class[c].lacking = loads->class[c].least * loads->part_count;
    }
}

void part_loads_take(struct part_loads *loads, uint32_t node, uint32_t part)
{
    struct node_class *class = &loads->class[loads->class_of[node]];
    uint32_t *held = &loads->count[(size_t)loads->class_of[node] * loads->part_count + part];
    class->left--;
    class->lacking -= *held < class->least;
    (*held)++;
    if (loads->edges)
        loads->edges[part] += loads->edge_load[node];
}

void part_loads_give(struct part_loads *loads, uint32_t node, uint32_t part)
{
    struct node_class *class = &loads->class[loads->class_of[node]];
    uint32_t *held = &loads->count[(size_t)loads->class_of[node] * loads->part_count + part];
    (*held)--;
    class->left++;
    class->lacking += *held < class->least;
    if (loads->edges)
        loads->edges[part] -= loads->edge_load[node];
}

/* Spreads nodes over the parts in equal ranges of each class. `stream` draws each node's place in
 * its class; NULL: the order of the dataset. */
static void spread(struct part_loads *loads, const struct random_stream *stream, uint32_t *part)
{
    uint32_t seen[NODE_CLASS_COUNT_MAX] = {0};
    part_loads_reset(loads);
    for (uint32_t node = 0; node < loads->node_count; node++) {
        const uint8_t class = loads->class_of[node];
        const uint64_t nodes = loads->class[class].nodes;
        uint64_t at = seen[class]++;
        if (stream)
            at = random_permute(stream, at, nodes);
        part[node] = (uint32_t)(at * loads->part_count / nodes);
        part_loads_take(loads, node, part[node]);
    }
}

void part_loads_spread(struct part_loads *loads, uint32_t *part)
{
    spread(loads, NULL, part);
}

void part_loads_scatter(struct part_loads *loads, int64_t seed, uint32_t *part)
{
    const struct random_stream stream =
        random_stream_of((uint64_t)seed, RANDOM_STREAM_ORDER, 0, 1, 0);
    spread(loads, &stream, part);
}
