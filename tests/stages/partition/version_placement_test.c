/* Assignment, permutation and splits of a version's partition, which follow from its base: what is
 * stored of them, the messages when they do not fit together, and partitions that have them whole,
 * as older programs wrote them. */
#include "store/records/partition/node_placement.h"
#include "store/records/partition/partition_book.h"

#include "tests/stages/partition/living_graph.h"
#include "tests/support/record_tamper.h"

static const char *const wholes[] = {"assignment", "permutation", "splits"};
enum { WHOLES = sizeof wholes / sizeof *wholes };

static bool has(struct store *store, const char *id, const char *what)
{
    struct error err = {0};
    bool found = false;
    assert_ok(store_has(store, key_partition(id, what).text, &found, &err), &err);
    return found;
}

/* Moves some nodes that stay to another split, or to none. */
static void move_splits(void)
{
    uint32_t moved = 0;
    for (uint32_t name = 0; moved < 5 && name < FIRST; name++)
        if (world.is_there[name]) {
            world.alias[name] += CLASSES; /* keeps the label */
            moved++;
        }
}

static void begin(struct temp_store *t, const struct pipeline_settings *settings,
                  char base[ID_SIZE], char id[ID_SIZE])
{
    begin_world();
    write_version(t->store);
    partition(t, settings, base);
    step(t->store, 1);
    partition(t, settings, id);
    expect_form(t->store, id, base);
}

static void replay(struct temp_store *t, const struct pipeline_settings *settings)
{
    struct store *replay = NULL;
    assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
    assert_ok(run_partition(replay, settings, MEMORY, true, &t->err), &t->err);
    assert_true(store_replay_report(replay).matched > 0);
    assert_int_equal(store_replay_report(replay).differed, 0);
    store_close(replay);
}

static void what_follows_is_not_written(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE], other[ID_SIZE];
    struct node_placement placement;
    begin(t, &settings, base, id);
    for (uint32_t version = 2; version < VERSIONS; version++) {
        move_splits();
        step(t->store, 1);
        partition(t, &settings, id);
        partition(t, &whole, other);
        expect_form(t->store, id, base);
        for (int i = 0; i < WHOLES; i++)
            assert_true(!has(t->store, id, wholes[i]) && has(t->store, other, wholes[i]));
        assert_ok(node_placement_get(t->store, id, &placement, &t->err), &t->err);
        assert_string_equal(placement.base, base);
        assert_string_equal(placement.method, "placed");
        assert_int_equal(placement.new_count, version * STEP);
        assert_true(placement.split_count > 0 && placement.split_count <= version * (STEP + 5));
        store_release_record(&placement.view);
        compare_partitions(t->store, id, other);
        replay(t, &settings);
    }
}

/* Writes the three records whole, as older programs did. */
static void write_wholes(struct temp_store *t, const char *id)
{
    struct partition_book book;
    struct node_permutation permutation;
    struct node_assignment assignment;
    struct node_splits splits;
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    assert_ok(merged_permutation_get(t->store, id, book.node_count, &permutation, &t->err),
              &t->err);
    assert_ok(merged_assignment_get(t->store, id, &assignment, &t->err), &t->err);
    assert_ok(merged_part_splits_get(t->store, id, &splits, &t->err), &t->err);
    assert_ok(node_permutation_put(t->store, id, &permutation, &t->err), &t->err);
    assert_ok(assignment_put_kept(t->store, id, assignment.part, assignment.node_count,
                                  assignment.method, assignment.full_cut, &t->err),
              &t->err);
    assert_ok(node_splits_put(t->store, key_partition(id, "splits").text, id, &splits, &t->err),
              &t->err);
    assert_ok(store_remove(t->store, key_partition(id, "placement").text, &t->err), &t->err);
    store_release_record(&permutation.view);
    store_release_record(&assignment.view);
    store_release_record(&splits.view);
    store_release_record(&book.view);
}

static void a_partition_that_has_them_whole_is_read_and_kept(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE], other[ID_SIZE], next[ID_SIZE];
    begin(t, &settings, base, id);
    partition(t, &whole, other);
    write_wholes(t, id);
    compare_partitions(t->store, id, other);
    replay(t, &settings);
    for (int i = 0; i < 2; i++) { /* a lost record is made again, in the same form */
        assert_ok(store_remove(t->store, key_partition(id, wholes[i]).text, &t->err), &t->err);
        assert_ok(store_remove(t->store, key_partition(id, "book").text, &t->err), &t->err);
        partition(t, &settings, id);
        for (int k = 0; k < WHOLES; k++)
            assert_true(has(t->store, id, wholes[k]));
        assert_false(has(t->store, id, "placement"));
        compare_partitions(t->store, id, other);
    }
    step(t->store, 1); /* and the next version is made from it */
    partition(t, &settings, next);
    partition(t, &whole, other);
    expect_form(t->store, next, base);
    assert_true(has(t->store, next, "placement") && !has(t->store, next, "permutation"));
    compare_partitions(t->store, next, other);
}

