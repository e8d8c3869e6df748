/*
 * store - records by key, artifacts by key, switches.
 *
 *   record     immutable, published whole or not at all; the first one wins; an equal second one is
 *              success, a different second one is ERROR_CORRUPT, because a work unit must give the
 *              same bits whoever computes it
 *   artifact   a file or folder (LMDB topology, RocksDB shard, outputs) published by rename; a record
 *              beside it, its seal, holds its hashes; readers trust an artifact only with its seal
 *   switch     the one mutable thing: a small text that is replaced atomically
 *
 * Keys are like paths: [A-Za-z0-9._-]+ joined by '/', at most 199 bytes (store/objects/keys.h makes
 * them). No name starts with '.', and "tmp", "switch" and "logs" at the front are the store's own.
 * A backend may refuse more names.
 *
 * Round records (STORE_RECOMPUTABLE) are not flushed to disk one by one, so that after a power cut
 * a torn or empty file can stand under a record's name. Readers get ERROR_CORRUPT for it, and a put
 * that meets one replaces it: whoever makes the record again mends the store. A damaged
 * STORE_DURABLE record is left for a person to look at.
 *
 * A store opened for replay reads as always but writes nothing: a record put is compared with the
 * one that is there, and the verdict is kept (store_replay_report).
 *
 * Threads: a store may be used by several threads at once, but for open and close.
 */
#ifndef STORE_OBJECTS_STORE_H
#define STORE_OBJECTS_STORE_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/objects/keys.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

enum store_durability {
    STORE_RECOMPUTABLE, /* round records: a lost one is noticed and made again */
    STORE_DURABLE, /* flushed to disk before the call returns: datasets, partitions, snapshots */
};

enum store_flags {
    STORE_READ_ONLY = 1,
    STORE_REPLAY = 2,
    STORE_MUST_EXIST = 4, /* for those that do not begin a store: a wrong name makes no folder */
};

/* What the place behind a store is like. Nobody has to ask: whatever it is, all that follows
 * works. */
enum store_capability {
    STORE_IS_SHARED = 1, /* other processes see it */
    STORE_HAS_PATHS = 2, /* its artifacts lie at paths */
    STORE_IS_LOCAL = 4,  /* ... of a file system of this host, so that they may be mapped */
    STORE_HAS_LINKS = 8, /* ... which has hard links, as far as it is known */
    STORE_HAS_CHEAP_RECORDS = 16, /* thousands of small ones a second */
    STORE_IS_DURABLE = 32,        /* what was flushed survives a power cut */
};

/* Opens "dir:PATH", which without flags is made when missing. `uri` without a scheme is a path.
 * Owns:  *out; close with store_close().
 * Fails: ERROR_INVALID for an unknown scheme, ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code store_open(const char *uri, unsigned flags, struct store **out,
                                      struct error *err);
void store_close(struct store *store);
/* Whether `text` is "scheme:place" of a scheme that there is, and so no path. */
bool store_is_uri(const char *text);
/* The address of the store in a folder. Fails: ERROR_INVALID for a path that is too long. */
MUST_CHECK enum error_code store_uri_of_folder(const char *path, char uri[FILE_PATH_SIZE],
                                               struct error *err);

enum { STORE_FOLDER_MAX = 2, STORE_PORT_MAX = 32 };
/* An address leads to these folders and ports. */
struct store_location {
    bool is_shared; /* other processes can open it */
    int folder_count, port_count;
    char folder[STORE_FOLDER_MAX][FILE_PATH_SIZE]; /* the folders that it lies in */
    uint16_t port[STORE_PORT_MAX];                 /* the TCP ports that it is reached by */
};
/* Finds that from the address alone; nothing is opened or asked.
 * Fails: ERROR_INVALID for an address that store_open() refuses as it is written. */
MUST_CHECK enum error_code store_locate(const char *uri, struct store_location *out,
                                        struct error *err);
/* Which store this is, for what lies outside of it (the keys of a work queue): 128 bits as
 * hexadecimal digits, drawn by the first who asks and may write, the same for all hosts from then
 * on. A copy of a store has the identity of its original until store_identity_renew() gives it
 * another one.
 * Fails: ERROR_NOT_FOUND when none was drawn yet and this one may not write. */
enum { STORE_IDENTITY_SIZE = 33 };
MUST_CHECK enum error_code store_identity(struct store *store, char out[STORE_IDENTITY_SIZE],
                                          struct error *err);
