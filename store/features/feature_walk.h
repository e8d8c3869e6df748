/*
 * feature_walk - the wanted rows of a source that is out of its budget, stripe after stripe.
 *
 * A stripe is some blocks that follow each other in the order of the batch, with the rows that are wanted of
 * them. Its blocks are read, each once, and stay where they were read until the rows were used: nothing is
 * copied. A row that is cached comes from there, and a block whose wanted rows are all cached is not read.
 *
 * Stripes are taken one after the other, which is cheap, and may then be read on several threads side by side.
 */
#ifndef STORE_FEATURES_FEATURE_WALK_H
#define STORE_FEATURES_FEATURE_WALK_H

#include "common/base/error.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A walk over the rows of `node` [count], which is borrowed, once feature_source_visit_begin() put them in order.
 * Until the last stripe was used nothing else is asked of the source. Begins with the other fields zero. */
struct feature_walk {
    struct feature_source *source;
    const uint32_t *node;
    size_t count;
    size_t next; /* of the ordered batch, the first that no stripe has */
    int part;    /* its nodes are in this part, or in one above */
};

enum { FEATURE_STRIPE_BLOCKS = 16 };

/* Rows first .. end - 1 of the stripe lie in this block. */
struct feature_stripe_block {
    int part;
    uint32_t number, end;
    struct feature_pin pin;
};

/* {0} is empty. Release with feature_stripe_release(). */
struct feature_stripe {
    struct feature_source *source;
    const uint32_t *node;  /* of the batch */
    const uint32_t *place; /* [count], of the walk's order */
    uint32_t count, block_count, block_limit;
    struct feature_stripe_block block[FEATURE_STRIPE_BLOCKS];
    const void *row[FEATURE_VISIT_MAX];
    char *converted; /* [FEATURE_VISIT_MAX] rows, where they are held otherwise than stored */
};

/* Bytes that a stripe of such a source takes, blocks that it holds among them. */
uint64_t feature_stripe_bytes(const struct feature_source *source);
MUST_CHECK enum error_code feature_stripe_init(struct feature_stripe *stripe,
                                               struct feature_source *source, struct error *err);
void feature_stripe_release(struct feature_stripe *stripe);

/* Room for the order of a batch has to be in the budget. */
MUST_CHECK enum error_code feature_walk_order(struct feature_source *source, const uint32_t *node,
                                              size_t count, struct error *err);
/* Takes the next stripe; false: there are no more. Threads: one at a time. */
bool feature_walk_next(struct feature_walk *walk, struct feature_stripe *stripe);
/* Reads the rows of a stripe that was taken. Threads: each its own stripe.
 * Fails: ERROR_CORRUPT naming shard, tensor and block. */
MUST_CHECK enum error_code feature_stripe_read(struct feature_stripe *stripe, struct error *err);
/* Its rows, until feature_stripe_forget(). */
struct feature_visit feature_stripe_visit(const struct feature_stripe *stripe);
/* Lets its blocks go. */
void feature_stripe_forget(struct feature_stripe *stripe);

/* All stripes on this thread, as feature_source_visit(). */
MUST_CHECK enum error_code feature_walk_all(struct feature_walk *walk, feature_visitor visitor,
                                            void *context, const atomic_bool *stop,
                                            struct error *err);

#endif
