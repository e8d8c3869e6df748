/*
 * object_store - the interface of a backend: what a place must be able to do to hold a store.
 *
 * Each backend in store/backends/ (a directory, memory, and any other place that can put an object
 * unless there is one) fills one table of functions. A backend moves bytes. Their meaning (hashes,
 * equal or different, replay) is decided once, in store_record.c, so that all backends behave the
 * same.
 *
 *   record     bytes under a key; put whole or not at all, never changed
 *   artifact   files under a key, put whole or not at all: one file, whose name is "", or those of
 *              a folder
 *   ref        a short text under a name of its own, which is exchanged atomically
 *
 * The keys that a backend receives are already checked. Several threads may call its functions at
 * once. There are four sorts of errors: absent (ERROR_NOT_FOUND); busy, which passes with time
 * (ERROR_BUSY, ERROR_UNAVAILABLE); broken (ERROR_IO, ERROR_CORRUPT, ERROR_NO_SPACE,
 * ERROR_NO_MEMORY); denied, which only a person can cure (ERROR_DENIED, ERROR_INVALID). A call that
 * takes longer than the timeout of the options ends with ERROR_UNAVAILABLE. The place may still
 * have done it, so a caller that repeats it may find its own result.
 */
#ifndef STORE_OBJECTS_OBJECT_STORE_H
#define STORE_OBJECTS_OBJECT_STORE_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/objects/store.h"
#include "store/objects/stored_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_options {
    bool make;          /* make the store if it is missing; otherwise ERROR_NOT_FOUND */
    int64_t timeout_ms; /* for one call */
};

/* Bytes to be put, in consecutive pieces. */
struct object_piece {
    const void *data;
    size_t size;
};

enum { OBJECT_PIECE_COUNT_MAX = 64 };

struct object_body {
    uint64_t size;
    /* Returns the next pieces from byte `offset` on; none at the end. A backend asks in order from
     * 0, and again from 0 if it has to start over. The pieces are valid until the next call. */
    enum error_code (*next)(void *context, uint64_t offset,
                            struct object_piece piece[OBJECT_PIECE_COUNT_MAX], size_t *count,
                            struct error *err);
    void *context;
};

/* One of several records to be read. */
struct object_get {
    const char *key;
    struct stored_bytes bytes; /* result; release with stored_bytes_release() */
    enum error_code rc;        /* result, with its message in `err` */
    struct error err;
};

/* Visits one file of an artifact. */
typedef enum error_code (*object_file_visitor)(void *context, const char *file, uint64_t size,
                                               struct error *err);

struct object_backend {
    const char *scheme; /* "dir" of "dir:PLACE" */

    /* Opens `place`. The state is passed to every function below; close() ends it. */
    enum error_code (*open)(const char *place, const struct object_options *options, void **state,
                            struct error *err);
    void (*close)(void *state);
    unsigned (*capabilities)(const void *state); /* enum store_capability */
    /* Adds the folders and ports that `place` leads to, without opening it. Fails:
     * ERROR_INVALID. */
    enum error_code (*locate)(const char *place, struct store_location *out, struct error *err);
    /* Returns the store's folder, for messages and figures; NULL without STORE_HAS_PATHS. Borrowed
     * until close. */
    const char *(*folder)(const void *state);

    /* --- records --- */

    /* Puts a record if there is none of this key; *existed says that there is one, which is
     * unchanged. The record is put whole or not at all, whatever other processes do and whenever
     * this one is killed. */
    enum error_code (*put_if_absent)(void *state, const char *key, const struct object_body *body,
                                     enum store_durability durability, bool *existed,
                                     struct error *err);
    /* Makes a record that exists survive a power cut. */
    enum error_code (*flush)(void *state, const char *key, struct error *err);
    /* Reads all bytes of each of `count` records, with as few round trips as the backend can. Each
     * has its own code. */
    void (*get_many)(void *state, struct object_get *get, size_t count);
    /* Removes a record if its bytes still equal `seen`. Otherwise changes nothing. */
    enum error_code (*delete_if_match)(void *state, const char *key,
                                       const struct stored_bytes *seen, struct error *err);

    /* --- artifacts --- */

