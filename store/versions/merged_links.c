#include "store/versions/merged_links.h"

#include "store/objects/keys.h"
#include "store/objects/stored_bytes.h"
#include "store/records/partition/node_placement.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Arrays that are copied unchanged: for each split types, labels, times, weights, features and the
 * bounds of its negatives; and three of the training edges' negatives. */
enum { OTHER_LISTS = 6 * HELD_OUT_COUNT + 3, ALIGNMENT = 8 };

struct list {
    const void *from;
    uint64_t bytes;
};

static int list_others(const struct edge_splits *splits, struct list list[OTHER_LISTS])
{
    const struct trained_negatives *trained = &splits->trained;
    int lists = 0;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const uint64_t count = splits->count[s];
        list[lists++] = (struct list){splits->type[s], count * sizeof *splits->type[s]};
        list[lists++] = (struct list){splits->label[s], count * sizeof *splits->label[s]};
        list[lists++] = (struct list){splits->time[s].word, count * sizeof(int64_t)};
        list[lists++] = (struct list){splits->weight[s], count * sizeof *splits->weight[s]};
        list[lists++] = (struct list){splits->feature[s],
                                      count * splits->feature_dim * sizeof *splits->feature[s]};
        list[lists++] = (struct list){splits->negative[s].start,
                                      (count + 1) * sizeof *splits->negative[s].start};
    }
    list[lists++] =
        (struct list){splits->train_class, splits->class_count * sizeof *splits->train_class};
    list[lists++] = (struct list){trained->type, trained->count * sizeof *trained->type};
    list[lists++] =
        (struct list){trained->ends.start, (trained->count + 1) * sizeof *trained->ends.start};
    return lists;
}

/* Points *out to the copies, in the same order. */
static void place_others(struct edge_splits *out, const void *const copy[OTHER_LISTS])
{
    int lists = 0;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        out->type[s] = copy[lists++];
        out->label[s] = copy[lists++];
        out->time[s].word = copy[lists++];
        out->weight[s] = copy[lists++];
        out->feature[s] = copy[lists++];
        out->negative[s].start = copy[lists++];
    }
    out->train_class = copy[lists++];
    out->trained.type = copy[lists++];
    out->trained.ends.start = copy[lists++];
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Copies all arrays to `at`, with the nodes converted to the ids of the partition. */
static enum error_code lay_out(const struct edge_splits *splits, const uint32_t *to_partition,
                               uint32_t node_count, uint8_t *at, struct edge_splits *out,
                               struct error *err)
{
    const uint32_t **ends[EDGE_SPLITS_END_LISTS] = {NULL};
    uint64_t count[EDGE_SPLITS_END_LISTS] = {0};
    struct list other[OTHER_LISTS];
    const void *copy[OTHER_LISTS] = {NULL};
    const int others = list_others(splits, other);
    const int lists = edge_splits_ends(out, ends, count);
    for (int i = 0; i < others; i++) {
        if (!other[i].from)
            continue;
        memcpy(at, other[i].from, other[i].bytes);
        copy[i] = at;
        at += aligned(other[i].bytes);
    }
    for (int i = 0; i < lists; i++) {
        uint32_t *to = (uint32_t *)(void *)at;
        for (uint64_t e = 0; e < count[i]; e++) {
            const uint32_t node = (*ends[i])[e];
            if (node >= node_count)
                return error_set(err, ERROR_CORRUPT,
                                 "%s: node %" PRIu32 " in a held-out edge, expected below %" PRIu32,
                                 splits->view.key, node, node_count);
            to[e] = to_partition[node];
        }
        if (*ends[i])
            *ends[i] = to;
        at += aligned(count[i] * sizeof *to);
    }
    place_others(out, copy);
    return ERROR_NONE;
}

static uint64_t bytes_of(const struct edge_splits *splits)
{
    struct edge_splits copy = *splits;
    const uint32_t **ends[EDGE_SPLITS_END_LISTS] = {NULL};
    uint64_t count[EDGE_SPLITS_END_LISTS] = {0}, bytes = 0;
    struct list other[OTHER_LISTS];
    const int others = list_others(splits, other);
    const int lists = edge_splits_ends(&copy, ends, count);
    for (int i = 0; i < others; i++)
        bytes += other[i].from ? aligned(other[i].bytes) : 0;
    for (int i = 0; i < lists; i++)
        bytes += aligned(count[i] * sizeof(uint32_t));
    return bytes;
}

static enum error_code make_links(struct store *store, const struct partition_book *book,
                                  struct edge_splits *out, struct error *err)
{
    struct node_permutation permutation = {0};
    struct edge_splits splits = {0};
    struct stored_bytes block = {0};
    enum error_code rc =
        merged_permutation_get(store, book->id, book->node_count, &permutation, err);
    if (rc == ERROR_NONE)
        rc = merged_edge_splits_get(store, book->dataset_id, book->node_count, &splits, err);
    if (rc == ERROR_NONE)
        rc = stored_bytes_new(&block, bytes_of(&splits), err);
    if (rc == ERROR_NONE) {
        *out = splits;
        out->view = (struct record_view){.data = block.data, .size = block.size};
        (void)snprintf(out->view.key, sizeof out->view.key, "partition/%s, made edge_splits",
                       book->id);
        rc = lay_out(&splits, permutation.to_partition, book->node_count, block.data, out, err);
        if (rc != ERROR_NONE) {
            store_release_record(&out->view);
            *out = (struct edge_splits){.undirected = false};
        }
    }
    store_release_record(&splits.view);
    store_release_record(&permutation.view);
    return rc;
}

enum error_code merged_part_links_get(struct store *store, const struct partition_book *book,
                                      struct edge_splits *out, struct error *err)
{
    const struct key key = key_partition(book->id, "edge_splits");
    char base[ID_SIZE];
    enum error_code rc = edge_splits_get(store, key.text, book->id, book->node_count, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = node_placement_base(store, book->id, base, err);
    if (rc == ERROR_NONE && !*base)
        return error_set(err, ERROR_NOT_FOUND, "record %s is not in the store", key.text);
    return rc == ERROR_NONE ? make_links(store, book, out, err) : rc;
}
