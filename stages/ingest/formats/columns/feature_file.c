#include "stages/ingest/formats/columns/feature_file.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_FLOATS = 1 << 20, PIECE_ENTRIES = 1 << 14 };

/* Buffers of one push. */
struct piece {
    uint64_t rows;  /* number of rows that fit */
    float *row;     /* [rows, dim] */
    int64_t *begin; /* [rows + 1] */
    int64_t *index; /* [PIECE_ENTRIES] */
    float *value;   /* [PIECE_ENTRIES] */
};

static void piece_release(struct piece *piece)
{
    memory_free(piece->row);
    memory_free(piece->begin);
    memory_free(piece->index);
    memory_free(piece->value);
}

static enum error_code piece_init(struct piece *piece, uint32_t dim, struct error *err)
{
    static const char *const what = "a piece of the features";
    *piece = (struct piece){.rows = dim < PIECE_FLOATS ? PIECE_FLOATS / dim : 1};
    enum error_code rc = memory_new(&piece->row, piece->rows * dim, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece->begin, piece->rows + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece->index, PIECE_ENTRIES, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece->value, PIECE_ENTRIES, what, err);
    return rc;
}

static enum error_code check_vector(const struct npy_reader *reader, bool of_integers,
                                    uint64_t count, struct error *err)
{
    if (reader->header.dimension_count != 1 || reader->header.element_count != count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected 1 dimension of %" PRIu64 " elements, found %" PRIu64
                         " elements in %" PRIu32 " dimensions",
                         reader->path, count, reader->header.element_count,
                         reader->header.dimension_count);
    if (of_integers && !npy_is_integer(&reader->header))
        return error_set(err, ERROR_INPUT, "%s: expected integers, found floating point numbers",
                         reader->path);
    return ERROR_NONE;
}

static enum error_code check_dim(const char *path, uint64_t found, uint32_t expected,
                                 struct error *err)
{
    if (expected && found != expected)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %" PRIu32 " feature columns, found %" PRIu64, path, expected,
                         found);
    if (found < 1 || found > FEATURE_DIM_MAX)
        return error_set(err, ERROR_INPUT, "%s: expected 1 to %d feature columns, found %" PRIu64,
                         path, FEATURE_DIM_MAX, found);
    return ERROR_NONE;
}

