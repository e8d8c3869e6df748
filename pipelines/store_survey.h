/*
 * store_survey - what of a store is damaged or missing, and how that is taken away.
 *
 * First everything is read and what is wrong is noted; then, if wanted, removed: with the record that closes its
 * piece of work (a dataset's schema, a partition's book), or with the run set back to before it (run_rewind.h).
 * So the next `graphmill run` finds that piece undone and makes it again.
 */
#ifndef PIPELINES_STORE_SURVEY_H
#define PIPELINES_STORE_SURVEY_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flaw_kind { FLAW_DAMAGED, FLAW_MISSING };

struct flaw {
    enum flaw_kind kind;
    bool is_switch;
    char key[KEY_SIZE];
};

/* A dataset, partition or run. */
struct survey_piece {
    char id[ID_SIZE];
    bool needed; /* something stands on it */
    bool whole;  /* it is closed: a schema, a book, outputs */
    bool unread; /* a run of which plan, book or a switch is lost: what it promises is not known */
};

struct survey_pieces {
    struct survey_piece *piece; /* [count], owned */
    size_t count, capacity;
};

struct store_survey { /* {0}, then set the first three; release when done */
    struct store *store;
    /* Told of each flaw as it is found, and of each record (`what` is its kind); either may be NULL. */
    void (*on_flaw)(void *context, const struct flaw *flaw, const char *text);
    void (*on_record)(void *context, const struct record_view *view);
    void *context;
    struct survey_pieces datasets, partitions, runs;
    struct flaw *flaw; /* [flaw_count], owned */
    size_t flaw_count, flaw_capacity;
    int64_t records, artifacts, switches;
    uint64_t bytes; /* of records */
};

/* Reads all of the store, or one run and what it stands on. Fails: ERROR_NOT_FOUND for a run that is none;
 * ERROR_UNAVAILABLE when asked to stop; ERROR_NO_MEMORY; ERROR_IO when the store itself cannot be read. */
MUST_CHECK enum error_code store_survey_read(struct store_survey *survey, const char *run_id,
                                             struct error *err);
/* Takes away what was found. Fails: ERROR_IO. */
MUST_CHECK enum error_code store_survey_remove(struct store_survey *survey, struct error *err);
void store_survey_release(struct store_survey *survey);

#endif
