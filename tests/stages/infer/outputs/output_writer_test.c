/*
 * The output files: each row belongs to the right node, in the ids of the input.
 */
#define INFER_RUN_WITH_STAGE
#include "common/base/json.h"
#include "common/formats/arrays/npy_reader.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/round/outputs_seal.h"

#include "tests/stages/infer/infer_run.h"

enum { LINE_SIZE = 256 };

static void infer_layers(struct infer_run *run)
{
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    for (int layer = 1; layer <= run->model.config.layer_count; layer++)
        for (int part = 0; part < INFER_PARTS; part++)
            assert_ok(infer_run_work(run, UNIT_INFER, layer, part), &run->err);
}

static void output_path(struct infer_run *run, const char *name, char path[FILE_PATH_SIZE])
{
    char folder[FILE_PATH_SIZE];
    assert_ok(store_artifact(run->temp->store,
                             key_outputs(INFER_RUN_ID, infer_run_version(run), "").text, folder,
                             &run->err),
              &run->err);
    assert_ok(file_path(path, &run->err, "%s/%s", folder, name), &run->err);
}

/* Checks that row i of embeddings.npy belongs to dataset node i, from the layer before the last,
 * or the only one. */
static void assert_embeddings(struct infer_run *run)
{
    const int layers = run->model.config.layer_count, layer = layers > 1 ? layers - 1 : 1;
    const uint32_t dim = model_layer_output_dim(&run->model, layer - 1);
    char path[FILE_PATH_SIZE];
    struct npy_reader reader = {0};
    float *expected = infer_run_layer(run, infer_run_version(run), layer, dim);
    float row[64];
    output_path(run, "embeddings.npy", path);
    assert_ok(npy_reader_open(&reader, path, &run->err), &run->err);
    assert_int_equal(reader.header.type, NPY_F32);
    assert_int_equal(reader.header.shape[0], INFER_NODES);
    assert_int_equal(reader.header.shape[1], dim);
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        assert_ok(npy_reader_float(&reader, (uint64_t)node * dim, dim, row, &run->err), &run->err);
        assert_memory_equal(row, expected + (size_t)run->to_partition[node] * dim,
                            dim * sizeof *row);
    }
    npy_reader_close(&reader);
    memory_free(expected);
}

static uint32_t best_of(const float *logit, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < count; c++)
        best = logit[c] > logit[best] ? c : best;
    return best;
}

static double softmax_of(const float *logit, uint32_t class, uint32_t count)
{
    double sum = 0;
    for (uint32_t c = 0; c < count; c++)
        sum += exp((double)logit[c] - (double)logit[class]);
    return 1 / sum;
}

static void single_line(const struct infer_case *what, uint32_t node, const float *logit,
                        uint32_t classes, char *line, size_t size)
{
    static const char *const names[] = {"", "train", "valid", "test"};
    char label[16] = "";
    if (infer_run_has_label(node))
        (void)snprintf(label, sizeof label, "%u", node % classes);
    (void)snprintf(line, size, "%s,%s,%u,", names[infer_run_split(what, node) + 1], label,
                   best_of(logit, classes));
}

typedef void (*id_maker)(uint32_t node, char *text, size_t size);

