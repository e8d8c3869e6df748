/*
 * object_store - what a place to keep objects must be able to do.
 *
 * One table of functions for each backend, in store/backends/: a directory, memory, and whatever
 * else can put an object unless there is one. A backend moves bytes; what they mean (hashes, equal
 * or different, replay) is decided once, in store_record.c, so that every backend behaves the same.
 *
 *   record     bytes under a key, put whole or not at all, never changed
 *   artifact   files under a key: one, whose name is "", or the files of a folder; put whole or not at all
 *   ref        a short text under a name of its own, which is exchanged atomically
 *
 * Keys reach a backend checked. Functions may be called by several threads at once. Errors are of
 * four sorts: absent (ERROR_NOT_FOUND); busy, which trying later mends (ERROR_BUSY,
 * ERROR_UNAVAILABLE); broken (ERROR_IO, ERROR_CORRUPT, ERROR_NO_SPACE, ERROR_NO_MEMORY); denied,
 * which a person mends (ERROR_DENIED, ERROR_INVALID). A call that has not ended after the time of
 * the options ends with ERROR_UNAVAILABLE, and may have done its work all the same: whoever repeats
 * it meets what it did.
 */
#ifndef STORE_OBJECTS_OBJECT_STORE_H
#define STORE_OBJECTS_OBJECT_STORE_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/objects/store.h"
#include "store/objects/stored_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_options {
    bool make;          /* what is missing is made; else ERROR_NOT_FOUND */
    int64_t timeout_ms; /* of one call */
};

/* Bytes on their way in, in pieces that lie one behind the other. */
struct object_piece {
    const void *data;
    size_t size;
};

enum { OBJECT_PIECE_COUNT_MAX = 64 };

struct object_body {
    uint64_t size;
    /* Gives the next pieces, from byte `offset` on: none at the end. Asked in order from 0, and
     * from 0 again when a backend has to begin anew. What it gave is valid until it is asked
     * again. */
    enum error_code (*next)(void *context, uint64_t offset,
                            struct object_piece piece[OBJECT_PIECE_COUNT_MAX], size_t *count,
                            struct error *err);
    void *context;
};

/* One of many to be read. */
struct object_get {
    const char *key;
    struct stored_bytes bytes; /* given; release with stored_bytes_release() */
    enum error_code rc;        /* given, with `err` */
    struct error err;
};

/* A file of an artifact. */
typedef enum error_code (*object_file_visitor)(void *context, const char *file, uint64_t size,
                                               struct error *err);

struct object_backend {
    const char *scheme; /* "dir" of "dir:PLACE" */

    /* Opens `place`. The state is handed to every function below and ends with close(). */
    enum error_code (*open)(const char *place, const struct object_options *options, void **state,
                            struct error *err);
    void (*close)(void *state);
    unsigned (*capabilities)(const void *state); /* enum store_capability */
    /* Adds what `place` leads to, without opening it. Fails: ERROR_INVALID. */
    enum error_code (*locate)(const char *place, struct store_location *out, struct error *err);
    /* For messages and figures: the folder it lies in; NULL without STORE_HAS_PATHS. Borrowed until
     * close. */
    const char *(*folder)(const void *state);

    /* --- records --- */

    /* Puts one that is not there yet, whole or not at all, also against other processes and a kill
     * at any moment. *existed: one of that key is there already; it is unchanged. */
    enum error_code (*put_if_absent)(void *state, const char *key, const struct object_body *body,
                                     enum store_durability durability, bool *existed,
                                     struct error *err);
    /* Makes sure that one which is there survives a power cut. */
    enum error_code (*flush)(void *state, const char *key, struct error *err);
    /* All bytes of each of `count` records, at once as far as the backend can; each has a code of
     * its own. */
    void (*get_many)(void *state, struct object_get *get, size_t count);
    /* Removes one if its bytes are still `seen`; else leaves whatever is there. */
    enum error_code (*delete_if_match)(void *state, const char *key,
                                       const struct stored_bytes *seen, struct error *err);

    /* --- artifacts --- */

