/*
 * No sampler draws a batch larger than its bounds, and the bounds of small batches are smaller
 * than the graph.
 */
#include "stages/plan/settings/relation_fanouts.h"
#include "stages/train-step/batch_bounds.h"

#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { HOPS = 2 };

static const uint32_t book[] = {0, 11, FIXTURE_NODES};

struct bounded {
    struct sampler_fixture f;
    struct pipeline_settings settings;
    struct partition_book book;
    struct schedule schedule;
    struct stage_context context;
};

static void set(struct bounded *b, const char *name, const char *value)
{
    struct error err = {0};
    assert_ok(pipeline_settings_assign(&b->settings, name, value, "test", &err), &err);
}

/* Sets the same sizes as sampler_fixture_request(). */
static void open_bounded(struct bounded *b, const struct sampler *sampler)
{
    struct error err = {0};
    sampler_fixture_open_parts(&b->f, book, 2);
    pipeline_settings_defaults(&b->settings);
    set(b, "sample.sampler", sampler->name);
    set(b, "sample.fanouts", "4,4");
    set(b, "sample.evaluation_fanouts", "4,4");
    set(b, "sample.evaluation_batch_size", "3");
    set(b, "sample.batch_size", sampler->unit == SAMPLER_OF_DRAWS ? "8" : "3");
    set(b, "sample.walk_length", "2");
    set(b, "sample.depth", "2");
    set(b, "sample.num_neighbors", "2");
    b->book = (struct partition_book){.part_count = 2,
                                      .node_count = FIXTURE_NODES,
                                      .edge_count = b->f.row_start[FIXTURE_NODES],
                                      .book = book};
    assert_ok(schedule_init(&b->schedule, &b->settings, b->f.train_count, 9, 2, &err), &err);
    b->context = (struct stage_context){
        .settings = &b->settings, .book = &b->book, .schedule = &b->schedule};
}

static void check(const struct mini_batch *batch, const struct batch_bounds *bounds)
{
    for (int h = 0; h <= HOPS; h++)
        assert_true(batch->hop_end[h] <= bounds->node[h][0]);
    for (int layer = 0; layer < HOPS; layer++) {
        const struct message_block block = mini_batch_block(batch, layer);
        assert_true((double)message_block_edges(&block) <=
                    batch_bounds_edges_at(bounds, HOPS - layer, 0));
    }
    assert_true(batch->row_count <= bounds->row_count);
    assert_true(batch->edge_count <= bounds->edge_count);
    assert_true(!batch->edge_factor || bounds->has_factors);
}

static struct batch_bounds find(const struct bounded *b, bool trains)
{
    struct batch_bounds bounds;
    struct error err = {0};
    uint64_t edges = 0;
    assert_ok(batch_bounds_edges(&b->context, &edges, &err), &err);
    assert_ok(batch_bounds_find(&b->context, &edges, trains, &bounds, &err), &err);
    assert_int_equal(bounds.hop_count, HOPS);
    return bounds;
}

static void no_batch_is_above_its_bounds(void **state)
{
    (void)state;
    for (enum sampler_kind kind = 0; kind < SAMPLER_COUNT; kind++) {
        const struct sampler *sampler = sampler_of(kind);
        struct bounded b;
        struct error err = {0};
        open_bounded(&b, sampler);
        struct batch_bounds training = find(&b, true), validation = find(&b, false);
        for (uint32_t round = 0; round < 300; round++) {
            struct neighbor_request request = sampler_fixture_request(&b.f, sampler, round);
            const uint32_t part = round % 2;
            struct mini_batch batch;
            request.part = &part;
            assert_ok(sampler->draw(b.f.sampler, &request, &batch, &err), &err);
            check(&batch, &training);
            if (!sampler->has_neighborhoods)
                assert_ok(neighbor_sampler_draw(b.f.sampler, &request, &batch, &err), &err);
            check(&batch, &validation);
        }
        batch_bounds_release(&training);
        batch_bounds_release(&validation);
        sampler_fixture_close(&b.f);
    }
}

