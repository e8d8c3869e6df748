#include "stages/ingest/formats/columns/node_file_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_NAMES = 6, NAME_SHOWN = 40, LINE_SIZE = 768 };

struct line { /* the text of a note */
    char text[LINE_SIZE];
    size_t at;
};

PRINTF_LIKE(2, 3)
static void put(struct line *line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(line->text + line->at, LINE_SIZE - line->at, format, values);
    va_end(values);
    if (size > 0)
        line->at += (size_t)size < LINE_SIZE - line->at ? (size_t)size : LINE_SIZE - line->at - 1;
}

/* ---- columns
 * ------------------------------------------------------------------------------------ */

static void put_name(struct line *line, const struct keyed_file *file, size_t column)
{
    const struct field name = keyed_file_name(file, column);
    if (name.size)
        put(line, "%.*s", name.size < NAME_SHOWN ? (int)name.size : NAME_SHOWN, name.text);
    else
        put(line, "column %zu", column + 1);
}

/* Returns whether a reader of the table uses the column. */
static bool takes(const struct keyed_file *file, size_t column)
{
    if (!file->is_known || column == file->id_field)
        return false;
    for (size_t i = 0; file->pick && i < file->pick_count; i++)
        if (file->pick[i] == column)
            return true;
    return !file->pick;
}

typedef bool (*column_test)(const struct node_files *files, const struct keyed_file *table,
                            size_t column);

static bool is_same_table(const struct keyed_file *a, const struct keyed_file *b)
{
    return a->path && b->path && a->is_known && b->is_known && strcmp(a->path, b->path) == 0;
}

static bool is_label(const struct node_files *files, const struct keyed_file *table, size_t column)
{
    return is_same_table(&files->labels, table) && takes(&files->labels, column);
}

static bool is_feature(const struct node_files *files, const struct keyed_file *table,
                       size_t column)
{
    return is_same_table(&files->features, table) && takes(&files->features, column);
}

static bool is_mark(const struct node_files *files, const struct keyed_file *table, size_t column)
{
    return is_same_table(&files->marks, table) && takes(&files->marks, column);
}

static bool is_unused(const struct node_files *files, const struct keyed_file *table, size_t column)
{
    return column != table->id_field && !is_label(files, table, column) &&
           !is_feature(files, table, column) && !is_mark(files, table, column);
}

static size_t count_columns(const struct node_files *files, const struct keyed_file *table,
                            column_test test)
{
    size_t count = 0;
    for (size_t i = 0; i < table->field_count; i++)
        count += test(files, table, i);
    return count;
}

/* Writes "a, b and c", or "1433 columns from a to z". */
static void put_columns(struct line *line, const struct node_files *files,
                        const struct keyed_file *table, column_test test, size_t count)
{
    size_t seen = 0;
    if (count > SHOWN_NAMES)
        put(line, "%zu columns from ", count);
    for (size_t i = 0; i < table->field_count; i++) {
        if (!test(files, table, i))
            continue;
        seen++;
        if (count > SHOWN_NAMES && seen > 1 && seen < count)
            continue;
        if (seen > 1)
            put(line, "%s", count > SHOWN_NAMES ? " to " : seen == count ? " and " : ", ");
        put_name(line, table, i);
    }
}

static void put_role(struct line *line, const struct node_files *files,
                     const struct keyed_file *table, column_test test, const char *one,
                     const char *several)
{
    const size_t count = count_columns(files, table, test);
    if (count == 0)
        return;
    put(line, ", ");
    put_columns(line, files, table, test, count);
    put(line, " %s", count == 1 ? one : several);
}

