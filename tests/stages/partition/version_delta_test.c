/* Delta parts of a version: readers see the same bytes as of parts written whole, and lost files of
 * the base or the delta are made again. */
#include "tests/stages/partition/living_graph.h"

/* --- tests --- */

static void a_chain_of_deltas_reads_as_parts_that_were_written_whole(void **state)
{
    struct temp_store *t = *state;
    const int64_t types[] = {FEATURE_F32, FEATURE_BF16};
    begin_world();
    char base[2][ID_SIZE];
    write_version(t->store);
    for (int i = 0; i < 2; i++) {
        const struct pipeline_settings settings = settings_for(0.5, types[i]);
        partition(t, &settings, base[i]);
    }
    for (int version = 1; version < VERSIONS; version++) {
        step(t->store, 1);
        for (int i = 0; i < 2; i++) {
            const struct pipeline_settings changed = settings_for(0.5, types[i]);
            const struct pipeline_settings whole = settings_for(0, types[i]);
            char delta[ID_SIZE], other[ID_SIZE];
            partition(t, &changed, delta);
            expect_form(t->store, delta, base[i]);
            partition(t, &whole, other);
            expect_form(t->store, other, "");
            compare_partitions(t->store, delta, other);
            struct store *replay = NULL;
            assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
            assert_ok(run_partition(replay, &changed, MEMORY, true, &t->err), &t->err);
            assert_true(store_replay_report(replay).matched > 0);
            assert_int_equal(store_replay_report(replay).differed, 0);
            store_close(replay);
        }
    }
}

/* If only the newest version is partitioned, its ids are the same, but there is no base for a
 * delta. */
static void a_version_whose_bases_were_never_written_is_whole(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char id[ID_SIZE], other[ID_SIZE];
    begin_world();
    write_version(t->store);
    step(t->store, 1);
    step(t->store, 1);
    partition(t, &settings, id);
    expect_form(t->store, id, "");
    step(t->store, 1);
    char next[ID_SIZE];
    partition(t, &settings, next);
    expect_form(t->store, next, id);
    partition(t, &whole, other);
    compare_partitions(t->store, next, other);
}

static void a_chain_is_written_whole_when_much_has_changed(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.3, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char id[VERSIONS + 1][ID_SIZE], other[ID_SIZE];
    const uint32_t rate[] = {0, 1, 25, 1, 1};
    begin_world();
    write_version(t->store);
    partition(t, &settings, id[0]);
    for (int version = 1; version <= VERSIONS; version++) {
        step(t->store, rate[version]);
        partition(t, &settings, id[version]);
        partition(t, &whole, other);
        expect_form(t->store, id[version], version == 1 ? id[0] : version == 2 ? "" : id[2]);
        compare_partitions(t->store, id[version], other);
    }
}

/* A lost file is named by its reader, and made again with the same bytes; also a file of the base,
 * for which nobody asks. */