    /* Makes a private folder on this host to build an artifact in. */
    enum error_code (*scratch)(void *state, char path[FILE_PATH_SIZE], struct error *err);
    /* Same as store_publish(). */
    enum error_code (*publish)(void *state, const char *path, const char *key, bool *existed,
                               struct error *err);
    /* Returns the path of an artifact. NULL without STORE_HAS_PATHS. */
    enum error_code (*path)(void *state, const char *key, char path[FILE_PATH_SIZE],
                            struct error *err);
    /* Visits the files of an artifact in the order of their names. Fails: ERROR_NOT_FOUND when
     * there is no such artifact. */
    enum error_code (*files)(void *state, const char *key, object_file_visitor visit, void *context,
                             struct error *err);
    /* Reads `size` bytes of a file from `offset` on; fewer (*got) at its end. */
    enum error_code (*get_range)(void *state, const char *key, const char *file, uint64_t offset,
                                 void *buffer, size_t size, size_t *got, struct error *err);
    /* Removes scratch files that dead processes left. */
    enum error_code (*sweep)(void *state, struct error *err);

    /* --- records and artifacts --- */

    enum error_code (*has)(void *state, const char *key, bool *found, struct error *err);
    enum error_code (*remove)(void *state, const char *key, struct error *err);
    /* Visits the keys below `prefix` that come after the key `after` ("": all), in the order of
     * their bytes. Stops at the first visitor that fails. To read a page, a caller stops when the
     * page is full and continues after its last key. */
    enum error_code (*list)(void *state, const char *prefix, const char *after, store_visitor visit,
                            void *context, struct error *err);

    /* Returns how many seconds ago a record or artifact, or with `is_ref` a ref, was put, by the
     * clock of the place, not of this host. A place that does not store that time returns when it
     * was last used. NULL: the age is unknown, and everything counts as new. Fails:
     * ERROR_NOT_FOUND. */
    enum error_code (*age)(void *state, const char *key, bool is_ref, int64_t *seconds,
                           struct error *err);

    /* --- refs --- */

    /* Reads a ref. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT for a value that is not a text of at most
     * `size` bytes. */
    enum error_code (*ref_get)(void *state, const char *name, char *text, size_t size,
                               struct error *err);
    /* Sets a ref to `text` durably, whatever it was; NULL removes it. */
    enum error_code (*ref_set)(void *state, const char *name, const char *text, struct error *err);
    /* Replaces `expected` (NULL: no value) by `text` (NULL: no value), durably. *matched is false
     * if the ref has another value, which stays. Texts are lines under 8 KiB. The exchange is
     * atomic: a set by another process comes before or after it. */
    enum error_code (*ref_cas)(void *state, const char *name, const char *expected,
                               const char *text, bool *matched, struct error *err);
    enum error_code (*ref_list)(void *state, store_visitor visit, void *context, struct error *err);

    /* --- notes: same as store_note_put() --- */

    enum error_code (*note_put)(void *state, const char *name, const char *text, size_t size,
                                struct error *err);
    enum error_code (*note_get)(void *state, const char *name, char **text, size_t *size,
                                struct error *err);
    /* NULL without STORE_HAS_PATHS. */
    enum error_code (*note_path)(const void *state, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err);

    /* Returns how full the memory for records is, 0 to 1, on the fullest server. NULL: records are
     * not in memory that has a limit. */
    enum error_code (*memory_share)(void *state, double *share, struct error *err);

    /* --- hints; a function is NULL if the backend gains nothing by it --- */

    void (*start_writeback)(void *state);
    void (*preallocate)(void *state);
    void (*drop_cache)(void *state, const char *key);
};

/* The cache settings of a store: where copies of artifacts are kept, and how. */
struct store_cache {
    char folder[FILE_PATH_SIZE];
    uint64_t budget_bytes;
    bool storage_is_local;
    int64_t wait_ms; /* how long to wait for another process whose download makes no progress */
    bool is_bypassed;
};
const struct store_cache *store_cache_of(const struct store *store);
/* Sets that wait. The default is a minute, twice the timeout of a call. Call it before other
 * threads use the store. */
void store_cache_wait_set(struct store *store, int64_t wait_ms);
/* Returns the backend, and its state, for code that moves the bytes of artifacts. */
const struct object_backend *store_backend_of(const struct store *store, void **state);

/* Splits an address, in the form that store_open() accepts, into its backend and its place, which
 * points into `uri`. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code object_backend_of(const char *uri, const struct object_backend **backend,
                                             const char **place, struct error *err);

/* Adds a folder, or a port, to *location unless it is there. locate() uses it. Fails: ERROR_INVALID
 * when there are too many. */
MUST_CHECK enum error_code store_location_add_folder(struct store_location *location,
                                                     const char *path, struct error *err);
MUST_CHECK enum error_code store_location_add_port(struct store_location *location, int64_t port,
                                                   struct error *err);

/* Opens a store on a backend that no scheme names. Tests have such backends. */
MUST_CHECK enum error_code store_open_on(const struct object_backend *backend, const char *place,
                                         unsigned flags, struct store **out, struct error *err);

#endif