static enum error_code open_dense(struct feature_file *file, const char *path, uint32_t dim,
                                  struct error *err)
{
    enum error_code rc = npy_reader_open(&file->dense, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct npy_header *header = &file->dense.header;
    if (header->dimension_count != 2 || header->shape[0] != file->row_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected 2 dimensions with %" PRIu64 " rows, one for each node, "
                         "found %" PRIu64 " rows in %" PRIu32 " dimensions",
                         path, file->row_count, header->shape[0], header->dimension_count);
    rc = check_dim(path, header->shape[1], dim, err);
    file->dim = (uint32_t)header->shape[1];
    return rc;
}

static enum error_code open_member(struct npy_reader *reader, const char *stem, const char *member,
                                   struct error *err)
{
    char path[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = file_path(path, err, "%s_%s.npy", stem, member);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(
            err, ERROR_INPUT,
            "%s is not there: expected it beside %s_indptr.npy, as sparse features are "
            "three files (indptr, indices, values)",
            path, stem);
    return rc == ERROR_NONE ? npy_reader_open(reader, path, err) : rc;
}

/* Finds the highest column of any entry, plus one. */
static enum error_code find_dim(const struct feature_file *file, uint64_t *dim, struct error *err)
{
    const uint64_t count = file->indices.header.element_count;
    int64_t *index = NULL;
    int64_t highest = -1;
    enum error_code rc = memory_new(&index, PIECE_ENTRIES, "a piece of the features", err);
    for (uint64_t at = 0; rc == ERROR_NONE && at < count;) {
        const size_t piece =
            count - at < PIECE_ENTRIES ? (size_t)(count - at) : (size_t)PIECE_ENTRIES;
        rc = npy_reader_int64(&file->indices, at, piece, index, err);
        for (size_t i = 0; rc == ERROR_NONE && i < piece; i++)
            highest = index[i] > highest ? index[i] : highest;
        at += piece;
    }
    memory_free(index);
    *dim = highest < INT64_MAX ? (uint64_t)(highest + 1) : (uint64_t)highest;
    return rc;
}

static enum error_code open_sparse(struct feature_file *file, const char *stem, uint32_t dim,
                                   struct error *err)
{
    uint64_t found = dim;
    file->is_sparse = true;
    enum error_code rc = open_member(&file->indptr, stem, "indptr", err);
    if (rc == ERROR_NONE)
        rc = open_member(&file->indices, stem, "indices", err);
    if (rc == ERROR_NONE)
        rc = open_member(&file->values, stem, "values", err);
    if (rc == ERROR_NONE)
        rc = check_vector(&file->indptr, true, file->row_count + 1, err);
    if (rc == ERROR_NONE)
        rc = check_vector(&file->indices, true, file->indices.header.element_count, err);
    if (rc == ERROR_NONE)
        rc = check_vector(&file->values, false, file->indices.header.element_count, err);
    if (rc == ERROR_NONE && dim == 0)
        rc = find_dim(file, &found, err);
    if (rc == ERROR_NONE)
        rc = check_dim(file->indices.path, found, dim, err);
    file->dim = (uint32_t)found;
    return rc;
}

enum error_code feature_file_open(struct feature_file *file, const char *dense_path,
                                  const char *sparse_stem, uint64_t row_count, uint32_t dim,
                                  struct error *err)
{
    *file = (struct feature_file){.row_count = row_count};
    const enum error_code rc = dense_path ? open_dense(file, dense_path, dim, err)
                                          : open_sparse(file, sparse_stem, dim, err);
    if (rc != ERROR_NONE)
        feature_file_close(file);
    return rc;
}

void feature_file_close(struct feature_file *file)
{
    npy_reader_close(&file->dense);
    npy_reader_close(&file->indptr);
    npy_reader_close(&file->indices);
    npy_reader_close(&file->values);
    *file = (struct feature_file){0};
}

/* Reads the starts of rows [first, first + count], and checks them, because they determine where
 * entries are read. */
static enum error_code read_begins(const struct feature_file *file, uint64_t first, uint64_t count,
                                   int64_t *begin, struct error *err)
{
    const uint64_t entries = file->indices.header.element_count;
    const enum error_code rc = npy_reader_int64(&file->indptr, first, count + 1, begin, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i <= count; i++) {
        const uint64_t row = first + i;
        int64_t least = i ? begin[i - 1] : 0, most = (int64_t)entries;
        if (row == 0)
            most = 0;
        if (row == file->row_count)
            least = (int64_t)entries;
        if (begin[i] < least || begin[i] > most)
            return error_set(err, ERROR_INPUT,
                             "%s: element %" PRIu64 ": expected %" PRId64 " to %" PRId64
                             " (row starts never fall; there are %" PRIu64 " entries), found "
                             "%" PRId64,
                             file->indptr.path, row, least, most, entries, begin[i]);
    }
    return ERROR_NONE;
}

static enum error_code add_entries(const struct feature_file *file, const struct piece *piece,
                                   uint64_t at, size_t count, uint64_t *row, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t column = piece->index[i];
        while ((uint64_t)piece->begin[*row + 1] <= at + i)
            ++*row;
        if (column < 0 || column >= (int64_t)file->dim)
            return error_set(err, ERROR_INPUT,
                             "%s: element %" PRIu64 ": expected a column from 0 to %" PRIu32
                             ", found %" PRId64,
                             file->indices.path, at + i, file->dim - 1, column);
        piece->row[*row * file->dim + (uint64_t)column] += piece->value[i];
    }
    return ERROR_NONE;
}

static enum error_code read_sparse(const struct feature_file *file, const struct piece *piece,
                                   uint64_t first, uint64_t count, struct error *err)
{
    uint64_t row = 0;
    memset(piece->row, 0, count * file->dim * sizeof *piece->row);
    enum error_code rc = read_begins(file, first, count, piece->begin, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t end = (uint64_t)piece->begin[count];
    for (uint64_t at = (uint64_t)piece->begin[0]; rc == ERROR_NONE && at < end;) {
        const size_t some = end - at < PIECE_ENTRIES ? (size_t)(end - at) : (size_t)PIECE_ENTRIES;
        rc = npy_reader_int64(&file->indices, at, some, piece->index, err);
        if (rc == ERROR_NONE)
            rc = npy_reader_float(&file->values, at, some, piece->value, err);
        if (rc == ERROR_NONE)
            rc = add_entries(file, piece, at, some, &row, err);
        at += some;
    }
    return rc;
}

enum error_code feature_file_push(struct feature_file *file, struct dataset_builder *builder,
                                  struct error *err)
{
    struct piece piece = {0};
    const char *where = file->is_sparse ? file->values.path : file->dense.path;
    file->dense.loss = file->values.loss = &dataset_builder_notes(builder)->loss;
    enum error_code rc = piece_init(&piece, file->dim, err);
    for (uint64_t at = 0; rc == ERROR_NONE && at < file->row_count;) {
        const uint64_t left = file->row_count - at;
        const uint64_t rows = left < piece.rows ? left : piece.rows;
        rc = file->is_sparse
                 ? read_sparse(file, &piece, at, rows, err)
                 : npy_reader_float(&file->dense, at * file->dim, rows * file->dim, piece.row, err);
        if (rc == ERROR_NONE)
            rc = dataset_builder_add_features(builder, where, piece.row, rows, file->dim, err);
        at += rows;
    }
    piece_release(&piece);
    return rc;
}

enum error_code feature_file_push_zeros(struct dataset_builder *builder, const char *where,
                                        uint64_t row_count, uint32_t dim, struct error *err)
{
    struct piece piece = {0};
    enum error_code rc = piece_init(&piece, dim, err);
    for (uint64_t at = 0; rc == ERROR_NONE && at < row_count;) {
        const uint64_t rows = row_count - at < piece.rows ? row_count - at : piece.rows;
        rc = dataset_builder_add_features(builder, where, piece.row, rows, dim, err);
        at += rows;
    }
    piece_release(&piece);
    return rc;
}
