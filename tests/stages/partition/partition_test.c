#include "common/base/memory.h"
#include "common/math/f16.h"
#include "stages/partition/layout/assignment.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/features/feature_shard.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/partition_report.h"

#include "tests/stages/partition/partition_fixture.h"
#include "tests/support/edge_values.h"
#include "tests/support/random_edges.h"

#include <unistd.h>

enum { NODES = 90, EDGES = 700, CLASSES = 3, MEMORY = 1 << 30 };

static uint32_t source_node[EDGES], target_node[EDGES];
static float weight[EDGES];
static int64_t edge_time[EDGES];
static uint16_t edge_type[EDGES];
static int64_t edge_id[EDGES];
static float edge_feature[EDGES][6];

/* Returns a directed graph with repeats, loops, isolated nodes, and all columns that edges and
 * nodes can have. */
static struct small_dataset full_dataset(void)
{
    random_edges_fill(77, NODES, EDGES, source_node, target_node);
    for (uint32_t e = 0; e < EDGES; e++) {
        weight[e] = (float)e;
        edge_time[e] = 1000 - e;
        edge_type[e] = e % 2;
        edge_id[e] = -(int64_t)e;
        for (uint32_t k = 0; k < 6; k++)
            edge_feature[e][k] = (float)(e * 6 + k);
    }
    struct edge_columns_view columns = edge_values(weight, edge_time, edge_type);
    columns.width.of[EDGE_ID] = 1;
    columns.data[EDGE_ID] = edge_id;
    columns.width.of[EDGE_FEATURE] = 6;
    columns.data[EDGE_FEATURE] = edge_feature;
    return (struct small_dataset){.id = "full-1",
                                  .name = "full",
                                  .node_count = NODES,
                                  .edge_count = EDGES,
                                  .source = source_node,
                                  .target = target_node,
                                  .columns = columns,
                                  .feature_dim = 5,
                                  .task = TASK_MULTI_LABEL,
                                  .class_count = CLASSES,
                                  .nodes_per_chunk = 13};
}

/* Draws a mini-batch of all edges, and checks that each comes once, with its columns. */
static void check_mini_batch(struct store *store, const struct topology *topology,
                             const uint32_t *to_dataset)
{
    static const int64_t all[1] = {FANOUT_ALL};
    const struct neighbor_sampler_config config = {.topology = topology, .has_self_loops = true};
    struct neighbor_sampler *sampler = NULL;
    struct mini_batch drawn, batch = {0};
    struct arena scratch = {0};
    struct error err = {0};
    uint32_t node[NODES];
    bool found[EDGES] = {false};
    for (uint32_t i = 0; i < NODES; i++)
        node[i] = i;
    const struct neighbor_request request = {.hop_count = 1,
                                             .fanout = all,
                                             .seed_node = node,
                                             .seed_count = NODES,
                                             .edge_columns = (1U << EDGE_COLUMN_COUNT) - 1};
    assert_ok(neighbor_sampler_new(&config, &sampler, &err), &err);
    assert_ok(neighbor_sampler_draw(sampler, &request, &drawn, &err), &err);
    assert_ok(mini_batch_put(store, "k", "r", &drawn, &scratch, &err), &err);
    assert_ok(mini_batch_get(store, "k", "r", &batch, &err), &err);
    assert_ok(store_remove(store, "k", &err), &err);
    assert_int_equal(batch.edge_count, EDGES);
    for (uint32_t row = 0; row < batch.row_count; row++)
        for (uint32_t i = batch.row_start[row]; i < batch.row_start[row + 1]; i++) {
            const struct edge_columns_view own = edge_columns_from(&batch.columns, i);
            const uint32_t e = (uint32_t) * (const float *)own.data[EDGE_WEIGHT];
            assert_false(found[e]);
            found[e] = true;
            assert_int_equal(to_dataset[batch.node[batch.neighbor[i]]], source_node[e]);
            assert_int_equal(to_dataset[batch.node[row]], target_node[e]);
            assert_true(*(const int64_t *)own.data[EDGE_TIME] == edge_time[e]);
            assert_int_equal(*(const uint16_t *)own.data[EDGE_TYPE], edge_type[e]);
            assert_int_equal(*(const int64_t *)own.data[EDGE_ID], edge_id[e]);
            assert_memory_equal(own.data[EDGE_FEATURE], edge_feature[e], sizeof edge_feature[e]);
        }
    neighbor_sampler_free(sampler);
    mini_batch_release(&batch);
    arena_release(&scratch);
}

