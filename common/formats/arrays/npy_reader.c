#include "common/formats/arrays/npy_reader.h"

#include "common/formats/bytes/usual_advice.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { CONVERT_SIZE = 8192 };

static int reader_fd(const struct npy_reader *reader)
{
    return reader->fd_plus_one - 1;
}

/* Calls pread() until `size` bytes are read. */
static enum error_code read_at(const struct npy_reader *reader, void *out, size_t size,
                               uint64_t offset, struct error *err)
{
    for (size_t have = 0; have < size;) {
        const ssize_t n =
            pread(reader_fd(reader), (char *)out + have, size - have, (off_t)(offset + have));
        if (n < 0 && errno != EINTR)
            return error_set_errno(err, ERROR_IO, "%s cannot be read", reader->path);
        if (n == 0)
            return error_set(err, ERROR_INPUT,
                             "%s: byte %" PRIu64
                             ": expected more data, found the end of the file" ADVISE_COPY,
                             reader->path, offset + have);
        have += n > 0 ? (size_t)n : 0;
    }
    return ERROR_NONE;
}

enum error_code npy_reader_open(struct npy_reader *reader, const char *path, struct error *err)
{
    uint8_t head[NPY_PREFIX_SIZE + NPY_HEADER_SIZE_MAX];
    uint64_t file_bytes = 0;
    int fd = -1;
    *reader = (struct npy_reader){0};
    enum error_code rc = file_path(reader->path, err, "%s", path);
    if (rc == ERROR_NONE)
        rc = file_open(path, &fd, err);
    reader->fd_plus_one = fd + 1;
    if (rc == ERROR_NONE)
        rc = file_size(path, &file_bytes, err);
    if (rc != ERROR_NONE) {
        npy_reader_close(reader);
        return rc;
    }
    const size_t head_size = file_bytes < sizeof head ? (size_t)file_bytes : sizeof head;
    rc = read_at(reader, head, head_size, 0, err);
    if (rc == ERROR_NONE)
        rc = npy_header_parse(head, head_size, file_bytes, path, &reader->header, err);
    if (rc != ERROR_NONE)
        npy_reader_close(reader);
    return rc;
}

void npy_reader_close(struct npy_reader *reader)
{
    if (reader->fd_plus_one)
        (void)close(reader_fd(reader));
    *reader = (struct npy_reader){0};
}

/* Reads raw elements; the range was checked against the file when it was opened. */
static enum error_code read_elements(const struct npy_reader *reader, uint64_t first, size_t count,
                                     void *out, struct error *err)
{
    must(first <= reader->header.element_count && count <= reader->header.element_count - first);
    return read_at(reader, out, count * reader->header.item_size,
                   reader->header.data_offset + first * reader->header.item_size, err);
}

