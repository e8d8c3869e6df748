#include "common/formats/arrays/npy_header.h"

#include "common/formats/bytes/usual_advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *code; /* of descr, after the byte order */
    enum npy_type type;
    uint32_t item_size;
} type_table[] = {
    {"f4", NPY_F32, 4}, {"f8", NPY_F64, 8}, {"f2", NPY_F16, 2},  {"i4", NPY_I32, 4},
    {"i8", NPY_I64, 8}, {"i1", NPY_I8, 1},  {"i2", NPY_I16, 2},  {"u1", NPY_U8, 1},
    {"u2", NPY_U16, 2}, {"u4", NPY_U32, 4}, {"b1", NPY_BOOL, 1},
};
enum { TYPE_COUNT = sizeof type_table / sizeof type_table[0] };

/* A position in the header's text. */
struct cursor {
    const char *begin, *at, *end;
    size_t offset; /* offset of `begin` in the file */
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

/* Returns numpy's name for elements of a kind that is not supported. */
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
        "%s: byte %zu: the elements are %s, expected numbers: " ADVICE "in Python, "
        "numpy.save(\"%s\", numpy.load(\"%s\", allow_pickle=True).astype(\"float32\")) "
        "(\"int64\" for ids)",
        c->name, c->offset + (size_t)(c->at - c->begin), kind_of(kind), c->name, c->name);
}

/* Parses "'<f4'": byte order, kind and size. A list of fields begins with '['. */
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

/* Parses one "key: value" of the dictionary. */
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

/* Returns whether the order of columns matters: with one row or one column it does not. */
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
    out->is_by_columns = by_columns && has_rows_and_columns(out);
    if (out->is_by_columns && out->dimension_count != 2)
        return error_set(
            c->err, ERROR_INPUT,
            "%s: the array lies column by column (Fortran order), expected rows: " ADVICE "in "
            "Python, numpy.save(\"%s\", numpy.ascontiguousarray(numpy.load(\"%s\")))",
            c->name, c->name, c->name);
    return ERROR_NONE;
}

/* Computes the bytes of data for the shape. */
static enum error_code count_elements(const char *name, struct npy_header *out,
                                      uint64_t *data_bytes, struct error *err)
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
    *data_bytes = bytes;
    return overflow ? error_set(err, ERROR_INPUT,
                                "%s: byte %" PRIu64 ": expected the shape of the data, found one "
                                "that means more than 2^64 bytes of data",
                                name, out->data_offset)
                    : ERROR_NONE;
}

/* Checks that the file has exactly the size that the shape requires. That makes every later read
 * safe. */
static enum error_code check_length(uint64_t file_size, const char *name, struct npy_header *out,
                                    struct error *err)
{
    uint64_t bytes = 0;
    const enum error_code rc = count_elements(name, out, &bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t found = file_size - out->data_offset;
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

/* Refuses a file with another beginning, and names its most likely kind. */
static enum error_code other_file(const uint8_t *data, const char *name, struct error *err)
{
    if (memcmp(data, "PK\x03\x04", 4) == 0)
        return error_set(
            err, ERROR_INPUT,
            "%s is a zip archive (an npz, or a PyTorch file), expected one npy array: " ADVICE
            "in Python, numpy.save(\"%s\", numpy.load(\"%s\")[NAME])",
            name, name, name);
    if (data[0] == 0x1f && data[1] == 0x8b)
        return error_set(err, ERROR_INPUT,
                         "%s is packed by gzip, expected an npy array: " ADVICE "gunzip it", name);
    for (int i = 0; i < NPY_PREFIX_SIZE; i++)
        if ((data[i] < ' ' || data[i] > '~') && data[i] != '\n' && data[i] != '\t' &&
            data[i] != '\r')
            return error_set(err, ERROR_INPUT,
                             "%s: byte 0: expected npy's magic 93 4e 55 4d 50 59, found "
                             "%02x %02x %02x %02x %02x %02x",
                             name, data[0], data[1], data[2], data[3], data[4], data[5]);
    return error_set(err, ERROR_INPUT,
                     "%s is text, expected an npy array: " ADVICE "in Python, numpy.save(\"%s\", "
                     "numpy.loadtxt(\"%s\", delimiter=\",\"))",
                     name, name, name);
}

/* Parses everything but the length of the file. */
static enum error_code parse_header(const uint8_t *data, size_t size, const char *name,
                                    struct npy_header *out, struct error *err)
{
    *out = (struct npy_header){0};
    if (size < NPY_PREFIX_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %zu: expected an npy header, found the end of "
                         "the file" ADVISE_COPY,
                         name, size);
    if (memcmp(data, NPY_MAGIC, 6) != 0)
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
    return ERROR_NONE;
}

enum error_code npy_header_parse(const uint8_t *data, size_t size, uint64_t file_size,
                                 const char *name, struct npy_header *out, struct error *err)
{
    const enum error_code rc = parse_header(data, size, name, out, err);
    return rc == ERROR_NONE ? check_length(file_size, name, out, err) : rc;
}

enum error_code npy_header_parse_start(const uint8_t *data, size_t size, const char *name,
                                       struct npy_header *out, uint64_t *file_size,
                                       struct error *err)
{
    uint64_t bytes = 0;
    enum error_code rc = parse_header(data, size, name, out, err);
    if (rc == ERROR_NONE)
        rc = count_elements(name, out, &bytes, err);
    if (rc == ERROR_NONE && __builtin_add_overflow(out->data_offset, bytes, file_size))
        rc = error_set(err, ERROR_INPUT, "%s: the shape means more than 2^64 bytes", name);
    return rc;
}

bool npy_is_integer(const struct npy_header *header)
{
    return header->type != NPY_F16 && header->type != NPY_F32 && header->type != NPY_F64;
}
