#include "common/files/text_file.h"

#include "common/files/file.h"

#include <unistd.h>

static enum error_code write_all(FILE *file, const char *path, text_writer write, void *context,
                                 struct error *err)
{
    enum error_code rc = write(context, file, err);
    if (rc == ERROR_NONE && (fflush(file) || ferror(file) || fsync(fileno(file))))
        rc = error_set_errno(err, ERROR_IO, "%s: cannot be written", path);
    if (fclose(file) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s: cannot be written", path);
    return rc;
}

enum error_code text_file_write(const char *path, text_writer write, void *context,
                                struct error *err)
{
    char temporary[FILE_PATH_SIZE];
    int fd = -1;
    enum error_code rc = file_create_temporary(path, temporary, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        rc = error_set_errno(err, ERROR_IO, "%s", temporary);
        (void)close(fd);
    } else
        rc = write_all(file, temporary, write, context, err);
    if (rc == ERROR_NONE)
        rc = file_rename(temporary, path, err);
    if (rc != ERROR_NONE)
        (void)unlink(temporary); /* the earlier failure is the one to report */
    return rc;
}
