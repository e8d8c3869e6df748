#include "stages/train-step/typed_memory.h"

#include "common/base/memory.h"
#include "stages/plan/run_model.h"
#include "stages/train-step/embedding_input.h"
#include "stages/train-step/pair_memory.h"
#include "stages/train-step/typed_bounds.h"

#include <math.h>

/* The largest blocks that there can be, from the input side; they have no edges to look at. */
struct counted_blocks {
    struct relation_block block[LAYER_COUNT_MAX];
    uint32_t count[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX];
    struct relation_edges edges[]; /* [hops, relations] */
};

static enum error_code bound_blocks(const struct model *model, const struct typed_bounds *bounds,
                                    const struct edge_use *use, struct counted_blocks **out,
                                    struct error *err)
{
    static const float value[1]; /* of edges: there, but not read; so is the next */
    static const uint32_t row[1];
    const int hops = bounds->hop_count;
    const uint32_t relations = bounds->relation_count;
    char *room = NULL;
    const enum error_code rc =
        memory_new(&room, sizeof **out + (size_t)hops * relations * sizeof(struct relation_edges),
                   "the largest blocks", err);
    if (rc != ERROR_NONE)
        return rc;
    struct counted_blocks *made = (struct counted_blocks *)(void *)room;
    for (int h = 0; h <= hops; h++)
        for (uint32_t t = 0; t < bounds->type_count; t++)
            made->count[hops - h][t] = step_memory_count(bounds->node[h][t]);
    for (int layer = 0; layer < hops; layer++) {
        struct relation_edges *edges = made->edges + (size_t)layer * relations;
        for (uint32_t r = 0; r < relations; r++) {
            const struct relation *relation = &model->config.types.schema.relation[r];
            const double read = typed_bounds_edges_at(bounds, hops - layer, r);
            const double targets = bounds->node[hops - layer - 1][relation->target_type];
            edges[r] = (struct relation_edges){
                .block = {.destination_count = step_memory_count(fmin(read, targets)),
                          .source_count = made->count[layer][relation->source_type],
                          .is_bipartite = true,
                          .degree = model->needs_degree ? row : NULL,
                          .edge_factor = bounds->has_factors ? value : NULL,
                          .edge_value = use->columns >> EDGE_WEIGHT & 1 ? value : NULL,
                          .edge_count = (uint64_t)read},
                .row = row,
                .source_degree = model->divides_by_ends ? row : NULL,
                .source_sum = use->weight_sum ? value : NULL,
                .target_sum = use->weight_sum ? value : NULL};
        }
        made->block[layer] =
            (struct relation_block){made->count[layer + 1], made->count[layer], edges};
    }
    *out = made;
    return ERROR_NONE;
}

/* What train_step.c does in a unit, in an arena that counts. */
static enum error_code count_pass(const struct model *model, const struct counted_blocks *blocks,
                                  uint32_t seeds, const struct seed_pairs *pairs, bool trains,
                                  const struct stage_context *context, struct arena *arena,
                                  struct error *err)
{
    struct input_rows rows[RELATION_TYPE_COUNT_MAX] = {{0}};
    struct model_trace *trace = NULL;
    float *value = NULL, *rest = NULL, *logits = NULL;
    bool learnt[RELATION_TYPE_COUNT_MAX] = {false};
    const struct model_input input = {.relations = blocks->block,
                                      .type_rows = rows,
                                      .wants_gradient = learnt,
                                      .seed_count = seeds};
    const struct model_workspace workspace = {.arena = arena, .pool = context->pool};
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < tensors->count; i++) {
        const uint32_t type = tensors->tensor[i].type;
        learnt[type] = trains;
        rc = embedding_input_count(model->config.types.input_dim[type], tensors->tensor[i].width,
                                   blocks->count[0][type], trains, arena, err);
    }
    /* Labels, logits and their slope, or what is counted in the evaluation. */
    for (int i = 0; rc == ERROR_NONE && i < 3; i++)
        rc = arena_new(arena, &logits, (size_t)seeds * model_output_dim(model), "logits", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &value, (size_t)model->value_count, "the gradient", err);
    if (rc == ERROR_NONE && trains && context->schedule->keeps_residuals)
        rc = arena_new(arena, &rest, (size_t)model->trained_count, "the rest of it", err);
    if (rc == ERROR_NONE)
        rc = model_forward(model, value, &input, &workspace, logits, trains ? &trace : NULL, err);
    if (rc == ERROR_NONE && pairs->positive_count)
        rc = pair_memory_count(model, pairs, seeds, logits, value, &workspace, trains, err);
    if (rc == ERROR_NONE && trains)
        rc = model_backward(model, value, trace, logits, &workspace, value, err);
    return rc;
}

