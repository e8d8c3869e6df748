/* Makes the records on the nodes of a version: features, labels, splits, ids. Declared in
 * version_rows.h. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/objects/stored_bytes.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/fold_graphs.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum error_code version_block(struct record_view *view, const struct version_fold *fold,
                              const char *what, uint64_t bytes, struct error *err)
{
    struct stored_bytes block;
    *view = (struct record_view){0};
    const enum error_code rc = stored_bytes_new(&block, bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    view->data = block.data;
    view->size = block.size;
    (void)snprintf(view->key, sizeof view->key, "dataset/%s, merged %s", fold->kept.name, what);
    return ERROR_NONE;
}

/* Returns the memory of a view that was not returned yet. */
static void *block_of(const struct record_view *view)
{
    void *block = NULL;
    memcpy(&block, &view->data, sizeof block);
    return block;
}

/* Checks that a record of the base has the expected number of nodes, or targets. */
static enum error_code expect_count(const char *key, uint64_t found, uint32_t expected,
                                    struct error *err)
{
    return found == expected
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT, "%s: of %" PRIu64 " nodes, expected %" PRIu32, key,
                           found, expected);
}

/* --- rows of features --- */

/* Nodes whose rows are divided into chunks together: those of one type, or all. */
struct feature_space {
    uint32_t first, end;  /* nodes of the version */
    uint32_t base_first;  /* first of them in the base */
    uint64_t first_chunk; /* in the version */
    uint64_t base_chunk;  /* in the base */
    uint32_t dim;
    const char *origin;
};

/* Finds the space of a chunk of the version. Returns false if there is no such chunk. */
static bool find_space(const struct version_fold *fold, int64_t chunk, struct feature_space *space)
{
    const struct delta_numbers *numbers = &fold->numbers;
    *space = (struct feature_space){.end = 0};
    if (chunk < 0)
        return false;
    const uint32_t types = dataset_type_count(&fold->base);
    /* a delta may distinguish more types, which the schema only names */
    for (uint32_t t = 0; t < types; t++) {
        const uint32_t next = t + 1 < types ? t + 1 : numbers->type_count;
        space->first = numbers->first[t];
        space->end = numbers->first[next];
        space->base_first = numbers->base_first[t];
        space->dim = dataset_type(&fold->base, t).feature_dim;
        space->origin = dataset_type_origin(&fold->base, t);
        const uint32_t base_count = numbers->base_first[next] - space->base_first;
        const uint64_t chunks = feature_chunk_count(space->end - space->first, space->dim);
        if ((uint64_t)chunk - space->first_chunk < chunks)
            return true;
        space->first_chunk += chunks;
        space->base_chunk += feature_chunk_count(base_count, space->dim);
    }
    return false;
}

/* Opens the chunk of the base with the row of node `origin`. */
static enum error_code seek_rows(const struct version_fold *fold, struct store *store,
                                 const struct feature_space *space, uint32_t origin,
                                 struct feature_chunk *chunk, struct error *err)
{
    const uint64_t i =
        space->base_chunk + (origin - space->base_first) / feature_chunk_rows(space->dim);
    if (chunk->node_count && origin >= chunk->first_node &&
        origin - chunk->first_node < chunk->node_count)
        return ERROR_NONE;
    store_release_record(&chunk->view);
    const enum error_code rc = feature_chunk_get(store, fold->base.id, (int64_t)i, chunk, err);
    if (rc == ERROR_NONE && (chunk->dim != space->dim || chunk->first_node > origin ||
                             origin - chunk->first_node >= chunk->node_count))
        return error_set(err, ERROR_CORRUPT,
                         "%s: expected rows of %" PRIu32 " numbers, that of node %" PRIu32
                         " among them",
                         chunk->view.key, space->dim, origin);
    return rc;
}

/* Copies the rows of those nodes in [first, end) of the version that are in the base, chunk after
 * chunk. */
