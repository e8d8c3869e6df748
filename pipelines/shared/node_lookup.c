#include "pipelines/shared/node_lookup.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_ids.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum error_code node_lookup_add(struct node_lookup *lookup, const char *text, size_t size,
                                int64_t line, struct error *err)
{
    enum error_code rc =
        memory_grow(&lookup->wanted, &lookup->capacity, lookup->count + 1, "ids of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    struct wanted_node *wanted = &lookup->wanted[lookup->count];
    *wanted = (struct wanted_node){.size = size, .line = line, .place = lookup->count};
    rc = memory_new(&wanted->text, size ? size : 1, "the id of a node", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(wanted->text, text, size);
    lookup->count++;
    return ERROR_NONE;
}

void node_lookup_release(struct node_lookup *lookup)
{
    for (size_t i = 0; i < lookup->count; i++)
        memory_free(lookup->wanted[i].text);
    memory_free(lookup->wanted);
    *lookup = (struct node_lookup){0};
}

static int compare_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_text(const void *a, const void *b)
{
    const struct wanted_node *x = a, *y = b;
    return compare_text(x->text, x->size, y->text, y->size);
}

static int by_place(const void *a, const void *b)
{
    const struct wanted_node *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Marks all wanted nodes that have this id. */
static void mark(struct node_lookup *lookup, const char *text, size_t size, uint32_t node)
{
    size_t low = 0, high = lookup->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct wanted_node *wanted = &lookup->wanted[middle];
        if (compare_text(wanted->text, wanted->size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < lookup->count; low++) {
        struct wanted_node *wanted = &lookup->wanted[low];
        if (compare_text(wanted->text, wanted->size, text, size) != 0)
            return;
        wanted->is_found = true;
        wanted->node = node;
    }
}

static void mark_all(struct node_lookup *lookup, const struct node_ids *ids, uint32_t node_count)
{
    for (uint32_t node = 0; node < node_count; node++) {
        char number[32];
        const char *text = number;
        size_t size = 0;
        if (ids->offset) {
            text = ids->text + ids->offset[node];
            size = (size_t)(ids->offset[node + 1] - ids->offset[node]);
        } else {
            size = (size_t)snprintf(number, sizeof number, "%" PRId64,
                                    ids->integer ? ids->integer[node] : (int64_t)node);
        }
        mark(lookup, text, size, node);
    }
}

static enum error_code check_all_found(const struct node_lookup *lookup, const char *where,
                                       struct error *err)
{
    for (size_t i = 0; i < lookup->count; i++) {
        const struct wanted_node *wanted = &lookup->wanted[i];
        const int shown = wanted->size < 60 ? (int)wanted->size : 60;
        if (!wanted->is_found && wanted->line)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected the id of a node of the graph, found '%.*s'",
                             where, wanted->line, shown, wanted->text);
        if (!wanted->is_found)
            return error_set(err, ERROR_INPUT,
                             "%s: expected the id of a node of the graph, found '%.*s'", where,
                             shown, wanted->text);
    }
    return ERROR_NONE;
}

enum error_code node_lookup_find(struct node_lookup *lookup, const char *where, struct store *store,
                                 const char *dataset_id, uint32_t node_count, struct error *err)
{
    struct node_ids ids = {0};
    bool has_ids = false;
    enum error_code rc = merged_ids_find(store, dataset_id, &has_ids, &ids, err);
    if (rc == ERROR_NONE && lookup->count) {
        qsort(lookup->wanted, lookup->count, sizeof *lookup->wanted, by_text);
        mark_all(lookup, &ids, node_count);
        qsort(lookup->wanted, lookup->count, sizeof *lookup->wanted, by_place);
        rc = check_all_found(lookup, where, err);
    }
    store_release_record(&ids.view);
    return rc;
}
