#include "stages/sampling/rows/node_chances.h"

#include "common/base/memory.h"
#include "stages/sampling/rows/graph_row.h"

#include <string.h>

static const char what[] = "the chances of nodes to be drawn";

uint64_t node_chances_bytes(const struct chance_rule *rule, const struct topology *topology)
{
    const uint64_t all = topology->node_count, of_one = sizeof(uint32_t) + 2 * sizeof(double);
    uint64_t listed = 0;
    if (!rule->by_relation)
        return 2 * all * sizeof(double);
    for (uint32_t r = 0; r < topology_relations(topology); r++) {
        uint64_t edges = 0;
        for (int p = 0; p < topology->part_count; p++)
            edges += topology_rows(topology, p, r)->edge_count;
        listed += edges < all ? edges : all;
    }
    return listed * of_one + all * (sizeof(double) + sizeof(uint32_t));
}

void node_chances_release(struct node_chances *chances)
{
    memory_free(chances->node);
    memory_free(chances->chance);
    memory_free(chances->end);
    *chances = (struct node_chances){0};
}

void node_chances_free(struct node_chances *chances, uint32_t count)
{
    for (uint32_t i = 0; chances && i < count; i++)
        node_chances_release(&chances[i]);
    memory_free(chances);
}

/* The sums of one table while it is made. */
struct sums {
    const struct chance_rule *rule;
    const struct topology *topology;
    double *chance;          /* [nodes] */
    uint32_t *source_length; /* [nodes] or NULL */
    uint32_t rows_with_edges;
};

static enum error_code add_row(struct sums *s, uint32_t relation, uint32_t node, struct error *err)
{
    const struct chance_rule *rule = s->rule;
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(s->topology, relation, node, &row, err);
    if (rc != ERROR_NONE)
        return rc;
    s->rows_with_edges += row.length > 0;
    if (rule->of_row)
        s->chance[node] += rule->of_row(row.length);
    for (uint32_t k = 0; rc == ERROR_NONE && rule->of_edge && k < row.length; k++) {
        uint32_t source = 0;
        rc = graph_row_neighbor(s->topology, &row, k, &source, err);
        if (rc == ERROR_NONE && (source != node || rule->loops_count))
            s->chance[source] +=
                rule->of_edge(row.length, s->source_length ? s->source_length[source] : 0);
    }
    return rc;
}

/* Adds a row to the source lengths: its own length, and one edge for each source that has no row in
 * the relation. */
static enum error_code count_row(struct sums *s, uint32_t relation, uint32_t node,
                                 struct error *err)
{
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(s->topology, relation, node, &row, err);
    if (rc != ERROR_NONE)
        return rc;
    s->source_length[node] = row.length;
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t source = 0;
        rc = graph_row_neighbor(s->topology, &row, k, &source, err);
        if (rc == ERROR_NONE && !graph_row_is_there(s->topology, relation, source))
            s->source_length[source]++;
    }
    return rc;
}

typedef enum error_code (*row_visit)(struct sums *s, uint32_t relation, uint32_t node,
                                     struct error *err);

/* Visits the rows of relations first .. end - 1, node after node. */
static enum error_code visit_rows(struct sums *s, uint32_t first, uint32_t end, row_visit visit,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < s->topology->node_count; node++)
        for (uint32_t r = first; rc == ERROR_NONE && r < end; r++)
            if (graph_row_is_there(s->topology, r, node))
                rc = visit(s, r, node, err);
    return rc;
}

/* Divides the sums by `whole` to get chances, and adds up the running sums. */
static void share_out(struct node_chances *out, double whole)
{
    double end = 0;
    for (uint32_t i = 0; i < out->node_count; i++) {
        out->chance[i] /= whole;
        end += out->chance[i];
        out->end[i] = end;
    }
}

