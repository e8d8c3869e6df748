/*
 * input_lines - which line of which file an edge came from, for messages about edges that were accepted
 * long before. Pieces that follow each other line by line are kept as one. There are at most INPUT_PIECES_MAX
 * of them (a comment behind every edge would make as many as edges); of edges behind the last the number is known,
 * not the line.
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

/* The next `count` edges are the lines of `where` (copied) from `first_line` on. */
MUST_CHECK enum error_code input_lines_add(struct input_lines *lines, const char *where,
                                           int64_t first_line, uint64_t count, struct error *err);
/* Of edge `index` < edge_count. *where lives as long as `lines`. False when the line is not known: *line is then
 * the number of the edge in the whole input, from 1. */
bool input_lines_find(const struct input_lines *lines, uint64_t index, const char **where,
                      int64_t *line);
/* "edges.csv:17", or its end: the end of a long path says more than its beginning. */
void input_lines_place(char *out, size_t size, const char *where, int64_t line);
void input_lines_release(struct input_lines *lines);

#endif
