#include "stages/ingest/formats/columns/table_encoding.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/missing_words.h"
#include "stages/ingest/build/nodes/node_id_assigner.h"
#include "stages/plan/settings/named_entries.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENCODING_FILE_MAX = 64 << 20 };

static bool is_npy(const char *path)
{
    const size_t size = strlen(path);
    return size >= 4 && strcmp(path + size - 4, ".npy") == 0;
}

bool table_encoding_is_wanted(const struct pipeline_settings *settings)
{
    return settings->ingest.features.path[0] && !is_npy(settings->ingest.features.path) &&
           (settings->ingest.feature_columns[0] ||
            settings->ingest.missing_values != MISSING_VALUE_REFUSE);
}

/* --- words --- */

/* Distinct words, stored like ids that are strings. */
static int compare_words(const void *a, const void *b)
{
    const struct field *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* Sorts the words. Owns: *out [words->count], in ascending order; borrows from `words`. */
static enum error_code sort_words(struct node_id_assigner *words, struct field **out,
                                  struct error *err)
{
    node_id_assigner_finish(words);
    const struct node_ids ids = node_id_assigner_view(words);
    const enum error_code rc = memory_new(out, words->count + 1, "words of a column", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < words->count; i++)
        (*out)[i] =
            (struct field){ids.text + ids.offset[i], (size_t)(ids.offset[i + 1] - ids.offset[i])};
    if (rc == ERROR_NONE)
        qsort(*out, (size_t)words->count, sizeof **out, compare_words);
    return rc;
}

static enum error_code note_word(struct node_id_assigner *words, const struct field *field,
                                 uint64_t most, const char *path, int64_t line, struct error *err)
{
    char shown[41];
    if (memchr(field->text, '\t', field->size) || memchr(field->text, '\n', field->size) ||
        memchr(field->text, '\r', field->size)) {
        (void)snprintf(shown, sizeof shown, "%.*s", field->size < 40 ? (int)field->size : 40,
                       field->text);
        for (char *at = shown; *at; at++)
            *at = (char)((unsigned char)*at < ' ' ? ' ' : *at);
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a word without tab or line end, found '%s' with "
                         "one: " ADVICE "write it in one line, or leave the column out",
                         path, line, shown);
    }
    const enum error_code rc = node_id_assigner_add_text(words, field->text, field->size, err);
    if (rc != ERROR_NONE || words->count <= most)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected at most %" PRIu64
                     " different words in a column, found "
                     "more: are these ids?",
                     path, line, most);
}

/* --- classes --- */

enum { USUAL_MAX = 8, USUAL_SIZE = 16 };

struct usual { /* a usual word for missing values that is among the classes */
    char text[USUAL_SIZE];
    uint64_t lines;
};

struct class_search {
    struct keyed_file *file;
    struct node_id_assigner words;
    bool has_several; /* several label columns, which are numbers */
    uint64_t word_lines, number_lines, nan_lines;
    int64_t first_word, first_number; /* the first line with a word, with a number */
    char word[41], number[41];        /* the first word and the first number */
    struct usual usual[USUAL_MAX];
    size_t usual_count;
    uint64_t missing_cells;
};

static void note_usual(struct class_search *search, const struct field *field)
{
    if (!missing_words_are_usual(field) || field->size >= USUAL_SIZE)
        return;
    for (size_t i = 0; i < search->usual_count; i++)
        if (strlen(search->usual[i].text) == field->size &&
            memcmp(search->usual[i].text, field->text, field->size) == 0) {
            search->usual[i].lines++;
            return;
        }
    if (search->usual_count == USUAL_MAX)
        return;
    struct usual *usual = &search->usual[search->usual_count++];
    memcpy(usual->text, field->text, field->size);
    usual->lines = 1;
}

static void note_first(const struct field *field, int64_t line, uint64_t before, int64_t *first,
                       char text[41])
{
    if (before > 0)
        return;
    *first = line;
    (void)snprintf(text, 41, "%.*s", field->size < 40 ? (int)field->size : 40, field->text);
}

