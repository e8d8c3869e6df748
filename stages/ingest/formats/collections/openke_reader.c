/*
 * openke_reader - a knowledge graph in OpenKE's format: a folder of text files, each with a count
 * in its first line (format: openke).
 *
 *   train2id.txt      3                  the number of lines that follow
 *                     0 5 1              head, tail, relation: the relation is last
 *   valid2id.txt, test2id.txt            the same; held out with ingest.edge_split: given
 *   entity2id.txt     14541              then a line `name id` for each entity; without this file
 *                                        the names of entities are their numbers
 *   relation2id.txt   237                the same for relations; without this file they are called
 *                                        edge-0, edge-1, ...
 *
 * Entities and relations keep their numbers. Format: https://github.com/thunlp/OpenKE.
 */
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/shared/counted_lines.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/formats/shared/relation_names.h"

#include <inttypes.h>

enum { HEAD, TAIL, RELATION, TRIPLE_FIELDS };

struct openke { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    char file[SPLIT_COUNT][FILE_PATH_SIZE]; /* the triples of each split; "": not there */
    struct named_nodes entities, relations; /* without ids if there are no files of names */
    uint64_t entity_count, relation_count;  /* from their files, or from the highest number */
    struct edge_buffer buffer;
    const char *path; /* path of the current file */
    enum split split;
};

static enum error_code find_file(const struct openke *o, const char *name, bool is_needed,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    bool is_there = false;
    enum error_code rc = file_path(path, err, "%s/%s", o->settings->ingest.path, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &is_there, err);
    if (rc == ERROR_NONE && !is_there && is_needed)
        rc = error_set(err, ERROR_NOT_FOUND,
                       "%s is not there: expected it with a count, and a line `head tail relation` "
                       "for each triple",
                       path);
    if (rc == ERROR_NONE && !is_there)
        path[0] = '\0';
    return rc;
}

/* --- names --- */

static enum error_code read_names(const struct openke *o, const char *file,
                                  struct named_nodes *names, uint64_t *count, struct error *err)
{
    char path[FILE_PATH_SIZE];
    named_nodes_init(names, true, 0);
    enum error_code rc = find_file(o, file, false, path, err);
    if (rc == ERROR_NONE && path[0])
        rc = counted_lines_names(path, names, err);
    *count = names->ids.count;
    return rc;
}

/* --- triples --- */

static enum error_code read_number(const struct openke *o, const struct field *field,
                                   const char *what, uint64_t limit, int64_t line, int64_t *out,
                                   struct error *err)
{
    if (text_int64(field->text, field->size, out) && *out >= 0 && (uint64_t)*out < limit)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a number from 0 to %" PRIu64
                     " (head, tail, relation), found '%.*s'",
                     o->path, line, what, limit - 1, field->size < 40 ? (int)field->size : 40,
                     field->text);
}

static enum error_code read_triple(const struct openke *o, const struct field *field, int64_t line,
                                   int64_t number[TRIPLE_FIELDS], struct error *err)
{
    const uint64_t entities = o->entities.ids.count ? o->entity_count : UINT32_MAX - 1;
    const uint64_t relations = o->relations.ids.count ? o->relation_count : EDGE_TYPE_COUNT_MAX;
    enum error_code rc = read_number(o, &field[HEAD], "head", entities, line, &number[HEAD], err);
    if (rc == ERROR_NONE)
        rc = read_number(o, &field[TAIL], "tail", entities, line, &number[TAIL], err);
    return rc == ERROR_NONE ? read_number(o, &field[RELATION], "relation", relations, line,
                                          &number[RELATION], err)
                            : rc;
}

static enum error_code note_triple(void *context, const struct field *field, int64_t line,
                                   struct error *err)
{
    struct openke *o = context;
    int64_t number[TRIPLE_FIELDS] = {0};
    const enum error_code rc = read_triple(o, field, line, number, err);
    for (int i = HEAD; rc == ERROR_NONE && i <= TAIL; i++)
        if ((uint64_t)number[i] >= o->entity_count)
            o->entity_count = (uint64_t)number[i] + 1;
    if (rc == ERROR_NONE && (uint64_t)number[RELATION] >= o->relation_count)
        o->relation_count = (uint64_t)number[RELATION] + 1;
    return rc;
}

static enum error_code push_triple(void *context, const struct field *field, int64_t line,
                                   struct error *err)
{
    struct openke *o = context;
    int64_t number[TRIPLE_FIELDS] = {0};
    const enum error_code rc = read_triple(o, field, line, number, err);
    const uint16_t type = (uint16_t)number[RELATION];
    const struct given_edge held = {.where = o->path,
                                    .line = line,
                                    .source = number[HEAD],
                                    .target = number[TAIL],
                                    .type = type};
    const struct edge_columns_view value = {.width = o->buffer.columns.width,
                                            .data = {[EDGE_TYPE] = &type}};
    if (rc != ERROR_NONE)
        return rc;
    if (o->split == SPLIT_TRAIN)
        return edge_buffer_add(&o->buffer, line, number[HEAD], number[TAIL], &value, err);
    return dataset_builder_hold_out(
        o->builder, o->split == SPLIT_VALID ? HELD_OUT_VALID : HELD_OUT_TEST, &held, err);
}

