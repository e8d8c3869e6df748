#include "common/formats/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PREFIX_SIZE = 12, WRITE_ALIGNMENT = 64, CONVERT_SIZE = 8192, FLUSH_BYTES = 1 << 23 };

static const char magic[] = "\x93NUMPY";

static const struct {
    const char *code; /* of descr, behind the byte order */
    enum npy_type type;
    uint32_t item_size;
} type_table[] = {
    {"f4", NPY_F32, 4}, {"f8", NPY_F64, 8}, {"f2", NPY_F16, 2},  {"i4", NPY_I32, 4},
    {"i8", NPY_I64, 8}, {"i1", NPY_I8, 1},  {"i2", NPY_I16, 2},  {"u1", NPY_U8, 1},
    {"u2", NPY_U16, 2}, {"u4", NPY_U32, 4}, {"b1", NPY_BOOL, 1},
};
enum { TYPE_COUNT = sizeof type_table / sizeof type_table[0] };

/* A place in the header's text. */
struct cursor {
    const char *begin, *at, *end;
    size_t offset; /* of `begin` in the file */
    const char *name;
    struct error *err;
};

static enum error_code unexpected(const struct cursor *c, const char *expected)
{
    char found[24] = "the end of the header";
    const size_t left = (size_t)(c->end - c->at);
    if (left) {
        const size_t shown = left < 16 ? left : 16;
        for (size_t i = 0; i < shown; i++)
            found[i] = (char)(c->at[i] >= ' ' && c->at[i] <= '~' ? c->at[i] : '?');
        found[shown] = '\0';
    }
    return error_set(c->err, ERROR_INPUT, "%s: byte %zu: expected %s in the npy header, found '%s'",
                     c->name, c->offset + (size_t)(c->at - c->begin), expected, found);
}

static void skip_spaces(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
}

static bool accept(struct cursor *c, const char *word)
{
    const size_t size = strlen(word);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0)
        return false;
    c->at += size;
    return true;
}

/* What numpy calls elements of a kind that is no number of ours. */
static const char *kind_of(char c)
{
    switch (c) {
    case 'O':
        return "Python objects";
    case 'U':
    case 'S':
        return "strings";
    case 'c':
        return "complex numbers";
    case 'M':
    case 'm':
        return "dates or times";
    case 'V':
        return "records of several fields";
    default:
        return "of a type that is not read";
    }
}

static enum error_code unknown_type(const struct cursor *c, char kind)
{
    return error_set(
        c->err, ERROR_INPUT,
        "%s: byte %zu: the elements are %s, expected numbers: in Python, "
        "numpy.save(\"%s\", numpy.load(\"%s\", allow_pickle=True).astype(\"float32\")) "
        "(\"int64\" for ids)",
        c->name, c->offset + (size_t)(c->at - c->begin), kind_of(kind), c->name, c->name);
}

/* "'<f4'": byte order, kind and size. A list of fields begins with '['. */
static enum error_code parse_type(struct cursor *c, struct npy_header *out)
{
    skip_spaces(c);
    const struct cursor start = *c;
    if (c->at < c->end && *c->at == '[')
        return unknown_type(&start, 'V');
    if (!accept(c, "'") || c->end - c->at < 4 || !strchr("<>|=", *c->at))
        return unexpected(&start, "a type such as '<f4'");
    const char order = *c->at++, kind = *c->at;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        char quoted[8];
        (void)snprintf(quoted, sizeof quoted, "%s'", type_table[i].code);
        if (accept(c, quoted)) {
            out->type = type_table[i].type;
            out->item_size = type_table[i].item_size;
            out->is_swapped = order == '>' && out->item_size > 1;
            return ERROR_NONE;
        }
    }
    return unknown_type(&start, kind);
}