static enum error_code copy_base_rows(const struct version_fold *fold, struct store *store,
                                      const struct feature_space *space, uint32_t first,
                                      uint32_t end, float *to, struct error *err)
{
    const uint32_t dim = space->dim;
    struct feature_chunk chunk = {0};
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = first; rc == ERROR_NONE && node < end;) {
        const struct version_run run = version_fold_run(fold, node, end);
        for (uint32_t i = 0, count = 0; rc == ERROR_NONE && !run.is_added && i < run.count;
             i += count) {
            const uint32_t origin = run.from + i;
            rc = seek_rows(fold, store, space, origin, &chunk, err);
            if (rc != ERROR_NONE)
                break;
            count = chunk.first_node + chunk.node_count - origin;
            count = run.count - i < count ? run.count - i : count;
            memcpy(to + (size_t)(node + i - first) * dim,
                   chunk.row + (size_t)(origin - chunk.first_node) * dim,
                   (size_t)count * dim * sizeof *to);
        }
        node += run.count;
    }
    store_release_record(&chunk.view);
    return rc;
}

/* Counts the added nodes in [first, end). */
static uint32_t count_added(const struct version_fold *fold, uint32_t first, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t node = first; node < end;) {
        const struct version_run run = version_fold_run(fold, node, end);
        count += run.is_added ? run.count : 0;
        node += run.count;
    }
    return count;
}

/* Copies the rows of deltas over those of the base. Each added node must have one. */
static enum error_code copy_new_rows(const struct version_fold *fold, uint32_t dim, uint32_t first,
                                     uint32_t end, float *to, struct error *err)
{
    uint32_t found = 0;
    for (uint64_t i = version_fold_first_row(fold, first);
         i < fold->rows && fold->row[i].node < end; i++) {
        const struct fold_row *row = &fold->row[i];
        memcpy(to + (size_t)(row->node - first) * dim, fold->delta[row->delta].row + row->first,
               dim * sizeof *to);
        found += version_fold_run(fold, row->node, row->node + 1).is_added;
    }
    const uint32_t expected = count_added(fold, first, end);
    return found == expected
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "dataset %s: of the nodes %" PRIu32 " to %" PRIu32 " %" PRIu32
                           " were added, of which %" PRIu32 " have features, expected all",
                           fold->kept.name, first, end - 1, expected, found);
}

enum error_code version_features(const struct version_fold *fold, struct store *store,
                                 int64_t chunk, struct feature_chunk *out, struct error *err)
{
    struct feature_space space;
    *out = (struct feature_chunk){0};
    if (!find_space(fold, chunk, &space) || strcmp(space.origin, "given") != 0)
        return error_set(err, ERROR_NOT_FOUND, "record %s is not in the store",
                         key_feature_chunk(fold->kept.name, chunk).text);
    const uint32_t dim = space.dim, rows = feature_chunk_rows(dim);
    const uint32_t first = space.first + (uint32_t)((uint64_t)chunk - space.first_chunk) * rows;
    const uint32_t left = space.end - first, count = left < rows ? left : rows;
    enum error_code rc =
        version_block(&out->view, fold, "features", (uint64_t)count * dim * sizeof *out->row, err);
    if (rc != ERROR_NONE)
        return rc;
    float *to = block_of(&out->view);
    rc = copy_base_rows(fold, store, &space, first, first + count, to, err);
    if (rc == ERROR_NONE)
        rc = copy_new_rows(fold, dim, first, first + count, to, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        return rc;
    }
    out->first_node = first;
    out->node_count = count;
    out->dim = dim;
    out->row = to;
    return ERROR_NONE;
}

/* --- labels --- */

