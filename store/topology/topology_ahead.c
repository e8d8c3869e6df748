#include "store/topology/topology_ahead.h"

#include "store/topology/topology_array.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* At most so many neighbours are requested: of a longer row a sampler draws few, and reading it
 * would push out pages that others need. */
enum { ASKED_NEIGHBORS_MAX = 4096 };

static void advise(const void *from, size_t bytes, int advice)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)from % page;
    const char *start = (const char *)from - before;
    void *address = NULL;
    memcpy(&address, &start, sizeof start);         /* const for readers only */
    (void)madvise(address, bytes + before, advice); /* only a hint */
}

/* Advises the kernel about each chunk of an array. `chunk` [chunks of the array] points to them;
 * NULL if there is no list. */
static void advise_array(const struct topology_array *array, const void *chunk)
{
    for (uint64_t c = 0; c < topology_array_chunks(array); c++) {
        const void *start = NULL;
        memcpy(&start, (const char *)chunk + c * sizeof start, sizeof start);
        advise(start, topology_array_chunk_bytes(array, c), MADV_RANDOM);
    }
}

static void advise_part(const struct topology_part *part)
{
    struct topology_array array[TOPOLOGY_ARRAY_COUNT];
    topology_arrays_describe(0, part->node_count, part->edge_count, &part->width, array);
    advise_array(&array[TOPOLOGY_ROW_START], part->row_start_chunk);
    advise_array(&array[TOPOLOGY_NEIGHBOR], part->neighbor_chunk);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (part->width.of[c])
            advise_array(&array[TOPOLOGY_FIRST_COLUMN + c], part->column_chunk[c]);
    if (part->width.of[EDGE_WEIGHT])
        advise_array(&array[TOPOLOGY_WEIGHT_SUM], part->weight_sum_chunk);
}

void topology_read_at_random(struct topology *topology)
{
    const size_t count = (size_t)topology->part_count * topology_relations(topology);
    if (!topology->source)
        return;
    must(!topology->copy.bytes);
    for (size_t p = 0; p < count; p++)
        advise_part(&topology->part[p]);
    topology->is_at_random = true;
}

/* Asks the kernel to read the pages, in parallel. A page that is in memory costs only a look-up. */
static void ask(const void *from, size_t bytes)
{
    advise(from, bytes, MADV_WILLNEED);
}

void topology_ask_row_start(const struct topology_part *part, uint32_t row)
{
    const uint32_t end = row + 1, mask = (1U << TOPOLOGY_CHUNK_SHIFT) - 1;
    const uint64_t **chunk = part->row_start_chunk;
    if (row >> TOPOLOGY_CHUNK_SHIFT == end >> TOPOLOGY_CHUNK_SHIFT) {
        ask(&chunk[row >> TOPOLOGY_CHUNK_SHIFT][row & mask], 2 * sizeof **chunk);
        return;
    }
    ask(&chunk[row >> TOPOLOGY_CHUNK_SHIFT][row & mask], sizeof **chunk);
    ask(&chunk[end >> TOPOLOGY_CHUNK_SHIFT][end & mask], sizeof **chunk);
}

void topology_ask_neighbors(const struct topology_part *part, uint64_t start, uint32_t length)
{
    const uint64_t room = (UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT) -
                          (start & ((UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT) - 1));
    const uint32_t here =
        length < room ? length : (uint32_t)room; /* the row continues in the next chunk */
    if (length > ASKED_NEIGHBORS_MAX)
        return;
    if (here)
        ask(topology_neighbor(part, start), here * sizeof(uint32_t));
    if (length > here)
        ask(topology_neighbor(part, start + here), (length - here) * sizeof(uint32_t));
}
