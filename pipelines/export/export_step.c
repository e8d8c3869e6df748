/* Exports one training step as arrays: its mini-batch with features and labels, the weights, and
 * the gradient. */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/nn/model_file.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/export/step_export.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/model/run_model.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient_range.h"
#include "store/topology/edge_rows.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 40 };

void step_export_add(struct step_export *step, enum safetensors_type type, const char *name,
                     uint64_t rows, uint64_t cols, const void *data)
{
    must(step->count < STEP_TENSOR_COUNT);
    (void)snprintf(step->name[step->count], STEP_NAME_SIZE, "%s", name);
    step->tensor[step->count] = (struct safetensors_tensor){.name = step->name[step->count],
                                                            .type = type,
                                                            .dim_count = cols ? 2 : 1,
                                                            .dim = {rows, cols},
                                                            .data = data};
    step->count++;
}

enum error_code step_export_integers(struct step_export *step, const char *name,
                                     const uint32_t *value, size_t count, struct error *err)
{
    int64_t *wide = NULL;
    const enum error_code rc = arena_new(&step->arena, &wide, count, name, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        wide[i] = value[i];
    if (rc == ERROR_NONE)
        step_export_add(step, SAFETENSORS_I64, name, count, 0, wide);
    return rc;
}

/* --- what went in --- */

/* Reads the values of the gradient, which may be one record or one for each range of parameters. */
static enum error_code gather_gradient(struct step_export *step, int64_t round, int32_t slot,
                                       struct error *err)
{
    const struct run_binding *run = &step->folder->run;
    const int ranges = gradient_sum_ranges(&run->schedule);
    float *value = NULL;
    enum error_code rc = ERROR_NONE;
    if (ranges == 0 && !step->gradient.value)
        return error_set(err, ERROR_CORRUPT, "record %s has no values", step->gradient.view.key);
    if (ranges == 0)
        return ERROR_NONE;
    rc = arena_new(&step->arena, &value, step->gradient.value_count, "a gradient", err);
    if (rc == ERROR_NONE)
        rc = gradient_gather_ranges(step->folder->store, run->plan.id, round, slot, &step->gradient,
                                    ranges, value, err);
    step->gradient.value = value;
    return rc;
}

static enum error_code read_records(struct step_export *step, int64_t round, int32_t slot,
                                    struct error *err)
{
    const struct run_binding *run = &step->folder->run;
    struct store *store = step->folder->store;
    const struct unit unit = {.kind = UNIT_TRAIN_STEP, .round = round, .slot = slot};
    int64_t source_round = 0, base = 0;
    int32_t source_slot = 0;
    enum error_code rc = chain_check_unit(&run->schedule, &unit, -1, err);
    if (rc != ERROR_NONE)
        return rc;
    schedule_batch_source(&run->schedule, round, slot, &source_round, &source_slot);
    const struct key key = key_mini_batch(run->plan.id, source_round, source_slot);
    rc = run_model_init(&step->model, &run->settings, &run->book, err);
    if (rc == ERROR_NONE)
        rc = mini_batch_get(store, key.text, run->plan.id, &step->batch, err);
    if (rc == ERROR_NONE)
        rc = chosen_base_get(&run->schedule, store, run->plan.id, round, &base, err);
    if (rc == ERROR_NONE)
        rc = weights_get(store, run->plan.id, base, &step->weights, err);
    if (rc == ERROR_NONE)
        rc = run_model_check_weights(&step->model, &step->weights, err);
    if (rc == ERROR_NONE)
        rc = gradient_get(store, run->plan.id, round, slot, &step->gradient, err);
    if (rc == ERROR_NONE && step->gradient.value_count != step->model.value_count)
        rc =
            error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " parameters, expected %" PRIu64,
                      step->gradient.view.key, step->gradient.value_count, step->model.value_count);
    if (rc == ERROR_NONE)
        rc = gather_gradient(step, round, slot, err);
    return rc == ERROR_NOT_FOUND
               ? error_context(err, rc,
                               "round %" PRId64 " slot %" PRId32
                               ": pruned, or not made yet (checkpoint.keep: 0 keeps every record)",
                               round, slot)
               : rc;
}