static enum error_code say_columns(const struct node_files *files, const struct keyed_file *table,
                                   struct dataset_builder *builder, struct error *err)
{
    struct line line = {.at = 0};
    put_name(&line, table, table->id_field);
    put(&line, " is the id");
    put_role(&line, files, table, is_label, "the label", "labels");
    put_role(&line, files, table, is_feature, "a feature", "features");
    const bool by_time = files->shares.kind == SPLIT_IS_TIME;
    put_role(&line, files, table, is_mark, by_time ? "the time of the split" : "the split",
             "the splits");
    const size_t unused = count_columns(files, table, is_unused);
    if (unused) {
        put(&line, "; ");
        put_columns(&line, files, table, is_unused, unused);
        put(&line, unused == 1 ? " is not used" : " are not used");
    }
    if (table->header_is_guess)
        put(&line, "; the first line was taken for a header, since its first word is no node, "
                   "though all others are");
    return dataset_builder_note(builder, NOTE_UNDERSTOOD, err, "%s: %s", keyed_file_title(table),
                                line.text);
}

/* ---- ids
 * ---------------------------------------------------------------------------------------- */

static enum error_code say_strangers(const struct node_file_ids *ids, const struct keyed_file *file,
                                     const struct named_nodes *nodes,
                                     struct dataset_builder *builder, struct error *err)
{
    char text[NODE_ID_TEXT_SIZE];
    if (ids->strangers * 2 <= ids->lines)
        return ERROR_NONE;
    return dataset_builder_note(
        builder, NOTE_WARNING, err,
        "%s: %" PRIu64 " of %" PRIu64 " lines name nodes that no edge has, the first of them %s in "
        "line %" PRId64 "; ids of edges look like %s: if the same nodes are meant, write their ids "
        "in the same way",
        keyed_file_title(file), ids->strangers, ids->lines, ids->stranger, ids->first_stranger,
        named_nodes_text(nodes, 0, text));
}

enum error_code node_file_notes_add(const struct node_files *files, const struct named_nodes *nodes,
                                    struct dataset_builder *builder, struct error *err)
{
    const struct keyed_file *labels = &files->labels, *features = &files->features;
    enum error_code rc = ERROR_NONE;
    if (labels->path && labels->is_known)
        rc = say_columns(files, labels, builder, err);
    if (rc == ERROR_NONE && features->path && features->is_known &&
        !is_same_table(labels, features))
        rc = say_columns(files, features, builder, err);
    if (rc == ERROR_NONE && labels->path)
        rc = say_strangers(&files->label_ids, labels, nodes, builder, err);
    if (rc == ERROR_NONE && features->path)
        rc = say_strangers(&files->feature_file_ids, features, nodes, builder, err);
    return rc;
}

/* ---- labels
 * ------------------------------------------------------------------------------------- */

/* Returns the likeliest label column: one with a usual name, or else the last. */
static size_t likeliest_label(const struct keyed_file *labels)
{
    static const char *const words[] = {"class",    "label", ":LABEL", "target",
                                        "category", "y",     NULL};
    for (size_t i = 0; i < labels->field_count; i++) {
        const struct field name = keyed_file_name(labels, i);
        for (const char *const *word = words; *word; word++)
            if (i != labels->id_field && field_is(&name, *word))
                return i;
    }
    return labels->field_count - 1;
}

static bool are_numbers(const struct keyed_file *labels)
{
    for (size_t i = 0; i < labels->look.judged; i++)
        if (i != labels->id_field && labels->look.column[i].values &&
            !labels->look.column[i].are_numbers)
            return false;
    return true;
}

enum error_code node_file_notes_check_labels(const struct keyed_file *labels, uint64_t count,
                                             struct error *err)
{
    struct line line = {.at = 0};
    const bool says_which = labels->choice.take && labels->choice.take[0];
    if (count < 2 || !labels->may_choose || says_which || are_numbers(labels))
        return ERROR_NONE;
    if (labels->header)
        put_name(&line, labels, likeliest_label(labels));
    else
        put(&line, "NAME");
    return error_set(
        err, ERROR_INPUT,
        "%s:%" PRId64 ": expected one column after the id, or several of numbers, found %" PRIu64
        " with words among them: " ADVICE "add a line `label_columns: %s` below `ingest:`%s",
        labels->path, labels->header_line ? labels->header_line : 1, count, line.text,
        labels->header ? "" : " and give the table a header");
}
