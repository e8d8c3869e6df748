#include "stages/partition/rules/vertex_cut.h"

#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "common/numbers/ascending.h"
#include "common/numbers/random.h"
#include "stages/partition/layout/edge_walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The bytes a node that partitioner.h allows a method beside its budget. */
enum { NODE_BYTES_ALLOWED = 28 };

/* --- what it takes --- */

static uint32_t parts_of(const struct partition_request *request)
{
    return (uint32_t)request->settings->partition.parts;
}

enum error_code vertex_cut_check(const struct partition_request *request, bool with_rows,
                                 uint64_t own_bytes, struct error *err)
{
    const uint64_t nodes = request->schema->node_count, edges = request->schema->edge_count;
    const uint64_t node_bytes =
        (parts_of(request) + 7) / 8 + sizeof(uint32_t) + (with_rows ? sizeof(uint64_t) : 0);
    const uint64_t edge_bytes = sizeof(uint16_t) + (with_rows ? sizeof(uint32_t) : 0);
    const uint64_t needed =
        edges * edge_bytes + nodes * node_bytes + parts_of(request) * sizeof(uint64_t) + own_bytes;
    const uint64_t allowed = request->budget_bytes + nodes * NODE_BYTES_ALLOWED;
    if (needed <= allowed)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "the vertex cut of %" PRIu64 " edges in %" PRIu32 " parts takes %" PRIu64
                     " bytes, --memory leaves %" PRIu64 "%s",
                     edges, parts_of(request), needed, allowed,
                     with_rows ? "; partition.method dbh takes less" : "");
}

static enum error_code allocate(struct vertex_cut *cut, bool with_rows, struct error *err)
{
    const size_t nodes = cut->node_count, edges = (size_t)cut->edge_count;
    enum error_code rc =
        memory_new(&cut->replica, nodes * cut->set_bytes, "the replicas of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&cut->degree, nodes, "the degrees of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&cut->load, cut->part_count, "the loads of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&cut->edge_part, edges, "the parts of edges", err);
    if (rc == ERROR_NONE && with_rows)
        rc = memory_new(&cut->row_start, nodes + 1, "the rows of nodes", err);
    if (rc == ERROR_NONE && with_rows)
        rc = memory_new(&cut->neighbor, edges, "the ends of edges", err);
    if (rc == ERROR_NONE)
        memset(cut->edge_part, 0xff, edges * sizeof *cut->edge_part);
    return rc;
}

static bool have_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a > 1;
}

/* Chooses first edge and step. The step is the next number, above the golden section of the number
 * of edges, that has no divisor in common with it: so a pass visits each edge once. */
static void choose_order(struct vertex_cut *cut)
{
    const struct random_stream stream =
        random_stream_of((uint64_t)cut->seed, RANDOM_STREAM_ORDER, 1, 0, 0);
    const uint64_t word = (uint64_t)random_word(&stream, 0, 0) << 32 | random_word(&stream, 0, 1);
    if (!cut->edge_count)
        return;
    cut->first_edge = word % cut->edge_count;
    cut->step = (uint64_t)((double)cut->edge_count * 0.6180339887498949) + 1;
    while (have_common_divisor(cut->step, cut->edge_count))
        cut->step++;
}

struct reading {
    struct vertex_cut *cut;
    uint64_t edge; /* the next edge of the pass */
};

static enum error_code read_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    struct reading *reading = context;
    struct vertex_cut *cut = reading->cut;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++) {
        const uint32_t node = chunk->first_node + row;
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++)
            cut->degree[chunk->neighbor[e]]++;
        cut->degree[node] += (uint32_t)(chunk->row_start[row + 1] - chunk->row_start[row]);
        if (cut->row_start)
            cut->row_start[node + 1] = reading->edge + chunk->row_start[row + 1];
    }
    if (cut->neighbor && chunk->edge_count)
        memcpy(&cut->neighbor[reading->edge], chunk->neighbor,
               chunk->edge_count * sizeof *cut->neighbor);
    reading->edge += chunk->edge_count;
    return ERROR_NONE;
}

