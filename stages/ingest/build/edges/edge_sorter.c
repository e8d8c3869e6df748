#include "stages/ingest/build/edges/edge_sorter.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"
#include "common/parallel/first_failure.h"

#include <inttypes.h>
#include <string.h>

/* The rows of the nodes [first, end) as arrays one after another in one block of memory. */
struct node_range {
    uint32_t first, end;
    uint64_t edge_count, largest_row;
    /* [end - first]; while rows are filled: the place of the row's next edge */
    uint64_t *row_end;
    uint64_t *order;             /* [largest_row] */
    uint64_t *scratch;           /* [largest_row] */
    uint32_t *neighbor;          /* [edge_count] */
    struct edge_columns columns; /* [edge_count] */
};

enum { ALIGNMENT = 8 }; /* alignment of each array in the block */

static uint64_t bytes_of(const struct edge_spool *spool, uint64_t nodes, uint64_t edges,
                         uint64_t largest_row)
{
    const uint64_t gaps = (1 + EDGE_COLUMN_COUNT) * (uint64_t)ALIGNMENT;
    return nodes * sizeof(uint64_t) + largest_row * 2 * sizeof(uint64_t) +
           edges * edge_spool_entry_bytes(spool) + gaps;
}

uint64_t edge_sorter_bytes_of_row(const struct edge_spool *spool, uint64_t degree)
{
    return bytes_of(spool, 1, degree, degree);
}

uint64_t edge_sorter_bytes_at_most(const struct edge_sorter *sorter)
{
    uint64_t edges = 0, largest_row = 0;
    for (uint32_t i = 0; i < sorter->node_count; i++) {
        const uint64_t degree = sorter->in_degree[i];
        edges += degree;
        largest_row = degree > largest_row ? degree : largest_row;
    }
    return bytes_of(sorter->spool, sorter->node_count, edges, largest_row);
}

/* Takes nodes from `first` on as long as their rows fit `memory_bytes`. */
static enum error_code plan_range(const struct edge_sorter *sorter, uint32_t first,
                                  struct node_range *range, struct error *err)
{
    *range = (struct node_range){.first = first, .end = first};
    while (range->end < sorter->node_count) {
        const uint64_t degree = sorter->in_degree[range->end];
        const uint64_t largest = degree > range->largest_row ? degree : range->largest_row;
        const uint64_t nodes = (uint64_t)(range->end - first) + 1;
        if (bytes_of(sorter->spool, nodes, range->edge_count + degree, largest) >
            sorter->memory_bytes)
            break;
        range->end++;
        range->edge_count += degree;
        range->largest_row = largest;
    }
    if (range->end > first)
        return ERROR_NONE;
    const uint64_t degree = sorter->in_degree[first];
    return error_set(err, ERROR_NO_MEMORY,
                     "sorting the %" PRIu64 " edges that end in node %u takes %" PRIu64
                     " bytes; the memory budget leaves %" PRIu64,
                     degree, first, bytes_of(sorter->spool, 1, degree, degree),
                     sorter->memory_bytes);
}

static void *carve(uint8_t **at, uint64_t count, size_t size)
{
    void *p = *at;
    *at += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

static void lay_out(const struct edge_sorter *sorter, struct node_range *range, uint8_t *block)
{
    const struct edge_widths *width = &sorter->spool->width;
    uint64_t place = 0;
    range->row_end = carve(&block, range->end - range->first, sizeof *range->row_end);
    range->order = carve(&block, range->largest_row, sizeof *range->order);
    range->scratch = carve(&block, range->largest_row, sizeof *range->scratch);
    range->neighbor = carve(&block, range->edge_count, sizeof *range->neighbor);
    range->columns.width = *width;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c])
            range->columns.data[c] = carve(&block, range->edge_count,
                                           edge_column_bytes((enum edge_column)c, width->of[c]));
    for (uint32_t node = range->first; node < range->end; node++) {
        range->row_end[node - range->first] = place;
        place += sorter->in_degree[node];
    }
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Each thread holds a piece of the spool. More threads are used only while these pieces are
 * small. */
