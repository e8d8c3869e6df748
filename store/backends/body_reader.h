/*
 * body_reader - the bytes of an object on its way in (object_body), from first to last, so many as are asked for.
 *
 * A body gives pieces of its own sizes; a request or a chunk has another.
 */
#ifndef STORE_BACKENDS_BODY_READER_H
#define STORE_BACKENDS_BODY_READER_H

#include "store/objects/object_store.h"

struct body_reader { /* {.body = ...} begins */
    const struct object_body *body;
    uint64_t offset; /* behind the pieces that it has */
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    size_t count, at, used; /* used: bytes of piece `at` */
};

/* The next `size` bytes, which must be there. `context` is the reader. */
MUST_CHECK enum error_code body_reader_read(void *context, void *to, size_t size,
                                            struct error *err);

#endif
