#include "common/nn/tasks/float_labels.h"

#include <inttypes.h>
#include <math.h>

bool float_labels_takes_columns(uint32_t columns)
{
    (void)columns;
    return true;
}

uint32_t float_labels_width(uint32_t class_count)
{
    return class_count;
}

bool float_labels_has_label(const void *row)
{
    return !isnan(((const float *)row)[0]);
}

uint32_t float_labels_class_count(const void *row, uint64_t rows, uint32_t columns)
{
    (void)row, (void)rows;
    return columns;
}

enum error_code float_labels_take(const struct float_label_rule *rule, const double *column,
                                  uint32_t columns, float *row, struct error *err)
{
    uint32_t nan_count = 0;
    for (uint32_t i = 0; i < columns; i++) {
        const bool is_missing = isnan(column[i]);
        nan_count += is_missing;
        if (!is_missing && !rule->allows(column[i]))
            return error_set(err, ERROR_INPUT,
                             "label in column %" PRIu32 ": expected %s, found %.15g", i + 1,
                             rule->expected, column[i]);
        row[i] = is_missing ? NAN : (float)column[i] + 0.0F; /* adding 0 turns -0 into 0 */
    }
    if (nan_count && nan_count != columns)
        return error_set(err, ERROR_INPUT,
                         "expected labels in all columns or in none, found %" PRIu32 " of %" PRIu32,
                         columns - nan_count, columns);
    return ERROR_NONE;
}

enum error_code float_labels_check(const struct float_label_rule *rule, const float *row,
                                   uint32_t class_count, struct error *err)
{
    const bool is_labelled = float_labels_has_label(row);
    for (uint32_t c = 0; c < class_count; c++)
        if (is_labelled ? !rule->allows((double)row[c]) : !isnan(row[c]))
            return error_set(err, ERROR_CORRUPT,
                             "column %" PRIu32 ": expected %s, or nan in the whole row, found %g",
                             c + 1, rule->expected, (double)row[c]);
    return ERROR_NONE;
}

double float_labels_share(const float *label, size_t rows, uint32_t class_count,
                          uint64_t *label_count)
{
    uint64_t count = 0;
    must(class_count > 0);
    for (size_t row = 0; row < rows; row++)
        count += float_labels_has_label(label + row * class_count);
    *label_count = count;
    return count ? 1 / ((double)count * (double)class_count) : 0;
}
