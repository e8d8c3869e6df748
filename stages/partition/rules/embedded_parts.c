#include "stages/partition/rules/embedded_parts.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/numbers/random.h"
#include "stages/partition/rules/greedy_rule.h"
#include "stages/partition/rules/undirected_graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIM_MAX = 32, DIM_LEAST = 4, ROUNDS = 30 };

struct clustering {
    uint32_t node_count, part_count, dim;
    const float *row; /* [node_count, dim] */
    double *centre;   /* [part_count, dim], owned, and so are the next */
    double *sum;      /* [part_count, dim] */
    uint32_t *count;  /* [part_count] */
    double *nearest;  /* [node_count] squared distance to the nearest centre */
};

uint32_t embedded_parts_dim(uint32_t part_count)
{
    const uint32_t dim = part_count < DIM_LEAST / 2 ? DIM_LEAST : 2 * part_count;
    return dim < DIM_MAX ? dim : DIM_MAX;
}

uint64_t embedded_parts_bytes(const struct partition_request *request)
{
    const uint64_t node_count = request->schema->node_count;
    const uint32_t dim = embedded_parts_dim((uint32_t)request->settings->partition.parts);
    return undirected_graph_bytes(request->schema) +
           node_count * (dim * sizeof(float) + sizeof(double));
}

enum error_code embedded_parts_check(const struct partition_request *request, const char *name,
                                     uint64_t bytes, struct error *err)
{
    char wanted[32], budget[32];
    if (bytes <= request->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "partition.method %s takes about %s for %" PRIu32 " nodes and %" PRIu64
                     " edges, of the memory budget %s are left; " ADVICE
                     "give more --memory, or use "
                     "partition.method: fennel",
                     name, text_size(bytes, wanted), request->schema->node_count,
                     request->schema->edge_count, text_size(request->budget_bytes, budget));
}

static void normalise(float *row, uint32_t node_count, uint32_t dim)
{
    for (size_t node = 0; node < node_count; node++) {
        float *of = &row[node * dim];
        double squares = 0.0;
        for (uint32_t c = 0; c < dim; c++)
            squares += (double)of[c] * (double)of[c];
        const float scale = squares > 0.0 ? (float)(1.0 / sqrt(squares)) : 0.0F;
        for (uint32_t c = 0; c < dim; c++)
            of[c] *= scale;
    }
}

static double distance(const struct clustering *k, uint32_t node, uint32_t part)
{
    const float *row = &k->row[(size_t)node * k->dim];
    const double *centre = &k->centre[(size_t)part * k->dim];
    double sum = 0.0;
    for (uint32_t c = 0; c < k->dim; c++)
        sum += ((double)row[c] - centre[c]) * ((double)row[c] - centre[c]);
    return sum;
}

static void put_centre(struct clustering *k, uint32_t part, uint32_t node)
{
    for (uint32_t c = 0; c < k->dim; c++)
        k->centre[(size_t)part * k->dim + c] = (double)k->row[(size_t)node * k->dim + c];
}

/* Draws the centres. Each is a node, drawn with a chance in proportion to its squared distance from
 * the centres before. */
static void draw_centres(struct clustering *k, int64_t seed)
{
    const struct random_stream stream =
        random_stream_of((uint64_t)seed, RANDOM_STREAM_ORDER, 0, 3, 0);
    for (uint32_t node = 0; node < k->node_count; node++)
        k->nearest[node] = 1.0;
    for (uint32_t part = 0; part < k->part_count; part++) {
        double total = 0.0, left = 0.0;
        uint32_t drawn = 0;
        for (uint32_t node = 0; node < k->node_count; node++)
            total += k->nearest[node];
        left = total * random_unit_double(&stream, part, 0);
        while (drawn + 1 < k->node_count && left >= k->nearest[drawn])
            left -= k->nearest[drawn++];
        put_centre(k, part, drawn);
        for (uint32_t node = 0; node < k->node_count; node++) {
            const double d = distance(k, node, part);
            if (part == 0 || d < k->nearest[node])
                k->nearest[node] = d;
        }
    }
}

/* Finds the nearest centre of each node. Returns how many nodes changed. */
static uint32_t find_nearest(struct clustering *k, uint32_t *part)
{
    uint32_t changed = 0;
    for (uint32_t node = 0; node < k->node_count; node++) {
        double best = HUGE_VAL;
        uint32_t nearest = 0;
        for (uint32_t p = 0; p < k->part_count; p++) {
            const double d = distance(k, node, p);
            if (d < best) {
                best = d;
                nearest = p;
            }
        }
        changed += part[node] != nearest;
        part[node] = nearest;
    }
    return changed;
}

/* Moves each centre to the mean of its nodes. A centre without nodes stays where it is. */
static void move_centres(struct clustering *k, const uint32_t *part)
{
    memset(k->sum, 0, (size_t)k->part_count * k->dim * sizeof *k->sum);
    memset(k->count, 0, k->part_count * sizeof *k->count);
    for (uint32_t node = 0; node < k->node_count; node++) {
        k->count[part[node]]++;
        for (uint32_t c = 0; c < k->dim; c++)
            k->sum[(size_t)part[node] * k->dim + c] += (double)k->row[(size_t)node * k->dim + c];
    }
    for (uint32_t p = 0; p < k->part_count; p++)
        for (uint32_t c = 0; k->count[p] && c < k->dim; c++)
            k->centre[(size_t)p * k->dim + c] = k->sum[(size_t)p * k->dim + c] / k->count[p];
}

static enum error_code run(struct clustering *k, int64_t seed, uint32_t *part, struct error *err)
{
    memset(part, 0, k->node_count * sizeof *part);
    draw_centres(k, seed);
    for (int round = 0; round < ROUNDS; round++) {
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        const uint32_t changed = find_nearest(k, part);
        if (round > 0 && changed == 0)
            break;
        move_centres(k, part);
    }
    return ERROR_NONE;
}

static enum error_code cluster(const struct partition_request *request, const float *row,
                               uint32_t dim, uint32_t *part, struct error *err)
{
    struct clustering k = {.node_count = request->schema->node_count,
                           .part_count = (uint32_t)request->settings->partition.parts,
                           .dim = dim,
                           .row = row};
    const size_t size = (size_t)k.part_count * dim;
    enum error_code rc = memory_new(&k.centre, size, "the centres of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&k.sum, size, "the centres of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&k.count, k.part_count, "the centres of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&k.nearest, k.node_count, "distances to centres", err);
    if (rc == ERROR_NONE)
        rc = run(&k, request->settings->seed, part, err);
    memory_free(k.centre);
    memory_free(k.sum);
    memory_free(k.count);
    memory_free(k.nearest);
    return rc;
}

enum error_code embedded_parts(const struct partition_request *request, const char *name,
                               float *row, uint32_t dim, uint32_t *part, struct error *err)
{
    const struct stream_rule rule = greedy_rule(name);
    struct part_loads loads = {0};
    enum error_code rc = part_loads_init(&loads, request, err);
    if (rc == ERROR_NONE) {
        normalise(row, loads.node_count, dim);
        rc = cluster(request, row, dim, part, err);
    }
    if (rc == ERROR_NONE)
        rc =
            node_stream_run(request, &rule, request->settings->partition.passes, &loads, part, err);
    part_loads_release(&loads);
    return rc;
}
