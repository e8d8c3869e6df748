/*
 * file_note - the checksum of a large input file, remembered, so that it is not read again to find it unchanged.
 *
 * The note is the switch current/file/<digits of the path>: device, inode, size, times of the last change of content
 * (mtime) and of anything (ctime), and the checksum. It holds as long as all of these are what they were; ctime is
 * set by the system at each change, also by one that puts mtime back. A file that was changed less than two seconds
 * before it was read gets no note: it could change once more within the resolution of its times. What it cannot see
 * is a disk that changes bytes by itself.
 *
 * A note that is missing, damaged or cannot be set costs the reading and nothing else.
 */
#ifndef STAGES_INGEST_FORMATS_FILE_NOTE_H
#define STAGES_INGEST_FORMATS_FILE_NOTE_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { FILE_NOTE_BYTES_MIN = 1 << 20, FILE_NOTE_SETTLED_MS = 2000 };

struct file_notes {
    struct store *store; /* NULL: none */
    bool may_set;        /* else they are read alone */
    int64_t settled_ms;  /* a file must have been left alone for so long: FILE_NOTE_SETTLED_MS */
};

/* Checksum and size of the file at `path`, read or remembered. Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code file_note_sum(const struct file_notes *notes, const char *path,
                                         struct checksum *sum, uint64_t *size, struct error *err);

#endif
