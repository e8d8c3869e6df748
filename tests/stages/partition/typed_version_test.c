/* Versions of a graph with relations: nodes keep their parts, and their order among the nodes of
 * their type; and readers see the same bytes of delta parts as of parts written whole. */
#include "stages/partition/version_assignment.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/partition/partition_delta.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/shard_seal.h"
#include "store/versions/delta_numbers.h"

#include "tests/stages/partition/compared_partitions.h"
#include "tests/stages/partition/compared_plans.h"
#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/typed_world.h"

enum { PARTS = 3, MEMORY = 1 << 30 };

static struct typed_world world, before;

static void begin(struct temp_store *t)
{
    typed_world_begin(&world);
    typed_world_write(&world, NULL, t->store);
    publish_dataset(t->store, "typed", "typed-0");
}

static void step(struct temp_store *t, uint32_t rate)
{
    char id[WORLD_ID_SIZE];
    before = world;
    typed_world_change(&world, rate);
    typed_world_write(&world, &before, t->store);
    typed_world_id(world.version, id);
    publish_dataset(t->store, "typed", id);
}

static struct pipeline_settings settings_for(double compact, int64_t feature_type)
{
    struct pipeline_settings settings = settings_of("typed", PARTITION_METIS, PARTS);
    settings.partition.compact = compact;
    settings.partition.feature_type = feature_type;
    settings.partition.drift = 1000;
    return settings;
}

static void partition(struct temp_store *t, const struct pipeline_settings *settings,
                      char id[ID_SIZE])
{
    assert_ok(run_partition(t->store, settings, MEMORY, false, &t->err), &t->err);
    assert_true(newest_partition(t->store, settings, id));
}

/* Expects the form of the parts. `base`: "" for parts written whole. */
static void expect_form(struct store *store, const char *id, const char *base)
{
    struct error err = {0};
    char found[ID_SIZE];
    struct topology_seal *seal = NULL;
    struct shard_seal shard;
    assert_ok(memory_new(&seal, 1, "a seal", &err), &err);
    assert_ok(partition_delta_base(store, id, found, &err), &err);
    assert_string_equal(found, base);
    for (int p = 0; p < PARTS; p++) {
        assert_ok(topology_seal_get(store, id, p, seal, &err), &err);
        assert_int_equal(seal->is_delta, *base != '\0');
        assert_int_equal(seal->relation_count, WORLD_RELATIONS);
        assert_ok(shard_seal_get(store, key_part_type(id, p, WORLD_TARGET, "shard_seal").text, id,
                                 &shard, &err),
                  &err);
        assert_int_equal(shard.is_delta, *base != '\0');
        if (!*base)
            continue;
        assert_true(seal->held[2].rows > 0 && seal->held[2].rows < seal->relation[2].node_count);
        assert_true(shard.own.rows[0] > 0 && shard.own.rows[0] < shard.tensor[0].row_count);
        assert_true(shard.own.rows[1] < shard.own.rows[0]);
    }
    memory_free(seal);
}

static void replay(struct temp_store *t, const struct pipeline_settings *settings)
{
    struct store *again = NULL;
    assert_ok(store_open(t->dir.path, STORE_REPLAY, &again, &t->err), &t->err);
    assert_ok(run_partition(again, settings, MEMORY, true, &t->err), &t->err);
    assert_true(store_replay_report(again).matched > 0);
    assert_int_equal(store_replay_report(again).differed, 0);
    store_close(again);
}

