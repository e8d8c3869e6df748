/*
 * cluster_place - an open store in a Redis Cluster, and the functions that its files share.
 *
 * Every key of the store has one of 512 tags, which decides its slot: PREFIX{TAG}NAME. No key
 * contains a '!', so that the names below cannot collide:
 *
 *   {T}!store                    marks that a store is here
 *   {T}KEY!record                a record: "w" and its bytes, or "c HASH SIZE" if it is in chunks
 *   {T}KEY!chunk/HASH/N          MiB number N of the record whose content has the hash HASH; two
 *                                writers of equal content write the same chunks
 *   {T}!index                    a sorted set: "KEY!record" and "KEY!artifact" for each key with
 *                                this tag
 *   {T}!drafts                   a sorted set: chunks and artifacts that were begun, by the
 *                                server's time; an entry is removed when the value is complete
 *   {T}KEY!artifact              "w" and the manifest (artifact_manifest.h); the artifact exists
 *                                when this does
 *   {T}KEY!draft/ATTEMPT         the manifest of an artifact that is being written
 *   {U}KEY!file/ATTEMPT/F/N      MiB number N of file F; each MiB has a tag of its own, so that
 *                                files spread over all nodes
 *   {T}!refs                     a hash: refs by name
 *   {T}NAME!note                 a note
 *
 * T is the tag of KEY, or of NAME. A record, its chunks and its line in the index are thus in one
 * slot, and one script changes all of them atomically. A list is therefore correct even while slots
 * move and masters fail, and never scans the whole keyspace as SCAN would: it asks the 512 indexes,
 * many at a time. Keys never expire, and a server that may evict keys is refused.
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_PLACE_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_PLACE_H

#include "store/backends/artifact_manifest.h"
#include "store/backends/cluster/cluster_address.h"
#include "store/backends/cluster/cluster_scripts.h"
#include "store/backends/kept_manifests.h"
#include "store/backends/scratch_space.h"
#include "store/objects/object_store.h"
#include "store/redis/cluster_client.h"

enum {
    CLUSTER_TAG_COUNT = 512,
    CLUSTER_NAME_SIZE = 512,
    CLUSTER_CHUNK_SIZE = 1 << 20,
    /* chunked from this size on: one more round trip to read */
    CLUSTER_INLINE_MAX = 1 << 20,
    CLUSTER_CHUNKS_AT_ONCE = 8,
    CLUSTER_COMMANDS_AT_ONCE = 256,
};

struct cluster_place {
    struct cluster_client *client;
    struct cluster_address address;
    int slot[CLUSTER_TAG_COUNT]; /* [tag]: the slot of each tag */
    struct scratch_space scratch;
    struct kept_manifests manifests;
};

/* The name of a key in Redis. */
struct cluster_name {
    char text[CLUSTER_NAME_SIZE];
};

/* Returns the tag of a key. */
int cluster_tag(const char *key);
/* Returns PREFIX{TAG}KEY!WHAT. */
struct cluster_name cluster_name(const struct cluster_place *place, int tag, const char *key,
                                 const char *what);
struct cluster_command cluster_command(const struct cluster_place *place, int tag,
                                       const struct cluster_words *words);
/* Performs one command. The caller releases `command` whether it fails or not. */
MUST_CHECK enum error_code cluster_perform_one(const struct cluster_place *place,
                                               struct cluster_command *command,
                                               const struct cluster_words *words,
                                               struct error *err);
/* Performs one command whose answer is a number. With `waits` it also waits for a replica. */
MUST_CHECK enum error_code cluster_ask_number(const struct cluster_place *place, int tag,
                                              const struct cluster_words *words, bool waits,
                                              int64_t *number, struct error *err);
/* Reads a value with GET. *found is false if there is none. *value has a NUL after its bytes; the
 * caller frees it with memory_free(). */
MUST_CHECK enum error_code cluster_get_value(const struct cluster_place *place, int tag,
                                             const struct cluster_name *name, char **value,
                                             size_t *size, bool *found, struct error *err);
