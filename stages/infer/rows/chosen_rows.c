#include "stages/infer/rows/chosen_rows.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct chosen_row {
    uint32_t node, place; /* `place`: where the row goes */
};

static int by_node(const void *a, const void *b)
{
    const uint32_t x = ((const struct chosen_row *)a)->node,
                   y = ((const struct chosen_row *)b)->node;
    return (x > y) - (x < y);
}

static size_t longest_block(const struct feature_source *source, const struct chosen_row *row,
                            size_t count)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t length = feature_source_block_end(source, row[i].node) - row[i].node;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Reads row [count], ascending, block after block. */
static enum error_code read_blocks(struct feature_source *source, const struct chosen_row *row,
                                   size_t count, char *block, char *out, struct error *err)
{
    const size_t bytes = feature_source_row_bytes(source);
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0, next = 0; rc == ERROR_NONE && i < count; i = next) {
        const uint32_t first = row[i].node, end = feature_source_block_end(source, first);
        for (next = i; next < count && row[next].node < end; next++)
            ;
        rc = feature_source_read(source, first, row[next - 1].node + 1, block, err);
        for (size_t k = i; rc == ERROR_NONE && k < next; k++)
            memcpy(out + row[k].place * bytes, block + (row[k].node - first) * bytes, bytes);
    }
    return rc;
}

enum error_code chosen_rows_read(struct feature_source *source, const uint32_t *node, size_t count,
                                 void *out, struct error *err)
{
    struct chosen_row *row = NULL;
    char *block = NULL;
    enum error_code rc = memory_new(&row, count, "chosen rows", err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        row[i] = (struct chosen_row){node[i], (uint32_t)i};
    if (rc == ERROR_NONE && count) {
        qsort(row, count, sizeof *row, by_node);
        rc =
            memory_new(&block, longest_block(source, row, count) * feature_source_row_bytes(source),
                       "a block of rows", err);
    }
    if (rc == ERROR_NONE)
        rc = read_blocks(source, row, count, block, out, err);
    memory_free(row);
    memory_free(block);
    return rc;
}