enum { SHARES_MAX = 8, SHARE_BYTES_MAX = 1 << 20 };

static int share_count(const struct edge_spool *spool, const struct thread_pool *pool)
{
    const int threads = thread_pool_size(pool);
    if (edge_spool_piece_bytes(spool) > SHARE_BYTES_MAX)
        return 1;
    return threads < SHARES_MAX ? threads : SHARES_MAX;
}

uint64_t edge_sorter_piece_bytes(const struct edge_spool *spool, const struct thread_pool *pool)
{
    return (uint64_t)share_count(spool, pool) * edge_spool_piece_bytes(spool);
}

/* The rows of a range that threads fill, each for its share of the nodes. */
struct filling {
    const struct edge_sorter *sorter;
    struct node_range *range;
    int share_count;
    uint32_t bound[SHARES_MAX + 1];       /* share s is the nodes [bound[s], bound[s + 1]) */
    struct spool_piece piece[SHARES_MAX]; /* one for each share */
    struct first_failure failure;
};

/* Edges whose places are computed and whose cache lines are being fetched. */
enum { WAITING = 256 };
struct waiting {
    uint64_t place[2 * WAITING];
    uint32_t neighbor[2 * WAITING];
    size_t count;
};

static uint64_t take_place(struct node_range *range, uint32_t node)
{
    const uint64_t place = range->row_end[node - range->first]++;
    must(place < range->edge_count); /* the rows were sized by counting these same edges */
    return place;
}

/* Writes edges without columns into their rows. The rows are spread over memory, so the cache lines
 * of many edges are prefetched before the first edge is written. */
static void drop_bare(const struct filling *filling, uint32_t first, uint32_t end,
                      const struct spool_piece *piece)
{
    struct node_range *range = filling->range;
    const struct edge_sorter *sorter = filling->sorter;
    const uint32_t size = end - first;
    struct waiting waiting;
    for (size_t begin = 0; begin < piece->count; begin += WAITING) {
        const size_t stop = piece->count - begin < WAITING ? piece->count : begin + WAITING;
        for (size_t i = begin; i < stop; i++) {
            if (piece->target[i] - first < size)
                __builtin_prefetch(&range->row_end[piece->target[i] - range->first], 1);
            if (sorter->both_ways && piece->source[i] - first < size)
                __builtin_prefetch(&range->row_end[piece->source[i] - range->first], 1);
        }
        waiting.count = 0;
        for (size_t i = begin; i < stop; i++) {
            const uint32_t source = piece->source[i], target = piece->target[i];
            if (source == target && sorter->skip_self_loops)
                continue;
            if (target - first < size) {
                waiting.place[waiting.count] = take_place(range, target);
                waiting.neighbor[waiting.count++] = source;
            }
            if (sorter->both_ways && source != target && source - first < size) {
                waiting.place[waiting.count] = take_place(range, source);
                waiting.neighbor[waiting.count++] = target;
            }
        }
        for (size_t i = 0; i < waiting.count; i++)
            __builtin_prefetch(&range->neighbor[waiting.place[i]], 1);
        for (size_t i = 0; i < waiting.count; i++)
            range->neighbor[waiting.place[i]] = waiting.neighbor[i];
    }
}

/* Writes an edge into its row. `type_step` is added to the edge's type. */
static void drop(struct node_range *range, uint32_t node, uint32_t neighbor,
                 const struct edge_columns_view *columns, uint64_t i, uint32_t type_step)
{
    const uint64_t place = take_place(range, node);
    range->neighbor[place] = neighbor;
    edge_columns_copy(&range->columns, place, columns, i, 1);
    if (type_step)
        ((uint16_t *)range->columns.data[EDGE_TYPE])[place] += (uint16_t)type_step;
}

