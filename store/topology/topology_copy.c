/*
 * The arrays of a topology in memory of the process: topology.h says why.
 *
 * One area for all parts, because many small parts would not fill pages of 2 MB:
 *
 *     row starts of part 0, 1, ... | neighbours of part 0, 1, ...       each part's from a multiple of 64 bytes
 */
#include "common/base/memory.h"
#include "store/topology/topology.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PART_ALIGNMENT = 64 };

static const size_t piece_bytes = (size_t)16 << 20;

static size_t aligned(uint64_t bytes)
{
    return (size_t)(bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

uint64_t topology_copy_bytes(const struct topology *topology)
{
    uint64_t bytes = 0;
    for (int p = 0; p < topology->part_count; p++)
        bytes += aligned(((uint64_t)topology->part[p].node_count + 1) * sizeof(uint64_t)) +
                 aligned(topology->part[p].edge_count * sizeof(uint32_t));
    return bytes;
}

/* The pages come back from the file if anyone asks again. */
static void let_go(const char *from, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)from % page;
    void *start = NULL;
    from -= before;
    memcpy(&start, &from, sizeof start); /* const only for readers */
    (void)madvise(start, bytes + before, MADV_DONTNEED);
}

/* Piece by piece, so that no more than a piece is in memory twice. */
static void move_bytes(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += piece_bytes) {
        const size_t piece = bytes - at < piece_bytes ? bytes - at : piece_bytes;
        memcpy(to + at, from + at, piece);
        let_go(from + at, piece);
    }
}

/* `chunk`: the pointers to the chunks of one array, whatever they point to. Where the next array goes. */
static char *move_array(void *chunk, size_t element_size, uint64_t count, char *to)
{
    const size_t chunk_bytes = element_size << TOPOLOGY_CHUNK_SHIFT;
    const size_t bytes = (size_t)count * element_size;
    char *pointer = chunk;
    for (size_t at = 0; at < bytes; at += chunk_bytes, pointer += sizeof(void *)) {
        const char *from = NULL, *moved = to + at;
        memcpy(&from, pointer, sizeof from);
        move_bytes(to + at, from, bytes - at < chunk_bytes ? bytes - at : chunk_bytes);
        memcpy(pointer, &moved, sizeof moved);
    }
    return to + aligned(bytes);
}

enum error_code topology_copy(struct topology *topology, struct error *err)
{
    if (topology->copy)
        return ERROR_NONE;
    const size_t bytes = topology_copy_bytes(topology);
    char *to = memory_map(bytes);
    if (!to)
        return error_set(err, ERROR_NO_MEMORY, "no memory for a copy of the topology: %zu bytes",
                         bytes);
    topology->copy = to;
    topology->copy_bytes = bytes;
    for (int p = 0; p < topology->part_count; p++) {
        const struct topology_part *part = &topology->part[p];
        to =
            move_array(part->row_start_chunk, sizeof(uint64_t), (uint64_t)part->node_count + 1, to);
    }
    for (int p = 0; p < topology->part_count; p++) {
        const struct topology_part *part = &topology->part[p];
        to = move_array(part->neighbor_chunk, sizeof(uint32_t), part->edge_count, to);
    }
    must(to == topology->copy + bytes);
    return ERROR_NONE;
}