static void a_chain_of_deltas_reads_as_parts_that_were_written_whole(void **state)
{
    struct temp_store *t = *state;
    const int64_t types[] = {FEATURE_F32, FEATURE_BF16};
    char base[2][ID_SIZE];
    begin(t);
    for (int i = 0; i < 2; i++) {
        const struct pipeline_settings settings = settings_for(0.5, types[i]);
        partition(t, &settings, base[i]);
    }
    for (int version = 1; version < WORLD_VERSIONS; version++) {
        step(t, 1);
        for (int i = 0; i < 2 && version + i < WORLD_VERSIONS; i++) {
            const struct pipeline_settings changed = settings_for(0.5, types[i]);
            const struct pipeline_settings whole = settings_for(0, types[i]);
            char delta[ID_SIZE], other[ID_SIZE], dataset[WORLD_ID_SIZE];
            partition(t, &changed, delta);
            expect_form(t->store, delta, base[i]);
            typed_world_id(version, dataset);
            compare_plans(t->store, &changed, MEMORY, dataset, delta, 8, true);
            partition(t, &whole, other);
            expect_form(t->store, other, "");
            compare_partitions(t->store, delta, other);
            if (version == i + 1)
                replay(t, &changed);
        }
    }
}

/* Removes nodes of one type. Their neighbours have other types, which lost no node, and must be
 * found all the same. */
static void lose_nodes_of(struct temp_store *t, uint32_t type)
{
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char base[ID_SIZE], found[ID_SIZE], id[ID_SIZE], other[ID_SIZE], dataset[WORLD_ID_SIZE];
    begin(t);
    partition(t, &settings, base);
    before = world;
    world.version++;
    for (uint32_t name = 0; name < 3; name++)
        typed_world_remove(&world, type, 2 * name);
    typed_world_write(&world, &before, t->store);
    typed_world_id(1, dataset);
    publish_dataset(t->store, "typed", dataset);
    partition(t, &settings, id);
    assert_ok(partition_delta_base(t->store, id, found, &t->err), &t->err);
    assert_string_equal(found, base);
    partition(t, &whole, other);
    compare_partitions(t->store, id, other);
}

static void authors_alone_go(void **state)
{
    lose_nodes_of(*state, 0);
}

static void tags_alone_go(void **state)
{
    lose_nodes_of(*state, 3);
}

static void a_chain_is_written_whole_when_much_has_changed(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    const uint32_t rate[WORLD_VERSIONS] = {0, 1, 60, 1};
    char id[WORLD_VERSIONS][ID_SIZE], other[ID_SIZE];
    begin(t);
    partition(t, &settings, id[0]);
    for (int version = 1; version < WORLD_VERSIONS; version++) {
        step(t, rate[version]);
        partition(t, &settings, id[version]);
        partition(t, &whole, other);
        expect_form(t->store, id[version], version == 1 ? id[0] : version == 2 ? "" : id[2]);
        compare_partitions(t->store, id[version], other);
    }
}

/* If only the newest version is partitioned, its ids are the same, but there is no base for a
 * delta. */
static void a_version_whose_bases_were_never_written_is_whole(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char id[ID_SIZE], next[ID_SIZE], other[ID_SIZE];
    begin(t);
    step(t, 1);
    step(t, 1);
    partition(t, &settings, id);
    expect_form(t->store, id, "");
    step(t, 1);
    partition(t, &settings, next);
    expect_form(t->store, next, id);
    partition(t, &whole, other);
    compare_partitions(t->store, next, other);
}

/* --- parts and order --- */

/* The nodes of a partition. */
struct placed {
    struct partition_book book;
    struct node_permutation permutation;
    struct node_assignment assignment;
};

static void open_placed(struct store *store, const char *id, struct placed *out)
{
    struct error err = {0};
    assert_ok(partition_book_get(store, id, &out->book, &err), &err);
    assert_ok(merged_permutation_get(store, id, out->book.node_count, &out->permutation, &err),
              &err);
    assert_ok(merged_assignment_get(store, id, &out->assignment, &err), &err);
    assert_int_equal(out->assignment.node_count, out->book.node_count);
}

static void release_placed(struct placed *placed)
{
    store_release_record(&placed->assignment.view);
    store_release_record(&placed->permutation.view);
    store_release_record(&placed->book.view);
}

