/*
 * store - keeps records and artifacts by key, and refs. The code calls a ref a switch.
 *
 *   record     immutable, published whole or not at all. The first writer wins. Putting an equal
 *              record again succeeds; putting a different one fails with ERROR_CORRUPT, because a
 *              unit must have the same bits whoever computes it.
 *   artifact   a file or folder (LMDB topology, RocksDB shard, outputs), published by rename. A
 *              record, its seal, holds the hashes of its files; an artifact is trusted only if it
 *              matches its seal.
 *   ref        the only mutable object: a small text that is replaced atomically
 *
 * Keys are like paths: [A-Za-z0-9._-]+ joined by '/', at most 199 bytes (store/objects/keys.h makes
 * them). No name starts with '.', and the first name must not be "tmp", "switch" or "logs", which
 * the store uses. A backend may refuse more names.
 *
 * Round records (STORE_RECOMPUTABLE) are not flushed to disk one by one. After a power cut a torn
 * or empty file may have a record's name. Reading it fails with ERROR_CORRUPT, and a put replaces
 * it, so that computing the record again repairs the store. A damaged STORE_DURABLE record is never
 * replaced: a person has to look at it.
 *
 * A store opened for replay reads as usual but writes nothing: each record that is put is compared
 * with the stored one, and the result is counted (store_replay_report).
 *
 * Threads: several may use a store at once, except for open and close.
 */
#ifndef STORE_OBJECTS_STORE_H
#define STORE_OBJECTS_STORE_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/objects/keys.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

enum store_durability {
    /* round records: if one is lost, this is noticed and it is computed again */
    STORE_RECOMPUTABLE,
    STORE_DURABLE, /* flushed to disk before the call returns: datasets, partitions, snapshots */
};

enum store_flags {
    STORE_READ_ONLY = 1,
    STORE_REPLAY = 2,
    /* for programs that do not create a store: a wrong name makes no folder */
    STORE_MUST_EXIST = 4,
};

/* Properties of the place of a store. All functions below work whatever the properties are. */
enum store_capability {
    STORE_IS_SHARED = 1, /* other processes see it */
    STORE_HAS_PATHS = 2, /* its artifacts have paths */
    STORE_IS_LOCAL = 4,  /* ... on a file system of this host, so that files may be mapped */
    STORE_HAS_LINKS = 8, /* ... which has hard links, as far as is known */
    STORE_HAS_CHEAP_RECORDS = 16, /* thousands of small ones a second */
    STORE_IS_DURABLE = 32,        /* what was flushed survives a power cut */
};

/* Opens a store, such as "dir:PATH". Without flags a missing one is made. A `uri` without a scheme
 * is a path. The caller closes *out with store_close(). Fails: ERROR_INVALID for an unknown scheme,
 * ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code store_open(const char *uri, unsigned flags, struct store **out,
                                      struct error *err);
void store_close(struct store *store);
/* Returns whether `text` is "scheme:place" with a known scheme, and so not a path. */
bool store_is_uri(const char *text);
/* Writes the address of the store in a folder. Fails: ERROR_INVALID for a path that is too long. */
MUST_CHECK enum error_code store_uri_of_folder(const char *path, char uri[FILE_PATH_SIZE],
                                               struct error *err);

enum { STORE_FOLDER_MAX = 2, STORE_PORT_MAX = 32 };
/* The folders and ports that an address leads to. */
struct store_location {
    bool is_shared; /* other processes can open it */
    int folder_count, port_count;
    char folder[STORE_FOLDER_MAX][FILE_PATH_SIZE]; /* the folders of the store */
    uint16_t port[STORE_PORT_MAX];                 /* the TCP ports of its servers */
};
/* Finds the location from the address alone, without opening or asking anything. Fails:
 * ERROR_INVALID for an address whose text store_open() would refuse. */
MUST_CHECK enum error_code store_locate(const char *uri, struct store_location *out,
                                        struct error *err);
/* Reads the identity of the store: 128 bits as hexadecimal digits. Data outside the store, such as
 * the keys of a work queue, use it to name the store. The first process that asks and may write
 * draws it; all hosts then see the same. A copy of a store has the identity of its original until
 * store_identity_renew() draws another. Fails: ERROR_NOT_FOUND when there is none yet and this
 * store may not write. */
enum { STORE_IDENTITY_SIZE = 33 };
MUST_CHECK enum error_code store_identity(struct store *store, char out[STORE_IDENTITY_SIZE],
                                          struct error *err);
