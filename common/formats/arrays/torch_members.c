#include "common/formats/arrays/torch_members.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/arrays/pickle_arrays.h"
#include "common/formats/bytes/zip_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 18,
    NPY_START = 256, /* bytes of the header to write */
    KEY_SIZE = 128,
    OLD_PICKLES = 3, /* before the pickle of the dictionary */
    STORAGE_PREFIX = 8
};

struct unpacking { /* state of one run */
    const char *path, *folder;
    int fd_plus_one;            /* the file, in the older formats */
    uint64_t at, size;          /* position and size of that file */
    struct zip_archive archive; /* in the newer format */
    bool is_zip, is_old;
    char prefix[ZIP_NAME_SIZE];   /* of the names of members: "<any>/" */
    char where[FILE_PATH_SIZE];   /* position of the pickle, for messages */
    char scratch[FILE_PATH_SIZE]; /* file with the bytes of NumPy's arrays */
    int scratch_fd_plus_one;
    struct pickle_arrays arrays;
    struct pickle_arrays names; /* names of storages, in the order of an older file */
    uint8_t *piece;             /* [PIECE_BYTES] */
};

/* --- the file --- */

static enum error_code read_file(void *context, void *out, size_t size, size_t *got,
                                 struct error *err)
{
    struct unpacking *u = context;
    const uint64_t left = u->size - u->at;
    *got = size < left ? size : (size_t)left;
    const enum error_code rc = file_read_at(u->fd_plus_one - 1, out, *got, u->at, u->path, err);
    u->at += *got;
    return rc;
}

static enum error_code read_member(void *context, void *out, size_t size, size_t *got,
                                   struct error *err)
{
    struct unpacking *u = context;
    return zip_archive_read(&u->archive, out, size, got, err);
}

static enum error_code read_pickle(struct unpacking *u, struct pickle_arrays *out,
                                   struct error *err)
{
    const uint64_t begin = u->at;
    struct pickle_source source = {.name = u->where,
                                   .context = u,
                                   .read = u->is_zip ? read_member : read_file,
                                   .scratch = u->scratch_fd_plus_one - 1,
                                   .scratch_path = u->scratch};
    off_t end = lseek(source.scratch, 0, SEEK_END);
    if (end < 0)
        return error_set_errno(err, ERROR_IO, "%s", u->scratch);
    source.scratch_size = (uint64_t)end;
    if (!u->is_zip) /* an older file has several pickles */
        (void)snprintf(u->where, sizeof u->where, begin ? "%s: the pickle at byte %" PRIu64 : "%s",
                       u->path, begin);
    const enum error_code rc = pickle_arrays_read(out, &source, err);
    u->at = begin + out->size;
    return rc;
}

/* --- what is in it --- */

static const struct pickle_value *root_of(const struct pickle_arrays *arrays)
{
    return &arrays->value[arrays->root];
}

/* Returns the value of a text key; NULL if there is none. */
static const struct pickle_value *look_up(const struct pickle_arrays *arrays, const char *key)
{
    const struct pickle_value *of = root_of(arrays);
    for (uint32_t at = of->head; at; at = arrays->item[arrays->item[at - 1].next - 1].next) {
        const struct pickle_value *name = &arrays->value[arrays->item[at - 1].value];
        if (name->kind == PICKLE_TEXT && strcmp(pickle_arrays_text(arrays, name), key) == 0)
            return &arrays->value[arrays->item[arrays->item[at - 1].next - 1].value];
    }
    return NULL;
}

static enum error_code refuse(const struct unpacking *u, uint64_t where, const char *expected,
                              const char *found, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s: byte %" PRIu64 ": expected %s, found %s", u->where,
                     where, expected, found);
}

/* Skips the rest of the three pickles before the dictionary of an older file; the first was
 * read. */
