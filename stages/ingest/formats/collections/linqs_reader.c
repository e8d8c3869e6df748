/*
 * linqs_reader - the folder of a citation graph of the LINQS group: Cora, CiteSeer, WebKB (format:
 * linqs).
 *
 *   NAME.content   a line a paper: id, words (0 and 1, or other numbers), class; tabs or blanks
 *                  between them
 *   NAME.cites     a line an edge: the id of the paper that is cited, that of the paper that cites
 *                  it
 *
 * Edges go from the citing paper to the cited one. Classes are words, numbered as in class_words.h.
 * Edges of papers that have no line in NAME.content, of which CiteSeer has some, are dropped, and
 * their number is logged. There are no splits.
 *
 * Format: README of https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/feature_text.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/shared/class_words.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct linqs { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char content[FILE_PATH_SIZE], cites[FILE_PATH_SIZE];
    struct named_nodes names;
    struct class_words classes;
    struct label_table labels;
    uint32_t dim;
    float *row; /* [dim] */
    uint64_t row_count, unknown_count;
    int64_t first_unknown; /* line of the first unknown paper */
    struct edge_buffer buffer;
};

typedef enum error_code (*line_taker)(struct linqs *l, const struct text_line *line,
                                      struct error *err);

static enum error_code visit(struct linqs *l, const char *path, line_taker take, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = take(l, &line, err);
    }
    line_reader_close(reader);
    return rc;
}

/* --- files --- */

struct search {
    const char *folder, *ending;
    char *path; /* [FILE_PATH_SIZE], "" until a file is found */
};

static enum error_code look_at(void *context, const char *name, struct error *err)
{
    const struct search *search = context;
    if (!input_files_ends_in(name, search->ending))
        return ERROR_NONE;
    if (search->path[0])
        return error_set(err, ERROR_INPUT, "%s: expected one file *%s, found %s and %s",
                         search->folder, search->ending, strrchr(search->path, '/') + 1, name);
    return file_path(search->path, err, "%s/%s", search->folder, name);
}

static enum error_code find(const char *folder, const char *ending, char path[FILE_PATH_SIZE],
                            struct error *err)
{
    struct search search = {folder, ending, path};
    path[0] = '\0';
    const enum error_code rc = file_list(folder, look_at, &search, err);
    return rc == ERROR_NONE && !path[0]
               ? error_set(err, ERROR_NOT_FOUND, "%s: expected a file *%s, found none", folder,
                           ending)
               : rc;
}

/* --- papers --- */

/* Splits a line into id, the fields between, and class. */
static enum error_code split_paper(const struct linqs *l, const struct text_line *line,
                                   struct field *id, struct delimited *words, uint32_t *count,
                                   struct field *class, struct error *err)
{
    struct delimited all;
    delimited_begin(&all, line->text, line->size, DELIMITER_BLANKS);
    const bool has_id = delimited_next(&all, id);
    *words = all;
    *count = 0;
    *class = (struct field){0};
    while (has_id && delimited_next(&all, class))
        ++*count;
    if (*count < 2)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected an id, at least one number and a class, found "
                         "%d columns",
                         l->content, line->number, has_id ? (int)*count + 1 : 0);
    words->end = class->text; /* the class is no number */
    --*count;
    return ERROR_NONE;
}

static enum error_code note_paper(struct linqs *l, const struct text_line *line, struct error *err)
{
    struct field id, class;
    struct delimited words;
    uint32_t count = 0;
    enum error_code rc = split_paper(l, line, &id, &words, &count, &class, err);
    if (rc == ERROR_NONE && named_nodes_find(&l->names, &id) >= 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": '%.*s' is the id of an earlier line already: expected one "
                       "line a paper",
                       l->content, line->number, id.size < 40 ? (int)id.size : 40, id.text);
    if (rc == ERROR_NONE)
        rc = named_nodes_note(&l->names, &id, "paper", l->content, line->number, err);
    if (rc == ERROR_NONE)
        rc = class_words_note(&l->classes, &class, err);
    if (rc != ERROR_NONE || l->dim)
        return rc;
    l->dim = count;
    return count <= FEATURE_DIM_MAX
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected at most %d numbers, found %u", l->content,
                           line->number, FEATURE_DIM_MAX, count);
}

static enum error_code take_paper(struct linqs *l, const struct text_line *line, struct error *err)
{
    struct field id, class;
    struct delimited words;
    uint32_t count = 0;
    enum error_code rc = split_paper(l, line, &id, &words, &count, &class, err);
    if (rc == ERROR_NONE && count != l->dim)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu32
                       " numbers between id and class as the first line has, found %" PRIu32,
                       l->content, line->number, l->dim, count);
    if (rc == ERROR_NONE)
        rc = feature_text_parse(l->content, line->number, &words, 1, l->dim, l->row,
                                &dataset_builder_notes(l->builder)->loss, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_put_features(l->builder, l->content, line->number, l->row_count,
                                          l->row, l->dim, err);
    if (rc == ERROR_NONE && l->labels.column_count) {
        l->labels.column[0] = (double)class_words_class(&l->classes, &class);
        rc = label_table_take(&l->labels, l->row_count, line->number, err);
    }
    l->row_count++;
    return rc;
}