/* Checks every edge. The weight of an edge is its number. */
static void check_topology(struct store *store, const struct partition_book *book)
{
    struct error err = {0};
    struct node_permutation map;
    assert_ok(node_permutation_get(store, book->id, book->node_count, &map, &err), &err);
    struct topology topology;
    bool found[EDGES] = {false};
    assert_ok(topology_open(store, book, &topology, &err), &err);
    assert_ok(topology_open_parts(&topology, NULL, &err), &err);
    for (int p = 0; p < topology.part_count; p++) {
        const struct topology_part *part = &topology.part[p];
        for (uint32_t row = 0; row < part->node_count; row++)
            for (uint64_t i = topology_row_start(part, row); i < topology_row_start(part, row + 1);
                 i++) {
                const uint32_t e =
                    (uint32_t) * (const float *)topology_column(part, EDGE_WEIGHT, i);
                assert_false(found[e]);
                found[e] = true;
                assert_int_equal(map.to_dataset[*topology_neighbor(part, i)], source_node[e]);
                assert_int_equal(map.to_dataset[part->first_node + row], target_node[e]);
                assert_true(topology_time(part, (uint64_t)i) == edge_time[e]);
                assert_int_equal(*(const uint16_t *)topology_column(part, EDGE_TYPE, i),
                                 edge_type[e]);
            }
    }
    for (uint32_t e = 0; e < EDGES; e++)
        assert_true(found[e]);
    check_mini_batch(store, &topology, map.to_dataset);
    topology_close(&topology);
    store_release_record(&map.view);
}

static void check_shards(struct store *store, const struct partition_book *book)
{
    static float features[FEATURE_BLOCK_ROWS * 5], labels[FEATURE_BLOCK_ROWS * CLASSES];
    struct error err = {0};
    struct node_permutation map;
    assert_ok(node_permutation_get(store, book->id, book->node_count, &map, &err), &err);
    for (int p = 0; p < book->part_count; p++) {
        struct feature_shard *shard = NULL;
        uint32_t count = 0;
        assert_ok(feature_shard_open(store, key_part(book->id, p, "shard").text,
                                     key_part(book->id, p, "shard_seal").text, book->id, &shard,
                                     &err),
                  &err);
        assert_ok(feature_shard_read_block(shard, "features", 0, features, &count, &err), &err);
        assert_int_equal(count, book->book[p + 1] - book->book[p]);
        assert_ok(feature_shard_read_block(shard, "labels", 0, labels, &count, &err), &err);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t node = map.to_dataset[book->book[p] + i];
            for (uint32_t c = 0; c < 5; c++)
                assert_true(features[i * 5 + c] == small_dataset_feature(node, c));
            for (uint32_t c = 0; c < CLASSES; c++)
                assert_true(labels[i * CLASSES + c] == small_dataset_multi_label(node, CLASSES, c));
        }
        feature_shard_close(shard);
    }
    store_release_record(&map.view);
}

static void check_splits(struct store *store, const struct partition_book *book)
{
    struct error err = {0};
    struct node_permutation map;
    assert_ok(node_permutation_get(store, book->id, book->node_count, &map, &err), &err);
    struct node_splits splits;
    uint32_t total = 0;
    assert_ok(
        node_splits_get(store, key_partition(book->id, "splits").text, book->id, &splits, &err),
        &err);
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (uint32_t i = 0; i < splits.count[s]; i++, total++) {
            assert_int_equal(map.to_dataset[splits.node[s][i]] % 4, s);
            assert_true(i == 0 || splits.node[s][i - 1] < splits.node[s][i]);
        }
    assert_int_equal(total, NODES - NODES / 4);
    store_release_record(&splits.view);
    store_release_record(&map.view);
}

static void every_method_and_number_of_parts_keeps_the_whole_dataset(void **state)
{
    struct temp_store *t = *state;
    static const int64_t parts[] = {1, 2, 7};
    const struct small_dataset dataset = full_dataset();
    write_dataset(t->store, &dataset);
    for (int method = 0; method < PARTITION_METHOD_COUNT; method++)
        for (size_t i = method <= PARTITION_HASH ? 0 : 2; i < 3 && method != PARTITION_FILE; i++) {
            const struct pipeline_settings settings =
                settings_of("full", (enum partition_method)method, parts[i]);
            struct partition_book book;
            struct partition_report report;
            assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
            open_book(t->store, &settings, &book);
            assert_int_equal(book.part_count, parts[i]);
            assert_int_equal(book.edge_count, EDGES);
            check_topology(t->store, &book);
            check_shards(t->store, &book);
            check_splits(t->store, &book);
            assert_ok(partition_report_get(t->store, book.id, &report, &t->err), &t->err);
            assert_int_equal(report.edge_count, EDGES);
            assert_true(report.nodes.least >= 1);
            assert_true(parts[i] > 1 || report.cut_edges == 0);
            partition_report_release(&report);
            store_release_record(&book.view);
        }
}