/* Lists the nodes that have a chance. */
static enum error_code list_nodes(const struct sums *s, struct node_chances *out, struct error *err)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < s->topology->node_count; node++)
        count += s->chance[node] > 0;
    enum error_code rc = memory_new(&out->node, count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->chance, count, what, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < s->topology->node_count; node++)
        if (s->chance[node] > 0) {
            out->node[out->node_count] = node;
            out->chance[out->node_count++] = s->chance[node];
        }
    return rc;
}

/* Makes a table of relations first .. end - 1. */
static enum error_code make_table(struct sums *s, uint32_t first, uint32_t end,
                                  struct node_chances *out, struct error *err)
{
    double sum = 0;
    enum error_code rc = memory_new(&s->chance, s->topology->node_count, what, err);
    if (rc == ERROR_NONE && s->rule->wants_source)
        rc = memory_new(&s->source_length, s->topology->node_count, what, err);
    if (rc == ERROR_NONE && s->rule->wants_source)
        rc = visit_rows(s, first, end, count_row, err);
    if (rc == ERROR_NONE)
        rc = visit_rows(s, first, end, add_row, err);
    if (rc == ERROR_NONE && s->rule->by_relation) {
        rc = list_nodes(s, out, err);
    } else {
        out->node_count = s->topology->node_count;
        out->chance = s->chance;
        s->chance = NULL;
    }
    if (rc == ERROR_NONE)
        rc = memory_new(&out->end, out->node_count, what, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < out->node_count; i++)
        sum += out->chance[i];
    out->rows_with_edges = s->rows_with_edges;
    if (rc == ERROR_NONE && sum > 0)
        share_out(out, s->rule->is_share ? out->rows_with_edges : sum);
    memory_free(s->source_length);
    memory_free(s->chance);
    return rc;
}

/* Makes `count` tables: one, or one for each relation. */
static enum error_code make_tables(const struct chance_rule *rule, const struct topology *topology,
                                   struct node_chances *out, uint32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    bool has_edges = false;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        struct sums sums = {.rule = rule, .topology = topology};
        const uint32_t end = count == 1 ? topology_relations(topology) : i + 1;
        rc = make_table(&sums, i, end, &out[i], err);
        has_edges |= rc == ERROR_NONE && out[i].node_count && out[i].end[out[i].node_count - 1] > 0;
    }
    if (rc == ERROR_NONE && !has_edges)
        rc = error_set(err, ERROR_INPUT,
                       "the graph has no edges between nodes, by which this sample.sampler "
                       "draws: expected another sampler");
    for (uint32_t i = 0; rc != ERROR_NONE && i < count; i++)
        node_chances_release(&out[i]);
    return rc;
}

enum error_code node_chances_init(struct node_chances *out, const struct chance_rule *rule,
                                  const struct topology *topology, struct error *err)
{
    *out = (struct node_chances){0};
    return make_tables(rule, topology, out, 1, err);
}

enum error_code node_chances_new(const struct chance_rule *rule, const struct topology *topology,
                                 struct node_chances **out, struct error *err)
{
    const uint32_t count = node_chances_tables(rule, topology);
    enum error_code rc = memory_new(out, count, what, err);
    if (rc == ERROR_NONE)
        rc = make_tables(rule, topology, *out, count, err);
    if (rc != ERROR_NONE) {
        memory_free(*out);
        *out = NULL;
    }
    return rc;
}

uint32_t node_chances_draw(const struct node_chances *chances, const struct random_stream *stream,
                           uint32_t draw)
{
    uint32_t low = 0, high = chances->node_count - 1;
    const double at = random_unit_double(stream, draw, 0) * chances->end[high];
    while (low < high) { /* finds the first end above `at`, which skips nodes without a chance */
        const uint32_t middle = low + (high - low) / 2;
        if (chances->end[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && !(chances->chance[low] > 0)) /* rounding may raise `at` to the end */
        low--;
    return low;
}

double chance_of_none(double x, uint32_t n)
{
    double base = x < 1 ? 1 - x : 0, power = 1;
    for (; n; n >>= 1) {
        if (n & 1)
            power *= base;
        base *= base;
    }
    return power;
}
