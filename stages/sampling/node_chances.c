#include "stages/sampling/node_chances.h"

#include "common/base/memory.h"
#include "stages/sampling/graph_row.h"

uint64_t node_chances_bytes(uint32_t node_count)
{
    return 2 * (uint64_t)node_count * sizeof(double);
}

void node_chances_release(struct node_chances *chances)
{
    memory_free(chances->chance);
    memory_free(chances->end);
    *chances = (struct node_chances){0};
}

static enum error_code add_row(struct node_chances *out, const struct chance_rule *rule,
                               const struct topology *topology, uint32_t node, struct error *err)
{
    struct graph_row row, source;
    enum error_code rc = graph_row_of(topology, node, &row, err);
    if (rc != ERROR_NONE)
        return rc;
    out->nodes_with_edges += row.length > 0;
    if (rule->of_node)
        out->chance[node] += rule->of_node(row.length);
    for (uint32_t k = 0; rc == ERROR_NONE && rule->of_edge && k < row.length; k++) {
        uint32_t neighbor = 0;
        rc = graph_row_neighbor(topology, &row, k, &neighbor, err);
        if (rc != ERROR_NONE || (neighbor == node && !rule->loops_count))
            continue;
        source.length = 0;
        if (rule->wants_source)
            rc = graph_row_of(topology, neighbor, &source, err);
        out->chance[neighbor] += rule->of_edge(row.length, source.length);
    }
    return rc;
}

/* Sums become chances. */
static enum error_code share_out(struct node_chances *out, const struct chance_rule *rule,
                                 struct error *err)
{
    double sum = 0, end = 0;
    for (uint32_t node = 0; node < out->node_count; node++)
        sum += out->chance[node];
    if (!(sum > 0))
        return error_set(err, ERROR_INPUT,
                         "the graph has no edges between nodes, by which this sample.sampler "
                         "draws: expected another sampler");
    const double whole = rule->is_share ? out->nodes_with_edges : sum;
    for (uint32_t node = 0; node < out->node_count; node++) {
        out->chance[node] /= whole;
        end += out->chance[node];
        out->end[node] = end;
    }
    return ERROR_NONE;
}

enum error_code node_chances_init(struct node_chances *out, const struct chance_rule *rule,
                                  const struct topology *topology, struct error *err)
{
    *out = (struct node_chances){.node_count = topology->node_count};
    enum error_code rc =
        memory_new(&out->chance, out->node_count, "the chances of nodes to be drawn", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->end, out->node_count, "the chances of nodes to be drawn", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < out->node_count; node++)
        rc = add_row(out, rule, topology, node, err);
    if (rc == ERROR_NONE)
        rc = share_out(out, rule, err);
    if (rc != ERROR_NONE)
        node_chances_release(out);
    return rc;
}

uint32_t node_chances_draw(const struct node_chances *chances, const struct random_stream *stream,
                           uint32_t draw)
{
    uint32_t low = 0, high = chances->node_count - 1;
    const double at = random_unit_double(stream, draw, 0) * chances->end[high];
    while (low <
           high) { /* the first whose end is above; one without a chance ends where it begins */
        const uint32_t middle = low + (high - low) / 2;
        if (chances->end[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && !(chances->chance[low] > 0)) /* `at` was rounded up to the very end */
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
