/*
 * triple_reader - a graph whose lines are head, relation and tail by name, in N-Triples (format:
 * ntriples) or SIF (format: sif).
 *
 *   <http://a/1> <http://a/knows> <http://a/2> .    N-Triples: the ids are http://a/1 and
 *                                                   http://a/2, the relation http://a/knows
 *   <http://a/1> <http://a/name> "Ann" .            a literal is no node: such lines are counted,
 *                                                   noted, and skipped
 *   TP53 pp MDM2 CDK2                               SIF (Cytoscape): two edges of the relation pp;
 *                                                   TP53 alone is a node without edges
 *
 * Nodes and relations are numbered in the order in which they appear. The file is read twice: the
 * first pass reads the names. Formats: https://www.w3.org/TR/n-triples/,
 * https://manual.cytoscape.org (Supported Network File Formats).
 */
#include "common/base/log.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/formats/shared/relation_names.h"

#include <inttypes.h>
#include <string.h>

struct triples;
/* Takes one line that is neither blank nor a comment. */
typedef enum error_code (*line_taker)(struct triples *t, const struct text_line *line,
                                      struct error *err);

struct triples { /* the state of one run */
    const char *path;
    struct dataset_builder *builder;
    line_taker take;
    bool notes_names; /* this is the first pass */
    struct named_nodes names;
    struct node_id_assigner relations;
    uint64_t literals; /* number of lines whose object is a literal */
    int64_t first_literal;
    struct edge_buffer buffer;
};

static enum error_code wrong(const struct triples *t, const struct text_line *line,
                             const char *expected, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s, found '%.*s'", t->path,
                     line->number, expected, line->size < 80 ? (int)line->size : 80, line->text);
}

static enum error_code take_triple(struct triples *t, const struct text_line *line,
                                   const struct field *head, const struct field *relation,
                                   const struct field *tail, struct error *err)
{
    if (t->notes_names) {
        enum error_code rc = named_nodes_note(&t->names, head, "head", t->path, line->number, err);
        if (rc == ERROR_NONE)
            rc = named_nodes_note(&t->names, tail, "tail", t->path, line->number, err);
        return rc == ERROR_NONE
                   ? node_id_assigner_add_text(&t->relations, relation->text, relation->size, err)
                   : rc;
    }
    const int64_t source = named_nodes_find(&t->names, head);
    const int64_t target = named_nodes_find(&t->names, tail);
    const int64_t type = node_id_assigner_find_text(&t->relations, relation->text, relation->size);
    const uint16_t number = (uint16_t)type;
    const struct edge_columns_view value = {.width = t->buffer.columns.width,
                                            .data = {[EDGE_TYPE] = &number}};
    if (source < 0 || target < 0 || type < 0)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": the file was changed while it was read",
                         t->path, line->number);
    return edge_buffer_add(&t->buffer, line->number, source, target, &value, err);
}

/* --- N-Triples --- */

/* Takes a term off text [size]: an IRI without its brackets, or _:name. For a literal *term is
 * empty. */
static bool take_term(const char **text, const char *end, struct field *term)
{
    const char *at = *text, *close = NULL;
    *term = (struct field){0};
    if (at < end && *at == '<') {
        close = memchr(at, '>', (size_t)(end - at));
        if (!close || close == at + 1)
            return false;
        *term = (struct field){at + 1, (size_t)(close - at) - 1};
        at = close + 1;
    } else if (end - at > 2 && at[0] == '_' && at[1] == ':') {
        for (close = at; close < end && *close != ' ' && *close != '\t';)
            close++;
        *term = (struct field){at, (size_t)(close - at)};
        at = close;
    } else if (at < end && *at == '"') {
        for (at++; at < end && *at != '"'; at++)
            at += *at == '\\';
        if (at >= end)
            return false;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
    } else
        return false;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    *text = at;
    return true;
}

static enum error_code take_ntriple(struct triples *t, const struct text_line *line,
                                    struct error *err)
{
    const char *at = line->text, *end = line->text + line->size;
    struct field head, relation, tail;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const bool has_dot = end > at && end[-1] == '.';
    end -= has_dot;
    if (!has_dot || !take_term(&at, end, &head) || !head.size || !take_term(&at, end, &relation) ||
        !relation.size || !take_term(&at, end, &tail) || at != end)
        return wrong(t, line, "`<subject> <predicate> <object> .`", err);
    if (tail.size)
        return take_triple(t, line, &head, &relation, &tail, err);
    if (t->notes_names && t->literals++ == 0)
        t->first_literal = line->number;
    return ERROR_NONE;
}