static enum error_code pass_older_start(struct unpacking *u, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 1; rc == ERROR_NONE && i < OLD_PICKLES; i++) {
        pickle_arrays_release(&u->arrays);
        rc = read_pickle(u, &u->arrays, err);
        if (rc != ERROR_NONE)
            break;
        const struct pickle_value *root = root_of(&u->arrays);
        const struct pickle_value *order =
            root->kind == PICKLE_DICTIONARY ? look_up(&u->arrays, "little_endian") : NULL;
        if (i == 1 && (root->kind != PICKLE_INTEGER || root->number != 1001))
            rc = refuse(u, 0, "version 1001 of torch's older files", pickle_kind_name(root->kind),
                        err);
        if (i == 2 && (!order || order->kind != PICKLE_BOOL || order->number != 1))
            rc = refuse(u, 0, "numbers in the byte order of this machine (little_endian: True)",
                        "another", err);
    }
    pickle_arrays_release(&u->arrays);
    return rc;
}

static enum error_code read_plain(struct unpacking *u, struct error *err)
{
    enum error_code rc = read_pickle(u, &u->arrays, err);
    if (rc != ERROR_NONE || root_of(&u->arrays)->kind != PICKLE_MAGIC)
        return rc;
    u->is_old = true;
    rc = pass_older_start(u, err);
    if (rc == ERROR_NONE)
        rc = read_pickle(u, &u->arrays, err);
    if (rc == ERROR_NONE)
        rc = read_pickle(u, &u->names, err);
    if (rc == ERROR_NONE && root_of(&u->names)->kind != PICKLE_LIST)
        rc = refuse(u, 0, "a list of storages", pickle_kind_name(root_of(&u->names)->kind), err);
    return rc;
}

/* Finds and opens a member "<any>/data.pkl". */
static enum error_code find_pickle(struct unpacking *u, struct error *err)
{
    static const char ending[] = "/data.pkl";
    bool found = true;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE) {
        rc = zip_archive_next(&u->archive, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        const size_t size = strlen(u->archive.member);
        if (size < sizeof ending ||
            strcmp(u->archive.member + size - (sizeof ending - 1), ending) != 0)
            continue;
        (void)snprintf(u->prefix, sizeof u->prefix, "%.*s", (int)(size - (sizeof ending - 2)),
                       u->archive.member);
        return file_path(u->where, err, "%s: data.pkl", u->path);
    }
    return rc == ERROR_NONE
               ? error_set(err, ERROR_INPUT,
                           "%s: expected a file of torch.save(), found a zip archive without a "
                           "member data.pkl",
                           u->path)
               : rc;
}

static enum error_code check_byte_order(struct unpacking *u, struct error *err)
{
    char name[2 * ZIP_NAME_SIZE], order[16] = "";
    size_t got = 0;
    bool found = false;
    (void)snprintf(name, sizeof name, "%sbyteorder", u->prefix);
    enum error_code rc = zip_archive_find(&u->archive, name, &found, err);
    if (rc == ERROR_NONE && found)
        rc = zip_archive_read(&u->archive, order, sizeof order - 1, &got, err);
    if (rc == ERROR_NONE && found && strcmp(order, "little") != 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s: byteorder: expected little, found another: " ADVICE
                       "save it on such a machine",
                       u->path);
    return rc;
}

static enum error_code read_zip(struct unpacking *u, struct error *err)
{
    size_t got = 0;
    enum error_code rc = zip_archive_open(&u->archive, u->path, "a file of torch.save()", err);
    if (rc == ERROR_NONE)
        rc = find_pickle(u, err);
    if (rc == ERROR_NONE)
        rc = read_pickle(u, &u->arrays, err);
    if (rc == ERROR_NONE) /* to the end, so that its checksum is verified */
        rc = zip_archive_read(&u->archive, u->piece, PIECE_BYTES, &got, err);
    if (rc == ERROR_NONE)
        rc = zip_archive_finish(&u->archive, err);
    return rc == ERROR_NONE ? check_byte_order(u, err) : rc;
}

