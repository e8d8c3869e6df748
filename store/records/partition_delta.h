/*
 * partition_delta - how the nodes of a version's partition follow from those of another partition, its base, whose files it uses.
 *
 *   base      part 0: a b c d    part 1: e f        gone: b, e
 *   version   part 0: a c d x    part 1: f y z      added: 1, 2
 *
 * In each part nodes of the base keep their order, those that are gone leave no hole, and nodes that the base does not have stand behind
 * them; of a graph with relations the same holds for each type in a part. So ids of the base that are left ascend in the version, too, and
 * a row of it is in order as it was.
 *
 * A partition that has this record is a delta: its topologies and shards hold what is new or other since the base (topology_seal.h,
 * shard_seal.h), and whoever opens one reads both. The base is whole, never a delta itself: a delta has all that has changed since, so
 * those of the versions between may be lost or removed. Everything else of the partition is as of any.
 *
 * Written by partition before the files; read by partition, and by whoever opens a topology. Lives as long as the partition.
 *
 *   key       partition/<id>/delta
 *   sections  "base"       text: the id of the partition
 *             "base_book"  U32 [parts + 1]: its ranges (partition_book.h)
 *             "gone"       U32, ascending: its nodes that the version does not have, in its ids
 *             "added"      U32 [parts, types]: nodes behind them in each part, of each type
 *   version   1, of one type; of a graph with relations 2, with this section too:
 *             "type_start" U32 [parts, types + 1]: where the types of the base stand (type_ranges.h)
 */
#ifndef STORE_RECORDS_PARTITION_DELTA_H
#define STORE_RECORDS_PARTITION_DELTA_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/type_ranges.h"

#include <stdbool.h>
#include <stdint.h>

/* For writing, fill all but `view`. */
struct partition_delta {
    char base[ID_SIZE];
    int part_count;
    uint32_t type_count;        /* of a graph with relations; else 0 */
    const uint32_t *base_book;  /* [part_count + 1] */
    const uint32_t *type_start; /* [part_count, type_count + 1], of the base; else NULL */
    uint32_t gone_count;
    const uint32_t *gone;    /* [gone_count] */
    const uint32_t *added;   /* [part_count, partition_delta_types()] */
    struct record_view view; /* release with store_release_record() */
};

static inline uint32_t partition_delta_types(const struct partition_delta *delta)
{
    return delta->type_count ? delta->type_count : 1;
}
/* Where the nodes of the base stand. */
static inline struct type_ranges partition_delta_ranges(const struct partition_delta *delta)
{
    return (struct type_ranges){.part_count = delta->part_count,
                                .type_count = partition_delta_types(delta),
                                .part_start = delta->base_book,
                                .type_start = delta->type_start};
}
/* Nodes of a type that stand behind those of the base in a part. */
static inline uint32_t partition_delta_added(const struct partition_delta *delta, int part,
                                             uint32_t type)
{
    return delta->added[(size_t)part * partition_delta_types(delta) + type];
}

MUST_CHECK enum error_code partition_delta_put(struct store *store, const char *partition_id,
                                               const struct partition_delta *delta,
                                               struct error *err);
/* Fails: ERROR_NOT_FOUND: the partition is whole; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code partition_delta_get(struct store *store, const char *partition_id,
                                               struct partition_delta *out, struct error *err);
/* The checks alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code partition_delta_decode(const struct record_view *view,
                                                  struct partition_delta *out, struct error *err);
/* The id of the base of a partition, or "" of one that is whole. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code partition_delta_base(struct store *store, const char *partition_id,
                                                char base[ID_SIZE], struct error *err);

/* Ids of the base in the version. {0} is empty; release with node_shift_release(). */
struct node_shift {
    const struct partition_delta *delta; /* borrowed */
    uint64_t *gone;                      /* [words] a bit a node of the base, owned */
    uint32_t *before;                    /* [words] nodes gone before those of a word, owned */
    uint32_t *
        range_shift; /* [part_count, types] what nodes of a type in a part are moved up by, owned */
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_shift_init(struct node_shift *shift,
                                           const struct partition_delta *delta, struct error *err);
void node_shift_release(struct node_shift *shift);
/* Whether a node of the base is gone. */
static inline bool node_shift_is_gone(const struct node_shift *shift, uint32_t node)
{
    return shift->gone[node / 64] >> node % 64 & 1;
}
/* Nodes of the base below `node` that are gone. */
static inline uint32_t node_shift_gone_below(const struct node_shift *shift, uint32_t node)
{
    const uint64_t below = shift->gone[node / 64] & ((UINT64_C(1) << node % 64) - 1);
    return shift->before[node / 64] + (uint32_t)__builtin_popcountll(below);
}
/* The version's id of a node of the base that is of part `part` and type `type`, and not gone. */
static inline uint32_t node_shift_of(const struct node_shift *shift, int part, uint32_t type,
                                     uint32_t node)
{
    return node - node_shift_gone_below(shift, node) +
           shift->range_shift[(size_t)part * partition_delta_types(shift->delta) + type];
}
/* Nodes of a type in the base's part that are left. */
uint32_t node_shift_left(const struct node_shift *shift, int part, uint32_t type);

#endif
