/*
 * input_lines - the file and line of each edge, for messages about edges that were accepted long
 * before. Pieces whose lines follow each other are kept as one. There are at most INPUT_PIECES_MAX
 * pieces (a comment after every edge would make as many pieces as edges); for edges after the last
 * piece the number is known, but not the line.
 */
#ifndef STAGES_INGEST_BUILD_INPUT_LINES_H
#define STAGES_INGEST_BUILD_INPUT_LINES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INPUT_PIECES_MAX = 1 << 16 };

struct input_piece {
    uint64_t first_edge;
    int64_t first_line;
    const char *where; /* one of the names */
};

struct input_lines { /* {0} is empty */
    struct input_piece *piece;
    size_t piece_count, piece_capacity;
    bool is_full; /* edges from `full_edge` on have no line */
    uint64_t full_edge;
    char **name;
    size_t name_count, name_capacity;
    uint64_t edge_count;
};

/* Notes that the next `count` edges are the lines of `where` (copied) from `first_line` on. */
MUST_CHECK enum error_code input_lines_add(struct input_lines *lines, const char *where,
                                           int64_t first_line, uint64_t count, struct error *err);
/* Finds file and line of edge `index` < edge_count. *where lives as long as `lines`. Returns false
 * when the line is not known: *line is then the number of the edge in the whole input, from 1. */
bool input_lines_find(const struct input_lines *lines, uint64_t index, const char **where,
                      int64_t *line);
/* Writes "edges.csv:17". If the text is too long, only its end is written, because the end of a
 * long path says more than its beginning. */
void input_lines_place(char *out, size_t size, const char *where, int64_t line);
void input_lines_release(struct input_lines *lines);

#endif