static enum error_code read_papers(struct linqs *l, struct error *err)
{
    named_nodes_init(&l->names, true, 0);
    enum error_code rc = visit(l, l->content, note_paper, err);
    if (rc == ERROR_NONE && l->names.ids.count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line a paper, found none", l->content);
    if (rc == ERROR_NONE)
        rc = class_words_finish(&l->classes, err);
    if (rc != ERROR_NONE)
        return rc;
    named_nodes_finish(&l->names);
    const struct node_ids ids = node_id_assigner_view(&l->names.ids);
    rc = dataset_builder_set_nodes(l->builder, ids.node_count, STATED_NOTHING, err);
    return rc == ERROR_NONE ? dataset_builder_set_ids(l->builder, &ids, err) : rc;
}

/* Pushes the features, and the labels if they are learnt. */
static enum error_code push_papers(struct linqs *l, struct error *err)
{
    const bool has_labels = pipeline_reads_targets(l->settings);
    l->labels = (struct label_table){.path = l->content,
                                     .node_count = l->names.ids.count,
                                     .task = (enum task_kind)l->settings->ingest.task};
    enum error_code rc = memory_new(&l->row, l->dim, "the numbers of a paper", err);
    if (rc == ERROR_NONE && has_labels)
        rc = label_table_columns(&l->labels, 1, err);
    if (rc == ERROR_NONE)
        rc = visit(l, l->content, take_paper, err);
    return rc == ERROR_NONE && has_labels ? label_table_push(&l->labels, 1, l->builder, err) : rc;
}

/* --- citations --- */

static enum error_code take_citation(struct linqs *l, const struct text_line *line,
                                     struct error *err)
{
    static const struct edge_columns_view none;
    struct field field[3];
    const size_t count = delimited_split(line->text, line->size, DELIMITER_BLANKS, field, 3);
    if (count != 2)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected two ids, of the cited paper and of the citing "
                         "one, found %zu columns",
                         l->cites, line->number, count);
    const int64_t cited = named_nodes_find(&l->names, &field[0]);
    const int64_t citing = named_nodes_find(&l->names, &field[1]);
    if (cited >= 0 && citing >= 0)
        return edge_buffer_add(&l->buffer, line->number, citing, cited, &none, err);
    if (l->unknown_count++ == 0)
        l->first_unknown = line->number;
    return ERROR_NONE;
}

static enum error_code read_citations(struct linqs *l, struct error *err)
{
    static const struct edge_widths none;
    enum error_code rc = edge_buffer_init(&l->buffer, l->builder, l->cites, &none, err);
    if (rc == ERROR_NONE)
        rc = visit(l, l->cites, take_citation, err);
    if (rc == ERROR_NONE && l->unknown_count && l->buffer.total == 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected ids of %s, found none in any of %" PRIu64 " lines",
                       l->cites, l->first_unknown, l->content, l->unknown_count);
    if (rc == ERROR_NONE && l->unknown_count)
        log_warn("%s: %" PRIu64 " citations are of papers without a line in %s, the first in line "
                 "%" PRId64 ": left out",
                 l->cites, l->unknown_count, l->content, l->first_unknown);
    return rc == ERROR_NONE ? edge_buffer_flush(&l->buffer, err) : rc;
}

static enum error_code read_all(struct linqs *l, struct error *err)
{
    const char *folder = l->settings->ingest.path;
    enum error_code rc = find(folder, ".content", l->content, err);
    if (rc == ERROR_NONE)
        rc = find(folder, ".cites", l->cites, err);
    if (rc == ERROR_NONE)
        rc = read_papers(l, err);
    if (rc == ERROR_NONE)
        rc = read_citations(l, err);
    if (rc == ERROR_NONE)
        rc = push_papers(l, err);
    return rc == ERROR_NONE ? held_edge_files_push(l->settings, &l->names, l->builder, err) : rc;
}

static enum error_code linqs_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                 struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct linqs l = {.settings = settings, .builder = builder};
    class_words_init(&l.classes);
    const enum error_code rc = read_all(&l, err);
    edge_buffer_release(&l.buffer);
    label_table_release(&l.labels);
    class_words_release(&l.classes);
    named_nodes_release(&l.names);
    memory_free(l.row);
    return rc;
}

const struct input_format linqs_format = {
    .endings = {".content", ".cites"},
    .advice = {"end each line of NAME.content with a class", ADVICE_RANDOM_SPLIT},
    .form = "mend it so that NAME.content has id, numbers and class of a paper a line, NAME.cites "
            "the cited and the citing one",
    .run = linqs_run,
};
