#include "stages/ingest/build/piece_spool.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <string.h>

enum { MEMORY_BYTES = 1 << 20 };

struct piece_header {
    int64_t first_line;
    uint64_t count;
    uint64_t where_size; /* of the path behind it; 0: that of the piece before */
};

static enum error_code open_file(struct piece_spool *spool, struct dataset_builder *builder,
                                 struct error *err)
{
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = dataset_builder_folder(builder, "pieces", folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/edges", folder);
    return rc == ERROR_NONE ? scratch_file_open(&spool->file, path, err) : rc;
}

static enum error_code put(struct piece_spool *spool, struct dataset_builder *builder,
                           const void *data, size_t size, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!spool->file.is_open && spool->memory_size + size > MEMORY_BYTES)
        rc = open_file(spool, builder, err);
    if (rc == ERROR_NONE && spool->file.is_open)
        return scratch_file_append(&spool->file, data, size, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&spool->memory, &spool->memory_capacity, spool->memory_size + size,
                         "edges that are put aside", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(spool->memory + spool->memory_size, data, size);
    spool->memory_size += size;
    return rc;
}

enum error_code piece_spool_add(struct piece_spool *spool, struct dataset_builder *builder,
                                const struct edge_piece *piece, struct error *err)
{
    struct piece_header header = {.first_line = piece->first_line, .count = piece->count};
    const size_t ends = piece->count * sizeof *piece->source;
    if (piece->count == 0)
        return ERROR_NONE;
    if (strcmp(spool->where, piece->where) != 0) {
        header.where_size = strlen(piece->where) + 1;
        must(text_copy(spool->where, sizeof spool->where, piece->where));
    }
    enum error_code rc = put(spool, builder, &header, sizeof header, err);
    if (rc == ERROR_NONE && header.where_size)
        rc = put(spool, builder, piece->where, header.where_size, err);
    if (rc == ERROR_NONE)
        rc = put(spool, builder, piece->source, ends, err);
    if (rc == ERROR_NONE)
        rc = put(spool, builder, piece->target, ends, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        const size_t bytes = edge_column_bytes((enum edge_column)c, piece->columns.width.of[c]);
        if (bytes)
            rc = put(spool, builder, piece->columns.data[c], piece->count * bytes, err);
    }
    return rc;
}

enum error_code piece_spool_rewind(struct piece_spool *spool, struct error *err)
{
    spool->memory_read = 0;
    return spool->file.is_open ? scratch_file_rewind(&spool->file, err) : ERROR_NONE;
}

/* As much as one put() took, which is in memory or in the file. */
static enum error_code take(struct piece_spool *spool, void *out, size_t size, struct error *err)
{
    if (spool->memory_read == spool->memory_size)
        return scratch_file_read(&spool->file, out, size, err);
    must(size <= spool->memory_size - spool->memory_read);
    memcpy(out, spool->memory + spool->memory_read, size);
    spool->memory_read += size;
    return ERROR_NONE;
}

static bool is_at_end(const struct piece_spool *spool)
{
    return spool->memory_read == spool->memory_size &&
           (!spool->file.is_open || spool->file.position == spool->file.size);
}

enum error_code piece_spool_read(struct piece_spool *spool, int64_t *source, int64_t *target,
                                 const struct edge_columns *columns, struct edge_piece *out,
                                 struct error *err)
{
    struct piece_header header = {.count = 0};
    *out = (struct edge_piece){.where = spool->where};
    if (is_at_end(spool))
        return ERROR_NONE;
    enum error_code rc = take(spool, &header, sizeof header, err);
    if (rc == ERROR_NONE && header.where_size)
        rc = take(spool, spool->where, header.where_size, err);
    if (rc == ERROR_NONE)
        rc = take(spool, source, header.count * sizeof *source, err);
    if (rc == ERROR_NONE)
        rc = take(spool, target, header.count * sizeof *target, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        const size_t bytes = edge_column_bytes((enum edge_column)c, columns->width.of[c]);
        if (bytes)
            rc = take(spool, columns->data[c], header.count * bytes, err);
    }
    out->first_line = header.first_line;
    out->count = rc == ERROR_NONE ? header.count : 0;
    out->source = source;
    out->target = target;
    out->columns = edge_columns_read(columns, 0);
    return rc;
}

void piece_spool_release(struct piece_spool *spool)
{
    scratch_file_close(&spool->file);
    memory_free(spool->memory);
    *spool = (struct piece_spool){.memory = NULL};
}
