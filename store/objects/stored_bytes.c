#include "store/objects/stored_bytes.h"

#include "common/base/memory.h"
#include "common/files/file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t alignment = 64;

/* Allocates aligned bytes. The pointer of the heap block is stored just before them, so that they
 * alone suffice to free it. */
enum error_code stored_bytes_new(struct stored_bytes *out, size_t size, struct error *err)
{
    uint8_t *block = NULL;
    if (size > SIZE_MAX - 2 * alignment)
        return error_set(err, ERROR_NO_MEMORY, "no memory for a record of %zu bytes", size);
    const enum error_code rc = memory_new(&block, size + 2 * alignment, "a record", err);
    if (rc != ERROR_NONE)
        return rc;
    uint8_t *data = block + sizeof block;
    data += (alignment - (uintptr_t)data % alignment) % alignment;
    memcpy(data - sizeof block, &block, sizeof block);
    *out = (struct stored_bytes){.data = data, .size = size};
    return ERROR_NONE;
}

void stored_bytes_release(struct stored_bytes *bytes)
{
    if (bytes->data && bytes->mapped) {
        (void)munmap(bytes->data, bytes->size);
    } else if (bytes->data) {
        uint8_t *block = NULL;
        memcpy(&block, bytes->data - sizeof block, sizeof block);
        memory_free(block);
    }
    *bytes = (struct stored_bytes){0};
}

static enum error_code map_file(struct stored_bytes *out, int fd, size_t size, const char *path,
                                struct error *err)
{
    /* The caller hashes all bytes at once, so one call maps all pages instead of a page fault for
     * each. */
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        return error_set_errno(err, ERROR_IO, "%s cannot be mapped", path);
    *out = (struct stored_bytes){.data = data, .size = size, .mapped = true};
    return ERROR_NONE;
}

static enum error_code read_file(struct stored_bytes *out, int fd, size_t size, const char *path,
                                 struct error *err)
{
    enum error_code rc = stored_bytes_new(out, size, err);
    size_t at = 0;
    while (rc == ERROR_NONE && at < size) {
        const ssize_t n = read(fd, out->data + at, size - at);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            rc = error_set_errno(err, ERROR_IO, "%s cannot be read", path);
        else if (n > 0)
            at += (size_t)n;
    }
    if (rc != ERROR_NONE)
        stored_bytes_release(out);
    else
        out->size = at; /* fewer than the file's size: the caller's checks notice it */
    return rc;
}

enum error_code stored_bytes_read(struct stored_bytes *out, const char *path, bool may_map,
                                  struct error *err)
{
    struct stat status;
    int fd = -1;
    *out = (struct stored_bytes){0};
    enum error_code rc = file_open(path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    if (fstat(fd, &status) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s", path);
    else if (may_map && status.st_size >= STORED_BYTES_MAP_FROM)
        rc = map_file(out, fd, (size_t)status.st_size, path, err);
    else
        rc = read_file(out, fd, (size_t)status.st_size, path, err);
    (void)close(fd);
    return rc;
}
