#include "pipelines/report/run_metrics.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/line_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Returns the column of that name, which is added if it is missing; NULL when there are too
 * many. */
static struct metric_column *column_of(struct metric_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->column[i].name, name) == 0)
            return &table->column[i];
    if (table->column_count == METRIC_COUNT_MAX || strlen(name) >= METRIC_NAME_SIZE)
        return NULL;
    struct metric_column *column = &table->column[table->column_count++];
    must(text_copy(column->name, sizeof column->name, name));
    return column;
}

/* Makes room for line `table->count` in all columns; missing values are NaN. */
static enum error_code begin_line(struct metric_table *table, struct error *err)
{
    enum error_code rc =
        memory_grow(&table->number, &table->capacity, table->count + 1, "metrics", err);
    for (size_t i = 0; rc == ERROR_NONE && i < table->column_count; i++) {
        struct metric_column *column = &table->column[i];
        rc = memory_grow(&column->value, &column->capacity, table->count + 1, "metrics", err);
        if (rc == ERROR_NONE)
            column->value[table->count] = (double)NAN;
    }
    return rc;
}

static enum error_code put_value(struct metric_table *table, const char *key, double value,
                                 struct error *err)
{
    struct metric_column *column = column_of(table, key);
    if (!column)
        return ERROR_NONE;
    const size_t had = column->capacity;
    const enum error_code rc =
        memory_grow(&column->value, &column->capacity, table->count + 1, "metrics", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; had == 0 && i < table->count; i++)
        column->value[i] = (double)NAN;
    column->value[table->count] = value;
    return ERROR_NONE;
}

static enum error_code add_object(const struct json_node *root, struct run_metrics *out,
                                  struct error *err)
{
    double number = 0.0;
    struct metric_table *table = &out->rounds;
    if (!json_double(json_get(root, "round"), &number)) {
        table = &out->snapshots;
        if (!json_double(json_get(root, "snapshot"), &number))
            return error_set(err, ERROR_INPUT, "neither 'round' nor 'snapshot' is a number");
    }
    enum error_code rc = begin_line(table, err);
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(root); i++) {
        const struct json_node *member = NULL;
        double value = 0.0;
        const char *key = json_member(root, i, &member);
        if (json_double(member, &value))
            rc = put_value(table, key, value, err);
    }
    if (rc == ERROR_NONE)
        table->number[table->count++] = number;
    return rc;
}

static enum error_code add_line(const struct text_line *line, const char *name,
                                struct run_metrics *out, struct error *err)
{
    struct json_document *document = NULL;
    if (line->size == 0)
        return ERROR_NONE;
    enum error_code rc = json_parse(line->text, line->size, name, &document, err);
    if (rc == ERROR_NONE)
        rc = add_object(json_root(document), out, err);
    json_free(document);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s: line %" PRId64, name, line->number);
}

enum error_code run_metrics_parse(const char *text, size_t size, const char *name,
                                  struct run_metrics *out, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    *out = (struct run_metrics){0};
    enum error_code rc = line_reader_open_memory(name, text, size, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc == ERROR_NONE && found)
            rc = add_line(&line, name, out, err);
    }
    line_reader_close(reader);
    if (rc != ERROR_NONE)
        run_metrics_release(out);
    return rc;
}

const struct metric_column *metric_table_find(const struct metric_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->column[i].name, name) == 0)
            return &table->column[i];
    return NULL;
}

static void release_table(struct metric_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        memory_free(table->column[i].value);
    memory_free(table->number);
    *table = (struct metric_table){0};
}

void run_metrics_release(struct run_metrics *metrics)
{
    release_table(&metrics->rounds);
    release_table(&metrics->snapshots);
}
