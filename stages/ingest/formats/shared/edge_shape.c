#include "stages/ingest/formats/shared/edge_shape.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LOOK_BYTES = 1 << 16, ROWS_MAX = 256, COLUMNS_MAX = 1024, DENSE_MIN = 4, MANY_COLUMNS = 8 };

struct look { /* what the first rows of a file show */
    const char *path;
    enum delimiter delimiter;
    size_t width[ROWS_MAX]; /* columns of each row */
    size_t row_count, bytes;
    bool is_whole; /* the file has no more rows */
    /* rows with attributes in braces; rows whose first column has the name of the row's column */
    size_t braces, names;
    /* there are quoted fields, which may hold a line end, so a line may not be a row */
    bool has_quotes;
    bool has_words, has_others; /* cells that are no numbers; numbers that are not 0 or 1 */
    bool is_no_openke;          /* the rows are not a count followed by triples */
    /* fields of the first row, of the current row */
    struct field head[COLUMNS_MAX], field[COLUMNS_MAX];
    char *text; /* text of the first row */
};

static bool is_called(const char *path, const char *name)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return strncmp(base, name, strlen(name)) == 0 &&
           (base[strlen(name)] == '\0' || strcmp(base + strlen(name), ".gz") == 0 ||
            strcmp(base + strlen(name), ".zst") == 0);
}

/* --- rows --- */

static bool has_braces(const struct text_line *row)
{
    const char *open = memchr(row->text, '{', row->size);
    return open && open > row->text && open[-1] == ' ' && row->text[row->size - 1] == '}';
}

/* Returns whether the row begins with the name of its column. The first row may lack the corner. */
static bool has_name(const struct look *look, size_t count)
{
    const size_t columns = look->width[0];
    const size_t at = count == columns + 1 ? look->row_count - 1 : look->row_count;
    return columns <= COLUMNS_MAX && count >= DENSE_MIN &&
           (count == columns || count == columns + 1) && at < columns && look->field[0].size &&
           fields_are_equal(&look->head[at], &look->field[0]);
}

/* Returns whether the rows are one number, followed by rows of three numbers. */
static bool fits_openke(const struct look *look, const struct text_line *row)
{
    struct field field[4];
    int64_t value = 0;
    const size_t count = delimited_split(row->text, row->size, DELIMITER_BLANKS, field, 4);
    if (count != (look->row_count ? 3U : 1U))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!text_int64(field[i].text, field[i].size, &value))
            return false;
    return true;
}

static void take_cells(struct look *look, size_t count)
{
    for (size_t i = 0; i < count && i < COLUMNS_MAX; i++) {
        const struct field *field = &look->field[i];
        double value = 0.0;
        const bool is_number = text_double(field->text, field->size, &value);
        look->has_words |= !is_number;
        look->has_others |= !is_number || (value != 0.0 && value != 1.0);
    }
}

