#include "pipelines/export/row_table.h"

#include "common/base/memory.h"
#include "common/formats/text/csv_field.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static enum error_code failed(const struct row_table *table, struct error *err)
{
    return error_set_errno(err, ERROR_IO, "%s: cannot be written", table->temporary);
}

/* Prints the name of a class as a part of a column name; the caller quotes the whole. */
static int put_column(struct row_table *table, uint32_t column)
{
    const struct row_table_config *config = &table->config;
    char name[512], field[2 * sizeof name + 2];
    const bool has_word = config->words && column < config->words->class_count;
    int written = -1;
    if (has_word)
        written =
            snprintf(name, sizeof name, "%s_%s", config->column, config->words->class_name[column]);
    if (written < 0 || (size_t)written >= sizeof name)
        (void)snprintf(name, sizeof name, "%s_%" PRIu32, config->column, column);
    const size_t size = csv_field_put(field, name, strlen(name));
    return fputc(',', table->csv) == EOF || fwrite(field, 1, size, table->csv) != size ? -1 : 0;
}

static enum error_code put_header(struct row_table *table, struct error *err)
{
    int rc = fputs(table->config.id_column, table->csv) == EOF ? -1 : 0;
    for (uint32_t c = 0; rc == 0 && c < table->config.column_count; c++)
        rc = put_column(table, c);
    return rc == 0 && fputc('\n', table->csv) != EOF ? ERROR_NONE : failed(table, err);
}

static enum error_code open_csv(struct row_table *table, struct error *err)
{
    int fd = -1;
    const enum error_code rc =
        file_create_temporary(table->config.path, table->temporary, &fd, err);
    if (rc != ERROR_NONE)
        return rc;
    table->csv = fdopen(fd, "wb");
    if (table->csv)
        return put_header(table, err);
    (void)close(fd);
    return failed(table, err);
}

enum error_code row_table_open(struct row_table *table, const struct row_table_config *config,
                               struct error *err)
{
    *table = (struct row_table){.config = *config};
    return config->is_csv ? open_csv(table, err)
                          : npy_writer_open(&table->npy, config->path, NPY_F32, config->row_count,
                                            config->column_count, err);
}

static enum error_code put_row(struct row_table *table, const float *value, struct error *err)
{
    const struct row_table_config *config = &table->config;
    const uint32_t node =
        config->first_node + (config->node ? config->node[table->row] : table->row);
    const size_t room = node_ids_field_size(config->ids, node);
    const enum error_code rc =
        memory_grow(&table->field, &table->field_capacity, room, "the id of a node", err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t size = node_ids_field_put(config->ids, node, table->field);
    int written = fwrite(table->field, 1, size, table->csv) == size ? 0 : -1;
    for (uint32_t c = 0; written >= 0 && c < config->column_count; c++)
        written = fprintf(table->csv, ",%.9g", (double)value[c]);
    table->row++;
    return written >= 0 && fputc('\n', table->csv) != EOF ? ERROR_NONE : failed(table, err);
}

enum error_code row_table_add(struct row_table *table, const float *value, uint32_t rows,
                              struct error *err)
{
    const size_t columns = table->config.column_count;
    enum error_code rc = ERROR_NONE;
    if (!table->csv)
        return npy_writer_add(&table->npy, value, rows * columns, err);
    must(rows <= table->config.row_count - table->row);
    for (uint32_t i = 0; rc == ERROR_NONE && i < rows; i++)
        rc = put_row(table, value + i * columns, err);
    return rc;
}

static enum error_code finish_csv(struct row_table *table, struct error *err)
{
    must(table->row == table->config.row_count);
    const bool flushed = fflush(table->csv) == 0 && fsync(fileno(table->csv)) == 0;
    const bool closed = fclose(table->csv) == 0;
    table->csv = NULL;
    if (!flushed || !closed)
        return failed(table, err);
    const enum error_code rc = file_rename(table->temporary, table->config.path, err);
    if (rc == ERROR_NONE)
        table->temporary[0] = '\0'; /* there is nothing left to remove */
    return rc;
}

enum error_code row_table_finish(struct row_table *table, struct error *err)
{
    return table->csv ? finish_csv(table, err) : npy_writer_finish(&table->npy, err);
}

void row_table_close(struct row_table *table)
{
    npy_writer_close(&table->npy);
    if (table->csv)
        (void)fclose(table->csv);
    if (table->temporary[0])
        (void)unlink(table->temporary);
    memory_free(table->field);
    *table = (struct row_table){0};
}
