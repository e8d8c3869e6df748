#include "stages/plan/model/node_loads.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/text_file.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char header[] = "node,reads,remote,edges", of_times[] = ",nanoseconds";
enum { COLUMN_COUNT = 4, SHOWN = 60 };
static const struct {
    const char *name;
    int64_t most;
} columns[COLUMN_COUNT] = {{"reads", UINT32_MAX},
                           {"remote", UINT32_MAX},
                           {"edges", UINT32_MAX},
                           {"nanoseconds", INT64_MAX}};

enum error_code node_loads_init(struct node_loads *loads, uint32_t node_count, struct error *err)
{
    *loads = (struct node_loads){.node_count = node_count};
    enum error_code rc = memory_new(&loads->reads, node_count, "the loads of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&loads->remote, node_count, "the loads of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&loads->edges, node_count, "the loads of nodes", err);
    return rc;
}

enum error_code node_loads_add_times(struct node_loads *loads, struct error *err)
{
    return memory_new(&loads->nanoseconds, loads->node_count, "the times of nodes", err);
}

void node_loads_release(struct node_loads *loads)
{
    memory_free(loads->nanoseconds);
    memory_free(loads->reads);
    memory_free(loads->remote);
    memory_free(loads->edges);
    *loads = (struct node_loads){0};
}

/* --- ids --- */

struct id_field { /* {0} is empty */
    char *text;   /* owned */
    size_t size, capacity;
};

static enum error_code id_field_set(struct id_field *field, const struct node_ids *ids,
                                    uint32_t node, struct error *err)
{
    const size_t room = node_ids_field_size(ids, node);
    const enum error_code rc =
        memory_grow(&field->text, &field->capacity, room, "the id of a node", err);
    field->size = rc == ERROR_NONE ? node_ids_field_put(ids, node, field->text) : 0;
    return rc;
}

/* --- writing --- */

struct writing {
    const struct node_loads *loads;
    const struct node_ids *ids;
};

static enum error_code write_lines(void *context, FILE *file, struct error *err)
{
    const struct writing *w = context;
    const struct node_loads *loads = w->loads;
    struct id_field id = {0};
    enum error_code rc = ERROR_NONE;
    int written = fprintf(file, "%s%s\n", header, loads->nanoseconds ? of_times : "");
    for (uint32_t node = 0; rc == ERROR_NONE && written >= 0 && node < loads->node_count; node++) {
        rc = id_field_set(&id, w->ids, node, err);
        if (rc == ERROR_NONE && fwrite(id.text, 1, id.size, file) == id.size)
            written = fprintf(file, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, loads->reads[node],
                              loads->remote[node], loads->edges[node]);
        if (rc == ERROR_NONE && written >= 0 && loads->nanoseconds)
            written = fprintf(file, ",%" PRIu64, loads->nanoseconds[node]);
        if (rc == ERROR_NONE && written >= 0)
            written = fputc('\n', file);
    }
    memory_free(id.text);
    return rc;
}

enum error_code node_loads_write(const char *path, const struct node_loads *loads,
                                 const struct node_ids *ids, struct error *err)
{
    struct writing writing = {loads, ids};
    return text_file_write(path, write_lines, &writing, err);
}

/* --- reading --- */

struct reading {
    const char *path;
    struct line_reader *lines;
    const struct node_ids *ids;
    struct node_loads *loads;
    struct id_field id; /* of the node that the next line must name */
};

/* Returns how many bytes of a text a message shows: its first line, cut if it is long. */
static int shown(const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    const size_t line = end ? (size_t)(end - text) : size;
    return (int)(line < SHOWN ? line : SHOWN);
}

static enum error_code read_header(struct reading *r, struct error *err)
{
    struct text_line line = {.number = 1};
    bool found = false;
    const enum error_code rc = line_reader_next(r->lines, &line, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!found)
        return error_set(err, ERROR_INPUT, "%s: expected a first line '%s', found nothing", r->path,
                         header);
    const size_t size = strlen(header);
    if (line.size >= size && memcmp(line.text, header, size) == 0) {
        if (line.size == size)
            return ERROR_NONE;
        if (line.size == size + strlen(of_times) &&
            memcmp(line.text + size, of_times, line.size - size) == 0)
            return node_loads_add_times(r->loads, err);
    }
    return error_set(err, ERROR_INPUT, "%s:1: expected '%s' or '%s%s', found '%.*s'", r->path,
                     header, header, of_times, shown(line.text, line.size), line.text);
}