/* Converts the element at `at`, which is in this machine's byte order. */
static int64_t integer_of(enum npy_type type, const uint8_t *at)
{
    const uint32_t low = at[0], two = low | (uint32_t)at[1] << 8;
    const uint32_t four = two | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    int64_t wide = 0;
    if (type == NPY_I64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    if (type == NPY_I32 || type == NPY_U32)
        return type == NPY_I32 ? (int64_t)(int32_t)four : (int64_t)four;
    if (type == NPY_I16 || type == NPY_U16)
        return type == NPY_I16 ? (int64_t)(int16_t)two : (int64_t)two;
    return type == NPY_I8 ? (int64_t)(int8_t)low : (int64_t)low;
}

/* Converts IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static float half_of(const uint8_t *at)
{
    const int bits = at[0] | at[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value = 0.0F;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else
        value = exponent ? ldexpf((float)(1024 + fraction), exponent - 25)
                         : ldexpf((float)fraction, -24);
    return bits >> 15 ? -value : value;
}

static float float_of(enum npy_type type, const uint8_t *at)
{
    double value = 0.0;
    float single = 0.0F;
    if (type == NPY_F16)
        return half_of(at);
    if (type == NPY_F32) {
        memcpy(&single, at, sizeof single);
        return single;
    }
    if (type != NPY_F64)
        return (float)integer_of(type, at);
    memcpy(&value, at, sizeof value);
    return (float)value;
}

enum { ELEMENT_SIZE_MAX = 8 };

/* Copies an element in this machine's byte order; the bytes after it are undefined. */
static void load(const struct npy_header *header, const uint8_t *at, uint8_t out[ELEMENT_SIZE_MAX])
{
    const uint32_t size = header->item_size;
    memset(out, 0, ELEMENT_SIZE_MAX);
    for (uint32_t i = 0; i < size; i++)
        out[i] = at[header->is_swapped ? size - 1 - i : i];
}

/* Elements of an array that are consecutive in the file. */
struct raw_elements {
    const uint8_t *byte;
    size_t count;
    uint64_t first, step; /* their positions in C order: first, first + step, ... */
};

/* Converts raw elements of the file to those of the caller's array. */
typedef void (*element_converter)(const struct npy_reader *reader, const struct raw_elements *raw,
                                  void *out);

static void convert_integers(const struct npy_reader *reader, const struct raw_elements *raw,
                             void *out)
{
    const struct npy_header *header = &reader->header;
    int64_t *value = out;
    for (size_t i = 0; i < raw->count; i++) {
        uint8_t element[ELEMENT_SIZE_MAX];
        load(header, raw->byte + i * header->item_size, element);
        value[i] = integer_of(header->type, element);
    }
}

/* Notes an element that may have been rounded. */
static void note_rounded(const struct npy_reader *reader, uint64_t at,
                         const uint8_t element[ELEMENT_SIZE_MAX])
{
    const struct npy_header *header = &reader->header;
    const uint64_t columns = header->dimension_count > 1 ? header->shape[1] : 1;
    const struct float_place place = {.path = reader->path,
                                      .line = (int64_t)(at / columns),
                                      .is_of_array = true,
                                      .column = at % columns};
    double value = 0.0;
    memcpy(&value, element, sizeof value);
    if (header->type == NPY_F64)
        float_loss_note_double(reader->loss, &place, value);
    else
        float_loss_note_int64(reader->loss, &place, integer_of(header->type, element));
}

static void convert_floats(const struct npy_reader *reader, const struct raw_elements *raw,
                           void *out)
{
    const struct npy_header *header = &reader->header;
    const bool is_exact = header->type == NPY_F32 || header->type == NPY_F16 || !reader->loss;
    float *value = out;
    for (size_t i = 0; i < raw->count; i++) {
        uint8_t element[ELEMENT_SIZE_MAX];
        load(header, raw->byte + i * header->item_size, element);
        value[i] = float_of(header->type, element);
        if (!is_exact && fabsf(value[i]) >= FLOAT_LOSS_FROM)
            note_rounded(reader, raw->first + i * raw->step, element);
    }
}

/* Reads a piece at a time and converts it into `out`, whose elements have `size` bytes. */
static enum error_code read_converted(const struct npy_reader *reader, uint64_t first, size_t count,
                                      element_converter convert, void *out, size_t size,
                                      struct error *err)
{
    uint8_t raw[CONVERT_SIZE] = {0};
    const size_t fit = sizeof raw / reader->header.item_size;
    for (size_t done = 0; done < count;) {
        const size_t piece = count - done < fit ? count - done : fit;
        const enum error_code rc = read_elements(reader, first + done, piece, raw, err);
        if (rc != ERROR_NONE)
            return rc;
        const struct raw_elements elements = {raw, piece, first + done, 1};
        convert(reader, &elements, (char *)out + done * size);
        done += piece;
    }
    return ERROR_NONE;
}

/* Does the same for an array in Fortran order. For each column it reads the rows that have an
 * element in the range, a piece at a time, and puts each element at its position in C order. */
static enum error_code read_columns(const struct npy_reader *reader, uint64_t first, size_t count,
                                    element_converter convert, void *out, size_t size,
                                    struct error *err)
{
    const uint64_t rows = reader->header.shape[0], columns = reader->header.shape[1];
    uint8_t raw[CONVERT_SIZE] = {0};
    int64_t value[CONVERT_SIZE / ELEMENT_SIZE_MAX]; /* room for either type */
    const uint64_t fit = sizeof value / sizeof *value;
    const uint64_t end = first + count;
    must(first <= reader->header.element_count && count <= reader->header.element_count - first);
    for (uint64_t c = 0; c < columns && count; c++) {
        const uint64_t row_end = end > c ? (end - c - 1) / columns + 1 : 0;
        for (uint64_t row = first > c ? (first - c + columns - 1) / columns : 0; row < row_end;) {
            const size_t piece = (size_t)(row_end - row < fit ? row_end - row : fit);
            const enum error_code rc = read_elements(reader, c * rows + row, piece, raw, err);
            if (rc != ERROR_NONE)
                return rc;
            const struct raw_elements elements = {raw, piece, row * columns + c, columns};
            convert(reader, &elements, value);
            for (size_t i = 0; i < piece; i++)
                memcpy((char *)out + ((row + i) * columns + c - first) * size,
                       (const char *)value + i * size, size);
            row += piece;
        }
    }
    return ERROR_NONE;
}

enum error_code npy_reader_int64(const struct npy_reader *reader, uint64_t first, size_t count,
                                 int64_t *out, struct error *err)
{
    if (!npy_is_integer(&reader->header))
        return error_set(err, ERROR_INPUT, "%s: expected integers, found floating point numbers",
                         reader->path);
    if (reader->header.is_by_columns)
        return read_columns(reader, first, count, convert_integers, out, sizeof *out, err);
    if (reader->header.type == NPY_I64 && !reader->header.is_swapped)
        return read_elements(reader, first, count, out, err);
    return read_converted(reader, first, count, convert_integers, out, sizeof *out, err);
}

enum error_code npy_reader_float(const struct npy_reader *reader, uint64_t first, size_t count,
                                 float *out, struct error *err)
{
    if (reader->header.is_by_columns)
        return read_columns(reader, first, count, convert_floats, out, sizeof *out, err);
    if (reader->header.type == NPY_F32 && !reader->header.is_swapped)
        return read_elements(reader, first, count, out, err);
    return read_converted(reader, first, count, convert_floats, out, sizeof *out, err);
}
