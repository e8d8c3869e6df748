#include "stages/tables/edge_list_survey.h"

#include "common/formats/text/line_reader.h"
#include "stages/tables/edge_columns_setting.h"

#include <inttypes.h>
#include <string.h>

void edge_list_survey_release(struct edge_list_survey *survey)
{
    table_look_release(&survey->look);
    *survey = (struct edge_list_survey){.of_strings = false};
}

/* ---- comments -------------------------------------------------------------------------------- */

struct comments {
    enum stated_direction stated;
    const char *words; /* the words of the comment; NULL: none */
    bool is_konect, has_sides;
};

/* Returns whether the line begins with the words, which for KONECT must be whole words. */
static bool begins(const struct text_line *line, const char *words)
{
    const size_t size = strlen(words);
    return line->size >= size && memcmp(line->text, words, size) == 0 &&
           (words[1] == '%' || *words == '#' || (line->size > size && line->text[size] == ' '));
}

static enum error_code take_comment(struct comments *comments, const struct text_line *line,
                                    const char *where, struct error *err)
{
    static const struct {
        const char *words;
        enum stated_direction stated;
        bool has_sides;
    } known[] = {{"# Undirected graph", STATED_UNDIRECTED, false},
                 {"# Directed graph", STATED_DIRECTED, false},
                 {"% sym", STATED_UNDIRECTED, false},
                 {"% asym", STATED_DIRECTED, false},
                 {"% bip", STATED_DIRECTED, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!begins(line, known[i].words))
            continue;
        comments->stated = known[i].stated;
        comments->words = known[i].words;
        comments->is_konect |= *known[i].words == '%';
        comments->has_sides |= known[i].has_sides;
    }
    if (begins(line, "%%MatrixMarket"))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": expected an edge list, found a Matrix Market file: " ADVICE "write "
                         "`format: matrix_market` below `ingest:`",
                         where, line->number);
    return ERROR_NONE;
}

/* Reads the comments above the first row. */
static enum error_code read_comments(const struct edge_survey_request *request,
                                     struct comments *comments, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc =
        line_reader_open_input(request->path, request->data, request->size, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found || !text_line_is_skipped(&line))
            break;
        rc = take_comment(comments, &line, request->path, err);
    }
    line_reader_close(reader);
    return rc;
}

/* Returns the columns of KONECT's files as the setting would name them. */
static const char *konect_columns(const struct comments *comments, size_t count)
{
    static const char *const plain[] = {"source: 1; target: 2", "source: 1; target: 2; weight: 3",
                                        "source: 1; target: 2; weight: 3; time: 4"};
    static const char *const sides[] = {"source: left:1; target: right:2",
                                        "source: left:1; target: right:2; weight: 3",
                                        "source: left:1; target: right:2; weight: 3; time: 4"};
    const size_t at = count > 4 ? 2 : count - 2;
    return comments->has_sides ? sides[at] : plain[at];
}

/* ---- columns --------------------------------------------------------------------------------- */

static const char *columns_of(const struct edge_survey_request *request)
{
    const char *settings = request->settings ? request->settings->ingest.edge_columns : "";
    return request->columns ? request->columns : settings;
}

static enum error_code find_roles(const struct edge_survey_request *request,
                                  const struct comments *comments, struct edge_list_survey *out,
                                  struct error *err)
{
    const struct pipeline_settings *settings = request->settings;
    const char *columns = columns_of(request);
    const bool is_konect = comments->is_konect && !columns[0] && !out->look.header_line;
    const struct edge_roles_request roles = {
        .look = &out->look,
        .where = request->path,
        .columns = is_konect ? konect_columns(comments, out->look.column_count) : columns,
        .label = settings ? pipeline_edge_label(settings) : NULL,
        .features = request->features};
    const enum error_code rc = edge_roles_find(&roles, &out->roles, err);
    const bool is_column = out->roles.stated != STATED_NOTHING;
    out->stated = is_column ? out->roles.stated : comments->stated;
    out->comment = is_column ? NULL : comments->words;
    return rc;
}

/* Ids are integers if all seen ids are, and none has a leading zero that a number would lose. */
static void find_id_type(const struct edge_survey_request *request, struct edge_list_survey *out)
{
    const struct table_column *source = &out->look.column[out->roles.fields.source];
    const struct table_column *target = &out->look.column[out->roles.fields.target];
    const bool are_integers = source->are_integers && target->are_integers;
    const bool has_zeros = source->has_leading_zero || target->has_leading_zero;
    const bool is_auto = request->id_type == ID_TYPE_AUTO;
    out->has_zeros = is_auto && are_integers && has_zeros;
    out->of_strings = request->id_type == ID_TYPE_STRING || out->roles.side[0][0] ||
                      (is_auto && (!are_integers || has_zeros));
}

enum error_code edge_list_survey_read(const struct edge_survey_request *request,
                                      struct edge_list_survey *out, struct error *err)
{
    struct comments comments = {.stated = STATED_NOTHING};
    const char *columns = columns_of(request);
    const struct table_request table = {.path = request->path,
                                        .data = request->data,
                                        .size = request->size,
                                        .is_known = edge_word_is_known,
                                        .are_pair = edge_words_are_pair,
                                        .has_header = edge_columns_setting_has_names(columns),
                                        .least_columns = 2,
                                        .noun = "edges"};
    *out = (struct edge_list_survey){.of_strings = false};
    enum error_code rc = read_comments(request, &comments, err);
    if (rc == ERROR_NONE)
        rc = table_look_read(&table, &out->look, err);
    if (rc == ERROR_NONE)
        rc = find_roles(request, &comments, out, err);
    if (rc == ERROR_NONE && out->look.rows == 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected edges, found none; lines that begin with # or %% are comments",
                       request->path);
    if (rc == ERROR_NONE)
        find_id_type(request, out);
    return rc;
}
