/*
 * link_rows - the rows that the decoder of a task of pairs reads: the output of the last layer of
 * inference for the nodes of all types.
 */
#ifndef STAGES_PLAN_MODEL_LINK_ROWS_H
#define STAGES_PLAN_MODEL_LINK_ROWS_H

#include "common/base/error.h"
#include "common/parallel/thread_pool.h"
#include "stages/sampling/pairs/pair_ends.h"
#include "store/features/feature_source.h"

#include <stddef.h>
#include <stdint.h>

struct link_rows { /* {0} is closed */
    const struct pair_ends *ends;
    uint32_t dim;
    /* NULL: there are no nodes of the type */
    struct feature_source *source[RELATION_TYPE_COUNT_MAX];
    /* Computes the rows of node [count] into out [count, dim]. In a graph without relations it may
     * replace stored layers. */
    enum error_code (*compute)(void *context, const uint32_t *node, size_t count, float *out,
                               struct error *err);
    void *context;
    uint32_t *number, *place; /* scratch of link_rows_fetch() */
    size_t number_capacity, place_capacity;
};

struct link_rows_config { /* all borrowed during the call; `ends` must outlive the rows */
    struct store *store;
    const char *run_id;
    int layer; /* the last layer */
    uint32_t dim;
    const struct weights_identity *weights;
    const struct pair_ends *ends;
    uint64_t budget_bytes;
    int sharers;
    struct thread_pool *pool;
};

/* Opens the rows. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT for layers of other weights or of another
 * width; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code link_rows_open(struct link_rows *rows,
                                          const struct link_rows_config *config, struct error *err);
void link_rows_close(struct link_rows *rows);
/* Reads the rows of node [count], ids below 2^32 of any types, into out [count, dim]. */
MUST_CHECK enum error_code link_rows_fetch(struct link_rows *rows, const uint32_t *node,
                                           size_t count, float *out, struct error *err);
/* Reads the rows of nodes first to end - 1 of a type, by their numbers in it, into out [end -
 * first, dim]. */
MUST_CHECK enum error_code link_rows_read(struct link_rows *rows, uint32_t type, uint32_t first,
                                          uint32_t end, float *out, struct error *err);

#endif
