#include "stages/partition/version_delta.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/version_comparison.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <string.h>

/* --- which node of the base each node was --- */

/* Finds the ids that the nodes of the version had in the base's dataset. */
static enum error_code trace_back(const struct version_comparison *c, uint32_t *origin,
                                  struct error *err)
{
    const uint32_t node_count = c->numbering->node_count;
    char id[ID_SIZE];
    enum error_code rc = ERROR_NONE;
    (void)text_copy(id, sizeof id, c->input->schema.id);
    for (uint32_t i = 0; i < node_count; i++)
        origin[i] = i;
    while (rc == ERROR_NONE && strcmp(id, c->base->dataset_id) != 0) {
        struct dataset_delta delta;
        struct delta_numbers numbers;
        rc = dataset_delta_get(c->input->context->store, id, &delta, err);
        if (rc != ERROR_NONE)
            return rc;
        delta_numbers_init(&numbers, &delta);
        delta_numbers_step_down(&numbers, origin, node_count);
        (void)text_copy(id, sizeof id, delta.base);
        store_release_record(&delta.view);
    }
    for (uint32_t i = 0; i < node_count; i++)
        if (origin[i] != DELTA_GONE && origin[i] >= c->book.node_count)
            return error_set(
                err, ERROR_CORRUPT,
                "dataset %s: node %" PRIu32 " was %" PRIu32 " of %s, expected below %" PRIu32,
                c->input->schema.id, i, origin[i], c->base->dataset_id, c->book.node_count);
    return ERROR_NONE;
}

static enum error_code match_nodes(struct version_comparison *c, struct error *err)
{
    const uint32_t node_count = c->numbering->node_count;
    struct node_permutation permutation = {0};
    uint32_t *origin = NULL;
    enum error_code rc = memory_new(&origin, node_count, "the nodes of a base", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->base_node, node_count, "the nodes of a base", err);
    if (rc == ERROR_NONE)
        rc = trace_back(c, origin, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(c->input->context->store, c->base->partition_id,
                                    c->book.node_count, &permutation, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++) {
        const uint32_t of = origin[c->numbering->to_dataset[node]];
        c->base_node[node] = of == DELTA_GONE ? DELTA_GONE : permutation.to_partition[of];
    }
    store_release_record(&permutation.view);
    memory_free(origin);
    return rc;
}

/* Counts the nodes of a type in a part that the base does not have. Returns -1 if they are not
 * after the others, or if the others are in another order or part. */
static int64_t count_added(const struct version_comparison *c, int part, uint32_t type)
{
    const struct type_ranges own = numbering_ranges(c->numbering);
    const struct type_ranges base = partition_book_ranges(&c->book);
    const uint32_t end = type_ranges_first(&own, part, type + 1);
    uint32_t node = type_ranges_first(&own, part, type);
    uint32_t last = type_ranges_first(&base, part, type);
    for (; node < end && c->base_node[node] != DELTA_GONE; node++) {
        if (c->base_node[node] < last ||
            c->base_node[node] >= type_ranges_first(&base, part, type + 1))
            return -1;
        last = c->base_node[node] + 1;
    }
    for (uint32_t added = node; added < end; added++)
        if (c->base_node[added] != DELTA_GONE)
            return -1;
    return end - node;
}

/* Lists the nodes of the base that no node of the version was, ascending like the version's
 * nodes. */
static void list_gone(const struct version_comparison *c, uint32_t *gone, uint32_t *count)
{
    uint32_t next = 0;
    *count = 0;
    for (uint32_t node = 0; node < c->numbering->node_count; node++) {
        if (c->base_node[node] == DELTA_GONE)
            continue;
        while (next < c->base_node[node])
            gone[(*count)++] = next++;
        next++;
    }
    while (next < c->book.node_count)
        gone[(*count)++] = next++;
}

/* Copies the ranges of the base's parts and types. */
static enum error_code copy_bounds(const struct version_comparison *c, struct error *err)
{
    struct part_delta *delta = c->delta;
    const size_t parts = (size_t)c->book.part_count;
    const size_t starts = c->book.type_count ? parts * (c->book.type_count + 1) : 0;
    enum error_code rc = memory_new(&delta->base_book, parts + 1, "the parts of a base", err);
    if (rc == ERROR_NONE && starts)
        rc = memory_new(&delta->type_start, starts, "the types of a base", err);
    if (rc == ERROR_NONE)
        memcpy(delta->base_book, c->book.book, (parts + 1) * sizeof *delta->base_book);
    if (rc == ERROR_NONE && starts)
        memcpy(delta->type_start, c->book.type_start, starts * sizeof *delta->type_start);
    return rc;
}

static enum error_code describe(struct version_comparison *c, struct error *err)
{
    struct part_delta *delta = c->delta;
    const uint32_t types = partition_book_types(&c->book);
    const size_t ranges = (size_t)c->numbering->part_count * types;
    uint64_t added = 0;
    enum error_code rc = copy_bounds(c, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&delta->added, ranges, "the parts of a base", err);
    for (size_t i = 0; rc == ERROR_NONE && c->fits && i < ranges; i++) {
        const int64_t count = count_added(c, (int)(i / types), (uint32_t)(i % types));
        c->fits = count >= 0;
        delta->added[i] = c->fits ? (uint32_t)count : 0;
        added += delta->added[i];
    }
    if (rc != ERROR_NONE || !c->fits)
        return rc;
    const uint64_t left = c->numbering->node_count - added;
    delta->record = (struct partition_delta){.part_count = c->numbering->part_count,
                                             .type_count = c->book.type_count,
                                             .base_book = delta->base_book,
                                             .type_start = delta->type_start,
                                             .added = delta->added};
    must(text_copy(delta->record.base, ID_SIZE, c->base->partition_id));
    rc = memory_new(&delta->gone, c->book.node_count - left, "the nodes that are gone", err);
    if (rc != ERROR_NONE)
        return rc;
    list_gone(c, delta->gone, &delta->record.gone_count);
    delta->record.gone = delta->gone;
    return node_shift_init(&delta->shift, &delta->record, err);
}

/* --- how much has changed --- */

/* Bytes of a row. */
struct row_bytes {
    uint64_t edge, features, label;
};

static struct row_bytes bytes_of(const struct version_comparison *c, uint32_t type)
{
    const struct dataset_schema *schema = &c->input->schema;
    const bool has_labels =
        task_has(schema->task, TASK_LABELS_NODES) && type == schema->target_type;
    return (struct row_bytes){
        .edge = sizeof(uint32_t) + edge_widths_bytes(&schema->edge_width),
        .features = dataset_type(schema, type).feature_dim * tensor_type_bytes(c->feature_type),
        .label = has_labels ? task_of(schema->task)->label_width(schema->class_count) * 4ULL : 0,
    };
}

/* Returns the bytes that have changed for a node: its rows, with four bytes for the number of each,
 * and its edges. */
static uint64_t other_bytes(const struct version_comparison *c, uint32_t node,
                            const struct row_bytes *bytes)
{
    const uint8_t what = c->delta->other[node];
    uint64_t other = 0;
    if (what & OTHER_EDGES)
        other += sizeof(uint32_t) + sizeof(uint64_t) +
                 c->input->in_degree[c->numbering->to_dataset[node]] * bytes->edge;
    if (bytes->features && (what & OTHER_FEATURES))
        other += sizeof(uint32_t) + bytes->features;
    if (bytes->label && (what & OTHER_LABEL))
        other += sizeof(uint32_t) + bytes->label;
    return other;
}

/* Returns the share of the bytes that have changed. */
static double share_of(const struct version_comparison *c)
{
    const struct dataset_schema *schema = &c->input->schema;
    const struct type_ranges ranges = numbering_ranges(c->numbering);
    uint64_t other = 0, all = 0;
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        const struct row_bytes bytes = bytes_of(c, t);
        all +=
            dataset_type(schema, t).node_count * (sizeof(uint64_t) + bytes.features + bytes.label);
        all += t == 0 ? schema->edge_count * bytes.edge : 0;
        for (int p = 0; p < ranges.part_count; p++)
            for (uint32_t node = type_ranges_first(&ranges, p, t);
                 node < type_ranges_first(&ranges, p, t + 1); node++)
                other += other_bytes(c, node, &bytes);
    }
    return (double)other / (double)all;
}