static enum error_code begin(struct look *look, const struct text_line *row, struct error *err)
{
    look->delimiter = delimited_guess(row->text, row->size);
    const enum error_code rc =
        memory_new(&look->text, row->size + 1, "the first row of a file", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(look->text, row->text, row->size);
    (void)delimited_split(look->text, row->size, look->delimiter, look->head, COLUMNS_MAX);
    return rc;
}

static enum error_code take_row(struct look *look, const struct text_line *row, struct error *err)
{
    const enum error_code rc = look->row_count == 0 ? begin(look, row, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    const size_t count =
        delimited_split(row->text, row->size, look->delimiter, look->field, COLUMNS_MAX);
    look->braces += has_braces(row);
    look->names += look->row_count > 0 && has_name(look, count);
    look->has_quotes |= memchr(row->text, '"', row->size) != NULL;
    look->is_no_openke |= !fits_openke(look, row);
    take_cells(look, count);
    look->width[look->row_count++] = count;
    return rc;
}

static enum error_code read_rows(struct look *look, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(look->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        look->bytes += line.size + 1;
        if (look->bytes > LOOK_BYTES || look->row_count == ROWS_MAX)
            break;
        if (!text_line_is_skipped(&line))
            rc = take_row(look, &line, err);
    }
    line_reader_close(reader);
    look->is_whole = !found;
    return rc;
}

/* --- shapes --- */

/* Returns whether no width is that of most rows. A table with a few broken rows is not taken for an
 * adjacency list. */
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

/* Returns whether all cells are numbers in rows of one width, and the rows are a matrix: there are
 * as many rows as columns, or many more columns than in an edge list, all 0 or 1. */
static bool is_matrix(const struct look *look)
{
    const size_t columns = look->row_count ? look->width[0] : 0;
    const bool are_bits = !look->has_others, is_square = look->row_count == columns;
    for (size_t i = 1; i < look->row_count; i++)
        if (look->width[i] != columns)
            return false;
    if (columns < DENSE_MIN || columns > COLUMNS_MAX || look->has_words)
        return false;
    return look->is_whole ? is_square && (are_bits || columns >= MANY_COLUMNS)
                          : are_bits && columns >= MANY_COLUMNS;
}

/* The kind of a file that is no edge list, and how to make one of it. {0}: it may be an edge
 * list. */
struct shape {
    const char *found, *advice;
};

static struct shape shape_of(const struct look *look)
{
    if (text_ends(look->path, ".sif") || text_ends(look->path, ".sif.gz"))
        return (struct shape){"SIF", "write `format: sif` below `ingest:`"};
    if (is_called(look->path, "node.dat") || is_called(look->path, "link.dat"))
        return (struct shape){
            "a file of the Heterogeneous Graph Benchmark",
            "write `format: hgb` below `ingest:`, with its folder as path; or, for link.dat alone, "
            "`edge_columns: \"source: 1; target: 2; etype: 3; weight: 4\"`"};
    if (look->row_count >= 2 && !look->is_no_openke)
        return (struct shape){"a list of OpenKE, a count and then head, tail and relation",
                              "name the file train2id.txt, and write `format: openke` below "
                              "`ingest:` with its folder as path"};
    if (look->braces && 2 * look->braces >= look->row_count)
        return (struct shape){
            "an edge list with attributes in braces",
            "networkx.write_edgelist(networkx.read_edgelist('FILE'), 'FILE.csv', ',', ['weight']) "
            "makes a table of it, with the attribute weight"};
    if (is_matrix(look))
        return (struct shape){
            "a dense matrix",
            "python3 -c \"import numpy, scipy.sparse as s; s.save_npz('g.npz', "
            "s.csr_matrix(numpy.genfromtxt('FILE', delimiter=',')))\" makes an npz of it, which "
            "`format: npz` reads (without delimiter if blanks separate)"};
    if (look->row_count >= DENSE_MIN && look->names + 1 == look->row_count)
        return (struct shape){
            "a dense matrix with names of rows and columns",
            "python3 -c \"import pandas; s = pandas.read_csv('FILE', index_col=0).stack(); s[s != "
            "0].to_csv('edges.csv', header=['weight'], index_label=['source', 'target'])\" makes a "
            "table of it"};
    if (!look->has_quotes && is_adjacency_list(look))
        return (struct shape){
            "an adjacency list, whose rows are of unequal length",
            "awk '{for (i = 2; i <= NF; i++) print $1 \",\" $i}' FILE > edges.csv makes a table of "
            "it (with -F, if commas separate); METIS's is `format: metis`"};
    return (struct shape){0};
}

enum error_code edge_shape_check(const char *path, struct error *err)
{
    struct look *look = NULL;
    enum error_code rc = memory_new(&look, 1, "the first rows of a file", err);
    if (rc != ERROR_NONE)
        return rc;
    look->path = path;
    rc = read_rows(look, err);
    const struct shape shape = rc == ERROR_NONE ? shape_of(look) : (struct shape){0};
    if (shape.found)
        rc = error_set(err, ERROR_INPUT,
                       "%.200s: expected an edge a line, source and target in columns of their "
                       "own, found %s: " ADVICE "%s",
                       path, shape.found, shape.advice);
    memory_free(look->text);
    memory_free(look);
    return rc;
}
