/*
 * body_reader - reads the bytes of an object_body from first to last, in sizes that the reader
 * chooses.
 *
 * A body hands out pieces of its own sizes, while a request or a chunk needs another size.
 */
#ifndef STORE_BACKENDS_BODY_READER_H
#define STORE_BACKENDS_BODY_READER_H

#include "store/objects/object_store.h"

struct body_reader { /* initialised as {.body = ...} */
    const struct object_body *body;
    uint64_t offset; /* of the byte after the pieces in `piece` */
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    size_t count, at, used; /* current piece; `used`: bytes of it already read */
};

/* Copies the next `size` bytes, which the body must have. `context` is the struct body_reader. */
MUST_CHECK enum error_code body_reader_read(void *context, void *to, size_t size,
                                            struct error *err);

#endif