enum error_code vertex_cut_init(struct vertex_cut *cut, const struct partition_request *request,
                                bool with_rows, uint64_t own_bytes, struct error *err)
{
    const uint32_t parts = parts_of(request);
    *cut = (struct vertex_cut){.node_count = request->schema->node_count,
                               .edge_count = request->schema->edge_count,
                               .part_count = parts,
                               .set_bytes = (parts + 7) / 8,
                               .seed = request->settings->seed};
    struct reading reading = {.cut = cut};
    choose_order(cut);
    enum error_code rc = vertex_cut_check(request, with_rows, own_bytes, err);
    if (rc == ERROR_NONE)
        rc = allocate(cut, with_rows, err);
    return rc == ERROR_NONE ? edge_walk(request->store, request->schema, read_chunk, &reading, err)
                            : rc;
}

void vertex_cut_release_rows(struct vertex_cut *cut)
{
    memory_free(cut->row_start);
    memory_free(cut->neighbor);
    cut->row_start = NULL;
    cut->neighbor = NULL;
}

void vertex_cut_release(struct vertex_cut *cut)
{
    vertex_cut_release_rows(cut);
    memory_free(cut->replica);
    memory_free(cut->degree);
    memory_free(cut->load);
    memory_free(cut->edge_part);
    *cut = (struct vertex_cut){0};
}

/* --- passes --- */

uint64_t vertex_cut_next(const struct vertex_cut *cut, uint64_t edge)
{
    const uint64_t left = cut->edge_count - edge, step = cut->step % cut->edge_count;
    return step >= left ? step - left : edge + step;
}

uint32_t vertex_cut_target(const struct vertex_cut *cut, uint64_t edge)
{
    uint32_t low = 0, high = cut->node_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (cut->row_start[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void count_edge(struct vertex_cut *cut, uint64_t edge, uint32_t source, uint32_t target,
                       uint32_t part)
{
    cut->edge_part[edge] = (uint16_t)part;
    cut->load[part]++;
    cut->replica[(size_t)source * cut->set_bytes + part / 8] |= (uint8_t)(1U << (part % 8));
    cut->replica[(size_t)target * cut->set_bytes + part / 8] |= (uint8_t)(1U << (part % 8));
}

/* Puts all edges from one node to the other into a part. */
static void put_edges(struct vertex_cut *cut, uint32_t from, uint32_t to, uint32_t part)
{
    const uint64_t first = cut->row_start[to], end = cut->row_start[to + 1];
    for (uint64_t e = first + ascending_below(&cut->neighbor[first], end - first, from);
         e < end && cut->neighbor[e] == from; e++)
        count_edge(cut, e, from, to, part);
}

void vertex_cut_place(struct vertex_cut *cut, edge_rule rule, void *context)
{
    uint64_t edge = cut->first_edge;
    for (uint64_t i = 0; i < cut->edge_count; i++, edge = vertex_cut_next(cut, edge)) {
        if (cut->edge_part[edge] != IN_NO_CUT)
            continue;
        const uint32_t source = cut->neighbor[edge], target = vertex_cut_target(cut, edge);
        const uint32_t part = rule(context, source, target);
        if (part == IN_NO_CUT)
            continue;
        put_edges(cut, source, target, part);
        if (source != target)
            put_edges(cut, target, source, part);
    }
}

struct streaming {
    struct vertex_cut *cut;
    edge_rule rule;
    void *context;
    uint64_t edge; /* the next edge of the pass */
};

static enum error_code stream_chunk(void *context, const struct edge_chunk *chunk,
                                    struct error *err)
{
    struct streaming *s = context;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const uint32_t source = chunk->neighbor[e], target = chunk->first_node + row;
            count_edge(s->cut, s->edge++, source, target, s->rule(s->context, source, target));
        }
    return ERROR_NONE;
}

enum error_code vertex_cut_stream(struct vertex_cut *cut, const struct partition_request *request,
                                  edge_rule rule, void *context, struct error *err)
{
    struct streaming streaming = {.cut = cut, .rule = rule, .context = context};
    return edge_walk(request->store, request->schema, stream_chunk, &streaming, err);
}

/* --- for rules --- */

uint32_t vertex_cut_hash(const struct vertex_cut *cut, uint32_t node)
{
    const uint64_t named[2] = {(uint64_t)cut->seed, node};
    return random_below((uint32_t)(checksum_64(named, sizeof named) >> 32), cut->part_count);
}

uint32_t vertex_cut_least(const struct vertex_cut *cut)
{
    uint32_t least = 0;
    for (uint32_t p = 1; p < cut->part_count; p++)
        if (cut->load[p] < cut->load[least])
            least = p;
    return least;
}

uint64_t vertex_cut_most(const struct vertex_cut *cut)
{
    return (uint64_t)ceil(1.05 * (double)cut->edge_count / cut->part_count);
}
