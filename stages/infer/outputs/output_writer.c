#include "stages/infer/outputs/output_writer.h"

#include "common/base/memory.h"
#include "common/formats/arrays/npy_writer.h"
#include "common/nn/tasks/tally.h"
#include "common/parallel/first_failure.h"
#include "common/parallel/tile_turns.h"
#include "stages/infer/outputs/graph_outputs.h"
#include "stages/infer/outputs/link_outputs.h"
#include "stages/infer/outputs/output_lines.h"
#include "stages/infer/outputs/output_nodes.h"
#include "stages/infer/outputs/output_publication.h"
#include "stages/infer/outputs/output_rows.h"
#include "stages/infer/rows/chosen_rows.h"
#include "stages/infer/windows/part_inference.h"
#include "stages/plan/model/run_loss.h"
#include "store/features/feature_source.h"
#include "store/records/round/outputs_seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Shares of the memory for rows in the order of the input, and for scores of labels. */
enum { ROWS_SHARE = 5, ALL_ROWS_SHARES = 8, SCORES_SHARE = 4 };

struct outputs {
    const struct output_request *request;
    char folder[FILE_PATH_SIZE];
    struct output_nodes nodes;
    struct feature_source *logits, *labels, *embeddings;
    struct run_loss loss;
    struct tally tally[SPLIT_COUNT];
    struct edge_bank edge_bank;
    struct output_rows rows;
    struct graph_outputs graphs; /* computes the rows in a task of graphs */
    struct npy_writer embedding_file;
    struct prediction_table table;
    struct output_lines *lines;
    char predictions[FILE_PATH_SIZE]; /* path of predictions.csv; empty: not wanted */
    uint64_t measured[SPLIT_COUNT];   /* examples in the tallies */
    uint64_t predictions_size;        /* set when the file is written */
    struct checksum predictions_sum;
    /* [row_count] if only some nodes are wanted: their rows among all nodes; otherwise NULL */
    uint32_t *wanted_row;
    char *selected_labels;   /* [row_count] if only some nodes are wanted; otherwise NULL */
    struct tile_turns turns; /* orders the writes of pieces */
    struct first_failure failure;
};

/* A head makes the outputs of a task from the output of the last layer. There is one for each
 * kind of example. */
struct output_head {
    /* Embeddings cover the nodes of all types, which follow each other in a dataset. */
    bool of_all_types;
    bool has_lines; /* whether each row is a line of predictions.csv */
    enum error_code (*open_rows)(struct outputs *o, struct error *err);
    enum error_code (*read_range)(struct outputs *o, uint32_t first, struct error *err);
    /* Opens the same rows for another pass that only counts. */
    enum error_code (*open_pass)(const struct outputs *o, struct outputs *pass, struct error *err);
    enum error_code (*finish)(struct outputs *o, struct error *err);
};
static const struct output_head *head_of(const struct outputs *o);

/* Returns the number of rows in the files. */
static uint32_t row_count(const struct outputs *o)
{
    if (o->request->wanted)
        return o->request->wanted->count;
    return head_of(o)->of_all_types ? o->request->context->book->node_count : o->nodes.count;
}

static enum error_code open_rows(const struct feature_source_config *config, uint32_t dim,
                                 struct feature_source **out, struct error *err)
{
    const enum error_code rc = feature_source_open(config, out, err);
    if (rc == ERROR_NONE && feature_source_dim(*out) != dim)
        return error_set(err, ERROR_CORRUPT,
                         "tensor %s of %s: expected rows of %" PRIu32 " values, found %" PRIu32,
                         config->tensor, config->id, dim, feature_source_dim(*out));
    return rc;
}

static enum error_code open_layer(const struct outputs *o, int layer, struct feature_source **out,
                                  struct error *err)
{
    const struct output_request *request = o->request;
    const struct stage_context *context = request->context;
    char tensor[TENSOR_NAME_SIZE];
    layer_tensor_of_type(o->nodes.type, tensor);
    const struct feature_source_config config = {
        .store = context->store,
        .origin = FEATURES_OF_INFER_LAYER,
        .id = context->run_id,
        .layer = layer,
        .weights = request->identity,
        .part_count = context->book->part_count,
        .book = o->nodes.book,
        .tensor = tensor,
        .only_read = true,
    };
    return open_rows(&config, model_layer_output_dim(request->model, layer - 1), out, err);
}