MUST_CHECK enum error_code store_identity_renew(struct store *store, char out[STORE_IDENTITY_SIZE],
                                                struct error *err);
unsigned store_capabilities(const struct store *store); /* enum store_capability */
/* Where copies of artifacts are kept that cannot be read in place (store/objects/artifact_cache.h),
 * and how many bytes of them; at first in the folder for temporary files, 8 GiB.
 * `storage_is_local`: the store's file system is of this host, whatever it looks like. Before other
 * threads use the store. */
MUST_CHECK enum error_code store_cache_set(struct store *store, const char *folder,
                                           uint64_t budget_bytes, bool storage_is_local,
                                           struct error *err);
/* From now on no copy that others have made is used: what is read is what the store has. For who
 * verifies that. */
void store_cache_bypass(struct store *store);
/* Opened neither for reading only nor for replay. */
bool store_may_write(const struct store *store);
/* The folder that it lies in, for messages; NULL without STORE_HAS_PATHS. Borrowed. */
const char *store_root(const struct store *store);

/* Publishes a record. A damaged one under the same key is replaced when STORE_RECOMPUTABLE.
 * Fails: ERROR_CORRUPT when another record with other content stands there (rule "same work unit,
 * same bytes" was broken: an alarm), or a damaged one and the new one is STORE_DURABLE;
 * ERROR_IO. */
MUST_CHECK enum error_code store_put(struct store *store, const char *key, const char *owner_id,
                                     const struct record *record, enum store_durability durability,
                                     struct error *err);

/* Makes a record that was put as STORE_RECOMPUTABLE survive a power cut. Fails: ERROR_NOT_FOUND;
 * ERROR_IO. */
MUST_CHECK enum error_code store_flush(struct store *store, const char *key, struct error *err);

/* Reads and verifies a record; `owner_id` NULL: any. Release with store_release_record().
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming key and offset; ERROR_IO. */
MUST_CHECK enum error_code store_get(struct store *store, const char *key, const char *owner_id,
                                     struct record_view *view, struct error *err);
void store_release_record(struct record_view *view);

/* Several records of which each is needed, in an order. */
enum { STORE_TOGETHER_MAX = 16 };
struct store_series {
    const char *owner_id; /* as above */
    size_t count;
    size_t together; /* so many are in memory at a time; 0, or more than that: STORE_TOGETHER_MAX */
    struct key (*key)(const void *context, size_t index);
    /* Gets each record, verified, in the order of their indices. It is released afterwards, unless
     * `view` is {0} then. */
    enum error_code (*visit)(void *context, size_t index, struct record_view *view,
                             struct error *err);
    void *context;
};
/* Reads them: those that are in memory together are asked for at once, so on a store that is far
 * away they take the time of one. Ends with the first that cannot be read, or whose visit fails.
 * Fails: as store_get(). */
MUST_CHECK enum error_code store_get_each(struct store *store, const struct store_series *series,
                                          struct error *err);

/* Whether a record or artifact of that key is there, unread. */
MUST_CHECK enum error_code store_has(struct store *store, const char *key, bool *found,
                                     struct error *err);
/* Removes a record or artifact; a missing one is fine. */
MUST_CHECK enum error_code store_remove(struct store *store, const char *key, struct error *err);
/* Removes a record that does not match its checksums, and nothing that came in its place. One that
 * is sound, missing or not to be read stays as it is. */
MUST_CHECK enum error_code store_remove_damaged(struct store *store, const char *key,
                                                struct error *err);
/* Calls `visit` with the key of every record and artifact below `prefix` ("" for all, "run/x" for
 * "run/x/..."), in the order of the keys' bytes. What is removed or put meanwhile may be visited or
 * not. An artifact is visited once, with `is_artifact` set. */
typedef enum error_code (*store_visitor)(void *context, const char *key, bool is_artifact,
                                         struct error *err);
MUST_CHECK enum error_code store_list(struct store *store, const char *prefix, store_visitor visit,
                                      void *context, struct error *err);

/* Returns how many seconds ago a record or artifact was put, or a switch was set, by the clock of
 * the store's place. A Redis Cluster tells when a record was last used.
 * Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code store_age(struct store *store, const char *key, int64_t *seconds,
                                     struct error *err);
MUST_CHECK enum error_code store_switch_age(struct store *store, const char *key, int64_t *seconds,
                                            struct error *err);

/* A fresh, private scratch folder of this host, on the store's own file system if that has
 * paths. */
