#include "stages/ingest/build/input_lines.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static enum error_code add_name(struct input_lines *lines, const char *where, struct error *err)
{
    static const char what[] = "the names of input files";
    const size_t size = strlen(where) + 1;
    char *copy = NULL;
    enum error_code rc =
        memory_grow(&lines->name, &lines->name_capacity, lines->name_count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&copy, size, what, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(copy, where, size);
    lines->name[lines->name_count++] = copy;
    return ERROR_NONE;
}

/* Makes room for one more piece, up to INPUT_PIECES_MAX. */
static enum error_code reserve(struct input_lines *lines, struct error *err)
{
    if (lines->piece_count == INPUT_PIECES_MAX)
        return ERROR_NONE;
    return memory_grow(&lines->piece, &lines->piece_capacity, lines->piece_count + 1,
                       "the lines of input files", err);
}

enum error_code input_lines_add(struct input_lines *lines, const char *where, int64_t first_line,
                                uint64_t count, struct error *err)
{
    const struct input_piece *last =
        lines->piece_count ? &lines->piece[lines->piece_count - 1] : NULL;
    const int64_t next_line =
        last ? last->first_line + (int64_t)(lines->edge_count - last->first_edge) : 0;
    const bool same_file = last && strcmp(last->where, where) == 0;
    if (count == 0 || lines->is_full || (same_file && next_line == first_line)) {
        lines->edge_count += count;
        return ERROR_NONE;
    }
    if (!same_file) {
        const enum error_code rc = add_name(lines, where, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    const enum error_code rc = reserve(lines, err);
    if (rc != ERROR_NONE)
        return rc;
    if (lines->piece_count == INPUT_PIECES_MAX) {
        lines->is_full = true;
        lines->full_edge = lines->edge_count;
        lines->edge_count += count;
        return ERROR_NONE;
    }
    must(lines->piece); /* reserve() allocated it */
    lines->piece[lines->piece_count++] = (struct input_piece){
        .first_edge = lines->edge_count,
        .first_line = first_line,
        .where = lines->name[lines->name_count - 1],
    };
    lines->edge_count += count;
    return ERROR_NONE;
}

bool input_lines_find(const struct input_lines *lines, uint64_t index, const char **where,
                      int64_t *line)
{
    must(index < lines->edge_count && lines->piece);
    size_t low = 0, high = lines->piece_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (lines->piece[middle].first_edge <= index)
            low = middle;
        else
            high = middle;
    }
    *where = lines->piece[low].where;
    if (lines->is_full && index >= lines->full_edge) {
        *line = (int64_t)index + 1;
        return false;
    }
    *line = lines->piece[low].first_line + (int64_t)(index - lines->piece[low].first_edge);
    return true;
}

void input_lines_place(char *out, size_t size, const char *where, int64_t line)
{
    enum { NUMBER = 21 }; /* room for any line number and its colon */
    const size_t length = strlen(where), most = size - NUMBER - 1;
    (void)snprintf(out, size, "%s:%" PRId64, where + (length > most ? length - most : 0), line);
}

void input_lines_release(struct input_lines *lines)
{
    for (size_t i = 0; i < lines->name_count; i++)
        memory_free(lines->name[i]);
    memory_free(lines->name);
    memory_free(lines->piece);
    *lines = (struct input_lines){0};
}
