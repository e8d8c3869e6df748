/*
 * run_folder - the folder of a local run, and what lies where in it.
 *
 *   store/           the store: dataset, partition, run records
 *   store.uri        instead of it: the address of the store, where that lies elsewhere (graphmill run --store)
 *   logs/            one file a worker: its stderr
 *   times/           one file a worker: where its time went (stages/engine/stage_times.h)
 *   redis.url        the Redis that the run was started with, where that is not the private one (redis_note.h)
 *   state            what the driver is at, or how it ended (run_state.h)
 *   redis/           socket and log of the private Redis, while one runs
 *   outputs          link to the outputs of the newest run, once they are there
 *   metrics.jsonl    link to its metrics
 *   report.html      a page on it, for people, of when it was finished
 *   lock             held by the driver
 *   scale/           requests to the driver (scale_request.h)
 */
#ifndef PIPELINES_RUN_FOLDER_H
#define PIPELINES_RUN_FOLDER_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "common/base/options.h"
#include "stages/plan/chain.h"
#include "stages/plan/run_binding.h"
#include "store/objects/store.h"

struct run_folder { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    char store_uri[FILE_PATH_SIZE];
    struct store *store;
    struct run_binding run; /* after run_folder_bind() */
    int lock;               /* file descriptor + 1; 0: not held */
};

/* Makes the folder when missing, takes the lock, opens the store: the one at `uri`, which the folder keeps in mind, or, with
 * NULL, the one that it has. Fails: ERROR_BUSY when another driver works there; ERROR_INVALID when the folder has another store. */
MUST_CHECK enum error_code run_folder_create(struct run_folder *folder, const char *path,
                                             const char *uri, struct error *err);
/* Does a driver hold the folder's lock? Fails: ERROR_IO. */
MUST_CHECK enum error_code run_folder_is_driven(const char *path, bool *driven, struct error *err);
/* The address of the store that run_folder_create() would open; *found: has the folder one yet? */
MUST_CHECK enum error_code run_folder_store_uri(const char *path, const char *uri,
                                                char out[FILE_PATH_SIZE], bool *found,
                                                struct error *err);
/* Opens the store of an existing folder (`flags`: enum store_flags), without lock and without a run. `path` may also be the
 * store's own folder, or the address of a store that lies anywhere, such as s3://...: folder->path is "" then.
 * Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_folder_open_store(struct run_folder *folder, const char *path,
                                                 unsigned flags, struct error *err);
/* The same for reading, and binds the newest run, or `run_id`. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_folder_open(struct run_folder *folder, const char *path,
                                           const char *run_id, struct error *err);
/* For commands with --store URI in the place of RUN, the first of their words: puts it there, unless it is NULL.
 * Fails: ERROR_USAGE when there are too many words. */
MUST_CHECK enum error_code run_folder_word(struct option_list *rest, const char *uri,
                                           struct error *err);
MUST_CHECK enum error_code run_folder_bind(struct run_folder *folder, const char *run_id,
                                           struct error *err);
/* Points metrics.jsonl at the bound run, and outputs once they are there: before, there is no such link. The metrics of
 * a finished run are written again when they are gone, from the snapshots that are left. */
MUST_CHECK enum error_code run_folder_link(const struct run_folder *folder,
                                           const struct chain_state *state, struct error *err);
/* Does the store lie in the folder, whose file system is taken for one of this host? */
bool run_folder_has_store(const struct run_folder *folder);
void run_folder_close(struct run_folder *folder);

#endif