static void merge_labels(const struct version_fold *fold, const struct node_labels *base,
                         uint32_t width, uint32_t *to)
{
    const uint32_t *row = base->row, count = version_targets(fold);
    for (uint32_t target = 0; target < count;) {
        const struct version_run run = version_target_run(fold, target, count);
        if (!run.is_added)
            memcpy(to + (size_t)target * width, row + (size_t)run.from * width,
                   (size_t)run.count * width * sizeof *to);
        for (uint32_t i = 0; run.is_added && i < run.count; i++) {
            const struct fold_node *added = version_added_target(fold, run.from + i);
            memcpy(to + ((size_t)target + i) * width,
                   fold->delta[added->delta].new_label + (size_t)added->index * width,
                   width * sizeof *to);
        }
        target += run.count;
    }
}

enum error_code version_labels(const struct version_fold *fold, struct store *store,
                               struct node_labels *out, struct error *err)
{
    struct node_labels base;
    *out = (struct node_labels){0};
    enum error_code rc = node_labels_get(store, fold->base.id, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = expect_count(base.view.key, base.node_count, version_base_targets(fold), err);
    if (rc == ERROR_NONE &&
        (base.task != fold->base.task || base.class_count != fold->base.class_count))
        rc = error_set(err, ERROR_CORRUPT, "%s: of another task or other classes than its dataset",
                       base.view.key);
    const uint32_t width = task_of(base.task)->label_width(base.class_count);
    if (rc == ERROR_NONE)
        rc = version_block(&out->view, fold, "labels",
                           (uint64_t)version_targets(fold) * width * sizeof(uint32_t), err);
    if (rc == ERROR_NONE) {
        uint32_t *to = block_of(&out->view);
        merge_labels(fold, &base, width, to);
        out->node_count = version_targets(fold);
        out->task = base.task;
        out->class_count = base.class_count;
        out->row = to;
    }
    store_release_record(&base.view);
    return rc;
}

/* --- splits --- */

static uint8_t split_of(const struct version_fold *fold, uint32_t added)
{
    const struct fold_node *target = version_added_target(fold, added);
    return fold->delta[target->delta].new_split[target->index];
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static enum error_code merge_split(const struct version_fold *fold, const struct node_splits *base,
                                   enum split split, struct node_splits *out, uint32_t *to,
                                   struct error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < base->count[split]; i++) {
        const uint32_t target = base->node[split][i];
        if (target >= version_base_targets(fold))
            return error_set(err, ERROR_CORRUPT,
                             "%s: number %" PRIu32 " in a split, expected below %" PRIu32,
                             base->view.key, target, version_base_targets(fold));
        const uint32_t number = version_target_number(fold, target);
        if (number != NODE_GONE)
            to[count++] = number;
    }
    const uint32_t of_base = count;
    for (uint32_t i = 0; i < version_added_targets(fold); i++)
        if (split_of(fold, i) == 1 + (int)split)
            to[count++] = version_added_target_number(fold, i);
    /* If there are several types, added nodes do not come after all others. */
    if (of_base && of_base < count && to[of_base] < to[of_base - 1])
        qsort(to, count, sizeof *to, by_number);
    out->node[split] = to;
    out->count[split] = count;
    return ERROR_NONE;
}

enum error_code version_splits(const struct version_fold *fold, struct store *store,
                               struct node_splits *out, struct error *err)
{
    struct node_splits base;
    const struct key key = key_dataset(fold->base.id, "splits");
    uint64_t room = version_added_targets(fold);
    *out = (struct node_splits){0};
    enum error_code rc = node_splits_get(store, key.text, fold->base.id, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int s = 0; s < SPLIT_COUNT; s++)
        room += base.count[s];
    rc = version_block(&out->view, fold, "splits", room * sizeof(uint32_t), err);
    uint32_t *to = block_of(&out->view);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = merge_split(fold, &base, (enum split)s, out, to, err);
        to += out->count[s];
    }
    store_release_record(&base.view);
    if (rc != ERROR_NONE)
        store_release_record(&out->view);
    return rc;
}

/* --- ids --- */

/* Returns the ids of the delta that added a node. */
static const struct node_ids *added_ids(const struct version_fold *fold, uint32_t added)
{
    return &fold->delta[fold->added[added].delta].new_ids;
}

