#include "stages/train-step/prepared_batch.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/source_aggregation.h"
#include "stages/train-step/rows/row_pipe.h"
#include "store/topology/edge_rows.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { SLACK_SHARE = 32, DISK_SHARE = 4 };

void batch_preparer_release(struct batch_preparer *preparer)
{
    arena_release(&preparer->scratch);
    preparer->scratch_bytes = 0;
}

void prepared_batch_forget(struct prepared_batch *batch)
{
    mini_batch_forget(&batch->batch);
    *batch = (struct prepared_batch){.batch = batch->batch, .area = batch->area};
}

static void release_area(struct batch_preparer *preparer, struct batch_area *area)
{
    memory_unmap(area->data, area->bytes);
    preparer->area_bytes -= area->bytes;
    *area = (struct batch_area){0};
}

void prepared_batch_release(struct batch_preparer *preparer, struct prepared_batch *batch)
{
    prepared_batch_forget(batch);
    mini_batch_release(&batch->batch);
    release_area(preparer, &batch->area);
}

void prepared_batch_lend(struct prepared_batch *from, struct prepared_batch *to)
{
    must(!to->area.data);
    to->area = from->area;
    from->area = (struct batch_area){0};
    from->has_rows = false;
    from->aggregated = NULL;
    memset(from->rows, 0, sizeof from->rows);
}

/* --- the record --- */

static const char what[] = "a mini-batch of relations"; /* names the memory in messages */

/* Returns whether seed `seed` has the type. */
static bool is_of_type(const struct mini_batch *batch, uint32_t seed, uint32_t type)
{
    const uint32_t first = mini_batch_seeds(batch, type);
    return seed >= first && seed - first < mini_batch_known(batch, type, 0);
}

/* Checks that pairs have types if the graph has types of pairs. */
static enum error_code check_types(const struct seed_pairs *pairs,
                                   const struct partition_book *book, struct error *err)
{
    if (pairs->positive_count && (pairs->relation != NULL) != (book->pair_type_count > 0))
        return error_set(err, ERROR_CORRUPT, "expected pairs %s types, found some %s",
                         book->pair_type_count ? "with" : "without",
                         pairs->relation ? "with" : "without");
    for (uint32_t i = 0; pairs->relation && i < pairs->positive_count; i++)
        if (pairs->relation[i] >= book->pair_type_count)
            return error_set(err, ERROR_CORRUPT,
                             "pair %" PRIu32 " is of type %d, expected below %" PRIu32, i,
                             pairs->relation[i], book->pair_type_count);
    return ERROR_NONE;
}

/* Checks that the ends of each pair have the types that its relation connects. With a single
 * relation, the types of pairs are types of its edges. */
