#include "stages/ingest/formats/columns/node_files.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/columns/keyed_features.h"
#include "stages/ingest/formats/columns/node_file_notes.h"
#include "stages/ingest/formats/columns/table_encoding.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

static struct keyed_file file_of(const char *path, enum keyed_form form)
{
    return (struct keyed_file){.path = path[0] ? path : NULL, .form = form};
}

static void choose_columns(struct node_files *files, const struct pipeline_settings *settings)
{
    struct keyed_file *const tables[] = {&files->labels, &files->features, &files->marks};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        tables[i]->keeps_header = true;
        tables[i]->may_choose = true;
        tables[i]->missing_words = settings->ingest.missing_words;
        tables[i]->choice.id = settings->ingest.id_column;
    }
    files->labels.choice.take = settings->ingest.label_columns;
    files->features.choice.take = files->names ? files->names : settings->ingest.feature_columns;
    /* If one table has both, the columns of one are left out of the other. */
    files->features.choice.leave[0] = settings->ingest.label_columns;
    files->features.choice.leave[1] = files->labels.choice.leave[1] = settings->ingest.time_column;
    files->features.choice.leave[2] = files->labels.choice.leave[2] = files->shares.columns;
    files->marks.choice.take =
        files->shares.kind == SPLIT_IS_TIME ? settings->ingest.time_column : files->shares.columns;
}

enum error_code node_files_open(struct node_files *files, const struct pipeline_settings *settings,
                                struct error *err)
{
    *files = (struct node_files){
        .labels = file_of(settings->ingest.labels, KEYED_VALUES),
        .features = file_of(settings->ingest.features.path, KEYED_VALUES),
        .feature_ids = file_of(settings->ingest.feature_ids, KEYED_ID_ONLY),
        .task = (enum task_kind)settings->ingest.task,
        .settings = settings,
    };
    enum error_code rc = pipeline_split_shares(settings, &files->shares, err);
    if (files->shares.columns || files->shares.kind == SPLIT_IS_TIME)
        files->marks = file_of(settings->ingest.labels, KEYED_WORDS);
    for (int s = 0; s < SPLIT_COUNT; s++)
        files->split[s] = file_of(settings->ingest.split_file[s], KEYED_ID_ONLY);
    if (!pipeline_reads_targets(settings)) { /* nothing is learnt about nodes */
        files->labels.path = files->marks.path = NULL;
        for (int s = 0; s < SPLIT_COUNT; s++)
            files->split[s].path = NULL;
    }
    if (rc == ERROR_NONE && settings->ingest.column_encoding[0])
        rc = table_encoding_read(settings->ingest.column_encoding, &files->encoding, err);
    if (rc == ERROR_NONE && files->encoding.column_count && table_encoding_is_wanted(settings))
        rc = table_encoding_names(&files->encoding, &files->names, err);
    choose_columns(files, settings);
    return rc;
}

void node_files_release(struct node_files *files)
{
    keyed_file_release(&files->labels);
    keyed_file_release(&files->features);
    keyed_file_release(&files->feature_ids);
    keyed_file_release(&files->marks);
    for (int s = 0; s < SPLIT_COUNT; s++)
        keyed_file_release(&files->split[s]);
    column_encoding_release(&files->encoding);
    memory_free(files->names);
    memory_free(files->has_label);
    files->names = NULL;
    files->has_label = NULL;
}

enum error_code node_files_check(const struct pipeline_settings *settings, struct error *err)
{
    struct split_shares shares;
    const enum error_code rc = pipeline_split_shares(settings, &shares, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!settings->ingest.labels[0])
        return error_set(err, ERROR_INPUT,
                         "%s has edges, but no labels to learn: " ADVICE
                         "add a line `labels: FILE` below "
                         "`ingest:`; the file has a line `id,class` for each node whose class is "
                         "known",
                         settings->ingest.path);
    if (!shares.is_random && !settings->ingest.split_file[SPLIT_TRAIN][0])
        return error_set(
            err, ERROR_INPUT,
            "%s has labels, but nothing says which nodes to train on: " ADVICE "add a line "
            "`split: random 60/20/20` below `ingest:`, or `train: FILE` (and `valid:`, "
            "`test:`) with a node id a line",
            settings->ingest.path);
    return ERROR_NONE;
}

