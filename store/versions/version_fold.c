#include "store/versions/version_fold.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/versions/fold_state.h"

#include <inttypes.h>
#include <string.h>

static void free_fold(struct kept_object *object)
{
    struct version_fold *fold = (struct version_fold *)object;
    for (size_t i = 0; i < fold->depth; i++)
        store_release_record(&fold->delta[i].view);
    memory_free(fold->delta);
    memory_free(fold->gone);
    memory_free(fold->gone_bits);
    memory_free(fold->gone_before);
    memory_free(fold->added);
    memory_free(fold->gone_edge);
    memory_free(fold->edge);
    memory_free(fold->held);
    memory_free(fold->row);
    memory_free(fold->graphs.kept_graph);
    memory_free(fold->graphs.added);
    memory_free(fold->graphs.graph_of_added);
    memory_free(fold);
}

void version_fold_drop(struct version_fold *fold)
{
    if (fold)
        kept_object_drop(&fold->kept);
}

uint32_t version_relation_count(const struct dataset_schema *schema)
{
    return schema->edge_type_count > 1 && schema->edge_width.of[EDGE_TYPE] ? schema->edge_type_count
                                                                           : 0;
}

struct version_run version_fold_run(const struct version_fold *fold, uint32_t node, uint32_t end)
{
    const struct delta_numbers *numbers = &fold->numbers;
    const uint32_t own = delta_numbers_own(numbers, node);
    uint32_t type = numbers->type_count - 1;
    struct version_run run = {.node = node, .is_added = own >= fold->base.node_count, .from = own};
    while (type > 0 && node < numbers->first[type])
        type--;
    if (run.is_added) {
        run.from -= fold->base.node_count;
        run.count = numbers->first[type + 1] - node;
    } else {
        /* Ends the run before the next removed node, or at the last node of the type in the
         * base. */
        const uint64_t gone = delta_numbers_gone_before(numbers, own);
        const uint32_t last = numbers->base_first[type + 1];
        run.count =
            (gone < fold->gone_nodes && fold->gone[gone] < last ? fold->gone[gone] : last) - own;
    }
    if (run.count > end - node)
        run.count = end - node;
    return run;
}

/* Returns the size of a delta's content in bytes. */
static uint64_t bytes_of(const struct dataset_delta *delta)
{
    const struct node_ids *ids = &delta->new_ids;
    const uint64_t text = ids->offset ? ids->offset[delta->added_nodes] : 0;
    uint64_t rows = delta->rows * sizeof(uint32_t);
    for (uint64_t i = 0; i < delta->rows; i++)
        rows += dataset_delta_columns(delta, delta->row_node[i]) * sizeof(float);
    return delta->gone_nodes * sizeof(uint32_t) + delta->gone_edges * sizeof(uint64_t) +
           delta->added_edges * (sizeof(uint64_t) + edge_widths_bytes(&delta->columns.width)) +
           delta->added_nodes * (sizeof(uint64_t) + (delta->base_graphs ? 4ULL : 0)) + text + rows +
           dataset_delta_targets(delta) * (1 + delta->label_width * 4ULL) +
           delta->gone_graphs * sizeof(uint32_t) + delta->added_graphs * sizeof(int64_t);
}

/* Reads the chain of deltas from the newest to the base, then reverses it. */
static enum error_code read_chain(struct version_fold *fold, struct store *store,
                                  const char *base_id, struct error *err)
{
    char id[ID_SIZE];
    size_t room = 0;
    enum error_code rc = ERROR_NONE;
    (void)text_copy(id, sizeof id, fold->kept.name);
    while (rc == ERROR_NONE && strcmp(id, base_id) != 0) {
        struct dataset_delta delta;
        rc = dataset_delta_get(store, id, &delta, err);
        if (rc == ERROR_NOT_FOUND)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: expected deltas from %s on: %s has none", fold->kept.name,
                             base_id, id);
        if (rc == ERROR_NONE && fold->depth &&
            delta.depth + 1 != fold->delta[fold->depth - 1].depth) {
            rc = error_set(err, ERROR_CORRUPT, "%s: is at depth %" PRIu64 ", expected %" PRIu64,
                           delta.view.key, delta.depth, fold->delta[fold->depth - 1].depth - 1);
            store_release_record(&delta.view);
        }
        if (rc == ERROR_NONE) {
            rc = memory_grow(&fold->delta, &room, fold->depth + 1, "deltas", err);
            if (rc != ERROR_NONE) {
                store_release_record(&delta.view);
                return rc;
            }
            fold->delta[fold->depth++] = delta;
            fold->delta_bytes += bytes_of(&delta);
            (void)text_copy(id, sizeof id, delta.base);
        }
    }
    for (size_t i = 0; i < fold->depth / 2; i++) {
        const struct dataset_delta other = fold->delta[i];
        fold->delta[i] = fold->delta[fold->depth - 1 - i];
        fold->delta[fold->depth - 1 - i] = other;
    }
    return rc;
}

static enum error_code fold_chain(struct version_fold *fold, struct error *err)
{
    struct fold_state state = {.fold = fold};
    enum error_code rc = ERROR_NONE;
    fold_state_begin(&state);
    for (size_t i = 0; rc == ERROR_NONE && i < fold->depth; i++)
        rc = fold_state_take(&state, (uint32_t)i, err);
    if (rc == ERROR_NONE)
        rc = fold_state_finish(&state, err);
    fold_state_release(&state);
    return rc;
}

enum error_code version_fold_make(struct store *store, const char *id, const char *base_id,
                                  bool skips_self_loops, bool removes_repeated,
                                  struct version_fold **out, struct error *err)
{
    struct version_fold *fold = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&fold, 1, "what has changed in a dataset", err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(fold->kept.name, sizeof fold->kept.name, id));
    fold->kept.free = free_fold;
    fold->kept.users = 1;
    fold->skips_self_loops = skips_self_loops;
    fold->removes_repeated = removes_repeated;
    rc = dataset_schema_get(store, base_id, &fold->base, err);
    if (rc == ERROR_NONE)
        rc = read_chain(fold, store, base_id, err);
    if (rc == ERROR_NONE)
        rc = fold_chain(fold, err);
    if (rc == ERROR_NONE)
        *out = fold;
    else
        version_fold_drop(fold);
    return rc;
}

enum error_code version_fold_get(struct store *store, const char *id,
                                 const struct dataset_merge *merge, struct version_fold **out,
                                 struct error *err)
{
    *out = (struct version_fold *)store_kept_take(store, id);
    if (*out)
        return ERROR_NONE;
    const enum error_code rc = version_fold_make(store, id, merge->base, merge->skips_self_loops,
                                                 merge->removes_repeated, out, err);
    if (rc == ERROR_NONE)
        store_kept_set(store, &(*out)->kept);
    return rc;
}

uint64_t version_fold_first_row(const struct version_fold *fold, uint32_t node)
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

uint64_t version_fold_first_gone(const struct version_fold *fold, uint64_t key)
{
    uint64_t low = 0, high = fold->gone_edges;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (fold->gone_edge[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
