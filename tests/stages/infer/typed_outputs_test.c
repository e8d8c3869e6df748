/*
 * The stage on a graph with relations: the units of a whole inference, and files for the target
 * type only, in the ids and the order of the input.
 */
#define INFER_RUN_WITH_STAGE
#include "common/base/json.h"
#include "common/formats/arrays/npy_reader.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/round/outputs_seal.h"

#include "tests/stages/infer/typed_run.h"

enum { PAPERS = 3500, CLASSES = 3, HIDDEN = 8 };

static const char *const settings[] = {"ingest.relations=true", "train-step.model=rgcn",
                                       "train-step.hidden=8",   "train-step.projection=linear",
                                       "sample.fanouts=3,3",    NULL};

static enum error_code work(struct typed_run *run, enum unit_kind kind, int layer, int part)
{
    const struct unit unit = {.kind = kind, .round = 5, .layer = layer, .slot = part};
    run->err = (struct error){0};
    return stage.work(&run->context, run->state, &unit, &run->err);
}

static struct typed_run *inferred(void *temp)
{
    struct typed_run *run = typed_run_new(temp, settings);
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    for (int layer = 1; layer <= 2; layer++)
        for (int part = 0; part < TYPED_RUN_PARTS; part++)
            assert_ok(work(run, UNIT_INFER, layer, part), &run->err);
    return run;
}

static char *read_output(struct typed_run *run, const char *name)
{
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    assert_ok(
        store_artifact(run->temp->store, key_outputs(INFER_RUN_ID, 5, "").text, folder, &run->err),
        &run->err);
    assert_ok(file_path(path, &run->err, "%s/%s", folder, name), &run->err);
    if (!file_exists(path))
        return NULL;
    assert_ok(file_read(path, 0, &text, &size, &run->err), &run->err);
    return text;
}

static const uint32_t *paper_numbers(void)
{
    static uint32_t number[PAPERS]; /* for each paper of the dataset */
    for (uint32_t i = 0; i < PAPERS; i++)
        number[typed_run_given(TYPED_PAPER, i)] = i;
    return number;
}

static uint32_t best_of(const float *logit)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < CLASSES; c++)
        best = logit[c] > logit[best] ? c : best;
    return best;
}

/* Checks the line of each paper, in the order of the input. `id` writes the id of a dataset
 * node. */
static void assert_predictions(struct typed_run *run, void (*id)(uint32_t node, char *text))
{
    static const char *const names[] = {"", "train", "valid", "test"};
    static const char header[] = "node,split,label,prediction,probability\n";
    const uint32_t *number = paper_numbers();
    float *logits = typed_run_layer(run, 2, TYPED_PAPER, CLASSES);
    char *text = read_output(run, "predictions.csv");
    assert_non_null(text);
    assert_memory_equal(text, header, sizeof header - 1);
    const char *at = text + sizeof header - 1;
    for (uint32_t given = 0; given < PAPERS; given++) {
        const float *logit = logits + (size_t)number[given] * CLASSES;
        char expected[128], name[64], label[16] = "";
        id(typed_run_first(TYPED_PAPER) + given, name);
        if (typed_run_has_label(given))
            (void)snprintf(label, sizeof label, "%u", given % CLASSES);
        (void)snprintf(expected, sizeof expected, "%s,%s,%s,%u,", name,
                       names[typed_run_split(given) + 1], label, best_of(logit));
        if (strncmp(at, expected, strlen(expected)) != 0)
            fail_msg("expected '%s', found '%.*s'", expected, (int)strcspn(at, "\n"), at);
        at = strchr(at, '\n') + 1;
    }
    assert_int_equal(*at, '\0');
    memory_free(text);
    memory_free(logits);
}

static void assert_embeddings(struct typed_run *run)
{
    const uint32_t *number = paper_numbers();
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    struct npy_reader reader = {0};
    float row[HIDDEN], *expected = typed_run_layer(run, 1, TYPED_PAPER, HIDDEN);
    assert_ok(
        store_artifact(run->temp->store, key_outputs(INFER_RUN_ID, 5, "").text, folder, &run->err),
        &run->err);
    assert_ok(file_path(path, &run->err, "%s/embeddings.npy", folder), &run->err);
    assert_ok(npy_reader_open(&reader, path, &run->err), &run->err);
    assert_int_equal(reader.header.shape[0], PAPERS);
    assert_int_equal(reader.header.shape[1], HIDDEN);
    for (uint32_t given = 0; given < PAPERS; given++) {
        assert_ok(npy_reader_float(&reader, (uint64_t)given * HIDDEN, HIDDEN, row, &run->err),
                  &run->err);
        assert_memory_equal(row, expected + (size_t)number[given] * HIDDEN, sizeof row);
    }
    npy_reader_close(&reader);
    memory_free(expected);
}