/* ---- ids
 * -------------------------------------------------------------------------------------- */

struct note {
    struct named_nodes *nodes;
    struct keyed_file *file;
    struct node_file_ids *ids;
};

static uint64_t node_count(const struct named_nodes *nodes)
{
    return nodes->ids.count + nodes->other.count;
}

static enum error_code note_id(void *context, const struct field *id, struct delimited *values,
                               int64_t line, struct error *err)
{
    const struct note *note = context;
    struct node_file_ids *ids = note->ids;
    const uint64_t before = node_count(note->nodes);
    (void)values;
    const enum error_code rc =
        named_nodes_note(note->nodes, id, "node", note->file->path, line, err);
    ids->lines++;
    if (rc != ERROR_NONE || node_count(note->nodes) == before)
        return rc;
    if (ids->strangers++ == 0) {
        ids->first_stranger = line;
        (void)snprintf(ids->stranger, sizeof ids->stranger, "%.*s",
                       id->size < sizeof ids->stranger ? (int)id->size : NODE_FILE_ID_SIZE - 1,
                       id->text);
    }
    return rc;
}

static enum error_code note_file(struct keyed_file *file, struct named_nodes *nodes,
                                 struct node_file_ids *ids, struct error *err)
{
    struct note note = {nodes, file, ids};
    return file->path ? keyed_file_visit(file, nodes, note_id, &note, err) : ERROR_NONE;
}

enum error_code node_files_note(struct node_files *files, struct named_nodes *nodes,
                                struct error *err)
{
    enum error_code rc = note_file(&files->labels, nodes, &files->label_ids, err);
    if (rc != ERROR_NONE || !files->features.path)
        return rc;
    if (!input_files_ends_in(files->features.path, ".npy"))
        return note_file(&files->features, nodes, &files->feature_file_ids, err);
    return files->feature_ids.path
               ? note_file(&files->feature_ids, nodes, &files->feature_file_ids, err)
               : keyed_features_note_rows(files->features.path, nodes, err);
}

/* ---- labels
 * ----------------------------------------------------------------------------------- */

struct labelling {
    struct keyed_file *file;
    const struct named_nodes *nodes;
    struct label_table table;
    uint8_t *is_labelled; /* [node_count] */
};

static enum error_code name_relabelled(struct labelling *labelling, int64_t node, int64_t line,
                                       struct error *err)
{
    char text[NODE_ID_TEXT_SIZE];
    int64_t first = 0;
    const enum error_code rc =
        keyed_file_line_of(labelling->file, labelling->nodes, node, &first, err);
    if (rc != ERROR_NONE)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node %s has another label than in line %" PRId64
                     ": expected one label a node; " ADVICE "remove one of the lines",
                     labelling->file->path, line, named_nodes_text(labelling->nodes, node, text),
                     first);
}

static enum error_code take_label(void *context, const struct field *id, struct delimited *values,
                                  int64_t line, struct error *err)
{
    struct labelling *labelling = context;
    struct label_table *table = &labelling->table;
    const int64_t node = named_nodes_find(labelling->nodes, id);
    enum error_code rc = ERROR_NONE;
    table->path = labelling->file->path;
    if (node < 0)
        return named_nodes_unknown(labelling->nodes, id, table->path, line, err);
    if (table->column_count == 0) {
        struct delimited all = *values;
        struct field field;
        uint64_t count = 0;
        while (delimited_next(&all, &field))
            count++;
        rc = node_file_notes_check_labels(labelling->file, count, err);
        if (rc == ERROR_NONE)
            rc = label_table_columns(table, count, err);
    }
    if (rc == ERROR_NONE)
        rc = label_table_parse(table, values, line, err);
    if (rc != ERROR_NONE)
        return rc;
    if (labelling->is_labelled[node])
        return label_table_agrees(table, (uint64_t)node)
                   ? ERROR_NONE
                   : name_relabelled(labelling, node, line, err);
    labelling->is_labelled[node] = 1;
    return label_table_take(table, (uint64_t)node, line, err);
}