/* As after a kill between the two records: a program that goes on uses the base that the first
 * record names. */
static void a_placement_alone_says_which_base_it_is(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE], found[ID_SIZE];
    struct node_permutation permutation;
    begin(t, &settings, base, id);
    for (int p = 0; p < PARTS; p++) {
        static const char *const files[] = {"topology", "topology_seal", "shard", "shard_seal"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            assert_ok(store_remove(t->store, key_part(id, p, files[i]).text, &t->err), &t->err);
    }
    assert_ok(store_remove(t->store, key_partition(id, "delta").text, &t->err), &t->err);
    assert_ok(store_remove(t->store, key_partition(id, "book").text, &t->err), &t->err);
    assert_ok(node_placement_base(t->store, id, found, &t->err), &t->err);
    assert_string_equal(found, base);
    assert_fails(merged_permutation_get(t->store, id, FIRST, &permutation, &t->err),
                 ERROR_NOT_FOUND, "delta", &t->err);
    assert_ok(merged_parts_find(t->store, id, &(bool){true}, &t->err), &t->err);
    char again[ID_SIZE];
    partition(t, &settings, again);
    assert_string_equal(again, id);
    expect_form(t->store, id, base);
}

static void records_that_do_not_fit_together_are_told(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE];
    struct partition_book book;
    struct node_permutation permutation;
    struct node_placement placement;
    begin(t, &settings, base, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    assert_ok(node_placement_get(t->store, id, &placement, &t->err), &t->err);
    uint32_t twice[STEP], beyond[STEP], swapped[STEP], last[STEP];
    assert_in_range(placement.split_count, 2, STEP);
    memcpy(swapped, placement.split_node, placement.split_count * sizeof *swapped);
    memcpy(last, placement.split_node, placement.split_count * sizeof *last);
    swapped[0] = swapped[1];
    last[placement.split_count - 1] = book.node_count;
    memcpy(twice, placement.new_node, sizeof twice);
    memcpy(beyond, placement.new_node, sizeof beyond);
    twice[3] = twice[4];
    beyond[2] = book.node_count;
    const struct {
        struct tamper change;
        const char *says;
    } damages[] = {
        {{"new_node", ELEMENT_U32, twice, STEP}, "expected each once"},
        {{"new_node", ELEMENT_U32, beyond, STEP}, "expected each once, below"},
        {{"new_node", ELEMENT_U32, twice, STEP - 1}, "has 11 new nodes, expected 12"},
        {{"base", ELEMENT_U8, "another", 7}, "is over another, expected"},
        {{"split_node", ELEMENT_U32, swapped, placement.split_count},
         "\"split_node\" entry 1: expected above"},
        {{"split_node", ELEMENT_U32, last, placement.split_count}, "in a split, expected below"},
    };
    const struct key key = key_partition(id, "placement");
    assert_fails(merged_permutation_get(t->store, id, book.node_count + 1, &permutation, &t->err),
                 ERROR_CORRUPT, "nodes, expected", &t->err);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        record_tamper(t->store, key.text, id, &damages[i].change);
        assert_fails(merged_permutation_get(t->store, id, book.node_count, &permutation, &t->err),
                     ERROR_CORRUPT, damages[i].says, &t->err);
        assert_non_null(strstr(t->err.message, key.text));
        assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
        assert_ok(node_placement_put(t->store, id, &placement, &t->err), &t->err);
    }
    store_release_record(&placement.view);
    store_release_record(&book.view);
    { /* each lost record is named */
        struct node_assignment assignment;
        struct node_splits splits;
        assert_fails(merged_permutation_get(t->store, "p", 3, &permutation, &t->err),
                     ERROR_NOT_FOUND, "partition/p/permutation", &t->err);
        assert_fails(merged_assignment_get(t->store, "p", &assignment, &t->err), ERROR_NOT_FOUND,
                     "partition/p/assignment", &t->err);
        assert_fails(merged_part_splits_get(t->store, "p", &splits, &t->err), ERROR_NOT_FOUND,
                     "partition/p/splits", &t->err);
    }
}

static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE];
    struct partition_book book;
    begin(t, &settings, base, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (int after = 0; rc != ERROR_NONE; after++) {
        struct node_permutation permutation = {0};
        struct node_assignment assignment = {.method = ""};
        struct node_splits splits = {.count = {0}};
        memory_fail_after(after);
        rc = merged_permutation_get(t->store, id, book.node_count, &permutation, &t->err);
        if (rc == ERROR_NONE)
            rc = merged_assignment_get(t->store, id, &assignment, &t->err);
        if (rc == ERROR_NONE)
            rc = merged_part_splits_get(t->store, id, &splits, &t->err);
        memory_fail_after(-1);
        store_release_record(&permutation.view);
        store_release_record(&assignment.view);
        store_release_record(&splits.view);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    store_release_record(&book.view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(what_follows_is_not_written),
        test_with_store(a_partition_that_has_them_whole_is_read_and_kept),
        test_with_store(a_placement_alone_says_which_base_it_is),
        test_with_store(records_that_do_not_fit_together_are_told),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
