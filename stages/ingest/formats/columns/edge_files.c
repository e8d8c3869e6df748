#include "stages/ingest/formats/columns/edge_files.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "store/records/dataset/dataset_schema.h"

#include <inttypes.h>

static enum error_code take_shape(struct edge_files *files, enum edge_column column,
                                  struct error *err)
{
    const struct npy_header *header = &files->reader[column].header;
    const uint64_t width = header->dimension_count == 2 ? header->shape[1] : 1;
    const bool wants_integers = edge_column[column].type != ELEMENT_F32;
    if (header->dimension_count < 1 || header->dimension_count > 2 || width == 0 ||
        width > UINT32_MAX || !edge_column_may_be(column, (uint32_t)width))
        return error_set(err, ERROR_INPUT,
                         "%s: expected the shape %s, found %" PRIu32 " dimensions, %" PRIu64
                         " columns",
                         files->reader[column].path,
                         edge_column[column].has_width ? "[edges, features]" : "[edges]",
                         header->dimension_count, width);
    if (wants_integers && !npy_is_integer(header))
        return error_set(err, ERROR_INPUT, "%s: expected integers, found another type",
                         files->reader[column].path);
    files->width.of[column] = (uint32_t)width;
    return ERROR_NONE;
}

enum error_code edge_files_open(struct edge_files *files, const char *folder,
                                struct value_notes *notes, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    *files = (struct edge_files){.notes = notes};
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        bool found = false;
        if (!edge_column[c].file)
            continue;
        rc = file_path(path, err, "%s/%s.npy", folder, edge_column[c].file);
        if (rc == ERROR_NONE)
            rc = file_is_there(path, &found, err);
        if (rc != ERROR_NONE || !found)
            continue;
        rc = npy_reader_open(&files->reader[c], path, err);
        files->reader[c].loss = &notes->loss;
        if (rc == ERROR_NONE)
            rc = take_shape(files, (enum edge_column)c, err);
    }
    if (rc != ERROR_NONE)
        edge_files_close(files);
    return rc;
}

enum error_code edge_files_open_text(struct edge_files *files, const char *folder,
                                     const char *const stem[EDGE_COLUMN_COUNT],
                                     const char *const *endings, struct value_notes *notes,
                                     struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    *files = (struct edge_files){.notes = notes};
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        if (!stem[c])
            continue;
        rc = input_files_find(folder, stem[c], endings, path, err);
        if (rc != ERROR_NONE || !path[0])
            continue;
        rc = edge_text_open(path, (enum edge_column)c, &files->text[c], err);
        if (rc != ERROR_NONE)
            break;
        files->width.of[c] = edge_text_width(files->text[c]);
        edge_text_set_notes(files->text[c], notes);
    }
    if (rc != ERROR_NONE)
        edge_files_close(files);
    return rc;
}

void edge_files_close(struct edge_files *files)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        npy_reader_close(&files->reader[c]);
        edge_text_close(files->text[c]);
    }
    *files = (struct edge_files){0};
}

static const char *path_of(const struct edge_files *files, enum edge_column column)
{
    return files->text[column] ? edge_text_path(files->text[column]) : files->reader[column].path;
}

enum error_code edge_files_join(const struct edge_files *files, const char *table,
                                struct edge_widths *width, struct error *err)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (files->width.of[c] && width->of[c])
            return error_set(err, ERROR_INPUT,
                             "expected %s in one of %s and %s, found them in both" ADVISE_ONE_FILE,
                             edge_column[c].plural, table, path_of(files, (enum edge_column)c));
        width->of[c] += files->width.of[c];
    }
    return ERROR_NONE;
}

static enum error_code take_times(const struct npy_reader *reader, struct time_format *time,
                                  uint64_t first, size_t count, int64_t *value, struct error *err)
{
    struct time_fault fault;
    for (size_t i = 0; i < count; i++) {
        const int64_t written = value[i];
        if (!time_integer_value(time, written, &value[i], &fault))
            return time_fault_advise(&fault,
                                     error_set(err, ERROR_INPUT,
                                               "%s: row %" PRIu64 ": expected %s, found %" PRId64,
                                               reader->path, first + i, fault.expected, written),
                                     err);
    }
    return ERROR_NONE;
}

