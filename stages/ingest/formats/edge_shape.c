#include "stages/ingest/formats/edge_shape.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/delimited.h"
#include "common/formats/file_kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LOOK_BYTES = 1 << 16, ROWS_MAX = 256, COLUMNS_MAX = 1024, DENSE_MIN = 4, MANY_COLUMNS = 8 };

struct look { /* at the first rows of a file */
    const char *path;
    char *text; /* [LOOK_BYTES] */
    struct text_line row[ROWS_MAX];
    size_t width[ROWS_MAX]; /* columns */
    size_t row_count;
    bool is_whole; /* all rows are there */
    enum delimiter delimiter;
};

static bool is_called(const char *path, const char *name)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return strncmp(base, name, strlen(name)) == 0 &&
           (base[strlen(name)] == '\0' || strcmp(base + strlen(name), ".gz") == 0 ||
            strcmp(base + strlen(name), ".zst") == 0);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t size = strlen(path), length = strlen(ending);
    return size >= length && strcmp(path + size - length, ending) == 0;
}

/* Rows of the text [size]; the last one may be cut off, and counts only at the end of the file. */
static void split_rows(struct look *look, size_t size)
{
    const char *at = look->text, *end = look->text + size;
    const bool is_cut = size == LOOK_BYTES;
    look->is_whole = !is_cut;
    while (at < end && look->row_count < ROWS_MAX) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop && is_cut)
            return;
        stop = stop ? stop : end;
        struct text_line line = {.text = at, .size = (size_t)(stop - at)};
        line.size -= line.size && line.text[line.size - 1] == '\r';
        if (!text_line_is_skipped(&line))
            look->row[look->row_count++] = line;
        at = stop + 1;
    }
    look->is_whole = look->is_whole && at >= end;
}

static void count_columns(struct look *look)
{
    look->delimiter =
        look->row_count ? delimited_guess(look->row[0].text, look->row[0].size) : DELIMITER_BLANKS;
    for (size_t i = 0; i < look->row_count; i++)
        look->width[i] =
            delimited_split(look->row[i].text, look->row[i].size, look->delimiter, NULL, 0);
}

static size_t fields_of(const struct look *look, size_t row, struct field *field, size_t limit)
{
    return delimited_split(look->row[row].text, look->row[row].size, look->delimiter, field, limit);
}

/* --- shapes --- */

static bool has_braces(const struct look *look)
{
    size_t found = 0;
    for (size_t i = 0; i < look->row_count; i++) {
        const struct text_line *row = &look->row[i];
        const char *open = memchr(row->text, '{', row->size);
        found += open && open > row->text && open[-1] == ' ' && row->text[row->size - 1] == '}';
    }
    return found && 2 * found >= look->row_count;
}

/* No width is that of most rows: a table with some broken rows is no adjacency list. */
static bool is_adjacency_list(const struct look *look)
{
    size_t most = 0;
    for (size_t i = 0; i < look->row_count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < look->row_count; k++)
            same += look->width[k] == look->width[i];
        most = same > most ? same : most;
    }
    return look->row_count >= 3 && 4 * most < 3 * look->row_count;
}

static bool is_rectangle(const struct look *look)
{
    for (size_t i = 1; i < look->row_count; i++)
        if (look->width[i] != look->width[0])
            return false;
    return look->row_count > 0 && look->width[0] >= DENSE_MIN && look->width[0] <= COLUMNS_MAX;
}

static bool is_zero_or_one(const struct field *field)
{
    double value = 0.0;
    return text_double(field->text, field->size, &value) && (value == 0.0 || value == 1.0);
}

static bool is_matrix_of_bits(const struct look *look)
{
    struct field field[COLUMNS_MAX];
    if (!is_rectangle(look))
        return false;
    for (size_t i = 0; i < look->row_count; i++)
        for (size_t c = 0, count = fields_of(look, i, field, COLUMNS_MAX); c < count; c++)
            if (!is_zero_or_one(&field[c]))
                return false;
    return look->is_whole ? look->row_count == look->width[0] : look->width[0] >= MANY_COLUMNS;
}

static bool is_number(const struct field *field)
{
    double value = 0.0;
    return text_double(field->text, field->size, &value);
}

/* As many rows as columns, all numbers, and more columns than an edge list has. */
static bool is_matrix_of_weights(const struct look *look)
{
    struct field field[COLUMNS_MAX];
    if (!is_rectangle(look) || look->width[0] < MANY_COLUMNS || !look->is_whole ||
        look->row_count != look->width[0])
        return false;
    for (size_t i = 0; i < look->row_count; i++)
        for (size_t c = 0, count = fields_of(look, i, field, COLUMNS_MAX); c < count; c++)
            if (!is_number(&field[c]))
                return false;
    return true;
}

static bool are_equal(const struct field *a, const struct field *b)
{
    return a->size == b->size && a->size > 0 && memcmp(a->text, b->text, a->size) == 0;
}

