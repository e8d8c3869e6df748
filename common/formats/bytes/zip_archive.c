#include "common/formats/bytes/zip_archive.h"

#include "common/files/file.h"

#include <minizip/unzip.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES_MAX = 1 << 30 /* minizip counts in int */ };

static enum error_code broken(const struct zip_archive *archive, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s%s%s: the archive is damaged, or cut off", archive->path,
                     archive->member[0] ? ": " : "", archive->member);
}

enum error_code zip_archive_open(struct zip_archive *archive, const char *path, const char *what,
                                 struct error *err)
{
    int fd = -1;
    *archive = (struct zip_archive){.path = path};
    /* file_open() refuses a FIFO, which minizip would open and wait for */
    const enum error_code rc = file_open(path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    (void)close(fd);
    archive->handle = unzOpen64(path);
    if (!archive->handle)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %s, found something else, or one that is cut off", path,
                         what);
    return ERROR_NONE;
}

void zip_archive_close(struct zip_archive *archive)
{
    if (archive->handle && archive->has_member)
        (void)unzCloseCurrentFile(archive->handle);
    if (archive->handle)
        (void)unzClose(archive->handle);
    *archive = (struct zip_archive){0};
}

enum error_code zip_archive_finish(struct zip_archive *archive, struct error *err)
{
    if (!archive->has_member)
        return ERROR_NONE;
    archive->has_member = false;
    return unzCloseCurrentFile(archive->handle) == UNZ_OK ? ERROR_NONE : broken(archive, err);
}

static enum error_code open_member(struct zip_archive *archive, struct error *err)
{
    memset(archive->member, 0, sizeof archive->member);
    if (unzGetCurrentFileInfo64(archive->handle, NULL, archive->member, sizeof archive->member - 1,
                                NULL, 0, NULL, 0) != UNZ_OK ||
        unzOpenCurrentFile(archive->handle) != UNZ_OK)
        return broken(archive, err);
    archive->has_member = true;
    return ERROR_NONE;
}

enum error_code zip_archive_next(struct zip_archive *archive, bool *found, struct error *err)
{
    *found = false;
    const enum error_code rc = zip_archive_finish(archive, err);
    if (rc != ERROR_NONE)
        return rc;
    const int state =
        archive->is_started ? unzGoToNextFile(archive->handle) : unzGoToFirstFile(archive->handle);
    archive->is_started = true;
    archive->member[0] = '\0';
    if (state == UNZ_END_OF_LIST_OF_FILE)
        return ERROR_NONE;
    *found = state == UNZ_OK;
    return *found ? open_member(archive, err) : broken(archive, err);
}

enum error_code zip_archive_find(struct zip_archive *archive, const char *name, bool *found,
                                 struct error *err)
{
    *found = false;
    const enum error_code rc = zip_archive_finish(archive, err);
    if (rc != ERROR_NONE)
        return rc;
    archive->is_started = true;
    archive->member[0] = '\0';
    const int state = unzLocateFile(archive->handle, name, 1);
    if (state == UNZ_END_OF_LIST_OF_FILE)
        return ERROR_NONE;
    *found = state == UNZ_OK;
    return *found ? open_member(archive, err) : broken(archive, err);
}

enum error_code zip_archive_read(struct zip_archive *archive, void *out, size_t size, size_t *got,
                                 struct error *err)
{
    *got = 0;
    while (*got < size) {
        const size_t wanted = size - *got < READ_BYTES_MAX ? size - *got : READ_BYTES_MAX;
        const int part =
            unzReadCurrentFile(archive->handle, (uint8_t *)out + *got, (unsigned)wanted);
        if (part < 0)
            return broken(archive, err);
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return ERROR_NONE;
}
