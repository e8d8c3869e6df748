/*
 * read_ahead - a byte source that a thread of its own unpacks, ahead of who reads it.
 *
 * Unpacking takes a core as long as splitting lines and looking up ids does, so the two go side by side. At most two pieces of
 * 256 KiB lie between them.
 */
#ifndef COMMON_FORMATS_READ_AHEAD_H
#define COMMON_FORMATS_READ_AHEAD_H

#include "common/formats/byte_source.h"

#include <stdbool.h>

struct read_ahead;

/* Whether it pays: a packed file of a MiB or more. */
bool read_ahead_is_worth(const struct byte_source *source);
/* Borrows `source` until read_ahead_close(), and nobody else reads it. Fails: ERROR_NO_MEMORY, also for want of a thread. */
MUST_CHECK enum error_code read_ahead_open(struct byte_source *source, struct read_ahead **out,
                                           struct error *err);
void read_ahead_close(struct read_ahead *ahead); /* NULL is fine */
/* As byte_source_read(); what fails there fails here, behind the bytes before it. Progress is told by who reads here. */
MUST_CHECK enum error_code read_ahead_read(struct read_ahead *ahead, void *out, size_t size,
                                           size_t *got, struct error *err);

#endif
