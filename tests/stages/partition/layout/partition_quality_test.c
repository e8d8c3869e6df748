#include "common/base/memory.h"
#include "stages/partition/layout/partition_quality.h"

#include "tests/support/random_edges.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>

enum { NODES = 50, EDGES = 300, PARTS = 4 };

static const uint32_t book[PARTS + 1] = {0, 10, 10, 37, 50};

static int part_of(uint32_t node)
{
    int part = 0;
    while (node >= book[part + 1])
        part++;
    return part;
}

static void figures_agree_with_a_count_by_hand(void **state)
{
    (void)state;
    static uint32_t source[EDGES], target[EDGES], neighbor[EDGES];
    static bool halo[PARTS][NODES];
    struct error err = {0};
    struct partition_quality quality;
    uint64_t cut = 0, halo_count = 0;
    random_edges_fill(8, NODES, EDGES, source, target);
    const struct dataset_schema schema = {.node_count = NODES, .feature_dim = 16};
    assert_ok(partition_quality_init(&quality, "p-1", &schema, PARTS, &err), &err);
    for (int p = PARTS - 1; p >= 0; p--) {
        uint64_t row_start[NODES + 1] = {0}, at = 0;
        for (uint32_t v = book[p]; v < book[p + 1]; v++) {
            for (uint32_t e = 0; e < EDGES; e++)
                if (target[e] == v)
                    neighbor[at++] = source[e];
            row_start[v - book[p] + 1] = at;
        }
        const struct topology_arrays rows = {.first_node = book[p],
                                             .node_count = book[p + 1] - book[p],
                                             .edge_count = at,
                                             .row_start = row_start,
                                             .neighbor = neighbor};
        const struct part_measure measure = {p, book[p], book[p + 1] - book[p], (uint64_t)p};
        partition_quality_add(&quality, &measure, &rows);
    }
    for (uint32_t e = 0; e < EDGES; e++) {
        const int owner = part_of(target[e]);
        if (part_of(source[e]) == owner)
            continue;
        cut++;
        halo_count += !halo[owner][source[e]];
        halo[owner][source[e]] = true;
    }
    const struct partition_report *report = partition_quality_finish(&quality);
    assert_string_equal(report->id, "p-1");
    assert_int_equal(report->edge_count, EDGES);
    assert_int_equal(report->cut_edges, cut);
    assert_true(fabs(report->cut_share - (double)cut / EDGES) < 1e-15);
    assert_int_equal(report->halo, halo_count);
    assert_true(fabs(report->replication_factor - (double)(NODES + halo_count) / NODES) < 1e-15);
    assert_int_equal(report->halo_bytes, halo_count * 64);
    assert_int_equal(report->nodes.least, 0);
    assert_int_equal(report->nodes.most, 27);
    assert_true(report->nodes.ratio == 0.0);
    /* nodes 10, 0, 27, 13: mean 12.5, variance (6.25 + 156.25 + 210.25 + 0.25) / 4 */
    assert_true(fabs(report->nodes.variation - sqrt(373.0 / 4) / 12.5) < 1e-12);
    assert_int_equal(report->train.most, 3);
    for (int p = 0; p < PARTS; p++) {
        uint64_t count = 0;
        for (uint32_t v = 0; v < NODES; v++)
            count += halo[p][v];
        assert_int_equal(report->part[p].halo, count);
        assert_int_equal(report->part[p].nodes, book[p + 1] - book[p]);
    }
    partition_quality_release(&quality);
}

/* A vertex cut: replicas, and edges in their parts. Edge e is in part e % 3, so one part has
 * none. */
static void figures_of_a_vertex_cut_agree_with_a_count_by_hand(void **state)
{
    (void)state;
    static uint32_t source[EDGES], target[EDGES], neighbor[EDGES], row_node[NODES];
    static bool replica[PARTS][NODES];
    struct error err = {0};
    struct partition_quality quality;
    uint64_t cut = 0, halo = 0;
    random_edges_fill(8, NODES, EDGES, source, target);
    const struct dataset_schema schema = {.node_count = NODES, .feature_dim = 16};
    assert_ok(partition_quality_init(&quality, "p-1", &schema, PARTS, &err), &err);
    for (int p = 0; p < PARTS; p++) {
        uint64_t row_start[NODES + 1] = {0}, at = 0;
        uint32_t rows = 0;
        for (uint32_t v = 0; v < NODES; v++) {
            const uint64_t before = at;
            for (uint32_t e = 0; e < EDGES; e++)
                if (target[e] == v && e % 3 == (uint32_t)p)
                    neighbor[at++] = source[e];
            if (at == before)
                continue;
            row_node[rows++] = v;
            row_start[rows] = at;
        }
        const struct topology_held held = {.row_count = rows,
                                           .edge_count = at,
                                           .row_node = row_node,
                                           .row_start = row_start,
                                           .neighbor = neighbor};
        const struct part_measure measure = {p, book[p], book[p + 1] - book[p], (uint64_t)p};
        partition_quality_add_held(&quality, &measure, book, &held);
    }
    for (uint32_t e = 0; e < EDGES; e++) {
        cut += part_of(source[e]) != part_of(target[e]);
        replica[e % 3][source[e]] = replica[e % 3][target[e]] = true;
    }
    for (int p = 0; p < PARTS; p++)
        for (uint32_t v = 0; v < NODES; v++)
            halo += replica[p][v] && part_of(v) != p;
    const struct partition_report *report = partition_quality_finish(&quality);
    assert_int_equal(report->edge_count, EDGES);
    assert_int_equal(report->cut_edges, cut);
    assert_int_equal(report->halo, halo);
    assert_int_equal(report->halo_bytes, halo * 64);
    assert_true(fabs(report->replication_factor - (double)(NODES + halo) / NODES) < 1e-15);
    assert_int_equal(report->edges.least, 0);
    assert_int_equal(report->edges.most, 100);
    assert_int_equal(report->part[2].nodes, 27);
    partition_quality_release(&quality);
}