static void a_subgraph_is_bounded_by_what_it_is_drawn_from(void **state)
{
    (void)state;
    static const struct {
        enum sampler_kind kind;
        double nodes, edges;
    } below[] = {{SAMPLER_CLUSTER_GCN, 20, 1000},      /* the larger part has 19 nodes */
                 {SAMPLER_SHADOW, 22, 1000},           /* 3 seeds, each of 1 + 2 + 4 nodes */
                 {SAMPLER_GRAPHSAINT_NODE, 1000, 65}}; /* edges of 8 nodes */
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        struct bounded b;
        open_bounded(&b, sampler_of(below[i].kind));
        struct batch_bounds bounds = find(&b, true);
        assert_true(bounds.node[HOPS][0] < below[i].nodes);
        assert_true(bounds.edge_count < below[i].edges);
        batch_bounds_release(&bounds);
        sampler_fixture_close(&b.f);
    }
}

/* Opens a graph of three types and four relations, in one part. */
static void open_relations(struct bounded *b, struct fixture *f, void **state,
                           const struct sampler *sampler)
{
    static struct typed_edges edges;
    const struct partition_book typed = typed_book("p");
    struct error err = {0};
    typed_edges_fill(&edges);
    fixture_open(f, state, "p", &edges, &typed, false);
    pipeline_settings_defaults(&b->settings);
    set(b, "sample.sampler", sampler->name);
    set(b, "sample.fanouts", "2,2");
    set(b, "sample.relation_fanouts", "cites: 1,0; in: 1,-1");
    set(b, "sample.batch_size", "3");
    b->book = f->book;
    assert_ok(schedule_init(&b->schedule, &b->settings, TYPED_PAPERS, 9, 1, &err), &err);
    b->context = (struct stage_context){.store = f->temp->store,
                                        .settings = &b->settings,
                                        .book = &b->book,
                                        .schedule = &b->schedule};
}

static void check_relations(const struct mini_batch *batch, const struct batch_bounds *bounds)
{
    uint32_t destinations[TYPED_RELATIONS], sources[TYPED_RELATIONS];
    struct relation_edges edges[TYPED_RELATIONS];
    struct relation_block block;
    for (int h = 0; h <= HOPS; h++)
        for (uint32_t t = 0; t < batch->type_count; t++)
            assert_true(mini_batch_known(batch, t, h) <= bounds->node[h][t]);
    for (int layer = 0; layer < HOPS; layer++) {
        mini_batch_relation_block(batch, layer, destinations, sources, edges, &block);
        for (uint32_t r = 0; r < batch->relation_count; r++)
            assert_true((double)message_block_edges(&edges[r].block) <=
                        batch_bounds_edges_at(bounds, HOPS - layer, r));
    }
    assert_true(batch->row_count <= bounds->row_count);
    assert_true(batch->edge_count <= bounds->edge_count);
    assert_true(!batch->edge_factor || bounds->has_factors);
}

static void no_batch_of_several_relations_is_above_its_bounds(void **state)
{
    static const enum sampler_kind kinds[] = {SAMPLER_NEIGHBOR, SAMPLER_WEIGHTED_NEIGHBOR,
                                              SAMPLER_NEIGHBOR_WITH_REPLACEMENT, SAMPLER_LADIES};
    static const uint32_t seed_node[] = {70, 75, 101};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        static struct fixture f;
        struct bounded b;
        struct error err = {0};
        int64_t fanout[HOPS * TYPED_RELATIONS];
        uint64_t edges[TYPED_RELATIONS];
        struct batch_bounds bounds;
        open_relations(&b, &f, state, sampler_of(kinds[k]));
        assert_ok(batch_bounds_edges(&b.context, edges, &err), &err);
        assert_ok(batch_bounds_find(&b.context, edges, true, &bounds, &err), &err);
        assert_true(bounds.node_count < TYPED_NODES); /* otherwise the bounds are useless */
        assert_ok(relation_fanouts_of(&b.settings, f.book.relation, TYPED_RELATIONS, fanout, &err),
                  &err);
        for (uint32_t round = 0; round < 300; round++) {
            const struct neighbor_request request = {.seed = 5,
                                                     .round = round,
                                                     .hop_count = HOPS,
                                                     .fanout = fanout,
                                                     .seed_node = seed_node,
                                                     .seed_count = 3};
            struct mini_batch batch;
            assert_ok(sampler_of(kinds[k])->draw(f.sampler, &request, &batch, &err), &err);
            check_relations(&batch, &bounds);
        }
        batch_bounds_release(&bounds);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_batch_is_above_its_bounds),
        test_with_store(no_batch_of_several_relations_is_above_its_bounds),
        cmocka_unit_test(a_subgraph_is_bounded_by_what_it_is_drawn_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
