#include "stages/infer/prediction_table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum error_code prediction_table_open(struct prediction_table *table, const char *path,
                                      enum task_kind task, uint32_t class_count,
                                      const struct node_ids *ids, struct error *err)
{
    *table = (struct prediction_table){.task = task, .class_count = class_count, .ids = ids};
    const enum error_code rc = file_path(table->path, err, "%s", path);
    if (rc != ERROR_NONE)
        return rc;
    table->file = fopen(path, "wxe");
    if (!table->file)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", path);
    (void)fputs("node,split,label,prediction,probability\n", table->file);
    return ERROR_NONE;
}

/* A string id with a comma, quote or line end stands in quotes, quotes doubled (RFC 4180). */
static void put_text_id(FILE *file, const char *text, size_t size)
{
    bool plain = true;
    for (size_t i = 0; i < size; i++)
        plain = plain && text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (plain) {
        (void)fwrite(text, 1, size, file);
        return;
    }
    (void)fputc('"', file);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            (void)fputc('"', file);
        (void)fputc(text[i], file);
    }
    (void)fputc('"', file);
}

static void put_id(const struct prediction_table *table, uint32_t node)
{
    const struct node_ids *ids = table->ids;
    if (ids->integer)
        (void)fprintf(table->file, "%" PRId64, ids->integer[node]);
    else if (ids->offset)
        put_text_id(table->file, ids->text + ids->offset[node],
                    (size_t)(ids->offset[node + 1] - ids->offset[node]));
    else
        (void)fprintf(table->file, "%" PRIu32, node);
}

/* Says it with the cause of the first failure, which later calls of the library may have written over. */
static enum error_code not_written(const struct prediction_table *table, struct error *err)
{
    errno = table->failure;
    return error_set_errno(err, ERROR_IO, "%s cannot be written", table->path);
}

enum error_code prediction_table_add(struct prediction_table *table, uint32_t node,
                                     const char *split, const float *logit, const void *label,
                                     struct error *err)
{
    errno = 0; /* a failure below sets it */
    put_id(table, node);
    (void)fprintf(table->file, ",%s,", split);
    task_of(table->task)->print(table->file, logit, label, table->class_count);
    (void)fputc('\n', table->file);
    if (!ferror(table->file))
        return ERROR_NONE;
    table->failure = table->failure ? table->failure : errno;
    return not_written(table, err);
}

enum error_code prediction_table_finish(struct prediction_table *table, struct error *err)
{
    FILE *file = table->file;
    table->file = NULL;
    errno = 0;
    if (ferror(file) && !table->failure)
        table->failure = errno ? errno : EIO;
    if (fclose(file) != 0 && !table->failure)
        table->failure = errno;
    return table->failure ? not_written(table, err) : ERROR_NONE;
}

void prediction_table_close(struct prediction_table *table)
{
    if (table->file)
        (void)fclose(table->file);
    table->file = NULL;
}

enum error_code prediction_table_write_ids(const char *path, const struct node_ids *ids,
                                           uint32_t node_count, struct error *err)
{
    struct prediction_table table = {.ids = ids};
    enum error_code rc = file_path(table.path, err, "%s", path);
    if (rc != ERROR_NONE)
        return rc;
    table.file = fopen(path, "wxe");
    if (!table.file)
        return error_set_errno(err, ERROR_IO, "%s cannot be created", path);
    (void)fputs("node\n", table.file);
    for (uint32_t node = 0; node < node_count; node++) {
        put_id(&table, node);
        (void)fputc('\n', table.file);
    }
    return prediction_table_finish(&table, err);
}
