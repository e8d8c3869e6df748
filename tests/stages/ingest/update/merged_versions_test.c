/*
 * Compares versions of a dataset after several random updates, merged and whole, with what ingest
 * makes of the current graph, which the test keeps in the user's view. All content that is read
 * must be equal to the byte, and no update may write more than it changes.
 */
#include "stages/sampling/sampler_list.h"
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/ingest/update/same_versions.h"
#include "tests/stages/ingest/update/update_faults.h"

#include <math.h>

static void a_merged_version_is_what_ingest_makes_of_the_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        const struct kind kind = kind_of(form);
        compare_versions(&kind, 4, true);
    }
}

static void so_is_one_that_is_written_whole(void **state)
{
    (void)state;
    for (unsigned form = 1; form < 16; form += 4) {
        const struct kind kind = kind_of(form);
        compare_versions(&kind, 2, false);
    }
}

static void types_and_relations_are_those_of_the_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 32; form++) {
        const struct kind kind = typed_kind_of(form);
        compare_versions(&kind, form % 8 == 0 ? 8 : 3, form % 3 != 0);
    }
}

/* This holds as long as no node is removed, because the draw of a pair depends on the node
 * numbers. */
static void links_are_held_out_as_ingest_draws_them(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 8; form++) {
        struct kind kind = kind_of(form);
        kind.links = kind.keeps_nodes = true;
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 3, form % 2 == 0 || form > 4);
    }
}

static void so_are_labelled_edges(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        struct kind kind = kind_of(form);
        kind.links = kind.keeps_nodes = kind.labelled = kind.weighted = true;
        kind.edges = form % 3 ? 1500 : 8000; /* many edges have the same ends */
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 3, form % 5 != 0);
    }
}

static void what_is_tested_is_never_trained_on(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 8; form++) {
        struct kind kind = kind_of(form);
        kind.links = true;
        kind.edges = 6000; /* so that many added edges exist already */
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 4, form % 2 == 0);
    }
}

/* Adds each held-out edge once more, all with the same ends and times. */
static void say_held(struct texts *t, const struct edge_splits *links)
{
    add(t->edges, sizeof t->edges, "src,dst,weight,time\n");
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < links->count[s]; i++)
            add(t->edges, sizeof t->edges, "%u,%u,1,%lld\n", links->source[s][i],
                links->target[s][i], (long long)edge_time_at(links->time[s], i));
}

/* Ingests labelled edges with times, some of them held out, as `before`, and adds the held-out ones
 * once more by an update. */