static enum error_code open_labels(const struct outputs *o, struct feature_source **out,
                                   struct error *err)
{
    const struct stage_context *context = o->request->context;
    const struct feature_source_config config = {
        .store = context->store,
        .origin = FEATURES_OF_PARTITION,
        .id = context->book->id,
        .node_type = o->nodes.type,
        .part_count = context->book->part_count,
        .book = o->nodes.book,
        .tensor = "labels",
        .only_read = true,
    };
    const struct task *task = task_of(context->book->task);
    return open_rows(&config, task->label_width(context->book->class_count), out, err);
}

/* Returns the number of score columns that fit in memory at a time. A row of one column takes
 * five bytes, up to twice that while an array grows, and eight more while it is sorted. */
static uint32_t columns_at_a_time(const struct outputs *o)
{
    enum { SCORE_BYTES = 10, SORT_BYTES = 8 };
    const struct stage_context *context = o->request->context;
    const uint32_t all =
        task_score_columns(task_of(context->book->task), context->book->class_count);
    uint64_t rows = 0, most = 0;
    for (int split = 0; split < SPLIT_COUNT; split++) {
        rows += o->nodes.split_count[split];
        most = o->nodes.split_count[split] > most ? o->nodes.split_count[split] : most;
    }
    const uint64_t budget = context->memory_bytes / SCORES_SHARE, sort = most * SORT_BYTES;
    const uint64_t fit = rows && budget > sort ? (budget - sort) / (rows * SCORE_BYTES) : 0;
    return fit < all ? (fit ? (uint32_t)fit : all > 0) : all;
}

static enum error_code init_tallies(struct outputs *o, struct error *err)
{
    const struct stage_context *context = o->request->context;
    enum error_code rc =
        run_loss_init(&o->loss, context->store, context->settings, context->book, err);
    const struct tally_form form = run_loss_tally(&o->loss, context->book, true);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++) {
        o->measured[split] = o->nodes.split_count[split];
        rc = tally_init(&o->tally[split], &form, err);
        tally_keep_columns(&o->tally[split], 0, columns_at_a_time(o));
    }
    return rc;
}

static enum output_tensor embedded(const struct outputs *o)
{
    return o->rows.row_bytes[OUTPUT_EMBEDDINGS] ? OUTPUT_EMBEDDINGS : OUTPUT_LOGITS;
}

/* Returns whether node_ids.csv is needed: embeddings are wanted, their ids are not 0 .. N-1, and
 * no other file has them. */
static bool needs_ids(const struct outputs *o)
{
    const struct pipeline_settings *settings = o->request->context->settings;
    return settings->infer.embeddings && !settings->infer.predictions &&
           (o->nodes.ids.integer || o->nodes.ids.offset || o->nodes.first_node ||
            o->request->wanted);
}

/* Returns the configuration of the lines. `path` NULL: only count. */
static struct output_lines_config lines_config(const struct outputs *o, struct tally *tally,
                                               const char *path)
{
    const struct stage_context *context = o->request->context;
    return (struct output_lines_config){.rows = &o->rows,
                                        .table = &o->table,
                                        .to_partition = o->nodes.permutation.to_partition,
                                        .split_of = o->nodes.split_of,
                                        .node = o->wanted_row,
                                        .label_classes = context->book->class_count,
                                        .tally = tally,
                                        .pool = context->pool,
                                        .path = path};
}

static enum error_code open_files(struct outputs *o, struct error *err)
{
    const struct stage_context *context = o->request->context;
    const struct model *model = o->request->model;
    char path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    o->table = (struct prediction_table){.task = task_of(context->book->task),
                                         .class_count = model->config.graph_outputs
                                                            ? model->config.graph_outputs
                                                            : model_output_dim(model),
                                         .ids = &o->nodes.ids,
                                         .first_node = o->nodes.first_node,
                                         .words = &o->nodes.words};
    if (context->settings->infer.embeddings) {
        rc = file_path(path, err, "%s/embeddings.npy", o->folder);
        if (rc == ERROR_NONE)
            rc = npy_writer_open(&o->embedding_file, path, NPY_F32, row_count(o),
                                 o->rows.row_bytes[embedded(o)] / sizeof(float), err);
    }
    if (rc == ERROR_NONE && needs_ids(o)) {
        rc = file_path(path, err, "%s/node_ids.csv", o->folder);
        if (rc == ERROR_NONE)
            rc = output_lines_write_ids(path, &o->table, o->wanted_row, row_count(o), err);
    }
    if (rc == ERROR_NONE && context->settings->infer.predictions)
        rc = file_path(o->predictions, err, "%s/predictions.csv", o->folder);
    const struct output_lines_config lines =
        lines_config(o, o->tally, *o->predictions ? o->predictions : NULL);
    if (rc == ERROR_NONE && head_of(o)->has_lines)
        rc = output_lines_open(&lines, &o->lines, err);
    return rc;
}

