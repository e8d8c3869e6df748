#include "common/graph/edge_index.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"

static uint64_t pair_at(const struct edge_index *index, uint64_t edge)
{
    return edge_pair_of(index->undirected, index->source[edge], index->target[edge]);
}

static uint16_t type_at(const struct edge_index *index, uint64_t edge)
{
    return index->type ? index->type[edge] : 0;
}

static bool is_below(const struct edge_index *index, uint64_t edge, uint64_t pair, uint16_t type)
{
    const uint64_t own = pair_at(index, edge);
    return own != pair ? own < pair : type_at(index, edge) < type;
}

static bool before(const void *context, uint64_t a, uint64_t b)
{
    const struct edge_index *index = context;
    return is_below(index, a, pair_at(index, b), type_at(index, b));
}

enum error_code edge_index_sort(struct edge_index *index, struct error *err)
{
    uint64_t *scratch = NULL;
    enum error_code rc = memory_new(&index->order, index->count, "a list of edges", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&scratch, index->count, "a list of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < index->count; i++)
        index->order[i] = i;
    key_sort_by(index->order, scratch, index->count, before, index);
    memory_free(scratch);
    return ERROR_NONE;
}

void edge_index_release(struct edge_index *index)
{
    memory_free(index->order);
    *index = (struct edge_index){0};
}

uint64_t edge_index_find(const struct edge_index *index, uint32_t source, uint32_t target,
                         uint16_t type)
{
    const uint64_t pair = edge_pair_of(index->undirected, source, target);
    uint64_t low = 0, high = index->count;
    while (low < high) { /* the first that is not below */
        const uint64_t middle = low + (high - low) / 2;
        if (is_below(index, index->order[middle], pair, type))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->count)
        return EDGE_INDEX_NONE;
    const uint64_t edge = index->order[low];
    return pair_at(index, edge) == pair && type_at(index, edge) == type ? edge : EDGE_INDEX_NONE;
}

bool edge_index_repeated(const struct edge_index *index, uint64_t *first, uint64_t *second)
{
    for (uint64_t i = 1; i < index->count; i++) {
        *first = index->order[i - 1];
        *second = index->order[i];
        if (!before(index, *first, *second))
            return true;
    }
    return false;
}