static void give_held_again(struct temp_store *t, enum edge_policy duplicates,
                            struct dataset_schema *before, struct edge_splits *links,
                            char id[ID_SIZE])
{
    static struct world w;
    static struct texts texts;
    const struct kind kind = {.nodes = 20,
                              .edges = 900,
                              .dim = 1,
                              .ids = NODE_ID_CONSECUTIVE,
                              .weighted = true,
                              .timed = true,
                              .links = true,
                              .labelled = true,
                              .duplicates = duplicates};
    const struct version_place place = {
        .store = t->store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
    bool unchanged = false;
    use_settings(&kind, true);
    settings.sample.sampler =
        duplicates == EDGES_KEEP ? SAMPLER_TEMPORAL_NEIGHBOR : SAMPLER_NEIGHBOR;
    (void)snprintf(settings.ingest.edge_split, sizeof settings.ingest.edge_split, "time 30/35/35");
    world_begin(&w, &kind);
    ingest(t->store, &w, "g-0000");
    world_end(&w);
    assert_ok(dataset_schema_get(t->store, "g-0000", before, &t->err), &t->err);
    assert_ok(merged_edge_splits_get(t->store, "g-0000", before->node_count, links, &t->err),
              &t->err);
    assert_true(links->count[HELD_OUT_VALID] > 100);
    texts = (struct texts){.rows = ""};
    say_held(&texts, links);
    const struct update_request request = request_of(&texts);
    assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
}

/* Other edges with the same ends and other times may go to training. */
static void a_labelled_edge_that_is_held_out_comes_no_more(void **state)
{
    struct temp_store *t = *state;
    static struct dataset_schema before, after;
    struct edge_splits links;
    char id[ID_SIZE];
    give_held_again(t, EDGES_REMOVE, &before, &links, id);
    store_release_record(&links.view);
    assert_true(before.test_count > 100);
    assert_ok(dataset_schema_get(t->store, id, &after, &t->err), &t->err);
    assert_int_equal(after.edge_count, before.edge_count);
    assert_int_equal(after.valid_count, before.valid_count);
    assert_int_equal(after.test_count, before.test_count);
}

/* Events of validation and test are messages of later ones, so a version knows the weights of all:
 * those of the base, and a weight of 1 for the same edges that were added once more. */
static void held_out_events_keep_their_weights(void **state)
{
    struct temp_store *t = *state;
    static struct dataset_schema schema;
    struct edge_splits before, after;
    char id[ID_SIZE];
    give_held_again(t, EDGES_KEEP, &schema, &before, id);
    assert_true(before.has_weights);
    assert_ok(dataset_schema_get(t->store, id, &schema, &t->err), &t->err);
    assert_ok(merged_edge_splits_get(t->store, id, schema.node_count, &after, &t->err), &t->err);
    assert_true(after.has_weights);
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        double expected = (double)before.count[s], found = 0;
        assert_int_equal(after.count[s], 2 * before.count[s]);
        for (uint64_t i = 0; i < before.count[s]; i++)
            expected += (double)before.weight[s][i];
        for (uint64_t i = 0; i < after.count[s]; i++)
            found += (double)after.weight[s][i];
        assert_true(fabs(found - expected) <= 1e-3 * fabs(expected));
        /* the weights differ from 1 */
        if (s == HELD_OUT_VALID)
            assert_true(fabs(expected - 2 * (double)before.count[s]) > 1);
    }
    store_release_record(&before.view);
    store_release_record(&after.view);
    settings.sample.sampler = SAMPLER_NEIGHBOR;
}

/* The same for the links of a relation; added nodes have numbers after all others. */
static void links_of_relations_are_held_out_as_ingest_draws_them(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 32; form++) {
        struct kind kind = typed_pairs_of(form);
        kind.keeps_nodes = true;
        compare_versions(&kind, 3, form % 3 != 0);
    }
}

static void so_are_labelled_edges_of_relations(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 32; form++) {
        struct kind kind = typed_pairs_of(form);
        kind.keeps_nodes = kind.labelled = kind.weighted = true;
        compare_versions(&kind, 3, form % 3 != 1);
    }
}

/* Nodes of all types are removed and added, too. */
static void edges_of_a_list_stay_held_out(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 64; form++) {
        struct kind kind = form % 4 ? typed_pairs_of(form % 32) : kind_of(form % 16);
        kind.links = kind.given = true;
        kind.self_loops = EDGES_REMOVE;
        kind.labelled = form & 32;
        kind.weighted |= kind.labelled;
        compare_versions(&kind, 3, form % 3 != 0);
    }
}

/* A held-out pair is in no training row, neither in the given relation nor in another, nor
 * reversed. */
static void what_is_tested_in_a_relation_is_never_trained_on(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 32; form++) {
        const struct kind kind = typed_pairs_of(form);
        compare_versions(&kind, 5, form % 2 == 0);
    }
}

static void graphs_of_a_set_are_those_of_the_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 24; form++) {
        const struct kind kind = graphs_kind_of(form);
        compare_versions(&kind, form % 4 == 0 ? 9 : 3, form % 3 != 0);
    }
}

/* ---- an update whose n-th store call fails --------------------------------------------------- */

static void fail_each_call(const struct kind *kind, bool is_merged)
{
    static struct faulty_update update;
    static struct texts t;
    static struct world w;
    struct store *store = store_faults_open(&memory_backend, "versions-faults");
    use_settings(kind, is_merged);
    world_begin(&w, kind);
    ingest(store, &w, "g-0000");
    update_world(&w, 1, &t);
    update = (struct faulty_update){
        .place = {.store = store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"},
        .request = request_of(&t)};
    faulty_update_walk(&update);
    world_end(&w);
    store_close(store);
    memory_store_forget("versions-faults");
}

/* Walks updates with reverses, and with features that ingest makes, for tasks of nodes and of
 * links. */
static void whichever_store_call_fails_a_typed_update_ends_alike(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        const struct kind kind = form < 2 ? typed_kind_of(5) : typed_pairs_of(5);
        fail_each_call(&kind, form % 2);
    }
}