/* Notes a class. `nan` is a number if the classes are numbers, and a word if they are words. */
static enum error_code note_class(void *context, const struct field *id, struct delimited *values,
                                  int64_t line, struct error *err)
{
    struct class_search *search = context;
    struct field field = {0};
    double value = 0.0;
    (void)id;
    if (search->has_several || !delimited_next(values, &field))
        return ERROR_NONE;
    search->has_several = !values->is_done;
    if (search->has_several || field.size == 0 || field_is(&field, "-1"))
        return ERROR_NONE;
    const bool is_number = text_double(field.text, field.size, &value);
    if (is_number && isfinite(value)) {
        note_first(&field, line, search->number_lines++, &search->first_number, search->number);
        return ERROR_NONE;
    }
    note_usual(search, &field);
    search->nan_lines += is_number;
    if (!is_number)
        note_first(&field, line, search->word_lines++, &search->first_word, search->word);
    return note_word(&search->words, &field, COLUMN_CLASSES_MAX, search->file->path, line, err);
}

/* Refuses words and numbers in one column: either the words mean that a class is unknown, or one of
 * the two is a slip. */
static enum error_code refuse_mixed(const struct class_search *search, struct error *err)
{
    const struct field word = {search->word, strlen(search->word)};
    if (search->words.count == 1 || missing_words_are_usual(&word))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": label: expected a number, as in line %" PRId64
                         ", found '%s': " ADVICE
                         "if this word says that the class is not known, add a line "
                         "`missing_words: %s` below `ingest:`",
                         search->file->path, search->first_word, search->first_number, search->word,
                         search->word);
    if (search->word_lines >= search->number_lines)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": label: expected a word, as in line %" PRId64
                         ", found the number %s: classes are words, or numbers 0, 1, 2, ...",
                         search->file->path, search->first_number, search->first_word,
                         search->number);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": label: expected a number, as in line %" PRId64
                     ", found '%s': classes are words, or numbers 0, 1, 2, ...",
                     search->file->path, search->first_word, search->first_number, search->word);
}

/* Notes which usual words for missing values became classes, and which mean no class. */
static enum error_code say_missing(const struct class_search *search, bool are_words,
                                   struct dataset_builder *builder, struct error *err)
{
    const char *path = keyed_file_title(search->file), *listed = search->file->missing_words;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && are_words && i < search->usual_count; i++)
        rc = dataset_builder_note(builder, NOTE_UNDERSTOOD, err,
                                  "%s: the word %s is a class, in %" PRIu64
                                  " lines; if it says that the class is not known, add a line "
                                  "`missing_words: %s` below `ingest:`",
                                  path, search->usual[i].text, search->usual[i].lines,
                                  search->usual[i].text);
    if (rc == ERROR_NONE && !are_words && search->nan_lines)
        rc = dataset_builder_note(
            builder, NOTE_UNDERSTOOD, err,
            "%s: %" PRIu64 " lines have nan instead of a class, so that the class is unknown", path,
            search->nan_lines);
    if (rc == ERROR_NONE && listed && listed[0])
        rc = dataset_builder_note(builder, search->missing_cells ? NOTE_UNDERSTOOD : NOTE_WARNING,
                                  err,
                                  "%s: cells of labels that are in missing_words (%s), so that the "
                                  "class is unknown: %" PRIu64,
                                  path, listed, search->missing_cells);
    return rc;
}

