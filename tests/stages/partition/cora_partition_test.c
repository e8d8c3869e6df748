/* Cora from its files: ingest's reader and builder, then partition, compared with the edges in the
 * files. */
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/partition/partition_report.h"

#include "tests/stages/partition/partition_fixture.h"

#include <stdlib.h>

extern const struct input_format folder_format;

enum { CORA_NODES = 2708, CORA_EDGES = 2 * 5278, MEMORY = 1 << 30 };

static const char *cora_folder(void)
{
    static char path[FILE_PATH_SIZE];
    const char *datasets = getenv("GRAPHMILL_DATASETS"), *source = getenv("GRAPHMILL_SOURCE");
    if (datasets)
        (void)snprintf(path, sizeof path, "%s/cora", datasets);
    else
        (void)snprintf(path, sizeof path, "%s/../shared/datasets/cora", source ? source : ".");
    return file_exists(path) ? path : NULL;
}

static void ingest_cora(struct store *store, const char *folder)
{
    struct error err = {0};
    struct pipeline_settings settings = settings_of("cora", PARTITION_METIS, 4);
    struct dataset_builder *builder = NULL;
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s", folder);
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = &settings,
                                                  .dataset_id = "cora-1",
                                                  .name = "cora",
                                                  .memory_bytes = MEMORY};
    assert_ok(dataset_builder_new(&config, &builder, &err), &err);
    assert_ok(folder_format.run(&settings, MEMORY, builder, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
    publish_dataset(store, "cora", "cora-1");
}

/* Checks that both edges of each line of edges.csv are there, and no others. */
static void check_edges(struct store *store, const char *folder, const struct partition_book *book)
{
    static bool linked[CORA_NODES][CORA_NODES];
    struct error err = {0};
    struct node_permutation map;
    assert_ok(node_permutation_get(store, book->id, book->node_count, &map, &err), &err);
    struct topology topology;
    char path[FILE_PATH_SIZE];
    unsigned from = 0, to = 0, listed = 0, found = 0;
    assert_ok(file_path(path, &err, "%s/edges.csv", folder), &err);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "src,dst"), 0);
    while (fscanf(file, "%u,%u", &from, &to) == 2) { // NOLINT(cert-err34-c): a known file
        linked[from][to] = linked[to][from] = true;
        listed += 2;
    }
    (void)fclose(file);
    assert_ok(topology_open(store, book, &topology, &err), &err);
    assert_ok(topology_open_parts(&topology, NULL, &err), &err);
    for (int p = 0; p < topology.part_count; p++) {
        const struct topology_part *part = &topology.part[p];
        for (uint32_t row = 0; row < part->node_count; row++)
            for (uint64_t e = topology_row_start(part, row); e < topology_row_start(part, row + 1);
                 e++) {
                const uint32_t target = map.to_dataset[part->first_node + row];
                const uint32_t source = map.to_dataset[*topology_neighbor(part, e)];
                assert_true(linked[source][target]);
                linked[source][target] = false;
                found++;
            }
    }
    topology_close(&topology);
    assert_int_equal(found, listed);
    assert_int_equal(found, CORA_EDGES);
    store_release_record(&map.view);
}

static void four_parts_of_cora_hold_all_of_it_and_cut_little(void **state)
{
    struct temp_store *t = *state;
    const char *folder = cora_folder();
    struct pipeline_settings settings = settings_of("cora", PARTITION_METIS, 4);
    struct partition_book book;
    struct partition_report metis, hash;
    ingest_cora(t->store, folder);
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    check_edges(t->store, folder, &book);
    assert_ok(partition_report_get(t->store, book.id, &metis, &t->err), &t->err);
    store_release_record(&book.view);
    settings.partition.method = PARTITION_HASH;
    assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
    open_book(t->store, &settings, &book);
    assert_ok(partition_report_get(t->store, book.id, &hash, &t->err), &t->err);
    assert_true(hash.cut_share > 0.7 && hash.cut_share < 0.8); /* expected: 3 of 4 */
    assert_true(metis.cut_share < 0.15);
    assert_true(metis.nodes.variation < 0.15);
    assert_true(metis.halo < hash.halo);
    partition_report_release(&metis);
    partition_report_release(&hash);
    store_release_record(&book.view);
}

static void embeddings_come_within_twice_the_cut_of_metis(void **state)
{
    struct temp_store *t = *state;
    static const enum partition_method methods[] = {PARTITION_METIS, PARTITION_SPECTRAL,
                                                    PARTITION_RANDOM_WALK};
    double cut[3];
    ingest_cora(t->store, cora_folder());
    for (int m = 0; m < 3; m++) {
        const struct pipeline_settings settings = settings_of("cora", methods[m], 8);
        struct partition_book book;
        struct partition_report report;
        assert_ok(run_partition(t->store, &settings, MEMORY, false, &t->err), &t->err);
        open_book(t->store, &settings, &book);
        assert_ok(partition_report_get(t->store, book.id, &report, &t->err), &t->err);
        cut[m] = report.cut_share;
        assert_true(m == 0 || report.nodes.ratio <= 1.05);
        partition_report_release(&report);
        store_release_record(&book.view);
    }
    assert_true(cut[1] <= 2 * cut[0]);
    assert_true(cut[2] <= 2 * cut[0]);
}

int main(void)
{
    enum { EXIT_SKIPPED = 77 };
    if (!cora_folder()) {
        print_message("skipped: no folder cora in GRAPHMILL_DATASETS\n");
        return EXIT_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        test_with_store(four_parts_of_cora_hold_all_of_it_and_cut_little),
        test_with_store(embeddings_come_within_twice_the_cut_of_metis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