static void nodes_that_stay_keep_their_part_and_their_order_in_it(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char id[2][ID_SIZE];
    begin(t);
    partition(t, &settings, id[0]);
    for (int version = 1; version < 3; version++) {
        struct placed old, now;
        struct dataset_delta delta;
        struct delta_numbers numbers;
        char dataset[WORLD_ID_SIZE];
        step(t, 1);
        partition(t, &settings, id[1]);
        open_placed(t->store, id[0], &old);
        open_placed(t->store, id[1], &now);
        assert_string_equal(now.assignment.method, "placed");
        typed_world_id(version, dataset);
        assert_ok(dataset_delta_get(t->store, dataset, &delta, &t->err), &t->err);
        delta_numbers_init(&numbers, &delta);
        for (uint32_t node = 0; node < now.book.node_count; node++) {
            const uint32_t own = delta_numbers_own(&numbers, node);
            if (own < delta.base_nodes)
                assert_int_equal(now.assignment.part[node], old.assignment.part[own]);
        }
        /* In each part and type the old nodes come first, in their old order, then the new ones by
         * number. */
        const struct type_ranges ranges = partition_book_ranges(&now.book);
        for (int p = 0; p < PARTS; p++)
            for (uint32_t type = 0; type < WORLD_TYPES; type++) {
                uint32_t last = 0, last_new = 0;
                for (uint32_t i = type_ranges_first(&ranges, p, type);
                     i < type_ranges_first(&ranges, p, type + 1); i++) {
                    const uint32_t node = now.permutation.to_dataset[i];
                    const uint32_t own = delta_numbers_own(&numbers, node);
                    assert_int_equal(now.assignment.part[node], p);
                    if (own >= delta.base_nodes) {
                        assert_true(own >= last_new);
                        last_new = own + 1;
                        continue;
                    }
                    assert_int_equal(last_new, 0);
                    assert_true(old.permutation.to_partition[own] >= last);
                    last = old.permutation.to_partition[own] + 1;
                }
            }
        store_release_record(&delta.view);
        release_placed(&old);
        release_placed(&now);
        memcpy(id[0], id[1], ID_SIZE);
    }
}

/* In this version most nodes of one type in a part are gone. That type is out of balance, even if
 * all nodes together are not. */
static void a_type_that_is_out_of_balance_is_moved(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    struct placed placed;
    char id[ID_SIZE], dataset[WORLD_ID_SIZE];
    begin(t);
    partition(t, &settings, id);
    open_placed(t->store, id, &placed);
    before = world;
    world.version++;
    for (uint32_t venue = 0, gone = 0; venue < world.names[2] && gone < 9; venue++) {
        const uint32_t node = typed_world_count(&before, 0) + typed_world_count(&before, 1) + venue;
        if (placed.assignment.part[node] != 1)
            continue;
        typed_world_remove(&world, 2, venue);
        gone++;
    }
    release_placed(&placed);
    typed_world_write(&world, &before, t->store);
    typed_world_id(1, dataset);
    publish_dataset(t->store, "typed", dataset);
    partition(t, &settings, id);
    open_placed(t->store, id, &placed);
    assert_string_not_equal(placed.assignment.method, "placed");
    const struct type_ranges ranges = partition_book_ranges(&placed.book);
    for (int p = 0; p < PARTS; p++)
        assert_true(type_ranges_count(&ranges, p, 2) * PARTS * 4 <=
                    typed_world_count(&world, 2) * 5);
    release_placed(&placed);
    expect_form(t->store, id, "");
}

/* --- losses --- */

