#include "store/records/parameter_values.h"

#include "common/base/text.h"
#include "common/numbers/cpu_kernel.h"

#include <inttypes.h>
#include <string.h>

CPU_KERNEL_OF(size_t, first_bad, (const float *value, size_t count), (value, count))
{
    /* x - x is 0 for finite x only; the first loop has no exit, so that it runs in vectors */
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= !(value[i] - value[i] == 0.0F);
    if (!bad)
        return count;
    size_t at = 0;
    while (value[at] - value[at] == 0.0F)
        at++;
    return at;
}

size_t parameter_values_first_bad(const float *value, size_t count)
{
    return first_bad(value, count);
}

enum error_code parameter_version_check(const struct record_view *view, uint64_t found,
                                        int64_t expected, struct error *err)
{
    if (found == (uint64_t)expected)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "record %s: version is %" PRIu64 ", expected %" PRId64,
                     view->key, found, expected);
}

/* The number that ends `line` [*size]; shortens *size to what stands before its space. */
static bool take_last_number(const char *line, size_t *size, int64_t *out)
{
    size_t start = *size;
    while (start > 0 && line[start - 1] != ' ')
        start--;
    if (start < 2 || !text_int64(line + start, *size - start, out))
        return false;
    *size = start - 1;
    return *out > 0 && *out <= UINT32_MAX;
}

/* Adds the values of the tensor that `line` describes to *count. */
static bool add_line(const char *line, size_t size, uint64_t *count)
{
    int64_t rows = 0, cols = 0;
    if (!take_last_number(line, &size, &cols) || !take_last_number(line, &size, &rows))
        return false;
    if (memchr(line, ' ', size) || memchr(line, '\0', size))
        return false;
    const uint64_t values = (uint64_t)rows * (uint64_t)cols;
    if (values > UINT64_MAX - *count)
        return false;
    *count += values;
    return true;
}

enum error_code parameter_table_check(const struct record_view *view, const char *table,
                                      uint64_t table_size, uint64_t value_count, struct error *err)
{
    uint64_t described = 0, at = 0;
    for (int line = 1; at < table_size; line++) {
        const char *end = memchr(table + at, '\n', table_size - at);
        if (!end || !add_line(table + at, (size_t)(end - (table + at)), &described))
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section table, line %d: expected 'name rows cols'",
                             view->key, line);
        at = (uint64_t)(end - table) + 1;
    }
    if (described == value_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: section table describes %" PRIu64 " values, expected %" PRIu64,
                     view->key, described, value_count);
}

enum error_code seed_counts_check(const struct record_view *view, uint64_t seed_count,
                                  uint64_t correct_count, struct error *err)
{
    if (correct_count <= seed_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: section counts has %" PRIu64
                     " correct ones, expected at most the %" PRIu64 " seeds",
                     view->key, correct_count, seed_count);
}

enum error_code seed_counts_get(const struct record_view *view, uint64_t *seed_count,
                                uint64_t *correct_count, double *loss_sum, struct error *err)
{
    const void *counts = NULL, *loss = NULL;
    enum error_code rc = record_section_get(view, "counts", ELEMENT_U64, 2, &counts, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "loss", ELEMENT_F64, 1, &loss, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(seed_count, counts, sizeof *seed_count);
    memcpy(correct_count, (const uint64_t *)counts + 1, sizeof *correct_count);
    memcpy(loss_sum, loss, sizeof *loss_sum);
    return seed_counts_check(view, *seed_count, *correct_count, err);
}
