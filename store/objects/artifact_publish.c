#include "store/objects/artifact_publish.h"

#include <sys/stat.h>

/* A file or folder stays the same one when it gets another name, so its number says whose it is. */
enum error_code artifact_publish(struct store *store, const char *path, const char *key,
                                 bool *existed, char found[FILE_PATH_SIZE], struct error *err)
{
    struct stat ours = {0}, there = {0};
    *existed = false;
    if (stat(path, &ours) != 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    enum error_code rc = store_publish(store, path, key, err);
    bool is_replay = false;
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &is_replay, err); /* still in its place after success */
    if (rc != ERROR_NONE || is_replay)
        return rc;
    rc = store_artifact(store, key, found, err);
    if (rc != ERROR_NONE)
        return rc;
    if (stat(found, &there) != 0)
        return error_set_errno(err, ERROR_IO, "%s", found);
    *existed = there.st_dev != ours.st_dev || there.st_ino != ours.st_ino;
    return ERROR_NONE;
}