static void graphs_of_few_nodes_and_no_edges_can_be_cut_into_single_nodes(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t source[] = {0, 1, 2}, target[] = {0, 0, 1};
    static const struct {
        const char *id;
        uint32_t nodes;
        uint64_t edges;
    } graphs[] = {{"lone", 1, 0}, {"loop", 1, 1}, {"bare", 3, 0}, {"few", 4, 3}};
    for (size_t g = 0; g < 4; g++)
        for (int method = 0; method < PARTITION_METHOD_COUNT; method++) {
            if (method == PARTITION_FILE)
                continue;
            const struct small_dataset dataset = {.id = graphs[g].id,
                                                  .name = graphs[g].id,
                                                  .node_count = graphs[g].nodes,
                                                  .edge_count = graphs[g].edges,
                                                  .source = source,
                                                  .target = target};
            const struct pipeline_settings settings =
                settings_of(graphs[g].id, (enum partition_method)method, graphs[g].nodes);
            struct partition_book book;
            write_dataset(t->store, &dataset);
            assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
            open_book(t->store, &settings, &book);
            for (uint32_t p = 0; p <= graphs[g].nodes; p++)
                assert_int_equal(book.book[p], p);
            assert_int_equal(book.edge_count, graphs[g].edges);
            store_release_record(&book.view);
        }
}

static struct checksum content_of(struct store *store, const char *key)
{
    struct error err = {0};
    struct record_view view;
    assert_ok(store_get(store, key, NULL, &view, &err), &err);
    const struct checksum sum = view.content;
    store_release_record(&view);
    return sum;
}

static void assert_same_content(struct store *a, struct store *b, const char *key)
{
    const struct checksum x = content_of(a, key), y = content_of(b, key);
    if (!checksum_equal(&x, &y))
        fail_msg("%s differs", key);
}

static void assert_same_partition(struct store *a, struct store *b, const char *id, int parts)
{
    static const char *const records[] = {"assignment", "book", "splits", "report"};
    for (size_t i = 0; i < 4; i++)
        assert_same_content(a, b, key_partition(id, records[i]).text);
    for (int p = 0; p < parts; p++) {
        assert_same_content(a, b, key_part(id, p, "topology_seal").text);
        assert_same_content(a, b, key_part(id, p, "shard_seal").text);
    }
}

/* Returns the budget that leaves `bytes` for the work, by the computation of partition.c. */
static uint64_t budget(uint64_t bytes)
{
    return 32ULL * NODES + (64 << 20) + bytes;
}

