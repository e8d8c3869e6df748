/* Reads the file of added edges, and decides where added links go. Declared in update_reader.h. */
#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/ingest/build/edges/weight_scale.h"
#include "stages/ingest/build/input_lines.h"
#include "stages/ingest/update/update_edge_file.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t update_edge_key(const struct update_reader *reader, uint32_t source, uint32_t target)
{
    const bool swap = reader->schema->undirected && source > target;
    return swap ? (uint64_t)source << 32 | target : (uint64_t)target << 32 | source;
}

/* The edges of a chunk with one key, which are adjacent in the row of its target. */
struct key_edges {
    uint64_t first, end;
};

static struct key_edges edges_of(const struct edge_chunk *chunk, uint64_t key)
{
    const uint32_t target = (uint32_t)(key >> 32), source = (uint32_t)key;
    const uint32_t row = target - chunk->first_node;
    if (target < chunk->first_node || row >= chunk->node_count)
        return (struct key_edges){0};
    uint64_t low = chunk->row_start[row], high = chunk->row_start[row + 1];
    const uint64_t end = high;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (chunk->neighbor[middle] < source)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < end && chunk->neighbor[high] == source;)
        high++;
    return (struct key_edges){low, high};
}

/* Returns the relation of an edge in a chunk of the version that the update is for. */
static uint32_t relation_at(const struct update_reader *reader, const struct edge_chunk *chunk,
                            uint64_t edge)
{
    const uint16_t *type = reader->delta.relation_count ? chunk->columns.data[EDGE_TYPE] : NULL;
    return type ? type[edge] : 0;
}

bool update_chunk_has(const struct update_reader *reader, const struct edge_chunk *chunk,
                      uint64_t key, uint32_t relation)
{
    struct key_edges edges = edges_of(chunk, key);
    while (edges.first < edges.end && relation_at(reader, chunk, edges.first) != relation)
        edges.first++;
    return edges.first < edges.end;
}

bool update_chunk_keeps(const struct update_reader *reader, const struct edge_chunk *chunk,
                        uint64_t key, bool is_reverse)
{
    const struct key_edges edges = edges_of(chunk, key);
    for (uint64_t e = edges.first; e < edges.end; e++) {
        const uint32_t relation = relation_at(reader, chunk, e);
        if (relation < RELATION_COUNT_MAX &&
            is_reverse != relation_is_forward(&reader->reverses, relation) &&
            !update_edges_go(reader, key, relation))
            return true;
    }
    return false;
}

/* ---- added edges
 * ------------------------------------------------------------------------------ */

static enum error_code check_stays(const struct update_edge_file *file, uint32_t node, int64_t line,
                                   struct error *err)
{
    const struct update_reader *reader = file->reader;
    char text[NODE_ID_TEXT_SIZE];
    if (node >= reader->nodes.base_count || !reader->is_gone[node])
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": node %s is removed by --remove-nodes, expected one that stays",
                     file->path, line, living_nodes_text(&reader->nodes, node, text));
}

static enum error_code grow_edges(struct update_reader *reader, const struct edge_widths *width,
                                  struct error *err)
{
    struct dataset_delta *delta = &reader->delta;
    const size_t wanted = delta->added_edges + 1;
    enum error_code rc = update_reader_take(reader, 16 + edge_widths_bytes(width), err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->source, &reader->room.source, wanted, "new edges", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->target, &reader->room.target, wanted, "new edges", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->edge_place, &reader->room.edge_place, wanted,
                         "lines of new edges", err);
    if (rc == ERROR_NONE && task_has(reader->schema->task, TASK_HOLDS_OUT_EDGES))
        rc = memory_grow(&reader->new_held, &reader->room.new_held, wanted, "new edges", err);
    if (rc != ERROR_NONE || wanted <= reader->room.columns)
        return rc;
    struct edge_columns larger = {0};
    const size_t room = 2 * wanted;
    rc = edge_columns_new(&larger, width, room, "columns of new edges", err);
    if (rc != ERROR_NONE)
        return rc;
    if (delta->added_edges) {
        const struct edge_columns_view old = edge_columns_read(&reader->columns, 0);
        edge_columns_copy(&larger, 0, &old, 0, delta->added_edges);
    }
    edge_columns_release(&reader->columns);
    reader->columns = larger;
    reader->room.columns = room;
    return ERROR_NONE;
}