    /* A fresh, private folder of this host to build one in. */
    enum error_code (*scratch)(void *state, char path[FILE_PATH_SIZE], struct error *err);
    /* As store_publish(). */
    enum error_code (*publish)(void *state, const char *path, const char *key, bool *existed,
                               struct error *err);
    /* Where it lies. NULL without STORE_HAS_PATHS. */
    enum error_code (*path)(void *state, const char *key, char path[FILE_PATH_SIZE],
                            struct error *err);
    /* Visits its files in the order of their names. Fails: ERROR_NOT_FOUND when there is no such
     * artifact. */
    enum error_code (*files)(void *state, const char *key, object_file_visitor visit, void *context,
                             struct error *err);
    /* Reads `size` bytes from `offset` of a file, fewer (*got) where it ends. */
    enum error_code (*get_range)(void *state, const char *key, const char *file, uint64_t offset,
                                 void *buffer, size_t size, size_t *got, struct error *err);
    /* Removes what dead processes left in scratch. */
    enum error_code (*sweep)(void *state, struct error *err);

    /* --- both --- */

    enum error_code (*has)(void *state, const char *key, bool *found, struct error *err);
    enum error_code (*remove)(void *state, const char *key, struct error *err);
    /* Visits what is below `prefix` and behind the key `after` ("": all), in the order of the keys'
     * bytes. A visitor that fails ends it: who wants pages stops where one is full, and goes on
     * behind its last key. */
    enum error_code (*list)(void *state, const char *prefix, const char *after, store_visitor visit,
                            void *context, struct error *err);

    /* How many seconds ago a record or artifact, or with `is_ref` a ref, was put, by the clock of
     * the place and not of this host. A place that does not keep that time tells when it was last
     * used. NULL: it is not known, and all counts as new. Fails: ERROR_NOT_FOUND. */
    enum error_code (*age)(void *state, const char *key, bool is_ref, int64_t *seconds,
                           struct error *err);

    /* --- refs --- */

    /* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT for what is no text of that size. */
    enum error_code (*ref_get)(void *state, const char *name, char *text, size_t size,
                               struct error *err);
    /* Puts `text` (NULL: nothing) there whatever was there, durably. */
    enum error_code (*ref_set)(void *state, const char *name, const char *text, struct error *err);
    /* Puts `text` (NULL: nothing) in the place of `expected` (NULL: of nothing), durably. *matched
     * is false when something else was there, which stays. Texts are lines under 8 KiB. A set by
     * another process comes before the exchange or after it, never in between. */
    enum error_code (*ref_cas)(void *state, const char *name, const char *expected,
                               const char *text, bool *matched, struct error *err);
    enum error_code (*ref_list)(void *state, store_visitor visit, void *context, struct error *err);

    /* --- notes: as store_note_put() --- */

    enum error_code (*note_put)(void *state, const char *name, const char *text, size_t size,
                                struct error *err);
    enum error_code (*note_get)(void *state, const char *name, char **text, size_t *size,
                                struct error *err);
    /* NULL without STORE_HAS_PATHS. */
    enum error_code (*note_path)(const void *state, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err);

    /* The share of the memory for records that is full, of the server where it is the most; NULL:
     * they do not lie in memory that has a bound. */
    enum error_code (*memory_share)(void *state, double *share, struct error *err);

    /* --- hints; NULL, for each of these: there is nothing to gain --- */

    void (*start_writeback)(void *state);
    void (*preallocate)(void *state);
    void (*drop_cache)(void *state, const char *key);
};

/* How a store keeps copies of artifacts. */
struct store_cache {
    char folder[FILE_PATH_SIZE];
    uint64_t budget_bytes;
    bool storage_is_local;
    int64_t wait_ms; /* for another process that fetches and does not get on */
    bool is_bypassed;
};
const struct store_cache *store_cache_of(const struct store *store);
/* At first a minute, twice the time of a call. Before other threads use the store. */
void store_cache_wait_set(struct store *store, int64_t wait_ms);
/* For who moves the bytes of an artifact. */
const struct object_backend *store_backend_of(const struct store *store, void **state);

/* Splits an address as store_open() takes it: its backend, and its place in `uri`. Fails:
 * ERROR_INVALID. */
MUST_CHECK enum error_code object_backend_of(const char *uri, const struct object_backend **backend,
                                             const char **place, struct error *err);

/* Adds a folder, or a port, that is new, for locate(). Fails: ERROR_INVALID when there are too
 * many. */
MUST_CHECK enum error_code store_location_add_folder(struct store_location *location,
                                                     const char *path, struct error *err);
MUST_CHECK enum error_code store_location_add_port(struct store_location *location, int64_t port,
                                                   struct error *err);

/* store_open() on a backend that no scheme names: tests have some of their own. */
MUST_CHECK enum error_code store_open_on(const struct object_backend *backend, const char *place,
                                         unsigned flags, struct store **out, struct error *err);

#endif