MUST_CHECK enum error_code store_scratch(struct store *store, char path[FILE_PATH_SIZE],
                                         struct error *err);
/* Moves the file or folder `path` (a scratch folder, or something inside one) to `key`, flushed to
 * disk; a scratch folder that is empty then is removed. When one is there already (*existed, which
 * may be NULL) it stays and `path` is removed: its seal decides whether they are equal. In a replay
 * store nothing is moved. */
MUST_CHECK enum error_code store_publish(struct store *store, const char *path, const char *key,
                                         bool *existed, struct error *err);
/* Where the artifact `key` lies; readers come by way of artifact_acquire(). Fails: ERROR_NOT_FOUND;
 * ERROR_INVALID without STORE_HAS_PATHS. */
MUST_CHECK enum error_code store_artifact(struct store *store, const char *key,
                                          char path[FILE_PATH_SIZE], struct error *err);
/* For a worker between two units: begins to send to disk what was put, and does not wait for it. */
void store_start_writeback(struct store *store);
/* For a worker that has nothing else to do: makes the records that are put next quick to write. */
void store_preallocate(struct store *store);
/* How full the memory is that records lie in: 0 to 1, and 0 where it has no bound or they lie on
 * disk. Takes the time of a small record. Fails: ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code store_memory_share(struct store *store, double *share,
                                              struct error *err);
/* Nobody is likely to read this record soon: the memory that holds it may serve the records that
 * come, as far as it was sent. It stays in the store. A missing one is fine. */
void store_drop_cache(struct store *store, const char *key);
/* Removes what dead processes left in scratch, as far as it can be known now; while a store is
 * written to, that happens each minute by itself. */
MUST_CHECK enum error_code store_sweep(struct store *store, struct error *err);

/* Switches: `text` is one line under 4 KiB, kept with a checksum (store/objects/switch_text.h).
 * Fails: ERROR_NOT_FOUND when never set; ERROR_CORRUPT when it is not what was set. Whoever can
 * find out otherwise what a damaged one named does so, and sets it anew. */
MUST_CHECK enum error_code store_switch_set(struct store *store, const char *key, const char *text,
                                            struct error *err);
MUST_CHECK enum error_code store_switch_get(struct store *store, const char *key, char *text,
                                            size_t size, struct error *err);
/* Sets a switch that is still `expected` (NULL: not set, or damaged) to `text` (NULL: to nothing).
 * *matched is false when the switch is something else, which stays. Whoever changes a switch that
 * another process may change at the same time uses this; each call of store_switch_set() says why
 * the last writer may win. */
MUST_CHECK enum error_code store_switch_exchange(struct store *store, const char *key,
                                                 const char *expected, const char *text,
                                                 bool *matched, struct error *err);
/* One that is not set is fine. */
MUST_CHECK enum error_code store_switch_remove(struct store *store, const char *key,
                                               struct error *err);
/* Calls `visit` with the key of every switch, unread, in the order of the keys' bytes. */
MUST_CHECK enum error_code store_switch_list(struct store *store, store_visitor visit,
                                             void *context, struct error *err);

/* Notes: text for people that grows and is written over, such as metrics.jsonl. It is whole, but
 * not flushed: after a power cut an older one may be there, or none. `name` is like a key, and
 * nothing but a name: no list shows it. *text is the caller's, with a NUL behind it; memory_free().
 * Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code store_note_put(struct store *store, const char *name, const char *text,
                                          size_t size, struct error *err);
MUST_CHECK enum error_code store_note_get(struct store *store, const char *name, char **text,
                                          size_t *size, struct error *err);
/* Where it lies, below store_root(), there or not. Fails: ERROR_INVALID without STORE_HAS_PATHS. */
MUST_CHECK enum error_code store_note_path(const struct store *store, const char *name,
                                           char path[FILE_PATH_SIZE], struct error *err);

/* Records that went through this store since it was opened, with their headers, equal ones put
 * again included. For figures only. */
struct store_traffic {
    uint64_t records_read, bytes_read, records_written, bytes_written;
};
struct store_traffic store_traffic(const struct store *store);

/* What a replay store has seen so far. */
struct store_replay {
    int matched;
    int differed;
    int absent;                 /* put, but no such record is stored: pruned, or never made */
    char first_difference[200]; /* key of the first record that differed, or "" */
    char first_absent[200];
};
struct store_replay store_replay_report(const struct store *store);

#endif
