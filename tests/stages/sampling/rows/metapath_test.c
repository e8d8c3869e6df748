/* Walks over several relations by chi-square, along any of them and along a metapath; and what is
 * said of a metapath that does not join. */
#include "stages/sampling/rows/metapath.h"
#include "stages/sampling/rows/random_walk.h"

#include "tests/stages/sampling/relation_sampling.h"
#include "tests/stages/sampling/samplers/sampler_fixture.h"

#include <stdio.h>

enum { DRAWS = 60000, START = 70 };

static struct typed_edges edges;

static struct fixture *open_fixture(void **state)
{
    static struct fixture f;
    const struct partition_book book = typed_book("p");
    typed_edges_fill(&edges);
    fixture_open(&f, state, "p", &edges, &book, false);
    return &f;
}

static uint32_t choices(uint32_t node, uint32_t step, const struct metapath *path)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        count += edges.target[e] == node && metapath_has(path, step, edges.relation[e]);
    return count;
}

/* Two steps from a paper against the chances of their ends. */
static void check_walks(struct fixture *f, const char *names)
{
    static uint32_t seen[TYPED_NODES];
    struct sampler_options options = {.walk_length = 2};
    double chance[TYPED_NODES] = {0};
    struct metapath path;
    const struct random_stream stream = random_stream_of(3, RANDOM_WALK, 0, 0, 0);
    const struct random_walk walk = {.topology = &f->topology,
                                     .metapath = &path,
                                     .stream = &stream,
                                     .length = 2,
                                     .p = 1,
                                     .q = 1};
    (void)snprintf(options.metapath, sizeof options.metapath, "%s", names);
    assert_ok(metapath_read(&options, &f->book, &path, &f->err), &f->err);
    memset(seen, 0, sizeof seen);
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        if (edges.target[e] != START || !metapath_has(&path, 0, edges.relation[e]))
            continue;
        const uint32_t at = edges.source[e], all = choices(at, 1, &path);
        const double first = 1.0 / choices(START, 0, &path);
        chance[at] += all ? 0 : first; /* a walk stays where it can take no step */
        for (uint32_t k = 0; k < TYPED_EDGES; k++)
            if (edges.target[k] == at && metapath_has(&path, 1, edges.relation[k]))
                chance[edges.source[k]] += first / all;
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t node[3];
        assert_ok(random_walk_draw(&walk, i, START, node, &f->err), &f->err);
        assert_int_equal(node[0], START);
        seen[node[2]]++;
    }
    chi_square_check(seen, chance, TYPED_NODES);
}

static void steps_go_along_any_relation_or_the_metapath(void **state)
{
    struct fixture *f = open_fixture(state);
    check_walks(f, "");
    check_walks(f, "cites");
    check_walks(f, "[rev_writes, writes]");
    check_walks(f, "[cites, cites]");
    close_fixture(f);
}

/* The last name is the first step, and names that stand twice are of several relations. */
static void a_name_is_that_of_all_its_relations(void **state)
{
    (void)state;
    static const struct relation relation[] = {
        {"has", 0, 1}, {"has", 2, 1}, {"of", 1, 0}, {"of", 1, 2}};
    static const char type[][RELATION_NAME_SIZE] = {"a", "b", "c"};
    const struct partition_book book = {.type_count = 3,
                                        .relation_count = 4,
                                        .target_type = 1,
                                        .type_name = type,
                                        .relation = relation};
    const struct sampler_options options = {.walk_length = 4, .metapath = "[of, has]"};
    struct metapath path;
    struct error err = {0};
    assert_ok(metapath_read(&options, &book, &path, &err), &err);
    for (uint32_t step = 0; step < 4; step++)
        for (uint32_t r = 0; r < 4; r++)
            assert_int_equal(metapath_has(&path, step, r), (step % 2 == 0) == (r < 2));
}

static void what_does_not_join_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t steps;
        const char *message;
    } bad[] = {
        {"quotes", 2,
         "sample.metapath: expected relations of the graph, found 'quotes': write some of writes, "
         "cites, in, rev_writes"},
        {"[writes, in]", 2,
         "sample.metapath: in ends in venue, but the nodes that train are of type paper: write "
         "one that "
         "ends in paper there: writes, cites"},
        {"[cites, rev_writes, cites]", 3,
         "sample.metapath: rev_writes ends in author, but cites, which comes next, begins in "
         "paper: "
         "write one that ends in paper there: writes, cites"},
        {"writes", 2,
         "sample.metapath: writes ends in paper, but writes, which comes next, begins in author: "
         "write one that ends in author there: rev_writes"},
        {"[cites, cites, cites]", 2,
         "sample.metapath has 3 relations, but sample.walk_length is 2: expected as many steps"},
        {"[]", 2, "sample.metapath is '[]', which names no relation: remove the line"},
    };
    struct partition_book book = typed_book("p");
    struct metapath path;
    struct error err = {0};
    struct sampler_options options;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options = (struct sampler_options){.walk_length = bad[i].steps};
        (void)snprintf(options.metapath, sizeof options.metapath, "%s", bad[i].path);
        assert_fails(metapath_read(&options, &book, &path, &err), ERROR_INVALID, bad[i].message,
                     &err);
    }
    options = (struct sampler_options){.walk_length = 2, .metapath = "[in, writes]"};
    book.relation_count = 3; /* nothing leads to authors */
    assert_fails(
        metapath_read(&options, &book, &path, &err), ERROR_INVALID,
        "begins in author, and no relation ends in author: write `add_reverse: true` below "
        "`ingest:`",
        &err);
    book.relation = NULL;
    assert_fails(metapath_read(&options, &book, &path, &err), ERROR_INVALID,
                 "sample.metapath is '[in, writes]', but ingest.relations is false: write "
                 "`relations: true` below `ingest:`, or remove the line",
                 &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(steps_go_along_any_relation_or_the_metapath),
        cmocka_unit_test(a_name_is_that_of_all_its_relations),
        cmocka_unit_test(what_does_not_join_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