/* Allocates the rows in the order of the input. */
static enum error_code open_range(struct outputs *o, struct error *err)
{
    const struct stage_context *context = o->request->context;
    o->rows.source[OUTPUT_LOGITS] = o->logits;
    o->rows.source[OUTPUT_LABELS] = o->labels;
    o->rows.source[OUTPUT_EMBEDDINGS] = o->embeddings;
    o->rows.permutation = &o->nodes.permutation;
    o->rows.folder = o->folder;
    o->rows.pool = context->pool;
    return output_rows_init(&o->rows, OUTPUT_PIECE_ROWS,
                            context->memory_bytes / ALL_ROWS_SHARES * ROWS_SHARE, err);
}

/* Finds the rows of the wanted nodes and counts them by split. Writes their numbers to out
 * [row_count]. */
static enum error_code find_wanted(struct outputs *o, uint32_t *out, struct error *err)
{
    const struct wanted_nodes *wanted = o->request->wanted;
    memset(o->measured, 0, sizeof o->measured);
    const enum error_code rc =
        memory_new(&o->wanted_row, wanted->count, "the rows of the wanted nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < wanted->count; i++) {
        /* A node before first_node wraps around and is refused too. */
        const uint32_t row = wanted->node[i] - o->nodes.first_node;
        if (row >= o->nodes.count)
            return error_set(err, ERROR_CORRUPT,
                             "wanted node %" PRIu32 " is none of the %" PRIu32
                             " that outputs are of, from node %" PRIu32 " on",
                             wanted->node[i], o->nodes.count, o->nodes.first_node);
        out[i] = o->nodes.permutation.to_partition[row];
        o->wanted_row[i] = row;
        const int split = o->nodes.split_of[out[i]] - 1;
        if (split >= 0)
            o->measured[split]++;
    }
    return rc;
}

/* Takes the rows of the wanted nodes from the request, and reads their labels. */
static enum error_code take_selected(struct outputs *o, struct error *err)
{
    const struct output_request *request = o->request;
    const struct wanted_nodes *wanted = request->wanted;
    const int layers = request->model->config.layer_count;
    const size_t embedded_bytes =
        layers > 1 ? model_layer_output_dim(request->model, layers - 2) * sizeof(float) : 0;
    uint32_t *number = NULL;
    enum error_code rc = open_labels(o, &o->labels, err);
    const size_t label_bytes = rc == ERROR_NONE ? feature_source_row_bytes(o->labels) : 0;
    if (rc == ERROR_NONE)
        rc = memory_new(&number, wanted->count, "the wanted nodes", err);
    if (rc == ERROR_NONE)
        rc = find_wanted(o, number, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&o->selected_labels, wanted->count * label_bytes, "labels", err);
    if (rc == ERROR_NONE)
        rc = chosen_rows_read(o->labels, number, wanted->count, o->selected_labels, err);
    memory_free(number);
    o->rows = (struct output_rows){.end = wanted->count};
    o->rows.row[OUTPUT_LOGITS] = (char *)request->selected->row[layers];
    o->rows.row[OUTPUT_LABELS] = o->selected_labels;
    o->rows.row[OUTPUT_EMBEDDINGS] =
        embedded_bytes ? (char *)request->selected->row[layers - 1] : NULL;
    o->rows.row_bytes[OUTPUT_LOGITS] = model_output_dim(request->model) * sizeof(float);
    o->rows.row_bytes[OUTPUT_LABELS] = label_bytes;
    o->rows.row_bytes[OUTPUT_EMBEDDINGS] = embedded_bytes;
    return rc;
}

/* Opens the outputs of graphs, which the readout computes from the last layer. */
static enum error_code open_graphs(struct outputs *o, struct error *err)
{
    const struct stage_context *context = o->request->context;
    const struct graph_outputs_config config = {
        .context = context,
        .model = o->request->model,
        .weights = o->request->weights,
        .layer = o->logits,
        .piece = OUTPUT_PIECE_ROWS,
        .budget_bytes = context->memory_bytes / ALL_ROWS_SHARES * ROWS_SHARE,
    };
    return graph_outputs_open(&o->graphs, &config, &o->rows, err);
}

