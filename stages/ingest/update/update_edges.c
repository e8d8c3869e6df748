/* The files of an update that name edges: those that come, and those that go, which have to be there. */
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "stages/ingest/build/input_lines.h"
#include "stages/ingest/formats/edge_fields.h"
#include "stages/ingest/update/update_reader.h"
#include "store/records/edge_chunk.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edge_file {
    struct update_reader *reader;
    const char *path;
    struct edge_fields fields;
    bool is_known; /* the first row was seen */
    enum error_code (*visit)(struct edge_file *file, const struct field *field, int64_t line,
                             struct error *err);
    struct edge_columns value; /* of the edge at hand */
};

/* ---- rows ------------------------------------------------------------------------------------- */

/* Without a header: source, target, then the columns that the dataset has. */
static void take_plain(struct edge_fields *fields, const struct edge_widths *width)
{
    static const enum edge_column order[] = {EDGE_WEIGHT, EDGE_TIME, EDGE_FEATURE};
    size_t at = 2;
    for (size_t c = 0; c < sizeof order / sizeof *order; c++)
        for (uint32_t i = 0; i < width->of[order[c]] && at < fields->count; i++)
            (void)edge_fields_take(fields, at++, order[c]);
}

/* Looks at the first row; *is_header: it names the columns. */
static enum error_code survey(struct edge_file *file, const struct text_line *line, bool *is_header,
                              struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    int unknown = 0;
    const enum delimiter delimiter = delimited_guess(line->text, line->size);
    const size_t count = delimited_split_line(line, delimiter, field, EDGE_FIELD_MAX);
    if (count < 2 || count > EDGE_FIELD_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected 2 to %d columns (source, target), found %zu",
                         file->path, line->number, EDGE_FIELD_MAX, count);
    file->is_known = true;
    file->fields = edge_fields_plain(delimiter, count);
    *is_header =
        edge_fields_named(&file->fields, field, update_labels_column(file->reader), &unknown);
    if (*is_header)
        return ERROR_NONE;
    file->fields = edge_fields_plain(delimiter, count);
    take_plain(&file->fields, &file->reader->schema->edge_width);
    return ERROR_NONE;
}

/* Added edges have the columns that the dataset's have; of those that go only the ends are read. */
static enum error_code check_columns(const struct edge_file *file, int64_t line, struct error *err)
{
    const struct edge_widths *expected = &file->reader->schema->edge_width;
    const struct edge_widths *found = &file->fields.width;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (found->of[c] != expected->of[c])
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": the dataset's edges have %" PRIu32
                             " columns of %s, found %" PRIu32,
                             file->path, line, expected->of[c], edge_column[c].plural,
                             found->of[c]);
    size_t used = 2;
    for (size_t i = 0; i < file->fields.count; i++)
        used += file->fields.use[i].column != EDGE_FIELD_NONE;
    if (used == file->fields.count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %zu columns, found %zu",
                     file->path, line, used, file->fields.count);
}

static enum error_code visit_line(struct edge_file *file, const struct text_line *line,
                                  struct error *err)
{
    struct field field[EDGE_FIELD_MAX];
    bool is_header = false;
    enum error_code rc = ERROR_NONE;
    if (!file->is_known) {
        rc = survey(file, line, &is_header, err);
        const bool adds = file->path == file->reader->request->add_edges;
        if (rc == ERROR_NONE && adds)
            rc = update_labels_expect(file->reader, &file->fields, file->path, line->number, err);
        if (rc == ERROR_NONE && adds)
            rc = check_columns(file, line->number, err);
        if (rc == ERROR_NONE)
            rc = edge_columns_new(&file->value, &file->fields.width, 1, "an edge", err);
    }
    if (rc != ERROR_NONE || is_header)
        return rc;
    rc = edge_fields_split(&file->fields, line, file->path, field, err);
    return rc == ERROR_NONE ? file->visit(file, field, line->number, err) : rc;
}

static enum error_code visit_file(struct edge_file *file, struct error *err)
{
    struct line_reader *lines = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(file->path, &lines, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(lines, file->is_known ? &file->fields.delimiter : NULL, &line, &found,
                            err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!text_line_is_skipped(&line))
            rc = visit_line(file, &line, err);
    }
    line_reader_close(lines);
    edge_columns_release(&file->value);
    return rc;
}

/* Both ends, as edges are stored. */
static enum error_code take_ends(const struct edge_file *file, const struct field *field,
                                 int64_t line, uint32_t *source, uint32_t *target,
                                 struct error *err)
{
    const struct living_nodes *nodes = &file->reader->nodes;
    const bool reversed = file->reader->settings->ingest.direction == DIRECTION_REVERSED;
    enum error_code rc = living_nodes_expect(nodes, &field[file->fields.source], "source",
                                             file->path, line, reversed ? target : source, err);
    return rc == ERROR_NONE ? living_nodes_expect(nodes, &field[file->fields.target], "target",
                                                  file->path, line, reversed ? source : target, err)
                            : rc;
}

