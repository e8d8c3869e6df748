/*
 * dataset_notes - how a reader understood the user's files, and what in them looks like a slip.
 *
 * A reader adds a note when it has decided something that the user may have meant differently:
 * "ratings.csv: userId is the source, movieId the target". Notes are printed by ingest and by
 * `graphmill run`, and are stored beside the schema, from which the report reads them.
 */
#ifndef STAGES_INGEST_BUILD_DATASET_NOTES_H
#define STAGES_INGEST_BUILD_DATASET_NOTES_H

#include "common/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum note_kind {
    NOTE_UNDERSTOOD, /* how a file was read; `run` prints it unchanged */
    NOTE_WARNING,    /* a likely slip */
};

enum { NOTE_SIZE = 1024 };

struct dataset_note {
    enum note_kind kind;
    char *text; /* owned */
};

struct dataset_notes { /* {0} is empty and releasable */
    struct dataset_note *note;
    size_t count, capacity;
};

void dataset_notes_release(struct dataset_notes *notes);
/* Appends a copy of the text, cut at NOTE_SIZE. A text that the notes have already is not added
 * again. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_notes_add(struct dataset_notes *notes, enum note_kind kind,
                                             struct error *err, const char *format, va_list values)
    PRINTF_LIKE(4, 0);
/* Moves all notes of `from` to the end of `notes`; `from` is then empty.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_notes_move(struct dataset_notes *notes,
                                              struct dataset_notes *from, struct error *err);

#endif
