#include "stages/ingest/build/edges/edge_spool.h"

#include "common/base/memory.h"

#include <string.h>

enum { ENDS_BYTES = 2 * sizeof(uint32_t) };

enum error_code edge_spool_open(struct edge_spool *spool, const char *path, struct error *err)
{
    *spool = (struct edge_spool){.edge_bytes = ENDS_BYTES};
    const enum error_code rc = scratch_file_open(&spool->file, path, err);
    if (rc != ERROR_NONE)
        edge_spool_close(spool);
    return rc;
}

enum error_code edge_spool_set_widths(struct edge_spool *spool, const struct edge_widths *width,
                                      struct error *err)
{
    must(spool->edge_count == 0 && !spool->piece);
    spool->width = *width;
    spool->edge_bytes = ENDS_BYTES + edge_widths_bytes(width);
    return memory_new(&spool->piece, EDGE_SPOOL_PIECE * spool->edge_bytes, "a piece of the edges",
                      err);
}

void edge_spool_close(struct edge_spool *spool)
{
    scratch_file_close(&spool->file);
    memory_free(spool->piece);
    *spool = (struct edge_spool){0};
}

size_t edge_spool_entry_bytes(const struct edge_spool *spool)
{
    return sizeof(uint32_t) + edge_widths_bytes(&spool->width);
}

size_t edge_spool_piece_bytes(const struct edge_spool *spool)
{
    return (size_t)2 * EDGE_SPOOL_PIECE * spool->edge_bytes;
}

static enum error_code flush(struct edge_spool *spool, struct error *err)
{
    const size_t bytes = spool->piece_count * spool->edge_bytes;
    spool->piece_count = 0;
    return bytes ? scratch_file_append(&spool->file, spool->piece, bytes, err) : ERROR_NONE;
}

enum error_code edge_spool_append(struct edge_spool *spool, uint32_t source, uint32_t target,
                                  const struct edge_columns_view *columns, uint64_t i,
                                  struct error *err)
{
    char *at = spool->piece + spool->piece_count * spool->edge_bytes;
    memcpy(at, &source, sizeof source);
    memcpy(at + sizeof source, &target, sizeof target);
    if (spool->edge_bytes > ENDS_BYTES)
        edge_columns_pack(columns, i, at + ENDS_BYTES);
    spool->edge_count++;
    return ++spool->piece_count == EDGE_SPOOL_PIECE ? flush(spool, err) : ERROR_NONE;
}

enum error_code edge_spool_finish(struct edge_spool *spool, struct error *err)
{
    const enum error_code rc = flush(spool, err);
    return rc == ERROR_NONE ? scratch_file_rewind(&spool->file, err) : rc;
}

enum error_code spool_piece_init(struct spool_piece *piece, const struct edge_spool *spool,
                                 struct error *err)
{
    static const char what[] = "a piece of the edges";
    *piece = (struct spool_piece){0};
    enum error_code rc = memory_new(&piece->bytes, EDGE_SPOOL_PIECE * spool->edge_bytes, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece->source, EDGE_SPOOL_PIECE, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece->target, EDGE_SPOOL_PIECE, what, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&piece->columns, &spool->width, EDGE_SPOOL_PIECE, what, err);
    if (rc != ERROR_NONE)
        spool_piece_release(piece);
    return rc;
}

void spool_piece_release(struct spool_piece *piece)
{
    memory_free(piece->bytes);
    memory_free(piece->source);
    memory_free(piece->target);
    edge_columns_release(&piece->columns);
    *piece = (struct spool_piece){0};
}

enum error_code edge_spool_read(const struct edge_spool *spool, struct spool_piece *piece,
                                struct error *err)
{
    const uint64_t left = spool->edge_count - piece->next;
    const size_t wanted = left < EDGE_SPOOL_PIECE ? (size_t)left : EDGE_SPOOL_PIECE;
    const size_t edge_bytes = spool->edge_bytes;
    piece->count = 0;
    if (wanted == 0)
        return ERROR_NONE;
    const enum error_code rc = scratch_file_read_at(&spool->file, piece->next * edge_bytes,
                                                    piece->bytes, wanted * edge_bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < wanted; i++) {
        const char *bytes = piece->bytes + i * edge_bytes;
        memcpy(&piece->source[i], bytes, sizeof *piece->source);
        memcpy(&piece->target[i], bytes + sizeof *piece->source, sizeof *piece->target);
    }
    for (size_t i = 0; edge_bytes > ENDS_BYTES && i < wanted; i++)
        edge_columns_unpack(&piece->columns, i, piece->bytes + i * edge_bytes + ENDS_BYTES);
    float *weight = spool->scale ? piece->columns.data[EDGE_WEIGHT] : NULL;
    for (size_t i = 0; weight && i < wanted; i++)
        weight[i] = weight_scale_of(spool->scale, weight[i]);
    piece->next += wanted;
    piece->count = wanted;
    return ERROR_NONE;
}
