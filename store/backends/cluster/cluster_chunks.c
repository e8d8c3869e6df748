#include "store/backends/cluster/cluster_chunks.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t size_most = (uint64_t)1 << 40;

void chunked_init(struct chunked *c, const struct cluster_place *place, const char *key,
                  uint64_t size, const char *hash)
{
    *c = (struct chunked){.place = place, .key = key, .tag = cluster_tag(key), .size = size};
    (void)snprintf(c->hash, sizeof c->hash, "%s", hash);
    (void)snprintf(c->head, sizeof c->head, "c %s %" PRIu64, hash, size);
}

bool chunked_parse(struct chunked *c, const struct cluster_place *place, const char *key,
                   const char *head)
{
    char hash[CHECKSUM_TEXT_SIZE] = "";
    struct checksum sum;
    uint64_t size = 0;
    if (sscanf(head, "c %32s %" SCNu64, hash, &size) != 2 || /* NOLINT(cert-err34-c) */
        !checksum_parse(hash, &sum) || size > size_most)
        return false;
    chunked_init(c, place, key, size, hash);
    return strcmp(head, c->head) == 0;
}

bool chunked_is_head(struct chunked *c, const struct cluster_place *place, const char *key,
                     const char *value, size_t size)
{
    return size && *value == 'c' && !memchr(value, '\0', size) &&
           chunked_parse(c, place, key, value);
}

uint64_t chunked_count(const struct chunked *c)
{
    return (c->size + CLUSTER_CHUNK_SIZE - 1) / CLUSTER_CHUNK_SIZE;
}

size_t chunked_chunk_size(const struct chunked *c, uint64_t number)
{
    const uint64_t left = c->size - number * CLUSTER_CHUNK_SIZE;
    return left < CLUSTER_CHUNK_SIZE ? (size_t)left : CLUSTER_CHUNK_SIZE;
}

uint64_t chunked_at_once(const struct chunked *c, uint64_t first)
{
    const uint64_t left = chunked_count(c) - first;
    return left < CLUSTER_CHUNKS_AT_ONCE ? left : CLUSTER_CHUNKS_AT_ONCE;
}

void chunked_what(const struct chunked *c, uint64_t number, char what[CHUNK_WHAT_SIZE])
{
    (void)snprintf(what, CHUNK_WHAT_SIZE, "chunk/%s/%" PRIu64, c->hash, number);
}

enum error_code chunked_names(const struct chunked *c, struct cluster_name **out, struct error *err)
{
    const uint64_t count = chunked_count(c);
    const enum error_code rc = memory_new(out, (size_t)count, "names of chunks", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        char what[CHUNK_WHAT_SIZE];
        chunked_what(c, i, what);
        (*out)[i] = cluster_name(c->place, c->tag, c->key, what);
    }
    return rc;
}
