#include "common/formats/text/table_column.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/formats/text/time_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 64 };

bool table_number(const struct field *field, bool decimal_comma, double *out)
{
    char text[NUMBER_SIZE];
    const char *comma = decimal_comma ? memchr(field->text, ',', field->size) : NULL;
    if (!comma)
        return text_double(field->text, field->size, out) && isfinite(*out);
    if (field->size >= sizeof text)
        return false;
    memcpy(text, field->text, field->size);
    text[comma - field->text] = '.';
    return text_double(text, field->size, out) && isfinite(*out);
}

/* Returns whether it is a number like 007, which would not be written back in the same way. 0.5 and
 * 0 are not. */
static bool has_leading_zero(const struct field *field)
{
    const bool is_signed = field->size > 0 && (field->text[0] == '-' || field->text[0] == '+');
    const char *text = field->text + is_signed;
    const size_t size = field->size - is_signed;
    return size > 1 && text[0] == '0' && isdigit((unsigned char)text[1]);
}

/* Returns whether a number has three decimals: 1,500 may be 1.5 or 1500, so a column with only such
 * numbers is one of words. */
static bool has_three_decimals(const struct field *field)
{
    return field->size > 4 && field->text[field->size - 4] == ',';
}

/* Returns whether `integer` is `last` plus 1, without the overflow of adding one to the largest
 * integer. */
static bool follows(int64_t last, int64_t integer)
{
    return integer > last && integer - 1 == last;
}

static void count_number(struct column_tally *tally, const struct field *field)
{
    double value = 0.0;
    int64_t integer = 0;
    const bool is_integer = text_int64(field->text, field->size, &integer);
    const bool is_plain = table_number(field, false, &value);
    const bool has_comma = !is_plain && table_number(field, true, &value);
    tally->not_finite += !is_plain && text_double(field->text, field->size, &value);
    if (!is_plain && !has_comma)
        return;
    tally->least = tally->numbers == 0 || value < tally->least ? value : tally->least;
    tally->most = tally->numbers == 0 || value > tally->most ? value : tally->most;
    tally->numbers++;
    tally->integers += is_integer;
    tally->has_decimal_comma |= has_comma && !has_three_decimals(field);
    tally->commas += has_comma;
    tally->has_fraction |= !is_integer;
    tally->has_leading_zero |= has_leading_zero(field);
    tally->skips |= !is_integer || (tally->values > 0 && !follows(tally->last, integer));
    tally->first = tally->values == 0 ? integer : tally->first;
    tally->last = integer;
}

static void count_cell(struct column_tally *tally, const struct field *field)
{
    if (!field->size)
        return;
    tally->skips |= tally->integers != tally->values;
    tally->dates += time_text_is_date(field->text, field->size);
    count_number(tally, field);
    tally->values++;
}

enum error_code column_tally_take(struct column_tally *tally, const struct field *field,
                                  struct error *err)
{
    const uint64_t at = tally->values;
    count_cell(tally, field);
    if (tally->values == at)
        return ERROR_NONE;
    const enum error_code rc =
        memory_grow(&tally->hash, &tally->capacity, at + 1, "the cells of a column", err);
    if (rc == ERROR_NONE)
        tally->hash[at] = checksum_64(field->text, field->size);
    return rc;
}

enum error_code column_tally_put_first(struct column_tally *tally, const struct field *field,
                                       struct error *err)
{
    const struct table_column cell = table_column_of(field);
    const bool skips =
        tally->skips ||
        (tally->values > 0 && (!cell.are_integers || (double)tally->first != cell.least + 1.0));
    const enum error_code rc = column_tally_take(tally, field, err);
    tally->skips = skips || !cell.are_integers;
    return rc;
}

struct table_column column_tally_view(const struct column_tally *tally)
{
    const bool any = tally->values > 0;
    const bool are_numbers =
        any && tally->numbers == tally->values && (tally->commas == 0 || tally->has_decimal_comma);
    return (struct table_column){
        .values = tally->values,
        .are_integers = any && tally->integers == tally->values,
        .are_numbers = are_numbers,
        .are_dates = any && tally->dates == tally->values,
        .has_numbers = tally->numbers + tally->not_finite > 0,
        .has_dates = tally->dates > 0,
        .has_fraction = tally->has_fraction,
        .has_decimal_comma = tally->has_decimal_comma && tally->numbers == tally->values,
        .has_leading_zero = tally->has_leading_zero,
        .counts_up = any && !tally->skips && tally->integers == tally->values,
        .least = tally->least,
        .most = tally->most};
}

struct table_column table_column_of(const struct field *field)
{
    struct column_tally tally = {.values = 0};
    count_cell(&tally, field);
    return column_tally_view(&tally);
}

static uint64_t count_of(const uint64_t *hash, uint64_t count, uint64_t wanted)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += hash[i] == wanted;
    return found;
}

bool column_tally_has(const struct column_tally *tally, const struct field *field)
{
    return count_of(tally->hash, tally->values, checksum_64(field->text, field->size)) > 0;
}

bool table_column_has(const struct table_column *column, const struct field *field)
{
    return count_of(column->hash, column->distinct, checksum_64(field->text, field->size)) > 0;
}

uint64_t table_column_shared(const struct table_column *a, const struct table_column *b)
{
    uint64_t i = 0, j = 0, shared = 0;
    while (i < a->distinct && j < b->distinct) {
        const uint64_t left = a->hash[i], right = b->hash[j];
        shared += left == right;
        i += left <= right;
        j += right <= left;
    }
    return shared;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t column_tally_distinct(const struct column_tally *tally, const struct column_tally *other,
                               uint64_t *once)
{
    uint64_t distinct = 0;
    *once = 0;
    for (uint64_t i = 0; i < tally->values; i++) {
        const uint64_t hash = tally->hash[i];
        const bool is_first = count_of(tally->hash, i, hash) == 0;
        distinct += is_first;
        *once += is_first && count_of(tally->hash, tally->values, hash) == 1 &&
                 (!other || count_of(other->hash, other->values, hash) == 0);
    }
    return distinct;
}

void column_tally_finish(struct column_tally *tally, struct table_column *out)
{
    *out = column_tally_view(tally);
    if (tally->values)
        qsort(tally->hash, tally->values, sizeof *tally->hash, compare);
    for (uint64_t i = 0; i < tally->values; i++)
        if (i == 0 || tally->hash[i] != tally->hash[i - 1])
            tally->hash[out->distinct++] = tally->hash[i];
    out->hash = tally->hash;
    tally->hash = NULL;
}

void column_tally_release(struct column_tally *tally)
{
    memory_free(tally->hash);
    *tally = (struct column_tally){.values = 0};
}