/* Checks every line of predictions.csv: the id, the known label, the prediction. */
static void assert_predictions(struct infer_run *run, const struct infer_case *what, id_maker id)
{
    const uint32_t classes = run->book.class_count;
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    float *logits =
        infer_run_layer(run, infer_run_version(run), run->model.config.layer_count, classes);
    output_path(run, "predictions.csv", path);
    assert_ok(file_read(path, 0, &text, &size, &run->err), &run->err);
    const char *at = text;
    static const char header[] = "node,split,label,prediction,probability\n";
    assert_memory_equal(at, header, sizeof header - 1);
    at += sizeof header - 1;
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        const float *logit = logits + (size_t)run->to_partition[node] * classes;
        char expected[3 * LINE_SIZE], rest[LINE_SIZE], name[LINE_SIZE];
        char *end = NULL;
        id(node, name, sizeof name);
        single_line(what, node, logit, classes, rest, sizeof rest);
        (void)snprintf(expected, sizeof expected, "%s,%s", name, rest);
        if (strncmp(at, expected, strlen(expected)) != 0)
            fail_msg("expected '%s', found '%.*s'", expected, (int)strcspn(at, "\n"), at);
        const double probability = strtod(at + strlen(expected), &end);
        assert_true(fabs(probability - softmax_of(logit, best_of(logit, classes), classes)) < 1e-5);
        assert_int_equal(*end, '\n');
        at = end + 1;
    }
    assert_int_equal(*at, '\0');
    memory_free(text);
    memory_free(logits);
}

static void consecutive_id(uint32_t node, char *text, size_t size)
{
    (void)snprintf(text, size, "%u", node);
}

static int64_t integer_of(uint32_t node)
{
    return node % 2 ? -5000000000LL - node : 7LL * node;
}

static void integer_id(uint32_t node, char *text, size_t size)
{
    (void)snprintf(text, size, "%lld", (long long)integer_of(node));
}

/* Writes an id of the input, and if `quoted` the form that RFC 4180 gives it. */
static void string_of(uint32_t node, char *text, size_t size, bool quoted)
{
    static const char *const before[] = {"user ", "a,b ", "say \"", "\xc3\xa4 two\nlines "};
    static const char *const after[] = {"", "", "\"", ""};
    static const char *const csv_before[] = {"user ", "\"a,b ", "\"say \"\"",
                                             "\"\xc3\xa4 two\nlines "};
    static const char *const csv_after[] = {"", "\"", "\"\"\"", "\""};
    (void)snprintf(text, size, "%s%u%s", (quoted ? csv_before : before)[node % 4], node,
                   (quoted ? csv_after : after)[node % 4]);
}

static void string_id(uint32_t node, char *text, size_t size)
{
    string_of(node, text, size, true);
}

static void put_integer_ids(struct infer_run *run)
{
    static int64_t integer[INFER_NODES];
    for (uint32_t node = 0; node < INFER_NODES; node++)
        integer[node] = integer_of(node);
    const struct node_ids ids = {.node_count = INFER_NODES, .integer = integer};
    assert_ok(node_ids_put(run->temp->store, INFER_DATASET_ID, &ids, &run->err), &run->err);
}

static void put_string_ids(struct infer_run *run)
{
    static uint64_t offset[INFER_NODES + 1];
    static char text[INFER_NODES * 32];
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        string_of(node, text + offset[node], 32, false);
        offset[node + 1] = offset[node] + strlen(text + offset[node]);
    }
    const struct node_ids ids = {.node_count = INFER_NODES, .offset = offset, .text = text};
    assert_ok(node_ids_put(run->temp->store, INFER_DATASET_ID, &ids, &run->err), &run->err);
}

static void check_ids(void *temp, void (*put)(struct infer_run *), id_maker id)
{
    const struct infer_case what = {0};
    struct infer_run *run = infer_run_new(temp, &what);
    if (put)
        put(run);
    infer_layers(run);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_predictions(run, &what, id);
    assert_embeddings(run);
    infer_run_close(run);
}

static void consecutive_ids_are_the_numbers_of_nodes(void **state)
{
    check_ids(*state, NULL, consecutive_id);
}

static void integer_ids_come_back(void **state)
{
    check_ids(*state, put_integer_ids, integer_id);
}

static void string_ids_come_back_quoted_where_needed(void **state)
{
    check_ids(*state, put_string_ids, string_id);
}

