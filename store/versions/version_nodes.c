/* What a version has of its nodes: rows of features, labels, splits, ids. Declared in version_rows.h. */
#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/objects/stored_bytes.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <stdio.h>
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

/* The bytes of a block that is not handed out yet. */
static void *block_of(const struct record_view *view)
{
    void *block = NULL;
    memcpy(&block, &view->data, sizeof block);
    return block;
}

/* What the base's own record says must be of its nodes. */
static enum error_code expect_nodes(const struct version_fold *fold, const char *key,
                                    uint64_t found, struct error *err)
{
    return found == fold->base.node_count
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT, "%s: of %" PRIu64 " nodes, expected %" PRIu32, key,
                           found, fold->base.node_count);
}

/* ---- rows of features ---------------------------------------------------------------------------- */

/* Rows of nodes [first, end), which are in the base, from one of its chunks after the other. */
static enum error_code copy_base_rows(const struct version_fold *fold, struct store *store,
                                      uint32_t first, uint32_t end, float *to, struct error *err)
{
    const uint32_t dim = fold->base.feature_dim, rows = feature_chunk_rows(dim);
    struct feature_chunk chunk = {0};
    enum error_code rc = ERROR_NONE;
    uint32_t gone = version_fold_origin(fold, first) - first;
    for (uint32_t node = first; rc == ERROR_NONE && node < end;) {
        while (gone < fold->gone_nodes && fold->gone[gone] == node + gone)
            gone++;
        const uint32_t origin = node + gone;
        if (!chunk.node_count || origin - chunk.first_node >= chunk.node_count) {
            store_release_record(&chunk.view);
            rc = feature_chunk_get(store, fold->base.id, origin / rows, &chunk, err);
            if (rc == ERROR_NONE && (chunk.dim != dim || chunk.first_node > origin ||
                                     origin - chunk.first_node >= chunk.node_count))
                rc = error_set(err, ERROR_CORRUPT,
                               "%s: expected rows of %" PRIu32 " numbers, that of node %" PRIu32
                               " among them",
                               chunk.view.key, dim, origin);
            if (rc != ERROR_NONE)
                break;
        }
        /* Up to the next one that is gone, the end of the chunk or that of what is wanted. */
        uint32_t count = chunk.first_node + chunk.node_count - origin;
        if (gone < fold->gone_nodes && fold->gone[gone] - origin < count)
            count = fold->gone[gone] - origin;
        count = end - node < count ? end - node : count;
        memcpy(to + (size_t)(node - first) * dim,
               chunk.row + (size_t)(origin - chunk.first_node) * dim,
               (size_t)count * dim * sizeof *to);
        node += count;
    }
    store_release_record(&chunk.view);
    return rc;
}

