#include "common/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE_MAX = 64, NAME_SIZE_MAX = 64 };

bool text_int64(const char *text, size_t size, int64_t *out)
{
    size_t at = 0;
    const bool negative = size && text[0] == '-';
    if (size && (text[0] == '-' || text[0] == '+'))
        at++;
    if (at == size)
        return false;
    uint64_t value = 0;
    const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    for (; at < size; at++) {
        if (text[at] < '0' || text[at] > '9')
            return false;
        const uint64_t digit = (uint64_t)(text[at] - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool text_double(const char *text, size_t size, double *out)
{
    char number[NUMBER_SIZE_MAX];
    char *end = NULL;
    if (size == 0 || size >= sizeof number || text[0] == ' ' || text[0] == '\t')
        return false;
    memcpy(number, text, size);
    number[size] = '\0';
    if (strpbrk(number, "xX"))
        return false;
    errno = 0;
    *out = strtod(number, &end);
    if (errno == ERANGE && (*out > 1.0 || *out < -1.0))
        return false; /* overflow; an underflow to zero or a denormal is a number */
    return end == number + size;
}

bool text_bytes(const char *text, uint64_t *out)
{
    static const char suffixes[] = "kMGT";
    size_t digits = strspn(text, "0123456789.");
    double value = 0.0;
    if (!text_double(text, digits, &value) || value < 0.0)
        return false;
    const char *rest = text + digits;
    if (*rest == 'K')
        value *= 1024.0, rest++;
    else if (*rest && *rest != 'B') {
        const char *found = strchr(suffixes, *rest);
        if (!found)
            return false;
        for (ptrdiff_t i = 0; i <= found - suffixes; i++)
            value *= 1024.0;
        rest++;
    }
    if (*rest == 'i')
        rest++;
    if (*rest == 'B')
        rest++;
    if (*rest || value >= 0x1p63)
        return false;
    *out = (uint64_t)value;
    return true;
}

const char *text_count(int64_t value, char buffer[32])
{
    char plain[24];
    const int size = snprintf(plain, sizeof plain, "%" PRId64, value);
    size_t to = 0;
    for (int from = 0; from < size; from++) {
        const int left = size - from;
        if (from > 0 && left % 3 == 0 && plain[from - 1] != '-')
            buffer[to++] = ',';
        buffer[to++] = plain[from];
    }
    buffer[to] = '\0';
    return buffer;
}

const char *text_score(double value, char buffer[32])
{
    if (isnan(value))
        return memcpy(buffer, "undefined", sizeof "undefined");
    (void)snprintf(buffer, 32, "%.4f", value);
    return buffer;
}

const char *text_size(uint64_t bytes, char buffer[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t u = 0;
    for (; value >= 1024.0 && u < 4; u++)
        value /= 1024.0;
    (void)snprintf(buffer, 32, u ? "%.1f %s" : "%.0f %s", value, unit[u]);
    return buffer;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes Levenshtein's distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_SIZE_MAX + 1];
    const size_t width = strlen(b);
    if (width > NAME_SIZE_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            const size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = smaller(replaced, smaller(row[j], row[j + 1]) + 1);
        }
    }
    return row[width];
}

const char *text_nearest(const char *text, const char *const *names)
{
    const char *best = NULL;
    size_t best_distance = strlen(text) / 3 + 2;
    for (; *names; names++) {
        const size_t distance = edit_distance(text, *names);
        if (distance < best_distance) {
            best_distance = distance;
            best = *names;
        }
    }
    return best;
}

bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool text_ends(const char *text, const char *with)
{
    return strlen(text) >= strlen(with) && strcmp(text + strlen(text) - strlen(with), with) == 0;
}

bool text_copy(char *target, size_t size, const char *source)
{
    const size_t length = strlen(source);
    if (length >= size)
        return false;
    memcpy(target, source, length + 1);
    return true;
}

bool text_replace(char *text, size_t size, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at)
        return false;
    const char *rest = at + strlen(from);
    const size_t room = size - 1 - (size_t)(at - text);
    const size_t new_size = strlen(to) < room ? strlen(to) : room;
    const size_t rest_size = strlen(rest) < room - new_size ? strlen(rest) : room - new_size;
    memmove(at + new_size, rest, rest_size);
    memcpy(at, to, new_size);
    at[new_size + rest_size] = '\0';
    return true;
}

enum error_code text_expand(const char *text, char *out, size_t size, struct error *err)
{
    size_t at = 0;
    while (*text) {
        const char *piece = text;
        size_t length = 1;
        char name[NAME_SIZE_MAX];
        if (text[0] == '$' && text[1] == '{') {
            const char *end = strchr(text, '}');
            if (!end)
                return error_set(err, ERROR_INVALID, "'%s': '${' without '}'", text);
            const size_t name_size = strcspn(text + 2, ":}");
            if (name_size >= sizeof name)
                return error_set(err, ERROR_INVALID, "'%s': name too long", text);
            memcpy(name, text + 2, name_size);
            name[name_size] = '\0';
            const char *fallback = text + 2 + name_size;
            piece = getenv(name);
            if (piece && *piece) {
                length = strlen(piece);
            } else if (fallback[0] == ':' && fallback[1] == '-') {
                piece = fallback + 2;
                length = (size_t)(end - piece);
            } else {
                return error_set(err, ERROR_INVALID, "environment variable %s is not set", name);
            }
            text = end + 1;
        } else {
            text++;
        }
        if (length >= size - at)
            return error_set(err, ERROR_INVALID, "text is longer than %zu bytes once expanded",
                             size);
        memcpy(out + at, piece, length);
        at += length;
    }
    out[at] = '\0';
    return ERROR_NONE;
}

size_t text_put_number(char *out, uint64_t value)
{
    char digits[TEXT_NUMBER_SIZE];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

/* Writes the shortest text that reads back as `value`. Returns false if it is not shorter than
 * `size`. */
static bool shortest(double value, size_t size, char out[32])
{
    for (int digits = 1; digits <= 17; digits++) {
        const int length = snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return (size_t)length < size;
    }
    return false;
}

/* Returns the length of the decimal fraction at the start of `text`, after the character `before`;
 * 0: there is none. */
static size_t fraction_size(char before, const char *text)
{
    char *end = NULL;
    /* NUL: this is the start of the text */
    if (!strchr(" ,:=[>", before) || *text < '0' || *text > '9')
        return 0;
    (void)strtod(text, &end);
    const size_t size = (size_t)(end - text);
    return memchr(text, '.', size) && (*end == '\0' || strchr(" ,]}\n", *end)) ? size : 0;
}

char *text_shorten_fractions(char *text)
{
    char *to = text, number[32], before = '\0';
    for (const char *from = text; *from;) {
        const size_t size = fraction_size(before, from);
        if (size && shortest(strtod(from, NULL), size, number)) {
            to = stpcpy(to, number);
            from += size;
        } else {
            *to++ = *from++;
        }
        before = to[-1];
    }
    *to = '\0';
    return text;
}

bool text_seconds(const char *text, int64_t *out)
{
    static const struct {
        char name;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const int64_t most = 100LL * 366 * 86400;
    size_t size = strlen(text);
    int64_t unit = 1;
    for (size_t i = 0; size > 1 && i < sizeof units / sizeof *units; i++)
        if (text[size - 1] == units[i].name)
            unit = units[i].seconds;
    if (size > 1 && (text[size - 1] < '0' || text[size - 1] > '9'))
        size -= strchr("smhd", text[size - 1]) != NULL;
    if (!text_int64(text, size, out) || *out < 0 || *out > most / unit)
        return false;
    *out *= unit;
    return true;
}

void text_print_wrapped(const char *text, int column)
{
    enum { LINE_COLUMNS = 100 };
    int at = column;
    for (const char *word = text; *word; word += strspn(word, " ")) {
        const int size = (int)strcspn(word, " ");
        if (at > column && at + 1 + size > LINE_COLUMNS) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", size, word);
        word += size;
    }
    printf("\n");
}