static void the_bytes_do_not_depend_on_the_memory_budget(void **state)
{
    struct temp_store *t = *state;
    struct temp_dir other_dir;
    struct store *other = NULL;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings settings = settings_of("full", PARTITION_HASH, 5);
    struct partition_book book;
    temp_dir_make(&other_dir);
    assert_ok(store_open(other_dir.path, 0, &other, &t->err), &t->err);
    write_dataset(t->store, &dataset);
    write_dataset(other, &dataset);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    assert_ok(run_partition(other, &settings, budget(14000), false, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    assert_same_partition(t->store, other, book.id, 5);
    store_release_record(&book.view);
    store_close(other);
    temp_dir_remove(&other_dir);
}

/* The generated features do not fit f16, so each stored value is rounded. The labels do not
 * change. */
static void features_are_stored_in_the_type_that_is_set(void **state)
{
    struct temp_store *t = *state;
    static f16 features[FEATURE_BLOCK_ROWS * 5];
    const struct small_dataset dataset = full_dataset();
    struct pipeline_settings settings = settings_of("full", PARTITION_HASH, 3);
    struct partition_book book;
    struct node_permutation map;
    struct feature_shard *shard = NULL;
    uint32_t count = 0;
    write_dataset(t->store, &dataset);
    settings.partition.feature_type = FEATURE_F16;
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    assert_ok(node_permutation_get(t->store, book.id, book.node_count, &map, &t->err), &t->err);
    assert_ok(feature_shard_open(t->store, key_part(book.id, 1, "shard").text,
                                 key_part(book.id, 1, "shard_seal").text, book.id, &shard, &t->err),
              &t->err);
    assert_int_equal(feature_shard_tensor(shard, "features")->type, TENSOR_F16);
    assert_int_equal(feature_shard_tensor(shard, "labels")->type, TENSOR_F32);
    assert_ok(feature_shard_read_block(shard, "features", 0, features, &count, &t->err), &t->err);
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < 5; c++)
            assert_int_equal(features[i * 5 + c], f16_of_float(small_dataset_feature(
                                                      map.to_dataset[book.book[1] + i], c)));
    assert_ok(feature_shard_verify(shard, &t->err), &t->err);
    feature_shard_close(shard);
    store_release_record(&map.view);
    store_release_record(&book.view);
}

static void too_little_memory_is_refused_before_the_work(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    struct pipeline_settings settings = settings_of("full", PARTITION_METIS, 2);
    write_dataset(t->store, &dataset);
    assert_fails(run_partition(t->store, &settings, budget(50000), false, &t->err), ERROR_NO_MEMORY,
                 "METIS takes about ", &t->err);
    settings.partition.method = PARTITION_HASH;
    assert_fails(run_partition(t->store, &settings, budget(500), false, &t->err), ERROR_NO_MEMORY,
                 "give more --memory or make more parts", &t->err);
}

static void an_attempt_that_was_killed_is_finished_with_the_same_bytes(void **state)
{
    struct temp_store *t = *state;
    static const char *const lost[] = {"book", "report", "splits"};
    static const char *const lost_of_part[] = {"shard_seal", "shard", "topology_seal", "topology"};
    struct temp_dir other_dir;
    struct store *other = NULL;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings settings = settings_of("full", PARTITION_METIS, 3);
    struct partition_book book;
    temp_dir_make(&other_dir);
    assert_ok(store_open(other_dir.path, 0, &other, &t->err), &t->err);
    write_dataset(t->store, &dataset);
    write_dataset(other, &dataset);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    assert_ok(run_partition(other, &settings, MEMORY, false, &t->err), &t->err);
    open_book(other, &settings, &book);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(store_remove(t->store, key_partition(book.id, lost[i]).text, &t->err), &t->err);
        assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
        assert_ok(store_remove(t->store, key_partition(book.id, "book").text, &t->err), &t->err);
    }
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j <= i; j++)
            assert_ok(store_remove(t->store, key_part(book.id, 1, lost_of_part[j]).text, &t->err),
                      &t->err);
        assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
        assert_same_partition(t->store, other, book.id, 3);
        assert_ok(store_remove(t->store, key_partition(book.id, "book").text, &t->err), &t->err);
    }
    store_release_record(&book.view);
    store_close(other);
    temp_dir_remove(&other_dir);
}

static void a_partition_that_stands_is_only_switched_to(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings two = settings_of("full", PARTITION_HASH, 2);
    const struct pipeline_settings three = settings_of("full", PARTITION_HASH, 3);
    struct partition_book book;
    write_dataset(t->store, &dataset);
    assert_ok(run_partition(t->store, &two, MEMORY, false, &t->err), &t->err);
    assert_ok(run_partition(t->store, &three, MEMORY, false, &t->err), &t->err);
    /* Without the edges nothing could be built again. */
    assert_ok(store_remove(t->store, key_edge_chunk("full-1", 0).text, &t->err), &t->err);
    assert_ok(run_partition(t->store, &two, MEMORY, false, &t->err), &t->err);
    open_book(t->store, &two, &book);
    assert_int_equal(book.part_count, 2);
    store_release_record(&book.view);
}

static void a_replay_computes_all_again_and_matches(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings settings = settings_of("full", PARTITION_METIS, 4);
    struct store *replay = NULL;
    write_dataset(t->store, &dataset);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    assert_ok(store_open(t->dir.path, STORE_REPLAY, &replay, &t->err), &t->err);
    assert_ok(run_partition(replay, &settings, MEMORY, true, &t->err), &t->err);
    const struct store_replay report = store_replay_report(replay);
    assert_int_equal(report.differed, 0);
    assert_int_equal(report.absent, 0);
    assert_int_equal(report.matched, 5 + 2 * 4); /* five records, and two manifests for each part */
    store_close(replay);
}

static void what_is_missing_or_out_of_range_is_said(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings settings = settings_of("full", PARTITION_METIS, NODES + 1);
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_UNAVAILABLE,
                 "no dataset yet; run ingest", &t->err);
    write_dataset(t->store, &dataset);
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_INVALID,
                 "partition.parts is 91, expected at most 90 parts", &t->err);
}