MUST_CHECK enum error_code store_identity_renew(struct store *store, char out[STORE_IDENTITY_SIZE],
                                                struct error *err);
unsigned store_capabilities(const struct store *store); /* enum store_capability */
/* Sets where copies of artifacts that cannot be read in place are kept
 * (store/objects/artifact_cache.h), and how many bytes they may have. The default is the folder for
 * temporary files and 8 GiB. `storage_is_local` declares that the store's file system belongs to
 * this host, whatever its type. Call it before other threads use the store. */
MUST_CHECK enum error_code store_cache_set(struct store *store, const char *folder,
                                           uint64_t budget_bytes, bool storage_is_local,
                                           struct error *err);
/* Stops the use of copies that other processes made, so that every read comes from the store.
 * Programs that verify the store call it. */
void store_cache_bypass(struct store *store);
/* Returns whether the store was opened neither read-only nor for replay. */
bool store_may_write(const struct store *store);
/* Returns the store's folder for messages; NULL without STORE_HAS_PATHS. Borrowed. */
const char *store_root(const struct store *store);

/* Publishes a record. With STORE_RECOMPUTABLE it replaces a damaged record of the same key. Fails:
 * ERROR_CORRUPT when another record with other content has the key (the rule "same unit, same
 * bytes" was broken: an alarm), or a damaged one has it and the new one is STORE_DURABLE;
 * ERROR_IO. */
MUST_CHECK enum error_code store_put(struct store *store, const char *key, const char *owner_id,
                                     const struct record *record, enum store_durability durability,
                                     struct error *err);

/* Makes a record that was put as STORE_RECOMPUTABLE survive a power cut. Fails: ERROR_NOT_FOUND;
 * ERROR_IO. */
MUST_CHECK enum error_code store_flush(struct store *store, const char *key, struct error *err);

/* Reads and verifies a record; `owner_id` NULL accepts any owner. The caller releases *view with
 * store_release_record(). Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming key and offset; ERROR_IO. */
MUST_CHECK enum error_code store_get(struct store *store, const char *key, const char *owner_id,
                                     struct record_view *view, struct error *err);
void store_release_record(struct record_view *view);

/* Several records, all of which are needed, in a given order. */
enum { STORE_TOGETHER_MAX = 16 };
struct store_series {
    const char *owner_id; /* the owner of each; NULL: any */
    size_t count;
    /* at most this many are in memory at a time; 0: STORE_TOGETHER_MAX, the most */
    size_t together;
    struct key (*key)(const void *context, size_t index);
    /* Gets each record, verified, in the order of the indices. The record is released afterwards,
     * unless the visitor took it and set *view to {0}. */
    enum error_code (*visit)(void *context, size_t index, struct record_view *view,
                             struct error *err);
    void *context;
};
/* Reads the records of a series. Those that are in memory together are requested at once, so that
 * on a remote store they take the time of one. Stops at the first record that cannot be read or
 * whose visit fails. Fails: as store_get(). */
MUST_CHECK enum error_code store_get_each(struct store *store, const struct store_series *series,
                                          struct error *err);

/* Returns in *found whether a record or artifact of that key exists, without reading it. */
MUST_CHECK enum error_code store_has(struct store *store, const char *key, bool *found,
                                     struct error *err);
/* Removes a record or artifact. Succeeds if there is none. */
MUST_CHECK enum error_code store_remove(struct store *store, const char *key, struct error *err);
/* Removes a record that does not match its checksums, but not another record that replaced it
 * meanwhile. Changes nothing if the record is sound, missing or unreadable. */
MUST_CHECK enum error_code store_remove_damaged(struct store *store, const char *key,
                                                struct error *err);
/* Calls `visit` with the key of every record and artifact below `prefix` ("": all; "run/x":
 * "run/x/..."), in the order of the keys' bytes. An object that is put or removed meanwhile may be
 * visited or not. An artifact is visited once, with `is_artifact` set. */
typedef enum error_code (*store_visitor)(void *context, const char *key, bool is_artifact,
                                         struct error *err);
MUST_CHECK enum error_code store_list(struct store *store, const char *prefix, store_visitor visit,
                                      void *context, struct error *err);

/* Returns how many seconds ago a record or artifact was put, or a ref was set, by the clock of the
 * store's place. A Redis Cluster returns when a record was last used. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code store_age(struct store *store, const char *key, int64_t *seconds,
                                     struct error *err);
MUST_CHECK enum error_code store_switch_age(struct store *store, const char *key, int64_t *seconds,
                                            struct error *err);

/* Makes a private scratch folder on this host; on the store's own file system if it has paths. */
MUST_CHECK enum error_code store_scratch(struct store *store, char path[FILE_PATH_SIZE],
                                         struct error *err);