static enum error_code parse_dimension(struct cursor *c, uint64_t *out)
{
    const struct cursor start = *c;
    uint64_t value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        const uint64_t digit = (uint64_t)(*c->at - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10)
            return unexpected(&start, "a dimension below 2^63");
        value = value * 10 + digit;
    }
    *out = value;
    return c->at == start.at ? unexpected(&start, "a dimension") : ERROR_NONE;
}

static enum error_code parse_shape(struct cursor *c, struct npy_header *out)
{
    if (!accept(c, "("))
        return unexpected(c, "a shape such as (5, 2)");
    while (!accept(c, ")")) {
        if (out->dimension_count == NPY_DIMENSION_MAX)
            return unexpected(c, "at most 4 dimensions");
        const enum error_code rc = parse_dimension(c, &out->shape[out->dimension_count]);
        if (rc != ERROR_NONE)
            return rc;
        out->dimension_count++;
        if (!accept(c, ",") && !(c->at < c->end && *c->at == ')'))
            return unexpected(c, "',' or ')'");
    }
    return ERROR_NONE;
}

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

/* One "key: value" of the dictionary. */
static enum error_code parse_member(struct cursor *c, unsigned *seen, bool *by_columns,
                                    struct npy_header *out)
{
    skip_spaces(c);
    const struct cursor start = *c;
    unsigned key = 0;
    if (accept(c, "'descr'"))
        key = SEEN_DESCR;
    else if (accept(c, "'fortran_order'"))
        key = SEEN_ORDER;
    else if (accept(c, "'shape'"))
        key = SEEN_SHAPE;
    if (key == 0 || (*seen & key))
        return unexpected(&start, "each of 'descr', 'fortran_order' and 'shape' once");
    *seen |= key;
    if (!accept(c, ":"))
        return unexpected(c, "':'");
    if (key == SEEN_DESCR)
        return parse_type(c, out);
    if (key == SEEN_SHAPE)
        return parse_shape(c, out);
    *by_columns = accept(c, "True");
    return *by_columns || accept(c, "False") ? ERROR_NONE : unexpected(c, "True or False");
}

/* Whether it matters that columns lie one behind the other: with one row or one column it does not. */
static bool has_rows_and_columns(const struct npy_header *header)
{
    uint32_t wide = 0;
    for (uint32_t i = 0; i < header->dimension_count; i++)
        wide += header->shape[i] != 1;
    return wide > 1;
}

static enum error_code parse_dictionary(struct cursor *c, struct npy_header *out)
{
    unsigned seen = 0;
    bool by_columns = false;
    if (!accept(c, "{"))
        return unexpected(c, "'{'");
    while (!accept(c, "}")) {
        const enum error_code rc = parse_member(c, &seen, &by_columns, out);
        if (rc != ERROR_NONE)
            return rc;
        if (!accept(c, ",") && !(c->at < c->end && *c->at == '}'))
            return unexpected(c, "',' or '}'");
    }
    if (seen != SEEN_ALL)
        return unexpected(c, "'descr', 'fortran_order' and 'shape' before the end");
    skip_spaces(c);
    if (c->at != c->end)
        return unexpected(c, "nothing behind '}'");
    if (by_columns && has_rows_and_columns(out))
        return error_set(c->err, ERROR_INPUT,
                         "%s: the array lies column by column (Fortran order), expected rows: in "
                         "Python, numpy.save(\"%s\", numpy.ascontiguousarray(numpy.load(\"%s\")))",
                         c->name, c->name, c->name);
    return ERROR_NONE;
}

