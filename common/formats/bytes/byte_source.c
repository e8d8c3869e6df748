#include "common/formats/bytes/byte_source.h"

#include "common/base/memory.h"
#include "common/base/progress.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/bytes/zstd_unpacker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_SIZE = 1 << 16, GZIP_WINDOW = 15 + 16 };

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* The position of the reader in a compressed file. */
enum member_state { MEMBER_NONE, MEMBER_BODY };

struct byte_source {
    char name[FILE_PATH_SIZE];
    int fd; /* -1: memory */
    const uint8_t *memory;
    size_t memory_left;
    uint64_t size; /* of the file; 0: unknown */
    enum packing packing;
    bool is_quiet;
    bool at_end; /* end of the compressed bytes */
    enum member_state state;
    /* its next_in and avail_in are the unread bytes of `packed`, for every compression */
    z_stream inflater;
    bool inflater_ready;
    struct zstd_unpacker *zstd; /* owned; NULL: not compressed by zstd */
    uint64_t packed_end;        /* offset in the file after the bytes in `packed` */
    uint8_t packed[PACKED_SIZE];
};

/* Reads up to `size` bytes of the file unchanged. */
static enum error_code read_raw(struct byte_source *source, void *out, size_t size, size_t *got,
                                struct error *err)
{
    if (source->fd < 0) {
        *got = size < source->memory_left ? size : source->memory_left;
        if (*got)
            memcpy(out, source->memory, *got);
        source->memory += *got;
        source->memory_left -= *got;
        return ERROR_NONE;
    }
    for (;;) {
        const ssize_t n = read(source->fd, out, size);
        if (n >= 0) {
            *got = (size_t)n;
            return ERROR_NONE;
        }
        if (errno != EINTR)
            return error_set_errno(err, ERROR_IO, "%s cannot be read", source->name);
    }
}

static bool is_called(const struct byte_source *source, const char *ending)
{
    const size_t length = strlen(source->name), tail = strlen(ending);
    return length > tail && strcmp(source->name + length - tail, ending) == 0;
}

static enum error_code begin_unpacking(struct byte_source *source, struct error *err)
{
    if (source->packing == PACKING_ZSTD)
        return zstd_unpacker_new(&source->zstd, err);
    if (source->packing == PACKING_GZIP && inflateInit2(&source->inflater, GZIP_WINDOW) != Z_OK)
        return error_set(err, ERROR_NO_MEMORY, "no memory to unpack %s", source->name);
    source->inflater_ready = source->packing == PACKING_GZIP;
    return ERROR_NONE;
}

static enum packing packing_of(const uint8_t *data, size_t size)
{
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b)
        return PACKING_GZIP;
    return size >= ZSTD_MAGIC_SIZE && zstd_unpacker_is_magic(data) ? PACKING_ZSTD : PACKING_NONE;
}

/* Reads the first bytes to learn the kind of the file. They stay in `packed` as the input of the
 * decompressor. */
static enum error_code look_at_magic(struct byte_source *source, struct error *err)
{
    static const struct {
        enum packing packing;
        const char *ending, *magic;
    } promises[] = {{PACKING_GZIP, ".gz", "gzip's magic 1f 8b"},
                    {PACKING_ZSTD, ".zst", "zstd's magic 28 b5 2f fd"}};
    size_t have = 0, got = 1;
    while (have < ZSTD_MAGIC_SIZE && got) {
        const enum error_code rc =
            read_raw(source, source->packed + have, PACKED_SIZE - have, &got, err);
        if (rc != ERROR_NONE)
            return rc;
        have += got;
    }
    source->inflater.next_in = source->packed;
    source->inflater.avail_in = (uInt)have;
    source->packed_end = have;
    source->packing = packing_of(source->packed, have);
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        if (source->packing != promises[i].packing && is_called(source, promises[i].ending))
            return have < 2
                       ? error_set(err, ERROR_INPUT,
                                   "%s: byte 0: expected %s, found the end of the file" ADVISE_COPY,
                                   source->name, promises[i].magic)
                       : error_set(err, ERROR_INPUT,
                                   "%s: byte 0: expected %s, found something else: " ADVICE
                                   "rename the file without .gz or .zst, or pack it",
                                   source->name, promises[i].magic);
    return begin_unpacking(source, err);
}