/* Moves the file or folder `path` (a scratch folder, or something inside one) to `key` and flushes
 * it to disk. A scratch folder that is empty then is removed. If the artifact exists (*existed,
 * which may be NULL), it stays and `path` is removed; its seal decides whether the two are equal. A
 * replay store moves nothing. */
MUST_CHECK enum error_code store_publish(struct store *store, const char *path, const char *key,
                                         bool *existed, struct error *err);
/* Writes the path of the artifact `key`. Readers call artifact_acquire() instead. Fails:
 * ERROR_NOT_FOUND; ERROR_INVALID without STORE_HAS_PATHS. */
MUST_CHECK enum error_code store_artifact(struct store *store, const char *key,
                                          char path[FILE_PATH_SIZE], struct error *err);
/* Starts writing to disk what was put, without waiting. Workers call it between two units. */
void store_start_writeback(struct store *store);
/* Prepares space so that the next records are quick to write. Workers call it when they are
 * idle. */
void store_preallocate(struct store *store);
/* Returns how full the memory for records is, 0 to 1; 0 if it has no limit or records are on disk.
 * Takes as long as reading a small record. Fails: ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code store_memory_share(struct store *store, double *share,
                                              struct error *err);
/* Drops a record's pages from memory, as far as they are on disk, so that other records can use the
 * memory. The record stays in the store. Call it when no one is likely to read the record soon.
 * Succeeds if there is none. */
void store_drop_cache(struct store *store, const char *key);
/* Removes scratch files that dead processes left, as far as that can be decided now. A store that
 * is written to does this each minute by itself. */
MUST_CHECK enum error_code store_sweep(struct store *store, struct error *err);

/* Set and read a ref: `text` is one line under 4 KiB, stored with a checksum
 * (store/objects/switch_text.h). Fails: ERROR_NOT_FOUND when it was never set; ERROR_CORRUPT when
 * it is damaged. A caller that can find the value in another way does so and sets the ref again. */
MUST_CHECK enum error_code store_switch_set(struct store *store, const char *key, const char *text,
                                            struct error *err);
MUST_CHECK enum error_code store_switch_get(struct store *store, const char *key, char *text,
                                            size_t size, struct error *err);
/* Sets a ref from `expected` (NULL: not set, or damaged) to `text` (NULL: not set). *matched is
 * false if the ref has another value, which stays. Code that changes a ref which another process
 * may change at the same time uses this function; each call of store_switch_set() says why the last
 * writer may win. */
MUST_CHECK enum error_code store_switch_exchange(struct store *store, const char *key,
                                                 const char *expected, const char *text,
                                                 bool *matched, struct error *err);
/* Removes a ref. Succeeds if it is not set. */
MUST_CHECK enum error_code store_switch_remove(struct store *store, const char *key,
                                               struct error *err);
/* Calls `visit` with the key of every ref, without reading it, in the order of the keys' bytes. */
MUST_CHECK enum error_code store_switch_list(struct store *store, store_visitor visit,
                                             void *context, struct error *err);

/* Notes are texts for people that grow and are rewritten, such as metrics.jsonl. A note is replaced
 * whole but not flushed: after a power cut an older one may be there, or none. `name` has the form
 * of a key, but no list shows it. *text has a NUL after its bytes; the caller frees it with
 * memory_free(). Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code store_note_put(struct store *store, const char *name, const char *text,
                                          size_t size, struct error *err);
MUST_CHECK enum error_code store_note_get(struct store *store, const char *name, char **text,
                                          size_t *size, struct error *err);
/* Writes the path of a note, below store_root(), whether it exists or not. Fails: ERROR_INVALID
 * without STORE_HAS_PATHS. */
MUST_CHECK enum error_code store_note_path(const struct store *store, const char *name,
                                           char path[FILE_PATH_SIZE], struct error *err);

/* The records that this store has read and written since it was opened, with their headers. Equal
 * records that were put again count too. For figures only. */
struct store_traffic {
    uint64_t records_read, bytes_read, records_written, bytes_written;
};
struct store_traffic store_traffic(const struct store *store);

/* The results of a replay store so far. */
struct store_replay {
    int matched;
    int differed;
    int absent;                 /* put, but not stored: pruned, or never made */
    char first_difference[200]; /* key of the first record that differed, or "" */
    char first_absent[200];
};
struct store_replay store_replay_report(const struct store *store);

#endif