/* --- elements --- */

/* Finds where the elements of a storage begin in an older file. */
static enum error_code find_older(const struct unpacking *u, const struct pickle_value *storage,
                                  uint64_t *offset, struct error *err)
{
    uint64_t at = u->at;
    const char *wanted = pickle_arrays_text(&u->arrays, storage);
    const struct pickle_value *list = root_of(&u->names);
    for (uint32_t i = list->head; i; i = u->names.item[i - 1].next) {
        const struct pickle_value *name = &u->names.value[u->names.item[i - 1].value];
        uint8_t prefix[STORAGE_PREFIX];
        uint64_t count = 0, item_size = 0;
        if (name->kind != PICKLE_TEXT)
            return refuse(u, name->offset, "the name of a storage", pickle_kind_name(name->kind),
                          err);
        if (u->size - at < sizeof prefix)
            break;
        const enum error_code rc =
            file_read_at(u->fd_plus_one - 1, prefix, sizeof prefix, at, u->path, err);
        if (rc != ERROR_NONE)
            return rc;
        for (size_t b = 0; b < sizeof prefix; b++)
            count |= (uint64_t)prefix[b] << (8 * b);
        for (size_t v = 0; v < u->arrays.value_count && !item_size; v++)
            if (u->arrays.value[v].kind == PICKLE_STORAGE &&
                strcmp(pickle_arrays_text(&u->arrays, &u->arrays.value[v]),
                       pickle_arrays_text(&u->names, name)) == 0)
                item_size = u->arrays.value[v].array.item_size;
        const uint64_t left = u->size - at - sizeof prefix;
        if (!item_size || count > left / item_size)
            return error_set(err, ERROR_INPUT,
                             "%s: byte %" PRIu64 ": expected a storage of the dictionary above and "
                             "all its elements, found a count of %" PRIu64 " and %" PRIu64
                             " bytes more: the file is damaged, or cut off",
                             u->path, at, count, left);
        *offset = at + sizeof prefix;
        if (strcmp(pickle_arrays_text(&u->names, name), wanted) == 0 &&
            count == (uint64_t)storage->number)
            return ERROR_NONE;
        at += sizeof prefix + count * item_size;
    }
    return error_set(err, ERROR_INPUT,
                     "%s: byte %" PRIu64 ": expected a storage '%s' of %" PRId64
                     " elements, found none: the file is damaged, or cut off",
                     u->path, at, wanted, storage->number);
}

/* Skips `skipped` bytes of the open member. */
static enum error_code skip(struct unpacking *u, uint64_t skipped, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && skipped > 0) {
        size_t got = 0;
        rc = zip_archive_read(&u->archive, u->piece,
                              skipped < PIECE_BYTES ? (size_t)skipped : PIECE_BYTES, &got, err);
        if (rc == ERROR_NONE && got == 0)
            break;
        skipped -= got;
    }
    return rc;
}

/* Copies the next `bytes` of the open source to the file. */
static enum error_code copy(struct unpacking *u, int from, uint64_t offset, uint64_t bytes, int to,
                            const char *target, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && bytes > 0) {
        size_t got = bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES;
        rc = from >= 0 ? file_read_at(from, u->piece, got, offset, u->path, err)
                       : zip_archive_read(&u->archive, u->piece, got, &got, err);
        if (rc == ERROR_NONE && got == 0)
            return error_set(err, ERROR_INPUT,
                             "%s: %s: expected %" PRIu64
                             " bytes more, found its end: the file is damaged",
                             u->path, u->archive.member, bytes);
        if (rc == ERROR_NONE)
            rc = file_write_all(to, u->piece, got, target, err);
        offset += got;
        bytes -= got;
    }
    return rc;
}

