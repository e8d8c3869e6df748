#include "stages/sampling/random_walk.h"

#include "stages/sampling/graph_row.h"

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

static double weight_of(const struct random_walk *walk, const struct graph_row *before,
                        uint32_t previous, uint32_t node)
{
    if (node == previous)
        return 1 / walk->p;
    return graph_row_count(before, node) ? 1 : 1 / walk->q;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* From a node with edges. `before`: the row of the node before it, NULL in a uniform step. */
static enum error_code step(const struct random_walk *walk, struct walk_draws *draws,
                            const struct graph_row *row, const struct graph_row *before,
                            uint32_t previous, uint32_t *out, struct error *err)
{
    const double most = larger(1, larger(1 / walk->p, 1 / walk->q));
    for (;;) {
        const enum error_code rc = graph_row_neighbor(
            walk->topology, row, random_below(next_word(draws), row->length), out, err);
        if (rc != ERROR_NONE || !before)
            return rc;
        const double unit = (double)next_word(draws) * 0x1p-32;
        if (unit * most < weight_of(walk, before, previous, *out))
            return ERROR_NONE;
    }
}

enum error_code random_walk_draw(const struct random_walk *walk, uint32_t number, uint32_t start,
                                 uint32_t *out, struct error *err)
{
    const bool is_uniform = !(walk->p < 1 || walk->p > 1 || walk->q < 1 || walk->q > 1);
    struct walk_draws draws = {.stream = walk->stream, .item = number};
    struct graph_row row, before = {0};
    enum error_code rc = ERROR_NONE;
    must(walk->p > 0 && walk->q > 0 && walk->length < 1U << 20);
    out[0] = start;
    for (uint32_t i = 0; rc == ERROR_NONE && i < walk->length; i++) {
        rc = graph_row_of(walk->topology, out[i], &row, err);
        out[i + 1] = out[i];
        if (rc == ERROR_NONE && row.length)
            rc = step(walk, &draws, &row, i > 0 && !is_uniform ? &before : NULL,
                      i > 0 ? out[i - 1] : 0, &out[i + 1], err);
        before = row;
    }
    return rc;
}