/* --- SIF --- */

static enum error_code take_sif(struct triples *t, const struct text_line *line, struct error *err)
{
    const enum delimiter delimiter =
        memchr(line->text, '\t', line->size) ? DELIMITER_TAB : DELIMITER_BLANKS;
    struct delimited cursor;
    struct field head, relation, tail;
    enum error_code rc = ERROR_NONE;
    delimited_begin_line(&cursor, line, delimiter);
    if (!delimited_next(&cursor, &head))
        return ERROR_NONE;
    if (!delimited_next(&cursor, &relation)) /* a node without edges */
        return t->notes_names
                   ? named_nodes_note(&t->names, &head, "node", t->path, line->number, err)
                   : ERROR_NONE;
    if (!delimited_next(&cursor, &tail))
        return wrong(t, line, "`node relation node`, or a node alone", err);
    do
        rc = take_triple(t, line, &head, &relation, &tail, err);
    while (rc == ERROR_NONE && delimited_next(&cursor, &tail));
    return rc;
}

/* --- passes --- */

static enum error_code pass(struct triples *t, bool notes_names, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    t->notes_names = notes_names;
    enum error_code rc = line_reader_open(t->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!text_line_is_skipped(&line))
            rc = t->take(t, &line, err);
    }
    line_reader_close(reader);
    return rc;
}

static enum error_code set_nodes(struct triples *t, struct error *err)
{
    if (t->names.ids.count == 0 || t->relations.count == 0)
        return error_set(err, ERROR_INPUT, "%s: expected lines with two nodes, found none",
                         t->path);
    if (t->literals)
        log_warn("%s: %" PRIu64 " lines have a literal for their object, the first is line %" PRId64
                 ": left out, since a literal is no node",
                 t->path, t->literals, t->first_literal);
    named_nodes_finish(&t->names);
    node_id_assigner_finish(&t->relations);
    const struct node_ids ids = node_id_assigner_view(&t->names.ids);
    const struct node_ids relations = node_id_assigner_view(&t->relations);
    enum error_code rc =
        dataset_builder_set_nodes(t->builder, ids.node_count, STATED_DIRECTED, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_ids(t->builder, &ids, err);
    if (rc == ERROR_NONE)
        rc = relation_names_set(&relations, t->relations.count, ids.node_count, t->path, t->builder,
                                err);
    log_info("%s: %" PRIu64 " relations, each an edge type", t->path, t->relations.count);
    return rc;
}

static enum error_code push_edges(struct triples *t, struct error *err)
{
    struct edge_widths width = {0};
    width.of[EDGE_TYPE] = t->relations.count > 1 ? 1 : 0;
    enum error_code rc = edge_buffer_init(&t->buffer, t->builder, t->path, &width, err);
    if (rc == ERROR_NONE)
        rc = pass(t, false, err);
    return rc == ERROR_NONE ? edge_buffer_flush(&t->buffer, err) : rc;
}

static enum error_code run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                           struct dataset_builder *builder, line_taker take, struct error *err)
{
    struct triples t = {.path = settings->ingest.path, .builder = builder, .take = take};
    named_nodes_init(&t.names, true, memory_bytes / 2);
    node_id_assigner_init(&t.relations, true, 0);
    enum error_code rc = pass(&t, true, err);
    if (rc == ERROR_NONE)
        rc = set_nodes(&t, err);
    if (rc == ERROR_NONE)
        rc = push_edges(&t, err);
    if (rc == ERROR_NONE)
        rc = held_edge_files_push(settings, &t.names, builder, err);
    edge_buffer_release(&t.buffer);
    named_nodes_release(&t.names);
    node_id_assigner_release(&t.relations);
    return rc;
}

static enum error_code ntriples_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                    struct dataset_builder *builder, struct error *err)
{
    return run(settings, memory_bytes, builder, take_ntriple, err);
}

static enum error_code sif_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                               struct dataset_builder *builder, struct error *err)
{
    return run(settings, memory_bytes, builder, take_sif, err);
}

const struct input_format ntriples_format = {
    .is_file = true,
    .advice = {ADVICE_TRIPLES},
    .run = ntriples_run,
};

const struct input_format sif_format = {
    .is_file = true,
    .advice = {ADVICE_TRIPLES},
    .run = sif_run,
};
