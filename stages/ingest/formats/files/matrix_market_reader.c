/*
 * matrix_market_reader - the adjacency matrix of a graph in NIST's Matrix Market format (format:
 * matrix_market).
 *
 *   %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric
 *   % comments
 *   rows columns entries
 *   i j [value]           nodes count from 1: an edge from i to j, and its weight
 *
 * A symmetric matrix lists each entry off the diagonal once, and such an entry is an edge both
 * ways; a general matrix is directed, as in SuiteSparse. Dense arrays, complex numbers, and
 * matrices that are skew-symmetric or Hermitian are refused. Plain or gzip. Labels, features and
 * splits are in files beside it (node_files.h), which use the node numbers of this file.
 *
 * Format: Boisvert, Pozo, Remington 1996, NISTIR 5935.
 */
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/columns/numbered_nodes.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { HEADER_WORDS = 5, FIELD_MAX = 4 };

struct matrix { /* the state of one run */
    const char *path;
    struct line_reader *reader;
    bool has_values, is_symmetric;
    uint64_t nodes, entries, found;
    struct edge_buffer buffer;
};

static enum error_code header_error(const struct matrix *m, const char *expected,
                                    const struct field *found, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:1: expected %s, found '%.*s'", m->path, expected,
                     found->size < 60 ? (int)found->size : 60, found->text);
}

/* Reads the header: "%%MatrixMarket matrix coordinate real general". */
static enum error_code take_header(struct matrix *m, const struct text_line *line,
                                   struct error *err)
{
    struct field word[HEADER_WORDS];
    const size_t count =
        delimited_split(line->text, line->size, DELIMITER_BLANKS, word, HEADER_WORDS);
    const struct field whole = {line->text, line->size};
    if (count != HEADER_WORDS || !field_is(&word[0], "%%MatrixMarket"))
        return header_error(m, "'%%MatrixMarket matrix coordinate pattern symmetric' or the like",
                            &whole, err);
    if (!field_is(&word[1], "matrix") || !field_is(&word[2], "coordinate"))
        return header_error(m, "a sparse matrix ('matrix coordinate')", &word[2], err);
    m->has_values =
        field_is(&word[3], "real") || field_is(&word[3], "integer") || field_is(&word[3], "double");
    if (!m->has_values && !field_is(&word[3], "pattern"))
        return header_error(m, "values that are real, integer or pattern (none)", &word[3], err);
    m->is_symmetric = field_is(&word[4], "symmetric");
    if (!m->is_symmetric && !field_is(&word[4], "general"))
        return header_error(m, "a matrix that is general (directed) or symmetric (undirected)",
                            &word[4], err);
    return ERROR_NONE;
}

/* Reads the next line that is neither a comment nor empty. */
static enum error_code next_line(struct matrix *m, struct text_line *line, bool *found,
                                 struct error *err)
{
    enum error_code rc;
    do
        rc = line_reader_next(m->reader, line, found, err);
    while (rc == ERROR_NONE && *found &&
           (line->size == 0 || line->text[0] == '%' ||
            delimited_split(line->text, line->size, DELIMITER_BLANKS, NULL, 0) == 0));
    return rc;
}

static enum error_code take_numbers(const struct matrix *m, const struct text_line *line,
                                    const char *expected, size_t count, int64_t *out,
                                    struct error *err)
{
    struct field field[FIELD_MAX];
    const size_t found =
        delimited_split(line->text, line->size, DELIMITER_BLANKS, field, FIELD_MAX);
    bool fits = found >= count && found <= FIELD_MAX;
    for (size_t i = 0; fits && i < count; i++)
        fits = text_int64(field[i].text, field[i].size, &out[i]) && out[i] >= 0;
    return fits ? ERROR_NONE
                : error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s, found '%.*s'", m->path,
                            line->number, expected, line->size < 60 ? (int)line->size : 60,
                            line->text);
}

static enum error_code take_size(struct matrix *m, struct error *err)
{
    struct text_line line;
    bool found = false;
    int64_t number[3] = {0};
    enum error_code rc = next_line(m, &line, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a line with rows, columns and entries, found the end of the "
                         "file" ADVISE_COPY,
                         m->path);
    if (rc == ERROR_NONE)
        rc = take_numbers(m, &line, "rows, columns and entries", 3, number, err);
    if (rc == ERROR_NONE && number[0] != number[1])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": expected as many rows as columns, the nodes, found %" PRId64
                         " x %" PRId64,
                         m->path, line.number, number[0], number[1]);
    m->nodes = (uint64_t)number[0];
    m->entries = (uint64_t)number[2];
    return rc;
}

