/* Parts of a version as what has changed: what readers see is to the byte what parts written whole have; and what is lost of base or
 * delta is made again. */
#include "common/base/memory.h"
#include "common/base/random.h"
#include "store/features/feature_shard.h"
#include "store/records/dataset_delta.h"
#include "store/records/node_splits.h"
#include "store/records/partition_delta.h"
#include "store/records/partition_report.h"
#include "store/records/shard_seal.h"
#include "store/records/topology_seal.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/edge_values.h"

#include <stdlib.h>

enum {
    FIRST = 1400, /* nodes of the root */
    STEP = 12,    /* nodes that come, and that go, with each version */
    VERSIONS = 4,
    NAMES = FIRST + VERSIONS * STEP,
    EDGES_MAX = 16 * NAMES,
    PARTS = 3,
    CLASSES = 5,
    MEMORY = 1 << 30
};

/* A graph of nodes with names, 0 .. NAMES - 1; each version has some of them. */
struct world {
    int version;
    bool is_there[NAMES];
    uint32_t alias[NAMES]; /* what its features are made of */
    uint32_t from[EDGES_MAX], to[EDGES_MAX];
    float weight[EDGES_MAX];
    uint64_t edge_count;
};

static struct world world;

static uint32_t draw(uint64_t what, uint32_t below)
{
    const struct random_stream stream = random_stream_of(11, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, (uint32_t)what, (uint32_t)(what >> 32), word);
    return random_below(word[0], below);
}

static void link_nodes(uint32_t a, uint32_t b)
{
    world.from[world.edge_count] = world.to[world.edge_count + 1] = a;
    world.to[world.edge_count] = world.from[world.edge_count + 1] = b;
    world.weight[world.edge_count] = (float)world.edge_count * 0.5F;
    world.weight[world.edge_count + 1] = (float)world.edge_count * 0.5F + 1;
    world.edge_count += 2;
}

static void begin_world(void)
{
    world = (struct world){.version = 0};
    for (uint32_t name = 0; name < NAMES; name++) {
        world.is_there[name] = name < FIRST;
        world.alias[name] = name;
    }
    for (uint32_t name = 0; name < FIRST; name++)
        for (uint32_t k = 0; k < 3; k++)
            link_nodes(name, (name + 1 + draw(name * 8ULL + k, 20)) % FIRST);
}