/* Adds the words as classes, in ascending order. */
static enum error_code add_classes(struct class_search *search, struct column_encoding *out,
                                   struct error *err)
{
    struct field *word = NULL;
    enum error_code rc = sort_words(&search->words, &word, err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < search->words.count; i++) {
        rc = column_encoding_add_class(out, word[i].text, word[i].size, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s: a class", search->file->path);
    }
    memory_free(word);
    return rc;
}

enum error_code table_encoding_find_classes(struct keyed_file *labels,
                                            const struct named_nodes *nodes, enum task_kind task,
                                            struct dataset_builder *builder,
                                            struct column_encoding *out, struct error *err)
{
    struct class_search search = {.file = labels};
    if (!labels->path || (task != TASK_UNKNOWN && !task_has_classes(task, TASK_LABELS_NODES)))
        return ERROR_NONE;
    node_id_assigner_init(&search.words, true, 0);
    enum error_code rc = keyed_file_visit(labels, nodes, note_class, &search, err);
    search.missing_cells = labels->missing_cells;
    const bool are_words = search.word_lines > 0 && !search.has_several;
    if (rc == ERROR_NONE && are_words && search.number_lines > 0)
        rc = refuse_mixed(&search, err);
    if (rc == ERROR_NONE && are_words)
        rc = add_classes(&search, out, err);
    if (rc == ERROR_NONE)
        rc = say_missing(&search, are_words, builder, err);
    node_id_assigner_release(&search.words);
    return rc;
}

/* --- columns of features --- */

static bool is_word(const char *word, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(word, name, size) == 0;
}

/* Takes one word after a column's name. */
static enum error_code take_word(struct column_code *column, const char *word, size_t size,
                                 struct error *err)
{
    double edge = 0.0;
    for (int kind = 0; kind < COLUMN_KIND_COUNT; kind++)
        if (is_word(word, size, column_kind_names[kind])) {
            column->kind = (enum column_kind)kind;
            return ERROR_NONE;
        }
    for (int missing = 0; missing < MISSING_VALUE_COUNT; missing++)
        if (is_word(word, size, missing_value_names[missing])) {
            column->missing = (enum missing_value)missing;
            return ERROR_NONE;
        }
    if (column->kind == COLUMN_BUCKETS && text_double(word, size, &edge) && isfinite(edge))
        return column_code_add_edge(column, edge, err);
    return error_set(err, ERROR_INVALID,
                     "column %.60s: found '%.*s', expected number, log, standardise, one_hot or "
                     "buckets with bounds, and refuse, zero, mean or indicator",
                     column->name, named_entry_shown(size), word);
}

static enum error_code add_entry(struct column_encoding *out, const struct named_entry *entry,
                                 enum missing_value missing, struct error *err)
{
    const bool has_name = entry->name_size > 0;
    const char *at = entry->value, *word = NULL;
    size_t left = has_name ? entry->value_size : 0, size = 0;
    struct column_code *column = NULL;
    enum error_code rc =
        column_encoding_add_column(out, has_name ? entry->name : entry->text,
                                   has_name ? entry->name_size : entry->size, &column, err);
    if (rc == ERROR_NONE)
        column->missing = missing;
    while (rc == ERROR_NONE && named_entry_word(&at, &left, ' ', &word, &size))
        if (size)
            rc = take_word(column, word, size, err);
    if (rc == ERROR_NONE && column->kind == COLUMN_BUCKETS && column->count == 0)
        rc = error_set(err, ERROR_INVALID,
                       "column %.60s: expected bounds after buckets, found none", column->name);
    return rc;
}

struct measure {          /* statistics of one column */
    double mean, squares; /* by the method of Welford 1962 */
    uint64_t count;
    struct node_id_assigner words;
};

struct column_search {
    struct keyed_file *file;
    const struct pipeline_settings *settings;
    struct column_encoding *out;
    struct measure *measure; /* [column_count]; NULL before the first row */
};

/* Takes all columns as numbers, when none is named. */
static enum error_code take_all(struct column_search *search, struct delimited values,
                                struct error *err)
{
    struct field field;
    char number[24];
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && delimited_next(&values, &field); i++) {
        struct column_code *column = NULL;
        const struct field name = keyed_file_column(search->file, i, number);
        rc = column_encoding_add_column(search->out, name.text, name.size, &column, err);
        if (rc == ERROR_NONE)
            column->missing = (enum missing_value)search->settings->ingest.missing_values;
    }
    return rc;
}

static enum error_code begin(struct column_search *search, const struct delimited *values,
                             struct error *err)
{
    enum error_code rc = search->out->column_count ? ERROR_NONE : take_all(search, *values, err);
    if (rc == ERROR_NONE)
        rc =
            memory_new(&search->measure, search->out->column_count + 1, "measures of columns", err);
    for (size_t i = 0; rc == ERROR_NONE && i < search->out->column_count; i++)
        node_id_assigner_init(&search->measure[i].words, true, 0);
    return rc;
}

static enum error_code measure_field(struct column_search *search, size_t i,
                                     const struct field *field, int64_t line, struct error *err)
{
    struct measure *measure = &search->measure[i];
    double value = 0.0;
    if (column_is_missing(field))
        return ERROR_NONE;
    if (search->out->column[i].kind == COLUMN_ONE_HOT)
        return note_word(&measure->words, field, COLUMN_VALUES_MAX, search->file->path, line, err);
    /* reading the row will report it with its line */
    if (!text_double(field->text, field->size, &value) || !isfinite(value))
        return ERROR_NONE;
    const double distance = value - measure->mean;
    measure->mean += distance / (double)++measure->count;
    measure->squares += distance * (value - measure->mean);
    return ERROR_NONE;
}

