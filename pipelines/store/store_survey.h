/*
 * store_survey - finds what is damaged or missing in a store, and removes it.
 *
 * It first reads everything and notes each flaw. Removal, if wanted, comes after that. A flaw is
 * removed together with the record that completes its piece of work (a dataset's schema, a
 * partition's book), or a run is set back to before it (run_rewind.h). So the next `graphmill run`
 * finds that piece incomplete and makes it again.
 */
#ifndef PIPELINES_STORE_STORE_SURVEY_H
#define PIPELINES_STORE_STORE_SURVEY_H

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
    bool needed; /* another piece depends on it */
    bool whole;  /* it is complete: it has a schema, a book, or outputs */
    /* a run whose plan, book or ref is lost, so that its expected records are not known */
    bool unread;
};

struct survey_pieces {
    struct survey_piece *piece; /* [count], owned */
    size_t count, capacity;
};

struct store_survey { /* {0}; the caller sets the first three, and releases it when done */
    struct store *store;
    /* Called for each flaw when it is found, and for each record (`what` is its kind); either may
     * be NULL. */
    void (*on_flaw)(void *context, const struct flaw *flaw, const char *text);
    void (*on_record)(void *context, const struct record_view *view);
    void *context;
    struct survey_pieces datasets, partitions, runs;
    struct flaw *flaw; /* [flaw_count], owned */
    size_t flaw_count, flaw_capacity;
    int64_t records, artifacts, switches;
    uint64_t bytes; /* of all records */
};

/* Reads the whole store, or one run and what it depends on. Fails: ERROR_NOT_FOUND for an unknown
 * run; ERROR_UNAVAILABLE when asked to stop; ERROR_NO_MEMORY; ERROR_IO when the store itself cannot
 * be read. */
MUST_CHECK enum error_code store_survey_read(struct store_survey *survey, const char *run_id,
                                             struct error *err);
/* Removes the flaws that were found. Fails: ERROR_IO. */
MUST_CHECK enum error_code store_survey_remove(struct store_survey *survey, struct error *err);
void store_survey_release(struct store_survey *survey);

#endif