static void what_is_lost_of_base_or_delta_is_made_again(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE], other[ID_SIZE], again[ID_SIZE];
    begin(t);
    partition(t, &settings, base);
    step(t, 1);
    partition(t, &whole, other);
    partition(t, &settings, id);
    const struct key lost[][3] = {
        {key_part(base, 1, "topology"), key_part(base, 1, "topology_seal")},
        {key_part_type(base, 2, 1, "shard"), key_part_type(base, 2, 1, "shard_seal")},
        {key_part_type(base, 0, 3, "shard"), key_part_type(base, 0, 3, "shard_seal")},
        {key_part(id, 0, "topology"), key_part(id, 0, "topology_seal")},
        {key_part_type(id, 0, 2, "shard"), key_part_type(id, 0, 2, "shard_seal")},
        {key_partition(id, "delta")},
        {key_partition(id, "placement")},
        {key_partition(id, "delta"), key_part(base, 0, "topology"),
         key_part(base, 0, "topology_seal")},
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        for (int k = 0; k < 3 && lost[i][k].text[0]; k++) {
            const char *of = strstr(lost[i][k].text, base) ? base : id;
            bool has_book = false;
            assert_ok(store_remove(t->store, lost[i][k].text, &t->err), &t->err);
            assert_ok(store_has(t->store, key_partition(of, "book").text, &has_book, &t->err),
                      &t->err);
            if (has_book)
                assert_ok(store_remove(t->store, key_partition(of, "book").text, &t->err), &t->err);
        }
        bool has_book = false;
        assert_ok(store_has(t->store, key_partition(id, "book").text, &has_book, &t->err), &t->err);
        if (has_book) /* otherwise nobody asks for the base */
            assert_ok(store_remove(t->store, key_partition(id, "book").text, &t->err), &t->err);
        partition(t, &settings, again);
        assert_string_equal(again, id);
        expect_form(t->store, id, base);
        compare_partitions(t->store, id, other);
    }
}

/* The reader of a topology names a record that no longer fits. */
static void a_delta_of_other_types_is_refused(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    uint32_t added[PARTS * WORLD_TYPES];
    struct partition_delta delta;
    struct partition_book book;
    struct topology topology = {0};
    char id[ID_SIZE];
    begin(t);
    partition(t, &settings, id);
    step(t, 1);
    partition(t, &settings, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    assert_ok(partition_delta_get(t->store, id, &delta, &t->err), &t->err);
    memcpy(added, delta.added, sizeof added);
    uint32_t from = 0;
    while (!added[from])
        from++;
    added[from]--; /* one more of another type in the same part, so that the total is the same */
    added[from % WORLD_TYPES ? from - 1 : from + 1]++;
    delta.added = added;
    assert_ok(store_remove(t->store, key_partition(id, "delta").text, &t->err), &t->err);
    assert_ok(partition_delta_put(t->store, id, &delta, &t->err), &t->err);
    assert_fails(topology_open(t->store, &book, &topology, &t->err), ERROR_CORRUPT,
                 "nodes of type ", &t->err);
    delta.type_count = 0;
    assert_ok(store_remove(t->store, key_partition(id, "delta").text, &t->err), &t->err);
    assert_ok(partition_delta_put(t->store, id, &delta, &t->err), &t->err);
    assert_fails(topology_open(t->store, &book, &topology, &t->err), ERROR_CORRUPT,
                 "3 parts of 1 types, expected 3 of 5", &t->err);
    store_release_record(&delta.view);
    store_release_record(&book.view);
}

/* Whichever allocation fails, nothing is left behind. */
static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    struct partition_book book;
    char id[ID_SIZE];
    begin(t);
    partition(t, &settings, id);
    step(t, 1);
    partition(t, &settings, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (int after = 0; rc != ERROR_NONE; after++) {
        struct topology topology = {0};
        memory_fail_after(after);
        rc = topology_open(t->store, &book, &topology, &t->err);
        if (rc == ERROR_NONE)
            rc = topology_open_part(&topology, 2, &t->err);
        memory_fail_after(-1);
        topology_close(&topology);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), blocks);
    }
    store_release_record(&book.view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_chain_of_deltas_reads_as_parts_that_were_written_whole),
        test_with_store(authors_alone_go),
        test_with_store(tags_alone_go),
        test_with_store(a_chain_is_written_whole_when_much_has_changed),
        test_with_store(a_version_whose_bases_were_never_written_is_whole),
        test_with_store(nodes_that_stay_keep_their_part_and_their_order_in_it),
        test_with_store(a_type_that_is_out_of_balance_is_moved),
        test_with_store(what_is_lost_of_base_or_delta_is_made_again),
        test_with_store(a_delta_of_other_types_is_refused),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