static enum error_code take_weight(const struct matrix *m, const struct text_line *line,
                                   float *weight, struct error *err)
{
    struct field field[FIELD_MAX];
    double value = 0.0;
    const size_t wanted = m->has_values ? 3 : 2;
    const size_t count =
        delimited_split(line->text, line->size, DELIMITER_BLANKS, field, FIELD_MAX);
    if (count != wanted)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %zu fields as the header says, found %zu",
                         m->path, line->number, wanted, count);
    if (m->has_values && (!text_double(field[2].text, field[2].size, &value) || !isfinite(value)))
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected a number, found '%.*s'",
                         m->path, line->number, (int)field[2].size, field[2].text);
    *weight = (float)value;
    const struct float_place place = {.path = m->path, .line = line->number, .name = "weight"};
    if (m->has_values)
        float_loss_note_text(&dataset_builder_notes(m->buffer.builder)->loss, &place, field[2].text,
                             field[2].size, *weight);
    return ERROR_NONE;
}

static enum error_code take_entry(struct matrix *m, const struct text_line *line, struct error *err)
{
    int64_t end[2] = {0};
    float weight = 0.0F;
    enum error_code rc = take_numbers(m, line, "row and column", 2, end, err);
    if (rc == ERROR_NONE)
        rc = take_weight(m, line, &weight, err);
    if (rc == ERROR_NONE &&
        (end[0] < 1 || end[1] < 1 || (uint64_t)end[0] > m->nodes || (uint64_t)end[1] > m->nodes))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected nodes from 1 to %" PRIu64 ", found %" PRId64
                       " and %" PRId64,
                       m->path, line->number, m->nodes, end[0], end[1]);
    if (rc == ERROR_NONE && m->found++ == m->entries)
        rc = error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %" PRIu64 " entries, found more",
                       m->path, line->number, m->entries);
    const struct edge_columns_view value = {.width = m->buffer.columns.width,
                                            .data = {[EDGE_WEIGHT] = &weight}};
    return rc == ERROR_NONE
               ? edge_buffer_add(&m->buffer, line->number, end[0] - 1, end[1] - 1, &value, err)
               : rc;
}

static enum error_code push_entries(struct matrix *m, struct dataset_builder *builder,
                                    struct error *err)
{
    struct edge_widths width = {0};
    struct text_line line;
    bool found = true;
    width.of[EDGE_WEIGHT] = m->has_values ? 1 : 0;
    enum error_code rc = edge_buffer_init(&m->buffer, builder, m->path, &width, err);
    while (rc == ERROR_NONE) {
        rc = next_line(m, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = take_entry(m, &line, err);
    }
    if (rc == ERROR_NONE && m->found != m->entries)
        rc = error_set(err, ERROR_INPUT, "%s: expected %" PRIu64 " entries, found %" PRIu64,
                       m->path, m->entries, m->found);
    return rc == ERROR_NONE ? edge_buffer_flush(&m->buffer, err) : rc;
}

static enum error_code open_matrix(struct matrix *m, struct error *err)
{
    struct text_line line;
    bool found = false;
    enum error_code rc = line_reader_open(m->path, &m->reader, err);
    if (rc == ERROR_NONE)
        rc = line_reader_next(m->reader, &line, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_INPUT, "%s: expected a matrix, found an empty file", m->path);
    if (rc == ERROR_NONE)
        rc = take_header(m, &line, err);
    return rc == ERROR_NONE ? take_size(m, err) : rc;
}

static enum error_code matrix_market_run(const struct pipeline_settings *settings,
                                         uint64_t memory_bytes, struct dataset_builder *builder,
                                         struct error *err)
{
    struct matrix m = {.path = settings->ingest.path};
    struct named_nodes nodes = {0};
    enum error_code rc = open_matrix(&m, err);
    if (rc == ERROR_NONE)
        rc = numbered_nodes_begin(&nodes, m.nodes,
                                  m.is_symmetric ? STATED_UNDIRECTED : STATED_DIRECTED, m.path,
                                  memory_bytes, builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_expect_edges(builder, m.entries, err);
    if (rc == ERROR_NONE)
        rc = push_entries(&m, builder, err);
    if (rc == ERROR_NONE)
        rc = numbered_nodes_push_files(&nodes, settings, builder, err);
    edge_buffer_release(&m.buffer);
    named_nodes_release(&nodes);
    line_reader_close(m.reader);
    return rc;
}

const struct input_format matrix_market_format = {
    .is_file = true,
    .advice = {ADVICE_NODE_FILES},
    .form = "mend it so that a line with rows, columns and entries follows the header and "
            "comments, and then a line for each entry: row, column and, if there are any, a value",
    .run = matrix_market_run,
};