static void whichever_store_call_fails_an_update_of_graphs_ends_alike(void **state)
{
    (void)state;
    for (int is_merged = 0; is_merged < 2; is_merged++) {
        const struct kind kind = graphs_kind_of(1);
        fail_each_call(&kind, is_merged);
    }
}

/* A merged version writes no chunk, so it needs no such budget. */
static void a_chunk_that_is_written_whole_fits_the_budget(void **state)
{
    struct temp_store *t = *state;
    static struct world w;
    const struct kind kind = {
        .nodes = 1U << 19, .edges = 400, .dim = 1, .ids = NODE_ID_CONSECUTIVE};
    const struct version_place place = {
        .store = t->store, .settings = &settings, .memory_bytes = 1 << 21, .root = "g-0000"};
    const struct update_request request = {.add_edges = put("edges", "1,2\n")};
    char id[ID_SIZE];
    bool unchanged = false;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = DIRECTION_AS_GIVEN;
    world_begin(&w, &kind);
    ingest(t->store, &w, "g-0000");
    world_end(&w);
    settings.partition.compact = 0.0;
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err),
                 ERROR_NO_MEMORY, "a chunk of edges takes 4.0 MiB: expected a memory budget",
                 &t->err);
    settings.partition.compact = 0.2;
    assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
}

static void chunks_end_where_those_of_the_whole_do(void **state)
{
    (void)state;
    const struct kind wide = {.nodes = 520, .edges = 900, .dim = 18000, .ids = NODE_ID_CONSECUTIVE};
    const struct kind long_one = {.nodes = (1U << 20) + 3,
                                  .edges = 3000,
                                  .dim = 1,
                                  .ids = NODE_ID_CONSECUTIVE,
                                  .undirected = true,
                                  .duplicates = EDGES_REMOVE};
    assert_true(feature_chunk_rows(wide.dim) == 256);
    compare_versions(&wide, 2, true);
    compare_versions(&long_one, 2, true);
    struct kind typed = wide;
    typed.types = 3;
    typed.nodes = 1600; /* papers and authors have three chunks each */
    compare_versions(&typed, 2, true);
    compare_versions(&typed, 1, false);
    typed = long_one;
    typed.types = 3;
    typed.undirected = false;
    typed.adds_reverses = true;
    compare_versions(&typed, 2, true);
}

static int make_dir(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merged_version_is_what_ingest_makes_of_the_whole),
        cmocka_unit_test(so_is_one_that_is_written_whole),
        cmocka_unit_test(types_and_relations_are_those_of_the_whole),
        cmocka_unit_test(whichever_store_call_fails_a_typed_update_ends_alike),
        cmocka_unit_test(links_are_held_out_as_ingest_draws_them),
        cmocka_unit_test(so_are_labelled_edges),
        cmocka_unit_test(what_is_tested_is_never_trained_on),
        test_with_store(a_labelled_edge_that_is_held_out_comes_no_more),
        test_with_store(held_out_events_keep_their_weights),
        cmocka_unit_test(links_of_relations_are_held_out_as_ingest_draws_them),
        cmocka_unit_test(so_are_labelled_edges_of_relations),
        cmocka_unit_test(graphs_of_a_set_are_those_of_the_whole),
        cmocka_unit_test(edges_of_a_list_stay_held_out),
        cmocka_unit_test(what_is_tested_in_a_relation_is_never_trained_on),
        test_with_store(a_chunk_that_is_written_whole_fits_the_budget),
        cmocka_unit_test(chunks_end_where_those_of_the_whole_do),
        cmocka_unit_test(whichever_store_call_fails_an_update_of_graphs_ends_alike),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