/* `rate`: how much is other than before, times. */
static void change_world(uint32_t rate)
{
    const uint32_t v = (uint32_t)++world.version;
    const uint64_t seed = (uint64_t)v << 32;
    for (uint32_t i = 0; i < STEP; i++) {
        const uint32_t added = FIRST + (v - 1) * STEP + i;
        world.is_there[draw(seed + i, FIRST)] = false;
        world.is_there[added] = true;
    }
    for (uint32_t i = 0; i < STEP; i++) /* one of them without an edge */
        for (uint32_t k = 0; i && k < 3; k++)
            link_nodes(FIRST + (v - 1) * STEP + i, draw(seed + 100 + (uint64_t)i * 4 + k, FIRST));
    for (uint32_t i = 0; i < 20 * rate; i++)
        link_nodes(draw(seed + 1000 + i, FIRST), draw(seed + 5000 + i, FIRST));
    for (uint32_t i = 0; i < 15 * rate; i++)
        world.alias[draw(seed + 10000 + i, FIRST)] +=
            7 * CLASSES * 4; /* the same label and split */
    for (uint32_t i = 0; i < 10 * rate; i++) {
        const uint64_t pair = draw(seed + 20000 + i, (uint32_t)(world.edge_count / 2 - 1));
        memmove(&world.from[2 * pair], &world.from[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.from);
        memmove(&world.to[2 * pair], &world.to[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.to);
        memmove(&world.weight[2 * pair], &world.weight[2 * pair + 2],
                (world.edge_count - 2 * pair - 2) * sizeof *world.weight);
        world.edge_count -= 2;
    }
}

static const char *id_of(int version)
{
    static const char *const id[] = {"living-0", "living-1", "living-2", "living-3", "living-4"};
    return id[version];
}

/* The nodes that there are, in the order of their names, which is that of a version's numbers. */
static uint32_t number_nodes(uint32_t number[NAMES], uint32_t alias[NAMES])
{
    uint32_t count = 0;
    for (uint32_t name = 0; name < NAMES; name++)
        if (world.is_there[name]) {
            alias[count] = world.alias[name];
            number[name] = count++;
        }
    return count;
}

static void write_version(struct store *store)
{
    static uint32_t number[NAMES], alias[NAMES], from[EDGES_MAX], to[EDGES_MAX];
    static float weight[EDGES_MAX];
    uint64_t edges = 0;
    const uint32_t nodes = number_nodes(number, alias);
    for (uint64_t e = 0; e < world.edge_count; e++) {
        if (!world.is_there[world.from[e]] || !world.is_there[world.to[e]])
            continue;
        from[edges] = number[world.from[e]];
        to[edges] = number[world.to[e]];
        weight[edges++] = world.weight[e];
    }
    const struct small_dataset dataset = {.id = id_of(world.version),
                                          .name = "living",
                                          .node_count = nodes,
                                          .edge_count = edges,
                                          .source = from,
                                          .target = to,
                                          .columns = edge_values(weight, NULL, NULL),
                                          .undirected = true,
                                          .feature_dim = 9,
                                          .task = TASK_SINGLE_LABEL,
                                          .class_count = CLASSES,
                                          .nodes_per_chunk = 500,
                                          .named = alias};
    write_dataset(store, &dataset);
}

static void write_delta(struct store *store, const bool *was_there)
{
    static const int64_t new_id[STEP] = {0};
    static const uint8_t split[STEP] = {0};
    static uint32_t gone[NAMES];
    struct error err = {0};
    struct dataset_delta delta = {.root = "living-0",
                                  .depth = (uint64_t)world.version,
                                  .gone_node = gone,
                                  .added_nodes = STEP,
                                  .new_ids = {.node_count = STEP, .integer = new_id},
                                  .new_split = split};
    memcpy(delta.base, id_of(world.version - 1), sizeof "living-0");
    for (uint32_t name = 0; name < NAMES; name++) {
        if (was_there[name] && !world.is_there[name])
            gone[delta.gone_nodes++] = delta.base_nodes;
        delta.base_nodes += was_there[name];
    }
    assert_ok(dataset_delta_put(store, id_of(world.version), &delta, &err), &err);
}

static void step(struct store *store, uint32_t rate)
{
    bool was_there[NAMES];
    memcpy(was_there, world.is_there, sizeof was_there);
    change_world(rate);
    write_version(store);
    write_delta(store, was_there);
}

static struct pipeline_settings settings_for(double compact, int64_t feature_type)
{
    struct pipeline_settings settings = settings_of("living", PARTITION_METIS, PARTS);
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

/* ---- comparing ---------------------------------------------------------------------------------- */

static void compare_topologies(struct store *store, const struct partition_book *a,
                               const struct partition_book *b)
{
    struct error err = {0};
    struct topology x = {0}, y = {0};
    assert_ok(topology_open(store, a, &x, &err), &err);
    assert_ok(topology_open(store, b, &y, &err), &err);
    assert_int_equal(x.edge_count, y.edge_count);
    /* What the processes of a host share is named by it. */
    assert_int_equal(checksum_equal(&x.content, &y.content), x.is_delta == y.is_delta);
    for (int p = 0; p < PARTS; p++) {
        const struct topology_part *i = topology_rows(&x, p, 0), *j = topology_rows(&y, p, 0);
        assert_ok(topology_open_part(&x, p, &err), &err);
        assert_ok(topology_open_part(&y, p, &err), &err);
        assert_int_equal(i->edge_count, j->edge_count);
        assert_memory_equal(i->row_start_chunk[0], j->row_start_chunk[0],
                            ((size_t)i->node_count + 1) * sizeof(uint64_t));
        assert_memory_equal(i->neighbor_chunk[0], j->neighbor_chunk[0],
                            i->edge_count * sizeof(uint32_t));
        assert_memory_equal(i->column_chunk[EDGE_WEIGHT][0], j->column_chunk[EDGE_WEIGHT][0],
                            i->edge_count * sizeof(float));
        assert_memory_equal(i->weight_sum_chunk[0], j->weight_sum_chunk[0],
                            i->node_count * sizeof(float));
    }
    assert_ok(topology_copy(&x, false, NULL, &err), &err);
    assert_memory_equal(topology_rows(&x, 1, 0)->neighbor_chunk[0],
                        topology_rows(&y, 1, 0)->neighbor_chunk[0],
                        topology_rows(&y, 1, 0)->edge_count * sizeof(uint32_t));
    topology_close(&x);
    topology_close(&y);
}

static char *read_tensor(struct store *store, const char *id, int part, const char *name,
                         size_t *size)
{
    struct error err = {0};
    struct feature_shard *shard = NULL;
    char *rows = NULL;
    uint32_t count = 0;
    assert_ok(feature_shard_open(store, key_part(id, part, "shard").text,
                                 key_part(id, part, "shard_seal").text, id, &shard, &err),
              &err);
    const struct tensor_spec *tensor = feature_shard_tensor(shard, name);
    assert_non_null(tensor);
    *size = tensor->row_count * tensor_row_bytes(tensor);
    assert_ok(memory_new(&rows, *size + 1, "rows", &err), &err);
    assert_ok(feature_shard_read_all(shard, name, rows, tensor->dim, &err), &err);
    for (uint64_t at = tensor->row_count; at > 0;) { /* and block by block, from the last */
        static char block[FEATURE_BLOCK_ROWS * 64];
        const uint64_t number = (at - 1) / FEATURE_BLOCK_ROWS;
        assert_ok(feature_shard_read_block(shard, name, number, block, &count, &err), &err);
        at = number * FEATURE_BLOCK_ROWS;
        assert_memory_equal(block, rows + at * tensor_row_bytes(tensor),
                            count * tensor_row_bytes(tensor));
    }
    assert_ok(feature_shard_verify(shard, &err), &err);
    feature_shard_close(shard);
    return rows;
}

static void compare_shards(struct store *store, const char *a, const char *b)
{
    static const char *const tensors[] = {"features", "labels"};
    for (int p = 0; p < PARTS; p++)
        for (int i = 0; i < 2; i++) {
            size_t x = 0, y = 0;
            char *one = read_tensor(store, a, p, tensors[i], &x);
            char *other = read_tensor(store, b, p, tensors[i], &y);
            assert_int_equal(x, y);
            assert_memory_equal(one, other, x);
            memory_free(one);
            memory_free(other);
        }
}

static void compare_records(struct store *store, const struct partition_book *a,
                            const struct partition_book *b)
{
    struct error err = {0};
    struct node_permutation x, y;
    struct partition_report i = {0}, j = {0};
    assert_memory_equal(a->book, b->book, (PARTS + 1) * sizeof *a->book);
    assert_ok(node_permutation_get(store, a->id, a->node_count, &x, &err), &err);
    assert_ok(node_permutation_get(store, b->id, b->node_count, &y, &err), &err);
    assert_memory_equal(x.to_dataset, y.to_dataset, x.node_count * sizeof *x.to_dataset);
    store_release_record(&x.view);
    store_release_record(&y.view);
    assert_ok(partition_report_get(store, a->id, &i, &err), &err);
    assert_ok(partition_report_get(store, b->id, &j, &err), &err);
    assert_int_equal(i.cut_edges, j.cut_edges);
    assert_int_equal(i.halo, j.halo);
    assert_memory_equal(i.part, j.part, PARTS * sizeof *i.part);
    partition_report_release(&i);
    partition_report_release(&j);
}

static void compare(struct store *store, const char *a, const char *b)
{
    struct error err = {0};
    struct partition_book x, y;
    assert_ok(partition_book_get(store, a, &x, &err), &err);
    assert_ok(partition_book_get(store, b, &y, &err), &err);
    compare_records(store, &x, &y);
    compare_topologies(store, &x, &y);
    compare_shards(store, a, b);
    store_release_record(&x.view);
    store_release_record(&y.view);
}

/* `base`: "" for one that is whole. */
static void expect_form(struct store *store, const char *id, const char *base)
{
    struct error err = {0};
    char found[ID_SIZE];
    struct topology_seal topology;
    struct shard_seal shard;
    assert_ok(partition_delta_base(store, id, found, &err), &err);
    assert_string_equal(found, base);
    for (int p = 0; p < PARTS; p++) {
        assert_ok(topology_seal_get(store, id, p, &topology, &err), &err);
        assert_ok(shard_seal_get(store, key_part(id, p, "shard_seal").text, id, &shard, &err),
                  &err);
        assert_int_equal(topology.is_delta, *base != '\0');
        assert_int_equal(shard.is_delta, *base != '\0');
        if (!*base)
            continue;
        assert_true(topology.held.rows > 0 && topology.held.rows < topology.node_count / 2);
        assert_true(shard.own.rows[0] > 0 && shard.own.rows[0] < topology.node_count / 2);
        assert_true(shard.own.rows[1] < shard.own.rows[0] && shard.own.gone > 0);
    }
}

/* ---- tests -------------------------------------------------------------------------------------- */

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
            compare(t->store, delta, other);
            struct store *replay = NULL;
            assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
            assert_ok(run_partition(replay, &changed, MEMORY, true, &t->err), &t->err);
            assert_true(store_replay_report(replay).matched > 0);
            assert_int_equal(store_replay_report(replay).differed, 0);
            store_close(replay);
        }
    }
}

/* Who partitions the newest alone has the same ids, though nothing to build on. */
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
    compare(t->store, next, other);
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
        compare(t->store, id[version], other);
    }
}

/* What is lost is named by whoever reads it, and made again to the byte; the base, too, which nobody asks for. */
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
        {key_partition(id, "permutation")},
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
        compare(t->store, id, other);
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
    /* A delta of another partition than its seals say. */
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

/* Memory that runs out, in whichever allocation, leaves nothing behind. */
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
