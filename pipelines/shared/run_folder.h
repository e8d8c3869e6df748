/*
 * run_folder - the folder of a local run, and the files in it.
 *
 *   store/           the store: dataset, partition, run records
 *   store.uri        address of the store if it is not in the folder (graphmill run --store)
 *   logs/            stderr of each worker, one file for each
 *   times/           where the time of each worker went (stages/engine/stage_times.h)
 *   redis.url        the Redis of the run, if it is not the private one (redis_note.h)
 *   state            what the driver is doing, or how it ended (run_state.h)
 *   redis/           socket and log of the private Redis, while one runs
 *   outputs          link to the outputs of the newest run, once they exist
 *   metrics.jsonl    link to its metrics
 *   report.html      a page about it for people, written when the run finished
 *   lock             held by the driver
 *   scale/           requests to the driver (scale_request.h)
 */
#ifndef PIPELINES_SHARED_RUN_FOLDER_H
#define PIPELINES_SHARED_RUN_FOLDER_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "common/files/file.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/run/run_binding.h"
#include "store/objects/store.h"

struct run_folder { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    char store_uri[FILE_PATH_SIZE];
    struct store *store;
    struct run_binding run; /* set by run_folder_bind() */
    int lock;               /* file descriptor + 1; 0: not held */
};

/* Makes the folder if it is missing, takes the lock, and opens the store: the one at `uri`, whose
 * address is then recorded in the folder, or for NULL the one that the folder has. Fails:
 * ERROR_BUSY when another driver works there; ERROR_INVALID when the folder has another store. */
MUST_CHECK enum error_code run_folder_create(struct run_folder *folder, const char *path,
                                             const char *uri, struct error *err);
/* Finds out whether a driver holds the folder's lock. Fails: ERROR_IO. */
MUST_CHECK enum error_code run_folder_is_driven(const char *path, bool *driven, struct error *err);
/* Writes the address of the store that run_folder_create() would open. *found says whether the
 * folder already has a store. */
MUST_CHECK enum error_code run_folder_store_uri(const char *path, const char *uri,
                                                char out[FILE_PATH_SIZE], bool *found,
                                                struct error *err);
/* Opens the store of an existing folder (`flags`: enum store_flags) without lock and without a run.
 * `path` may also be the store's own folder, or the address of a store such as s3://...; then
 * folder->path is "". Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_folder_open_store(struct run_folder *folder, const char *path,
                                                 unsigned flags, struct error *err);
/* Does the same for reading, and binds the newest run, or `run_id`. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code run_folder_open(struct run_folder *folder, const char *path,
                                           const char *run_id, struct error *err);
/* Inserts `uri`, unless it is NULL, as the first of the words of a command that accepts --store URI
 * in place of RUN. Fails: ERROR_USAGE when there are too many words. */
MUST_CHECK enum error_code run_folder_word(struct option_list *rest, const char *uri,
                                           struct error *err);
MUST_CHECK enum error_code run_folder_bind(struct run_folder *folder, const char *run_id,
                                           struct error *err);
/* Points the link metrics.jsonl at the bound run, and the link outputs once there are outputs. If
 * the metrics of a finished run are gone, they are written again from the snapshots that are
 * left. */
MUST_CHECK enum error_code run_folder_link(const struct run_folder *folder,
                                           const struct chain_state *state, struct error *err);
/* Returns whether the store lies in the folder, whose file system counts as one of this host. */
bool run_folder_has_store(const struct run_folder *folder);
void run_folder_close(struct run_folder *folder);

#endif