/* Notes which nodes have a label, for the message about a training node without one. */
static enum error_code note_labelled(struct node_files *files, const struct label_table *table,
                                     struct error *err)
{
    const struct task *task = task_of(table->task);
    const enum error_code rc =
        memory_new(&files->has_label, table->node_count, "which nodes have labels", err);
    for (uint64_t node = 0; rc == ERROR_NONE && node < table->node_count; node++)
        files->has_label[node] = task->has_label(table->label + node * table->width);
    return rc;
}

static enum error_code push_labels(struct node_files *files, const struct named_nodes *nodes,
                                   struct dataset_builder *builder, struct error *err)
{
    struct labelling labelling = {.file = &files->labels, .nodes = nodes};
    if (!files->labels.path)
        return ERROR_NONE;
    labelling.table = (struct label_table){.path = files->labels.path,
                                           .node_count = nodes->ids.count,
                                           .words = &files->encoding,
                                           .takes_missing_words = files->labels.may_choose,
                                           .task = files->task};
    enum error_code rc =
        memory_new(&labelling.is_labelled, nodes->ids.count, "which nodes have labels", err);
    if (rc == ERROR_NONE)
        rc = keyed_file_visit(&files->labels, nodes, take_label, &labelling, err);
    if (rc == ERROR_NONE && labelling.table.column_count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line `id,class` a node, found none",
                       files->labels.path);
    labelling.table.path = files->labels.path;
    if (rc == ERROR_NONE && files->marks.path)
        rc = note_labelled(files, &labelling.table, err);
    if (rc == ERROR_NONE)
        rc = label_table_push(&labelling.table, 0, builder, err);
    label_table_release(&labelling.table);
    memory_free(labelling.is_labelled);
    return rc;
}

/* ---- splits
 * ----------------------------------------------------------------------------------- */

struct selection {
    const struct keyed_file *file;
    const struct named_nodes *nodes;
    int64_t *node; /* [capacity] */
    uint64_t count, capacity;
    int64_t first_line;
};

static enum error_code select_node(void *context, const struct field *id, struct delimited *values,
                                   int64_t line, struct error *err)
{
    struct selection *selection = context;
    const int64_t node = named_nodes_find(selection->nodes, id);
    (void)values;
    if (node < 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is in no other file: expected the id of a "
                         "node with an edge, a label or features"
                         ": " ADVICE "write the id of a node that has an edge, or remove the line",
                         selection->file->path, line, id->size < 40 ? (int)id->size : 40, id->text);
    if (selection->count == selection->capacity) /* more ids than nodes: one of them comes twice */
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %" PRIu64 " nodes, found more",
                         selection->file->path, line, selection->capacity);
    if (selection->count == 0)
        selection->first_line = line;
    selection->node[selection->count++] = node;
    return ERROR_NONE;
}

enum error_code node_files_push_split(struct keyed_file *file, enum split split,
                                      const struct named_nodes *nodes,
                                      struct dataset_builder *builder, struct error *err)
{
    struct selection selection = {.file = file, .nodes = nodes, .capacity = nodes->ids.count + 1};
    enum error_code rc = memory_new(&selection.node, selection.capacity, "a split", err);
    if (rc == ERROR_NONE)
        rc = keyed_file_visit(file, nodes, select_node, &selection, err);
    if (rc == ERROR_NONE && selection.count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected the ids of the %s nodes, found none",
                       file->path, split_names[split]);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, split, file->path, selection.first_line,
                                       selection.node, selection.count, err);
    memory_free(selection.node);
    return rc;
}

/* ---- splits and times in the labels' table
 * ----------------------------------------------------- */

struct marking {
    struct node_files *files;
    const struct named_nodes *nodes;
    int64_t *time; /* [node_count], for a split by time; or NULL */
    struct time_format time_format;
    uint8_t *split;   /* [node_count] 0: no split, else 1 + enum split */
    uint8_t *is_seen; /* [node_count] */
};

static bool is_any(const struct field *field, const char *const *words)
{
    for (; *words; words++)
        if (field_is(field, *words))
            return true;
    return false;
}