/* --- random graphs with relations, compared with a reference that keeps tables of everything
 * --- */

enum { NODES_MOST = 60, EDGES_MOST = 200, PARTS_MOST = 6, TYPES = 2, RELATIONS = 3, GRAPHS = 200 };

static const uint16_t relation_source[RELATIONS] = {0, 0, 1};

/* Nodes of a part are consecutive over both types here: the figures do not depend on the types of
 * targets. */
struct random_case {
    struct dataset_schema schema;
    int part_count;
    uint32_t book[PARTS_MOST + 1];
    uint32_t edge_count[RELATIONS];
    uint32_t source[RELATIONS][EDGES_MOST], target[RELATIONS][EDGES_MOST];
};

/* Draws a case. Type 0 has the first half of the nodes. Parts and relations may be empty. */
static void draw_case(uint64_t seed, struct random_case *c)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 1, 0, 0);
    uint32_t word[4], draw[4];
    random_block(&stream, 0, 0, word);
    random_block(&stream, 1, 0, draw);
    const uint32_t nodes = 2 + random_below(word[0], NODES_MOST - 1), half = nodes / 2;
    *c = (struct random_case){.part_count = 1 + (int)random_below(word[1], PARTS_MOST)};
    c->schema = (struct dataset_schema){.node_count = nodes, .has_relations = true};
    c->schema.node_type_count = TYPES;
    c->schema.edge_type_count = RELATIONS;
    c->schema.node_type[0] =
        (struct node_type){.name = "paper", .node_count = half, .feature_dim = 3};
    c->schema.node_type[1] = (struct node_type){
        .name = "author", .first_node = half, .node_count = nodes - half, .feature_dim = 5};
    for (int p = 1; p < c->part_count; p++) {
        random_block(&stream, 2, (uint32_t)p, word);
        const uint32_t left = nodes - c->book[p - 1];
        c->book[p] = c->book[p - 1] + random_below(word[0], left + 1) / 2;
    }
    c->book[c->part_count] = nodes;
    for (uint32_t r = 0; r < RELATIONS; r++) {
        const uint32_t first = relation_source[r] ? half : 0;
        const uint32_t count = relation_source[r] ? nodes - half : half;
        c->schema.edge_type[r].source_type = relation_source[r];
        (void)snprintf(c->schema.edge_type[r].name, sizeof c->schema.edge_type[r].name, "r%u", r);
        c->edge_count[r] = random_below(draw[r], EDGES_MOST);
        random_edges_fill(seed * RELATIONS + r, nodes, c->edge_count[r], c->source[r],
                          c->target[r]);
        for (uint32_t e = 0; e < c->edge_count[r]; e++)
            c->source[r][e] = first + c->source[r][e] % count;
    }
}

static int case_part_of(const struct random_case *c, uint32_t node)
{
    int part = 0;
    while (node >= c->book[part + 1])
        part++;
    return part;
}

/* Returns the rows of one part and relation, by looking at every edge for every node. */
static struct topology_arrays rows_of(const struct random_case *c, int part, uint32_t r,
                                      uint64_t *row_start, uint32_t *neighbor)
{
    uint64_t at = 0;
    row_start[0] = 0;
    for (uint32_t v = c->book[part]; v < c->book[part + 1]; v++) {
        for (uint32_t e = 0; e < c->edge_count[r]; e++)
            if (c->target[r][e] == v)
                neighbor[at++] = c->source[r][e];
        row_start[v - c->book[part] + 1] = at;
    }
    return (struct topology_arrays){.first_node = c->book[part],
                                    .node_count = c->book[part + 1] - c->book[part],
                                    .edge_count = at,
                                    .row_start = row_start,
                                    .neighbor = neighbor};
}

