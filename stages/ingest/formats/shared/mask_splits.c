#include "stages/ingest/formats/shared/mask_splits.h"

#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"

#include <inttypes.h>

enum { PIECE = 1 << 14 };

static enum error_code check_shape(const struct npy_reader *reader, uint64_t node_count,
                                   struct error *err)
{
    const struct npy_header *header = &reader->header;
    const uint32_t last = header->dimension_count - 1;
    if (header->dimension_count < 1 || header->dimension_count > 2 ||
        header->shape[last] != node_count || header->element_count < node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a mask of %" PRIu64 " nodes, or rows of such, found %" PRIu64
                         " elements in %" PRIu32 " dimensions",
                         reader->path, node_count, header->element_count, header->dimension_count);
    return npy_is_integer(header) ? ERROR_NONE
                                  : error_set(err, ERROR_INPUT,
                                              "%s: expected a mask of 0 and 1, found numbers with "
                                              "fractions",
                                              reader->path);
}

/* Collects the nodes of the mask, ascending, in node [*count]. */
static enum error_code collect(const struct npy_reader *reader, uint64_t row, uint64_t node_count,
                               int64_t *node, uint64_t *count, struct error *err)
{
    int64_t *value = NULL;
    enum error_code rc = memory_new(&value, PIECE, "a piece of a mask", err);
    for (uint64_t at = 0; rc == ERROR_NONE && at < node_count; at += PIECE) {
        const size_t size = node_count - at < PIECE ? (size_t)(node_count - at) : PIECE;
        rc = npy_reader_int64(reader, row * node_count + at, size, value, err);
        for (size_t i = 0; rc == ERROR_NONE && i < size; i++) {
            if (value[i] != 0 && value[i] != 1)
                rc = error_set(err, ERROR_INPUT,
                               "%s: node %" PRIu64 ": expected 0 or 1, found %" PRId64,
                               reader->path, at + i, value[i]);
            else if (value[i])
                node[(*count)++] = (int64_t)(at + i);
        }
    }
    memory_free(value);
    return rc;
}

enum error_code mask_splits_push(const char *path, enum split split, uint64_t row,
                                 uint64_t node_count, struct dataset_builder *builder,
                                 struct error *err)
{
    struct npy_reader reader = {0};
    int64_t *node = NULL;
    uint64_t count = 0;
    enum error_code rc = npy_reader_open(&reader, path, err);
    if (rc == ERROR_NONE)
        rc = check_shape(&reader, node_count, err);
    if (rc == ERROR_NONE && row >= reader.header.element_count / node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: ingest.split_name is '%" PRIu64 "', expected a row from 0 to %" PRIu64,
                       path, row, reader.header.element_count / node_count - 1);
    if (rc == ERROR_NONE)
        rc = memory_new(&node, node_count, "the nodes of a split", err);
    if (rc == ERROR_NONE)
        rc = collect(&reader, row, node_count, node, &count, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, split, path, 0, node, count, err);
    memory_free(node);
    npy_reader_close(&reader);
    return rc;
}