static enum error_code unknown_word(const struct marking *marking, const struct field *field,
                                    int64_t line, const char *expected, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": split: expected %s, found '%.*s'",
                     marking->files->marks.path, line, expected,
                     field->size < 40 ? (int)field->size : 40, field->text);
}

static enum error_code split_of_word(const struct marking *marking, const struct field *field,
                                     int64_t line, int *out, struct error *err)
{
    static const char *const train[] = {"train", "training", NULL};
    static const char *const valid[] = {"valid", "validation", "val", "dev", NULL};
    static const char *const test[] = {"test", "testing", NULL};
    *out = is_any(field, train)   ? 1 + SPLIT_TRAIN
           : is_any(field, valid) ? 1 + SPLIT_VALID
           : is_any(field, test)  ? 1 + SPLIT_TEST
                                  : 0;
    return *out || column_is_missing(field)
               ? ERROR_NONE
               : unknown_word(marking, field, line, "train, valid, test or nothing", err);
}

static enum error_code split_of_masks(const struct marking *marking, struct delimited *values,
                                      int64_t line, int *out, struct error *err)
{
    static const char *const yes[] = {"true", "1", "1.0", "t", "yes", "y", NULL};
    static const char *const no[] = {"false", "0", "0.0", "f", "no", "n", NULL};
    struct field field;
    *out = 0;
    for (int s = 0; s < SPLIT_COUNT && delimited_next(values, &field); s++) {
        const bool is_in = is_any(&field, yes);
        if (!is_in && !is_any(&field, no) && !column_is_missing(&field))
            return unknown_word(marking, &field, line, "true or false", err);
        if (is_in && *out)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": the node is in the %s split and in the %s split: "
                             "expected one of them"
                             ": " ADVICE "remove it from one of them",
                             marking->files->marks.path, line, split_names[*out - 1],
                             split_names[s]);
        *out = is_in ? 1 + s : *out;
    }
    return ERROR_NONE;
}

static enum error_code take_time(struct marking *marking, const struct field *field, int64_t node,
                                 int64_t line, struct error *err)
{
    int64_t value = 0;
    struct time_fault fault;
    time_format_narrow(&marking->time_format, field->text, field->size);
    if (!time_text_value(&marking->time_format, field->text, field->size, &value, &fault))
        return time_fault_advise(
            &fault,
            error_set(err, ERROR_INPUT, "%s:%" PRId64 ": %s: expected %s, found '%.*s'",
                      marking->files->marks.path, line,
                      marking->files->settings->ingest.time_column, fault.expected,
                      field->size < 40 ? (int)field->size : 40, field->text),
            err);
    if (marking->is_seen[node] && marking->time[node] != value)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": the node has another time in a line before: expected one"
                         ": " ADVICE "remove one of the lines",
                         marking->files->marks.path, line);
    marking->time[node] = value;
    return ERROR_NONE;
}

static enum error_code take_mark(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct marking *marking = context;
    const int64_t node = named_nodes_find(marking->nodes, id);
    struct field field = {0};
    int split = 0;
    enum error_code rc = ERROR_NONE;
    if (node < 0)
        return named_nodes_unknown(marking->nodes, id, marking->files->marks.path, line, err);
    if (marking->files->shares.kind == SPLIT_IS_MASKS) {
        rc = split_of_masks(marking, values, line, &split, err);
    } else {
        (void)delimited_next(values, &field);
        rc = marking->time ? take_time(marking, &field, node, line, err)
                           : split_of_word(marking, &field, line, &split, err);
    }
    if (rc == ERROR_NONE && marking->is_seen[node] && marking->split[node] != split)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": the node is in another split in a line before: expected one"
                       ": " ADVICE "remove it from one of them",
                       marking->files->marks.path, line);
    if (rc == ERROR_NONE && split == 1 + SPLIT_TRAIN && !marking->files->has_label[node])
        rc = error_set(
            err, ERROR_INPUT,
            "%s:%" PRId64 ": node '%.*s' has no label: expected one for every training node"
            ": " ADVICE "give it one, or remove it from the split",
            marking->files->marks.path, line, id->size < 40 ? (int)id->size : 40, id->text);
    marking->split[node] = (uint8_t)split;
    marking->is_seen[node] = 1;
    return rc;
}

