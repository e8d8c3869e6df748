/*
 * s3_place - an open store in a bucket, and the functions that its files share.
 *
 * The objects below the store's prefix. No key contains a '!', so that these names cannot collide:
 *
 *   !store                    marks that a store is here
 *   KEY!record                a record
 *   KEY!artifact              the manifest (artifact_manifest.h); the artifact exists when it does
 *   KEY!files/ATTEMPT/N       the bytes of file N; ATTEMPT is random, so that two publishers never
 *                             overwrite each other
 *   !switch/NAME!text         a ref
 *   !note/NAME!text           a note
 *
 * The mark comes last in each name because SeaweedFS keeps folders: it cannot hold both an object
 * "a" and an object "a/b".
 */
#ifndef STORE_BACKENDS_S3_S3_PLACE_H
#define STORE_BACKENDS_S3_S3_PLACE_H

#include "store/backends/kept_manifests.h"
#include "store/backends/name_list.h"
#include "store/backends/s3/s3_client.h"
#include "store/backends/scratch_space.h"
#include "store/objects/object_store.h"

struct s3_place {
    struct s3_client *client;
    struct scratch_space scratch;
    struct kept_manifests manifests;
};

/* --- s3_transfer.c: objects of any size --- */

/* A source of bytes, read from first to last. */
struct s3_source {
    enum error_code (*read)(void *context, void *to, size_t size, struct error *err);
    void *context;
    uint64_t size;
};

/* Puts an object whole or not at all: in one request, or, if it is large, in parts, several of
 * which are sent at the same time. With `if_absent`, an object that exists is kept (*existed). */
MUST_CHECK enum error_code s3_put(struct s3_place *place, const char *object,
                                  const struct s3_source *source, bool if_absent, bool *existed,
                                  struct error *err);
/* Reads each object whole. Large objects are read in ranges, several at the same time. */
void s3_get_objects(struct s3_place *place, const char (*object)[S3_OBJECT_SIZE],
                    struct object_get *get, size_t count);
/* Reads bytes offset .. offset + size of an object, which must have them. */
MUST_CHECK enum error_code s3_get_bytes(struct s3_place *place, const char *object, uint64_t offset,
                                        void *to, size_t size, struct error *err);
/* Removes an object. Succeeds if there is none. */
MUST_CHECK enum error_code s3_delete(struct s3_place *place, const char *object, struct error *err);

/* --- s3_list.c --- */

/* Visits the names that begin with `prefix`, without the prefix, in the order of their bytes. Reads
 * all names before it visits the first, because servers that keep folders list them in another
 * order. */
MUST_CHECK enum error_code s3_list_names(struct s3_place *place, const char *prefix,
                                         name_visitor visit, void *context, struct error *err);
MUST_CHECK enum error_code s3_list_keys(void *state, const char *prefix, const char *after,
                                        store_visitor visit, void *context, struct error *err);

/* --- s3_artifacts.c --- */

MUST_CHECK enum error_code s3_artifact_publish(void *state, const char *path, const char *key,
                                               bool *existed, struct error *err);
MUST_CHECK enum error_code s3_artifact_files(void *state, const char *key,
                                             object_file_visitor visit, void *context,
                                             struct error *err);
MUST_CHECK enum error_code s3_artifact_read(void *state, const char *key, const char *file,
                                            uint64_t offset, void *buffer, size_t size, size_t *got,
                                            struct error *err);
/* Removes an artifact. Succeeds if there is none. */
MUST_CHECK enum error_code s3_artifact_remove(struct s3_place *place, const char *key,
                                              struct error *err);

/* --- s3_refs.c --- */

MUST_CHECK enum error_code s3_ref_get(void *state, const char *name, char *text, size_t size,
                                      struct error *err);
MUST_CHECK enum error_code s3_ref_set(void *state, const char *name, const char *text,
                                      struct error *err);
MUST_CHECK enum error_code s3_ref_exchange(void *state, const char *name, const char *expected,
                                           const char *text, bool *matched, struct error *err);
MUST_CHECK enum error_code s3_ref_list(void *state, store_visitor visit, void *context,
                                       struct error *err);
MUST_CHECK enum error_code s3_note_put(void *state, const char *name, const char *text, size_t size,
                                       struct error *err);
MUST_CHECK enum error_code s3_note_get(void *state, const char *name, char **text, size_t *size,
                                       struct error *err);

#endif
