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
    from->rows = (struct input_rows){0};
}

/* --- the record --- */

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
    if (batch->node_limit > node_count)
        return error_set(err, ERROR_CORRUPT, "expected nodes below %" PRIu32 ", found %" PRIu32,
                         node_count, batch->node_limit - 1);
    return ERROR_NONE;
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
        return rc;
    prepared_batch_forget(out);
    return error_context(err, rc, "record %s", key->text);
}

/* --- the rows --- */

static enum error_code too_small(const struct batch_preparer *preparer,
                                 const struct mini_batch *batch, uint64_t wanted, struct error *err)
{
    char wanted_text[32], budget_text[32];
    return error_set(err, ERROR_NO_MEMORY,
                     "the rows of a mini-batch of %" PRIu32 " nodes want %" PRIu64
                     " bytes (%s), the budget of features is %" PRIu64
                     " bytes (%s); give more --memory, or take fewer nodes at a time (batch sizes, "
                     "fan-outs)",
                     batch->node_count, wanted, text_size(wanted, wanted_text),
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
        return too_small(preparer, &prepared->batch, wanted, err);
    feature_source_limit(preparer->features, preparer->budget_bytes - wanted);
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

static uint64_t pipe_bytes(const struct batch_preparer *preparer, const atomic_bool *stop)
{
    return uses_pipe(preparer, stop) ? row_pipe_bytes(preparer->features) : 0;
}

static enum error_code bring_rows(struct batch_preparer *preparer,
                                  const struct prepared_batch *prepared, feature_visitor visitor,
                                  void *context, const atomic_bool *stop, struct error *err)
{
    const struct mini_batch *batch = &prepared->batch;
    const uint64_t before = disk_bytes();
    const enum error_code rc =
        uses_pipe(preparer, stop)
            ? row_pipe_visit(preparer->features, batch->node, batch->node_count, visitor, context,
                             preparer->context->pool, err)
            : feature_source_visit(preparer->features, batch->node, batch->node_count, visitor,
                                   context, stop, err);
    const uint64_t wanted =
        (uint64_t)batch->node_count * feature_source_dim(preparer->features) * sizeof(float);
    const bool off_disk = disk_bytes() - before > wanted / DISK_SHARE;
    preparer->from_disk = off_disk && preparer->brought_rows;
    preparer->brought_rows = true;
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
    struct source_aggregation aggregation;
    enum error_code rc =
        reserve(preparer, prepared, floats * sizeof(float),
                source_aggregation_scratch(&block) + pipe_bytes(preparer, stop), err);
    if (rc == ERROR_NONE)
        rc = source_aggregation_begin(&aggregation, preparer->model, &block, prepared->area.data,
                                      &preparer->scratch, err);
    if (rc == ERROR_NONE)
        rc = bring_rows(preparer, prepared, aggregate_rows, &aggregation, stop, err);
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
    const struct mini_batch *batch = &prepared->batch;
    const enum precision precision = preparer->model->config.precision;
    const size_t row_bytes = feature_source_row_bytes(preparer->features);
    enum error_code rc = reserve(preparer, prepared, (uint64_t)batch->node_count * row_bytes,
                                 pipe_bytes(preparer, stop), err);
    struct copied_rows copied = {(char *)prepared->area.data, row_bytes};
    if (rc == ERROR_NONE)
        rc = bring_rows(preparer, prepared, copy_rows, &copied, stop, err);
    if (rc == ERROR_NONE)
        prepared->rows = (struct input_rows){.base = copied.to,
                                             .stride = row_bytes / precision_bytes(precision),
                                             .precision = precision};
    return rc;
}

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

enum error_code prepared_batch_fill(struct batch_preparer *preparer, struct prepared_batch *out,
                                    const atomic_bool *stop, struct error *err)
{
    const struct mini_batch *batch = &out->batch;
    const struct message_block block = mini_batch_block(batch, 0);
    const uint64_t floats = source_aggregation_floats(preparer->model, block.destination_count);
    const uint64_t copied_bytes =
        preparer->features
            ? (uint64_t)batch->node_count * feature_source_row_bytes(preparer->features)
            : 0;
    must(out->has_record && !out->has_rows);
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