static enum error_code push_marked(const struct marking *marking, enum split split,
                                   struct dataset_builder *builder, struct error *err)
{
    const uint64_t node_count = marking->nodes->ids.count;
    int64_t *node = NULL;
    uint64_t count = 0;
    enum error_code rc = memory_new(&node, node_count, "a split", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        if (marking->split[i] == 1 + (int)split)
            node[count++] = (int64_t)i;
    if (rc == ERROR_NONE && count == 0 && split == SPLIT_TRAIN)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected nodes for training (ingest.split: %s), found none",
                       marking->files->marks.path, marking->files->settings->ingest.split);
    if (rc == ERROR_NONE && count > 0)
        rc = dataset_builder_set_split(builder, split, marking->files->marks.path, 1, node, count,
                                       err);
    memory_free(node);
    return rc;
}

static enum error_code push_marks(struct node_files *files, const struct named_nodes *nodes,
                                  struct dataset_builder *builder, struct error *err)
{
    struct marking marking = {.files = files, .nodes = nodes};
    const bool by_time = files->shares.kind == SPLIT_IS_TIME;
    if (!files->marks.path)
        return ERROR_NONE;
    enum error_code rc = memory_new(&marking.split, nodes->ids.count, "splits of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&marking.is_seen, nodes->ids.count, "marks of nodes", err);
    if (by_time) /* checked with the settings */
        must(!time_format_read(files->settings->ingest.time_format, &marking.time_format));
    if (rc == ERROR_NONE && by_time)
        rc = memory_new(&marking.time, nodes->ids.count, "times of nodes", err);
    if (rc == ERROR_NONE)
        rc = keyed_file_visit(&files->marks, nodes, take_mark, &marking, err);
    for (int s = 0; rc == ERROR_NONE && !by_time && s < SPLIT_COUNT; s++)
        rc = push_marked(&marking, (enum split)s, builder, err);
    if (rc == ERROR_NONE && by_time) {
        dataset_builder_take_times(builder, marking.time);
        marking.time = NULL;
    }
    memory_free(marking.time);
    memory_free(marking.split);
    memory_free(marking.is_seen);
    return rc;
}

/* ---- all of it
 * --------------------------------------------------------------------------------- */

/* Finds which words are classes, and how columns are encoded. */
static enum error_code find_encoding(struct node_files *files, const struct named_nodes *nodes,
                                     struct dataset_builder *builder, struct error *err)
{
    const struct pipeline_settings *settings = files->settings;
    if (settings && settings->ingest.column_encoding[0])
        return ERROR_NONE;
    const enum error_code rc = table_encoding_find_classes(&files->labels, nodes, files->task,
                                                           builder, &files->encoding, err);
    return rc == ERROR_NONE && settings && table_encoding_is_wanted(settings)
               ? table_encoding_find_columns(&files->features, nodes, settings, &files->encoding,
                                             err)
               : rc;
}

enum error_code node_files_push(struct node_files *files, const struct named_nodes *nodes,
                                struct dataset_builder *builder, struct error *err)
{
    enum error_code rc = find_encoding(files, nodes, builder, err);
    const struct column_encoding *encoding = files->encoding.column_count ? &files->encoding : NULL;
    if (rc == ERROR_NONE)
        rc = push_labels(files, nodes, builder, err);
    if (rc == ERROR_NONE && files->features.path)
        rc = keyed_features_push(&files->features, &files->feature_ids, encoding, nodes, builder,
                                 err);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++)
        if (files->split[split].path)
            rc =
                node_files_push_split(&files->split[split], (enum split)split, nodes, builder, err);
    if (rc == ERROR_NONE)
        rc = push_marks(files, nodes, builder, err);
    if (rc == ERROR_NONE)
        rc = node_file_notes_add(files, nodes, builder, err);
    if (rc == ERROR_NONE)
        dataset_builder_take_encoding(builder, &files->encoding);
    return rc;
}