/* Refuses a line of another node. The message shows the text up to the first comma as it is in the
 * file. */
static enum error_code another_node(const struct reading *r, const struct text_line *line,
                                    uint32_t node, struct error *err)
{
    const char *comma = memchr(line->text, ',', line->size);
    const size_t size = comma ? (size_t)(comma - line->text) : line->size;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected node '%.*s', number %" PRIu32
                     " of the dataset, found '%.*s': these are the loads of another graph",
                     r->path, line->number, shown(r->id.text, r->id.size), r->id.text, node,
                     shown(line->text, size), line->text);
}

static enum error_code read_numbers(const struct reading *r, const struct text_line *line,
                                    size_t at, int64_t out[COLUMN_COUNT], struct error *err)
{
    const int count = r->loads->nanoseconds ? COLUMN_COUNT : COLUMN_COUNT - 1;
    for (int c = 0; c < count; c++) {
        const char *text = line->text + at, *comma = memchr(text, ',', line->size - at);
        const bool is_last = c == count - 1;
        const size_t size = comma && !is_last ? (size_t)(comma - text) : line->size - at;
        int64_t value = 0;
        if (!text_int64(text, size, &value) || value < 0 || value > columns[c].most)
            return error_set(
                err, ERROR_INPUT,
                "%s:%" PRId64 ": expected as %s a whole number from 0 to %" PRId64 ", found '%.*s'",
                r->path, line->number, columns[c].name, columns[c].most, shown(text, size), text);
        if (!comma && !is_last)
            return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %d fields, found %d",
                             r->path, line->number, count + 1, c + 2);
        out[c] = value;
        at += size + 1;
    }
    return ERROR_NONE;
}

/* Reads the next row. An id in quotes may contain line ends. */
static enum error_code next_row(const struct reading *r, struct text_line *line, bool *found,
                                struct error *err)
{
    static const enum delimiter comma = DELIMITER_COMMA;
    return delimited_read(r->lines, &comma, line, found, err);
}

static enum error_code read_node(struct reading *r, uint32_t node, struct error *err)
{
    struct text_line line = {.size = 0};
    int64_t number[COLUMN_COUNT] = {0};
    bool found = false;
    enum error_code rc = next_row(r, &line, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(
            err, ERROR_INPUT,
            "%s: expected %" PRIu32
            " lines, one for each node of the dataset, below the first, found %" PRIu32,
            r->path, r->loads->node_count, node);
    if (rc == ERROR_NONE)
        rc = id_field_set(&r->id, r->ids, node, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t size = r->id.size;
    if (line.size <= size || line.text[size] != ',' || memcmp(line.text, r->id.text, size) != 0)
        return another_node(r, &line, node, err);
    rc = read_numbers(r, &line, size + 1, number, err);
    r->loads->reads[node] = (uint32_t)number[0];
    r->loads->remote[node] = (uint32_t)number[1];
    r->loads->edges[node] = (uint32_t)number[2];
    if (r->loads->nanoseconds)
        r->loads->nanoseconds[node] = (uint64_t)number[3];
    return rc;
}

static enum error_code read_end(struct reading *r, struct error *err)
{
    struct text_line line = {.size = 0};
    bool was_read = false, took_time = !r->loads->nanoseconds, found = false;
    const enum error_code rc = next_row(r, &line, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    if (found)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected an end behind %" PRIu32
                         " nodes, as many as the dataset has, found more",
                         r->path, line.number, r->loads->node_count);
    for (uint32_t node = 0; node < r->loads->node_count; node++) {
        was_read = was_read || r->loads->reads[node];
        took_time = took_time || r->loads->nanoseconds[node];
    }
    if (was_read && took_time)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s: expected nodes that %s, found none", r->path,
                     was_read ? "took time" : "were read");
}

enum error_code node_loads_read(const char *path, uint32_t node_count, const struct node_ids *ids,
                                struct node_loads *out, struct error *err)
{
    struct reading reading = {.path = path, .ids = ids, .loads = out};
    enum error_code rc = node_loads_init(out, node_count, err);
    if (rc == ERROR_NONE)
        rc = line_reader_open(path, &reading.lines, err);
    if (rc == ERROR_NONE)
        rc = read_header(&reading, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++)
        rc = read_node(&reading, node, err);
    if (rc == ERROR_NONE)
        rc = read_end(&reading, err);
    line_reader_close(reading.lines);
    memory_free(reading.id.text);
    return rc;
}
