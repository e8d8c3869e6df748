/*
 * feature_walk - walks over the rows that a batch needs of a source that does not fit its budget,
 * stripe by stripe.
 *
 * A stripe is a few consecutive blocks in the order of the batch, with the rows that are needed of
 * them. Each block is read once and stays where it was read until its rows were used: nothing is
 * copied. A cached row comes from the cache, and a block whose needed rows are all cached is not
 * read.
 *
 * Stripes are taken one after the other, which is cheap, and may then be read by several threads in
 * parallel.
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

/* A walk over the rows of `node` [count], which is borrowed, after feature_source_visit_begin()
 * sorted them. The source must not be used for anything else until the last stripe was used. The
 * other fields are zero at first. */
struct feature_walk {
    struct feature_source *source;
    const uint32_t *node;
    size_t count;
    size_t next; /* index in the ordered batch of the first node that no stripe has */
    int part;    /* the next nodes are in this part or in a later one */
};

enum { FEATURE_STRIPE_BLOCKS = 16 };

/* A block that holds rows first .. end - 1 of the stripe, where first is the end of the block
 * before. */
struct feature_stripe_block {
    int part;
    uint32_t number, end;
    struct feature_pin pin;
};

/* A stripe. {0} is empty. Release with feature_stripe_release(). */
struct feature_stripe {
    struct feature_source *source;
    const uint32_t *node;  /* of the batch */
    const uint32_t *place; /* [count], in the order of the walk */
    uint32_t count, block_count, block_limit;
    struct feature_stripe_block block[FEATURE_STRIPE_BLOCKS];
    const void *row[FEATURE_VISIT_MAX];
    char *converted; /* [FEATURE_VISIT_MAX] rows, if they are not held in the stored form */
};

/* Returns the bytes that a stripe of such a source uses, with the blocks that it holds. */
uint64_t feature_stripe_bytes(const struct feature_source *source);
MUST_CHECK enum error_code feature_stripe_init(struct feature_stripe *stripe,
                                               struct feature_source *source, struct error *err);
void feature_stripe_release(struct feature_stripe *stripe);

/* Sorts the batch. The budget must have room for the order. */
MUST_CHECK enum error_code feature_walk_order(struct feature_source *source, const uint32_t *node,
                                              size_t count, struct error *err);
/* Takes the next stripe. Returns false if there are no more. Threads: one at a time. */
bool feature_walk_next(struct feature_walk *walk, struct feature_stripe *stripe);
/* Reads the rows of a stripe that was taken. Threads: any number, each with its own stripe. Fails:
 * ERROR_CORRUPT naming shard, tensor and block. */
MUST_CHECK enum error_code feature_stripe_read(struct feature_stripe *stripe, struct error *err);
/* Returns the rows of the stripe, valid until feature_stripe_forget(). */
struct feature_visit feature_stripe_visit(const struct feature_stripe *stripe);
/* Releases the blocks of the stripe. */
void feature_stripe_forget(struct feature_stripe *stripe);

/* Visits all stripes on this thread; same as feature_source_visit(). */
MUST_CHECK enum error_code feature_walk_all(struct feature_walk *walk, feature_visitor visitor,
                                            void *context, const atomic_bool *stop,
                                            struct error *err);

#endif