static enum error_code copy_elements(struct unpacking *u, const struct pickle_value *value, int to,
                                     const char *target, struct error *err)
{
    const struct pickle_array *array = &value->array;
    const uint64_t bytes = array->element_count * array->item_size;
    uint64_t offset = 0;
    char name[2 * ZIP_NAME_SIZE + PICKLE_TEXT_MAX];
    bool found = false;
    if (value->kind == PICKLE_ARRAY)
        return copy(u, u->scratch_fd_plus_one - 1, array->first, bytes, to, target, err);
    const struct pickle_value *storage = &u->arrays.value[array->storage];
    if (u->is_old) {
        const enum error_code rc = find_older(u, storage, &offset, err);
        return rc == ERROR_NONE
                   ? copy(u, u->fd_plus_one - 1, offset + array->first * array->item_size, bytes,
                          to, target, err)
                   : rc;
    }
    if (!u->is_zip)
        return error_add(err,
                         refuse(u, value->offset, "arrays whose elements are in the file",
                                "a tensor in a plain pickle", err),
                         ": " ADVICE "save it with torch.save()");
    (void)snprintf(name, sizeof name, "%sdata/%s", u->prefix,
                   pickle_arrays_text(&u->arrays, storage));
    enum error_code rc = zip_archive_find(&u->archive, name, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a member %s with the elements of a tensor, found none: the "
                         "file is damaged",
                         u->path, name);
    if (rc == ERROR_NONE)
        rc = skip(u, array->first * array->item_size, err);
    if (rc == ERROR_NONE)
        rc = copy(u, -1, 0, bytes, to, target, err);
    if (rc == ERROR_NONE) /* the rest, so that the checksum is verified */
        rc = skip(u, UINT64_MAX, err);
    return rc == ERROR_NONE ? zip_archive_finish(&u->archive, err) : rc;
}

/* Writes the header of an .npy file (npy_header.h). */
static void make_header(const struct pickle_array *array, char header[NPY_START])
{
    static const uint8_t start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, NPY_START - 10, 0};
    char shape[96] = "";
    size_t size = 0;
    for (uint32_t d = 0; d < array->dimension_count; d++)
        size +=
            (size_t)snprintf(shape + size, sizeof shape - size, "%" PRIu64 ",", array->shape[d]);
    memset(header, ' ', NPY_START);
    memcpy(header, start, sizeof start);
    const int used = snprintf(header + 10, NPY_START - 10,
                              "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", array->descr,
                              array->is_by_columns ? "True" : "False", shape);
    header[10 + used] = ' '; /* overwrites the NUL */
    header[NPY_START - 1] = '\n';
}