static enum error_code measure_row(void *context, const struct field *id, struct delimited *values,
                                   int64_t line, struct error *err)
{
    struct column_search *search = context;
    struct field field;
    size_t i = 0;
    enum error_code rc = search->measure ? ERROR_NONE : begin(search, values, err);
    (void)id;
    for (; rc == ERROR_NONE && i < search->out->column_count && delimited_next(values, &field); i++)
        rc = measure_field(search, i, &field, line, err);
    if (rc == ERROR_NONE && (i < search->out->column_count || !values->is_done))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %zu feature columns, found %s" ADVISE_COLUMNS,
                       search->file->path, line, search->out->column_count,
                       values->is_done ? "fewer" : "more");
    return rc;
}

static enum error_code settle_column(struct column_search *search, size_t i, struct error *err)
{
    struct column_code *column = &search->out->column[i];
    struct measure *measure = &search->measure[i];
    struct field *word = NULL;
    const char *path = search->file->path;
    enum error_code rc = ERROR_NONE;
    column->mean = measure->mean;
    column->fill = column->missing == MISSING_VALUE_MEAN ? measure->mean : 0.0;
    column->deviation = measure->count && measure->squares > 0.0
                            ? sqrt(measure->squares / (double)measure->count)
                            : 0.0;
    if (column->kind != COLUMN_ONE_HOT && column->missing == MISSING_VALUE_MEAN && !measure->count)
        return error_set(
            err, ERROR_INPUT,
            "%s: column %.60s: expected numbers to take the mean of, found none: " ADVICE "leave "
            "the column out of ingest.feature_columns, or write `zero`",
            path, column->name);
    if (column->kind != COLUMN_ONE_HOT)
        return ERROR_NONE;
    if (measure->words.count == 0)
        return error_set(err, ERROR_INPUT, "%s: column %.60s: expected words, found none", path,
                         column->name);
    rc = sort_words(&measure->words, &word, err);
    for (uint64_t k = 0; rc == ERROR_NONE && k < measure->words.count; k++)
        rc = column_code_add_word(column, word[k].text, word[k].size, err);
    memory_free(word);
    return rc;
}

enum error_code table_encoding_find_columns(struct keyed_file *features,
                                            const struct named_nodes *nodes,
                                            const struct pipeline_settings *settings,
                                            struct column_encoding *out, struct error *err)
{
    struct column_search search = {.file = features, .settings = settings, .out = out};
    const char *text = settings->ingest.feature_columns;
    struct named_entry entry;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && named_entry_next(&text, &entry))
        if (entry.size)
            rc = add_entry(out, &entry, (enum missing_value)settings->ingest.missing_values, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "ingest.feature_columns");
    rc = keyed_file_visit(features, nodes, measure_row, &search, err);
    if (rc == ERROR_NONE && !search.measure)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line a node, found none", features->path);
    for (size_t i = 0; rc == ERROR_NONE && i < out->column_count; i++)
        rc = settle_column(&search, i, err);
    for (size_t i = 0; search.measure && i < out->column_count; i++)
        node_id_assigner_release(&search.measure[i].words);
    memory_free(search.measure);
    return rc;
}

/* --- encoding from a file --- */

enum error_code table_encoding_read(const char *path, struct column_encoding *out,
                                    struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = file_read(path, ENCODING_FILE_MAX, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = column_encoding_parse(out, text, size, path, err);
    memory_free(text);
    return rc;
}

enum error_code table_encoding_names(const struct column_encoding *encoding, char **out,
                                     struct error *err)
{
    struct json_writer text = {0};
    for (size_t i = 0; i < encoding->column_count; i++) {
        json_put_raw(&text, encoding->column[i].name);
        json_put_raw(&text, ": ;"); /* the last colon ends a name, because a name may have colons */
    }
    const enum error_code rc = json_writer_finish(&text, err);
    *out = text.text;
    return rc;
}
