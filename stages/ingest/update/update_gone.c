/* Reads the file of removed edges, which must exist. Declared in update_reader.h. */
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/ingest/update/update_edge_file.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdlib.h>

static enum error_code remove_edge(struct update_edge_file *file,
                                   const struct update_edge_line *line, struct error *err)
{
    struct update_reader *reader = file->reader;
    const size_t at = reader->delta.gone_edges;
    enum error_code rc = update_reader_take(reader, 2 * sizeof *reader->gone, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->gone, &reader->room.gone, at + 1, "edges that go", err);
    if (rc != ERROR_NONE)
        return rc;
    reader->gone[at] =
        (struct gone_edge){.key = update_edge_key(reader, line->source, line->target),
                           .relation = line->relation,
                           .place = line->place};
    reader->delta.gone_edges++;
    return ERROR_NONE;
}

static int by_key(const void *left, const void *right)
{
    const struct gone_edge *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->relation != b->relation)
        return a->relation < b->relation ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

bool update_edges_go(const struct update_reader *reader, uint64_t key, uint32_t relation)
{
    uint64_t low = 0, high = reader->delta.gone_edges;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct gone_edge *gone = &reader->gone[middle];
        if (gone->key < key || (gone->key == key && gone->relation < relation))
            low = middle + 1;
        else
            high = middle;
    }
    return low < reader->delta.gone_edges && reader->gone[low].key == key &&
           reader->gone[low].relation == relation;
}

/* ---- whether they exist
 * --------------------------------------------------------------------------- */

static enum error_code name_edge(const struct update_reader *reader, size_t i, const char *what,
                                 struct error *err)
{
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    const struct gone_edge *gone = &reader->gone[i];
    const bool has_several = reader->relation_count > 1;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %s and %s%s%s is removed%s",
                     update_place_path(&reader->paths, gone->place), update_place_line(gone->place),
                     living_nodes_text(&reader->nodes, (uint32_t)gone->key, source),
                     living_nodes_text(&reader->nodes, (uint32_t)(gone->key >> 32), target),
                     has_several ? " of relation " : "",
                     has_several ? reader->schema->edge_type[gone->relation].name : "", what);
}

/* Checks the removed edges up to the last node of a chunk: each must be in the chunk, or be held
 * out. */
static enum error_code find_in_chunk(const struct update_reader *reader,
                                     const struct edge_chunk *chunk, uint64_t *next,
                                     struct error *err)
{
    const uint64_t end = (uint64_t)chunk->first_node + chunk->node_count;
    for (; *next < reader->delta.gone_edges; ++*next) {
        const struct gone_edge *gone = &reader->gone[*next];
        if (gone->key >> 32 >= end)
            return ERROR_NONE;
        if (!update_chunk_has(reader, chunk, gone->key, gone->relation) &&
            !update_links_has(reader, gone->key, gone->relation))
            return name_edge(reader, *next, ", expected one that exists", err);
    }
    return ERROR_NONE;
}

/* Checks that each removed edge exists and is listed once: one pass over the edges of the dataset,
 * whose targets ascend as the keys do. */
static enum error_code find_gone(const struct update_reader *reader, struct error *err)
{
    const uint64_t count = reader->delta.gone_edges;
    enum error_code rc = ERROR_NONE;
    uint64_t next = 0;
    for (uint64_t i = 1; i < count; i++)
        if (reader->gone[i].key == reader->gone[i - 1].key &&
            reader->gone[i].relation == reader->gone[i - 1].relation)
            return name_edge(reader, i, " twice, expected each once", err);
    struct merged_edges pass = update_edges_pass(reader);
    for (bool found = true; rc == ERROR_NONE && next < count;) {
        struct edge_chunk chunk = {0};
        if (stop_signal_seen())
            rc = error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        else
            rc = merged_edges_next(&pass, &chunk, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = find_in_chunk(reader, &chunk, &next, err);
        store_release_record(&chunk.view);
    }
    merged_edges_end(&pass);
    return rc == ERROR_NONE && next < count
               ? name_edge(reader, next, ", expected one that exists", err)
               : rc;
}

/* ---- in the form of the delta
 * ------------------------------------------------------------------------ */

/* Adds the reverses of the edges of the file, and sorts all of them. */
static enum error_code add_reverses(struct update_reader *reader, struct error *err)
{
    const size_t given = reader->delta.gone_edges;
    if (!reader->has_reverses || !given)
        return ERROR_NONE;
    const enum error_code rc =
        memory_grow(&reader->gone, &reader->room.gone, 2 * given, "edges that go", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < given; i++) {
        struct gone_edge *gone = &reader->gone[given + i];
        *gone = reader->gone[i];
        gone->key = gone->key << 32 | gone->key >> 32;
        gone->relation += reader->relation_count;
    }
    reader->delta.gone_edges = 2 * given;
    qsort(reader->gone, 2 * given, sizeof *reader->gone, by_key);
    return ERROR_NONE;
}

static enum error_code fill_arrays(struct update_reader *reader, struct error *err)
{
    struct dataset_delta *delta = &reader->delta;
    enum error_code rc = memory_new(&reader->gone_source, delta->gone_edges, "edges that go", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->gone_target, delta->gone_edges, "edges that go", err);
    if (rc == ERROR_NONE && delta->relation_count)
        rc = memory_new(&reader->gone_relation, delta->gone_edges, "edges that go", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->gone_edges; i++) {
        reader->gone_source[i] = (uint32_t)reader->gone[i].key;
        reader->gone_target[i] = (uint32_t)(reader->gone[i].key >> 32);
        if (delta->relation_count)
            reader->gone_relation[i] = (uint16_t)reader->gone[i].relation;
    }
    delta->gone_source = reader->gone_source;
    delta->gone_target = reader->gone_target;
    delta->gone_relation = reader->gone_relation;
    return rc;
}

enum error_code update_edges_remove(struct update_reader *reader, struct error *err)
{
    struct update_edge_file file = {
        .reader = reader, .path = reader->request->remove_edges, .visit = remove_edge};
    enum error_code rc = update_edge_file_visit(&file, err);
    if (rc == ERROR_NONE && reader->delta.gone_edges)
        qsort(reader->gone, reader->delta.gone_edges, sizeof *reader->gone, by_key);
    if (rc == ERROR_NONE)
        rc = find_gone(reader, err);
    if (rc == ERROR_NONE)
        rc = add_reverses(reader, err);
    return rc == ERROR_NONE ? fill_arrays(reader, err) : rc;
}