static void an_assignment_file_is_taken_or_refused_whole(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    struct pipeline_settings settings = settings_of("full", PARTITION_FILE, 3);
    struct partition_book book;
    enum { TEXT_SIZE = 2 * NODES };
    char text[TEXT_SIZE];
    char id[ID_SIZE];
    write_dataset(t->store, &dataset);
    for (size_t v = 0; v < NODES; v++) {
        text[2 * v] = v % 5 == 0 ? '2' : '0';
        text[2 * v + 1] = '\n';
    }
    char *path = settings.partition.assignment;
    (void)snprintf(path, SETTING_PATH_SIZE, "%s",
                   temp_dir_write(&t->dir, "parts.txt", text, TEXT_SIZE));
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_INPUT,
                 "parts.txt: part 1 has no node, expected one in each of 3 parts", &t->err);
    (void)temp_dir_write(&t->dir, "parts.txt", text, TEXT_SIZE - 2);
    assert_fails(run_partition(t->store, &settings, MEMORY, false, &t->err), ERROR_INPUT,
                 "parts.txt:89: expected 90 lines", &t->err);
    assert_false(newest_partition(t->store, &settings, id));
    text[2] = '1';
    (void)temp_dir_write(&t->dir, "parts.txt", text, TEXT_SIZE);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    struct node_permutation map;
    assert_ok(node_permutation_get(t->store, book.id, NODES, &map, &t->err), &t->err);
    for (size_t v = 0; v < NODES; v++) {
        const uint32_t part = (uint32_t)(text[2 * v] - '0');
        assert_in_range(map.to_partition[v], book.book[part], book.book[part + 1] - 1);
    }
    store_release_record(&map.view);
    check_topology(t->store, &book);
    check_shards(t->store, &book);
    store_release_record(&book.view);
}

struct flip {
    struct store *store;
    const struct pipeline_settings *settings;
    int count;
};

/* Damages one byte in the middle of a record's file, expects a message that names it, and restores
 * the byte. */
static enum error_code flip_record(void *context, const char *key, bool is_artifact,
                                   struct error *err)
{
    struct flip *flip = context;
    char path[FILE_PATH_SIZE], *data = NULL;
    char id[ID_SIZE];
    size_t size = 0;
    assert_false(is_artifact);
    assert_ok(file_path(path, err, "%s/%s.record", store_root(flip->store), key), err);
    assert_ok(file_read(path, 0, &data, &size, err), err);
    data[size / 2] ^= 4;
    assert_ok(file_replace(path, data, size, false, err), err);
    assert_fails(run_partition(flip->store, flip->settings, MEMORY, false, err), ERROR_CORRUPT, key,
                 err);
    assert_false(newest_partition(flip->store, flip->settings, id));
    data[size / 2] ^= 4;
    assert_ok(file_replace(path, data, size, false, err), err);
    memory_free(data);
    flip->count++;
    return ERROR_NONE;
}

static void each_flipped_input_is_named_and_a_run_after_the_mend_works(void **state)
{
    struct temp_store *t = *state;
    const struct small_dataset dataset = full_dataset();
    const struct pipeline_settings settings = settings_of("full", PARTITION_METIS, 3);
    struct flip flip = {.store = t->store, .settings = &settings};
    write_dataset(t->store, &dataset);
    assert_ok(store_list(t->store, "dataset/full-1", flip_record, &flip, &t->err), &t->err);
    assert_int_equal(flip.count, 7 + 4); /* edge chunks; schema, labels, splits, features */
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_method_and_number_of_parts_keeps_the_whole_dataset),
        test_with_store(graphs_of_few_nodes_and_no_edges_can_be_cut_into_single_nodes),
        test_with_store(the_bytes_do_not_depend_on_the_memory_budget),
        test_with_store(features_are_stored_in_the_type_that_is_set),
        test_with_store(too_little_memory_is_refused_before_the_work),
        test_with_store(an_attempt_that_was_killed_is_finished_with_the_same_bytes),
        test_with_store(a_partition_that_stands_is_only_switched_to),
        test_with_store(a_replay_computes_all_again_and_matches),
        test_with_store(what_is_missing_or_out_of_range_is_said),
        test_with_store(an_assignment_file_is_taken_or_refused_whole),
        test_with_store(each_flipped_input_is_named_and_a_run_after_the_mend_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