/* The names of the first row stand in the first column, too, in the same order. */
static bool is_matrix_with_names(const struct look *look)
{
    struct field head[COLUMNS_MAX], field[COLUMNS_MAX];
    if (look->row_count < DENSE_MIN || look->width[0] > COLUMNS_MAX)
        return false;
    const size_t count = fields_of(look, 0, head, COLUMNS_MAX);
    for (size_t i = 1; i < look->row_count; i++) {
        const size_t found = fields_of(look, i, field, COLUMNS_MAX);
        const size_t at = found == count + 1 ? i - 1 : i; /* the corner may be left out */
        if (found < DENSE_MIN || (found != count && found != count + 1) || at >= count ||
            !are_equal(&head[at], &field[0]))
            return false;
    }
    return true;
}

static bool is_integer(const struct field *field)
{
    int64_t value = 0;
    return text_int64(field->text, field->size, &value);
}

/* One number, and rows of three behind it. */
static bool is_openke(const struct look *look)
{
    struct field field[4];
    if (look->row_count < 2)
        return false;
    for (size_t i = 0; i < look->row_count; i++) {
        const size_t count =
            delimited_split(look->row[i].text, look->row[i].size, DELIMITER_BLANKS, field, 4);
        if (count != (i ? 3U : 1U))
            return false;
        for (size_t c = 0; c < count; c++)
            if (!is_integer(&field[c]))
                return false;
    }
    return true;
}

/* A field in quotes may have a line end, and then lines are not rows. */
static bool has_quotes(const struct look *look)
{
    for (size_t i = 0; i < look->row_count; i++)
        if (look->row[i].size && memchr(look->row[i].text, '"', look->row[i].size))
            return true;
    return false;
}

/* What a file is that is no edge list, and what makes one of it. {0}: it may be one. */
struct shape {
    const char *found, *advice;
};

static struct shape shape_of(const struct look *look)
{
    if (ends_in(look->path, ".sif") || ends_in(look->path, ".sif.gz"))
        return (struct shape){"SIF", "write `format: sif` below `ingest:`"};
    if (is_called(look->path, "node.dat") || is_called(look->path, "link.dat"))
        return (struct shape){
            "a file of the Heterogeneous Graph Benchmark",
            "write `format: hgb` below `ingest:`, with its folder as path; or of link.dat alone "
            "`edge_columns: \"source: 1; target: 2; etype: 3; weight: 4\"`"};
    if (is_openke(look))
        return (struct shape){
            "a list of OpenKE, a count and then head, tail and relation",
            "write `format: openke` below `ingest:`, with its folder, where it is called "
            "train2id.txt, as path"};
    if (has_braces(look))
        return (struct shape){
            "an edge list with attributes in braces",
            "networkx.write_edgelist(networkx.read_edgelist('FILE'), 'FILE.csv', ',', ['weight']) "
            "makes a table of it, with the attribute weight"};
    if (is_matrix_of_bits(look) || is_matrix_of_weights(look))
        return (struct shape){
            "a dense matrix",
            "python3 -c \"import numpy, scipy.sparse as s; s.save_npz('g.npz', "
            "s.csr_matrix(numpy.genfromtxt('FILE', delimiter=',')))\" makes an npz of it, which "
            "`format: npz` reads (without delimiter where blanks separate)"};
    if (is_matrix_with_names(look))
        return (struct shape){
            "a dense matrix with names of rows and columns",
            "python3 -c \"import pandas; s = pandas.read_csv('FILE', index_col=0).stack(); s[s != "
            "0].to_csv('edges.csv', header=['weight'], index_label=['source', 'target'])\" makes a "
            "table of it"};
    if (!has_quotes(look) && is_adjacency_list(look))
        return (struct shape){
            "an adjacency list, whose rows are of unequal length",
            "awk '{for (i = 2; i <= NF; i++) print $1 \",\" $i}' FILE > edges.csv makes a table of "
            "it (-F, where commas separate); METIS's is `format: metis`"};
    return (struct shape){0};
}

enum error_code edge_shape_check(const char *path, struct error *err)
{
    struct look *look = NULL;
    size_t got = 0;
    enum error_code rc = memory_new(&look, 1, "the first rows of a file", err);
    if (rc != ERROR_NONE)
        return rc;
    look->path = path;
    rc = memory_new(&look->text, LOOK_BYTES, "the first rows of a file", err);
    if (rc == ERROR_NONE)
        rc = file_kind_peek(path, NULL, 0, look->text, LOOK_BYTES, &got, err);
    if (rc == ERROR_NONE) {
        split_rows(look, got);
        count_columns(look);
        const struct shape shape = shape_of(look);
        if (shape.found)
            rc = error_set(err, ERROR_INPUT,
                           "%.200s: expected an edge a line, source and target in columns of their "
                           "own, found %s: " ADVICE "%s",
                           path, shape.found, shape.advice);
    }
    memory_free(look->text);
    memory_free(look);
    return rc;
}
