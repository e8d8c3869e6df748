#include "stages/partition/layout/neighbor_walk.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/layout/edge_walk.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* The targets of the nodes [first, end), gathered in one pass. */
struct window {
    const struct neighbor_walk *walk;
    uint32_t first, end;
    uint32_t *filled; /* [end - first] */
    uint32_t *target;
};

static enum error_code count_targets(void *context, const struct edge_chunk *chunk,
                                     struct error *err)
{
    uint64_t *count = context;
    (void)err;
    for (uint64_t e = 0; e < chunk->edge_count; e++)
        count[chunk->neighbor[e] + 1]++;
    return ERROR_NONE;
}

static enum error_code gather_targets(void *context, const struct edge_chunk *chunk,
                                      struct error *err)
{
    struct window *w = context;
    const uint64_t *start = w->walk->target_start;
    (void)err;
    for (uint32_t row = 0; row < chunk->node_count; row++)
        for (uint64_t e = chunk->row_start[row]; e < chunk->row_start[row + 1]; e++) {
            const uint32_t source = chunk->neighbor[e];
            if (source < w->first || source >= w->end)
                continue;
            w->target[start[source] - start[w->first] + w->filled[source - w->first]++] =
                chunk->first_node + row;
        }
    return ERROR_NONE;
}

/* Returns the end of the window from `first`: as many nodes as have at most `edges_most` edges, and
 * at least one. */
static uint32_t window_end(const struct neighbor_walk *walk, uint32_t first, uint64_t edges_most)
{
    const uint64_t *start = walk->target_start;
    uint32_t end = first + 1;
    while (end < walk->schema->node_count && start[end + 1] - start[first] <= edges_most)
        end++;
    return end;
}

static enum error_code open_file(struct neighbor_walk *walk, struct error *err)
{
    enum error_code rc = store_scratch(walk->store, walk->folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(walk->path, err, "%s/targets", walk->folder);
    if (rc != ERROR_NONE)
        return rc;
    walk->file = open(walk->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return walk->file < 0 ? error_set_errno(err, ERROR_IO, "%s", walk->path) : ERROR_NONE;
}

static enum error_code check_budget(const struct neighbor_walk *walk, uint32_t first, uint32_t end,
                                    struct error *err)
{
    const uint64_t bytes =
        (walk->target_start[end] - walk->target_start[first]) * sizeof *walk->target;
    char wanted[32], budget[32];
    if (bytes <= walk->budget_bytes)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "the edges from nodes %" PRIu32 " to %" PRIu32
                     " take %s, but of the memory budget only %s are left; " ADVICE
                     "give more --memory, or use partition.method: hash",
                     first, end - 1, text_size(bytes, wanted),
                     text_size(walk->budget_bytes, budget));
}

/* Fills one window. If it has the whole graph it stays in memory, otherwise it goes to the file. */
static enum error_code fill_window(struct neighbor_walk *walk, uint32_t first, uint32_t end,
                                   struct error *err)
{
    const uint64_t *start = walk->target_start;
    const uint64_t edges = start[end] - start[first];
    const bool is_all = end - first == walk->schema->node_count;
    struct window window = {.walk = walk, .first = first, .end = end};
    enum error_code rc = check_budget(walk, first, end, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&window.filled, end - first, "the targets of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&window.target, edges, "the targets of nodes", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(walk->store, walk->schema, gather_targets, &window, err);
    if (rc == ERROR_NONE && !is_all)
        rc = file_write_at(walk->file, window.target, edges * sizeof *window.target,
                           start[first] * sizeof *window.target, walk->path, err);
    if (rc == ERROR_NONE && is_all) {
        walk->target = window.target;
        window.target = NULL;
    }
    memory_free(window.target);
    memory_free(window.filled);
    return rc;
}

static enum error_code find_targets(struct neighbor_walk *walk, struct error *err)
{
    const uint32_t node_count = walk->schema->node_count;
    const uint64_t edges_most = walk->budget_bytes / 2 / sizeof(uint32_t);
    enum error_code rc =
        memory_new(&walk->target_start, (size_t)node_count + 1, "the targets of nodes", err);
    if (rc == ERROR_NONE)
        rc = edge_walk(walk->store, walk->schema, count_targets, walk->target_start, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; node < node_count; node++)
        walk->target_start[node + 1] += walk->target_start[node];
    if (window_end(walk, 0, edges_most) < node_count)
        rc = open_file(walk, err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < node_count;) {
        const uint32_t end = window_end(walk, first, edges_most);
        rc = fill_window(walk, first, end, err);
        first = end;
    }
    return rc;
}

enum error_code neighbor_walk_open(struct neighbor_walk *walk, struct store *store,
                                   const struct dataset_schema *schema, uint64_t budget_bytes,
                                   struct error *err)
{
    *walk = (struct neighbor_walk){
        .store = store, .schema = schema, .budget_bytes = budget_bytes, .file = -1};
    const enum error_code rc = schema->undirected ? ERROR_NONE : find_targets(walk, err);
    if (rc != ERROR_NONE)
        neighbor_walk_close(walk);
    return rc;
}

/* The arguments of a visit of a chunk. */
struct pass {
    struct neighbor_walk *walk;
    neighbor_visitor visit;
    void *context;
};

/* Reads the targets of a block from the file. */
static enum error_code read_targets(struct neighbor_walk *walk, uint32_t first, uint32_t count,
                                    struct error *err)
{
    const uint64_t *start = walk->target_start;
    const uint64_t edges = start[first + count] - start[first];
    enum error_code rc = check_budget(walk, first, first + count, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&walk->target, &walk->target_capacity, (size_t)edges,
                         "the targets of nodes", err);
    return rc != ERROR_NONE || edges == 0
               ? rc
               : file_read_at(walk->file, walk->target, (size_t)edges * sizeof *walk->target,
                              start[first] * sizeof *walk->target, walk->path, err);
}

static enum error_code visit_chunk(void *context, const struct edge_chunk *chunk, struct error *err)
{
    const struct pass *pass = context;
    struct neighbor_walk *walk = pass->walk;
    struct neighbor_block block = {
        .first_node = chunk->first_node,
        .node_count = chunk->node_count,
        .source_start = chunk->row_start,
        .source = chunk->neighbor,
    };
    enum error_code rc = ERROR_NONE;
    if (walk->target_start) {
        block.target_start = &walk->target_start[chunk->first_node];
        if (walk->file >= 0)
            rc = read_targets(walk, chunk->first_node, chunk->node_count, err);
        block.target = walk->file >= 0 ? walk->target : &walk->target[block.target_start[0]];
    }
    return rc == ERROR_NONE ? pass->visit(pass->context, &block, err) : rc;
}

enum error_code neighbor_walk_pass(struct neighbor_walk *walk, neighbor_visitor visit,
                                   void *context, struct error *err)
{
    struct pass pass = {.walk = walk, .visit = visit, .context = context};
    return edge_walk(walk->store, walk->schema, visit_chunk, &pass, err);
}

void neighbor_walk_close(struct neighbor_walk *walk)
{
    if (walk->store && walk->file >= 0)
        (void)close(walk->file);
    if (walk->folder[0])
        error_ignore(file_remove_all(walk->folder, NULL));
    memory_free(walk->target_start);
    memory_free(walk->target);
    *walk = (struct neighbor_walk){.file = -1};
}