/* Writes "w" and the bytes, and the line in the index, unless the key has a value (*existed). */
MUST_CHECK enum error_code cluster_put_value(const struct cluster_place *place, const char *key,
                                             const char *what, const char *value, size_t size,
                                             bool waits, bool *existed, struct error *err);

/* --- cluster_records.c --- */

MUST_CHECK enum error_code cluster_record_put(void *state, const char *key,
                                              const struct object_body *body,
                                              enum store_durability durability, bool *existed,
                                              struct error *err);
MUST_CHECK enum error_code cluster_record_discard(void *state, const char *key,
                                                  const struct stored_bytes *seen,
                                                  struct error *err);
/* Removes a record. Succeeds if there is none. */
MUST_CHECK enum error_code cluster_record_remove(struct cluster_place *place, const char *key,
                                                 struct error *err);
/* Removes the chunks of a draft, unless the head of the record exists. */
MUST_CHECK enum error_code cluster_record_drop(const struct cluster_place *place, const char *key,
                                               const char *head_text, const char *draft,
                                               struct error *err);

/* --- cluster_record_reads.c --- */

void cluster_record_get_many(void *state, struct object_get *get, size_t count);

/* --- cluster_memory.c --- */

MUST_CHECK enum error_code cluster_memory_share(void *state, double *share, struct error *err);

/* --- cluster_index.c --- */

MUST_CHECK enum error_code cluster_list_keys(void *state, const char *prefix, const char *after,
                                             store_visitor visit, void *context, struct error *err);

/* --- cluster_artifacts.c --- */

MUST_CHECK enum error_code cluster_artifact_publish(void *state, const char *path, const char *key,
                                                    bool *existed, struct error *err);
MUST_CHECK enum error_code cluster_artifact_files(void *state, const char *key,
                                                  object_file_visitor visit, void *context,
                                                  struct error *err);
MUST_CHECK enum error_code cluster_artifact_read(void *state, const char *key, const char *file,
                                                 uint64_t offset, void *buffer, size_t size,
                                                 size_t *got, struct error *err);
/* Removes an artifact. Succeeds if there is none. */
MUST_CHECK enum error_code cluster_artifact_remove(struct cluster_place *place, const char *key,
                                                   struct error *err);

/* Removes the files of one attempt. */
MUST_CHECK enum error_code cluster_artifact_drop(const struct cluster_place *place, const char *key,
                                                 const char *manifest, const char *attempt,
                                                 struct error *err);

/* --- cluster_drafts.c --- */

/* Notes that an artifact is being written. cluster_draft_end() removes the note once it is
 * published or given up. */
MUST_CHECK enum error_code cluster_draft_put(const struct cluster_place *place, const char *key,
                                             const char *attempt, const char *manifest,
                                             struct error *err);
MUST_CHECK enum error_code cluster_draft_end(const struct cluster_place *place, const char *key,
                                             const char *attempt, struct error *err);
/* Removes values that were begun a day ago or earlier and are still incomplete. */
MUST_CHECK enum error_code cluster_drafts_sweep(struct cluster_place *place, struct error *err);

/* --- cluster_refs.c --- */

MUST_CHECK enum error_code cluster_ref_get(void *state, const char *name, char *text, size_t size,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_set(void *state, const char *name, const char *text,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_exchange(void *state, const char *name, const char *expected,
                                                const char *text, bool *matched, struct error *err);
/* Computes the age from the time that is stored with the ref. */
MUST_CHECK enum error_code cluster_ref_age(void *state, const char *name, int64_t *seconds,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_list(void *state, store_visitor visit, void *context,
                                            struct error *err);
MUST_CHECK enum error_code cluster_note_put(void *state, const char *name, const char *text,
                                            size_t size, struct error *err);
MUST_CHECK enum error_code cluster_note_get(void *state, const char *name, char **text,
                                            size_t *size, struct error *err);

#endif
