#include "stages/ingest/formats/shared/csr_edges.h"

#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"
#include "stages/ingest/build/edge_buffer.h"

#include <inttypes.h>

enum { PIECE = 1 << 14 };

struct csr { /* the state of one run */
    const struct csr_files *files;
    uint64_t node_count;
    struct npy_reader indptr, indices, data;
    bool has_weights;
    struct edge_buffer buffer;
    uint64_t window;      /* number of the first entry in the arrays below */
    size_t window_size;   /* number of entries in them */
    int64_t *index, *row; /* [PIECE]; row only for COO */
    float *weight;        /* [PIECE] */
};

static enum error_code check_vector(const struct npy_reader *reader, uint64_t count,
                                    bool of_integers, struct error *err)
{
    const struct npy_header *header = &reader->header;
    if (header->dimension_count != 1 || header->element_count != count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected 1 dimension of %" PRIu64 " elements, found %" PRIu64
                         " elements in %" PRIu32 " dimensions",
                         reader->path, count, header->element_count, header->dimension_count);
    return of_integers && !npy_is_integer(header)
               ? error_set(err, ERROR_INPUT, "%s: expected integers, found other numbers",
                           reader->path)
               : ERROR_NONE;
}

/* Finds out whether the data has a number other than 1. */
static enum error_code find_weights(struct csr *csr, struct error *err)
{
    const uint64_t count = csr->data.header.element_count;
    enum error_code rc = ERROR_NONE;
    for (uint64_t at = 0; rc == ERROR_NONE && at < count && !csr->has_weights; at += PIECE) {
        const size_t size = count - at < PIECE ? (size_t)(count - at) : PIECE;
        rc = npy_reader_float(&csr->data, at, size, csr->weight, err);
        for (size_t i = 0; rc == ERROR_NONE && i < size; i++)
            csr->has_weights |= csr->weight[i] != 1.0F;
    }
    return rc;
}

static enum error_code open_arrays(struct csr *csr, struct error *err)
{
    const struct csr_files *files = csr->files;
    enum error_code rc = npy_reader_open(&csr->indptr, files->indptr, err);
    if (rc == ERROR_NONE)
        rc = npy_reader_open(&csr->indices, files->indices, err);
    const uint64_t entries = csr->indices.header.element_count;
    if (rc == ERROR_NONE)
        rc = check_vector(&csr->indices, entries, true, err);
    if (rc == ERROR_NONE)
        rc = check_vector(&csr->indptr, files->is_coo ? entries : csr->node_count + 1, true, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&csr->index, PIECE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&csr->row, PIECE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&csr->weight, PIECE, "a piece of the edges", err);
    if (rc != ERROR_NONE || !files->data)
        return rc;
    rc = npy_reader_open(&csr->data, files->data, err);
    if (rc == ERROR_NONE)
        rc = check_vector(&csr->data, entries, false, err);
    return rc == ERROR_NONE ? find_weights(csr, err) : rc;
}

/* Makes sure that entry `at` is in the window of PIECE entries that is in memory. Callers ask for
 * entries in ascending order. */
static enum error_code load(struct csr *csr, uint64_t at, struct error *err)
{
    const uint64_t left = csr->indices.header.element_count - at;
    const size_t count = left < PIECE ? (size_t)left : PIECE;
    if (at - csr->window < csr->window_size)
        return ERROR_NONE;
    enum error_code rc = npy_reader_int64(&csr->indices, at, count, csr->index, err);
    if (rc == ERROR_NONE && csr->files->is_coo)
        rc = npy_reader_int64(&csr->indptr, at, count, csr->row, err);
    if (rc == ERROR_NONE && csr->has_weights)
        rc = npy_reader_float(&csr->data, at, count, csr->weight, err);
    csr->window = at;
    csr->window_size = rc == ERROR_NONE ? count : 0;
    return rc;
}

/* Adds an entry. `row` is its row; for COO the array `row` has it instead. */
static enum error_code add_entry(struct csr *csr, uint64_t entry, int64_t row, struct error *err)
{
    const enum error_code rc = load(csr, entry, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t i = (size_t)(entry - csr->window);
    const struct edge_columns_view value = {.width = csr->buffer.columns.width,
                                            .data = {[EDGE_WEIGHT] = &csr->weight[i]}};
    const int64_t column = csr->index[i], from = csr->files->is_coo ? csr->row[i] : row;
    return csr->files->by_columns
               ? edge_buffer_add(&csr->buffer, (int64_t)entry, column, from, &value, err)
               : edge_buffer_add(&csr->buffer, (int64_t)entry, from, column, &value, err);
}

static enum error_code push_entries(struct csr *csr, uint64_t begin, uint64_t end, int64_t row,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t at = begin; rc == ERROR_NONE && at < end; at++)
        rc = add_entry(csr, at, row, err);
    return rc;
}

static enum error_code check_row(const struct csr *csr, uint64_t row, int64_t begin, int64_t end,
                                 struct error *err)
{
    const uint64_t entries = csr->indices.header.element_count;
    const bool is_first = row == 0, is_last = row + 1 == csr->node_count;
    if (end >= begin && (uint64_t)end <= entries && (!is_first || begin == 0) &&
        (!is_last || (uint64_t)end == entries))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: row %" PRIu64 ": expected starts that never fall, from 0 to %" PRIu64
                     ", found %" PRId64 " and %" PRId64,
                     csr->indptr.path, row, entries, begin, end);
}

static enum error_code push_rows(struct csr *csr, struct error *err)
{
    int64_t *start = NULL; /* [PIECE + 1] */
    enum error_code rc = memory_new(&start, PIECE + 1, "a piece of the rows", err);
    for (uint64_t first = 0; rc == ERROR_NONE && first < csr->node_count; first += PIECE) {
        const uint64_t left = csr->node_count - first;
        const size_t rows = left < PIECE ? (size_t)left : PIECE;
        rc = npy_reader_int64(&csr->indptr, first, rows + 1, start, err);
        for (size_t r = 0; rc == ERROR_NONE && r < rows; r++) {
            rc = check_row(csr, first + r, start[r], start[r + 1], err);
            if (rc == ERROR_NONE)
                rc = push_entries(csr, (uint64_t)start[r], (uint64_t)start[r + 1],
                                  (int64_t)(first + r), err);
        }
    }
    memory_free(start);
    return rc;
}

enum error_code csr_edges_push(const struct csr_files *files, uint64_t node_count,
                               struct dataset_builder *builder, struct error *err)
{
    struct csr csr = {.files = files, .node_count = node_count};
    struct edge_widths width = {0};
    enum error_code rc = open_arrays(&csr, err);
    width.of[EDGE_WEIGHT] = csr.has_weights ? 1 : 0;
    if (rc == ERROR_NONE)
        rc = edge_buffer_init(&csr.buffer, builder, files->indices, &width, err);
    /* find_weights() has read the data before and must not count its loss */
    csr.data.loss = &dataset_builder_notes(builder)->loss;
    if (rc == ERROR_NONE)
        rc = files->is_coo ? push_entries(&csr, 0, csr.indices.header.element_count, 0, err)
                           : push_rows(&csr, err);
    if (rc == ERROR_NONE)
        rc = edge_buffer_flush(&csr.buffer, err);
    edge_buffer_release(&csr.buffer);
    npy_reader_close(&csr.indptr);
    npy_reader_close(&csr.indices);
    npy_reader_close(&csr.data);
    memory_free(csr.index);
    memory_free(csr.row);
    memory_free(csr.weight);
    return rc;
}
