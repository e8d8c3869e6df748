/*
 * watch_inbox - the folder in which updates of a dataset arrive, and what became of them.
 *
 *   FOLDER/NAME/           an update that is whole: a folder that was renamed to this name when all
 *                          its files were there
 *     add-edges.csv  remove-edges.csv  add-nodes.csv  remove-nodes.csv  features.csv     at least one of them; any ending, packed or not;
 *     or several of a kind: add-edges-1.csv  add-edges-2.csv                             read in the order of the bytes of their names
 *   FOLDER/.NAME, NAME.partial     not yet
 *   FOLDER/done/NAME/      was applied, and NAME.json beside it says what came of it
 *   FOLDER/refused/NAME/   did not fit; NAME.json says why
 *   FOLDER/runs/ ...       the folder of the run, its store and the files of the dataset may lie
 *                          here, too: they are left alone, and so is every folder of a run, or of
 *                          runs
 *   FOLDER/watch.json      the update that is being worked on, flushed before anything is changed
 *   FOLDER/watch.lock      held by who watches
 *
 * Updates are taken in the order of the bytes of their names, of those that are there. A name
 * counts once: one that is among those done is refused.
 */
#ifndef PIPELINES_WATCH_WATCH_INBOX_H
#define PIPELINES_WATCH_WATCH_INBOX_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "stages/plan/update_request.h"
#include "store/objects/keys.h"

#include <stdbool.h>

enum { WATCH_NAME_SIZE = 256, WATCH_LEFT_COUNT = 64 };

struct watch_inbox { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    int lock; /* file descriptor + 1; 0: not held */
    char left[WATCH_LEFT_COUNT][WATCH_NAME_SIZE];
    int left_count; /* names in the folder that are something else than updates */
};

struct watch_update {
    char name[WATCH_NAME_SIZE];
    char files[UPDATE_KIND_COUNT][UPDATE_FILES_SIZE];
    struct update_request request; /* points into `files` */
};

/* What is known of the update that is being worked on. */
struct watch_state {
    char name[WATCH_NAME_SIZE]; /* "": of none */
    char base[ID_SIZE];         /* the version that it is applied to */
    bool is_decided;            /* what follows is known, and is what is done even after a kill */
    char model[ID_SIZE];        /* the run that is to be the newest; "": as it is */
    char *line, *result;        /* for people; the JSON. Owned */
};

/* Makes what is missing of FOLDER, which is to be there, and takes the lock. Fails: ERROR_BUSY when
 * another watches it; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code watch_inbox_open(struct watch_inbox *inbox, const char *path,
                                            struct error *err);
void watch_inbox_close(struct watch_inbox *inbox);
/* Leaves `path`, and what has it inside, out of the updates: the folder of the run, its store, the
 * data of the dataset. A path outside of the folder is fine. */
MUST_CHECK enum error_code watch_inbox_leave(struct watch_inbox *inbox, const char *path,
                                             struct error *err);
/* The next update's name, "" when there is none. */
MUST_CHECK enum error_code watch_inbox_next(const struct watch_inbox *inbox,
                                            char name[WATCH_NAME_SIZE], struct error *err);
/* Which files it has. Fails: ERROR_INPUT naming what does not belong there. */
MUST_CHECK enum error_code watch_inbox_read(const struct watch_inbox *inbox, const char *name,
                                            struct watch_update *out, struct error *err);
/* Puts an update away for good: `result` beside it, then the rename, both flushed. Again after a
 * kill: no change. `where`: "done" or "refused". What is refused gets a number behind its name
 * where that is taken. */
MUST_CHECK enum error_code watch_inbox_put_away(const struct watch_inbox *inbox, const char *name,
                                                const char *where, const char *result,
                                                struct error *err);

/* {0} when there is none. Owns: watch_state_release(). Fails: ERROR_CORRUPT, ERROR_IO. */
MUST_CHECK enum error_code watch_state_read(const struct watch_inbox *inbox,
                                            struct watch_state *out, struct error *err);
/* Flushed when it returns. */
MUST_CHECK enum error_code watch_state_write(const struct watch_inbox *inbox,
                                             const struct watch_state *state, struct error *err);
void watch_state_release(struct watch_state *state);

#endif
