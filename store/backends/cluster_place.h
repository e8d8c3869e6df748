/*
 * cluster_place - an open store in a Redis Cluster, for the files that make it up.
 *
 * Every key of the store has one of 512 tags, and so a slot: PREFIX{TAG}NAME. What lies where; no key has a '!', so nothing meets by
 * accident:
 *
 *   {T}!store                    says that a store is here
 *   {T}KEY!record                a record: "w" and its bytes, or "c HASH SIZE" of one that lies in chunks
 *   {T}KEY!chunk/HASH/N          MiB number N of it; HASH is of its content, so equal ones that are put side by side share them
 *   {T}!index                    a sorted set: "KEY!record" and "KEY!artifact" of all keys with this tag
 *   {T}!drafts                   a sorted set: chunks that were begun, by the server's time; gone when the head is put
 *   {T}KEY!artifact              "w" and what files an artifact has (artifact_manifest.h); it is there when this is
 *   {T}KEY!draft/ATTEMPT         the same, of one that is on its way
 *   {U}KEY!file/ATTEMPT/F/N      MiB number N of its file F: each has a tag of its own, so files spread over all nodes
 *   {T}!refs                     a hash: refs by name
 *   {T}NAME!note                 a note
 *
 * T is the tag of KEY, or of NAME. So a record, its chunks and its line in the index are in one slot, which one script changes in one
 * step: a list shows what is there, also while slots move and masters fail, and never reads the whole keyspace as SCAN would. A list asks
 * the 512 indexes, many at a time. Nothing ever expires, and a server that may evict is refused.
 */
#ifndef STORE_BACKENDS_CLUSTER_PLACE_H
#define STORE_BACKENDS_CLUSTER_PLACE_H

#include "store/backends/artifact_manifest.h"
#include "store/backends/cluster_address.h"
#include "store/backends/cluster_scripts.h"
#include "store/backends/kept_manifests.h"
#include "store/backends/scratch_space.h"
#include "store/objects/object_store.h"
#include "store/redis/cluster_client.h"

enum {
    CLUSTER_TAG_COUNT = 512,
    CLUSTER_NAME_SIZE = 512,
    CLUSTER_CHUNK_SIZE = 1 << 20,
    CLUSTER_INLINE_MAX = 1 << 20, /* of this size on in chunks: one way more to read it */
    CLUSTER_CHUNKS_AT_ONCE = 8,
    CLUSTER_COMMANDS_AT_ONCE = 256,
};

struct cluster_place {
    struct cluster_client *client;
    struct cluster_address address;
    int slot[CLUSTER_TAG_COUNT]; /* of each tag */
    struct scratch_space scratch;
    struct kept_manifests manifests;
};

/* The name of a key in Redis. */
struct cluster_name {
    char text[CLUSTER_NAME_SIZE];
};

int cluster_tag(const char *key);
/* PREFIX{TAG}KEY!WHAT */
struct cluster_name cluster_name(const struct cluster_place *place, int tag, const char *key,
                                 const char *what);
struct cluster_command cluster_command(const struct cluster_place *place, int tag,
                                       const struct cluster_words *words);
/* One command; release it. *err is its. */
MUST_CHECK enum error_code cluster_perform_one(const struct cluster_place *place,
                                               struct cluster_command *command,
                                               const struct cluster_words *words,
                                               struct error *err);
/* ... whose answer is a number. */
MUST_CHECK enum error_code cluster_ask_number(const struct cluster_place *place, int tag,
                                              const struct cluster_words *words, bool waits,
                                              int64_t *number, struct error *err);
/* GET. *found false: there is none. *value: memory_free(), with a NUL behind it. */
MUST_CHECK enum error_code cluster_get_value(const struct cluster_place *place, int tag,
                                             const struct cluster_name *name, char **value,
                                             size_t *size, bool *found, struct error *err);
/* Puts "w" and the bytes unless there is a value, and the line in the index. */
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
/* One that is not there is fine. */
MUST_CHECK enum error_code cluster_record_remove(struct cluster_place *place, const char *key,
                                                 struct error *err);
/* The chunks of a draft go, unless its head is there. */
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
/* One that is not there is fine. */
MUST_CHECK enum error_code cluster_artifact_remove(struct cluster_place *place, const char *key,
                                                   struct error *err);

/* The files of one attempt go. */
MUST_CHECK enum error_code cluster_artifact_drop(const struct cluster_place *place, const char *key,
                                                 const char *manifest, const char *attempt,
                                                 struct error *err);

/* --- cluster_drafts.c --- */

/* An artifact begins to be put, or is put or given up. */
MUST_CHECK enum error_code cluster_draft_put(const struct cluster_place *place, const char *key,
                                             const char *attempt, const char *manifest,
                                             struct error *err);
MUST_CHECK enum error_code cluster_draft_end(const struct cluster_place *place, const char *key,
                                             const char *attempt, struct error *err);
/* Removes what was begun a day ago and is not whole. */
MUST_CHECK enum error_code cluster_drafts_sweep(struct cluster_place *place, struct error *err);

/* --- cluster_refs.c --- */

MUST_CHECK enum error_code cluster_ref_get(void *state, const char *name, char *text, size_t size,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_set(void *state, const char *name, const char *text,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_exchange(void *state, const char *name, const char *expected,
                                                const char *text, bool *matched, struct error *err);
/* By the time in the ref's word. */
MUST_CHECK enum error_code cluster_ref_age(void *state, const char *name, int64_t *seconds,
                                           struct error *err);
MUST_CHECK enum error_code cluster_ref_list(void *state, store_visitor visit, void *context,
                                            struct error *err);
MUST_CHECK enum error_code cluster_note_put(void *state, const char *name, const char *text,
                                            size_t size, struct error *err);
MUST_CHECK enum error_code cluster_note_get(void *state, const char *name, char **text,
                                            size_t *size, struct error *err);

#endif
