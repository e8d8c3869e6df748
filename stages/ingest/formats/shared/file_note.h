/*
 * file_note - remembers the checksum of a large input file, so that an unchanged file is not read
 * again.
 *
 * The note is the ref current/file/<digits of the path>. It has device, inode, size, the times of
 * the last change of content (mtime) and of anything (ctime), and the checksum. It is valid as long
 * as the file has the same values. The system sets ctime at each change, also at one that sets
 * mtime back. A file that was changed less than two seconds before it was read gets no note,
 * because it could change once more within the resolution of its times. The note cannot detect a
 * disk that changes bytes by itself.
 *
 * If a note is missing, damaged or cannot be set, the file is read again, and nothing else is lost.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_FILE_NOTE_H
#define STAGES_INGEST_FORMATS_SHARED_FILE_NOTE_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { FILE_NOTE_BYTES_MIN = 1 << 20, FILE_NOTE_SETTLED_MS = 2000 };

struct file_notes {
    struct store *store; /* NULL: no notes */
    bool may_set;        /* otherwise notes are only read */
    /* the time since the last change that a file needs to get a note: FILE_NOTE_SETTLED_MS */
    int64_t settled_ms;
};

/* Returns checksum and size of the file at `path`, read or remembered. Fails: ERROR_NOT_FOUND,
 * ERROR_IO. */
MUST_CHECK enum error_code file_note_sum(const struct file_notes *notes, const char *path,
                                         struct checksum *sum, uint64_t *size, struct error *err);

#endif