/* Writes the place of a line, with the user's name of the file, into a text that outlives the
 * file. */
static void name_place(const struct update_edge_file *file, int64_t line, char *text, size_t size)
{
    const struct update_request *request = file->reader->request;
    char path[FILE_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s", file->path);
    if (request->name_origin)
        request->name_origin(request->origin, path, sizeof path);
    input_lines_place(text, size, path, line);
}

/* Scales the weight by a logarithm. Ranks were refused before (update_reader.c), and labels that
 * are the weights were read before this. */
static void scale_weight(const struct update_edge_file *file)
{
    const struct weight_scale scale = {
        .kind = (enum weight_scale_kind)file->reader->settings->ingest.weight_scale};
    float *weight = file->value.data[EDGE_WEIGHT];
    if (weight)
        *weight = weight_scale_of(&scale, *weight);
}

static enum error_code add_edge(struct update_edge_file *file, const struct update_edge_line *line,
                                struct error *err)
{
    struct update_reader *reader = file->reader;
    struct dataset_delta *delta = &reader->delta;
    const uint32_t source = line->source, target = line->target;
    int64_t time = 0;
    bool is_held = false;
    enum error_code rc = check_stays(file, source, line->line, err);
    if (rc == ERROR_NONE)
        rc = check_stays(file, target, line->line, err);
    if (rc == ERROR_NONE)
        rc = update_graphs_check_edge(reader, source, target, file->path, line->line, err);
    if (rc == ERROR_NONE && source == target && reader->settings->ingest.self_loops == EDGES_REFUSE)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": an edge from a node to itself: expected none "
                       "(ingest.self_loops: refuse)",
                       file->path, line->line);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(&file->fields, line->field, file->path, line->line, &file->value,
                                err);
    if (rc == ERROR_NONE)
        rc = update_labels_take(reader, file->path, line->line, &file->value, err);
    if (rc == ERROR_NONE) {
        const struct edge_columns_view value = edge_columns_read(&file->value, 0);
        time = edge_columns_time(&value, 0);
    }
    const int place = update_links_place(reader, source, target, line->relation, time, &is_held);
    reader->absorbed += rc == ERROR_NONE && is_held;
    if (rc != ERROR_NONE || is_held)
        return rc;
    rc = grow_edges(reader, &file->fields.width, err);
    if (rc != ERROR_NONE)
        return rc;
    scale_weight(file);
    const struct edge_columns_view value = edge_columns_read(&file->value, 0);
    edge_columns_copy(&reader->columns, delta->added_edges, &value, 0, 1);
    if (reader->new_held) {
        reader->new_held[delta->added_edges] = (uint8_t)place;
        reader->has_held |= place > 0;
    }
    if (value.data[EDGE_WEIGHT] && ((const float *)value.data[EDGE_WEIGHT])[0] < 0 &&
        !delta->negative_weight[0])
        name_place(file, line->line, delta->negative_weight, sizeof delta->negative_weight);
    reader->edge_place[delta->added_edges] = line->place;
    reader->source[delta->added_edges] = source;
    reader->target[delta->added_edges++] = target;
    return ERROR_NONE;
}

/* Appends the reverses that ingest adds to the edges of the file. */
static enum error_code add_reverses(struct update_reader *reader, const struct edge_widths *width,
                                    struct error *err)
{
    struct dataset_delta *delta = &reader->delta;
    const uint64_t given = reader->has_reverses ? delta->added_edges : 0;
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = 0; rc == ERROR_NONE && i < given; i++) {
        rc = grow_edges(reader, width, err);
        if (rc != ERROR_NONE)
            return rc;
        const uint64_t at = delta->added_edges++;
        const struct edge_columns_view own = edge_columns_read(&reader->columns, 0);
        edge_columns_copy(&reader->columns, at, &own, i, 1);
        ((uint16_t *)reader->columns.data[EDGE_TYPE])[at] += (uint16_t)reader->relation_count;
        if (reader->new_held)
            reader->new_held[at] = reader->new_held[i];
        reader->edge_place[at] = reader->edge_place[i];
        reader->source[at] = reader->target[i];
        reader->target[at] = reader->source[i];
    }
    return rc;
}

