/*
 * Copies the arrays of a topology into memory; topology.h says why.
 *
 * All parts share one area, because many small parts would not fill pages of 2 MB:
 *
 *     row starts of part 0, 1, ... | neighbours of part 0, 1, ...
 *
 * Each array begins at a multiple of 64 bytes.
 */
#include "common/base/memory.h"
#include "store/topology/topology.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PART_ALIGNMENT = 64 };

static const size_t bit_bytes = (size_t)16 << 20;

static size_t aligned(uint64_t bytes)
{
    return (size_t)(bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

/* Returns the number of parts times relations; each has two arrays. */
static int64_t piece_count(const struct topology *topology)
{
    return (int64_t)topology->part_count * topology_relations(topology);
}

uint64_t topology_copy_bytes(const struct topology *topology)
{
    uint64_t bytes = 0;
    for (int p = 0; p < piece_count(topology); p++)
        bytes += aligned(((uint64_t)topology->part[p].node_count + 1) * sizeof(uint64_t)) +
                 aligned(topology->part[p].edge_count * sizeof(uint32_t));
    return bytes;
}

/* One array of a part: a list of pointers to its chunks, of any element type. */
struct chunked {
    void *chunk; /* [chunks], const pointers */
    size_t element_size;
    uint64_t count;
};

/* Returns array number `piece` of the area. */
static struct chunked array_of(const struct topology *t, int64_t piece)
{
    const struct topology_part *part = &t->part[piece % piece_count(t)];
    if (piece < piece_count(t))
        return (struct chunked){part->row_start_chunk, sizeof(uint64_t),
                                (uint64_t)part->node_count + 1};
    return (struct chunked){part->neighbor_chunk, sizeof(uint32_t), part->edge_count};
}

static size_t chunk_bytes(const struct chunked *array)
{
    return array->element_size << TOPOLOGY_CHUNK_SHIFT;
}

/* Returns the bytes from byte `at` of the array to the end of its chunk. */
static size_t bytes_from(const struct chunked *array, size_t at)
{
    const size_t left = (size_t)array->count * array->element_size - at;
    return left < chunk_bytes(array) ? left : chunk_bytes(array);
}

static void *pointer_at(const struct chunked *array, size_t at)
{
    return (char *)array->chunk + at / chunk_bytes(array) * sizeof(void *);
}

static const char *chunk_at(const struct chunked *array, size_t at)
{
    const char *chunk = NULL;
    memcpy(&chunk, pointer_at(array, at), sizeof chunk);
    return chunk;
}

/* Drops the pages from memory; a later access reads them from the file again. */
static void let_go(const char *from, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)from % page;
    void *start = NULL;
    from -= before;
    memcpy(&start, &from, sizeof start); /* const for readers only */
    (void)madvise(start, bytes + before, MADV_DONTNEED);
}

/* Copies an array piece by piece and drops each piece of the file, so that only one piece is held
 * twice. */
static enum error_code copy_array(void *context, int64_t piece, char *to, struct error *err)
{
    const struct chunked array = array_of(context, piece);
    const size_t end = (size_t)array.count * array.element_size;
    (void)err;
    for (size_t at = 0; at < end; at += chunk_bytes(&array)) {
        const char *from = chunk_at(&array, at);
        const size_t size = bytes_from(&array, at);
        for (size_t done = 0; done < size; done += bit_bytes) {
            const size_t bytes = size - done < bit_bytes ? size - done : bit_bytes;
            memcpy(to + at + done, from + done, bytes);
            let_go(from + done, bytes);
        }
    }
    return ERROR_NONE;
}

/* Points the array to `copy`. */
static void turn_to(const struct chunked *array, const char *copy)
{
    for (size_t at = 0; at < (size_t)array->count * array->element_size; at += chunk_bytes(array)) {
        const char *now = copy + at;
        let_go(chunk_at(array, at), bytes_from(array, at));
        memcpy(pointer_at(array, at), &now, sizeof now);
    }
}

static enum error_code open_area(struct topology *t, bool only_shared, struct thread_pool *pool,
                                 const uint64_t *start, struct error *err)
{
    static const char kind[] = "topology, version 1";
    char what[64];
    const struct checksum_part name[] = {{kind, sizeof kind}, {&t->content, sizeof t->content}};
    (void)snprintf(what, sizeof what, "a copy of the topology of %d parts", t->part_count);
    const struct shared_area_content content = {.what = what,
                                                .name = checksum_of_parts(name, 2),
                                                .size = (size_t)start[2 * piece_count(t)],
                                                .only_shared = only_shared,
                                                .piece_count = 2 * piece_count(t),
                                                .piece_start = start,
                                                .fill = copy_array,
                                                .context = t,
                                                .pool = pool};
    return shared_area_open(&content, &t->copy, err);
}

enum error_code topology_copy(struct topology *topology, bool only_shared, struct thread_pool *pool,
                              struct error *err)
{
    const int64_t pieces = 2 * piece_count(topology);
    uint64_t *start = NULL;
    if (topology->copy.bytes)
        return ERROR_NONE;
    enum error_code rc =
        memory_new(&start, (size_t)pieces + 1, "the places of a topology's arrays", err);
    if (rc != ERROR_NONE)
        return rc;
    for (int64_t i = 0; i < pieces; i++) {
        const struct chunked array = array_of(topology, i);
        start[i + 1] = start[i] + aligned(array.count * array.element_size);
    }
    rc = open_area(topology, only_shared, pool, start, err);
    for (int64_t i = 0; rc == ERROR_NONE && i < pieces; i++) {
        const struct chunked array = array_of(topology, i);
        turn_to(&array, topology->copy.bytes + start[i]);
    }
    memory_free(start);
    return rc;
}
