/*
 * cluster_chunks - a large record in a Redis Cluster: a head, and MiB of content beside it.
 *
 * The head is the value of the record's key, "c HASH SIZE", where HASH is of the whole content and the chunks are named by it
 * (cluster_place.h). What writes chunks is in cluster_records.c, what reads them in cluster_record_reads.c.
 */
#ifndef STORE_BACKENDS_CLUSTER_CHUNKS_H
#define STORE_BACKENDS_CLUSTER_CHUNKS_H

#include "common/base/checksum.h"
#include "store/backends/cluster_place.h"

enum { CHUNKED_HEAD_SIZE = 64, CHUNK_WHAT_SIZE = CHECKSUM_TEXT_SIZE + 32 };

/* A record that lies in chunks. */
struct chunked {
    const struct cluster_place *place;
    const char *key;
    int tag;
    uint64_t size;
    char hash[CHECKSUM_TEXT_SIZE], head[CHUNKED_HEAD_SIZE];
};

/* `key` is borrowed. */
void chunked_init(struct chunked *c, const struct cluster_place *place, const char *key,
                  uint64_t size, const char *hash);
/* Whether a text is such a head, "c HASH SIZE" and nothing else; *c is what it says. */
bool chunked_parse(struct chunked *c, const struct cluster_place *place, const char *key,
                   const char *head);
/* The same of the value of a key: `value` [size], with a NUL behind it. */
bool chunked_is_head(struct chunked *c, const struct cluster_place *place, const char *key,
                     const char *value, size_t size);

uint64_t chunked_count(const struct chunked *c);
/* Of chunk `number`, in bytes: CLUSTER_CHUNK_SIZE, or what is left. */
size_t chunked_chunk_size(const struct chunked *c, uint64_t number);
/* Of those from `first` on that are sent together. */
uint64_t chunked_at_once(const struct chunked *c, uint64_t first);
/* What follows KEY! in the name of a chunk. */
void chunked_what(const struct chunked *c, uint64_t number, char what[CHUNK_WHAT_SIZE]);
/* The names of all chunks: *out [chunked_count()], memory_free(). */
MUST_CHECK enum error_code chunked_names(const struct chunked *c, struct cluster_name **out,
                                         struct error *err);

/* The value of a record's key, and of one in chunks what they hold, as far as they are there in their order; what is neither value
 * nor head was damaged, and is given as it is. Release *out with stored_bytes_release(). */
MUST_CHECK enum error_code cluster_record_bytes(const struct cluster_place *place, const char *key,
                                                const char *value, size_t size,
                                                struct stored_bytes *out, struct error *err);

#endif