static enum error_code open_nodes(struct outputs *o, struct error *err)
{
    const int layers = o->request->model->config.layer_count;
    enum error_code rc = ERROR_NONE;
    if (layers > 1 && o->request->context->settings->infer.embeddings)
        rc = open_layer(o, layers - 1, &o->embeddings, err);
    if (rc == ERROR_NONE)
        rc = open_labels(o, &o->labels, err);
    return rc == ERROR_NONE ? open_range(o, err) : rc;
}

/* Opens the rows in the order of the partition. */
static enum error_code open_layers(struct outputs *o, struct error *err)
{
    const enum error_code rc =
        open_layer(o, o->request->model->config.layer_count, &o->logits, err);
    return rc == ERROR_NONE ? head_of(o)->open_rows(o, err) : rc;
}

static enum error_code open_all(struct outputs *o, struct error *err)
{
    const struct partition_book *book = o->request->context->book;
    enum error_code rc = store_scratch(o->request->context->store, o->folder, err);
    if (rc == ERROR_NONE)
        rc = output_nodes_open(o->request->context,
                               head_of(o)->of_all_types ? 0 : book->target_type, &o->nodes, err);
    if (rc == ERROR_NONE)
        rc = init_tallies(o, err);
    if (rc == ERROR_NONE)
        rc = o->request->wanted ? take_selected(o, err) : open_layers(o, err);
    return rc == ERROR_NONE ? open_files(o, err) : rc;
}

/* Releases the rows, unless they are borrowed from the request. */
static void release_rows(struct outputs *o)
{
    if (!o->request->wanted)
        output_rows_release(&o->rows);
}

static void release(struct outputs *o)
{
    npy_writer_close(&o->embedding_file);
    output_lines_close(o->lines);
    release_rows(o);
    memory_free(o->wanted_row);
    memory_free(o->selected_labels);
    graph_outputs_close(&o->graphs);
    feature_source_close(o->logits);
    feature_source_close(o->embeddings);
    feature_source_close(o->labels);
    for (int split = 0; split < SPLIT_COUNT; split++)
        tally_release(&o->tally[split]);
    run_loss_release(&o->loss);
    output_nodes_release(&o->nodes);
    if (o->folder[0])
        error_ignore(file_remove_all(o->folder, NULL)); /* store_sweep() removes what remains */
    *o = (struct outputs){0};
}

static enum error_code put_piece(struct outputs *o, int thread, uint32_t first, uint32_t end,
                                 struct error *err)
{
    const uint64_t dim = o->rows.row_bytes[embedded(o)] / sizeof(float);
    enum error_code rc = ERROR_NONE;
    if (o->embedding_file.fd_plus_one)
        rc = npy_writer_add(&o->embedding_file, output_row(&o->rows, embedded(o), first),
                            (end - first) * dim, err);
    return rc == ERROR_NONE && o->lines ? output_lines_put(o->lines, thread, err) : rc;
}

static void write_piece(void *context, int64_t piece, int thread)
{
    struct outputs *o = context;
    const uint32_t first = o->rows.first + (uint32_t)piece * OUTPUT_PIECE_ROWS;
    const uint32_t left = o->rows.end - first;
    const uint32_t end = first + (left < OUTPUT_PIECE_ROWS ? left : OUTPUT_PIECE_ROWS);
    struct error err = {0};
    enum error_code rc =
        o->lines ? output_lines_make(o->lines, thread, first, end, &err) : ERROR_NONE;
    tile_turns_wait(&o->turns, piece);
    if (rc == ERROR_NONE)
        rc = put_piece(o, thread, first, end, &err);
    tile_turns_pass(&o->turns);
    first_failure_keep(&o->failure, rc, piece, &err);
}

/* Writes a range. All its pieces are whole except the last one. */
static enum error_code write_range(struct outputs *o, struct error *err)
{
    const int64_t count = (int64_t)o->rows.end - o->rows.first;
    first_failure_init(&o->failure);
    tile_turns_begin(&o->turns);
    thread_pool_run(o->request->context->pool, (count + OUTPUT_PIECE_ROWS - 1) / OUTPUT_PIECE_ROWS,
                    write_piece, o);
    tile_turns_end(&o->turns);
    return first_failure_end(&o->failure, err);
}

