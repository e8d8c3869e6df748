/*
 * s3_place - an open store in a bucket, for the files that make it up.
 *
 * What lies where, below the store's prefix; no key has a '!', so nothing meets by accident:
 *
 *   !store                    says that a store is here
 *   KEY!record                a record
 *   KEY!artifact              what files an artifact has, and where (artifact_manifest.h); it is there when this is
 *   KEY!files/ATTEMPT/N       the bytes of file N; ATTEMPT is random, so that two who publish do not meet
 *   !switch/NAME!text         a ref
 *   !note/NAME!text           a note
 *
 * The mark stands at the end of each name because SeaweedFS keeps folders: there an object "a" leaves no room for "a/b".
 */
#ifndef STORE_BACKENDS_S3_PLACE_H
#define STORE_BACKENDS_S3_PLACE_H

#include "store/backends/kept_manifests.h"
#include "store/backends/name_list.h"
#include "store/backends/s3_client.h"
#include "store/backends/scratch_space.h"
#include "store/objects/object_store.h"

struct s3_place {
    struct s3_client *client;
    struct scratch_space scratch;
    struct kept_manifests manifests;
};

/* --- s3_transfer.c: objects of any size --- */

/* Bytes on their way in, read from first to last. */
struct s3_source {
    enum error_code (*read)(void *context, void *to, size_t size, struct error *err);
    void *context;
    uint64_t size;
};

/* Puts an object: in one request, or, when it is large, in parts of which some are on their way side by side. It is there whole or
 * not at all. `if_absent`: unless there is one (*existed; it stays). */
MUST_CHECK enum error_code s3_put(struct s3_place *place, const char *object,
                                  const struct s3_source *source, bool if_absent, bool *existed,
                                  struct error *err);
/* The whole of each; large ones in ranges, side by side. */
void s3_get_objects(struct s3_place *place, const char (*object)[S3_OBJECT_SIZE],
                    struct object_get *get, size_t count);
/* Bytes offset .. offset + size of an object that has them. */
MUST_CHECK enum error_code s3_get_bytes(struct s3_place *place, const char *object, uint64_t offset,
                                        void *to, size_t size, struct error *err);
/* One that is not there is fine. */
MUST_CHECK enum error_code s3_delete(struct s3_place *place, const char *object, struct error *err);

/* --- s3_list.c --- */

/* Visits the names that begin with `prefix`, without it, in the order of their bytes. All of them are read before the first is
 * visited: servers that keep folders list them in another order. */
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
/* One that is not there is fine. */
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
