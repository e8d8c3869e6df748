#include "pipelines/table_survey.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/column_encoding.h"
#include "common/formats/line_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void release_words(char **word, size_t count)
{
    for (size_t i = 0; word && i < count; i++)
        memory_free(word[i]);
    memory_free(word);
}

void table_survey_release(struct table_survey *survey)
{
    for (size_t i = 0; i < survey->column_count; i++) {
        memory_free(survey->column[i].name);
        release_words(survey->column[i].word, survey->column[i].word_count);
    }
    release_words(survey->first, survey->column_count);
    *survey = (struct table_survey){0};
}

static enum error_code copy_field(char **out, const struct field *field, struct error *err)
{
    const enum error_code rc = memory_new(out, field->size + 1, "a field of a table", err);
    if (rc == ERROR_NONE)
        memcpy(*out, field->text, field->size);
    return rc;
}

static enum error_code note_word(struct survey_column *column, const struct field *field,
                                 struct error *err)
{
    for (size_t i = 0; i < column->word_count; i++)
        if (strlen(column->word[i]) == field->size &&
            memcmp(column->word[i], field->text, field->size) == 0)
            return ERROR_NONE;
    if (column->word_count == SURVEY_WORDS_MAX)
        return ERROR_NONE;
    enum error_code rc = ERROR_NONE;
    if (!column->word)
        rc = memory_new(&column->word, SURVEY_WORDS_MAX, "words of a column", err);
    if (rc == ERROR_NONE)
        rc = copy_field(&column->word[column->word_count], field, err);
    column->word_count += rc == ERROR_NONE;
    return rc;
}

static enum error_code note_field(struct survey_column *column, const struct field *field,
                                  struct error *err)
{
    double value = 0.0;
    int64_t integer = 0;
    if (column_is_missing(field))
        return ERROR_NONE;
    const bool is_number = text_double(field->text, field->size, &value) && isfinite(value);
    column->are_numbers &= is_number;
    column->are_integers &= text_int64(field->text, field->size, &integer);
    if (is_number) {
        column->least = column->values == 0 || value < column->least ? value : column->least;
        column->most = column->values == 0 || value > column->most ? value : column->most;
    }
    column->values++;
    return note_word(column, field, err);
}

static enum error_code take_first(struct table_survey *survey, const struct text_line *line,
                                  const struct field *field, size_t count, const char *path,
                                  struct error *err)
{
    double value = 0.0;
    if (count < 2 || count > SURVEY_COLUMNS_MAX)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected 2 to %d columns, found %zu",
                         path, line->number, SURVEY_COLUMNS_MAX, count);
    enum error_code rc = memory_new(&survey->first, count, "the first line of a table", err);
    survey->column_count = count;
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        survey->column[i].are_numbers = survey->column[i].are_integers = true;
        survey->column[i].first_is_number = text_double(field[i].text, field[i].size, &value);
        rc = copy_field(&survey->first[i], &field[i], err);
    }
    return rc;
}

static bool heads_ids(const char *word)
{
    static const char *const words[] = {"id",   "node", "node_id", "nodeid", "user",   "user_id",
                                        "name", "src",  "source",  "from",   "dst",    "target",
                                        "to",   "u",    "v",       "index",  "vertex", NULL};
    const struct field field = {word, strlen(word)};
    for (const char *const *w = words; *w; w++)
        if (field_is(&field, *w))
            return true;
    return false;
}

/* Settings name columns, each in a line. */
static enum error_code check_name(const struct table_survey *survey, size_t column,
                                  const char *path, int64_t line, struct error *err)
{
    const char *name = survey->first[column];
    if (!name[strcspn(name, "\n\r")])
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected the name of column %zu on one line, found a line end "
                     "in it: rename the column",
                     path, line, column + 1);
}

static enum error_code settle_header(struct table_survey *survey, const char *path, int64_t line,
                                     struct error *err)
{
    must(survey->first);
    bool differs = heads_ids(survey->first[0]) || heads_ids(survey->first[1]);
    for (size_t i = 0; i < survey->column_count; i++) {
        const struct survey_column *column = &survey->column[i];
        differs |= column->values && column->are_numbers && !column->first_is_number &&
                   survey->first[i][0];
    }
    survey->has_header = differs;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < survey->column_count; i++) {
        const struct field field = {survey->first[i], strlen(survey->first[i])};
        rc = differs ? check_name(survey, i, path, line, err) : ERROR_NONE;
        if (rc != ERROR_NONE)
            break;
        rc = differs ? copy_field(&survey->column[i].name, &field, err)
                     : note_field(&survey->column[i], &field, err);
    }
    survey->rows += !differs;
    return rc;
}

enum error_code table_survey_read(const char *path, struct table_survey *survey, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct field field[SURVEY_COLUMNS_MAX];
    enum delimiter delimiter = DELIMITER_COMMA;
    int64_t first_line = 0;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && survey->rows < SURVEY_ROWS_MAX) {
        rc = delimited_read(reader, survey->first ? &delimiter : NULL, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (text_line_is_skipped(&line))
            continue;
        if (!survey->first)
            delimiter = delimited_guess(line.text, line.size);
        const size_t count = delimited_split_line(&line, delimiter, field, SURVEY_COLUMNS_MAX);
        if (!survey->first) {
            first_line = line.number;
            rc = take_first(survey, &line, field, count, path, err);
            continue;
        }
        if (count != survey->column_count)
            rc = error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %zu columns, found %zu",
                           path, line.number, survey->column_count, count);
        for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
            rc = note_field(&survey->column[i], &field[i], err);
        survey->rows++;
    }
    survey->is_whole = !found;
    line_reader_close(reader);
    if (rc == ERROR_NONE && !survey->first)
        rc = error_set(err, ERROR_INPUT, "%s: expected rows, found none", path);
    return rc == ERROR_NONE ? settle_header(survey, path, first_line, err) : rc;
}