static enum error_code read_nodes(struct outputs *o, uint32_t first, struct error *err)
{
    return output_rows_read(&o->rows, first, err);
}

static enum error_code read_graphs(struct outputs *o, uint32_t first, struct error *err)
{
    return graph_outputs_read(&o->graphs, &o->rows, first, err);
}

/* Writes all rows, range after range. `count`: number of all nodes. */
static enum error_code go_through_rows(struct outputs *o, uint32_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (o->request->wanted) /* their rows are in memory */
        return write_range(o, err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < count; first = o->rows.end) {
        rc = head_of(o)->read_range(o, first, err);
        if (rc == ERROR_NONE)
            rc = write_range(o, err);
    }
    return rc;
}

static enum error_code finish_embeddings(struct outputs *o, struct outputs_seal *seal,
                                         struct error *err)
{
    uint64_t size = 0;
    const struct checksum sum = npy_writer_sum(&o->embedding_file, &size);
    const enum error_code rc = npy_writer_finish(&o->embedding_file, err);
    return rc == ERROR_NONE ? outputs_seal_add(seal, "embeddings.npy", size, &sum, err) : rc;
}

/* Writes the rows of a type after those of the types before it. */
static enum error_code write_type(struct outputs *o, uint32_t type, struct error *err)
{
    output_rows_release(&o->rows);
    feature_source_close(o->logits);
    o->logits = NULL;
    output_nodes_release(&o->nodes);
    enum error_code rc = output_nodes_open(o->request->context, type, &o->nodes, err);
    if (rc == ERROR_NONE && o->nodes.count > 0)
        rc = open_layers(o, err);
    return rc == ERROR_NONE ? go_through_rows(o, o->nodes.count, err) : rc;
}

static enum error_code write_rows(struct outputs *o, struct error *err)
{
    const uint32_t types = partition_book_types(o->request->context->book);
    enum error_code rc = go_through_rows(o, o->nodes.count, err);
    for (uint32_t t = 1; rc == ERROR_NONE && head_of(o)->of_all_types && t < types; t++)
        rc = write_type(o, t, err);
    return rc == ERROR_NONE && o->lines
               ? output_lines_finish(o->lines, &o->predictions_size, &o->predictions_sum, err)
               : rc;
}

/* Scores the pairs, after it has released what only the embeddings need. */
static enum error_code write_links(struct outputs *o, struct error *err)
{
    const struct partition_book *book = o->request->context->book;
    const struct link_outputs_config config = {.request = o->request,
                                               .ids = &o->nodes.ids,
                                               .permutation =
                                                   book->type_count ? NULL : &o->nodes.permutation,
                                               .tally = o->tally,
                                               .path = *o->predictions ? o->predictions : NULL,
                                               .edge_bank = &o->edge_bank,
                                               .split_counts = o->measured};
    output_rows_release(&o->rows);
    feature_source_close(o->logits);
    o->logits = NULL;
    return link_outputs_run(&config, err);
}

/* --- columns of scores --- */

static enum error_code open_graph_pass(const struct outputs *o, struct outputs *pass,
                                       struct error *err)
{
    (void)o;
    pass->rows = (struct output_rows){0};
    return open_graphs(pass, err);
}

static enum error_code open_node_pass(const struct outputs *o, struct outputs *pass,
                                      struct error *err)
{
    const struct stage_context *context = o->request->context;
    if (o->request->wanted)
        return ERROR_NONE;
    pass->rows =
        (struct output_rows){.source = {[OUTPUT_LOGITS] = o->logits, [OUTPUT_LABELS] = o->labels},
                             .permutation = &o->nodes.permutation,
                             .folder = o->folder,
                             .pool = context->pool};
    return output_rows_init(&pass->rows, OUTPUT_PIECE_ROWS,
                            context->memory_bytes / ALL_ROWS_SHARES * ROWS_SHARE, err);
}

/* Reads all rows again, and only counts them. */
static enum error_code count_rows(const struct outputs *o, struct tally *tally, struct error *err)
{
    struct outputs pass = {.request = o->request, .rows = o->rows, .logits = o->logits};
    struct output_lines_config config = lines_config(o, tally, NULL);
    enum error_code rc = head_of(o)->open_pass(o, &pass, err);
    config.rows = &pass.rows;
    if (rc == ERROR_NONE)
        rc = output_lines_open(&config, &pass.lines, err);
    if (rc == ERROR_NONE)
        rc = go_through_rows(&pass, o->nodes.count, err);
    output_lines_close(pass.lines);
    graph_outputs_close(&pass.graphs);
    release_rows(&pass);
    return rc;
}