static enum error_code pass_bytes(const struct model *model, const struct typed_bounds *bounds,
                                  const struct edge_use *use, const struct seed_pairs *pairs,
                                  bool trains, const struct stage_context *context, double *out,
                                  struct error *err)
{
    struct arena arena = {.counts = true};
    struct counted_blocks *blocks = NULL;
    enum error_code rc = bound_blocks(model, bounds, use, &blocks, err);
    if (rc == ERROR_NONE)
        rc = count_pass(model, blocks, step_memory_count(bounds->seeds), pairs, trains, context,
                        &arena, err);
    *out = (double)arena.used;
    arena_release(&arena);
    memory_free(blocks);
    return rc;
}

/* The arrays of a mini-batch as they are read (mini_batch.h, typed_batch.h): of a node its id, its
 * number, up to four places in the set that finds it twice, and the seed that it is of; of a row
 * its place, start, length and degree; of a node in each relation to its type what it has there, if
 * the model reads that. */
static double batch_bytes(const struct model *model, const struct typed_bounds *bounds,
                          const struct edge_use *use, const struct partition_book *book)
{
    const double of_end = (model->divides_by_ends ? 4 : 0) + (double)edge_use_node_bytes(use);
    const double edges = typed_bounds_all_edges(bounds), nodes = typed_bounds_nodes(bounds);
    const double of_edge =
        (bounds->has_factors ? 8 : 4) + (double)edge_use_edge_bytes(use, &book->edge_width);
    double rows = 0, ends = 0;
    for (uint32_t r = 0; r < bounds->relation_count; r++) {
        const uint32_t target = partition_book_relation(book, r)->target_type;
        rows += fmin(typed_bounds_edges_at(bounds, bounds->hop_count, r),
                     bounds->node[bounds->hop_count - 1][target]);
        ends += bounds->node[bounds->hop_count][target];
    }
    return 28 * nodes + 16 * rows + of_end * ends + of_edge * edges +
           (double)bounds->hop_count * bounds->relation_count * sizeof(struct relation_edges);
}

static double all_rows_bytes(const struct stage_context *context)
{
    const struct partition_book *book = context->book;
    const struct type_ranges ranges = partition_book_ranges(book);
    double bytes = 0;
    for (uint32_t t = 0; t < book->type_count; t++)
        for (int p = 0; p < ranges.part_count; p++)
            bytes += (double)type_ranges_count(&ranges, p, t) *
                     run_model_type_dim(context->settings, book, t) * sizeof(float);
    return bytes;
}

static double labels_bytes(const struct partition_book *book, uint32_t label_dim)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    double nodes = 0;
    if (!task_has(book->task, TASK_LABELS_NODES))
        return 0;
    for (int p = 0; p < ranges.part_count; p++)
        nodes += type_ranges_count(&ranges, p, book->target_type);
    return 4 * nodes * label_dim;
}

static enum error_code plan(const struct model *model, const struct stage_context *context,
                            const struct edge_use *use, uint32_t label_dim,
                            const struct typed_bounds *training,
                            const struct typed_bounds *validation, struct step_memory *out,
                            struct error *err)
{
    const struct pipeline_settings *settings = context->settings;
    const struct seed_pairs pairs =
        pair_memory_pairs(model, context->schedule->batch_size, pipeline_negatives(settings));
    const struct seed_pairs valid_pairs = pair_memory_pairs(
        model, context->schedule->evaluation_batch_size, pipeline_evaluation_negatives(settings));
    const double weights = 8 * (double)model->value_count; /* two versions of the record */
    struct step_needs needs = {
        .rows = all_rows_bytes(context),
        .labels = labels_bytes(context->book, label_dim),
        .records =
            3.5 * (batch_bytes(model, training, use, context->book) + pair_memory_bytes(&pairs)) +
            1.5 * (batch_bytes(model, validation, use, context->book) +
                   pair_memory_bytes(&valid_pairs)) +
            weights};
    double evaluation = 0;
    enum error_code rc = pass_bytes(model, training, use, &pairs, true, context, &needs.step, err);
    if (rc == ERROR_NONE)
        rc = pass_bytes(model, validation, use, &valid_pairs, false, context, &evaluation, err);
    needs.step = needs.step_given = fmax(needs.step, evaluation);
    *out =
        step_memory_share(&needs, (double)context->memory_bytes, embedding_input_budget(context));
    return rc;
}

enum error_code typed_memory_plan(const struct model *model, const struct stage_context *context,
                                  const struct edge_use *use, uint32_t label_dim,
                                  struct step_memory *out, struct error *err)
{
    struct typed_bounds training = {0}, validation = {0};
    uint64_t *edges = NULL;
    enum error_code rc =
        memory_new(&edges, partition_book_relations(context->book), "the edges of relations", err);
    if (rc == ERROR_NONE)
        rc = typed_bounds_edges(context, edges, err);
    if (rc == ERROR_NONE)
        rc = typed_bounds_of_training(context, edges, &training, err);
    if (rc == ERROR_NONE)
        rc = typed_bounds_of_validation(context, edges, &validation, err);
    if (rc == ERROR_NONE)
        rc = plan(model, context, use, label_dim, &training, &validation, out, err);
    typed_bounds_release(&training);
    typed_bounds_release(&validation);
    memory_free(edges);
    return rc;
}
