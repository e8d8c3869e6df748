#include "stages/ingest/formats/shared/npz_folder.h"

#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/npz_members.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_wanted(void *context, const char *name)
{
    for (const char *const *wanted = *(const char *const **)context; *wanted; wanted++)
        if (strcmp(*wanted, name) == 0)
            return true;
    return false;
}

enum error_code npz_folder_open(struct npz_folder *folder, const char *archive, const char *name,
                                const char *const *wanted, struct dataset_builder *builder,
                                struct error *err)
{
    folder->archive = archive;
    const enum error_code rc = dataset_builder_folder(builder, name, folder->path, err);
    return rc == ERROR_NONE ? npz_members_unpack(archive, folder->path, is_wanted, &wanted, err)
                            : rc;
}

enum error_code npz_folder_open_all(struct npz_folder *folder, const char *archive,
                                    const char *name, struct dataset_builder *builder,
                                    struct error *err)
{
    folder->archive = archive;
    const enum error_code rc = dataset_builder_folder(builder, name, folder->path, err);
    return rc == ERROR_NONE ? npz_members_unpack(archive, folder->path, NULL, NULL, err) : rc;
}

enum error_code npz_folder_blame(const struct npz_folder *folder, enum error_code rc,
                                 struct error *err)
{
    if (rc != ERROR_NONE && folder->path[0])
        (void)error_rename(err, folder->path, folder->archive);
    return rc;
}

enum error_code npz_folder_find(const struct npz_folder *folder, const char *prefix,
                                const char *name, char path[FILE_PATH_SIZE], struct error *err)
{
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/%s%s.npy", folder->path, prefix, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (rc == ERROR_NONE && !found)
        path[0] = '\0';
    return rc;
}

enum error_code npz_folder_need(const struct npz_folder *folder, const char *prefix,
                                const char *name, char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = npz_folder_find(folder, prefix, name, path, err);
    if (rc == ERROR_NONE && !path[0])
        return error_set(err, ERROR_INPUT, "%s: expected an array %s%s, found none",
                         folder->archive, prefix, name);
    return rc;
}

enum error_code npz_folder_shape(const struct npz_folder *folder, const char *prefix,
                                 int64_t shape[NPZ_SHAPE], struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct npy_reader reader = {0};
    enum error_code rc = npz_folder_need(folder, prefix, "shape", path, err);
    if (rc == ERROR_NONE)
        rc = npy_reader_open(&reader, path, err);
    if (rc == ERROR_NONE && reader.header.element_count != NPZ_SHAPE)
        rc = error_set(err, ERROR_INPUT,
                       "%s: %sshape: expected 2 numbers, rows and columns, found %" PRIu64,
                       folder->archive, prefix, reader.header.element_count);
    if (rc == ERROR_NONE)
        rc = npy_reader_int64(&reader, 0, NPZ_SHAPE, shape, err);
    if (rc == ERROR_NONE && (shape[0] < 1 || shape[1] < 1))
        rc = error_set(err, ERROR_INPUT,
                       "%s: %sshape: expected a matrix with rows and columns, found %" PRId64
                       " x %" PRId64,
                       folder->archive, prefix, shape[0], shape[1]);
    npy_reader_close(&reader);
    return rc;
}
