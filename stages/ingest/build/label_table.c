#include "stages/ingest/build/label_table.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/build/node_targets.h"

#include <inttypes.h>
#include <math.h>

enum { COLUMN_MAX = 65536 };

void label_table_release(struct label_table *table)
{
    memory_free(table->label);
    memory_free(table->multi);
    memory_free(table->row);
    *table = (struct label_table){0};
}

static enum error_code new_cells(struct label_table *table, bool is_multi, struct error *err)
{
    size_t cells = 0;
    if (__builtin_mul_overflow(table->node_count, table->column_count, &cells))
        return error_set(err, ERROR_INPUT, "%s: too many labels", table->path);
    const enum error_code rc = is_multi ? memory_new(&table->multi, cells, "labels", err)
                                        : memory_new(&table->label, cells, "labels", err);
    for (size_t i = 0; rc == ERROR_NONE && i < cells; i++) {
        if (is_multi)
            table->multi[i] = NAN;
        else
            table->label[i] = -1;
    }
    return rc;
}

enum error_code label_table_columns(struct label_table *table, uint64_t count, struct error *err)
{
    if (count < 1 || count > COLUMN_MAX)
        return error_set(err, ERROR_INPUT, "%s: expected 1 to %d label columns, found %" PRIu64,
                         table->path, COLUMN_MAX, count);
    if (count > 1 && table->task == TASK_CHOICE_SINGLE)
        return error_set(err, ERROR_INPUT,
                         "%s: expected 1 label column as ingest.task says (single_label), found "
                         "%" PRIu64,
                         table->path, count);
    table->column_count = (uint32_t)count;
    const enum error_code rc = memory_new(&table->row, count, "a row of labels", err);
    return rc == ERROR_NONE ? new_cells(table, count > 1 || table->task == TASK_CHOICE_MULTI, err)
                            : rc;
}

enum error_code label_table_parse(struct label_table *table, struct delimited *cursor, int64_t line,
                                  struct error *err)
{
    struct field field;
    uint32_t at = 0;
    must(table->row);
    for (; delimited_next(cursor, &field); at++) {
        if (at >= table->column_count)
            continue;
        table->row[at] = (double)NAN;
        if (field.size && !text_double(field.text, field.size, &table->row[at]))
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": label in column %" PRIu32
                             ": expected a number, found '%.*s' (classes are numbered 0, 1, 2, "
                             "..., and a file with a line for each node has no header)",
                             table->path, line, at + 1, field.size < 40 ? (int)field.size : 40,
                             field.text);
    }
    if (at != table->column_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu32 " label columns, found %" PRIu32,
                         table->path, line, table->column_count, at);
    return ERROR_NONE;
}

static enum error_code take_class(struct label_table *table, uint64_t node, int64_t line,
                                  struct error *err)
{
    const double value = table->row[0];
    const double most = table->class_count ? (double)table->class_count - 1 : (double)LABEL_MAX;
    if (isnan(value)) {
        table->label[node] = -1;
        return ERROR_NONE;
    }
    if (!(value >= -1.0 && value <= most) || floor(value) < value)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": label: expected a class from 0 to %.0f, or -1 for none, "
                         "found %.15g",
                         table->path, line, most, value);
    table->label[node] = (int64_t)value;
    return ERROR_NONE;
}

static enum error_code take_multi(struct label_table *table, uint64_t node, int64_t line,
                                  struct error *err)
{
    float *out = table->multi + node * table->column_count;
    uint32_t nan_count = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const double value = table->row[i];
        const bool is_bit = value >= 0.0 && value <= 1.0 && !(floor(value) < value);
        nan_count += isnan(value) ? 1 : 0;
        if (!isnan(value) && !is_bit)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": label in column %" PRIu32 ": expected 0 or 1, found "
                             "%.15g",
                             table->path, line, i + 1, value);
        out[i] = (float)value;
    }
    if (nan_count && nan_count != table->column_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected labels in all columns or in none, found %" PRIu32
                         " of %" PRIu32,
                         table->path, line, table->column_count - nan_count, table->column_count);
    return ERROR_NONE;
}

enum error_code label_table_take(struct label_table *table, uint64_t node, int64_t line,
                                 struct error *err)
{
    must(node < table->node_count && table->row);
    return table->multi ? take_multi(table, node, line, err) : take_class(table, node, line, err);
}

bool label_table_agrees(const struct label_table *table, uint64_t node)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        const double value = table->row[i];
        const double kept = table->multi ? (double)table->multi[node * table->column_count + i]
                            : table->label[node] < 0 ? (double)NAN
                                                     : (double)table->label[node];
        const bool is_none = isnan(value) || (!table->multi && value < 0.0);
        if (is_none ? !isnan(kept) : !(value <= kept && value >= kept))
            return false;
    }
    return true;
}

enum error_code label_table_push(const struct label_table *table, int64_t first_line,
                                 struct dataset_builder *builder, struct error *err)
{
    if (table->multi)
        return dataset_builder_set_multi_labels(builder, table->path, table->multi,
                                                table->node_count, table->column_count, err);
    return dataset_builder_set_labels(builder, table->path, first_line, table->label,
                                      table->node_count, err);
}
