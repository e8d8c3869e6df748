/*
 * watch_inbox - the folder in which updates of a dataset arrive, and the results of those that were
 * processed.
 *
 *   FOLDER/NAME/           a complete update: a folder that was renamed to this name when all
 *                          its files were there
 *     add-edges.csv  remove-edges.csv  add-nodes.csv  remove-nodes.csv  features.csv
 *                          at least one of them; any ending, compressed or not; or
 *                          several of a kind, add-edges-1.csv  add-edges-2.csv, which are
 *                          read in the order of the bytes of their names
 *   FOLDER/.NAME, NAME.partial     an update that is not complete yet
 *   FOLDER/done/NAME/      an update that was applied; NAME.json next to it has the result
 *   FOLDER/refused/NAME/   an update that did not fit; NAME.json has the reason
 *   FOLDER/runs/ ...       the folder of the run, its store and the files of the dataset may be
 *                          here, too: they are not touched, nor is any other folder of a run,
 *                          or of runs
 *   FOLDER/watch.json      the update that is being processed, flushed before any change
 *   FOLDER/watch.lock      held by the watching process
 *
 * Updates are taken in the order of the bytes of their names. A name can be used once: an update
 * with the name of one in done/ is refused.
 */
#ifndef PIPELINES_WATCH_WATCH_INBOX_H
#define PIPELINES_WATCH_WATCH_INBOX_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "stages/plan/settings/update_request.h"
#include "store/objects/keys.h"

#include <stdbool.h>

enum { WATCH_NAME_SIZE = 256, WATCH_LEFT_COUNT = 64 };

struct watch_inbox { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    int lock; /* file descriptor + 1; 0: not held */
    char left[WATCH_LEFT_COUNT][WATCH_NAME_SIZE];
    int left_count; /* number of names in the folder that are not updates */
};

struct watch_update {
    char name[WATCH_NAME_SIZE];
    char files[UPDATE_KIND_COUNT][UPDATE_FILES_SIZE];
    struct update_request request; /* its paths point into `files` */
};

/* The state of the update that is being processed. */
struct watch_state {
    char name[WATCH_NAME_SIZE]; /* "": no update */
    char base[ID_SIZE];         /* the version that the update is applied to */
    bool is_decided;            /* the fields below are set, and hold even after a kill */
    char model[ID_SIZE];        /* the run that becomes the newest; "": no change */
    char *line, *result;        /* the line for people; the JSON. Owned */
};

/* Makes the missing subfolders of FOLDER, which must exist, and takes the lock. Fails: ERROR_BUSY
 * when another process watches it; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code watch_inbox_open(struct watch_inbox *inbox, const char *path,
                                            struct error *err);
void watch_inbox_close(struct watch_inbox *inbox);
/* Excludes `path`, and the folder of the inbox that contains it, from the updates: the folder of
 * the run, its store, or the data of the dataset. A path outside of the inbox is accepted. */
MUST_CHECK enum error_code watch_inbox_leave(struct watch_inbox *inbox, const char *path,
                                             struct error *err);
/* Finds the name of the next update, "" when there is none. */
MUST_CHECK enum error_code watch_inbox_next(const struct watch_inbox *inbox,
                                            char name[WATCH_NAME_SIZE], struct error *err);
/* Lists the files of an update. Fails: ERROR_INPUT naming a file that does not belong there. */
MUST_CHECK enum error_code watch_inbox_read(const struct watch_inbox *inbox, const char *name,
                                            struct watch_update *out, struct error *err);
/* Moves an update to its final place: writes `result` next to it, then renames, and flushes both. A
 * repetition after a kill changes nothing. `where` is "done" or "refused". In refused/ a number is
 * appended to the name if it is taken. */
MUST_CHECK enum error_code watch_inbox_put_away(const struct watch_inbox *inbox, const char *name,
                                                const char *where, const char *result,
                                                struct error *err);

/* Reads the state, {0} when there is none. Owns: *out; watch_state_release(). Fails: ERROR_CORRUPT,
 * ERROR_IO. */
MUST_CHECK enum error_code watch_state_read(const struct watch_inbox *inbox,
                                            struct watch_state *out, struct error *err);
/* Writes the state, which is flushed at return. */
MUST_CHECK enum error_code watch_state_write(const struct watch_inbox *inbox,
                                             const struct watch_state *state, struct error *err);
void watch_state_release(struct watch_state *state);

#endif
