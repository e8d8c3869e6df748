#include "stages/train-step/typed_batch.h"

#include <inttypes.h>

static const char what[] = "a mini-batch of relations"; /* wants memory */

void typed_batch_forget(struct typed_batch *batch)
{
    mini_batch_forget(&batch->batch);
    *batch = (struct typed_batch){.batch = batch->batch};
}

void typed_batch_release(struct typed_batch *batch)
{
    mini_batch_release(&batch->batch);
    *batch = (struct typed_batch){0};
}

static enum error_code check_schema(const struct relation_schema *schema,
                                    const struct mini_batch *batch, struct error *err)
{
    if (batch->type_count != schema->type_count || batch->relation_count != schema->relation_count)
        return error_set(err, ERROR_CORRUPT,
                         "expected %" PRIu32 " node types and %" PRIu32 " relations, found %" PRIu32
                         " and %" PRIu32,
                         schema->type_count, schema->relation_count, batch->type_count,
                         batch->relation_count);
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const struct relation *relation = &schema->relation[r];
        const uint16_t *ends = batch->ends + 2 * (size_t)r;
        if (ends[0] != relation->source_type || ends[1] != relation->target_type)
            return error_set(err, ERROR_CORRUPT,
                             "relation %s: expected edges from type %d to type %d, found %d and %d",
                             relation->name, relation->source_type, relation->target_type, ends[0],
                             ends[1]);
    }
    return ERROR_NONE;
}

/* Whether seed `seed` is of the type. */
static bool is_of_type(const struct mini_batch *batch, uint32_t seed, uint32_t type)
{
    const uint32_t first = mini_batch_seeds(batch, type);
    return seed >= first && seed - first < mini_batch_known(batch, type, 0);
}

/* Ends are of the types that the relation of the pair connects. */
static enum error_code check_pairs(const struct relation_schema *schema,
                                   const struct mini_batch *batch, struct error *err)
{
    const struct seed_pairs *pairs = &batch->pairs;
    for (uint64_t i = 0; i < seed_pairs_count(pairs); i++) {
        const uint32_t positive = seed_pairs_positive(pairs, i);
        const uint32_t r = pairs->relation ? pairs->relation[positive] : 0;
        const bool is_source =
            i >= pairs->positive_count && corrupts_source(pairs->corrupt, positive);
        if (r >= schema->relation_count)
            return error_set(err, ERROR_CORRUPT,
                             "pair %" PRIu64 " is of relation %" PRIu32 ", expected below %" PRIu32,
                             i, r, schema->relation_count);
        const struct relation *relation = &schema->relation[r];
        const uint32_t type = is_source ? relation->source_type : relation->target_type;
        if (!is_of_type(batch, pairs->target[i], type) ||
            !is_of_type(batch, pairs->source[positive], relation->source_type))
            return error_set(err, ERROR_CORRUPT,
                             "pair %" PRIu64 ": expected ends as relation %s connects, found seeds "
                             "%" PRIu32 " and %" PRIu32,
                             i, relation->name, pairs->source[positive], pairs->target[i]);
    }
    return ERROR_NONE;
}

