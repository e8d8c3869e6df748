#include "stages/ingest/build/label_table.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/missing_words.h"
#include "stages/ingest/build/nodes/node_targets.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMN_MAX = 65536 };

void label_table_release(struct label_table *table)
{
    memory_free(table->column);
    memory_free(table->row);
    memory_free(table->label);
    *table = (struct label_table){0};
}

/* Converts table->column into table->row. */
static enum error_code take_row(struct label_table *table, struct error *err)
{
    return task_of(table->task)
        ->label_take(table->column, table->column_count, table->class_count, table->row, err);
}

static void keep_row(struct label_table *table, uint64_t node)
{
    memcpy(table->label + node * table->width, table->row, table->width * sizeof *table->row);
}

/* Sets that no node has a label yet. */
static enum error_code clear(struct label_table *table, struct error *err)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        table->column[i] = (double)NAN;
    const enum error_code rc = take_row(table, err);
    for (uint64_t node = 0; rc == ERROR_NONE && node < table->node_count; node++)
        keep_row(table, node);
    return rc;
}

enum error_code label_table_columns(struct label_table *table, uint64_t count, struct error *err)
{
    size_t cells = 0;
    if (count < 1 || count > COLUMN_MAX)
        return error_set(err, ERROR_INPUT, "%s: expected 1 to %d label columns, found %" PRIu64,
                         table->path, COLUMN_MAX, count);
    table->column_count = (uint32_t)count;
    if (table->task == TASK_UNKNOWN)
        table->task = task_of_columns(table->column_count);
    const struct task *task = task_of(table->task);
    if (!task->takes_columns(table->column_count))
        return error_set(err, ERROR_INPUT,
                         "%s: expected 1 label column as ingest.task says (%s), found %" PRIu64,
                         table->path, task->name, count);
    table->width = task->label_width(table->column_count);
    if (__builtin_mul_overflow(table->node_count, table->width, &cells))
        return error_set(err, ERROR_INPUT, "%s: too many labels", table->path);
    enum error_code rc = memory_new(&table->column, count, "a row of labels", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&table->row, table->width, "a row of labels", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&table->label, cells, "labels", err);
    return rc == ERROR_NONE ? clear(table, err) : rc;
}

static enum error_code take_word(struct label_table *table, const struct field *field, uint32_t at,
                                 int64_t line, struct error *err)
{
    const int64_t found = column_encoding_class(table->words, field);
    if (found >= 0 || column_is_missing(field) || field_is(field, "-1")) {
        table->column[at] = found >= 0 ? (double)found : (double)NAN;
        return ERROR_NONE;
    }
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": label: expected one of the %zu words that are classes (%.40s, "
                     "..., %.40s), found '%.*s'",
                     table->path, line, table->words->class_count, table->words->class_name[0],
                     table->words->class_name[table->words->class_count - 1],
                     field->size < 40 ? (int)field->size : 40, field->text);
}

static enum error_code ask_what_is_missing(const struct label_table *table,
                                           const struct field *field, int64_t line,
                                           struct error *err)
{
    return error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": label: expected a number, found '%.*s': " ADVICE "if this word says "
        "that the label is not known, add a line `missing_words: %.*s` below `ingest:`",
        table->path, line, (int)field->size, field->text, (int)field->size, field->text);
}

enum error_code label_table_parse(struct label_table *table, struct delimited *cursor, int64_t line,
                                  struct error *err)
{
    struct field field;
    uint32_t at = 0;
    must(table->column);
    for (; delimited_next(cursor, &field); at++) {
        if (at >= table->column_count)
            continue;
        table->column[at] = (double)NAN;
        if (table->words && table->words->class_count) {
            const enum error_code rc = take_word(table, &field, at, line, err);
            if (rc != ERROR_NONE)
                return rc;
            continue;
        }
        if (field.size && !text_double(field.text, field.size, &table->column[at])) {
            if (table->takes_missing_words && missing_words_are_usual(&field))
                return ask_what_is_missing(table, &field, line, err);
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": label in column %" PRIu32
                             ": expected a number, found '%.*s' (classes are numbered 0, 1, 2, "
                             "..., and a file with a line for each %s has no header)",
                             table->path, line, at + 1, field.size < 40 ? (int)field.size : 40,
                             field.text, task_subject(table->task));
        }
    }
    if (at != table->column_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu32
                         " label columns, found %" PRIu32 ADVISE_COLUMNS,
                         table->path, line, table->column_count, at);
    return ERROR_NONE;
}

enum error_code label_table_take(struct label_table *table, uint64_t node, int64_t line,
                                 struct error *err)
{
    must(node < table->node_count && table->row);
    const enum error_code rc = take_row(table, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s:%" PRId64, table->path, line);
    keep_row(table, node);
    return ERROR_NONE;
}

bool label_table_agrees(const struct label_table *table, uint64_t node)
{
    return task_of(table->task)
                   ->label_take(table->column, table->column_count, table->class_count, table->row,
                                NULL) == ERROR_NONE &&
           memcmp(table->row, table->label + node * table->width,
                  table->width * sizeof *table->row) == 0;
}

enum error_code label_table_push(const struct label_table *table, int64_t first_line,
                                 struct dataset_builder *builder, struct error *err)
{
    const struct label_rows labels = {.task = table->task,
                                      .columns = table->column_count,
                                      .count = table->node_count,
                                      .row = table->label};
    return dataset_builder_set_labels(builder, table->path, first_line, &labels, err);
}