static void drop_all(const struct filling *filling, uint32_t first, uint32_t end,
                     const struct spool_piece *piece)
{
    const struct edge_sorter *sorter = filling->sorter;
    const struct edge_columns_view columns = edge_columns_read(&piece->columns, 0);
    for (size_t i = 0; i < piece->count; i++) {
        const uint32_t source = piece->source[i], target = piece->target[i];
        if (source == target && sorter->skip_self_loops)
            continue;
        if (target >= first && target < end)
            drop(filling->range, target, source, &columns, i, 0);
        if (source >= first && source < end &&
            (sorter->reverse_types || (sorter->both_ways && source != target)))
            drop(filling->range, source, target, &columns, i, sorter->reverse_types);
    }
}

/* Sorts rows without columns in place, so that hand_on() finds them sorted. */
static void sort_bare(const struct filling *filling, uint32_t first, uint32_t end)
{
    const struct node_range *range = filling->range;
    for (uint32_t node = first; node < end; node++) {
        const uint64_t count = filling->sorter->in_degree[node];
        key_sort_narrow(range->neighbor + range->row_end[node - range->first] - count, count);
    }
}

/* A thread_pool_body: reads the whole spool and fills the rows of one share. */
static void fill_share(void *context, int64_t share, int thread)
{
    struct filling *filling = context;
    const struct edge_sorter *sorter = filling->sorter;
    struct spool_piece *piece = &filling->piece[share];
    const uint32_t first = filling->bound[share], end = filling->bound[share + 1];
    const bool is_bare = edge_widths_bytes(&sorter->spool->width) == 0 && !sorter->reverse_types;
    struct error err = {0};
    (void)thread;
    piece->next = 0;
    enum error_code rc = edge_spool_read(sorter->spool, piece, &err);
    while (rc == ERROR_NONE && piece->count > 0) {
        (is_bare ? drop_bare : drop_all)(filling, first, end, piece);
        rc = edge_spool_read(sorter->spool, piece, &err);
    }
    if (rc == ERROR_NONE && is_bare)
        sort_bare(filling, first, end);
    first_failure_keep(&filling->failure, rc, share, &err);
}

/* Divides the range into shares with about the same number of edges. */
static void plan_shares(struct filling *filling)
{
    const struct node_range *range = filling->range;
    const uint32_t *degree = filling->sorter->in_degree;
    uint64_t edges = 0;
    int share = 0;
    filling->bound[0] = range->first;
    for (uint32_t node = range->first; node < range->end; node++) {
        while (share + 1 < filling->share_count &&
               edges * (uint64_t)filling->share_count >= range->edge_count * ((uint64_t)share + 1))
            filling->bound[++share] = node;
        edges += degree[node];
    }
    while (share < filling->share_count)
        filling->bound[++share] = range->end;
}