/* The file must hold exactly what the shape says: what makes every later read safe. */
static enum error_code check_length(uint64_t file_size, const char *name, struct npy_header *out,
                                    struct error *err)
{
    uint64_t bytes = 0;
    bool overflow = false, is_empty = false;
    out->element_count = 1;
    for (uint32_t i = 0; i < out->dimension_count; i++) {
        is_empty |= out->shape[i] == 0;
        overflow |= __builtin_mul_overflow(out->element_count, out->shape[i], &out->element_count);
    }
    if (is_empty) {
        out->element_count = 0;
        overflow = false;
    }
    overflow |= __builtin_mul_overflow(out->element_count, (uint64_t)out->item_size, &bytes);
    const uint64_t found = file_size - out->data_offset;
    if (overflow)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %" PRIu64 ": the shape means more than 2^64 bytes of data, "
                         "found %" PRIu64,
                         name, out->data_offset, found);
    if (bytes != found)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %" PRIu64 ": expected %" PRIu64 " bytes of data as the shape "
                         "says, found %" PRIu64,
                         name, out->data_offset, bytes, found);
    return ERROR_NONE;
}

static uint32_t little_endian(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

/* A file that begins otherwise, by what it most likely is. */
static enum error_code other_file(const uint8_t *data, const char *name, struct error *err)
{
    if (memcmp(data, "PK\x03\x04", 4) == 0)
        return error_set(err, ERROR_INPUT,
                         "%s is a zip archive (an npz, or a PyTorch file), expected one npy array: "
                         "in Python, numpy.save(\"%s\", numpy.load(\"%s\")[NAME])",
                         name, name, name);
    if (data[0] == 0x1f && data[1] == 0x8b)
        return error_set(err, ERROR_INPUT, "%s is packed by gzip, expected an npy array: gunzip it",
                         name);
    for (int i = 0; i < PREFIX_SIZE; i++)
        if ((data[i] < ' ' || data[i] > '~') && data[i] != '\n' && data[i] != '\t' &&
            data[i] != '\r')
            return error_set(err, ERROR_INPUT,
                             "%s: byte 0: expected npy's magic 93 4e 55 4d 50 59, found "
                             "%02x %02x %02x %02x %02x %02x",
                             name, data[0], data[1], data[2], data[3], data[4], data[5]);
    return error_set(err, ERROR_INPUT,
                     "%s is text, expected an npy array: in Python, numpy.save(\"%s\", "
                     "numpy.loadtxt(\"%s\", delimiter=\",\"))",
                     name, name, name);
}

enum error_code npy_header_parse(const uint8_t *data, size_t size, uint64_t file_size,
                                 const char *name, struct npy_header *out, struct error *err)
{
    *out = (struct npy_header){0};
    if (size < PREFIX_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %zu: expected an npy header, found the end of "
                         "the file",
                         name, size);
    if (memcmp(data, magic, 6) != 0)
        return other_file(data, name, err);
    if (data[6] < 1 || data[6] > 3 || data[7] != 0)
        return error_set(err, ERROR_INPUT,
                         "%s: byte 6: expected npy version 1.0, 2.0 or 3.0, found %d.%d", name,
                         data[6], data[7]);
    const int length_bytes = data[6] == 1 ? 2 : 4;
    const size_t begin = 8U + (size_t)length_bytes;
    const uint32_t length = little_endian(data + 8, length_bytes);
    if (length > NPY_HEADER_SIZE_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s: byte 8: expected a header of at most %d bytes, found %" PRIu32, name,
                         NPY_HEADER_SIZE_MAX, length);
    if (length > size - begin)
        return error_set(err, ERROR_INPUT,
                         "%s: byte 8: expected a header of %" PRIu32 " bytes, found %zu before the "
                         "end of the file",
                         name, length, size - begin);
    const char *text = (const char *)data + begin;
    struct cursor c = {text, text, text + length, begin, name, err};
    const enum error_code rc = parse_dictionary(&c, out);
    if (rc != ERROR_NONE)
        return rc;
    out->data_offset = begin + length;
    return check_length(file_size, name, out, err);
}

static int reader_fd(const struct npy_reader *reader)
{
    return reader->fd_plus_one - 1;
}

/* pread until `size` bytes are there. */
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
                             "%s: byte %" PRIu64 ": expected more data, found the end of the file",
                             reader->path, offset + have);
        have += n > 0 ? (size_t)n : 0;
    }
    return ERROR_NONE;
}