static enum error_code write_array(struct unpacking *u, const char *key,
                                   const struct pickle_value *value, struct error *err)
{
    char target[FILE_PATH_SIZE], header[NPY_START];
    enum error_code rc = file_path(target, err, "%s/%s.npy", u->folder, key);
    if (rc != ERROR_NONE)
        return rc;
    if (value->array.item_size == 0)
        return refuse(u, value->offset, "an array", "one without shape and elements", err);
    const int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return refuse(u, value->offset, "each array once", "a second one of the same key", err);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", target);
    make_header(&value->array, header);
    rc = file_write_all(fd, header, sizeof header, target, err);
    if (rc == ERROR_NONE)
        rc = copy_elements(u, value, fd, target, err);
    if (close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s", target);
    return rc;
}

/* Converts a key to a part of the name of a file. */
static enum error_code take_key(const struct unpacking *u, const char *outer,
                                const struct pickle_value *key, char name[2 * KEY_SIZE],
                                struct error *err)
{
    const char *text = key->kind == PICKLE_TEXT ? pickle_arrays_text(&u->arrays, key) : NULL;
    if (!text || !text[0] || strlen(text) >= KEY_SIZE || strlen(text) != key->size ||
        text[0] == '.' || strchr(text, '/') || strchr(text, '\\'))
        return refuse(u, key->offset, "a key that is a word, such as 'train'",
                      text ? "one that is no name of a file" : pickle_kind_name(key->kind), err);
    (void)snprintf(name, (size_t)2 * KEY_SIZE, "%s%s%s", outer, outer[0] ? "." : "", text);
    return ERROR_NONE;
}

static enum error_code write_dictionary(struct unpacking *u, const struct pickle_value *of,
                                        const char *outer, struct error *err)
{
    const struct pickle_arrays *arrays = &u->arrays;
    char name[2 * KEY_SIZE] = "";
    enum error_code rc = ERROR_NONE;
    for (uint32_t at = of->head; rc == ERROR_NONE && at;) {
        const struct pickle_item *pair = &arrays->item[at - 1];
        const struct pickle_item *second = &arrays->item[pair->next - 1];
        const struct pickle_value *value = &arrays->value[second->value];
        rc = take_key(u, outer, &arrays->value[pair->value], name, err);
        if (rc != ERROR_NONE)
            break;
        if (value->kind == PICKLE_ARRAY || value->kind == PICKLE_TENSOR)
            rc = write_array(u, name, value, err);
        else if (value->kind == PICKLE_DICTIONARY && !outer[0])
            rc = write_dictionary(u, value, name, err);
        else
            rc = error_set(err, ERROR_INPUT,
                           "%s: byte %" PRIu64 ": '%s': expected an array of numbers, found %s",
                           u->where, value->offset, name, pickle_kind_name(value->kind));
        at = second->next;
    }
    return rc;
}

static enum error_code write_all(struct unpacking *u, struct error *err)
{
    const struct pickle_value *root = root_of(&u->arrays);
    if (root->kind == PICKLE_ARRAY || root->kind == PICKLE_TENSOR)
        return write_array(u, TORCH_MEMBERS_ALONE, root, err);
    if (root->kind == PICKLE_DICTIONARY)
        return write_dictionary(u, root, "", err);
    return refuse(u, root->offset, "a dictionary of arrays", pickle_kind_name(root->kind), err);
}

static enum error_code unpack(struct unpacking *u, struct error *err)
{
    char start[2] = "";
    int fd = -1;
    enum error_code rc = file_path(u->scratch, err, "%s/.bytes", u->folder);
    if (rc == ERROR_NONE)
        rc = memory_new(&u->piece, PIECE_BYTES, "a piece of a file", err);
    if (rc == ERROR_NONE)
        rc = file_open(u->path, &fd, err);
    u->fd_plus_one = fd + 1;
    if (rc == ERROR_NONE)
        rc = file_size(u->path, &u->size, err);
    if (rc != ERROR_NONE)
        return rc;
    u->scratch_fd_plus_one = open(u->scratch, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) + 1;
    if (!u->scratch_fd_plus_one)
        return error_set_errno(err, ERROR_IO, "%s", u->scratch);
    if (u->size >= sizeof start)
        rc = file_read_at(u->fd_plus_one - 1, start, sizeof start, 0, u->path, err);
    u->is_zip = memcmp(start, "PK", sizeof start) == 0;
    if (rc == ERROR_NONE)
        rc = u->is_zip ? read_zip(u, err) : read_plain(u, err);
    return rc == ERROR_NONE ? write_all(u, err) : rc;
}

enum error_code torch_members_unpack(const char *path, const char *folder, struct error *err)
{
    struct unpacking u = {.path = path, .folder = folder};
    const enum error_code rc = unpack(&u, err);
    zip_archive_close(&u.archive);
    if (u.fd_plus_one)
        (void)close(u.fd_plus_one - 1);
    if (u.scratch_fd_plus_one) {
        (void)close(u.scratch_fd_plus_one - 1);
        (void)unlink(u.scratch);
    }
    pickle_arrays_release(&u.arrays);
    pickle_arrays_release(&u.names);
    memory_free(u.piece);
    return rc;
}
