#include "common/formats/arrays/npz_members.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/arrays/npy_header.h"
#include "common/formats/bytes/zip_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18, MEMBER_NAME_SIZE = ZIP_NAME_SIZE - 1 };

struct unpacking { /* state of one run */
    const char *path, *folder;
    npz_chooser choose;
    void *context;
    struct zip_archive archive;
    uint8_t *piece;   /* [PIECE_BYTES] */
    uint64_t members; /* number of arrays, chosen or not */
};

/* Gets "labels" from "labels.npy". */
static bool array_name(const char *member, char name[MEMBER_NAME_SIZE])
{
    const size_t size = member ? strlen(member) : 0;
    if (size <= 4 || size >= MEMBER_NAME_SIZE || strcmp(member + size - 4, ".npy") != 0 ||
        member[0] == '.' || strchr(member, '/') || strchr(member, '\\'))
        return false;
    memcpy(name, member, size - 4);
    name[size - 4] = '\0';
    return true;
}

/* Returns the bytes of the whole array according to its header, which is in the first piece. */
static enum error_code whole_size(const struct unpacking *u, const char *member, size_t size,
                                  uint64_t *bytes, struct error *err)
{
    struct npy_header header;
    char where[FILE_PATH_SIZE];
    enum error_code rc = file_path(where, err, "%s: %s", u->path, member);
    if (rc == ERROR_NONE)
        rc = npy_header_parse_start(u->piece, size, where, &header, bytes, err);
    return rc;
}

static enum error_code copy_member(struct unpacking *u, const char *member, int fd,
                                   const char *target, struct error *err)
{
    size_t got = 0;
    uint64_t expected = 0, done = 0;
    enum error_code rc = zip_archive_read(&u->archive, u->piece, PIECE_BYTES, &got, err);
    if (rc == ERROR_NONE)
        rc = whole_size(u, member, got, &expected, err);
    while (rc == ERROR_NONE && got > 0) {
        done += got;
        if (done > expected)
            break;
        rc = file_write_all(fd, u->piece, got, target, err);
        if (rc == ERROR_NONE)
            rc = zip_archive_read(&u->archive, u->piece, PIECE_BYTES, &got, err);
    }
    if (rc == ERROR_NONE && done != expected)
        return error_set(err, ERROR_INPUT,
                         "%s: %s: expected %" PRIu64 " bytes as its header says, found %s%" PRIu64,
                         u->path, member, expected, done > expected ? "at least " : "", done);
    return rc;
}

static enum error_code unpack_member(struct unpacking *u, const char *member, struct error *err)
{
    char name[MEMBER_NAME_SIZE], target[FILE_PATH_SIZE];
    if (!array_name(member, name))
        return ERROR_NONE;
    u->members++;
    if (u->choose && !u->choose(u->context, name))
        return ERROR_NONE;
    enum error_code rc = file_path(target, err, "%s/%s", u->folder, member);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, ERROR_INPUT, "%s: the array %s is there twice", u->path, name);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", target);
    rc = copy_member(u, member, fd, target, err);
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s", target);
    return rc;
}

typedef enum error_code (*member_visitor)(struct unpacking *u, const char *member, void *context,
                                          bool *is_last, struct error *err);

/* Opens and visits the members one after another, until `visit` says that one is the last. A member
 * that was read to its end has the checksum of the archive. */
static enum error_code visit_members(struct unpacking *u, member_visitor visit, void *context,
                                     struct error *err)
{
    bool is_last = false, found = true;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && !is_last) {
        rc = zip_archive_next(&u->archive, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = visit(u, u->archive.member, context, &is_last, err);
        if (rc == ERROR_NONE)
            rc = zip_archive_finish(&u->archive, err);
    }
    return rc;
}

static enum error_code visit_array(struct unpacking *u, const char *member, void *context,
                                   bool *is_last, struct error *err)
{
    (void)context;
    *is_last = false;
    return unpack_member(u, member, err);
}

static enum error_code unpack_all(struct unpacking *u, struct error *err)
{
    const enum error_code rc = visit_members(u, visit_array, NULL, err);
    if (rc == ERROR_NONE && u->members == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: expected an archive of NumPy arrays (numpy.savez), found no array",
                         u->path);
    return rc;
}

/* Reads the text after the header of a text array, whose length is in bytes 8 and 9 (version 1). */
static enum error_code take_text(struct unpacking *u, const char *member, char *out, size_t size,
                                 struct error *err)
{
    size_t got = 0;
    must(u->piece);
    const enum error_code rc = zip_archive_read(&u->archive, u->piece, PIECE_BYTES, &got, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t begin = got < 10 ? got : 10U + u->piece[8] + ((size_t)u->piece[9] << 8);
    if (got <= begin || got - begin >= size || memcmp(u->piece, "\x93NUMPY\x01", 7) != 0)
        return error_set(err, ERROR_INPUT, "%s: %s: expected a word of less than %zu bytes",
                         u->path, member, size);
    memcpy(out, u->piece + begin, got - begin);
    out[got - begin] = '\0';
    return ERROR_NONE;
}

struct wanted_text {
    const char *name;
    char *out;
    size_t size;
    bool found;
};

static enum error_code visit_text(struct unpacking *u, const char *member, void *context,
                                  bool *is_last, struct error *err)
{
    struct wanted_text *wanted = context;
    char found[MEMBER_NAME_SIZE];
    if (!array_name(member, found) || strcmp(found, wanted->name) != 0)
        return ERROR_NONE;
    wanted->found = *is_last = true;
    return take_text(u, member, wanted->out, wanted->size, err);
}

static enum error_code find_text(struct unpacking *u, const char *name, char *out, size_t size,
                                 struct error *err)
{
    struct wanted_text wanted = {.name = name, .out = out, .size = size};
    out[0] = '\0';
    const enum error_code rc = visit_members(u, visit_text, &wanted, err);
    return rc == ERROR_NONE && !wanted.found
               ? error_set(err, ERROR_INPUT, "%s: expected an array %s, found none", u->path, name)
               : rc;
}

static enum error_code open_archive(struct unpacking *u, struct error *err)
{
    const enum error_code rc =
        zip_archive_open(&u->archive, u->path, "an archive of NumPy arrays (numpy.savez)", err);
    return rc == ERROR_NONE ? memory_new(&u->piece, PIECE_BYTES, "a piece of an archive", err) : rc;
}

enum error_code npz_members_unpack(const char *path, const char *folder, npz_chooser choose,
                                   void *context, struct error *err)
{
    struct unpacking u = {.path = path, .folder = folder, .choose = choose, .context = context};
    enum error_code rc = open_archive(&u, err);
    if (rc == ERROR_NONE)
        rc = unpack_all(&u, err);
    zip_archive_close(&u.archive);
    memory_free(u.piece);
    return rc;
}

enum error_code npz_members_text(const char *path, const char *name, char *out, size_t size,
                                 struct error *err)
{
    struct unpacking u = {.path = path};
    enum error_code rc = open_archive(&u, err);
    if (rc == ERROR_NONE)
        rc = find_text(&u, name, out, size, err);
    zip_archive_close(&u.archive);
    memory_free(u.piece);
    return rc;
}