static void measure(const struct random_case *c, bool backwards, struct partition_quality *quality)
{
    static uint64_t row_start[RELATIONS][NODES_MOST + 2];
    static uint32_t neighbor[RELATIONS][EDGES_MOST];
    struct error err = {0};
    assert_ok(partition_quality_init(quality, "p-1", &c->schema, c->part_count, &err), &err);
    for (int i = 0; i < c->part_count; i++) {
        const int p = backwards ? c->part_count - 1 - i : i;
        struct topology_arrays rows[RELATIONS];
        for (uint32_t r = 0; r < RELATIONS; r++)
            rows[r] = rows_of(c, p, r, row_start[r], neighbor[r]);
        const struct part_measure of = {p, c->book[p], c->book[p + 1] - c->book[p], (uint64_t)p};
        partition_quality_add(quality, &of, rows);
    }
}

/* Compares the figures with tables: one entry for each part and node, and one for each relation,
 * part and node. */
static void assert_figures_of(const struct random_case *c, const struct partition_report *report)
{
    bool halo[PARTS_MOST][NODES_MOST + 1] = {0};
    uint64_t cut[PARTS_MOST] = {0}, edges[PARTS_MOST] = {0}, all_cut = 0, all_edges = 0;
    uint64_t copies = 0, bytes = 0;
    for (uint32_t r = 0; r < RELATIONS; r++) {
        bool seen[PARTS_MOST][NODES_MOST + 1] = {0};
        uint64_t relation_cut = 0, relation_halo = 0;
        for (uint32_t e = 0; e < c->edge_count[r]; e++) {
            const uint32_t source = c->source[r][e];
            const int owner = case_part_of(c, c->target[r][e]);
            edges[owner]++;
            if (case_part_of(c, source) == owner)
                continue;
            cut[owner]++;
            relation_cut++;
            relation_halo += !seen[owner][source];
            seen[owner][source] = halo[owner][source] = true;
        }
        assert_int_equal(report->relation[r].edges, c->edge_count[r]);
        assert_int_equal(report->relation[r].cut_edges, relation_cut);
        assert_int_equal(report->relation[r].halo, relation_halo);
        all_cut += relation_cut;
        all_edges += c->edge_count[r];
    }
    for (int p = 0; p < c->part_count; p++) {
        uint64_t count = 0;
        for (uint32_t v = 0; v < c->schema.node_count; v++) {
            count += halo[p][v];
            bytes += halo[p][v] ? (v < c->schema.node_count / 2 ? 3 : 5) * sizeof(float) : 0;
        }
        copies += count;
        assert_int_equal(report->part[p].halo, count);
        assert_int_equal(report->part[p].edges, edges[p]);
        assert_int_equal(report->part[p].cut_edges, cut[p]);
    }
    const double nodes = c->schema.node_count;
    assert_int_equal(report->edge_count, all_edges);
    assert_int_equal(report->cut_edges, all_cut);
    assert_int_equal(report->halo, copies);
    assert_int_equal(report->halo_bytes, bytes);
    assert_true(fabs(report->replication_factor - (nodes + (double)copies) / nodes) < 1e-12);
}

static void figures_of_random_graphs_with_relations_agree_with_tables(void **state)
{
    (void)state;
    uint64_t cut = 0, without_edges = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        static struct random_case c;
        struct partition_quality quality;
        draw_case(seed, &c);
        measure(&c, seed % 2 == 1, &quality);
        const struct partition_report *report = partition_quality_finish(&quality);
        assert_figures_of(&c, report);
        cut += report->cut_edges;
        for (uint32_t r = 0; r < RELATIONS; r++)
            without_edges += report->relation[r].edges == 0;
        partition_quality_release(&quality);
    }
    assert_true(cut > 0 && without_edges > 0); /* the drawn graphs cover these cases */
}

/* Edge e of relation r is in this part of a vertex cut. */
static int holder_of(const struct random_case *c, uint32_t r, uint32_t e)
{
    return (int)((e * 7 + r * 3) % (uint32_t)c->part_count);
}

/* Rows of the nodes of `part` and all others, by looking at every edge for every node. */
static struct topology_held held_of(const struct random_case *c, int part, uint32_t r,
                                    uint32_t *row_node, uint64_t *row_start, uint32_t *neighbor)
{
    uint32_t rows = 0;
    uint64_t at = 0;
    row_start[0] = 0;
    for (uint32_t v = 0; v < c->schema.node_count; v++) {
        for (uint32_t e = 0; e < c->edge_count[r]; e++)
            if (c->target[r][e] == v && holder_of(c, r, e) == part)
                neighbor[at++] = c->source[r][e];
        if (at == row_start[rows])
            continue;
        row_node[rows++] = v;
        row_start[rows] = at;
    }
    return (struct topology_held){.row_count = rows,
                                  .edge_count = at,
                                  .row_node = row_node,
                                  .row_start = row_start,
                                  .neighbor = neighbor};
}