/* Sets *is_delta. */
static enum error_code decide(struct version_comparison *c, bool *is_delta, struct error *err)
{
    const double compact = c->input->context->settings->partition.compact;
    const double share = c->fits ? share_of(c) : 1.0;
    *is_delta = c->fits && share <= compact;
    log_info("version base=%s changed_share=%.4f form=%s", c->base->partition_id, share,
             *is_delta ? "delta" : "whole");
    if (c->base->is_chosen && !*is_delta)
        return error_set(err, ERROR_CORRUPT,
                         "partition %s: its files are a delta of %s, but the share that has "
                         "changed is %.4f: expected at most partition.compact, %g",
                         c->input->id, c->base->partition_id, share, compact);
    return ERROR_NONE;
}

enum error_code version_delta_plan(const struct partition_input *input,
                                   const struct delta_base *base, const struct numbering *numbering,
                                   enum tensor_type feature_type, bool reads_all,
                                   struct part_delta *out, bool *is_delta, struct error *err)
{
    struct version_comparison c = {.input = input,
                                   .base = base,
                                   .numbering = numbering,
                                   .feature_type = feature_type,
                                   .delta = out,
                                   .reads_all = reads_all,
                                   .fits = true};
    *is_delta = false;
    *out = (struct part_delta){.record = {.base = ""}};
    enum error_code rc =
        partition_book_get(input->context->store, base->partition_id, &c.book, err);
    if (rc == ERROR_NONE)
        c.fits = c.book.part_count == numbering->part_count &&
                 partition_book_types(&c.book) == dataset_type_count(&input->schema) &&
                 partition_book_relations(&c.book) == dataset_relation_count(&input->schema);
    if (rc == ERROR_NONE && c.fits)
        rc = match_nodes(&c, err);
    if (rc == ERROR_NONE && c.fits)
        rc = describe(&c, err);
    if (rc == ERROR_NONE && c.fits)
        rc = version_compare(&c, err);
    if (rc == ERROR_NONE)
        rc = decide(&c, is_delta, err);
    memory_free(c.base_node);
    store_release_record(&c.book.view);
    return rc;
}
