#include "stages/train-step/prepared_batch.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/source_aggregation.h"
#include "stages/train-step/row_pipe.h"
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
    typed_batch_forget(&batch->typed);
    *batch =
        (struct prepared_batch){.batch = batch->batch, .typed = batch->typed, .area = batch->area};
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
    typed_batch_release(&batch->typed);
    release_area(preparer, &batch->area);
}

void prepared_batch_lend(struct prepared_batch *from, struct prepared_batch *to)
{
    must(!to->area.data);
    to->area = from->area;
    from->area = (struct batch_area){0};
    from->has_rows = false;
    from->aggregated = NULL;
    from->rows = (struct input_rows){0};
}

/* --- the record --- */

/* Of the pairs, as the graph has them. */
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

/* The record is sound in itself (mini_batch_get); does it suit this model and this partition? */
static enum error_code check_batch(const struct batch_preparer *preparer,
                                   const struct mini_batch *batch, struct error *err)
{
    const struct model *model = preparer->model;
    const uint32_t node_count = preparer->context->book->node_count;
    if (batch->hop_count != model->hop_count)
        return error_set(err, ERROR_CORRUPT, "expected %d hops, found %d", model->hop_count,
                         batch->hop_count);
    if (model->needs_degree && !batch->degree)
        return error_set(err, ERROR_CORRUPT, "expected a section degree, found none");
    const enum error_code rc = edge_use_check_batch(&preparer->edge_use, batch, err);
    if (rc != ERROR_NONE)
        return rc;
    if ((batch->pairs.positive_count > 0) != (model->config.decoder != DECODER_NONE))
        return error_set(err, ERROR_CORRUPT, "expected %s pairs of seeds, found %" PRIu32,
                         model->config.decoder ? "1 or more" : "no", batch->pairs.positive_count);
    const enum error_code of_pairs = check_types(&batch->pairs, preparer->context->book, err);
    if (of_pairs != ERROR_NONE)
        return of_pairs;
    if (batch->node_limit > node_count)
        return error_set(err, ERROR_CORRUPT, "expected nodes below %" PRIu32 ", found %" PRIu32,
                         node_count, batch->node_limit - 1);
    return ERROR_NONE;
}

static enum error_code read_typed(const struct batch_preparer *preparer, struct prepared_batch *out,
                                  const struct key *key, struct error *err)
{
    const struct stage_context *context = preparer->context;
    enum error_code rc = typed_batch_read(context->store, key, context->run_id, preparer->model,
                                          &preparer->edge_use, preparer->types, &out->typed, err);
    if (rc != ERROR_NONE)
        return rc;
    out->has_record = true;
    out->key = *key;
    rc = check_types(&out->typed.batch.pairs, context->book, err);
    if (rc == ERROR_NONE)
        return rc;
    prepared_batch_forget(out);
    return error_context(err, rc, "record %s", key->text);
}

enum error_code prepared_batch_read(const struct batch_preparer *preparer,
                                    struct prepared_batch *out, const struct key *key,
                                    struct error *err)
{
    const struct stage_context *context = preparer->context;
    prepared_batch_forget(out);
    if (preparer->types)
        return read_typed(preparer, out, key, err);
    enum error_code rc =
        mini_batch_get(context->store, key->text, context->run_id, &out->batch, err);
    if (rc != ERROR_NONE)
        return rc;
    out->has_record = true;
    out->key = *key;
    rc = check_batch(preparer, &out->batch, err);
    if (rc == ERROR_NONE)
        return rc;
    prepared_batch_forget(out);
    return error_context(err, rc, "record %s", key->text);
}

/* --- the rows --- */

static uint32_t node_count_of(const struct prepared_batch *prepared)
{
    return prepared->typed.block ? prepared->typed.batch.node_count : prepared->batch.node_count;
}

static void limit_features(struct batch_preparer *preparer, const struct prepared_batch *prepared,
                           uint64_t budget_bytes)
{
    uint32_t count[RELATION_TYPE_COUNT_MAX];
    if (!preparer->types) {
        feature_source_limit(preparer->features, budget_bytes);
        return;
    }
    for (uint32_t t = 0; t < preparer->types->type_count; t++)
        count[t] = typed_batch_count(&prepared->typed, t);
    typed_features_limit(preparer->types, count, budget_bytes);
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
                     node_count_of(prepared), wanted, text_size(wanted, wanted_text),
                     preparer->budget_bytes, text_size(preparer->budget_bytes, budget_text));
}

