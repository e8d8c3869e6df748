#include "store/topology/topology.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/parallel/first_failure.h"
#include "store/objects/keys.h"
#include "store/topology/topology_artifact.h"
#include "store/topology/topology_delta.h"
#include "store/topology/topology_file.h"
#include "store/topology/topology_merge.h"

#include <pthread.h>
#include <string.h>

/* The file of a part, and the state of opening it. */
struct topology_source {
    pthread_mutex_t
        lock; /* guards all members but key and seal, and the part's pointers until it is open */
    struct store *store;
    struct key key;
    struct topology_seal seal;
    bool is_open;
    struct artifact_handle artifact;
    struct topology_file file;
    /* For a vertex cut: the file, which other parts read too, under a lock of its own, and the
     * merged rows. For a delta the same for each relation. */
    pthread_mutex_t held_lock;
    bool is_held_open;
    struct held_arrays *held;   /* [relations], owned */
    struct merged_rows *merged; /* [relations], owned */
};

/* --- a part --- */

static void forget_arrays(struct topology_part *part)
{
    memory_free(part->row_start_chunk);
    memory_free(part->neighbor_chunk);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        memory_free(part->column_chunk[c]);
    memory_free(part->weight_sum_chunk);
    *part = (struct topology_part){.first_node = part->first_node,
                                   .node_count = part->node_count,
                                   .edge_count = part->edge_count,
                                   .width = part->width};
}

static void release_held(struct topology_source *source)
{
    for (uint32_t r = 0; source->held && r < topology_seal_relations(&source->seal); r++)
        held_arrays_release(&source->held[r]);
    memory_free(source->held);
    source->held = NULL;
}

/* Frees the merged rows of `part` [relations of the seal]. */
static void release_merged(struct topology_part *part, struct topology_source *source)
{
    for (uint32_t r = 0; r < topology_seal_relations(&source->seal); r++) {
        forget_arrays(&part[r]);
        if (source->merged)
            merged_rows_release(&source->merged[r]);
    }
    memory_free(source->merged);
    source->merged = NULL;
}

/* Closes `part` [relations of the seal]. */
static void close_part(struct topology_part *part, struct topology_source *source)
{
    release_held(source);
    topology_file_close(&source->file);
    artifact_release(&source->artifact);
    release_merged(part, source);
    source->is_open = false;
}

