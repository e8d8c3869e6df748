#include "store/versions/merged_parts.h"

#include "common/base/memory.h"
#include "common/numbers/ascending.h"
#include "store/objects/keys.h"
#include "store/objects/stored_bytes.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_delta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Marks a node of the base's dataset that the version does not have, and a node of the version that
 * the base does not have. */
#define NO_NODE UINT32_MAX

/* The inputs of a merge, for a record that was not found. */
struct placed {
    struct store *store;
    struct partition_delta delta;
    struct node_placement placement;
    uint32_t base_count, node_count;
};

static void close_placed(struct placed *p)
{
    store_release_record(&p->delta.view);
    store_release_record(&p->placement.view);
}

static enum error_code check_placed(struct placed *p, struct error *err)
{
    const struct partition_delta *delta = &p->delta;
    uint64_t added = 0;
    for (size_t i = 0; i < (size_t)delta->part_count * partition_delta_types(delta); i++)
        added += delta->added[i];
    p->base_count = delta->base_book[delta->part_count];
    p->node_count = p->base_count - delta->gone_count + (uint32_t)added;
    if (strcmp(p->placement.base, delta->base) != 0)
        return error_set(err, ERROR_CORRUPT, "%s: is over %s, expected %s as in %s",
                         p->placement.view.key, p->placement.base, delta->base, delta->view.key);
    if (added != p->placement.new_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: has %" PRIu32 " new nodes, expected %" PRIu64 " as in %s",
                         p->placement.view.key, p->placement.new_count, added, delta->view.key);
    for (uint32_t i = 0; i < p->placement.split_count; i++)
        if (p->placement.split_node[i] >= p->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: node %" PRIu32 " in a split, expected below %" PRIu32,
                             p->placement.view.key, p->placement.split_node[i], p->node_count);
    return ERROR_NONE;
}

/* Opens the inputs. If there is nothing to merge, the record is lost, and the error is the one for
 * `missing`. */
static enum error_code open_placed(struct placed *p, struct store *store, const char *partition_id,
                                   const char *missing, struct error *err)
{
    *p = (struct placed){.store = store};
    enum error_code rc = node_placement_get(store, partition_id, &p->placement, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "record %s is not in the store",
                         key_partition(partition_id, missing).text);
    if (rc == ERROR_NONE)
        rc = partition_delta_get(store, partition_id, &p->delta, err);
    if (rc == ERROR_NONE)
        rc = check_placed(p, err);
    if (rc != ERROR_NONE)
        close_placed(p);
    return rc;
}

/* Allocates the memory of a result as the bytes of its view, which frees them. */
static enum error_code new_block(struct record_view *view, const char *partition_id,
                                 const char *what, uint64_t count, uint32_t **out,
                                 struct error *err)
{
    struct stored_bytes block;
    *view = (struct record_view){0};
    const enum error_code rc = stored_bytes_new(&block, count * sizeof **out, err);
    if (rc != ERROR_NONE)
        return rc;
    view->data = block.data;
    view->size = block.size;
    (void)snprintf(view->key, sizeof view->key, "partition/%s, merged %s", partition_id, what);
    *out = (uint32_t *)(void *)block.data;
    return ERROR_NONE;
}

/* --- permutation --- */

/* Sets `mark` [node_count] to NO_NODE for new nodes, and to 0 for all others. */
static enum error_code mark_new(const struct placed *p, uint32_t *mark, struct error *err)
{
    memset(mark, 0, p->node_count * sizeof *mark);
    for (uint32_t i = 0; i < p->placement.new_count; i++) {
        const uint32_t node = p->placement.new_node[i];
        if (node >= p->node_count || mark[node] == NO_NODE)
            return error_set(err, ERROR_CORRUPT,
                             "%s: section new_node: %" PRIu32 " at %" PRIu32
                             ", expected each once, below %" PRIu32,
                             p->placement.view.key, node, i, p->node_count);
        mark[node] = NO_NODE;
    }
    return ERROR_NONE;
}

/* Writes the numbers in the version of the nodes of the base's dataset. The nodes that stay keep
 * their order, and are those of the version that are not new. */
static void number_base(const struct placed *p, const struct node_permutation *base,
                        const uint32_t *mark, uint32_t *number)
{
    uint32_t next = 0;
    memset(number, 0, p->base_count * sizeof *number);
    for (uint32_t i = 0; i < p->delta.gone_count; i++)
        number[base->to_dataset[p->delta.gone[i]]] = NO_NODE;
    for (uint32_t node = 0; node < p->base_count; node++) {
        if (number[node] == NO_NODE)
            continue;
        while (mark[next] == NO_NODE)
            next++;
        number[node] = next++;
    }
}