/* Reads integers and stores them in the column's type. */
static enum error_code read_integers(const struct npy_reader *reader, enum edge_column column,
                                     uint64_t first, size_t count, void *out, struct error *err)
{
    int64_t *value = NULL;
    enum error_code rc = memory_new(&value, count, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = npy_reader_int64(reader, first, count, value, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        if (edge_column[column].type == ELEMENT_I64)
            ((int64_t *)out)[i] = value[i];
        else if (value[i] >= 0 && value[i] <= UINT16_MAX)
            ((uint16_t *)out)[i] = (uint16_t)value[i];
        else
            rc =
                error_set(err, ERROR_INPUT, "%s: row %" PRIu64 ": expected 0 to %d, found %" PRId64,
                          reader->path, first + i, UINT16_MAX, value[i]);
    memory_free(value);
    return rc;
}

enum error_code edge_files_count_types(const struct edge_files *files, uint32_t *type_count,
                                       struct error *err)
{
    enum { PIECE = 4096 };
    uint16_t type[PIECE];
    const struct npy_reader *reader = &files->reader[EDGE_TYPE];
    const uint64_t count = files->width.of[EDGE_TYPE] ? reader->header.shape[0] : 0;
    enum error_code rc = ERROR_NONE;
    *type_count = 0;
    for (uint64_t at = 0; rc == ERROR_NONE && at < count; at += PIECE) {
        const size_t piece = count - at < PIECE ? (size_t)(count - at) : (size_t)PIECE;
        rc = read_integers(reader, EDGE_TYPE, at, piece, type, err);
        for (size_t i = 0; rc == ERROR_NONE && i < piece; i++) {
            if (type[i] >= EDGE_TYPE_COUNT_MAX)
                rc = error_set(err, ERROR_INPUT,
                               "%s: row %" PRIu64 ": expected an edge type from 0 to %d, found %d",
                               reader->path, at + i, EDGE_TYPE_COUNT_MAX - 1, type[i]);
            else if (type[i] >= *type_count)
                *type_count = type[i] + 1U;
        }
    }
    return rc;
}

/* Reads rows of one .npy file, each `width` wide. */
static enum error_code read_array(const struct edge_files *files, enum edge_column column,
                                  uint64_t first, size_t count, void *out, struct error *err)
{
    const struct npy_reader *reader = &files->reader[column];
    const uint32_t width = files->width.of[column];
    if (first + count > reader->header.shape[0])
        return error_set(err, ERROR_INPUT,
                         "%s: expected a row for each edge, found %" PRIu64 " rows and more edges",
                         reader->path, reader->header.shape[0]);
    if (edge_column[column].type == ELEMENT_F32)
        return npy_reader_float(reader, first * width, count * width, out, err);
    const enum error_code rc = read_integers(reader, column, first, count, out, err);
    return rc == ERROR_NONE && column == EDGE_TIME
               ? take_times(reader, &files->notes->time, first, count, out, err)
               : rc;
}

enum error_code edge_files_read(const struct edge_files *files, uint64_t first, size_t count,
                                const struct edge_columns *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (files->text[c])
            rc = edge_text_read(files->text[c], count, out->data[c], err);
        else if (files->width.of[c])
            rc = read_array(files, (enum edge_column)c, first, count, out->data[c], err);
    return rc;
}

enum error_code edge_files_check(const struct edge_files *files, uint64_t edge_count,
                                 struct error *err)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (files->text[c] && !edge_text_is_done(files->text[c]))
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRIu64 ": expected %" PRIu64
                             " lines, one for each edge, found more",
                             path_of(files, (enum edge_column)c), edge_count + 1, edge_count);
        else if (!files->text[c] && files->width.of[c] &&
                 files->reader[c].header.shape[0] != edge_count)
            return error_set(err, ERROR_INPUT,
                             "%s: expected %" PRIu64 " rows, one for each edge, found %" PRIu64,
                             files->reader[c].path, edge_count, files->reader[c].header.shape[0]);
    return ERROR_NONE;
}