static enum error_code find_arrays(struct topology_part *part, uint32_t relation,
                                   const struct topology_file *file, struct error *err)
{
    struct topology_array array[TOPOLOGY_ARRAY_COUNT];
    topology_arrays_describe(relation, part->node_count, part->edge_count, &part->width, array);
    enum error_code rc =
        topology_file_chunks(file, &array[TOPOLOGY_ROW_START], &part->row_start_chunk, err);
    if (rc == ERROR_NONE)
        rc = topology_file_chunks(file, &array[TOPOLOGY_NEIGHBOR], &part->neighbor_chunk, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (part->width.of[c])
            rc = topology_file_chunks(file, &array[TOPOLOGY_FIRST_COLUMN + c],
                                      &part->column_chunk[c], err);
    if (rc == ERROR_NONE && part->width.of[EDGE_WEIGHT])
        rc = topology_file_chunks(file, &array[TOPOLOGY_WEIGHT_SUM], &part->weight_sum_chunk, err);
    return rc;
}

static enum error_code open_once(struct topology_part *part, struct topology_source *source,
                                 struct error *err)
{
    enum error_code rc = topology_artifact_acquire(source->store, source->key.text, &source->seal,
                                                   &source->artifact, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = topology_file_open(source->artifact.path, &source->file, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_seal_relations(&source->seal); r++)
        rc = find_arrays(&part[r], r, &source->file, err);
    if (rc != ERROR_NONE) {
        close_part(part, source);
        return error_context(err, rc, "artifact %s", source->key.text);
    }
    source->is_open = true;
    return ERROR_NONE;
}

/* --- a part of a vertex cut, or of a delta --- */

static enum error_code find_held(struct topology_source *source, struct error *err)
{
    const uint32_t relations = topology_seal_relations(&source->seal);
    enum error_code rc = memory_new(&source->held, relations, "the rows of a file", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        rc = held_arrays_find(&source->file, &source->seal, r, &source->held[r], err);
    return rc;
}

static enum error_code open_file(struct topology_source *source, struct error *err)
{
    enum error_code rc = topology_artifact_acquire(source->store, source->key.text, &source->seal,
                                                   &source->artifact, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = topology_file_open(source->artifact.path, &source->file, err);
    if (rc == ERROR_NONE)
        rc = find_held(source, err);
    if (rc == ERROR_NONE)
        return rc;
    release_held(source);
    topology_file_close(&source->file);
    artifact_release(&source->artifact);
    return error_context(err, rc, "artifact %s", source->key.text);
}

/* Opens the file of a part for any part that needs it. To avoid deadlock, the lock of a part is
 * always taken before the lock of a file. */
static enum error_code open_held(struct topology_source *source, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&source->held_lock);
    if (!source->is_held_open)
        rc = open_file(source, err);
    source->is_held_open = rc == ERROR_NONE;
    (void)pthread_mutex_unlock(&source->held_lock);
    return rc;
}

static enum error_code open_merged(const struct topology *t, int part, struct error *err)
{
    struct topology_source *source = &t->source[part];
    const uint32_t relations = topology_relations(t);
    struct topology_part *rows = &t->part[(size_t)part * relations];
    struct held_part *held = NULL;
    enum error_code rc = memory_new(&held, (size_t)t->part_count, "the files of a vertex cut", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source->merged, relations, "the rows of a part", err);
    for (int p = 0; rc == ERROR_NONE && p < t->part_count; p++)
        rc = open_held(&t->source[p], err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        for (int p = 0; p < t->part_count; p++)
            held[p].arrays = &t->source[p].held[r];
        rc = topology_merge(source->store, held, t->part_count, &rows[r], &source->merged[r], err);
    }
    if (rc != ERROR_NONE)
        release_merged(rows, source);
    source->is_open = rc == ERROR_NONE;
    memory_free(held);
    return rc;
}

/* Opens a part of a base, which is whole. */
static enum error_code open_base_part(const struct topology_base *base, int part, struct error *err)
{
    struct topology_source *source = &base->topology.source[part];
    struct topology_part *rows =
        &base->topology.part[(size_t)part * topology_relations(&base->topology)];
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&source->lock);
    if (!source->is_open)
        rc = open_once(rows, source, err);
    (void)pthread_mutex_unlock(&source->lock);
    return rc;
}

static enum error_code open_delta(const struct topology *t, int part, struct error *err)
{
    struct topology_source *source = &t->source[part];
    const uint32_t relations = topology_relations(t);
    struct topology_part *rows = &t->part[(size_t)part * relations];
    enum error_code rc = open_base_part(t->base, part, err);
    if (rc == ERROR_NONE)
        rc = open_held(source, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&source->merged, relations, "the rows of a part", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++) {
        rc = topology_delta_merge(source->store, t->base, &source->held[r], part, r, &rows[r],
                                  &source->merged[r], err);
        if (rc == ERROR_CORRUPT)
            rc = error_context(err, rc, "artifact %s", source->key.text);
    }
    if (rc != ERROR_NONE)
        release_merged(rows, source);
    source->is_open = rc == ERROR_NONE;
    return rc;
}

enum error_code topology_open_part(const struct topology *topology, int part, struct error *err)
{
    if (!topology->source)
        return ERROR_NONE;
    struct topology_source *source = &topology->source[part];
    struct topology_part *rows = &topology->part[(size_t)part * topology_relations(topology)];
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&source->lock);
    /* A disk or network may fail once, so a failure is reported only if it happens again. */
    for (int i = 0; i < 2 && !source->is_open && (i == 0 || rc == ERROR_IO); i++)
        rc = topology->base            ? open_delta(topology, part, err)
             : topology->is_vertex_cut ? open_merged(topology, part, err)
                                       : open_once(rows, source, err);
    (void)pthread_mutex_unlock(&source->lock);
    return rc;
}

bool topology_part_is_open(const struct topology *topology, int part)
{
    if (!topology->source)
        return topology->part != NULL;
    struct topology_source *source = &topology->source[part];
    (void)pthread_mutex_lock(&source->lock);
    const bool is_open = source->is_open;
    (void)pthread_mutex_unlock(&source->lock);
    return is_open;
}

struct opening {
    const struct topology *topology;
    struct first_failure failure;
};

static void open_one(void *context, int64_t part, int thread)
{
    struct opening *opening = context;
    struct error err = {0};
    (void)thread;
    const enum error_code rc = topology_open_part(opening->topology, (int)part, &err);
    first_failure_keep(&opening->failure, rc, part, &err);
}

enum error_code topology_open_parts(const struct topology *topology, struct thread_pool *pool,
                                    struct error *err)
{
    struct opening opening = {.topology = topology};
    first_failure_init(&opening.failure);
    thread_pool_run(pool, topology->part_count, open_one, &opening);
    return first_failure_end(&opening.failure, err);
}

/* --- the whole --- */

/* Checks that the rows of each relation in a part are those that the book lists. */
static enum error_code take_relations(const struct partition_book *book, int number,
                                      const struct topology_source *source,
                                      struct topology_part *part, struct error *err)
{
    const struct topology_seal *seal = &source->seal;
    const struct type_ranges ranges = partition_book_ranges(book);
    if (topology_seal_relations(seal) != partition_book_relations(book))
        return error_set(err, ERROR_CORRUPT, "artifact %s: expected %u relations, found %u",
                         source->key.text, partition_book_relations(book),
                         topology_seal_relations(seal));
    for (uint32_t r = 0; r < topology_seal_relations(seal); r++) {
        const uint32_t type = partition_book_relation(book, r)->target_type;
        const uint32_t from = type_ranges_first(&ranges, number, type);
        const struct sealed_rows rows = topology_seal_rows(seal, r);
        if (rows.first_node != from || rows.node_count != type_ranges_count(&ranges, number, type))
            return error_set(
                err, ERROR_CORRUPT,
                "artifact %s: relation %u: expected %u nodes from %u, found %u from %u",
                source->key.text, r, type_ranges_count(&ranges, number, type), from,
                rows.node_count, rows.first_node);
        part[r] = (struct topology_part){.first_node = rows.first_node,
                                         .node_count = rows.node_count,
                                         .edge_count = rows.edge_count,
                                         .width = seal->width};
    }
    return ERROR_NONE;
}

/* Adds a part to the topology. All parts must have the same arrays. */
static enum error_code join_part(struct topology *t, int number, const struct topology_seal *seal,
                                 struct error *err)
{
    char expected[128], found[128];
    if (number == 0) {
        t->width = seal->width;
        t->is_vertex_cut = seal->is_held;
        t->is_delta = seal->is_delta;
    }
    if (seal->is_delta != t->is_delta)
        return error_set(err, ERROR_CORRUPT,
                         "topology of part %d: expected %s, as part 0 is, found the other", number,
                         t->is_delta ? "a delta" : "a whole one");
    if (seal->is_held != t->is_vertex_cut)
        return error_set(err, ERROR_CORRUPT,
                         "topology of part %d: expected %s cut, as part 0 is of, found the other",
                         number, t->is_vertex_cut ? "a vertex" : "an edge");
    edge_widths_text(&t->width, expected, sizeof expected);
    edge_widths_text(&seal->width, found, sizeof found);
    if (!edge_widths_equal(&seal->width, &t->width))
        return error_set(
            err, ERROR_CORRUPT,
            "topology of part %d: expected the edge columns of part 0 (%s) in the same "
            "widths, found (%s)",
            number, expected, found);
    const struct checksum_part sums[] = {{&t->content, sizeof t->content},
                                         {&seal->file, sizeof seal->file}};
    t->content = checksum_of_parts(sums, 2);
    t->edge_count += seal->edge_count;
    return ERROR_NONE;
}

struct sealed {
    struct topology *topology;
    struct store *store;
    const struct partition_book *book;
};

static struct key seal_key(const void *context, size_t part)
{
    const struct sealed *sealed = context;
    return key_part(sealed->book->id, (int)part, "topology_seal");
}

static enum error_code take_seal(void *context, size_t index, struct record_view *view,
                                 struct error *err)
{
    const struct sealed *sealed = context;
    const struct partition_book *book = sealed->book;
    const int number = (int)index;
    struct topology_source *source = &sealed->topology->source[number];
    struct topology_seal *seal = &source->seal;
    source->store = sealed->store;
    source->key = key_part(book->id, number, "topology");
    enum error_code rc = topology_seal_decode(view, seal, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t first = book->book[number], count = book->book[number + 1] - first;
    if (seal->first_node != first || seal->node_count != count)
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: expected %u nodes from %u, found %u from %u",
                         source->key.text, count, first, seal->node_count, seal->first_node);
    rc = take_relations(book, number, source,
                        &sealed->topology->part[index * partition_book_relations(book)], err);
    return rc == ERROR_NONE ? join_part(sealed->topology, number, seal, err) : rc;
}

/* Closes a topology without its base. */
static void close_files(struct topology *topology)
{
    for (int p = 0; topology->source && p < topology->part_count; p++) {
        close_part(&topology->part[(size_t)p * topology_relations(topology)], &topology->source[p]);
        (void)pthread_mutex_destroy(&topology->source[p].lock);
        (void)pthread_mutex_destroy(&topology->source[p].held_lock);
    }
    memory_free(topology->source);
    memory_free(topology->part);
    shared_area_close(&topology->copy);
    uint32_t *bounds = NULL;
    memcpy(&bounds, &topology->book, sizeof bounds); /* const for readers only */
    memory_free(bounds);
    *topology = (struct topology){0};
}

/* Opens everything but the base of a delta. */
static enum error_code open_seals(struct store *store, const struct partition_book *book,
                                  struct topology *out, struct error *err)
{
    const size_t part_count = (size_t)book->part_count;
    const uint32_t relations = partition_book_relations(book);
    struct topology t = {.part_count = book->part_count,
                         .relation_count = relations,
                         .node_count = book->node_count};
    uint32_t *bounds = NULL;
    must(book->part_count > 0);
    enum error_code rc = memory_new(&bounds, part_count + 1, "a partition book", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(bounds, book->book, (part_count + 1) * sizeof *bounds);
    t.book = bounds;
    rc = memory_new(&t.part, part_count * relations, "the parts of a topology", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&t.source, part_count, "the parts of a topology", err);
    for (int p = 0; rc == ERROR_NONE && p < book->part_count; p++) {
        must(pthread_mutex_init(&t.source[p].lock, NULL) == 0);
        must(pthread_mutex_init(&t.source[p].held_lock, NULL) == 0);
    }
    struct sealed sealed = {.topology = &t, .store = store, .book = book};
    const struct store_series seals = {.owner_id = book->id,
                                       .count = part_count,
                                       .key = seal_key,
                                       .visit = take_seal,
                                       .context = &sealed};
    if (rc == ERROR_NONE)
        rc = store_get_each(store, &seals, err);
    if (rc == ERROR_NONE) {
        *out = t;
        t = (struct topology){0}; /* the caller owns it now */
    }
    close_files(&t);
    return rc;
}

static enum error_code check_base(const struct topology *t, const struct partition_book *book,
                                  struct error *err)
{
    const struct topology *base = &t->base->topology;
    for (int p = 0; p < t->part_count; p++)
        if (strcmp(t->source[p].seal.base, t->base->delta.base) != 0)
            return error_set(err, ERROR_CORRUPT, "artifact %s: a delta of %s, expected of %s",
                             t->source[p].key.text, t->source[p].seal.base, t->base->delta.base);
    if (base->is_delta || base->is_vertex_cut || !edge_widths_equal(&base->width, &t->width))
        return error_set(err, ERROR_CORRUPT,
                         "%s: the base %s is %s, expected a whole edge cut with the same columns",
                         key_partition(book->id, "delta").text, t->base->delta.base,
                         base->is_delta ? "a delta itself" : "of another form");
    return ERROR_NONE;
}

static enum error_code open_base(struct store *store, const struct partition_book *book,
                                 struct topology *t, struct error *err)
{
    enum error_code rc = memory_new(&t->base, 1, "the base of a delta", err);
    if (rc == ERROR_NONE)
        rc = topology_base_read(store, book, t->base, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct partition_delta *delta = &t->base->delta;
    struct partition_book of = {.part_count = t->part_count,
                                .book = delta->base_book,
                                .type_count = delta->type_count,
                                .type_start = delta->type_start,
                                .relation_count = book->relation_count,
                                .relation = book->relation};
    must(text_copy(of.id, sizeof of.id, delta->base));
    of.node_count = of.book[of.part_count];
    rc = open_seals(store, &of, &t->base->topology, err);
    if (rc == ERROR_NONE)
        rc = check_base(t, book, err);
    const struct checksum_part sums[] = {
        {&t->content, sizeof t->content},
        {&t->base->topology.content, sizeof t->base->topology.content}};
    t->content = checksum_of_parts(sums, 2);
    return rc;
}

enum error_code topology_open(struct store *store, const struct partition_book *book,
                              struct topology *out, struct error *err)
{
    enum error_code rc = open_seals(store, book, out, err);
    if (rc != ERROR_NONE || !out->is_delta)
        return rc;
    rc = open_base(store, book, out, err);
    if (rc != ERROR_NONE)
        topology_close(out);
    return rc;
}

void topology_close(struct topology *topology)
{
    struct topology_base *base = topology->base;
    close_files(topology);
    if (!base)
        return;
    close_files(&base->topology);
    topology_base_release(base);
    memory_free(base);
}

/* Counts the edges from a node to itself. They are consecutive, because rows ascend. */
uint32_t topology_self_loops(const struct topology_part *part, uint64_t start, uint32_t length,
                             uint32_t node)
{
    uint32_t low = 0, high = length;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (*topology_neighbor(part, start + middle) < node)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < length && *topology_neighbor(part, start + end) == node)
        end++;
    return end - low;
}

uint32_t topology_degree(const struct topology_part *part, uint32_t row, bool has_self_loops)
{
    const uint64_t start = topology_row_start(part, row);
    const uint32_t length = (uint32_t)(topology_row_start(part, row + 1) - start);
    return has_self_loops
               ? length - topology_self_loops(part, start, length, part->first_node + row)
               : length;
}