uint64_t update_edge_key(const struct update_reader *reader, uint32_t source, uint32_t target)
{
    const bool swap = reader->schema->undirected && source > target;
    return swap ? (uint64_t)source << 32 | target : (uint64_t)target << 32 | source;
}

/* ---- edges that come --------------------------------------------------------------------------- */

static enum error_code check_stays(const struct edge_file *file, uint32_t node, int64_t line,
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
        rc = memory_grow(&reader->line, &reader->room.line, wanted, "lines of new edges", err);
    if (rc == ERROR_NONE && task_learns_pairs(reader->schema->task))
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

static enum error_code add_edge(struct edge_file *file, const struct field *field, int64_t line,
                                struct error *err)
{
    struct update_reader *reader = file->reader;
    struct dataset_delta *delta = &reader->delta;
    uint32_t source = 0, target = 0;
    double time = 0;
    bool is_held = false;
    enum error_code rc = take_ends(file, field, line, &source, &target, err);
    if (rc == ERROR_NONE)
        rc = check_stays(file, source, line, err);
    if (rc == ERROR_NONE)
        rc = check_stays(file, target, line, err);
    if (rc == ERROR_NONE && source == target && reader->settings->ingest.self_loops == EDGES_REFUSE)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": an edge from a node to itself: expected none "
                       "(ingest.self_loops: refuse)",
                       file->path, line);
    if (rc == ERROR_NONE)
        rc = edge_fields_values(&file->fields, field, file->path, line, &file->value, err);
    if (rc == ERROR_NONE)
        rc = update_labels_take(reader, file->path, line, &file->value, err);
    if (rc == ERROR_NONE && file->fields.width.of[EDGE_TIME])
        memcpy(&time, file->value.data[EDGE_TIME], sizeof time);
    const int place = update_links_place(reader, update_edge_key(reader, source, target), source,
                                         target, time, &is_held);
    reader->absorbed += rc == ERROR_NONE && is_held;
    if (rc != ERROR_NONE || is_held)
        return rc;
    if (rc == ERROR_NONE)
        rc = grow_edges(reader, &file->fields.width, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct edge_columns_view value = edge_columns_read(&file->value, 0);
    edge_columns_copy(&reader->columns, delta->added_edges, &value, 0, 1);
    if (reader->new_held) {
        reader->new_held[delta->added_edges] = (uint8_t)place;
        reader->has_held |= place > 0;
    }
    if (value.data[EDGE_WEIGHT] && ((const float *)value.data[EDGE_WEIGHT])[0] < 0 &&
        !delta->negative_weight[0])
        input_lines_place(
            delta->negative_weight, sizeof delta->negative_weight,
            reader->request->add_edges_name ? reader->request->add_edges_name : file->path, line);
    reader->line[delta->added_edges] = line;
    reader->source[delta->added_edges] = source;
    reader->target[delta->added_edges++] = target;
    return ERROR_NONE;
}

enum error_code update_edges_add(struct update_reader *reader, struct error *err)
{
    struct edge_file file = {
        .reader = reader, .path = reader->request->add_edges, .visit = add_edge};
    const enum error_code rc = file.path ? visit_file(&file, err) : ERROR_NONE;
    reader->delta.source = reader->source;
    reader->delta.target = reader->target;
    reader->delta.columns = edge_columns_read(&reader->columns, 0);
    reader->delta.new_held = reader->has_held ? reader->new_held : NULL;
    return rc;
}

/* Over those of the version that the update is for. */
static struct merged_edges begin_pass(const struct update_reader *reader)
{
    return merged_edges_begin(reader->store, reader->schema->id, reader->schema->edge_chunk_count,
                              MERGED_PIECE_BYTES);
}

/* ---- edges that go ------------------------------------------------------------------------------ */

static enum error_code remove_edge(struct edge_file *file, const struct field *field, int64_t line,
                                   struct error *err)
{
    struct update_reader *reader = file->reader;
    const size_t at = reader->delta.gone_edges;
    uint32_t source = 0, target = 0;
    enum error_code rc = take_ends(file, field, line, &source, &target, err);
    if (rc == ERROR_NONE)
        rc = update_reader_take(reader, 32, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->gone_key, &reader->room.gone_key, at + 1, "edges that go", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->gone_line, &reader->room.gone_line, at + 1, "lines", err);
    if (rc != ERROR_NONE)
        return rc;
    reader->gone_key[at] = update_edge_key(reader, source, target);
    reader->gone_line[at] = line;
    reader->delta.gone_edges++;
    return ERROR_NONE;
}

struct gone {
    uint64_t key, line;
};

static int by_key(const void *left, const void *right)
{
    const struct gone *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Sorts gone_key, and gone_line with it. */
static enum error_code sort_gone(struct update_reader *reader, struct error *err)
{
    const size_t count = reader->delta.gone_edges;
    struct gone *gone = NULL;
    const enum error_code rc = memory_new(&gone, count, "edges that go", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++)
        gone[i] = (struct gone){reader->gone_key[i], (uint64_t)reader->gone_line[i]};
    if (count)
        qsort(gone, count, sizeof *gone, by_key);
    for (size_t i = 0; i < count; i++) {
        reader->gone_key[i] = gone[i].key;
        reader->gone_line[i] = (int64_t)gone[i].line;
    }
    memory_free(gone);
    return ERROR_NONE;
}

bool update_edges_go(const struct update_reader *reader, uint64_t key)
{
    uint64_t low = 0, high = reader->delta.gone_edges;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (reader->gone_key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < reader->delta.gone_edges && reader->gone_key[low] == key;
}

static bool row_has(const struct edge_chunk *chunk, uint32_t target, uint32_t source)
{
    const uint32_t row = target - chunk->first_node;
    uint64_t low = chunk->row_start[row], high = chunk->row_start[row + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (chunk->neighbor[middle] < source)
            low = middle + 1;
        else
            high = middle;
    }
    return low < chunk->row_start[row + 1] && chunk->neighbor[low] == source;
}

static enum error_code name_edge(const struct update_reader *reader, size_t i, const char *what,
                                 struct error *err)
{
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    return error_set(
        err, ERROR_INPUT, "%s:%" PRId64 ": the edge between %s and %s is removed%s",
        reader->request->remove_edges, reader->gone_line[i],
        living_nodes_text(&reader->nodes, (uint32_t)reader->gone_key[i], source),
        living_nodes_text(&reader->nodes, (uint32_t)(reader->gone_key[i] >> 32), target), what);
}

/* Those up to the last node of a chunk are in it, or held out. */
static enum error_code find_in_chunk(const struct update_reader *reader,
                                     const struct edge_chunk *chunk, uint64_t *next,
                                     struct error *err)
{
    const uint64_t end = (uint64_t)chunk->first_node + chunk->node_count;
    for (; *next < reader->delta.gone_edges; ++*next) {
        const uint64_t key = reader->gone_key[*next];
        const uint32_t target = (uint32_t)(key >> 32);
        if (target >= end)
            return ERROR_NONE;
        if ((target < chunk->first_node || !row_has(chunk, target, (uint32_t)key)) &&
            !update_links_has(reader, key))
            return name_edge(reader, *next, ", expected one that is there", err);
    }
    return ERROR_NONE;
}

/* Each is there, and stands once: a pass over the edges of the dataset, whose targets ascend as the keys do. */
static enum error_code find_gone(const struct update_reader *reader, struct error *err)
{
    const uint64_t count = reader->delta.gone_edges;
    enum error_code rc = ERROR_NONE;
    uint64_t next = 0;
    for (uint64_t i = 1; i < count; i++)
        if (reader->gone_key[i] == reader->gone_key[i - 1])
            return name_edge(reader, i, " twice, expected each once", err);
    struct merged_edges pass = begin_pass(reader);
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
               ? name_edge(reader, next, ", expected one that is there", err)
               : rc;
}

/* ---- links that come, and are there ---------------------------------------------------------------- */

struct drawn_link {
    uint64_t key, index; /* which of the added edges */
};

static int by_link(const void *left, const void *right)
{
    const struct drawn_link *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Those of a chunk that is trained on are trained on: numbers of nodes move when some go, and with them what a pair draws. */
static void keep_trained(struct update_reader *reader, const struct edge_chunk *chunk,
                         const struct drawn_link *link, uint64_t count, uint64_t *next)
{
    const uint64_t end = (uint64_t)chunk->first_node + chunk->node_count;
    for (; *next < count && link[*next].key >> 32 < end; ++*next)
        if (row_has(chunk, (uint32_t)(link[*next].key >> 32), (uint32_t)link[*next].key))
            reader->new_held[link[*next].index] = 0;
}

enum error_code update_links_settle(struct update_reader *reader, struct error *err)
{
    struct dataset_delta *delta = &reader->delta;
    struct drawn_link *link = NULL;
    uint64_t count = 0, next = 0;
    bool has_held = false;
    if (!delta->new_held)
        return ERROR_NONE;
    enum error_code rc = memory_new(&link, delta->added_edges, "links", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->added_edges; i++) {
        const uint64_t key = update_edge_key(reader, delta->source[i], delta->target[i]);
        const bool goes = update_edges_go(reader, key);
        if (reader->new_held[i] && key >> 32 < reader->schema->node_count && !goes)
            link[count++] = (struct drawn_link){key, i};
    }
    if (count)
        qsort(link, count, sizeof *link, by_link);
    struct merged_edges pass = begin_pass(reader);
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

enum error_code update_edges_remove(struct update_reader *reader, struct error *err)
{
    struct edge_file file = {
        .reader = reader, .path = reader->request->remove_edges, .visit = remove_edge};
    struct dataset_delta *delta = &reader->delta;
    enum error_code rc = file.path ? visit_file(&file, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = sort_gone(reader, err);
    if (rc == ERROR_NONE)
        rc = find_gone(reader, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->gone_source, delta->gone_edges, "edges that go", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->gone_target, delta->gone_edges, "edges that go", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->gone_edges; i++) {
        reader->gone_source[i] = (uint32_t)reader->gone_key[i];
        reader->gone_target[i] = (uint32_t)(reader->gone_key[i] >> 32);
    }
    delta->gone_source = reader->gone_source;
    delta->gone_target = reader->gone_target;
    return rc;
}
