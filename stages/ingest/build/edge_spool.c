#include "stages/ingest/build/edge_spool.h"

#include "common/base/memory.h"

#include <string.h>

enum error_code edge_spool_open(struct edge_spool *spool, const char *path, struct error *err)
{
    *spool = (struct edge_spool){.edge_bytes = 8};
    enum error_code rc = memory_new(&spool->piece, (size_t)EDGE_SPOOL_PIECE * EDGE_BYTES_MAX,
                                    "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = scratch_file_open(&spool->file, path, err);
    if (rc != ERROR_NONE)
        edge_spool_close(spool);
    return rc;
}

void edge_spool_set_attributes(struct edge_spool *spool, bool has_weight, bool has_time,
                               bool has_type)
{
    must(spool->edge_count == 0);
    spool->has_weight = has_weight;
    spool->has_time = has_time;
    spool->has_type = has_type;
    spool->edge_bytes = edge_spool_entry_bytes(spool) + sizeof(uint32_t);
}

void edge_spool_close(struct edge_spool *spool)
{
    scratch_file_close(&spool->file);
    memory_free(spool->piece);
    *spool = (struct edge_spool){0};
}

size_t edge_spool_entry_bytes(const struct edge_spool *spool)
{
    return sizeof(uint32_t) + (spool->has_weight ? sizeof(float) : 0) +
           (spool->has_time ? sizeof(double) : 0) + (spool->has_type ? sizeof(uint16_t) : 0);
}

static uint8_t *put(uint8_t *at, const void *value, size_t size)
{
    memcpy(at, value, size);
    return at + size;
}

enum error_code edge_spool_append(struct edge_spool *spool, const struct spooled_edge *edge,
                                  struct error *err)
{
    uint8_t bytes[EDGE_BYTES_MAX];
    uint8_t *at = put(bytes, &edge->source, sizeof edge->source);
    at = put(at, &edge->target, sizeof edge->target);
    if (spool->has_weight)
        at = put(at, &edge->weight, sizeof edge->weight);
    if (spool->has_time)
        at = put(at, &edge->time, sizeof edge->time);
    if (spool->has_type)
        (void)put(at, &edge->edge_type, sizeof edge->edge_type);
    spool->edge_count++;
    return scratch_file_append(&spool->file, bytes, spool->edge_bytes, err);
}

enum error_code edge_spool_rewind(struct edge_spool *spool, struct error *err)
{
    spool->next = 0;
    return scratch_file_rewind(&spool->file, err);
}

static const uint8_t *take(const uint8_t *at, void *value, size_t size)
{
    memcpy(value, at, size);
    return at + size;
}

static void decode(const struct edge_spool *spool, const uint8_t *at, struct spooled_edge *edge)
{
    *edge = (struct spooled_edge){0};
    at = take(at, &edge->source, sizeof edge->source);
    at = take(at, &edge->target, sizeof edge->target);
    if (spool->has_weight)
        at = take(at, &edge->weight, sizeof edge->weight);
    if (spool->has_time)
        at = take(at, &edge->time, sizeof edge->time);
    if (spool->has_type)
        (void)take(at, &edge->edge_type, sizeof edge->edge_type);
}

enum error_code edge_spool_read(struct edge_spool *spool,
                                struct spooled_edge edge[EDGE_SPOOL_PIECE], size_t *count,
                                struct error *err)
{
    const uint64_t left = spool->edge_count - spool->next;
    const size_t wanted = left < EDGE_SPOOL_PIECE ? (size_t)left : EDGE_SPOOL_PIECE;
    *count = 0;
    const enum error_code rc =
        scratch_file_read(&spool->file, spool->piece, wanted * spool->edge_bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < wanted; i++)
        decode(spool, spool->piece + i * spool->edge_bytes, &edge[i]);
    spool->next += wanted;
    *count = wanted;
    return ERROR_NONE;
}
