/*
 * part_rows - gathers the rows of some parts, in a numbering of the nodes, from the edge chunks.
 *
 * The nodes of a part are spread over the chunks, so a part's rows come from all of them. To read
 * all chunks once for each part would take P passes. Instead one pass gathers as many consecutive
 * parts as the memory budget holds. This grouping changes how often the chunks are read, but never
 * a byte of the result.
 */
#ifndef STAGES_PARTITION_LAYOUT_PART_ROWS_H
#define STAGES_PARTITION_LAYOUT_PART_ROWS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/type_ranges.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

/* A numbering of the nodes in which part p owns book[p] .. book[p + 1]. All borrowed. */
struct numbering {
    int part_count;
    uint32_t node_count;
    const uint32_t *book;       /* [part_count + 1] */
    const uint32_t *to_new;     /* [node_count] dataset id -> new id */
    const uint32_t *to_dataset; /* [node_count] new id -> dataset id */
    uint32_t type_count;        /* 0 means 1 */
    /* [part_count, type_count + 1]; NULL: nodes are not ordered by type yet. */
    const uint32_t *type_start;
};

/* Returns the ranges of the nodes of each type. */
static inline struct type_ranges numbering_ranges(const struct numbering *numbering)
{
    return (struct type_ranges){.part_count = numbering->part_count,
                                .type_count = numbering->type_count ? numbering->type_count : 1,
                                .part_start = numbering->book,
                                .type_start = numbering->type_start};
}

struct part_rows { /* {0} is empty */
    int first_part, part_count;
    uint64_t edge_count;
    /* [nodes + part_count]: node_count + 1 offsets for each part, from 0. */
    uint64_t *row_start;
    /* [part_count + 1]: the offset of a part's edges in the arrays below. */
    uint64_t *edge_start;
    uint32_t *neighbor;                    /* [edge_count], new ids */
    struct edge_columns columns;           /* [edge_count] */
    const struct numbering *numbering;     /* borrowed */
    const struct part_rows_source *source; /* borrowed while rows are gathered */
};

struct part_rows_source {
    struct store *store;
    const struct dataset_schema *schema;
    const struct numbering *numbering;
    const uint32_t *in_degree; /* [node_count], by dataset ids */
    bool bare;                 /* leave the edge columns out */
    /* The budget must have room to split a part by relation. */
    bool is_split;
    int end_part; /* 0: the last part */
    /* [node_count], by new ids: rows without `wanted_mark` stay empty; NULL: all rows are
     * gathered. */
    const uint8_t *wanted;
    uint8_t wanted_mark;
    uint64_t budget_bytes;
};

/* Gathers parts from `first_part` on, before source->end_part: as many as fit the budget, and at
 * least one. Rows are in the order of the dataset; part_rows_sort() sorts them. Release with
 * part_rows_release(). Fails: ERROR_NO_MEMORY naming a part that alone exceeds the budget; what
 * edge_walk() fails with. */
MUST_CHECK enum error_code part_rows_gather(const struct part_rows_source *source, int first_part,
                                            struct part_rows *out, struct error *err);
/* Sorts each row of one of the parts by ascending new id, together with the edge columns; equal ids
 * keep their order. Threads: several may sort at once, each another part. */
MUST_CHECK enum error_code part_rows_sort(struct part_rows *rows, int part, struct error *err);
/* Returns the arrays of one of the parts, borrowed. */
struct topology_arrays part_rows_arrays(const struct part_rows *rows, int part);
void part_rows_release(struct part_rows *rows);

#endif
