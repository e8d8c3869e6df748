#include "common/files/checksum.h"

#include "common/base/memory.h"
#include "common/base/progress.h"
#include "common/files/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY /* makes the size of a state public */
/* The library's own code is compiled for any x86-64. This header has functions for newer
 * processors; it is used if it exists. */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

struct checksum_stream {
    XXH3_state_t *state;
};

static struct checksum canonical(XXH128_hash_t hash)
{
    XXH128_canonical_t bytes;
    struct checksum sum;
    XXH128_canonicalFromHash(&bytes, hash);
    memcpy(sum.bytes, bytes.digest, sizeof sum.bytes);
    return sum;
}

struct checksum checksum_of(const void *data, size_t size)
{
    return canonical(XXH3_128bits(data, size));
}

struct checksum checksum_seeded(const void *data, size_t size, uint64_t seed)
{
    return canonical(XXH3_128bits_withSeed(data, size, seed));
}

/* The state has room to spare, because the library at run time may be newer than the header. */
struct checksum checksum_of_parts(const struct checksum_part *part, size_t count)
{
    union {
        XXH3_state_t state;
        char room[2 * sizeof(XXH3_state_t)];
    } own;
    memset(&own, 0, sizeof own);
    (void)XXH3_128bits_reset(&own.state);
    for (size_t i = 0; i < count; i++)
        if (part[i].size)
            (void)XXH3_128bits_update(&own.state, part[i].data, part[i].size);
    return canonical(XXH3_128bits_digest(&own.state));
}

uint64_t checksum_64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

bool checksum_equal(const struct checksum *a, const struct checksum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void checksum_text(const struct checksum *sum, char text[CHECKSUM_TEXT_SIZE])
{
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof sum->bytes; i++) {
        text[2 * i] = digit[sum->bytes[i] >> 4];
        text[2 * i + 1] = digit[sum->bytes[i] & 15];
    }
    text[2 * sizeof sum->bytes] = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool checksum_parse(const char *text, struct checksum *out)
{
    if (strlen(text) != 2 * sizeof out->bytes)
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

enum error_code checksum_mismatch(const struct checksum *expected, const struct checksum *found,
                                  struct error *err)
{
    char expected_text[CHECKSUM_TEXT_SIZE], found_text[CHECKSUM_TEXT_SIZE];
    checksum_text(expected, expected_text);
    checksum_text(found, found_text);
    return error_set(err, ERROR_CORRUPT, "expected hash %s, found %s", expected_text, found_text);
}

enum error_code checksum_stream_new(struct checksum_stream **out, struct error *err)
{
    enum error_code rc = memory_new(out, 1, "a checksum", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->state = XXH3_createState();
    if (!(*out)->state) {
        memory_free(*out);
        *out = NULL;
        return error_set(err, ERROR_NO_MEMORY, "no memory for a checksum");
    }
    checksum_stream_reset(*out);
    return ERROR_NONE;
}

void checksum_stream_reset(struct checksum_stream *stream)
{
    (void)XXH3_128bits_reset(stream->state);
}

void checksum_stream_add(struct checksum_stream *stream, const void *data, size_t size)
{
    if (size)
        (void)XXH3_128bits_update(stream->state, data, size);
}

struct checksum checksum_stream_sum(const struct checksum_stream *stream)
{
    return canonical(XXH3_128bits_digest(stream->state));
}

void checksum_stream_free(struct checksum_stream *stream)
{
    if (!stream)
        return;
    (void)XXH3_freeState(stream->state);
    memory_free(stream);
}

/* Reads from the current position of `fd` to the end. The size in `status` is used for progress
 * only. */
static enum error_code sum_rest(int fd, const char *path, const struct stat *status,
                                struct checksum *out, uint64_t *bytes, struct error *err)
{
    enum { BUFFER_BYTES = 1 << 20 };
    struct checksum_stream *stream = NULL;
    unsigned char *buffer = NULL;
    uint64_t total = 0;
    enum error_code rc = checksum_stream_new(&stream, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&buffer, BUFFER_BYTES, "a file buffer", err);
    while (rc == ERROR_NONE && stream) {
        const ssize_t n = read(fd, buffer, BUFFER_BYTES);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = error_set_errno(err, ERROR_IO, "%s: cannot be read", path);
        else {
            checksum_stream_add(stream, buffer, (size_t)n);
            total += (uint64_t)n;
            progress_note(path, total, (uint64_t)status->st_size);
        }
    }
    if (rc == ERROR_NONE && stream) {
        *out = checksum_stream_sum(stream);
        *bytes = total;
    }
    memory_free(buffer);
    checksum_stream_free(stream);
    return rc;
}

enum error_code checksum_of_file(const char *path, struct checksum *out, uint64_t *size_bytes,
                                 struct error *err)
{
    return checksum_of_file_end(path, UINT64_MAX, out, size_bytes, err);
}

enum error_code checksum_of_file_end(const char *path, uint64_t bytes, struct checksum *out,
                                     uint64_t *size_bytes, struct error *err)
{
    struct stat status = {0};
    uint64_t start = 0, rest = 0;
    int fd = -1;
    enum error_code rc = file_open(path, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    if (fstat(fd, &status) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s: its size cannot be read", path);
    else if ((uint64_t)status.st_size > bytes)
        start = (uint64_t)status.st_size - bytes;
    if (start && lseek(fd, (off_t)start, SEEK_SET) < 0)
        rc = error_set_errno(err, ERROR_IO, "%s: cannot be read", path);
    if (rc == ERROR_NONE)
        rc = sum_rest(fd, path, &status, out, &rest, err);
    if (rc == ERROR_NONE && size_bytes)
        *size_bytes = start + rest;
    (void)close(fd);
    return rc;
}
