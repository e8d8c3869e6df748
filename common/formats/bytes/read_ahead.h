/*
 * read_ahead - decompresses a byte source in a thread of its own, ahead of the reader.
 *
 * Decompressing takes as much processor time as splitting lines and looking up ids, so doing both
 * at once halves the time. At most 1 MiB is in flight.
 */
#ifndef COMMON_FORMATS_BYTES_READ_AHEAD_H
#define COMMON_FORMATS_BYTES_READ_AHEAD_H

#include "common/formats/bytes/byte_source.h"

#include <stdbool.h>

struct read_ahead;

/* Returns whether it is worthwhile: for a compressed file of a MiB or more. */
bool read_ahead_is_worth(const struct byte_source *source);
/* Borrows `source` until read_ahead_close(); nobody else may read it. Fails: ERROR_NO_MEMORY, also
 * if no thread can be started. */
MUST_CHECK enum error_code read_ahead_open(struct byte_source *source, struct read_ahead **out,
                                           struct error *err);
void read_ahead_close(struct read_ahead *ahead); /* NULL is allowed */
/* Reads like byte_source_read(). A failure there is reported here after the bytes before it.
 * Progress is reported by the reader's thread. */
MUST_CHECK enum error_code read_ahead_read(struct read_ahead *ahead, void *out, size_t size,
                                           size_t *got, struct error *err);

#endif