/* Measures columns first .. first + count - 1 in a separate pass. */
static enum error_code measure_columns(struct outputs *o, uint32_t first, uint32_t count,
                                       struct error *err)
{
    struct tally tally[SPLIT_COUNT] = {{0}};
    enum error_code rc = ERROR_NONE;
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++) {
        rc = tally_init_like(&tally[split], &o->tally[split], err);
        tally_keep_columns(&tally[split], first, count);
    }
    if (rc == ERROR_NONE)
        rc = count_rows(o, tally, err);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++)
        rc = tally_fold(&tally[split], &o->tally[split], err);
    for (int split = 0; split < SPLIT_COUNT; split++)
        tally_release(&tally[split]);
    return rc;
}

/* Measures the columns for which the pass that wrote the lines had no room. */
static enum error_code measure_other_columns(struct outputs *o, struct error *err)
{
    const struct tally *tally = &o->tally[0];
    const uint32_t all = task_score_columns(tally->task, tally->class_count);
    const uint32_t step = tally->column_count;
    enum error_code rc = ERROR_NONE;
    if (step == all)
        return ERROR_NONE;
    output_lines_close(o->lines);
    o->lines = NULL;
    release_rows(o);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++)
        rc = tally_fold(&o->tally[split], &o->tally[split], err);
    for (uint32_t first = step; rc == ERROR_NONE && first < all; first += step)
        rc = measure_columns(o, first, all - first < step ? all - first : step, err);
    return rc;
}

static const struct output_head *head_of(const struct outputs *o)
{
    static const struct output_head heads[EXAMPLE_COUNT] = {
        [EXAMPLE_NODE] = {false, true, open_nodes, read_nodes, open_node_pass,
                          measure_other_columns},
        [EXAMPLE_PAIR] = {true, false, open_range, read_nodes, NULL, write_links},
        [EXAMPLE_EDGE] = {true, false, open_range, read_nodes, NULL, write_links},
        [EXAMPLE_GRAPH] = {false, true, open_graphs, read_graphs, open_graph_pass,
                           measure_other_columns},
    };
    return &heads[task_example_of(o->request->context->book->task)];
}

static enum error_code seal_and_publish(struct outputs *o, struct outputs_seal *seal,
                                        struct error *err)
{
    const struct stage_context *context = o->request->context;
    enum error_code rc = ERROR_NONE;
    if (context->settings->infer.embeddings)
        rc = finish_embeddings(o, seal, err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_add_file(seal, o->folder, "metrics.json", err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_add_file(seal, o->folder, "model.safetensors", err);
    if (rc == ERROR_NONE && needs_ids(o))
        rc = outputs_seal_add_file(seal, o->folder, "node_ids.csv", err);
    if (rc == ERROR_NONE && context->settings->infer.predictions)
        rc = head_of(o)->has_lines ? outputs_seal_add(seal, "predictions.csv", o->predictions_size,
                                                      &o->predictions_sum, err)
                                   : outputs_seal_add_file(seal, o->folder, "predictions.csv", err);
    return rc == ERROR_NONE ? output_publish(context, o->folder, seal, err) : rc;
}

enum error_code output_writer_run(const struct output_request *request, struct error *err)
{
    struct outputs outputs = {.request = request};
    struct outputs_seal *seal = NULL;
    enum error_code rc = memory_new(&seal, 1, "a seal", err);
    if (rc == ERROR_NONE)
        rc = open_all(&outputs, err);
    if (rc == ERROR_NONE && (head_of(&outputs)->has_lines || outputs.embedding_file.fd_plus_one))
        rc = write_rows(&outputs, err);
    if (rc == ERROR_NONE)
        rc = head_of(&outputs)->finish(&outputs, err);
    if (rc == ERROR_NONE)
        rc = output_metrics_write(request, outputs.folder, outputs.tally, outputs.measured,
                                  &outputs.edge_bank, seal, err);
    if (rc == ERROR_NONE)
        rc = output_model_write(request, outputs.folder, err);
    if (rc == ERROR_NONE) {
        seal->weights = *request->identity;
        rc = seal_and_publish(&outputs, seal, err);
    }
    release(&outputs);
    memory_free(seal);
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "outputs of %s", request->context->run_id);
}
