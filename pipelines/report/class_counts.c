#include "pipelines/report/class_counts.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FIELD_MAX = 16, NO_COLUMN = FIELD_MAX };

/* The positions of the columns. */
struct columns {
    size_t split, label, prediction, count;
};

/* Counts of the two splits of which one may be shown. */
struct tally {
    struct columns columns;
    double *test, *valid; /* [classes, classes] */
    double test_nodes, valid_nodes;
    uint32_t classes;
    const struct column_encoding *words;
};

static bool find_columns(const struct text_line *header, struct columns *out)
{
    struct field field[FIELD_MAX];
    *out = (struct columns){NO_COLUMN, NO_COLUMN, NO_COLUMN, 0};
    out->count = delimited_split_line(header, DELIMITER_COMMA, field, FIELD_MAX);
    for (size_t i = 0; i < out->count && i < FIELD_MAX; i++) {
        out->split = field_is(&field[i], "split") ? i : out->split;
        out->label = field_is(&field[i], "label") ? i : out->label;
        out->prediction = field_is(&field[i], "prediction") ? i : out->prediction;
    }
    return out->split < NO_COLUMN && out->label < NO_COLUMN && out->prediction < NO_COLUMN;
}

static bool class_of(const struct field *field, const struct tally *tally, uint32_t *out)
{
    int64_t value = -1;
    if (tally->words->class_count)
        value = column_encoding_class(tally->words, field);
    else if (!text_int64(field->text, field->size, &value))
        value = -1;
    const bool is_class = value >= 0 && value < tally->classes;
    *out = is_class ? (uint32_t)value : 0;
    return is_class;
}

static enum error_code add_line(struct tally *tally, const struct text_line *line, const char *path,
                                struct error *err)
{
    struct field field[FIELD_MAX];
    uint32_t label, prediction;
    const size_t count = delimited_split_line(line, DELIMITER_COMMA, field, FIELD_MAX);
    if (count != tally->columns.count)
        return error_set(err, ERROR_INPUT, "%s: line %" PRId64 ": expected %zu fields, found %zu",
                         path, line->number, tally->columns.count, count);
    const bool is_test = field_is(&field[tally->columns.split], "test");
    if (!is_test && !field_is(&field[tally->columns.split], "valid"))
        return ERROR_NONE;
    if (field[tally->columns.label].size == 0)
        return ERROR_NONE;
    if (!class_of(&field[tally->columns.label], tally, &label) ||
        !class_of(&field[tally->columns.prediction], tally, &prediction))
        return error_set(err, ERROR_INPUT,
                         "%s: line %" PRId64 ": label and prediction are not among %" PRIu32
                         " classes",
                         path, line->number, tally->classes);
    (is_test ? tally->test : tally->valid)[(size_t)label * tally->classes + prediction]++;
    *(is_test ? &tally->test_nodes : &tally->valid_nodes) += 1.0;
    return ERROR_NONE;
}

static enum error_code read_lines(struct line_reader *reader, struct tally *tally,
                                  struct error *err)
{
    struct text_line line;
    bool found = false;
    enum error_code rc = line_reader_next(reader, &line, &found, err);
    if (rc != ERROR_NONE || !found || !find_columns(&line, &tally->columns))
        return rc;
    while (rc == ERROR_NONE && found) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc == ERROR_NONE && found)
            rc = add_line(tally, &line, line_reader_name(reader), err);
    }
    return rc;
}

/* Chooses a split, and moves its counts to the caller. */
static void choose_split(struct tally *tally, struct class_counts *out)
{
    const bool is_test = tally->test_nodes > 0.0;
    if (!is_test && tally->valid_nodes <= 0.0)
        return;
    must(text_copy(out->split, sizeof out->split, is_test ? "test" : "valid"));
    out->classes = tally->classes;
    out->nodes = is_test ? tally->test_nodes : tally->valid_nodes;
    out->count = is_test ? tally->test : tally->valid;
    *(is_test ? &tally->test : &tally->valid) = NULL;
}

enum error_code class_counts_read(const char *path, uint32_t classes,
                                  const struct column_encoding *words, struct class_counts *out,
                                  struct error *err)
{
    struct tally tally = {.classes = classes, .words = words};
    struct line_reader *reader = NULL;
    const size_t cells = (size_t)classes * classes;
    *out = (struct class_counts){0};
    if (classes == 0 || classes > CLASS_COUNT_MAX)
        return ERROR_NONE;
    enum error_code rc = line_reader_open(path, &reader, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&tally.test, cells, "a confusion matrix", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&tally.valid, cells, "a confusion matrix", err);
    if (rc == ERROR_NONE)
        rc = read_lines(reader, &tally, err);
    if (rc == ERROR_NONE)
        choose_split(&tally, out);
    line_reader_close(reader);
    memory_free(tally.test);
    memory_free(tally.valid);
    return rc;
}

struct class_score class_counts_score(const struct class_counts *counts, uint32_t class_number)
{
    struct class_score score = {0};
    for (uint32_t i = 0; i < counts->classes; i++) {
        score.support += counts->count[(size_t)class_number * counts->classes + i];
        score.predicted += counts->count[(size_t)i * counts->classes + class_number];
    }
    const double hit = counts->count[(size_t)class_number * counts->classes + class_number];
    score.precision = score.predicted > 0.0 ? hit / score.predicted : (double)NAN;
    score.recall = score.support > 0.0 ? hit / score.support : (double)NAN;
    score.f1 = score.support + score.predicted > 0.0 ? 2.0 * hit / (score.support + score.predicted)
                                                     : (double)NAN;
    return score;
}

void class_counts_release(struct class_counts *counts)
{
    memory_free(counts->count);
    *counts = (struct class_counts){0};
}