/* Fills the permutation part by part, and within a part type by type. */
static void fill_permutation(const struct placed *p, const struct node_permutation *base,
                             const uint32_t *number, uint32_t *to_dataset, uint32_t *to_partition)
{
    const struct type_ranges ranges = partition_delta_ranges(&p->delta);
    uint32_t at = 0, added = 0;
    for (size_t i = 0; i < (size_t)ranges.part_count * ranges.type_count; i++) {
        const int part = (int)(i / ranges.type_count);
        const uint32_t type = (uint32_t)(i % ranges.type_count);
        for (uint32_t node = type_ranges_first(&ranges, part, type);
             node < type_ranges_first(&ranges, part, type + 1); node++) {
            const uint32_t to = number[base->to_dataset[node]];
            if (to != NO_NODE)
                to_dataset[at++] = to;
        }
        for (uint32_t left = partition_delta_added(&p->delta, part, type); left; left--)
            to_dataset[at++] = p->placement.new_node[added++];
    }
    for (uint32_t node = 0; node < p->node_count; node++)
        to_partition[to_dataset[node]] = node;
}

static enum error_code merge_permutation(const struct placed *p, const char *partition_id,
                                         struct node_permutation *out, struct error *err)
{
    struct node_permutation base = {0};
    uint32_t *number = NULL, *to_dataset = NULL;
    *out = (struct node_permutation){0};
    enum error_code rc = node_permutation_get(p->store, p->delta.base, p->base_count, &base, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&number, p->base_count, "the numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = new_block(&out->view, partition_id, "permutation", 2 * (uint64_t)p->node_count,
                       &to_dataset, err);
    if (rc == ERROR_NONE) {
        uint32_t *to_partition = to_dataset + p->node_count;
        rc = mark_new(p, to_partition, err);
        if (rc == ERROR_NONE) {
            number_base(p, &base, to_partition, number);
            fill_permutation(p, &base, number, to_dataset, to_partition);
            out->node_count = p->node_count;
            out->to_dataset = to_dataset;
            out->to_partition = to_partition;
        } else {
            store_release_record(&out->view);
        }
    }
    memory_free(number);
    store_release_record(&base.view);
    return rc;
}