static void assert_metrics(struct typed_run *run)
{
    static const char *const names[] = {"train", "valid", "test"};
    const uint32_t *number = paper_numbers();
    float *logits = typed_run_layer(run, 2, TYPED_PAPER, CLASSES);
    char *text = read_output(run, "metrics.json");
    struct json_document *document = NULL;
    assert_ok(json_parse(text, strlen(text), "metrics.json", &document, &run->err), &run->err);
    for (int split = 0; split < SPLIT_COUNT; split++) {
        const struct json_node *found = json_get(json_root(document), names[split]);
        int64_t nodes = 0, told = 0, right = 0;
        double accuracy = 0;
        for (uint32_t given = 0; given < PAPERS; given++) {
            if (typed_run_split(given) != split || !typed_run_has_label(given))
                continue;
            nodes++;
            right += best_of(logits + (size_t)number[given] * CLASSES) == given % CLASSES;
        }
        assert_true(json_int64(json_get(found, "nodes"), &told));
        assert_int_equal(told, nodes);
        assert_true(json_double(json_get(found, "accuracy"), &accuracy));
        assert_true(fabs(accuracy - (double)right / (double)nodes) < 1e-9);
    }
    json_free(document);
    memory_free(text);
    memory_free(logits);
}

static void consecutive_id(uint32_t node, char *text)
{
    (void)sprintf(text, "%u", node);
}

static void string_id(uint32_t node, char *text)
{
    (void)sprintf(text, "n-%x", node * 7);
}

static void put_string_ids(struct typed_run *run)
{
    static uint64_t offset[TYPED_RUN_NODES + 1];
    static char text[TYPED_RUN_NODES * 16];
    for (uint32_t node = 0; node < TYPED_RUN_NODES; node++) {
        string_id(node, text + offset[node]);
        offset[node + 1] = offset[node] + strlen(text + offset[node]);
    }
    const struct node_ids ids = {.node_count = TYPED_RUN_NODES, .offset = offset, .text = text};
    assert_ok(node_ids_put(run->temp->store, run->book.dataset_id, &ids, &run->err), &run->err);
}

/* The outputs are written again with little memory. The store would refuse files that differ. */
static void the_files_are_of_the_target_type(void **state)
{
    struct typed_run *run = inferred(*state);
    assert_ok(work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_predictions(run, consecutive_id);
    assert_embeddings(run);
    assert_metrics(run);
    assert_null(read_output(run, "node_ids.csv"));
    run->context.memory_bytes = 1 << 16;
    assert_ok(work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    typed_run_close(run);
}

static void ids_of_the_input_come_back(void **state)
{
    struct typed_run *run = inferred(*state);
    put_string_ids(run);
    assert_ok(work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    assert_predictions(run, string_id);
    typed_run_close(run);
}

/* Row 0 of the embeddings is not node 0, so the ids have a separate file. */
static void embeddings_alone_come_with_the_ids_of_their_rows(void **state)
{
    struct typed_run *run = inferred(*state);
    assert_ok(pipeline_settings_override(&run->settings, "infer.predictions=false", &run->err),
              &run->err);
    assert_ok(work(run, UNIT_OUTPUTS, 0, 0), &run->err);
    char *text = read_output(run, "node_ids.csv");
    assert_non_null(text);
    assert_memory_equal(text, "node\n4000\n4001\n", 15);
    memory_free(text);
    typed_run_close(run);
}

static void a_split_of_another_type_is_refused(void **state)
{
    struct typed_run *run = inferred(*state);
    const uint32_t author = run->type_start[TYPED_AUTHOR];
    const struct node_splits splits = {.count = {1, 0, 0}, .node = {&author, &author, &author}};
    const struct key key = key_partition(run->book.id, "splits");
    assert_ok(store_remove(run->temp->store, key.text, &run->err), &run->err);
    assert_ok(node_splits_put(run->temp->store, key.text, run->book.id, &splits, &run->err),
              &run->err);
    assert_fails(work(run, UNIT_OUTPUTS, 0, 0), ERROR_CORRUPT,
                 "split train: expected nodes of type paper, found 0", &run->err);
    typed_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(the_files_are_of_the_target_type),
        test_with_store(ids_of_the_input_come_back),
        test_with_store(embeddings_alone_come_with_the_ids_of_their_rows),
        test_with_store(a_split_of_another_type_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
