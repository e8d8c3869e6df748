/*
 * cluster_chunks - a large record in a Redis Cluster is stored as a head and chunks of 1 MiB.
 *
 * The head is the value of the record's key: "c HASH SIZE". HASH is the hash of the whole content
 * and part of the name of each chunk (cluster_place.h). cluster_records.c writes chunks;
 * cluster_record_reads.c reads them.
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_CHUNKS_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_CHUNKS_H

#include "common/files/checksum.h"
#include "store/backends/cluster/cluster_place.h"

enum { CHUNKED_HEAD_SIZE = 64, CHUNK_WHAT_SIZE = CHECKSUM_TEXT_SIZE + 32 };

/* A record that is stored in chunks. */
struct chunked {
    const struct cluster_place *place;
    const char *key;
    int tag;
    uint64_t size;
    char hash[CHECKSUM_TEXT_SIZE], head[CHUNKED_HEAD_SIZE];
};

/* Initialises *c, which borrows `key`. */
void chunked_init(struct chunked *c, const struct cluster_place *place, const char *key,
                  uint64_t size, const char *hash);
/* Returns whether `head` is exactly "c HASH SIZE", and parses it into *c. */
bool chunked_parse(struct chunked *c, const struct cluster_place *place, const char *key,
                   const char *head);
/* Returns the same for the value of a key: `value` has `size` bytes and a NUL after them. */
bool chunked_is_head(struct chunked *c, const struct cluster_place *place, const char *key,
                     const char *value, size_t size);

uint64_t chunked_count(const struct chunked *c);
/* Returns the bytes of chunk `number`: CLUSTER_CHUNK_SIZE, or less for the last one. */
size_t chunked_chunk_size(const struct chunked *c, uint64_t number);
/* Returns how many chunks, from `first` on, are sent together. */
uint64_t chunked_at_once(const struct chunked *c, uint64_t first);
/* Writes the name of a chunk: the part after KEY!. */
void chunked_what(const struct chunked *c, uint64_t number, char what[CHUNK_WHAT_SIZE]);
/* Makes the names of all chunks: *out [chunked_count()]; the caller frees it with memory_free(). */
MUST_CHECK enum error_code chunked_names(const struct chunked *c, struct cluster_name **out,
                                         struct error *err);

/* Reads the bytes of a record from the value of its key: the bytes in the value, or the chunks that
 * its head names, up to the first missing one. A value that is neither is damaged and is returned
 * unchanged, so that the caller's hash check finds it. The caller releases *out with
 * stored_bytes_release(). */
MUST_CHECK enum error_code cluster_record_bytes(const struct cluster_place *place, const char *key,
                                                const char *value, size_t size,
                                                struct stored_bytes *out, struct error *err);

#endif
