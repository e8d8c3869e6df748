#include "stages/ingest/formats/folders/unread_files.h"
#include "stages/plan/settings/dataset_format.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static char said[2048];

static void say(void *context, const char *name, const char *meant)
{
    const size_t at = strlen(said);
    (void)context;
    (void)snprintf(said + at, sizeof said - at, "%s>%s ", name, meant ? meant : "");
}

static const char *unread(const struct temp_dir *dir, const char *format, const char *split)
{
    static struct pipeline_settings settings;
    struct error err = {0};
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s", dir->path);
    (void)snprintf(settings.ingest.split, sizeof settings.ingest.split, "%s", split);
    settings.ingest.format = dataset_format_find(format);
    said[0] = '\0';
    assert_ok(unread_files_visit(&settings, say, NULL, &err), &err);
    return said;
}

static void put(const struct temp_dir *dir, const char *name)
{
    (void)temp_dir_write(dir, name, "", 0);
}

static void put_meta(const struct temp_dir *dir)
{
    static const char meta[] = "{\"num_nodes\": 3, \"directed\": false}";
    (void)temp_dir_write(dir, "meta.json", meta, sizeof meta - 1);
}

static void files_of_the_format_are_not_mentioned(void **state)
{
    const struct temp_dir *dir = *state;
    static const char *const names[] = {"edges.csv.gz",     "node-feat.npy",   "feat_indptr.npy",
                                        "feat_indices.npy", "feat_values.npy", "node-label.npy",
                                        "train.csv",        "valid.csv.gz",    "test.npy",
                                        "README.md",        ".gitignore"};
    put_meta(dir);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(dir, names[i]);
    assert_string_equal(unread(dir, "folder", "given"), "");
    assert_string_equal(unread(dir, "folder", "random 60/20/20"),
                        "test.npy> train.csv> valid.csv.gz> ");
    assert_string_equal(unread(dir, "edge_list", "given"), "");
}

static void near_names_lead_to_what_was_meant(void **state)
{
    const struct temp_dir *dir = *state;
    static const struct {
        const char *name, *meant;
    } cases[] = {{"node_feat.npy", "node-feat.npy"},
                 {"features.npy", "node-feat.npy"},
                 {"x.npy", "node-feat.npy"},
                 {"node-feat.csv", "node-feat.npy"},
                 {"Node_Feat.npz", "node-feat.npy"},
                 {"val.csv", "valid.csv"},
                 {"val_mask.npy", "valid.csv"},
                 {"labels.npy", "node-label.csv"},
                 {"y.npy", "node-label.csv"},
                 {"node_label.csv", "node-label.csv"},
                 {"edge_index.npy", "edges.csv"},
                 {"edges.txt", "edges.csv"},
                 {"train_idx.txt", "train.csv"},
                 {"test.txt", "test.csv"},
                 {"feat-indptr.npy", "feat_indptr.npy"},
                 {"notes.csv", ""}};
    put_meta(dir);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[FILE_PATH_SIZE], expected[256];
        struct error err = {0};
        put(dir, cases[i].name);
        (void)snprintf(expected, sizeof expected, "%s>%s ", cases[i].name, cases[i].meant);
        assert_string_equal(unread(dir, "folder", "given"), expected);
        assert_ok(file_path(path, &err, "%s/%s", dir->path, cases[i].name), &err);
        assert_ok(file_remove_all(path, &err), &err);
    }
}

static void features_of_types_have_their_names(void **state)
{
    const struct temp_dir *dir = *state;
    static const char types[] = "type,name,count,first_id\n0,paper,2,0\n1,author,1,2\n";
    put_meta(dir);
    (void)temp_dir_write(dir, "node-types.csv", types, sizeof types - 1);
    put(dir, "paper-feat.npy");
    put(dir, "author-feat_indptr.npy");
    put(dir, "author-node-feat.npy");
    put(dir, "venue-feat.npy");
    assert_string_equal(unread(dir, "folder", "given"),
                        "author-node-feat.npy>author-feat.npy venue-feat.npy> ");
}

static void the_benchmark_has_names_of_its_own(void **state)
{
    const struct temp_dir *dir = *state;
    put(dir, "README.md");
    char raw[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(raw, &err, "%s/raw", dir->path), &err);
    assert_ok(file_make_folders(raw, &err), &err);
    put(dir, "raw/edge.csv.gz");
    put(dir, "raw/num-node-list.csv");
    put(dir, "raw/node_feat.csv.gz");
    put(dir, "raw/node_year.csv.gz");
    assert_string_equal(unread(dir, "ogb", "given"),
                        "node_feat.csv.gz>node-feat.csv.gz node_year.csv.gz> ");
    put(dir, "raw/graph-label.csv.gz");
    put(dir, "raw/graph-label.npz");
    put(dir, "raw/graph-labels.csv.gz");
    assert_string_equal(unread(dir, "ogb", "given"),
                        "graph-labels.csv.gz>graph-label.csv.gz node_feat.csv.gz>node-feat.csv.gz "
                        "node_year.csv.gz> ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_the_format_are_not_mentioned),
        TEST(near_names_lead_to_what_was_meant),
        TEST(features_of_types_have_their_names),
        TEST(the_benchmark_has_names_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