/* The record is sound in itself (mini_batch_get); does it suit this model? */
static enum error_code check_batch(const struct model *model, const struct edge_use *use,
                                   const struct mini_batch *batch, struct error *err)
{
    const uint32_t target = model->config.types.target_type;
    if (batch->hop_count != model->hop_count)
        return error_set(err, ERROR_CORRUPT, "expected %d hops, found %d", model->hop_count,
                         batch->hop_count);
    if (model->needs_degree && !batch->degree)
        return error_set(err, ERROR_CORRUPT, "expected a section degree, found none");
    enum error_code rc = check_schema(&model->config.types.schema, batch, err);
    if (rc == ERROR_NONE)
        rc = edge_use_check_columns(use, &batch->columns, err);
    if (rc == ERROR_NONE && model->divides_by_ends && !batch->back)
        rc = error_set(err, ERROR_CORRUPT, "expected a section end_degree, found none");
    if (rc == ERROR_NONE && use->weight_sum && !batch->weight_sum)
        rc = error_set(err, ERROR_CORRUPT, "expected a section weight_sum, found none");
    if (rc == ERROR_NONE && (batch->pairs.positive_count > 0) != model->config.types.gives_all)
        rc = error_set(err, ERROR_CORRUPT, "expected %s pairs of seeds, found %" PRIu32,
                       model->config.types.gives_all ? "1 or more" : "no",
                       batch->pairs.positive_count);
    if (rc != ERROR_NONE || batch->pairs.positive_count)
        return rc == ERROR_NONE ? check_pairs(&model->config.types.schema, batch, err) : rc;
    for (uint32_t t = 0; rc == ERROR_NONE && t < batch->type_count; t++) {
        const uint32_t seeds = mini_batch_known(batch, t, 0);
        if ((seeds > 0) != (t == target))
            rc = error_set(err, ERROR_CORRUPT, "expected seeds of type %s, found %" PRIu32 " of %s",
                           model->config.types.schema.type_name[target], seeds,
                           model->config.types.schema.type_name[t]);
    }
    return rc;
}

static enum error_code find_numbers(const struct typed_features *features,
                                    struct typed_batch *batch, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < batch->batch.type_count; t++) {
        rc = arena_new(&batch->batch.memory, &batch->number[t], typed_batch_count(batch, t), what,
                       err);
        if (rc == ERROR_NONE)
            rc = mini_batch_numbers(&batch->batch, t, &features->ranges, features->book[t],
                                    batch->number[t], err);
    }
    return rc;
}

static enum error_code find_blocks(struct typed_batch *batch, struct error *err)
{
    struct mini_batch *record = &batch->batch;
    struct arena *arena = &record->memory;
    enum error_code rc = arena_new(arena, &batch->block, (size_t)record->hop_count, what, err);
    for (int layer = 0; rc == ERROR_NONE && layer < record->hop_count; layer++) {
        uint32_t *destinations = NULL, *sources = NULL;
        struct relation_edges *edges = NULL;
        rc = arena_new(arena, &destinations, record->type_count, what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &sources, record->type_count, what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &edges, record->relation_count, what, err);
        if (rc == ERROR_NONE)
            mini_batch_relation_block(record, layer, destinations, sources, edges,
                                      &batch->block[layer]);
    }
    return rc;
}

enum error_code typed_batch_read(struct store *store, const struct key *key, const char *run_id,
                                 const struct model *model, const struct edge_use *use,
                                 const struct typed_features *features, struct typed_batch *out,
                                 struct error *err)
{
    typed_batch_forget(out);
    enum error_code rc = mini_batch_get(store, key->text, run_id, &out->batch, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check_batch(model, use, &out->batch, err);
    if (rc == ERROR_NONE)
        rc = find_numbers(features, out, err);
    if (rc == ERROR_NONE)
        rc = find_blocks(out, err);
    if (rc == ERROR_NONE)
        return rc;
    typed_batch_forget(out);
    return error_context(err, rc, "record %s", key->text);
}

struct typed_input typed_batch_input(const struct typed_batch *batch, uint32_t target_type)
{
    const struct mini_batch *record = &batch->batch;
    struct typed_input input = {
        .block = batch->block, .target_type = target_type, .pairs = record->pairs};
    if (!batch->block)
        return input;
    input.seed_count = record->pairs.positive_count ? mini_batch_seeds(record, record->type_count)
                                                    : mini_batch_known(record, target_type, 0);
    for (uint32_t t = 0; t < record->type_count; t++) {
        input.count[t] = typed_batch_count(batch, t);
        input.node[t] = record->node + record->node_begin[t];
        input.number[t] = batch->number[t];
        input.rows[t] = batch->rows[t];
    }
    return input;
}