enum error_code npy_reader_open(struct npy_reader *reader, const char *path, struct error *err)
{
    uint8_t head[NPY_HEADER_SIZE_MAX + PREFIX_SIZE];
    uint64_t file_bytes = 0;
    *reader = (struct npy_reader){0};
    enum error_code rc = file_path(reader->path, err, "%s", path);
    if (rc == ERROR_NONE)
        rc = file_size(path, &file_bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    reader->fd_plus_one = open(path, O_RDONLY | O_CLOEXEC) + 1;
    if (reader->fd_plus_one == 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
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

bool npy_is_integer(const struct npy_header *header)
{
    return header->type != NPY_F16 && header->type != NPY_F32 && header->type != NPY_F64;
}

/* Raw elements; the range was checked against the file when it was opened. */
static enum error_code read_elements(const struct npy_reader *reader, uint64_t first, size_t count,
                                     void *out, struct error *err)
{
    must(first <= reader->header.element_count && count <= reader->header.element_count - first);
    return read_at(reader, out, count * reader->header.item_size,
                   reader->header.data_offset + first * reader->header.item_size, err);
}

/* `at` has the element in this machine's byte order. */
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

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
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

/* An element in this machine's byte order, with bytes behind it that do not count. */
static void load(const struct npy_header *header, const uint8_t *at, uint8_t out[ELEMENT_SIZE_MAX])
{
    const uint32_t size = header->item_size;
    memset(out, 0, ELEMENT_SIZE_MAX);
    for (uint32_t i = 0; i < size; i++)
        out[i] = at[header->is_swapped ? size - 1 - i : i];
}

/* Turns elements as they lie in the file into those of the caller's array. */
typedef void (*element_converter)(const struct npy_header *header, const uint8_t *raw, size_t count,
                                  void *out);

static void convert_integers(const struct npy_header *header, const uint8_t *raw, size_t count,
                             void *out)
{
    int64_t *value = out;
    for (size_t i = 0; i < count; i++) {
        uint8_t element[ELEMENT_SIZE_MAX];
        load(header, raw + i * header->item_size, element);
        value[i] = integer_of(header->type, element);
    }
}

static void convert_floats(const struct npy_header *header, const uint8_t *raw, size_t count,
                           void *out)
{
    float *value = out;
    for (size_t i = 0; i < count; i++) {
        uint8_t element[ELEMENT_SIZE_MAX];
        load(header, raw + i * header->item_size, element);
        value[i] = float_of(header->type, element);
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
        convert(&reader->header, raw, piece, (char *)out + done * size);
        done += piece;
    }
    return ERROR_NONE;
}

enum error_code npy_reader_int64(const struct npy_reader *reader, uint64_t first, size_t count,
                                 int64_t *out, struct error *err)
{
    if (!npy_is_integer(&reader->header))
        return error_set(err, ERROR_INPUT, "%s: expected integers, found floating point numbers",
                         reader->path);
    if (reader->header.type == NPY_I64 && !reader->header.is_swapped)
        return read_elements(reader, first, count, out, err);
    return read_converted(reader, first, count, convert_integers, out, sizeof *out, err);
}

enum error_code npy_reader_float(const struct npy_reader *reader, uint64_t first, size_t count,
                                 float *out, struct error *err)
{
    if (reader->header.type == NPY_F32 && !reader->header.is_swapped)
        return read_elements(reader, first, count, out, err);
    return read_converted(reader, first, count, convert_floats, out, sizeof *out, err);
}

/* The header, padded so that the elements start at a multiple of 64. Returns its size. */
static size_t write_header(char out[256], enum npy_type type, uint64_t rows, uint64_t cols)
{
    char shape[64];
    if (cols)
        (void)snprintf(shape, sizeof shape, "(%" PRIu64 ", %" PRIu64 ")", rows, cols);
    else
        (void)snprintf(shape, sizeof shape, "(%" PRIu64 ",)", rows);
    memset(out, ' ', 256);
    const int text =
        snprintf(out + 10, 246, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 type == NPY_F32 ? "<f4" : "<i8", shape);
    const size_t used = 10 + (size_t)text;
    const size_t size = (used + 1 + WRITE_ALIGNMENT - 1) / WRITE_ALIGNMENT * WRITE_ALIGNMENT;
    memcpy(out, magic, 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((size - 10) & 0xff);
    out[9] = (char)((size - 10) >> 8);
    out[used] = ' '; /* over snprintf's NUL */
    out[size - 1] = '\n';
    return size;
}

static size_t item_bytes(const struct npy_writer *writer)
{
    return writer->type == NPY_F32 ? sizeof(float) : sizeof(int64_t);
}

enum error_code npy_writer_open(struct npy_writer *writer, const char *path, enum npy_type type,
                                uint64_t rows, uint64_t cols, struct error *err)
{
    char header[256];
    *writer = (struct npy_writer){.type = type};
    must(type == NPY_F32 || type == NPY_I64);
    if (__builtin_mul_overflow(rows, cols ? cols : 1, &writer->element_count))
        return error_set(err, ERROR_INVALID, "%s: %" PRIu64 " x %" PRIu64 " elements are too many",
                         path, rows, cols);
    enum error_code rc = file_path(writer->path, err, "%s", path);
    int fd = -1;
    if (rc == ERROR_NONE)
        rc = file_create_temporary(path, writer->temporary, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    writer->fd_plus_one = fd + 1;
    writer->data_offset = write_header(header, type, rows, cols);
    writer->elements_left = writer->element_count;
    rc = checksum_stream_new(&writer->sum, err);
    if (rc == ERROR_NONE)
        rc = file_write_at(fd, header, (size_t)writer->data_offset, 0, writer->temporary, err);
    if (rc == ERROR_NONE)
        checksum_stream_add(writer->sum, header, (size_t)writer->data_offset);
    else
        npy_writer_close(writer);
    return rc;
}

enum error_code npy_writer_add(struct npy_writer *writer, const void *elements, uint64_t count,
                               struct error *err)
{
    const int fd = writer->fd_plus_one - 1;
    const uint64_t first = writer->element_count - writer->elements_left;
    const uint64_t at = writer->data_offset + first * item_bytes(writer);
    const size_t size = (size_t)count * item_bytes(writer);
    must(count <= writer->elements_left);
    const enum error_code rc = file_write_at(fd, elements, size, at, writer->temporary, err);
    if (rc != ERROR_NONE)
        return rc;
    writer->elements_left -= count;
    checksum_stream_add(writer->sum, elements, size);
    if (at + size - writer->flushed >= FLUSH_BYTES) {
        file_flush_begin(fd, writer->flushed, at + size - writer->flushed);
        writer->flushed = at + size;
    }
    return ERROR_NONE;
}

struct checksum npy_writer_sum(const struct npy_writer *writer, uint64_t *size_bytes)
{
    must(writer->elements_left == 0);
    *size_bytes = writer->data_offset + writer->element_count * item_bytes(writer);
    return checksum_stream_sum(writer->sum);
}

enum error_code npy_writer_finish(struct npy_writer *writer, struct error *err)
{
    must(writer->elements_left == 0);
    enum error_code rc = ERROR_NONE;
    if (fsync(writer->fd_plus_one - 1) != 0)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be flushed", writer->temporary);
    else
        rc = file_rename(writer->temporary, writer->path, err);
    if (rc == ERROR_NONE)
        writer->temporary[0] = '\0'; /* nothing to remove any more */
    npy_writer_close(writer);
    return rc;
}

void npy_writer_close(struct npy_writer *writer)
{
    if (writer->fd_plus_one == 0)
        return;
    (void)close(writer->fd_plus_one - 1);
    checksum_stream_free(writer->sum);
    if (writer->temporary[0])
        (void)unlink(writer->temporary);
    *writer = (struct npy_writer){0};
}