/* Checks metrics.json against the simplest possible count. */
static void assert_metrics(struct infer_run *run, const struct infer_case *what, int split,
                           const struct json_node *found)
{
    const uint32_t classes = run->book.class_count;
    const bool multi = run->book.task == TASK_MULTI_LABEL;
    float *logits =
        infer_run_layer(run, infer_run_version(run), run->model.config.layer_count, classes);
    int64_t nodes = 0, told = 0;
    double right = 0, accuracy = 0;
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        const float *logit = logits + (size_t)run->to_partition[node] * classes;
        if (infer_run_split(what, node) != split || !infer_run_has_label(node))
            continue;
        nodes++;
        for (uint32_t c = 0; multi && c < classes; c++)
            right += ((node + c) % 3 == 0) == (logit[c] > 0) ? 1.0 / classes : 0;
        right += !multi && best_of(logit, classes) == node % classes;
    }
    assert_true(json_int64(json_get(found, "nodes"), &told));
    assert_int_equal(told, nodes);
    assert_true(json_double(json_get(found, "accuracy"), &accuracy));
    assert_true(fabs(accuracy - right / (double)nodes) < 1e-9);
    assert_true((json_get(found, "roc_auc") != NULL) == (classes == 2 || multi));
    assert_true((json_get(found, "average_precision") != NULL) == multi);
    memory_free(logits);
}

static void check_case(const struct infer_case *what)
{
    static const char *const names[] = {"train", "valid", "test"};
    static struct outputs_seal seal;
    struct json_document *document = NULL;
    void *temp = NULL;
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    assert_int_equal(temp_store_setup(&temp), 0);
    struct infer_run *run = infer_run_new(temp, what);
    infer_layers(run);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_embeddings(run);
    /* the memory holds the scores of three of five labels at a time; the store would refuse
     * files that differ */
    run->context.memory_bytes = 300 << 10;
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    if (run->book.task == TASK_SINGLE_LABEL)
        assert_predictions(run, what, consecutive_id);
    output_path(run, "metrics.json", path);
    assert_ok(file_read(path, 0, &text, &size, &run->err), &run->err);
    assert_ok(outputs_seal_get(run->temp->store, infer_run_seal(run).text, INFER_RUN_ID, &seal,
                               &run->err),
              &run->err);
    assert_string_equal(seal.metrics, text);
    assert_ok(json_parse(text, size, path, &document, &run->err), &run->err);
    for (int split = 0; split < SPLIT_COUNT; split++) {
        const struct json_node *found = json_get(json_root(document), names[split]);
        assert_true((found != NULL) == (split == SPLIT_TRAIN || !what->only_train));
        if (found)
            assert_metrics(run, what, split, found);
    }
    json_free(document);
    memory_free(text);
    infer_run_close(run);
    assert_int_equal(temp_store_teardown(&temp), 0);
}

