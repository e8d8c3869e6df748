/* npz_folder - the arrays of an archive, unpacked into the builder's scratch space, by name. */
#ifndef STAGES_INGEST_FORMATS_SHARED_NPZ_FOLDER_H
#define STAGES_INGEST_FORMATS_SHARED_NPZ_FOLDER_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stdint.h>

enum { NPZ_SHAPE = 2 };

struct npz_folder {
    const char *archive; /* borrowed, for messages */
    char path[FILE_PATH_SIZE];
};

/* Unpacks the arrays of `archive` whose names are in `wanted`, NULL-terminated, into a folder
 * called `name`. Arrays that the archive lacks are skipped. Fails: as npz_members_unpack(). */
MUST_CHECK enum error_code npz_folder_open(struct npz_folder *folder, const char *archive,
                                           const char *name, const char *const *wanted,
                                           struct dataset_builder *builder, struct error *err);
/* Does the same for all arrays. */
MUST_CHECK enum error_code npz_folder_open_all(struct npz_folder *folder, const char *archive,
                                               const char *name, struct dataset_builder *builder,
                                               struct error *err);
/* Replaces, in the message of a failure, the folder that the archive was unpacked into by the
 * user's archive: "a.npz/labels.npy". A folder that was not opened ({0}) changes nothing. Returns
 * `rc`. */
enum error_code npz_folder_blame(const struct npz_folder *folder, enum error_code rc,
                                 struct error *err);
/* Writes <folder>/<prefix><name>.npy to `path`; "" when there is no such array. */
MUST_CHECK enum error_code npz_folder_find(const struct npz_folder *folder, const char *prefix,
                                           const char *name, char path[FILE_PATH_SIZE],
                                           struct error *err);
/* Does the same for an array that must be there. Fails: ERROR_INPUT naming archive and array. */
MUST_CHECK enum error_code npz_folder_need(const struct npz_folder *folder, const char *prefix,
                                           const char *name, char path[FILE_PATH_SIZE],
                                           struct error *err);
/* Reads the array `name` of two numbers: rows and columns. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code npz_folder_shape(const struct npz_folder *folder, const char *prefix,
                                            int64_t shape[NPZ_SHAPE], struct error *err);

#endif