static enum error_code source_new(const char *name, struct byte_source **out, struct error *err)
{
    enum error_code rc = memory_new(out, 1, "a file buffer", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->fd = -1;
    if (!text_copy((*out)->name, FILE_PATH_SIZE, name))
        rc = error_set(err, ERROR_INVALID, "path is longer than %d bytes: %.200s...",
                       FILE_PATH_SIZE - 1, name);
    return rc;
}

static enum error_code open_file(struct byte_source *source, struct error *err)
{
    enum error_code rc = file_open(source->name, &source->fd, err);
    if (rc == ERROR_NONE)
        rc = file_size(source->name, &source->size, err);
    return rc;
}

enum error_code byte_source_open(const char *path, struct byte_source **out, struct error *err)
{
    struct byte_source *source = NULL;
    *out = NULL;
    enum error_code rc = source_new(path, &source, err);
    if (rc == ERROR_NONE)
        rc = open_file(source, err);
    if (rc == ERROR_NONE)
        rc = look_at_magic(source, err);
    if (rc == ERROR_NONE)
        *out = source;
    else
        byte_source_close(source);
    return rc;
}

enum error_code byte_source_open_memory(const char *name, const void *data, size_t size,
                                        struct byte_source **out, struct error *err)
{
    struct byte_source *source = NULL;
    *out = NULL;
    enum error_code rc = source_new(name, &source, err);
    if (rc == ERROR_NONE) {
        source->memory = data;
        source->memory_left = size;
        rc = look_at_magic(source, err);
    }
    if (rc == ERROR_NONE)
        *out = source;
    else
        byte_source_close(source);
    return rc;
}

void byte_source_close(struct byte_source *source)
{
    if (!source)
        return;
    if (source->inflater_ready)
        (void)inflateEnd(&source->inflater);
    zstd_unpacker_free(source->zstd);
    if (source->fd >= 0)
        (void)close(source->fd);
    memory_free(source);
}

const char *byte_source_name(const struct byte_source *source)
{
    return source->name;
}

bool byte_source_is_packed(const struct byte_source *source)
{
    return source->packing != PACKING_NONE;
}

uint64_t byte_source_size(const struct byte_source *source)
{
    return source->size;
}

uint64_t byte_source_done(const struct byte_source *source)
{
    return source->packed_end;
}

void byte_source_keep_quiet(struct byte_source *source)
{
    source->is_quiet = true;
}

/* Returns the offset in the file of the next compressed byte. */
static uint64_t packed_offset(const struct byte_source *source)
{
    return source->packed_end - source->inflater.avail_in;
}

static enum error_code refill(struct byte_source *source, struct error *err)
{
    size_t got = 0;
    const enum error_code rc = read_raw(source, source->packed, PACKED_SIZE, &got, err);
    if (rc != ERROR_NONE)
        return rc;
    source->inflater.next_in = source->packed;
    source->inflater.avail_in = (uInt)got;
    source->packed_end += got;
    source->at_end = got == 0;
    if (!source->is_quiet)
        progress_note(source->name, source->packed_end, source->size);
    return ERROR_NONE;
}

/* Handles the position between two members: the end of the file, or another member. */
static enum error_code begin_member(struct byte_source *source, struct error *err)
{
    if (source->packing == PACKING_ZSTD) { /* which checks the magic itself */
        source->state = MEMBER_BODY;
        return ERROR_NONE;
    }
    if (source->inflater.next_in[0] != 0x1f)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %" PRIu64 ": expected the end of the gzip file, found more "
                         "bytes that are not gzip"
                         ": " ADVICE "copy the file again, or pack it anew",
                         source->name, packed_offset(source));
    (void)inflateReset(&source->inflater);
    source->state = MEMBER_BODY;
    return ERROR_NONE;
}

static enum error_code inflate_some(struct byte_source *source, struct error *err)
{
    const int result = inflate(&source->inflater, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
        source->state = MEMBER_NONE;
    else if (result == Z_MEM_ERROR)
        return error_set(err, ERROR_NO_MEMORY, "no memory to unpack %s", source->name);
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return error_set(err, ERROR_INPUT, "%s: byte %" PRIu64 ": damaged gzip data: %s",
                         source->name, packed_offset(source),
                         source->inflater.msg ? source->inflater.msg : "preset dictionary");
    return ERROR_NONE;
}

static enum error_code unzstd_some(struct byte_source *source, struct error *err)
{
    z_stream *at = &source->inflater;
    bool is_between = false;
    struct zstd_piece piece = {at->next_in, at->avail_in, at->next_out, at->avail_out};
    const uint64_t offset = packed_offset(source);
    const char *wrong = zstd_unpacker_step(source->zstd, &piece, &is_between);
    if (wrong)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %" PRIu64
                         ": expected whole zstd data, found damaged zstd data: %s"
                         ": " ADVICE "copy the file again, or pack it anew",
                         source->name, offset, wrong);
    at->next_in += at->avail_in - piece.in_left;
    at->avail_in = (uInt)piece.in_left;
    at->next_out = piece.out;
    at->avail_out = (uInt)piece.out_left;
    if (is_between)
        source->state = MEMBER_NONE;
    return ERROR_NONE;
}

static enum error_code cut_off(const struct byte_source *source, struct error *err)
{
    return error_set(err, ERROR_INPUT,
                     "%s: byte %" PRIu64 ": %s file is cut off: expected more data, found the end "
                     "of the file" ADVISE_COPY,
                     source->name, packed_offset(source),
                     source->packing == PACKING_GZIP ? "gzip" : "zstd");
}

static enum error_code read_packed(struct byte_source *source, void *out, size_t size, size_t *got,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const uInt wanted = size < PACKED_SIZE ? (uInt)size : PACKED_SIZE;
    source->inflater.next_out = out;
    source->inflater.avail_out = wanted;
    while (rc == ERROR_NONE && source->inflater.avail_out == wanted) {
        if (source->inflater.avail_in == 0 && !source->at_end)
            rc = refill(source, err);
        else if (source->inflater.avail_in == 0 && source->state == MEMBER_NONE)
            break;
        else if (source->inflater.avail_in == 0)
            rc = cut_off(source, err);
        else if (source->state == MEMBER_NONE)
            rc = begin_member(source, err);
        else
            rc = source->packing == PACKING_GZIP ? inflate_some(source, err)
                                                 : unzstd_some(source, err);
    }
    *got = wanted - source->inflater.avail_out;
    return rc;
}

enum error_code byte_source_read(struct byte_source *source, void *out, size_t size, size_t *got,
                                 struct error *err)
{
    *got = 0;
    /* every large text is read here, piece by piece, so a stop is noticed soon */
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
    if (source->packing != PACKING_NONE)
        return read_packed(source, out, size, got, err);
    if (source->inflater.avail_in == 0) {
        const enum error_code rc = read_raw(source, out, size, got, err);
        source->packed_end += *got;
        progress_note(source->name, source->packed_end, source->size);
        return rc;
    }
    *got = size < source->inflater.avail_in ? size : source->inflater.avail_in;
    memcpy(out, source->inflater.next_in, *got);
    source->inflater.next_in += *got;
    source->inflater.avail_in -= (uInt)*got;
    return ERROR_NONE;
}