static void tasks_layers_and_splits_of_all_kinds_are_written(void **state)
{
    static const struct infer_case cases[] = {
        {.fanouts = "5"},
        {.class_count = 2},
        {.only_train = true},
        {.model = "gcn", .fanouts = "5", .task = TASK_MULTI_LABEL, .class_count = 2},
        {.task = TASK_MULTI_LABEL, .class_count = 5},
        {.task = TASK_MULTI_LABEL, .only_train = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* With room for a part of the rows at a time, all files have the same bytes as with room for
 * all. */
static void ranges_of_the_input_give_the_same_files(void **state)
{
    static struct outputs_seal seal[2];
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_layers(run);
    for (int i = 0; i < 2; i++) {
        const struct key key = key_outputs(INFER_RUN_ID, infer_run_version(run), "");
        if (i)
            run->context.memory_bytes = 1 << 17;
        assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
        assert_ok(outputs_seal_get(run->temp->store, infer_run_seal(run).text, INFER_RUN_ID,
                                   &seal[i], &run->err),
                  &run->err);
        assert_embeddings(run);
        assert_predictions(run, &(struct infer_case){0}, consecutive_id);
        assert_ok(store_remove(run->temp->store, infer_run_seal(run).text, &run->err), &run->err);
        assert_ok(store_remove(run->temp->store, key.text, &run->err), &run->err);
    }
    assert_string_equal(seal[0].files, seal[1].files);
    run->context.memory_bytes = 1 << 13;
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_NO_MEMORY,
                 "the outputs of 256 nodes want", &run->err);
    infer_run_close(run);
}

/* The seal lists all files, sorted, and there is no file that was not asked for. */
static void only_what_is_asked_for_is_written(void **state)
{
    static struct outputs_seal seal;
    char path[FILE_PATH_SIZE];
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_run_set(run, "infer.embeddings", "false");
    infer_run_set(run, "infer.predictions", "false");
    infer_layers(run);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_ok(outputs_seal_get(run->temp->store, infer_run_seal(run).text, INFER_RUN_ID, &seal,
                               &run->err),
              &run->err);
    assert_memory_equal(seal.files, "metrics.json ", 13);
    assert_memory_equal(strchr(seal.files, '\n') + 1, "model.safetensors ", 18);
    output_path(run, "embeddings.npy", path);
    assert_false(file_exists(path));
    output_path(run, "predictions.csv", path);
    assert_false(file_exists(path));
    infer_run_close(run);
}

/* Embeddings without predictions: the ids have a separate file with one line per node, in the
 * input's order. */
static void embeddings_alone_come_with_the_ids_of_their_rows(void **state)
{
    char path[FILE_PATH_SIZE], expected[64];
    char *text = NULL;
    size_t size = 0;
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_run_set(run, "infer.predictions", "false");
    put_string_ids(run);
    infer_layers(run);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_embeddings(run);
    output_path(run, "node_ids.csv", path);
    assert_ok(file_read(path, 0, &text, &size, &run->err), &run->err);
    const char *line = text;
    assert_memory_equal(line, "node\n", 5);
    line += 5;
    for (uint32_t node = 0; node < INFER_NODES; node++) {
        string_id(node, expected, sizeof expected);
        assert_memory_equal(line, expected, strlen(expected));
        line += strlen(expected);
        assert_int_equal(*line, '\n');
        line++;
    }
    assert_int_equal(line - text, size);
    memory_free(text);
    infer_run_close(run);
}

static void ids_of_another_dataset_are_refused(void **state)
{
    static const int64_t integer[3] = {1, 2, 3};
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    const struct node_ids ids = {.node_count = 3, .integer = integer};
    assert_ok(node_ids_put(run->temp->store, INFER_DATASET_ID, &ids, &run->err), &run->err);
    infer_layers(run);
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_CORRUPT,
                 "node ids of dataset-1: expected 2500 nodes, found 3", &run->err);
    infer_run_close(run);
}

static void splits_and_labels_out_of_range_are_refused(void **state)
{
    static const uint32_t beyond[1] = {INFER_NODES};
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    const struct key key = key_partition(INFER_PARTITION_ID, "splits");
    const struct node_splits splits = {.count = {0, 1, 0}, .node = {beyond, beyond, beyond}};
    infer_layers(run);
    run->book.class_count = 2; /* the shards have labels up to 2 */
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_CORRUPT,
                 "expected -1 to 1, found 2", &run->err);
    assert_ok(store_remove(run->temp->store, key.text, &run->err), &run->err);
    assert_ok(node_splits_put(run->temp->store, key.text, INFER_PARTITION_ID, &splits, &run->err),
              &run->err);
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_CORRUPT,
                 "split valid: expected nodes below 2500, found 2500", &run->err);
    infer_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(consecutive_ids_are_the_numbers_of_nodes),
        test_with_store(integer_ids_come_back),
        test_with_store(string_ids_come_back_quoted_where_needed),
        test_with_store(embeddings_alone_come_with_the_ids_of_their_rows),
        cmocka_unit_test(tasks_layers_and_splits_of_all_kinds_are_written),
        test_with_store(ranges_of_the_input_give_the_same_files),
        test_with_store(only_what_is_asked_for_is_written),
        test_with_store(ids_of_another_dataset_are_refused),
        test_with_store(splits_and_labels_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