static enum error_code fill(struct filling *filling, struct node_range *range, struct error *err)
{
    filling->range = range;
    plan_shares(filling);
    first_failure_init(&filling->failure);
    thread_pool_run(filling->sorter->pool, filling->share_count, fill_share, filling);
    return first_failure_end(&filling->failure, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct edge_row row_of(const struct node_range *range, uint32_t index)
{
    const uint64_t start = index ? range->row_end[index - 1] : 0;
    return (struct edge_row){
        .count = (uint32_t)(range->row_end[index] - start),
        .neighbor = range->neighbor + start,
        .columns = edge_columns_read(&range->columns, start),
    };
}

/* Returns whether the edge is the reverse that was added for another edge. */
static bool is_reverse_edge(const struct edge_sorter *sorter, const struct edge_row *row,
                            uint32_t position)
{
    const uint16_t *type = row->columns.data[EDGE_TYPE];
    return sorter->reverse_types && type[position] >= sorter->reverse_types;
}

static enum error_code refuse(struct edge_sorter *sorter, uint32_t node, const struct edge_row *row,
                              uint32_t position, struct error *err)
{
    const bool is_reverse = is_reverse_edge(sorter, row, position);
    sorter->repeated_source = is_reverse ? node : row->neighbor[position];
    sorter->repeated_target = is_reverse ? row->neighbor[position] : node;
    edge_columns_copy(&sorter->repeated, 0, &row->columns, position, 1);
    if (is_reverse)
        *(uint16_t *)sorter->repeated.data[EDGE_TYPE] -= (uint16_t)sorter->reverse_types;
    return error_set(err, ERROR_INPUT, "edge %u -> %u is repeated", row->neighbor[position], node);
}

/* Keeps the first of each group of equal edges, which are adjacent in `order`. */
static enum error_code remove_repeated(struct edge_sorter *sorter, uint32_t node,
                                       const struct edge_row *row, uint64_t *order, uint32_t *kept,
                                       struct error *err)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint32_t position = (uint32_t)order[i];
        if (to > 0 && edge_row_same(row, (uint32_t)order[to - 1], position)) {
            if (sorter->duplicates == EDGES_REFUSE)
                return refuse(sorter, node, row, position, err);
            /* The reverse of an undirected edge is not counted again, and neither is an added
             * reverse. */
            if ((!sorter->both_ways || row->neighbor[position] <= node) &&
                !is_reverse_edge(sorter, row, position))
                sorter->removed_duplicates++;
            continue;
        }
        order[to++] = order[i];
    }
    *kept = to;
    return ERROR_NONE;
}

static enum error_code hand_on(struct edge_sorter *sorter, const struct node_range *range,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = range->first; rc == ERROR_NONE && node < range->end; node++) {
        const struct edge_row row = row_of(range, node - range->first);
        uint32_t kept = row.count;
        edge_row_sort(&row, range->order, range->scratch);
        if (sorter->duplicates != EDGES_KEEP)
            rc = remove_repeated(sorter, node, &row, range->order, &kept, err);
        if (rc != ERROR_NONE)
            break;
        sorter->in_degree[node] = kept;
        if (sorter->visit)
            rc = sorter->visit(sorter->context, node, &row, range->order, kept, err);
    }
    return rc;
}

static void filling_release(struct filling *filling)
{
    for (int share = 0; share < filling->share_count; share++)
        spool_piece_release(&filling->piece[share]);
    memory_free(filling);
}

static enum error_code filling_new(const struct edge_sorter *sorter, struct filling **out,
                                   struct error *err)
{
    enum error_code rc = memory_new(out, 1, "filling rows of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    (*out)->sorter = sorter;
    (*out)->share_count = share_count(sorter->spool, sorter->pool);
    for (int share = 0; rc == ERROR_NONE && share < (*out)->share_count; share++)
        rc = spool_piece_init(&(*out)->piece[share], sorter->spool, err);
    if (rc != ERROR_NONE) {
        filling_release(*out);
        *out = NULL;
    }
    return rc;
}

enum error_code edge_sorter_run(struct edge_sorter *sorter, struct error *err)
{
    uint8_t *block = NULL;
    struct filling *filling = NULL;
    const uint64_t at_most = edge_sorter_bytes_at_most(sorter);
    const uint64_t bytes = at_most < sorter->memory_bytes ? at_most : sorter->memory_bytes;
    sorter->removed_duplicates = sorter->range_count = 0;
    enum error_code rc = edge_spool_finish(sorter->spool, err);
    if (rc == ERROR_NONE)
        rc = filling_new(sorter, &filling, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&block, bytes, "sorting edges", err);
    for (uint32_t next = 0; rc == ERROR_NONE && next < sorter->node_count;) {
        struct node_range range;
        rc = plan_range(sorter, next, &range, err);
        if (rc != ERROR_NONE)
            break;
        lay_out(sorter, &range, block);
        rc = fill(filling, &range, err);
        if (rc == ERROR_NONE)
            rc = hand_on(sorter, &range, err);
        next = range.end;
        sorter->range_count++;
    }
    if (filling)
        filling_release(filling);
    memory_free(block);
    return rc;
}