static enum error_code merge_integers(const struct version_fold *fold, const struct node_ids *base,
                                      bool *are_numbers, struct node_ids *out, struct error *err)
{
    const enum error_code rc =
        version_block(&out->view, fold, "ids", (uint64_t)fold->node_count * sizeof(int64_t), err);
    if (rc != ERROR_NONE)
        return rc;
    int64_t *to = block_of(&out->view);
    for (uint32_t node = 0; node < fold->node_count;) {
        const struct version_run run = version_fold_run(fold, node, fold->node_count);
        for (uint32_t i = 0; i < run.count; i++, node++) {
            const uint32_t from = run.from + i;
            to[node] = run.is_added    ? added_ids(fold, from)->integer[fold->added[from].index]
                       : base->integer ? base->integer[from]
                                       : (int64_t)from;
        }
    }
    *are_numbers = true;
    for (uint32_t node = 0; *are_numbers && node < fold->node_count; node++)
        *are_numbers = to[node] == (int64_t)node;
    out->node_count = fold->node_count;
    out->integer = to;
    return ERROR_NONE;
}

static void push_text(uint64_t *offset, char *text, uint32_t *count, const struct node_ids *ids,
                      uint32_t node)
{
    const uint64_t size = ids->offset[node + 1] - ids->offset[node];
    if (size)
        memcpy(text + offset[*count], ids->text + ids->offset[node], size);
    offset[*count + 1] = offset[*count] + size;
    ++*count;
}

static enum error_code merge_texts(const struct version_fold *fold, const struct node_ids *base,
                                   struct node_ids *out, struct error *err)
{
    uint64_t bytes = base->offset[base->node_count];
    uint32_t count = 0;
    for (uint32_t i = 0; i < fold->added_nodes; i++) {
        const uint64_t *offset = added_ids(fold, i)->offset;
        const uint32_t index = fold->added[i].index;
        bytes += offset[index + 1] - offset[index];
    }
    const uint64_t offsets = ((uint64_t)fold->node_count + 1) * sizeof(uint64_t);
    const enum error_code rc = version_block(&out->view, fold, "ids", offsets + bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    uint64_t *offset = block_of(&out->view);
    char *text = (char *)offset + offsets;
    for (uint32_t node = 0; node < fold->node_count;) {
        const struct version_run run = version_fold_run(fold, node, fold->node_count);
        for (uint32_t i = 0; i < run.count; i++, node++)
            if (run.is_added)
                push_text(offset, text, &count, added_ids(fold, run.from + i),
                          fold->added[run.from + i].index);
            else
                push_text(offset, text, &count, base, run.from + i);
    }
    out->node_count = count;
    out->offset = offset;
    out->text = text;
    return ERROR_NONE;
}

enum error_code version_ids(const struct version_fold *fold, struct store *store, bool *are_numbers,
                            struct node_ids *out, struct error *err)
{
    struct node_ids base = {0};
    const bool is_text = fold->base.node_id_form == NODE_ID_STRING;
    enum error_code rc = ERROR_NONE;
    *out = (struct node_ids){0};
    *are_numbers = false;
    if (fold->base.node_id_form != NODE_ID_CONSECUTIVE) {
        rc = node_ids_get(store, fold->base.id, &base, err);
        if (rc == ERROR_NONE)
            rc = expect_count(base.view.key, base.node_count, fold->base.node_count, err);
        if (rc == ERROR_NONE && is_text != (base.offset != NULL))
            rc = error_set(err, ERROR_CORRUPT, "%s: of another form than its dataset says",
                           base.view.key);
    }
    if (rc == ERROR_NONE)
        rc = is_text ? merge_texts(fold, &base, out, err)
                     : merge_integers(fold, &base, are_numbers, out, err);
    store_release_record(&base.view);
    if (rc == ERROR_NONE && *are_numbers) {
        store_release_record(&out->view);
        *out = (struct node_ids){0};
    }
    return rc;
}