static void what_is_lost_of_base_or_delta_is_made_again(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    const struct pipeline_settings whole = settings_for(0, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE], other[ID_SIZE];
    struct partition_book book;
    struct topology topology = {0};
    begin_world();
    write_version(t->store);
    partition(t, &settings, base);
    step(t->store, 1);
    partition(t, &whole, other);
    partition(t, &settings, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    const struct key lost[][3] = {
        {key_part(base, 1, "topology"), key_part(base, 1, "topology_seal")},
        {key_part(base, 2, "shard"), key_part(base, 2, "shard_seal")},
        {key_partition(base, "permutation")},
        {key_part(id, 0, "topology"), key_part(id, 0, "topology_seal")},
        {key_part(id, 0, "shard"), key_part(id, 0, "shard_seal")},
        {key_partition(id, "delta")},
        {key_partition(id, "placement")},
        {key_partition(base, "splits")},
        {key_partition(id, "delta"), key_partition(id, "placement")},
        {key_partition(id, "placement"), key_partition(base, "permutation")},
        {key_partition(id, "delta"), key_part(base, 0, "topology"),
         key_part(base, 0, "topology_seal")},
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        for (int k = 0; k < 3 && lost[i][k].text[0]; k++)
            assert_ok(store_remove(t->store, lost[i][k].text, &t->err), &t->err);
        if (strstr(lost[i][0].text, "topology")) {
            const int part = i == 0 ? 1 : 0;
            enum error_code rc = topology_open(t->store, &book, &topology, &t->err);
            if (rc == ERROR_NONE)
                rc = topology_open_part(&topology, part, &t->err);
            assert_int_equal(rc, ERROR_NOT_FOUND);
            assert_non_null(strstr(t->err.message, "topology"));
            topology_close(&topology);
        }
        for (int k = 0; k < 3 && lost[i][k].text[0]; k++)
            assert_ok(
                store_remove(t->store,
                             key_partition(strstr(lost[i][k].text, base) ? base : id, "book").text,
                             &t->err),
                &t->err);
        char again[ID_SIZE];
        partition(t, &settings, again);
        assert_string_equal(again, id);
        expect_form(t->store, id, base);
        compare_partitions(t->store, id, other);
    }
    store_release_record(&book.view);
}

static void a_base_that_holds_other_rows_is_named(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char base[ID_SIZE], id[ID_SIZE];
    struct feature_shard *shard = NULL;
    struct shard_seal seal;
    static float row[FEATURE_BLOCK_ROWS * 9];
    uint32_t count = 0;
    begin_world();
    write_version(t->store);
    partition(t, &settings, base);
    step(t->store, 1);
    partition(t, &settings, id);
    const struct key seal_key = key_part(base, 0, "shard_seal");
    assert_ok(shard_seal_get(t->store, seal_key.text, base, &seal, &t->err), &t->err);
    seal.content[0].bytes[3] ^= 1;
    assert_ok(store_remove(t->store, seal_key.text, &t->err), &t->err);
    assert_ok(shard_seal_put(t->store, seal_key.text, base, &seal, &t->err), &t->err);
    assert_ok(feature_shard_open(t->store, key_part(id, 0, "shard").text,
                                 key_part(id, 0, "shard_seal").text, id, &shard, &t->err),
              &t->err);
    assert_fails(feature_shard_read_block(shard, "features", 0, row, &count, &t->err),
                 ERROR_CORRUPT, "holds other rows than the delta was made over", &t->err);
    feature_shard_close(shard);
    /* The delta has another base than the manifests say. */
    struct partition_delta delta;
    struct partition_book book;
    struct topology topology = {0};
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    assert_ok(partition_delta_get(t->store, id, &delta, &t->err), &t->err);
    assert_ok(store_remove(t->store, key_partition(id, "delta").text, &t->err), &t->err);
    memcpy(delta.base, id, strlen(id) + 1);
    assert_ok(partition_delta_put(t->store, id, &delta, &t->err), &t->err);
    store_release_record(&delta.view);
    assert_fails(topology_open(t->store, &book, &topology, &t->err), ERROR_CORRUPT,
                 "artifact partition/", &t->err);
    store_release_record(&book.view);
}

/* Whichever allocation fails, nothing is left behind. */
static void memory_that_runs_out_leaves_nothing_behind(void **state)
{
    struct temp_store *t = *state;
    const struct pipeline_settings settings = settings_for(0.5, FEATURE_F32);
    char id[ID_SIZE];
    struct partition_book book;
    begin_world();
    write_version(t->store);
    partition(t, &settings, id);
    step(t->store, 1);
    partition(t, &settings, id);
    assert_ok(partition_book_get(t->store, id, &book, &t->err), &t->err);
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (int after = 0; rc != ERROR_NONE; after++) {
        struct topology topology = {0};
        struct feature_shard *shard = NULL;
        static float row[FEATURE_BLOCK_ROWS * 9];
        uint32_t count = 0;
        memory_fail_after(after);
        rc = topology_open(t->store, &book, &topology, &t->err);
        if (rc == ERROR_NONE)
            rc = topology_open_part(&topology, 2, &t->err);
        if (rc == ERROR_NONE)
            rc = feature_shard_open(t->store, key_part(id, 0, "shard").text,
                                    key_part(id, 0, "shard_seal").text, id, &shard, &t->err);
        if (rc == ERROR_NONE)
            rc = feature_shard_read_block(shard, "features", 1, row, &count, &t->err);
        memory_fail_after(-1);
        feature_shard_close(shard);
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
        test_with_store(a_version_whose_bases_were_never_written_is_whole),
        test_with_store(a_chain_is_written_whole_when_much_has_changed),
        test_with_store(what_is_lost_of_base_or_delta_is_made_again),
        test_with_store(a_base_that_holds_other_rows_is_named),
        test_with_store(memory_that_runs_out_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