enum error_code merged_permutation_get(struct store *store, const char *partition_id,
                                       uint32_t node_count, struct node_permutation *out,
                                       struct error *err)
{
    struct placed p;
    enum error_code rc = node_permutation_get(store, partition_id, node_count, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_placed(&p, store, partition_id, "permutation", err);
    if (rc != ERROR_NONE)
        return rc;
    if (p.node_count != node_count)
        rc = error_set(err, ERROR_CORRUPT, "%s: makes %" PRIu32 " nodes, expected %" PRIu32,
                       p.delta.view.key, p.node_count, node_count);
    else
        rc = merge_permutation(&p, partition_id, out, err);
    close_placed(&p);
    return rc;
}

/* --- assignment --- */

static enum error_code read_assignment(struct node_assignment *out, struct error *err)
{
    enum error_code rc = assignment_method(&out->view, out->method, sizeof out->method, err);
    if (rc == ERROR_NONE)
        rc = assignment_full_cut(&out->view, &out->full_cut, err);
    if (rc != ERROR_NONE)
        store_release_record(&out->view);
    return rc;
}

static uint32_t nodes_of_part(const struct placed *p, int part)
{
    const struct partition_delta *delta = &p->delta;
    const uint32_t first = delta->base_book[part], end = delta->base_book[part + 1];
    const uint64_t gone = ascending_below(delta->gone, delta->gone_count, end) -
                          ascending_below(delta->gone, delta->gone_count, first);
    uint32_t nodes = end - first - (uint32_t)gone;
    for (uint32_t type = 0; type < partition_delta_types(delta); type++)
        nodes += partition_delta_added(delta, part, type);
    return nodes;
}

static enum error_code merge_assignment(const struct placed *p, const char *partition_id,
                                        struct node_assignment *out, struct error *err)
{
    struct node_permutation permutation;
    uint32_t *to = NULL, node = 0;
    enum error_code rc = merge_permutation(p, partition_id, &permutation, err);
    if (rc == ERROR_NONE)
        rc = new_block(&out->view, partition_id, "assignment", p->node_count, &to, err);
    for (int part = 0; rc == ERROR_NONE && part < p->delta.part_count; part++)
        for (uint32_t left = nodes_of_part(p, part); left; left--)
            to[permutation.to_dataset[node++]] = (uint32_t)part;
    out->node_count = p->node_count;
    out->part = to;
    out->full_cut = p->placement.full_cut;
    memcpy(out->method, p->placement.method, sizeof out->method);
    store_release_record(&permutation.view);
    return rc;
}

enum error_code merged_assignment_get(struct store *store, const char *partition_id,
                                      struct node_assignment *out, struct error *err)
{
    struct placed p;
    *out = (struct node_assignment){.method = ""};
    enum error_code rc =
        assignment_get(store, partition_id, &out->part, &out->node_count, &out->view, err);
    if (rc == ERROR_NONE)
        return read_assignment(out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_placed(&p, store, partition_id, "assignment", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = merge_assignment(&p, partition_id, out, err);
    close_placed(&p);
    return rc;
}

/* --- splits --- */

struct split_merge {
    const struct placed *p;
    const struct node_splits *base;
    struct node_shift shift;
};

/* Returns the next node of the placement that is in the split, from index `at` on. */
static uint32_t next_other(const struct node_placement *placement, enum split split, uint32_t at)
{
    while (at < placement->split_count && placement->split[at] != 1 + (int)split)
        at++;
    return at;
}

/* Merges two ascending lists: the nodes of the base that are neither removed nor named by the
 * placement, and those that the placement puts into the split. */
static uint32_t merge_split(const struct split_merge *m, enum split split, uint32_t *to)
{
    const struct node_placement *placement = &m->p->placement;
    const struct type_ranges ranges = partition_delta_ranges(&m->p->delta);
    uint32_t count = 0, named = 0, other = next_other(placement, split, 0);
    int part = 0;
    for (uint32_t i = 0; i < m->base->count[split]; i++) {
        const uint32_t origin = m->base->node[split][i];
        if (node_shift_is_gone(&m->shift, origin))
            continue;
        while (origin >= ranges.part_start[part + 1])
            part++;
        const uint32_t type = type_ranges_type(&ranges, part, origin);
        const uint32_t node = node_shift_of(&m->shift, part, type, origin);
        while (named < placement->split_count && placement->split_node[named] < node)
            named++;
        if (named < placement->split_count && placement->split_node[named] == node)
            continue;
        for (; other < placement->split_count && placement->split_node[other] < node;
             other = next_other(placement, split, other + 1))
            to[count++] = placement->split_node[other];
        to[count++] = node;
    }
    for (; other < placement->split_count; other = next_other(placement, split, other + 1))
        to[count++] = placement->split_node[other];
    return count;
}

static enum error_code merge_splits(const struct placed *p, const char *partition_id,
                                    struct node_splits *out, struct error *err)
{
    struct node_splits base = {.count = {0}};
    struct split_merge m = {.p = p, .base = &base};
    const struct key key = key_partition(p->delta.base, "splits");
    uint64_t room = p->placement.split_count;
    uint32_t *to = NULL;
    enum error_code rc = node_splits_get(p->store, key.text, p->delta.base, &base, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        const uint32_t count = base.count[s];
        room += count;
        if (count && base.node[s][count - 1] >= p->base_count)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: node %" PRIu32 " in a split, expected below %" PRIu32, key.text,
                           base.node[s][count - 1], p->base_count);
    }
    if (rc == ERROR_NONE)
        rc = node_shift_init(&m.shift, &p->delta, err);
    if (rc == ERROR_NONE)
        rc = new_block(&out->view, partition_id, "splits", room, &to, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        out->node[s] = to;
        out->count[s] = merge_split(&m, (enum split)s, to);
        to += out->count[s];
    }
    node_shift_release(&m.shift);
    store_release_record(&base.view);
    return rc;
}

enum error_code merged_part_splits_get(struct store *store, const char *partition_id,
                                       struct node_splits *out, struct error *err)
{
    struct placed p;
    const struct key key = key_partition(partition_id, "splits");
    enum error_code rc = node_splits_get(store, key.text, partition_id, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_placed(&p, store, partition_id, "splits", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = merge_splits(&p, partition_id, out, err);
    close_placed(&p);
    return rc;
}

/* ---- existence
 * ------------------------------------------------------------------------------------- */

static enum error_code is_placed(struct store *store, const char *partition_id, bool *found,
                                 struct error *err)
{
    char base[ID_SIZE];
    *found = false;
    enum error_code rc = node_placement_base(store, partition_id, base, err);
    if (rc == ERROR_NONE && *base)
        rc = store_has(store, key_partition(partition_id, "delta").text, found, err);
    return rc == ERROR_NONE && *found
               ? store_has(store, key_partition(base, "permutation").text, found, err)
               : rc;
}

enum error_code merged_parts_find(struct store *store, const char *partition_id, bool *found,
                                  struct error *err)
{
    enum error_code rc =
        store_has(store, key_partition(partition_id, "assignment").text, found, err);
    if (rc == ERROR_NONE && *found)
        rc = store_has(store, key_partition(partition_id, "permutation").text, found, err);
    return rc == ERROR_NONE && !*found ? is_placed(store, partition_id, found, err) : rc;
}