static enum error_code visit(struct openke *o, enum split split, counted_visitor take,
                             struct error *err)
{
    o->path = o->file[split];
    o->split = split;
    return o->path[0] ? counted_lines_visit(o->path, TRIPLE_FIELDS, take, o, err) : ERROR_NONE;
}

/* --- the graph --- */

static enum error_code read_nodes(struct openke *o, struct error *err)
{
    enum error_code rc = read_names(o, "entity2id.txt", &o->entities, &o->entity_count, err);
    if (rc == ERROR_NONE)
        rc = read_names(o, "relation2id.txt", &o->relations, &o->relation_count, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        rc = visit(o, (enum split)s, note_triple, err);
    if (rc == ERROR_NONE && o->entity_count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected triples, found none", o->file[SPLIT_TRAIN]);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(o->builder, o->entity_count, STATED_DIRECTED, err);
    if (rc == ERROR_NONE && o->entities.ids.count) {
        const struct node_ids ids = node_id_assigner_view(&o->entities.ids);
        rc = dataset_builder_set_ids(o->builder, &ids, err);
    }
    struct node_ids names;
    if (rc == ERROR_NONE && o->relations.ids.count)
        names = node_id_assigner_view(&o->relations.ids);
    return rc == ERROR_NONE
               ? relation_names_set(o->relations.ids.count ? &names : NULL, o->relation_count,
                                    o->entity_count, o->file[SPLIT_TRAIN], o->builder, err)
               : rc;
}

static enum error_code push_edges(struct openke *o, struct error *err)
{
    struct edge_widths width = {0};
    width.of[EDGE_TYPE] = o->relation_count > 1 ? 1 : 0;
    enum error_code rc =
        edge_buffer_init(&o->buffer, o->builder, o->file[SPLIT_TRAIN], &width, err);
    if (rc == ERROR_NONE)
        rc = visit(o, SPLIT_TRAIN, push_triple, err);
    return rc == ERROR_NONE ? edge_buffer_flush(&o->buffer, err) : rc;
}

/* Pushes the held-out edges: from files that settings name, otherwise from the folder. */
static enum error_code push_held(struct openke *o, struct error *err)
{
    const struct pipeline_settings *settings = o->settings;
    enum error_code rc = ERROR_NONE;
    if (!pipeline_gives_edges(settings)) {
        if (o->file[SPLIT_TEST][0] && !pipeline_reads_targets(settings))
            log_warn("%s is not used, and neither is valid2id.txt: ingest.edge_split is '%s'; with "
                     "`edge_split: given` their triples are held out",
                     o->file[SPLIT_TEST], settings->ingest.edge_split);
        return ERROR_NONE;
    }
    if (!o->file[SPLIT_TEST][0] && !settings->ingest.edge_file[SPLIT_TEST][0])
        return error_set(err, ERROR_INPUT,
                         "%s/test2id.txt is not there, but ingest.edge_split is given: " ADVICE
                         "add it, or "
                         "name a file by ingest.test_edges",
                         settings->ingest.path);
    for (int s = SPLIT_VALID; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        if (!settings->ingest.edge_file[s][0])
            rc = visit(o, (enum split)s, push_triple, err);
    return rc;
}

static enum error_code read_all(struct openke *o, struct error *err)
{
    static const char *const files[SPLIT_COUNT] = {[SPLIT_TRAIN] = "train2id.txt",
                                                   [SPLIT_VALID] = "valid2id.txt",
                                                   [SPLIT_TEST] = "test2id.txt"};
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        rc = find_file(o, files[s], s == SPLIT_TRAIN, o->file[s], err);
    if (rc == ERROR_NONE)
        rc = read_nodes(o, err);
    if (rc == ERROR_NONE)
        rc = push_edges(o, err);
    if (rc == ERROR_NONE)
        rc = push_held(o, err);
    return rc == ERROR_NONE
               ? held_edge_files_push(o->settings, o->entities.ids.count ? &o->entities : NULL,
                                      o->builder, err)
               : rc;
}

static enum error_code openke_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                  struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct openke o = {.settings = settings, .builder = builder};
    const enum error_code rc = read_all(&o, err);
    edge_buffer_release(&o.buffer);
    named_nodes_release(&o.entities);
    named_nodes_release(&o.relations);
    return rc;
}

const struct input_format openke_format = {
    .endings = {"2id.txt"},
    .advice = {ADVICE_TRIPLES},
    .run = openke_run,
};