enum error_code update_edges_add(struct update_reader *reader, struct error *err)
{
    struct update_edge_file file = {.reader = reader,
                                    .path = reader->request->add_edges,
                                    .takes_columns = true,
                                    .visit = add_edge};
    enum error_code rc = update_edge_file_visit(&file, err);
    if (rc == ERROR_NONE)
        rc = add_reverses(reader, &file.fields.width, err);
    reader->delta.source = reader->source;
    reader->delta.target = reader->target;
    reader->delta.columns = edge_columns_read(&reader->columns, 0);
    reader->delta.new_held = reader->has_held ? reader->new_held : NULL;
    return rc;
}

struct merged_edges update_edges_pass(const struct update_reader *reader)
{
    return merged_edges_begin(reader->store, reader->schema->id, reader->schema->edge_chunk_count,
                              MERGED_PIECE_BYTES);
}

/* ---- added links whose pair has edges
 * ---------------------------------------------------------- */

struct drawn_link {
    uint64_t key, index; /* index: of the added edge */
    bool is_reverse;     /* the key is that of reverses, otherwise that of all other edges */
};

static int by_link(const void *left, const void *right)
{
    const struct drawn_link *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Puts links into training whose pair has a training edge in the chunk. Their draw cannot decide:
 * numbers of nodes change when nodes are removed, and with them the draw of a pair. */
static void keep_trained(struct update_reader *reader, const struct edge_chunk *chunk,
                         const struct drawn_link *link, uint64_t count, uint64_t *next)
{
    const uint64_t end = (uint64_t)chunk->first_node + chunk->node_count;
    for (; *next < count && link[*next].key >> 32 < end; ++*next)
        if (update_chunk_keeps(reader, chunk, link[*next].key, link[*next].is_reverse))
            reader->new_held[link[*next].index] = 0;
}

enum { KEYS_OF_LINK = 4 }; /* the largest number that list_drawn() makes of an edge */

/* Lists the keys of each edge of old nodes that draws a split: its pair, the pair the other way if
 * both go together, and the same for edges that are reverses. Returns their number. */
static uint64_t list_drawn(const struct update_reader *reader, struct drawn_link *link)
{
    const struct dataset_schema *schema = reader->schema;
    const struct dataset_delta *delta = &reader->delta;
    const uint16_t *type = delta->columns.data[EDGE_TYPE];
    uint64_t count = 0;
    for (uint64_t i = 0; i < delta->added_edges; i++) {
        const uint32_t source = delta->source[i], target = delta->target[i];
        const uint64_t own = update_edge_key(reader, source, target);
        const uint64_t key = update_pair_key(reader, own, type ? type[i] : 0);
        if (!reader->new_held[i] || source >= schema->node_count || target >= schema->node_count)
            continue;
        const uint64_t back = key << 32 | key >> 32;
        link[count++] = (struct drawn_link){.key = key, .index = i};
        if (schema->pairs_together)
            link[count++] = (struct drawn_link){.key = back, .index = i};
        if (schema->has_relations)
            link[count++] = (struct drawn_link){
                .key = schema->undirected ? key : back, .index = i, .is_reverse = true};
        if (schema->has_relations && schema->pairs_together)
            link[count++] = (struct drawn_link){.key = key, .index = i, .is_reverse = true};
    }
    return count;
}

enum error_code update_links_settle(struct update_reader *reader, struct error *err)
{
    struct dataset_delta *delta = &reader->delta;
    struct drawn_link *link = NULL;
    uint64_t count = 0, next = 0;
    bool has_held = false;
    /* no edge drew a split */
    if (!delta->new_held || reader->link_split.kind != EDGE_SPLIT_RANDOM)
        return ERROR_NONE;
    enum error_code rc = memory_new(&link, KEYS_OF_LINK * delta->added_edges, "links", err);
    if (rc == ERROR_NONE)
        count = list_drawn(reader, link);
    if (count)
        qsort(link, count, sizeof *link, by_link);
    struct merged_edges pass = update_edges_pass(reader);
    for (bool found = true; rc == ERROR_NONE && next < count;) {
        struct edge_chunk chunk = {0};
        rc = merged_edges_next(&pass, &chunk, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        keep_trained(reader, &chunk, link, count, &next);
        store_release_record(&chunk.view);
    }
    merged_edges_end(&pass);
    memory_free(link);
    for (uint64_t i = 0; i < delta->added_edges; i++)
        has_held |= reader->new_held[i] != 0;
    delta->new_held = has_held ? reader->new_held : NULL;
    return rc;
}