static enum error_code check_ends(const struct mini_batch *batch, const struct partition_book *book,
                                  struct error *err)
{
    const struct seed_pairs *pairs = &batch->pairs;
    const bool by_relation = pairs->relation && mini_batch_relations(batch) > 1;
    for (uint64_t i = 0; mini_batch_types(batch) > 1 && i < seed_pairs_count(pairs); i++) {
        const uint32_t positive = seed_pairs_positive(pairs, i);
        const struct relation *relation =
            partition_book_relation(book, by_relation ? pairs->relation[positive] : 0);
        const bool is_source =
            i >= pairs->positive_count && corrupts_source(pairs->corrupt, positive);
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

static enum error_code check_pairs(const struct model *model, const struct mini_batch *batch,
                                   const struct partition_book *book, struct error *err)
{
    if ((batch->pairs.positive_count > 0) != (model->config.decoder != DECODER_NONE))
        return error_set(err, ERROR_CORRUPT, "expected %s pairs of seeds, found %" PRIu32,
                         model->config.decoder ? "1 or more" : "no", batch->pairs.positive_count);
    const enum error_code rc = check_types(&batch->pairs, book, err);
    return rc == ERROR_NONE ? check_ends(batch, book, err) : rc;
}

/* Checks that seeds have the target type, except in a task of pairs. */
static enum error_code check_seeds(const struct mini_batch *batch,
                                   const struct partition_book *book, struct error *err)
{
    for (uint32_t t = 0; !batch->pairs.positive_count && t < mini_batch_types(batch); t++) {
        const uint32_t seeds = mini_batch_known(batch, t, 0);
        if ((seeds > 0) != (t == book->target_type))
            return error_set(err, ERROR_CORRUPT,
                             "expected seeds of type %s, found %" PRIu32 " of %s",
                             book->type_name[book->target_type], seeds, book->type_name[t]);
    }
    return ERROR_NONE;
}

static enum error_code check_schema(const struct mini_batch *batch,
                                    const struct partition_book *book, struct error *err)
{
    const uint32_t types = partition_book_types(book), relations = partition_book_relations(book);
    if (mini_batch_types(batch) != types || mini_batch_relations(batch) != relations)
        return error_set(err, ERROR_CORRUPT,
                         "expected %" PRIu32 " node types and %" PRIu32 " relations, found %" PRIu32
                         " and %" PRIu32,
                         types, relations, mini_batch_types(batch), mini_batch_relations(batch));
    if ((batch->row != NULL) != partition_book_lists_rows(book))
        return error_set(err, ERROR_CORRUPT, "expected %s section row, found %s",
                         batch->row ? "no" : "a", batch->row ? "one" : "none");
    for (uint32_t r = 0; r < relations; r++) {
        const struct relation *relation = partition_book_relation(book, r);
        const uint32_t source = mini_batch_source_type(batch, r);
        const uint32_t target = mini_batch_target_type(batch, r);
        if (source != relation->source_type || target != relation->target_type)
            return error_set(err, ERROR_CORRUPT,
                             "relation %s: expected edges from type %d to type %d, found %" PRIu32
                             " and %" PRIu32,
                             relation->name, relation->source_type, relation->target_type, source,
                             target);
    }
    return ERROR_NONE;
}

/* Checks that the record fits this model and this partition. mini_batch_get() has checked that
 * it is consistent. */
static enum error_code check_batch(const struct batch_preparer *preparer,
                                   const struct mini_batch *batch, struct error *err)
{
    const struct model *model = preparer->model;
    const struct partition_book *book = preparer->context->book;
    if (batch->hop_count != model->hop_count)
        return error_set(err, ERROR_CORRUPT, "expected %d hops, found %d", model->hop_count,
                         batch->hop_count);
    if (model->needs_degree && !batch->degree)
        return error_set(err, ERROR_CORRUPT, "expected a section degree, found none");
    enum error_code rc = check_schema(batch, book, err);
    if (rc == ERROR_NONE)
        rc = edge_use_check_batch(&preparer->edge_use, batch, err);
    if (rc == ERROR_NONE && batch->row && model->divides_by_ends && !batch->back)
        rc = error_set(err, ERROR_CORRUPT, "expected a section end_degree, found none");
    if (rc == ERROR_NONE)
        rc = check_pairs(model, batch, book, err);
    if (rc == ERROR_NONE)
        rc = check_seeds(batch, book, err);
    if (rc == ERROR_NONE && batch->node_limit > book->node_count)
        rc = error_set(err, ERROR_CORRUPT, "expected nodes below %" PRIu32 ", found %" PRIu32,
                       book->node_count, batch->node_limit - 1);
    return rc;
}

/* Finds the number of each node in its type. With one type, numbers are ids. */
static enum error_code find_numbers(const struct node_features *features,
                                    struct prepared_batch *out, struct error *err)
{
    struct mini_batch *batch = &out->batch;
    enum error_code rc = ERROR_NONE;
    out->number[0] = batch->node;
    for (uint32_t t = 0; features->type_count > 1 && rc == ERROR_NONE && t < features->type_count;
         t++) {
        uint32_t *number = NULL;
        rc = arena_new(&batch->memory, &number, prepared_batch_count(out, t), what, err);
        if (rc == ERROR_NONE)
            rc = mini_batch_numbers(batch, t, &features->ranges, features->book[t], number, err);
        out->number[t] = number;
    }
    return rc;
}

static enum error_code find_blocks(struct prepared_batch *out, struct error *err)
{
    struct mini_batch *batch = &out->batch;
    struct arena *arena = &batch->memory;
    enum error_code rc = arena_new(arena, &out->block, (size_t)batch->hop_count, what, err);
    for (int layer = 0; rc == ERROR_NONE && layer < batch->hop_count; layer++) {
        uint32_t *destinations = NULL, *sources = NULL;
        struct relation_edges *edges = NULL;
        rc = arena_new(arena, &destinations, mini_batch_types(batch), what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &sources, mini_batch_types(batch), what, err);
        if (rc == ERROR_NONE)
            rc = arena_new(arena, &edges, mini_batch_relations(batch), what, err);
        if (rc == ERROR_NONE)
            mini_batch_relation_block(batch, layer, destinations, sources, edges,
                                      &out->block[layer]);
    }
    return rc;
}

enum error_code prepared_batch_read(const struct batch_preparer *preparer,
                                    struct prepared_batch *out, const struct key *key,
                                    struct error *err)
{
    const struct stage_context *context = preparer->context;
    prepared_batch_forget(out);
    enum error_code rc =
        mini_batch_get(context->store, key->text, context->run_id, &out->batch, err);
    if (rc != ERROR_NONE)
        return rc;
    out->has_record = true;
    out->key = *key;
    rc = check_batch(preparer, &out->batch, err);
    if (rc == ERROR_NONE)
        rc = find_numbers(preparer->features, out, err);
    if (rc == ERROR_NONE)
        rc = find_blocks(out, err);
    if (rc == ERROR_NONE)
        return rc;
    prepared_batch_forget(out);
    return error_context(err, rc, "record %s", key->text);
}

/* --- the rows --- */

static void limit_features(struct batch_preparer *preparer, const struct prepared_batch *prepared,
                           uint64_t budget_bytes)
{
    uint32_t count[RELATION_TYPE_COUNT_MAX];
    for (uint32_t t = 0; t < preparer->features->type_count; t++)
        count[t] = prepared_batch_count(prepared, t);
    node_features_limit(preparer->features, count, budget_bytes);
}

static enum error_code too_small(const struct batch_preparer *preparer,
                                 const struct prepared_batch *prepared, uint64_t wanted,
                                 struct error *err)
{
    char wanted_text[32], budget_text[32];
    return error_set(err, ERROR_NO_MEMORY,
                     "the rows of a mini-batch of %" PRIu32 " nodes want %" PRIu64
                     " bytes (%s), the budget of features is %" PRIu64 " bytes (%s); " ADVICE
                     "give more --memory, or take fewer nodes at a time (batch sizes, "
                     "fan-outs)",
                     prepared->batch.node_count, wanted, text_size(wanted, wanted_text),
                     preparer->budget_bytes, text_size(preparer->budget_bytes, budget_text));
}

/* Allocates the area and the scratch. The features may hold the rest of the budget. */
static enum error_code reserve(struct batch_preparer *preparer, struct prepared_batch *prepared,
                               uint64_t area_bytes, uint64_t scratch_bytes, struct error *err)
{
    struct batch_area *area = &prepared->area;
    /* Reserves some slack, because the next batch may be a little larger. */
    if (scratch_bytes > preparer->scratch_bytes) {
        batch_preparer_release(preparer);
        scratch_bytes += scratch_bytes / SLACK_SHARE;
    } else {
        scratch_bytes = preparer->scratch_bytes;
    }
    if (area_bytes > area->bytes) {
        release_area(preparer, area);
        area_bytes += area_bytes / SLACK_SHARE;
    } else {
        area_bytes = area->bytes;
    }
    const uint64_t others = preparer->area_bytes - area->bytes;
    const uint64_t wanted = others + area_bytes + scratch_bytes;
    if (wanted >= preparer->budget_bytes)
        return too_small(preparer, prepared, wanted, err);
    limit_features(preparer, prepared, preparer->budget_bytes - wanted);
    arena_reset(&preparer->scratch);
    preparer->scratch.limit = preparer->scratch_bytes = scratch_bytes;
    if (area->data)
        return ERROR_NONE;
    area->data = memory_map(area_bytes);
    if (!area->data)
        return error_set(err, ERROR_NO_MEMORY,
                         "no memory for the rows of a mini-batch: %" PRIu64 " bytes", area_bytes);
    area->bytes = area_bytes;
    preparer->area_bytes += area_bytes;
    return ERROR_NONE;
}

/* Returns the bytes that this process has read from disks so far. */
static uint64_t disk_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_inblock * 512 : 0;
}

static bool uses_pipe(const struct batch_preparer *preparer, const atomic_bool *stop)
{
    return !stop && thread_pool_size(preparer->context->pool) > 1;
}

static uint64_t pipe_bytes(const struct batch_preparer *preparer,
                           const struct feature_source *source, const atomic_bool *stop)
{
    return uses_pipe(preparer, stop) ? row_pipe_bytes(source) : 0;
}

/* The rows of one source that a batch wants. */
struct wanted_rows {
    struct feature_source *source;
    const uint32_t *node; /* [count] */
    uint32_t count;
};

static struct wanted_rows rows_of_type(const struct batch_preparer *preparer,
                                       const struct prepared_batch *prepared, uint32_t type)
{
    return (struct wanted_rows){preparer->features->source[type], prepared->number[type],
                                prepared_batch_count(prepared, type)};
}

/* Notes whether the rows of a batch, `wanted` bytes, came from a disk. `before` is the value of
 * disk_bytes() before they were read. */
static void note_disk(struct batch_preparer *preparer, uint64_t before, uint64_t wanted)
{
    const bool off_disk = disk_bytes() - before > wanted / DISK_SHARE;
    preparer->from_disk = off_disk && preparer->brought_rows;
    preparer->brought_rows = true;
}

static uint64_t wanted_bytes(const struct wanted_rows *rows)
{
    return (uint64_t)rows->count * feature_source_dim(rows->source) * sizeof(float);
}

static enum error_code visit_rows(const struct batch_preparer *preparer,
                                  const struct wanted_rows *rows, feature_visitor visitor,
                                  void *context, const atomic_bool *stop, struct error *err)
{
    return uses_pipe(preparer, stop)
               ? row_pipe_visit(rows->source, rows->node, rows->count, visitor, context,
                                preparer->context->pool, err)
               : feature_source_visit(rows->source, rows->node, rows->count, visitor, context, stop,
                                      err);
}

static void aggregate_rows(void *context, const struct feature_visit *visit)
{
    source_aggregation_add(context, visit->place, visit->row, visit->count);
}

/* Reads and aggregates the rows of a batch of one type and one relation that does not list its
 * rows. */
static enum error_code fill_aggregated(struct batch_preparer *preparer,
                                       struct prepared_batch *prepared, uint64_t floats,
                                       const atomic_bool *stop, struct error *err)
{
    const struct message_block *block = &prepared->block[0].edges[0].block;
    const struct wanted_rows wanted = rows_of_type(preparer, prepared, 0);
    struct source_aggregation aggregation;
    enum error_code rc =
        reserve(preparer, prepared, floats * sizeof(float),
                source_aggregation_scratch(block) + pipe_bytes(preparer, wanted.source, stop), err);
    if (rc == ERROR_NONE)
        rc = source_aggregation_begin(&aggregation, preparer->model, block, prepared->area.data,
                                      &preparer->scratch, err);
    if (rc == ERROR_NONE)
        rc = visit_rows(preparer, &wanted, aggregate_rows, &aggregation, stop, err);
    if (rc != ERROR_NONE)
        return rc;
    source_aggregation_finish(&aggregation);
    prepared->aggregated = aggregation.aggregated;
    return ERROR_NONE;
}

/* Returns the floats of the area in which the rows can be aggregated; 0 if they must be copied. */
static uint64_t aggregated_floats(const struct batch_preparer *preparer,
                                  const struct prepared_batch *prepared)
{
    const struct node_features *features = preparer->features;
    const struct mini_batch *batch = &prepared->batch;
    if (batch->row || batch->hop_count == 0 || preparer->wants_rows || features->mostly_zero[0] ||
        !node_features_are_brought(features, 0))
        return 0;
    const struct message_block *block = &prepared->block[0].edges[0].block;
    const uint64_t floats = source_aggregation_floats(preparer->model, block->destination_count);
    const uint64_t copied = batch->node_count * (uint64_t)node_features_row_bytes(features, 0);
    return floats * sizeof(float) < copied && source_aggregation_is_exact(block, batch->node)
               ? floats
               : 0;
}

/* The destination of copied rows. */
struct copied_rows {
    char *to;
    size_t row_bytes;
};

static void copy_rows(void *context, const struct feature_visit *visit)
{
    const struct copied_rows *copied = context;
    for (uint32_t i = 0; i < visit->count; i++)
        memcpy(copied->to + visit->place[i] * copied->row_bytes, visit->row[i], copied->row_bytes);
}

/* Returns the bytes of the area for the rows of a type, rounded up to cache lines. */
static uint64_t area_bytes_of(const struct batch_preparer *preparer,
                              const struct prepared_batch *prepared, uint32_t type)
{
    const uint64_t line = 64, bytes = node_features_row_bytes(preparer->features, type) *
                                      prepared_batch_count(prepared, type);
    return node_features_are_brought(preparer->features, type) ? (bytes + line - 1) / line * line
                                                               : 0;
}

static enum error_code reserve_types(struct batch_preparer *preparer,
                                     struct prepared_batch *prepared, const atomic_bool *stop,
                                     struct error *err)
{
    const struct node_features *features = preparer->features;
    uint64_t rows = 0, pipe = 0;
    for (uint32_t t = 0; t < features->type_count; t++) {
        rows += area_bytes_of(preparer, prepared, t);
        if (node_features_are_brought(features, t)) {
            const uint64_t bytes = pipe_bytes(preparer, features->source[t], stop);
            pipe = bytes > pipe ? bytes : pipe;
        }
    }
    return rows ? reserve(preparer, prepared, rows, pipe, err) : ERROR_NONE;
}

static enum error_code copy_type(const struct batch_preparer *preparer,
                                 struct prepared_batch *prepared, uint32_t type, uint64_t at,
                                 const atomic_bool *stop, struct error *err)
{
    const struct node_features *features = preparer->features;
    const struct wanted_rows wanted = rows_of_type(preparer, prepared, type);
    struct copied_rows copied = {(char *)prepared->area.data + at,
                                 feature_source_row_bytes(wanted.source)};
    prepared->rows[type] =
        (struct input_rows){.base = copied.to,
                            .stride = copied.row_bytes / precision_bytes(features->precision),
                            .precision = features->precision,
                            .mostly_zero = features->mostly_zero[type]};
    return wanted.count ? visit_rows(preparer, &wanted, copy_rows, &copied, stop, err) : ERROR_NONE;
}

/* Finds the rows of resident types in place, and copies the rows of the other types. */
static enum error_code fill_types(struct batch_preparer *preparer, struct prepared_batch *prepared,
                                  const atomic_bool *stop, struct error *err)
{
    const struct node_features *features = preparer->features;
    enum error_code rc = reserve_types(preparer, prepared, stop, err);
    uint64_t at = 0;
    for (uint32_t t = 0; rc == ERROR_NONE && t < features->type_count; t++) {
        if (node_features_are_brought(features, t))
            rc = copy_type(preparer, prepared, t, at, stop, err);
        else
            rc = node_features_fetch(features, t, prepared->number[t],
                                     prepared_batch_count(prepared, t), &prepared->rows[t], err);
        at += area_bytes_of(preparer, prepared, t);
    }
    return rc;
}

/* --- the whole batch --- */

/* Reads the rows of edge features, and builds the blocks again with them. */
static enum error_code fetch_edges(const struct batch_preparer *preparer,
                                   struct prepared_batch *prepared, const atomic_bool *stop,
                                   struct error *err)
{
    if (!preparer->topology || !prepared->batch.edge_position)
        return ERROR_NONE;
    enum error_code rc = edge_rows_fetch(preparer->topology, &prepared->batch,
                                         stop ? NULL : preparer->context->pool, err);
    if (rc == ERROR_NONE)
        rc = find_blocks(prepared, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", prepared->key.text);
}

static uint64_t brought_bytes(const struct batch_preparer *preparer,
                              const struct prepared_batch *prepared)
{
    uint64_t bytes = 0;
    for (uint32_t t = 0; t < preparer->features->type_count; t++) {
        const struct wanted_rows wanted = rows_of_type(preparer, prepared, t);
        bytes += node_features_are_brought(preparer->features, t) ? wanted_bytes(&wanted) : 0;
    }
    return bytes;
}

enum error_code prepared_batch_fill(struct batch_preparer *preparer, struct prepared_batch *out,
                                    const atomic_bool *stop, struct error *err)
{
    must(out->has_record && !out->has_rows);
    out->aggregated = NULL;
    enum error_code rc = fetch_edges(preparer, out, stop, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t before = disk_bytes(), wanted = brought_bytes(preparer, out);
    const uint64_t floats = aggregated_floats(preparer, out);
    rc = floats ? fill_aggregated(preparer, out, floats, stop, err)
                : fill_types(preparer, out, stop, err);
    if (wanted)
        note_disk(preparer, before, wanted);
    out->has_rows = rc == ERROR_NONE;
    return rc;
}
