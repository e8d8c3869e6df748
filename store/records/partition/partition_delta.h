/*
 * partition_delta - how the nodes of a version's partition follow from those of another partition,
 * its base, whose files it uses.
 *
 *   base      part 0: a b c d    part 1: e f        gone: b, e
 *   version   part 0: a c d x    part 1: f y z      added: 1, 2
 *
 * In each part the nodes of the base keep their order, nodes that are gone leave no hole, and new
 * nodes stand behind the others. In a graph with relations this holds for each type in a part. So
 * the ids of the base's nodes that stay ascend in the version, too, and its sorted rows stay
 * sorted.
 *
 * A partition with this record is a delta: its topologies and shards hold only what is new or
 * differs from the base (topology_seal.h, shard_seal.h), and a reader opens both. The base is
 * whole, never a delta itself. A delta has all changes since the base, so the versions between may
 * be lost or removed. All other records are those of any partition.
 *
 * partition writes it before the files. partition and readers of topologies read it. It lives as
 * long as the partition.
 *
 *   key       partition/<id>/delta
 *   sections  "base"       text: the id of the base
 *             "base_book"  U32 [parts + 1]: the base's ranges (partition_book.h)
 *             "gone"       U32, ascending: nodes of the base that the version does not have, in the
 *                          base's ids
 *             "added"      U32 [parts, types]: new nodes of each type in each part
 *   version   1 for one type; in a graph with relations 2, with this section too:
 *             "type_start" U32 [parts, types + 1]: where the types of the base begin
 *             (type_ranges.h)
 */
#ifndef STORE_RECORDS_PARTITION_PARTITION_DELTA_H
#define STORE_RECORDS_PARTITION_PARTITION_DELTA_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/partition/type_ranges.h"

#include <stdbool.h>
#include <stdint.h>

/* A writer fills all but `view`. */
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
/* Returns the ranges of the base's nodes. */
static inline struct type_ranges partition_delta_ranges(const struct partition_delta *delta)
{
    return (struct type_ranges){.part_count = delta->part_count,
                                .type_count = partition_delta_types(delta),
                                .part_start = delta->base_book,
                                .type_start = delta->type_start};
}
/* Returns the number of new nodes of a type in a part. */
static inline uint32_t partition_delta_added(const struct partition_delta *delta, int part,
                                             uint32_t type)
{
    return delta->added[(size_t)part * partition_delta_types(delta) + type];
}

MUST_CHECK enum error_code partition_delta_put(struct store *store, const char *partition_id,
                                               const struct partition_delta *delta,
                                               struct error *err);
/* Fails: ERROR_NOT_FOUND: the partition is whole; ERROR_CORRUPT naming record, section, expected
 * and found. */
MUST_CHECK enum error_code partition_delta_get(struct store *store, const char *partition_id,
                                               struct partition_delta *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code partition_delta_decode(const struct record_view *view,
                                                  struct partition_delta *out, struct error *err);
/* Copies the id of the base, or "" if the partition is whole. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code partition_delta_base(struct store *store, const char *partition_id,
                                                char base[ID_SIZE], struct error *err);

/* Turns ids of the base into ids of the version. {0} is empty; release with
 * node_shift_release(). */
struct node_shift {
    const struct partition_delta *delta; /* borrowed */
    uint64_t *gone;                      /* [words] a bit a node of the base, owned */
    uint32_t *before;                    /* [words] nodes gone before those of a word, owned */
    uint32_t *range_shift; /* [part_count, types] new nodes before each range, owned */
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_shift_init(struct node_shift *shift,
                                           const struct partition_delta *delta, struct error *err);
void node_shift_release(struct node_shift *shift);
/* Returns whether a node of the base is gone. */
static inline bool node_shift_is_gone(const struct node_shift *shift, uint32_t node)
{
    return shift->gone[node / 64] >> node % 64 & 1;
}
/* Returns how many nodes of the base below `node` are gone. */
static inline uint32_t node_shift_gone_below(const struct node_shift *shift, uint32_t node)
{
    const uint64_t below = shift->gone[node / 64] & ((UINT64_C(1) << node % 64) - 1);
    return shift->before[node / 64] + (uint32_t)__builtin_popcountll(below);
}
/* Returns the version's id of a node of the base with this part and type, which is not gone. */
static inline uint32_t node_shift_of(const struct node_shift *shift, int part, uint32_t type,
                                     uint32_t node)
{
    return node - node_shift_gone_below(shift, node) +
           shift->range_shift[(size_t)part * partition_delta_types(shift->delta) + type];
}
/* Returns how many nodes of a type in a part of the base stay. */
uint32_t node_shift_left(const struct node_shift *shift, int part, uint32_t type);

#endif