static uint64_t first_row(const struct version_fold *fold, uint32_t node)
{
    uint64_t low = 0, high = fold->rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (fold->row[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rows of deltas over those of the base; each added node has one. */
static enum error_code copy_new_rows(const struct version_fold *fold, uint32_t first, uint32_t end,
                                     float *to, struct error *err)
{
    const uint32_t dim = fold->base.feature_dim;
    uint32_t found = 0;
    for (uint64_t i = first_row(fold, first); i < fold->rows && fold->row[i].node < end; i++) {
        const struct fold_row *row = &fold->row[i];
        memcpy(to + (size_t)(row->node - first) * dim,
               fold->delta[row->delta].row + row->index * dim, dim * sizeof *to);
        found += row->node >= fold->stay;
    }
    const uint32_t from = first > fold->stay ? first : fold->stay;
    const uint32_t expected = end > from ? end - from : 0;
    return found == expected
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "dataset %s: %" PRIu32 " of the nodes %" PRIu32 " to %" PRIu32
                           " that were added have features, expected all",
                           fold->kept.name, found, from, end - 1);
}

enum error_code version_features(const struct version_fold *fold, struct store *store,
                                 int64_t chunk, struct feature_chunk *out, struct error *err)
{
    const uint32_t dim = fold->base.feature_dim, rows = feature_chunk_rows(dim);
    const uint64_t first = (uint64_t)chunk * rows;
    *out = (struct feature_chunk){0};
    if (!dim || chunk < 0 || first >= fold->node_count)
        return error_set(err, ERROR_NOT_FOUND, "record %s is not in the store",
                         key_feature_chunk(fold->kept.name, chunk).text);
    const uint32_t left = fold->node_count - (uint32_t)first, count = left < rows ? left : rows;
    const uint32_t end = (uint32_t)first + count;
    enum error_code rc =
        version_block(&out->view, fold, "features", (uint64_t)count * dim * sizeof *out->row, err);
    if (rc != ERROR_NONE)
        return rc;
    float *to = block_of(&out->view);
    if (first < fold->stay)
        rc = copy_base_rows(fold, store, (uint32_t)first, end < fold->stay ? end : fold->stay, to,
                            err);
    if (rc == ERROR_NONE)
        rc = copy_new_rows(fold, (uint32_t)first, end, to, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        return rc;
    }
    out->first_node = (uint32_t)first;
    out->node_count = count;
    out->dim = dim;
    out->row = to;
    return ERROR_NONE;
}

/* ---- labels ------------------------------------------------------------------------------------- */

/* Runs of nodes of the base that stay, [from, from + count). */
struct stay_run {
    uint32_t gone; /* nodes gone before it */
    uint32_t from, count;
};

static bool next_run(const struct version_fold *fold, struct stay_run *run)
{
    for (uint32_t from = run->from + run->count; from < fold->base.node_count; from++) {
        if (run->gone < fold->gone_nodes && fold->gone[run->gone] == from) {
            run->gone++;
            continue;
        }
        const uint32_t end =
            run->gone < fold->gone_nodes ? fold->gone[run->gone] : fold->base.node_count;
        *run = (struct stay_run){.gone = run->gone, .from = from, .count = end - from};
        return true;
    }
    return false;
}

static void merge_labels(const struct version_fold *fold, const struct node_labels *base,
                         uint32_t width, uint32_t *to)
{
    const uint32_t *row = base->row;
    struct stay_run run = {0};
    while (next_run(fold, &run))
        memcpy(to + (size_t)(run.from - run.gone) * width, row + (size_t)run.from * width,
               (size_t)run.count * width * sizeof *to);
    for (uint32_t i = 0; i < fold->added_nodes; i++) {
        const struct fold_node *node = &fold->added[i];
        memcpy(to + ((size_t)fold->stay + i) * width,
               fold->delta[node->delta].new_label + (size_t)node->index * width,
               width * sizeof *to);
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
    rc = expect_nodes(fold, base.view.key, base.node_count, err);
    if (rc == ERROR_NONE &&
        (base.task != fold->base.task || base.class_count != fold->base.class_count))
        rc = error_set(err, ERROR_CORRUPT, "%s: of another task or other classes than its dataset",
                       base.view.key);
    const uint32_t width = task_of(base.task)->label_width(base.class_count);
    if (rc == ERROR_NONE)
        rc = version_block(&out->view, fold, "labels",
                           (uint64_t)fold->node_count * width * sizeof(uint32_t), err);
    if (rc == ERROR_NONE) {
        uint32_t *to = block_of(&out->view);
        merge_labels(fold, &base, width, to);
        out->node_count = fold->node_count;
        out->task = base.task;
        out->class_count = base.class_count;
        out->row = to;
    }
    store_release_record(&base.view);
    return rc;
}

/* ---- splits ------------------------------------------------------------------------------------- */

static uint8_t split_of(const struct version_fold *fold, uint32_t added)
{
    const struct fold_node *node = &fold->added[added];
    return fold->delta[node->delta].new_split[node->index];
}

static enum error_code merge_split(const struct version_fold *fold, const struct node_splits *base,
                                   enum split split, struct node_splits *out, uint32_t *to,
                                   struct error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < base->count[split]; i++) {
        const uint32_t node = base->node[split][i];
        if (node >= fold->base.node_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: node %" PRIu32 " in a split, expected below %" PRIu32,
                             base->view.key, node, fold->base.node_count);
        const uint32_t number = version_fold_number(fold, node);
        if (number != NODE_GONE)
            to[count++] = number;
    }
    for (uint32_t i = 0; i < fold->added_nodes; i++)
        if (split_of(fold, i) == 1 + (int)split)
            to[count++] = fold->stay + i;
    out->node[split] = to;
    out->count[split] = count;
    return ERROR_NONE;
}

enum error_code version_splits(const struct version_fold *fold, struct store *store,
                               struct node_splits *out, struct error *err)
{
    struct node_splits base;
    const struct key key = key_dataset(fold->base.id, "splits");
    uint64_t room = fold->added_nodes;
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

/* ---- ids ---------------------------------------------------------------------------------------- */

static enum error_code merge_integers(const struct version_fold *fold, const struct node_ids *base,
                                      bool *are_numbers, struct node_ids *out, struct error *err)
{
    const enum error_code rc =
        version_block(&out->view, fold, "ids", (uint64_t)fold->node_count * sizeof(int64_t), err);
    if (rc != ERROR_NONE)
        return rc;
    int64_t *to = block_of(&out->view);
    struct stay_run run = {0};
    while (next_run(fold, &run))
        for (uint32_t i = 0; i < run.count; i++)
            to[run.from - run.gone + i] =
                base->integer ? base->integer[run.from + i] : (int64_t)run.from + i;
    for (uint32_t i = 0; i < fold->added_nodes; i++)
        to[fold->stay + i] =
            fold->delta[fold->added[i].delta].new_ids.integer[fold->added[i].index];
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
        const struct fold_node *node = &fold->added[i];
        const uint64_t *offset = fold->delta[node->delta].new_ids.offset;
        bytes += offset[node->index + 1] - offset[node->index];
    }
    const uint64_t offsets = ((uint64_t)fold->node_count + 1) * sizeof(uint64_t);
    const enum error_code rc = version_block(&out->view, fold, "ids", offsets + bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    uint64_t *offset = block_of(&out->view);
    char *text = (char *)offset + offsets;
    struct stay_run run = {0};
    while (next_run(fold, &run))
        for (uint32_t i = 0; i < run.count; i++)
            push_text(offset, text, &count, base, run.from + i);
    for (uint32_t i = 0; i < fold->added_nodes; i++)
        push_text(offset, text, &count, &fold->delta[fold->added[i].delta].new_ids,
                  fold->added[i].index);
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
            rc = expect_nodes(fold, base.view.key, base.node_count, err);
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
