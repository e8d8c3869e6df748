#include "pipelines/export/export_target.h"

#include "common/base/memory.h"
#include "pipelines/export/made_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_stdout(const struct stat *status)
{
    struct stat own;
    return fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == status->st_dev &&
           own.st_ino == status->st_ino;
}

static enum error_code use_temporary(struct export_target *target, struct error *err)
{
    const char *base = getenv("TMPDIR");
    enum error_code rc =
        file_path(target->folder, err, "%s/graphmill-export-XXXXXX", base ? base : "/tmp");
    if (rc == ERROR_NONE && !mkdtemp(target->folder))
        rc = error_set_errno(err, ERROR_IO, "folder %s cannot be made", target->folder);
    return rc == ERROR_NONE ? file_path(target->path, err, "%s/export", target->folder) : rc;
}

enum error_code export_target_open(struct export_target *target, const char *output, bool force,
                                   const char *words, struct error *err)
{
    struct stat status;
    char real[PATH_MAX];
    *target = (struct export_target){.output = output};
    if (stat(output, &status) != 0)
        return errno == ENOENT ? file_path(target->path, err, "%s", output)
                               : error_set_errno(err, ERROR_IO, "--output %s", output);
    target->is_stdout = is_own_stdout(&status);
    if (target->is_stdout || S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))
        return use_temporary(target, err);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID,
                         "--output %s is %s, expected a file, a pipe or a character device", output,
                         S_ISDIR(status.st_mode)   ? "a folder"
                         : S_ISBLK(status.st_mode) ? "a block device"
                                                   : "a socket");
    const enum error_code rc = force ? ERROR_NONE : made_file_check(output, words, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!realpath(output, real))
        return error_set_errno(err, ERROR_IO, "--output %s", output);
    return file_path(target->path, err, "%s", real);
}

static enum error_code pass_on(const struct export_target *target, struct error *err)
{
    char *data = NULL;
    size_t size = 0;
    enum error_code rc = file_read(target->path, 0, &data, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    const int fd =
        target->is_stdout ? dup(STDOUT_FILENO) : open(target->output, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        rc = error_set_errno(err, ERROR_IO, "--output %s", target->output);
    if (rc == ERROR_NONE)
        rc = file_write_all(fd, data, size, target->output, err);
    if (fd >= 0 && close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "--output %s", target->output);
    memory_free(data);
    return rc;
}

enum error_code export_target_close(struct export_target *target, bool written, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!target->folder[0]) {
        if (written)
            made_file_mark(target->path);
        return rc;
    }
    if (written)
        rc = pass_on(target, err);
    const enum error_code removed = file_remove_all(target->folder, rc == ERROR_NONE ? err : NULL);
    return rc == ERROR_NONE ? removed : rc;
}