static void measure_cut(const struct random_case *c, struct partition_quality *quality)
{
    static uint32_t row_node[RELATIONS][NODES_MOST + 1], neighbor[RELATIONS][EDGES_MOST];
    static uint64_t row_start[RELATIONS][NODES_MOST + 2];
    struct error err = {0};
    assert_ok(partition_quality_init(quality, "p-1", &c->schema, c->part_count, &err), &err);
    for (int p = 0; p < c->part_count; p++) {
        struct topology_held held[RELATIONS];
        for (uint32_t r = 0; r < RELATIONS; r++)
            held[r] = held_of(c, p, r, row_node[r], row_start[r], neighbor[r]);
        const struct part_measure of = {p, c->book[p], c->book[p + 1] - c->book[p], (uint64_t)p};
        partition_quality_add_held(quality, &of, c->book, held);
    }
}

static void assert_figures_of_cut(const struct random_case *c,
                                  const struct partition_report *report)
{
    bool copy[PARTS_MOST][NODES_MOST + 1] = {0};
    uint64_t copies = 0, bytes = 0;
    for (uint32_t r = 0; r < RELATIONS; r++) {
        bool seen[PARTS_MOST][NODES_MOST + 1] = {0};
        uint64_t cut = 0, halo = 0;
        for (uint32_t e = 0; e < c->edge_count[r]; e++) {
            const int p = holder_of(c, r, e);
            const uint32_t end[] = {c->source[r][e], c->target[r][e]};
            cut += case_part_of(c, end[0]) != case_part_of(c, end[1]);
            for (int i = 0; i < 2; i++) {
                if (case_part_of(c, end[i]) == p)
                    continue;
                halo += !seen[p][end[i]];
                seen[p][end[i]] = copy[p][end[i]] = true;
            }
        }
        assert_int_equal(report->relation[r].edges, c->edge_count[r]);
        assert_int_equal(report->relation[r].cut_edges, cut);
        assert_int_equal(report->relation[r].halo, halo);
    }
    for (int p = 0; p < c->part_count; p++)
        for (uint32_t v = 0; v < c->schema.node_count; v++) {
            copies += copy[p][v];
            bytes += copy[p][v] ? (v < c->schema.node_count / 2 ? 3 : 5) * sizeof(float) : 0;
        }
    assert_int_equal(report->halo, copies);
    assert_int_equal(report->halo_bytes, bytes);
}

static void replicas_of_each_relation_of_a_vertex_cut_agree_with_tables(void **state)
{
    (void)state;
    uint64_t copies = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        static struct random_case c;
        struct partition_quality quality;
        draw_case(seed, &c);
        for (uint32_t r = 0; r < RELATIONS; r++) /* all relations end in type 0 */
            for (uint32_t e = 0; e < c.edge_count[r]; e++)
                c.target[r][e] %= c.schema.node_count / 2;
        measure_cut(&c, &quality);
        const struct partition_report *report = partition_quality_finish(&quality);
        assert_figures_of_cut(&c, report);
        copies += report->halo;
        partition_quality_release(&quality);
    }
    assert_true(copies > 0);
}

static void one_part_has_no_cut_and_no_halo(void **state)
{
    (void)state;
    static const uint64_t row_start[] = {0, 2, 2};
    static const uint32_t neighbor[] = {0, 1};
    const struct topology_arrays rows = {
        .node_count = 2, .edge_count = 2, .row_start = row_start, .neighbor = neighbor};
    struct error err = {0};
    struct partition_quality quality;
    const struct dataset_schema schema = {.node_count = 2, .feature_dim = 16};
    const struct part_measure measure = {.node_count = 2, .train_count = 2};
    assert_ok(partition_quality_init(&quality, "p-1", &schema, 1, &err), &err);
    partition_quality_add(&quality, &measure, &rows);
    const struct partition_report *report = partition_quality_finish(&quality);
    assert_int_equal(report->cut_edges, 0);
    assert_int_equal(report->halo, 0);
    assert_true(report->replication_factor == 1.0);
    assert_true(report->nodes.ratio == 1.0 && report->nodes.variation == 0.0);
    partition_quality_release(&quality);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_agree_with_a_count_by_hand),
        cmocka_unit_test(figures_of_a_vertex_cut_agree_with_a_count_by_hand),
        cmocka_unit_test(figures_of_random_graphs_with_relations_agree_with_tables),
        cmocka_unit_test(replicas_of_each_relation_of_a_vertex_cut_agree_with_tables),
        cmocka_unit_test(one_part_has_no_cut_and_no_halo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
