#include "pipelines/draft/table_survey.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/column_encoding.h"
#include "common/formats/text/line_reader.h"
#include "common/formats/text/missing_words.h"

#include <inttypes.h>
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
    *survey = (struct table_survey){0};
}

static enum error_code copy_field(char **out, const struct field *field, struct error *err)
{
    const enum error_code rc = memory_new(out, field->size + 1, "a field of a table", err);
    if (rc == ERROR_NONE)
        memcpy(*out, field->text, field->size);
    return rc;
}

static bool is_text(const struct field *field, const char *text)
{
    const struct field other = {text, strlen(text)};
    return fields_are_equal(field, &other);
}

static enum error_code note_word(struct survey_column *column, const struct field *field,
                                 struct error *err)
{
    for (size_t i = 0; i < column->word_count; i++)
        if (is_text(field, column->word[i]))
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

/* Notes a word that people write for missing values. Returns false if there is no room for it. */
static bool note_gap(struct survey_column *column, const struct field *field)
{
    if (!missing_words_are_usual(field) || field->size >= SURVEY_GAP_SIZE)
        return false;
    for (size_t i = 0; i < column->gap_count; i++)
        if (is_text(field, column->gap[i])) {
            column->gaps++;
            return true;
        }
    if (column->gap_count == SURVEY_GAPS_MAX)
        return false;
    memcpy(column->gap[column->gap_count++], field->text, field->size);
    column->gaps++;
    return true;
}

/* Settles which words mean a missing value. In a column of words they are ordinary words. */
static enum error_code settle_gaps(struct survey_column *column, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (column->values > 0 && column->are_numbers)
        return ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < column->gap_count; i++) {
        const struct field word = {column->gap[i], strlen(column->gap[i])};
        column->are_numbers = column->are_integers = false;
        rc = note_word(column, &word, err);
    }
    column->values += column->gaps;
    column->gap_count = 0;
    column->gaps = 0;
    return rc;
}

static enum error_code note_field(struct survey_column *column, const struct field *field,
                                  bool decimal_comma, struct error *err)
{
    double value = 0.0;
    int64_t integer = 0;
    if (column_is_missing(field) || note_gap(column, field))
        return ERROR_NONE;
    const bool is_number = table_number(field, decimal_comma, &value);
    column->are_numbers &= is_number;
    column->are_integers &= text_int64(field->text, field->size, &integer);
    if (is_number) {
        column->least = column->values == 0 || value < column->least ? value : column->least;
        column->most = column->values == 0 || value > column->most ? value : column->most;
    }
    column->values++;
    return note_word(column, field, err);
}

/* Checks a name: settings list each column on one line. */
static enum error_code check_name(const struct field *name, size_t column, const char *path,
                                  int64_t line, struct error *err)
{
    if (!memchr(name->text, '\n', name->size) && !memchr(name->text, '\r', name->size))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected the name of column %zu on one line, found a line end "
                     "in it: " ADVICE "rename the column",
                     path, line, column + 1);
}

static enum error_code begin(struct table_survey *survey, const struct table_look *look,
                             const char *path, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    survey->column_count = look->column_count;
    for (size_t i = 0; rc == ERROR_NONE && i < look->column_count; i++) {
        const struct field *name = &look->column[i].name;
        survey->column[i].are_numbers = survey->column[i].are_integers = true;
        if (look->header_line && name->size)
            rc = check_name(name, i, path, look->header_line, err);
        if (rc == ERROR_NONE && look->header_line)
            rc = copy_field(&survey->column[i].name, name, err);
    }
    return rc;
}

static enum error_code take_row(struct table_survey *survey, const struct table_look *look,
                                const struct text_line *line, const char *path, struct error *err)
{
    struct field field[SURVEY_COLUMNS_MAX];
    const size_t count = delimited_split_line(line, look->delimiter, field, SURVEY_COLUMNS_MAX);
    enum error_code rc = ERROR_NONE;
    if (count != survey->column_count)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %zu columns, found %zu", path,
                         line->number, survey->column_count, count);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = note_field(&survey->column[i], &field[i], look->decimal_comma, err);
    survey->rows++;
    return rc;
}

enum error_code table_survey_read(const char *path, const struct table_look *look,
                                  struct table_survey *survey, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = begin(survey, look, path, err);
    if (rc == ERROR_NONE)
        rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && survey->rows < SURVEY_ROWS_MAX) {
        rc = delimited_read(reader, &look->delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!text_line_is_skipped(&line) && line.number != look->header_line)
            rc = take_row(survey, look, &line, path, err);
    }
    line_reader_close(reader);
    for (size_t i = 0; rc == ERROR_NONE && i < survey->column_count; i++)
        rc = settle_gaps(&survey->column[i], err);
    return rc;
}