enum error_code step_export_nodes(struct step_export *step, const char *name, const uint32_t *node,
                                  uint32_t count, const struct node_permutation *permutation,
                                  struct error *err)
{
    int64_t *row = NULL;
    const enum error_code rc =
        arena_new(&step->arena, &row, count, "the nodes of a mini-batch", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        row[i] = permutation->to_dataset[node[i]];
    if (rc == ERROR_NONE)
        step_export_add(step, SAFETENSORS_I64, name, count, 0, row);
    return rc;
}

static enum error_code add_nodes(struct step_export *step, struct error *err)
{
    const struct partition_book *book = &step->folder->run.book;
    const struct mini_batch *batch = &step->batch;
    struct node_permutation permutation = {0};
    enum error_code rc =
        merged_permutation_get(step->folder->store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE && batch->node_limit > book->node_count)
        rc = error_set(err, ERROR_CORRUPT, "the mini-batch has nodes that partition %s has not",
                       book->id);
    if (rc == ERROR_NONE)
        rc = step_export_nodes(step, "mini_batch.node", batch->node, batch->node_count,
                               &permutation, err);
    store_release_record(&permutation.view);
    return rc;
}

/* Reads the rows of edge features, which are stored in the topology. */
static enum error_code fetch_edge_rows(struct step_export *step, struct error *err)
{
    struct topology topology = {0};
    if (!step->batch.edge_position)
        return ERROR_NONE;
    enum error_code rc =
        topology_open(step->folder->store, &step->folder->run.book, &topology, err);
    if (rc == ERROR_NONE)
        rc = topology_open_parts(&topology, NULL, err);
    if (rc == ERROR_NONE)
        rc = edge_rows_fetch(&topology, &step->batch, NULL, err);
    topology_close(&topology);
    return rc;
}

static enum error_code add_edges(struct step_export *step, struct error *err)
{
    const struct mini_batch *batch = &step->batch;
    int64_t *edge = NULL;
    const enum error_code rc = arena_new(&step->arena, &edge, 2 * (size_t)batch->edge_count,
                                         "the edges of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t row = 0; row < batch->row_count; row++)
        for (uint32_t e = batch->row_start[row]; e < batch->row_start[row + 1]; e++) {
            edge[e] = batch->neighbor[e];
            edge[batch->edge_count + e] = row;
        }
    step_export_add(step, SAFETENSORS_I64, "mini_batch.edge_index", 2, batch->edge_count, edge);
    step->tensor[step->count - 1].dim_count = 2; /* two dimensions even without edges */
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = batch->columns.width.of[c];
        if (!width || edge_column[c].type != ELEMENT_F32)
            continue;
        char name[STEP_NAME_SIZE];
        (void)snprintf(name, sizeof name, "mini_batch.%s", edge_column_shown((enum edge_column)c));
        step_export_add(step, SAFETENSORS_F32, name, batch->edge_count,
                        edge_column[c].has_width ? width : 0, batch->columns.data[c]);
    }
    if (batch->weight_sum)
        step_export_add(step, SAFETENSORS_F32, "mini_batch.weight_sum", batch->node_count, 0,
                        batch->weight_sum);
    if (batch->edge_factor)
        step_export_add(step, SAFETENSORS_F32, "mini_batch.edge_factor", batch->edge_count, 0,
                        batch->edge_factor);
    if (batch->seed_weight)
        step_export_add(step, SAFETENSORS_F32, "mini_batch.seed_weight", batch->seed_count, 0,
                        batch->seed_weight);
    return ERROR_NONE;
}

static enum error_code add_batch(struct step_export *step, struct error *err)
{
    const struct mini_batch *batch = &step->batch;
    enum error_code rc = add_nodes(step, err);
    if (rc == ERROR_NONE)
        rc = step_export_integers(step, "mini_batch.hop_end", batch->hop_end,
                                  (size_t)batch->hop_count + 1, err);
    if (rc == ERROR_NONE && batch->degree)
        rc = step_export_integers(step, "mini_batch.degree", batch->degree, batch->node_count, err);
    if (rc == ERROR_NONE)
        rc = fetch_edge_rows(step, err);
    return rc == ERROR_NONE ? add_edges(step, err) : rc;
}

enum error_code step_export_read(struct step_export *step, const char *tensor,
                                 const struct step_export_rows *of, float **out, uint32_t *dim,
                                 struct error *err)
{
    const struct partition_book *book = &step->folder->run.book;
    const struct feature_source_config config = {
        .store = step->folder->store,
        .origin = FEATURES_OF_PARTITION,
        .id = book->id,
        .node_type = of->type,
        .part_count = book->part_count,
        .book = of->book,
        .tensor = tensor,
        .budget_bytes = host_memory_bytes() / 4,
    };
    struct feature_source *source = NULL;
    struct feature_rows rows = {0};
    enum error_code rc = feature_source_open(&config, &source, err);
    if (rc == ERROR_NONE)
        rc = feature_source_fetch(source, of->number, of->count, &rows, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&step->arena, out, (size_t)of->count * rows.dim, tensor, err);
    if (rc == ERROR_NONE)
        feature_rows_copy(&rows, of->count, *out);
    *dim = rows.dim;
    feature_source_close(source);
    return rc;
}

/* Reads a tensor's rows of the first `count` nodes of the mini-batch. */
static enum error_code read_rows(struct step_export *step, const char *tensor, uint32_t count,
                                 float **out, uint32_t *dim, struct error *err)
{
    const struct step_export_rows of = {
        .count = count, .book = step->folder->run.book.book, .number = step->batch.node};
    return step_export_read(step, tensor, &of, out, dim, err);
}

static enum error_code add_features(struct step_export *step, struct error *err)
{
    float *rows = NULL;
    uint32_t dim = 0;
    const enum error_code rc =
        read_rows(step, "features", step->batch.node_count, &rows, &dim, err);
    if (rc == ERROR_NONE)
        step_export_add(step, SAFETENSORS_F32, "features", step->batch.node_count, dim, rows);
    return rc;
}

/* Adds labels. A row with a single class has its int32 in the bytes of a float. */
enum error_code step_export_labels(struct step_export *step, const float *rows, uint32_t count,
                                   uint32_t dim, struct error *err)
{
    int64_t *label = NULL;
    if (!task_of(step->folder->run.book.task)->is_class_number) {
        step_export_add(step, SAFETENSORS_F32, "labels", count, dim, rows);
        return ERROR_NONE;
    }
    const enum error_code rc = arena_new(&step->arena, &label, count, "labels", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        int32_t value = 0;
        memcpy(&value, &rows[i], sizeof value);
        label[i] = value;
    }
    if (rc == ERROR_NONE)
        step_export_add(step, SAFETENSORS_I64, "labels", count, 0, label);
    return rc;
}

static enum error_code add_labels(struct step_export *step, struct error *err)
{
    const uint32_t seeds = step->batch.seed_count;
    float *rows = NULL;
    uint32_t dim = 0;
    const enum error_code rc = read_rows(step, "labels", seeds, &rows, &dim, err);
    return rc == ERROR_NONE ? step_export_labels(step, rows, seeds, dim, err) : rc;
}

static enum error_code add_relations_of_pairs(struct step_export *step,
                                              const struct seed_pairs *pairs, struct error *err)
{
    int64_t *relation = NULL;
    const enum error_code rc =
        arena_new(&step->arena, &relation, pairs->positive_count, "relations of pairs", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < pairs->positive_count; i++)
        relation[i] = pairs->relation[i];
    step_export_add(step, SAFETENSORS_I64, "pair_type", pairs->positive_count, 0, relation);
    return ERROR_NONE;
}

/* Adds pairs. The targets of the positives come first, then those of the negatives of each. */
enum error_code step_export_pairs(struct step_export *step, struct error *err)
{
    const struct seed_pairs *pairs = &step->batch.pairs;
    enum error_code rc =
        step_export_integers(step, "pair_source", pairs->source, pairs->positive_count, err);
    if (rc == ERROR_NONE && pairs->relation)
        rc = add_relations_of_pairs(step, pairs, err);
    if (rc == ERROR_NONE && pairs->label)
        step_export_add(step, SAFETENSORS_F32, "pair_label", pairs->positive_count, 0,
                        pairs->label);
    return rc == ERROR_NONE ? step_export_integers(step, "pair_target", pairs->target,
                                                   (size_t)seed_pairs_count(pairs), err)
                            : rc;
}

/* --- parameters, and the file --- */

/* Adds the parameters in the first `value_count` values of the table. */
static void add_parameters(struct step_export *step, const char *what, const float *value,
                           uint64_t value_count)
{
    for (int i = 0; i < step->model.parameter_count; i++) {
        const struct parameter *parameter = &step->model.parameter[i];
        if (parameter->offset >= value_count)
            break;
        must(step->count < STEP_TENSOR_COUNT);
        /* copied, because both names are in *step, and the compiler warns that they overlap */
        char name[STEP_NAME_SIZE];
        (void)snprintf(name, sizeof name, "%s.%s", what, parameter->name);
        memcpy(step->name[step->count], name, sizeof name);
        step->tensor[step->count] = model_file_tensor(parameter, value);
        step->tensor[step->count].name = step->name[step->count];
        step->count++;
    }
}

static enum error_code write_file(struct step_export *step, int64_t round, int32_t slot,
                                  const char *path, struct error *err)
{
    static const char *const form[BATCH_FORM_COUNT] = {"nested", "layered", "subgraph"};
    const struct gradient *gradient = &step->gradient;
    const double mean =
        gradient->seed_count ? gradient->loss_sum / (double)gradient->seed_count : (double)NAN;
    char number[5][TEXT_SIZE];
    (void)snprintf(number[0], TEXT_SIZE, "%" PRId64, round);
    (void)snprintf(number[1], TEXT_SIZE, "%" PRId32, slot);
    (void)snprintf(number[2], TEXT_SIZE, "%.17g", mean);
    (void)snprintf(number[3], TEXT_SIZE, "%" PRIu64, gradient->seed_count);
    (void)snprintf(number[4], TEXT_SIZE, "%" PRIu64, gradient->correct_count);
    struct safetensors_text text[] = {
        {"run", step->folder->run.plan.id},
        {"round", number[0]},
        {"slot", number[1]},
        {"form", step->batch.row ? "relations" : form[step->batch.form]},
        {"loss", number[2]},
        {"seeds", number[3]},
        {"correct", number[4]},
    };
    const struct safetensors content = {.tensor = step->tensor,
                                        .tensor_count = step->count,
                                        .metadata = text,
                                        .metadata_count = sizeof text / sizeof *text};
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum error_code rc = safetensors_encode(&content, &bytes, &size, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, bytes, size, false, err);
    memory_free(bytes);
    return rc;
}

/* Adds mini-batch, features and labels of a graph without relations. */
static enum error_code add_plain(struct step_export *step, struct error *err)
{
    static enum error_code (*const heads[EXAMPLE_COUNT])(struct step_export *, struct error *) = {
        [EXAMPLE_NODE] = add_labels,
        [EXAMPLE_PAIR] = step_export_pairs,
        [EXAMPLE_EDGE] = step_export_pairs,
        [EXAMPLE_GRAPH] = step_export_graphs};
    enum error_code rc = add_batch(step, err);
    if (rc == ERROR_NONE)
        rc = add_features(step, err);
    return rc == ERROR_NONE ? heads[task_example_of(step->folder->run.book.task)](step, err) : rc;
}

enum error_code export_step(const struct run_folder *folder, int64_t round, int32_t slot,
                            const char *path, struct error *err)
{
    struct step_export *step = NULL;
    enum error_code rc = memory_new(&step, 1, "an export", err);
    if (rc != ERROR_NONE)
        return rc;
    step->folder = folder;
    rc = read_records(step, round, slot, err);
    if (rc == ERROR_NONE)
        rc = step->batch.row ? step_export_relations(step, err) : add_plain(step, err);
    if (rc == ERROR_NONE) {
        add_parameters(step, "weights", step->weights.value, step->model.value_count);
        add_parameters(step, "gradient", step->gradient.value, step->model.trained_count);
        rc = write_file(step, round, slot, path, err);
    }
    store_release_record(&step->weights.view);
    gradient_release(&step->gradient);
    mini_batch_release(&step->batch);
    arena_release(&step->arena);
    memory_free(step);
    return rc;
}
