#include "stages/sampling/rows/random_walk.h"

#include "stages/sampling/rows/graph_row.h"

#include <inttypes.h>

/* The draws of one walk, one after the other: as many as are rejected. */
struct walk_draws {
    const struct random_stream *stream;
    uint32_t item, count;
    uint32_t word[4];
};

static uint32_t next_word(struct walk_draws *draws)
{
    if (draws->count % 4 == 0)
        random_block(draws->stream, draws->item, draws->count / 4 % (1U << 24), draws->word);
    return draws->word[draws->count++ % 4];
}

/* Whether a step may go along a relation from a node. */
static bool may_take(const struct random_walk *walk, uint32_t step, uint32_t relation,
                     uint32_t node)
{
    return (!walk->metapath || metapath_has(walk->metapath, step, relation)) &&
           graph_row_is_there(walk->topology, relation, node);
}

/* The edges that a step may take from a node. */
struct choices {
    uint32_t node, step, count;
    struct graph_row row; /* of the last relation that has some */
};

static enum error_code find_choices(const struct random_walk *walk, struct choices *c,
                                    struct error *err)
{
    uint64_t count = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(walk->topology); r++) {
        struct graph_row row = {0};
        if (may_take(walk, c->step, r, c->node))
            rc = graph_row_of_relation(walk->topology, r, c->node, &row, err);
        count += row.length;
        if (row.length)
            c->row = row;
    }
    if (rc == ERROR_NONE && count > UINT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "%" PRIu64 " edges end in node %" PRIu32 ", expected below 2^32", count,
                         c->node);
    c->count = (uint32_t)count;
    return rc;
}

/* Finds the source of edge `number` of them. */
static enum error_code take(const struct random_walk *walk, const struct choices *c,
                            uint32_t number, uint32_t *out, struct error *err)
{
    struct graph_row row = c->row;
    enum error_code rc = ERROR_NONE;
    if (row.length == c->count)
        return graph_row_neighbor(walk->topology, &row, number, out, err);
    for (uint32_t r = 0; rc == ERROR_NONE; r++) {
        if (!may_take(walk, c->step, r, c->node))
            continue;
        rc = graph_row_of_relation(walk->topology, r, c->node, &row, err);
        if (rc == ERROR_NONE && number < row.length)
            return graph_row_neighbor(walk->topology, &row, number, out, err);
        number -= row.length;
    }
    return rc;
}

/* Gives the weight that node2vec has for a step to `node`, after one from `previous`. */
static enum error_code weigh(const struct random_walk *walk, uint32_t previous, uint32_t node,
                             double *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = node == previous ? 1 / walk->p : 1 / walk->q;
    for (uint32_t r = 0;
         rc == ERROR_NONE && node != previous && r < topology_relations(walk->topology); r++) {
        struct graph_row row = {0};
        if (!graph_row_is_there(walk->topology, r, previous))
            continue;
        rc = graph_row_of_relation(walk->topology, r, previous, &row, err);
        if (rc == ERROR_NONE && graph_row_count(&row, node))
            *out = 1;
    }
    return rc;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Takes a step from a node with edges. `previous`: the node before it, NULL in a uniform step. */
static enum error_code step(const struct random_walk *walk, struct walk_draws *draws,
                            const struct choices *c, const uint32_t *previous, uint32_t *out,
                            struct error *err)
{
    const double most = larger(1, larger(1 / walk->p, 1 / walk->q));
    for (;;) {
        double weight = 0;
        enum error_code rc = take(walk, c, random_below(next_word(draws), c->count), out, err);
        if (rc != ERROR_NONE || !previous)
            return rc;
        const double unit = (double)next_word(draws) * 0x1p-32;
        rc = weigh(walk, *previous, *out, &weight, err);
        if (rc != ERROR_NONE || unit * most < weight)
            return rc;
    }
}

enum error_code random_walk_draw(const struct random_walk *walk, uint32_t number, uint32_t start,
                                 uint32_t *out, struct error *err)
{
    const bool is_uniform = !(walk->p < 1 || walk->p > 1 || walk->q < 1 || walk->q > 1);
    struct walk_draws draws = {.stream = walk->stream, .item = number};
    enum error_code rc = ERROR_NONE;
    must(walk->p > 0 && walk->q > 0 && walk->length < 1U << 20);
    out[0] = start;
    for (uint32_t i = 0; rc == ERROR_NONE && i < walk->length; i++) {
        struct choices choices = {.node = out[i], .step = i};
        rc = find_choices(walk, &choices, err);
        out[i + 1] = out[i];
        if (rc == ERROR_NONE && choices.count)
            rc = step(walk, &draws, &choices, i > 0 && !is_uniform ? &out[i - 1] : NULL,
                      &out[i + 1], err);
    }
    return rc;
}
