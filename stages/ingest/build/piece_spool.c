#include "stages/ingest/build/piece_spool.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <string.h>

enum {
    MEMORY_BYTES = 1 << 20,
    ENDS_AT_ONCE = 1024 /* narrow ends are converted in runs of so many */
};

struct piece_header {
    int64_t first_line;
    uint64_t count;
    uint64_t where_size; /* size of the path that follows; 0: the path of the piece before */
    uint64_t is_narrow;  /* all ends are in 0 .. 2^32 - 1, and take 4 bytes */
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

static bool are_narrow(const int64_t *end, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= (uint64_t)end[i];
    return bits <= UINT32_MAX;
}

static enum error_code put_ends(struct piece_spool *spool, struct dataset_builder *builder,
                                const int64_t *end, size_t count, bool is_narrow, struct error *err)
{
    uint32_t narrow[ENDS_AT_ONCE];
    enum error_code rc = ERROR_NONE;
    if (!is_narrow)
        return put(spool, builder, end, count * sizeof *end, err);
    for (size_t at = 0; rc == ERROR_NONE && at < count; at += ENDS_AT_ONCE) {
        const size_t some = count - at < ENDS_AT_ONCE ? count - at : (size_t)ENDS_AT_ONCE;
        for (size_t i = 0; i < some; i++)
            narrow[i] = (uint32_t)end[at + i];
        rc = put(spool, builder, narrow, some * sizeof *narrow, err);
    }
    return rc;
}

enum error_code piece_spool_add(struct piece_spool *spool, struct dataset_builder *builder,
                                const struct edge_piece *piece, struct error *err)
{
    struct piece_header header = {.first_line = piece->first_line, .count = piece->count};
    if (piece->count == 0)
        return ERROR_NONE;
    header.is_narrow =
        are_narrow(piece->source, piece->count) && are_narrow(piece->target, piece->count);
    if (strcmp(spool->where, piece->where) != 0) {
        header.where_size = strlen(piece->where) + 1;
        must(text_copy(spool->where, sizeof spool->where, piece->where));
    }
    enum error_code rc = put(spool, builder, &header, sizeof header, err);
    if (rc == ERROR_NONE && header.where_size)
        rc = put(spool, builder, piece->where, header.where_size, err);
    if (rc == ERROR_NONE)
        rc = put_ends(spool, builder, piece->source, piece->count, header.is_narrow, err);
    if (rc == ERROR_NONE)
        rc = put_ends(spool, builder, piece->target, piece->count, header.is_narrow, err);
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

/* Reads what one put() wrote, which is either in memory or in the file as a whole. */
static enum error_code take(struct piece_spool *spool, void *out, size_t size, struct error *err)
{
    if (spool->memory_read == spool->memory_size)
        return scratch_file_read(&spool->file, out, size, err);
    must(size <= spool->memory_size - spool->memory_read);
    memcpy(out, spool->memory + spool->memory_read, size);
    spool->memory_read += size;
    return ERROR_NONE;
}

/* Reads ends. Narrow ends are read into the upper half of their array and widened from front to
 * back, so no second array is needed. */
static enum error_code take_ends(struct piece_spool *spool, int64_t *end, size_t count,
                                 bool is_narrow, struct error *err)
{
    uint32_t narrow;
    if (!is_narrow)
        return take(spool, end, count * sizeof *end, err);
    char *from = (char *)end + count * sizeof narrow;
    enum error_code rc = ERROR_NONE;
    for (size_t at = 0; rc == ERROR_NONE && at < count; at += ENDS_AT_ONCE) {
        const size_t some = count - at < ENDS_AT_ONCE ? count - at : (size_t)ENDS_AT_ONCE;
        rc = take(spool, from + at * sizeof narrow, some * sizeof narrow, err);
    }
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        memcpy(&narrow, from + i * sizeof narrow, sizeof narrow);
        end[i] = narrow;
    }
    return rc;
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
        rc = take_ends(spool, source, header.count, header.is_narrow, err);
    if (rc == ERROR_NONE)
        rc = take_ends(spool, target, header.count, header.is_narrow, err);
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