/* Room in the area, and scratch. The features keep what is left of the budget. */
static enum error_code reserve(struct batch_preparer *preparer, struct prepared_batch *prepared,
                               uint64_t area_bytes, uint64_t scratch_bytes, struct error *err)
{
    struct batch_area *area = &prepared->area;
    if (scratch_bytes > preparer->scratch_bytes) { /* the next batch may be a little larger */
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

/* Bytes that were read from a disk so far by this program. */
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

/* The rows that a batch wants of one source. */
struct wanted_rows {
    struct feature_source *source;
    const uint32_t *node; /* [count] */
    uint32_t count;
};

static struct wanted_rows rows_of_batch(const struct batch_preparer *preparer,
                                        const struct mini_batch *batch)
{
    return (struct wanted_rows){preparer->features, batch->node, batch->node_count};
}

/* Whether the rows of a batch, `wanted` bytes of them, came from a disk, which had read `before` bytes when they were brought. */
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

/* All that a batch wants. */
static enum error_code bring_rows(struct batch_preparer *preparer, const struct wanted_rows *rows,
                                  feature_visitor visitor, void *context, const atomic_bool *stop,
                                  struct error *err)
{
    const uint64_t before = disk_bytes();
    const enum error_code rc = visit_rows(preparer, rows, visitor, context, stop, err);
    note_disk(preparer, before, wanted_bytes(rows));
    return rc;
}

static void aggregate_rows(void *context, const struct feature_visit *visit)
{
    source_aggregation_add(context, visit->place, visit->row, visit->count);
}

static enum error_code fill_aggregated(struct batch_preparer *preparer,
                                       struct prepared_batch *prepared, uint64_t floats,
                                       const atomic_bool *stop, struct error *err)
{
    const struct message_block block = mini_batch_block(&prepared->batch, 0);
    const struct wanted_rows wanted = rows_of_batch(preparer, &prepared->batch);
    struct source_aggregation aggregation;
    enum error_code rc = reserve(
        preparer, prepared, floats * sizeof(float),
        source_aggregation_scratch(&block) + pipe_bytes(preparer, wanted.source, stop), err);
    if (rc == ERROR_NONE)
        rc = source_aggregation_begin(&aggregation, preparer->model, &block, prepared->area.data,
                                      &preparer->scratch, err);
    if (rc == ERROR_NONE)
        rc = bring_rows(preparer, &wanted, aggregate_rows, &aggregation, stop, err);
    if (rc != ERROR_NONE)
        return rc;
    source_aggregation_finish(&aggregation);
    prepared->aggregated = aggregation.aggregated;
    return ERROR_NONE;
}

/* Where rows are copied to. */
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

static enum error_code fill_copied(struct batch_preparer *preparer, struct prepared_batch *prepared,
                                   const atomic_bool *stop, struct error *err)
{
    const struct wanted_rows wanted = rows_of_batch(preparer, &prepared->batch);
    const enum precision precision = preparer->model->config.precision;
    const size_t row_bytes = feature_source_row_bytes(wanted.source);
    enum error_code rc = reserve(preparer, prepared, (uint64_t)wanted.count * row_bytes,
                                 pipe_bytes(preparer, wanted.source, stop), err);
    struct copied_rows copied = {(char *)prepared->area.data, row_bytes};
    if (rc == ERROR_NONE)
        rc = bring_rows(preparer, &wanted, copy_rows, &copied, stop, err);
    if (rc == ERROR_NONE)
        prepared->rows = (struct input_rows){.base = copied.to,
                                             .stride = row_bytes / precision_bytes(precision),
                                             .precision = precision};
    return rc;
}

/* --- of a graph with relations --- */

/* Whether the rows of a type are copied into the area. */
static bool is_copied(const struct batch_preparer *preparer, uint32_t type)
{
    const struct feature_source *source = preparer->types->source[type];
    return source && !feature_source_is_resident(source);
}

/* Up to the next line of the cache. */
static uint64_t area_bytes_of(const struct batch_preparer *preparer,
                              const struct typed_batch *typed, uint32_t type)
{
    const uint64_t line = 64, bytes = typed_features_row_bytes(preparer->types, type) *
                                      typed_batch_count(typed, type);
    return is_copied(preparer, type) ? (bytes + line - 1) / line * line : 0;
}

static enum error_code reserve_types(struct batch_preparer *preparer,
                                     struct prepared_batch *prepared, const atomic_bool *stop,
                                     struct error *err)
{
    uint64_t rows = 0, pipe = 0;
    for (uint32_t t = 0; t < preparer->types->type_count; t++) {
        rows += area_bytes_of(preparer, &prepared->typed, t);
        if (is_copied(preparer, t)) {
            const uint64_t bytes = pipe_bytes(preparer, preparer->types->source[t], stop);
            pipe = bytes > pipe ? bytes : pipe;
        }
    }
    return rows ? reserve(preparer, prepared, rows, pipe, err) : ERROR_NONE;
}

static struct wanted_rows rows_of_type(const struct batch_preparer *preparer,
                                       const struct typed_batch *typed, uint32_t type)
{
    return (struct wanted_rows){preparer->types->source[type], typed->number[type],
                                typed_batch_count(typed, type)};
}

static enum error_code copy_type(const struct batch_preparer *preparer, struct typed_batch *typed,
                                 uint32_t type, const struct copied_rows *area,
                                 const atomic_bool *stop, struct error *err)
{
    const struct wanted_rows wanted = rows_of_type(preparer, typed, type);
    struct copied_rows copied = *area;
    copied.row_bytes = feature_source_row_bytes(wanted.source);
    typed->rows[type] =
        (struct input_rows){.base = copied.to, .stride = copied.row_bytes / sizeof(float)};
    return wanted.count ? visit_rows(preparer, &wanted, copy_rows, &copied, stop, err) : ERROR_NONE;
}

static enum error_code take_type(const struct batch_preparer *preparer, struct typed_batch *typed,
                                 uint32_t type, struct error *err)
{
    const struct wanted_rows wanted = rows_of_type(preparer, typed, type);
    struct feature_rows rows;
    typed->rows[type] = (struct input_rows){0};
    if (!wanted.source)
        return ERROR_NONE;
    const enum error_code rc =
        feature_source_fetch(wanted.source, wanted.node, wanted.count, &rows, err);
    typed->rows[type] =
        (struct input_rows){.base = rows.base, .stride = rows.stride, .row_index = rows.row_index};
    return rc;
}

static enum error_code fill_types(struct batch_preparer *preparer, struct prepared_batch *prepared,
                                  const atomic_bool *stop, struct error *err)
{
    struct typed_batch *typed = &prepared->typed;
    const uint64_t before = disk_bytes();
    uint64_t wanted = 0;
    enum error_code rc = reserve_types(preparer, prepared, stop, err);
    struct copied_rows area = {.to = (char *)prepared->area.data};
    for (uint32_t t = 0; rc == ERROR_NONE && t < preparer->types->type_count; t++) {
        const struct wanted_rows rows = rows_of_type(preparer, typed, t);
        if (!is_copied(preparer, t)) {
            rc = take_type(preparer, typed, t, err);
            continue;
        }
        rc = copy_type(preparer, typed, t, &area, stop, err);
        wanted += wanted_bytes(&rows);
        if (rows.count)
            area.to += area_bytes_of(preparer, typed, t);
    }
    if (wanted)
        note_disk(preparer, before, wanted);
    prepared->has_rows = rc == ERROR_NONE;
    return rc;
}

/* --- all of it --- */

static enum error_code fetch_edges(const struct batch_preparer *preparer,
                                   struct prepared_batch *prepared, const atomic_bool *stop,
                                   struct error *err)
{
    if (!preparer->topology || !prepared->batch.edge_position)
        return ERROR_NONE;
    const enum error_code rc = edge_rows_fetch(preparer->topology, &prepared->batch,
                                               stop ? NULL : preparer->context->pool, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", prepared->key.text);
}

static enum error_code fill_rows(struct batch_preparer *preparer, struct prepared_batch *out,
                                 const atomic_bool *stop, struct error *err)
{
    const struct mini_batch *batch = &out->batch;
    const struct message_block block = mini_batch_block(batch, 0);
    const uint64_t floats = source_aggregation_floats(preparer->model, block.destination_count);
    const uint64_t copied_bytes =
        preparer->features
            ? (uint64_t)batch->node_count * feature_source_row_bytes(preparer->features)
            : 0;
    out->aggregated = NULL;
    enum error_code rc = fetch_edges(preparer, out, stop, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!preparer->features) {
        out->rows = (struct input_rows){0};
    } else if (feature_source_is_resident(preparer->features)) {
        struct feature_rows rows;
        rc = feature_source_fetch(preparer->features, batch->node, batch->node_count, &rows, err);
        out->rows = (struct input_rows){.base = rows.base,
                                        .stride = rows.stride,
                                        .row_index = rows.row_index,
                                        .precision = rows.precision};
        if (preparer->compressed.row_count)
            out->rows.compressed = &preparer->compressed;
    } else if (!preparer->wants_rows && floats && floats * sizeof(float) < copied_bytes &&
               !preparer->mostly_zero && source_aggregation_is_exact(&block, batch->node)) {
        rc = fill_aggregated(preparer, out, floats, stop, err);
    } else {
        rc = fill_copied(preparer, out, stop, err);
    }
    out->rows.mostly_zero = preparer->mostly_zero;
    out->has_rows = rc == ERROR_NONE;
    return rc;
}

enum error_code prepared_batch_fill(struct batch_preparer *preparer, struct prepared_batch *out,
                                    const atomic_bool *stop, struct error *err)
{
    must(out->has_record && !out->has_rows);
    return preparer->types ? fill_types(preparer, out, stop, err)
                           : fill_rows(preparer, out, stop, err);
}
