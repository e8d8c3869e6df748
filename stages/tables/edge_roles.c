#include "stages/tables/edge_roles.h"

#include "common/base/text.h"
#include "stages/tables/edge_columns_setting.h"
#include "stages/tables/edge_role_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

static const struct table_column *column_at(const struct role_search *s, size_t i)
{
    return &s->request->look->column[i];
}

static bool is_free(const struct role_search *s, size_t i)
{
    return s->use[i].role == EDGE_ROLE_NONE;
}

/* Returns whether the cells may be ids: not empty, no fractions, no dates, no unnamed row
 * numbers. */
static bool may_be_ids(const struct role_search *s, size_t i)
{
    const struct table_column *column = column_at(s, i);
    const bool is_index = s->request->look->header_line && !column->name.size && column->counts_up;
    return column->values && !(column->are_numbers && column->has_fraction) && !column->are_dates &&
           !is_index;
}

/* Returns whether a column may have the role. A column called weight or time has it: a cell that is
 * no number or time is an error with its line. */
static bool fits(const struct table_column *column, enum edge_column role)
{
    if (role == EDGE_TYPE)
        return column->values && !(column->are_numbers && column->has_fraction);
    if (role == EDGE_WEIGHT || role == EDGE_TIME)
        return column->values > 0;
    return role == EDGE_ID ? column->are_integers : column->has_numbers;
}

/* Gives the column the role of an end, unless another has it. */
static bool take_end(struct role_search *s, size_t i, enum edge_role role)
{
    int *end = role == EDGE_ROLE_SOURCE ? &s->source : &s->target;
    if (*end != EDGE_FIELD_NONE || !is_free(s, i))
        return false;
    *end = (int)i;
    s->use[i].role = role;
    return true;
}

static bool has_column(const struct role_search *s, enum edge_column column)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->use[i].role == EDGE_ROLE_COLUMN && s->use[i].column == column)
            return true;
    return false;
}

static bool take_column(struct role_search *s, size_t i, enum edge_column column)
{
    if (!is_free(s, i) || (!edge_column[column].has_width && has_column(s, column)))
        return false;
    s->use[i].role = EDGE_ROLE_COLUMN;
    s->use[i].column = column;
    return true;
}

/* ---- by the setting -------------------------------------------------------------------------- */

static enum error_code find_entry(const struct role_search *s, const struct column_entry *entry,
                                  size_t *out, struct error *err)
{
    const struct table_look *look = s->request->look;
    const int64_t line = look->header_line ? look->header_line : look->first_line;
    bool twice = false;
    int64_t number = 0;
    const int found = look->header_line ? table_look_find(look, &entry->name, &twice) : -1;
    const bool is_number = text_int64(entry->name.text, entry->name.size, &number) && number >= 1 &&
                           number <= (int64_t)s->count;
    *out = found >= 0 ? (size_t)found : (size_t)(number - 1);
    if (!twice && (found >= 0 || is_number))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": ingest.edge_columns names '%.*s': expected the name of one "
                     "column, or a number from 1 to %zu, found %s%.*s",
                     s->request->where, line, entry->name.size < 60 ? (int)entry->name.size : 60,
                     entry->name.text, s->count,
                     twice               ? "it twice in "
                     : look->header_line ? "the header "
                                         : "no header above ",
                     look->header_size < 200 ? (int)look->header_size : 200, look->header);
}

static enum error_code take_entry(struct role_search *s, const struct column_entry *entry,
                                  struct error *err)
{
    size_t i = 0;
    const enum error_code rc = find_entry(s, entry, &i, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool is_end = entry->role.role != EDGE_ROLE_COLUMN;
    const bool is_taken =
        is_end ? take_end(s, i, entry->role.role) : take_column(s, i, entry->role.column);
    if (!is_taken)
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_columns gives a column or a role twice: '%.*s'",
                         entry->name.size < 60 ? (int)entry->name.size : 60, entry->name.text);
    char *side = s->out->side[entry->role.role == EDGE_ROLE_TARGET];
    if (!is_end || !entry->type.size)
        return ERROR_NONE;
    if (entry->type.size >= TYPE_NAME_SIZE)
        return error_set(err, ERROR_INVALID,
                         "ingest.edge_columns: expected a node type of at most %d bytes, found "
                         "'%.40s'...",
                         TYPE_NAME_SIZE - 1, entry->type.text);
    memcpy(side, entry->type.text, entry->type.size);
    side[entry->type.size] = '\0';
    return ERROR_NONE;
}

static enum error_code take_setting(struct role_search *s, struct error *err)
{
    const char *text = s->request->columns;
    struct column_entry entry;
    bool found = true;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && found) {
        rc = edge_columns_setting_next(&text, &entry, &found, err);
        if (rc == ERROR_NONE && found)
            rc = take_entry(s, &entry, err);
    }
    if (rc == ERROR_NONE && !s->out->side[0][0] != !s->out->side[1][0])
        rc = error_set(err, ERROR_INVALID,
                       "ingest.edge_columns gives one end a node type, '%s': expected one before "
                       "the columns of both, source and target, or before none",
                       s->out->side[s->out->side[0][0] == '\0']);
    return rc;
}

/* ---- by names -------------------------------------------------------------------------------- */

static bool is_called(const struct role_search *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (field_is(&column_at(s, i)->name, name))
            return true;
    return false;
}

/* Neo4j names groups of ids in the header: :START_ID(Person). Two groups are two types of nodes. */
static void take_groups(struct role_search *s)
{
    struct field group[2] = {{.size = 0}};
    const int end[2] = {s->source, s->target};
    for (int side = 0; side < 2; side++)
        if (end[side] != EDGE_FIELD_NONE)
            group[side] = edge_word_group(&column_at(s, (size_t)end[side])->name);
    if (!group[0].size || !group[1].size || group[0].size >= TYPE_NAME_SIZE ||
        group[1].size >= TYPE_NAME_SIZE || fields_are_equal(&group[0], &group[1]))
        return;
    for (int side = 0; side < 2; side++) {
        memcpy(s->out->side[side], group[side].text, group[side].size);
        s->out->side[side][group[side].size] = '\0';
    }
}

static void take_words(struct role_search *s, bool of_kinds)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct field *name = &column_at(s, i)->name;
        const struct edge_word word = edge_word_of(name);
        const bool is_tail = field_is(name, "t") && is_called(s, "h");
        if (is_tail && take_end(s, i, EDGE_ROLE_TARGET))
            continue;
        if ((word.role == EDGE_ROLE_SOURCE || word.role == EDGE_ROLE_TARGET) &&
            word.is_kind == of_kinds && take_end(s, i, word.role))
            s->kinds += word.is_kind;
    }
}

/* Looks for words for the ends themselves, then for words for kinds of things. In `h,r,t` the t is
 * the tail. One kind of thing alone does not say which end it is: in `paper,cites` it is the
 * source. */
static void take_named_ends(struct role_search *s)
{
    take_words(s, false);
    const int source = s->source, target = s->target;
    take_words(s, true);
    if (s->kinds == 1 && (s->source == EDGE_FIELD_NONE || s->target == EDGE_FIELD_NONE)) {
        const int taken = s->source != source ? s->source : s->target;
        s->use[taken].role = EDGE_ROLE_NONE;
        s->source = source;
        s->target = target;
        s->kinds = 0;
    }
    take_groups(s);
}

/* Gephi writes a column Type with the words Directed and Undirected: it is the direction of each
 * edge, and no relation. */
static bool states_direction(struct role_search *s, size_t i)
{
    static const char *const words[] = {"Undirected", "Directed", "undirected", "directed"};
    const struct table_column *column = column_at(s, i);
    if (column->distinct != 1)
        return false;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const struct field field = {words[w], strlen(words[w])};
        if (table_column_has(column, &field)) {
            s->out->stated = w % 2 ? STATED_DIRECTED : STATED_UNDIRECTED;
            return true;
        }
    }
    return false;
}

static void take_named_columns(struct role_search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct table_column *column = column_at(s, i);
        const struct edge_word word = edge_word_of(&column->name);
        if (!is_free(s, i) || !column->name.size)
            continue;
        if (edge_word_is_label(&column->name, s->request->label))
            (void)take_column(s, i, EDGE_LABEL);
        else if (word.role == EDGE_ROLE_COLUMN && word.column == EDGE_TYPE &&
                 states_direction(s, i))
            s->use[i].is_direction = true;
        else if (word.role == EDGE_ROLE_COLUMN && fits(column, word.column))
            (void)take_column(s, i, word.column);
    }
}

/* Takes the first two columns without a role as the ends if their names are a pair. */
static void take_pair(struct role_search *s)
{
    size_t i = 0;
    while (i < s->count && (!is_free(s, i) || !column_at(s, i)->name.size))
        i++;
    if (i + 1 < s->count && is_free(s, i + 1) && may_be_ids(s, i) && may_be_ids(s, i + 1) &&
        edge_words_are_pair(&column_at(s, i)->name, &column_at(s, i + 1)->name)) {
        (void)take_end(s, i, EDGE_ROLE_SOURCE);
        (void)take_end(s, i + 1, EDGE_ROLE_TARGET);
    }
}

/* Two columns of one name that may be ids are as likely the ends as those whose names say so: From
 * Bank, Account, To Bank, Account. */
static bool has_twins(const struct role_search *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = i + 1; j < s->count; j++) {
            const struct field *a = &column_at(s, i)->name, *b = &column_at(s, j)->name;
            if (is_free(s, i) && is_free(s, j) && a->size && fields_are_equal(a, b) &&
                may_be_ids(s, i) && may_be_ids(s, j))
                return true;
        }
    return false;
}

/* Returns whether the first of several columns has few values, such as kinds, steps or years. */
static bool has_few_values(const struct role_search *s, size_t i)
{
    return s->count > 2 && column_at(s, i)->distinct * 20 <= s->request->look->rows;
}

/* Takes the only columns that can be ids as the ends that no name says. */
static enum error_code take_possible(struct role_search *s, struct error *err)
{
    const int missing = (s->source == EDGE_FIELD_NONE) + (s->target == EDGE_FIELD_NONE);
    size_t at[2] = {0};
    int found = 0;
    for (size_t i = 0; missing && i < s->count; i++)
        if (is_free(s, i) && !s->use[i].is_direction && may_be_ids(s, i)) {
            if (found < 2)
                at[found] = i;
            found++;
        }
    if (!missing)
        return ERROR_NONE;
    if (found != missing)
        return edge_role_refuse(s, found < missing ? "no column can be" : "several columns can be",
                                err);
    if (missing == 2 && s->count > 2 &&
        (column_at(s, at[0])->counts_up || has_few_values(s, at[0])))
        return edge_role_refuse(s, "the first column may be a row number or a kind, and not", err);
    s->is_assumed = true;
    for (int i = 0; i < found; i++)
        (void)take_end(s, at[i],
                       s->source == EDGE_FIELD_NONE ? EDGE_ROLE_SOURCE : EDGE_ROLE_TARGET);
    return ERROR_NONE;
}

static void take_features(struct role_search *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_free(s, i) && column_at(s, i)->are_numbers && column_at(s, i)->name.size &&
            s->request->features == EDGE_FEATURES_AUTO)
            (void)take_column(s, i, EDGE_FEATURE);
}

static enum error_code take_names(struct role_search *s, struct error *err)
{
    take_named_ends(s);
    take_named_columns(s);
    if (s->source == EDGE_FIELD_NONE && s->target == EDGE_FIELD_NONE)
        take_pair(s);
    if (has_twins(s))
        return edge_role_refuse(s, "two columns of one name can also be", err);
    const enum error_code rc = take_possible(s, err);
    if (rc == ERROR_NONE)
        take_features(s);
    return rc;
}

/* ---- by position ----------------------------------------------------------------------------- */

/* Integers that occur among the ids, or lie between them, may be ids, or numbers of relations. */
static bool occurs_as_id(const struct role_search *s, size_t i)
{
    const struct table_look *look = s->request->look;
    const struct table_column *column = column_at(s, i);
    for (size_t end = 0; end < 2; end++) {
        const struct table_column *ids = column_at(s, end);
        const bool lies_between = ids->are_integers && column->are_integers &&
                                  column->least <= ids->most && column->most >= ids->least;
        if (lies_between || table_look_shared(look, i, end))
            return true;
    }
    return false;
}

/* Numbers that 32 bits of floating point cannot tell apart are times rather than features. */
static bool is_beyond_float(const struct table_column *column)
{
    enum { LARGEST = 1 << 24 };
    return fabs(column->most) > LARGEST || fabs(column->least) > LARGEST;
}

static enum error_code take_unnamed(struct role_search *s, size_t i, struct error *err)
{
    const struct table_column *column = column_at(s, i);
    const bool is_fraction = column->are_numbers && column->has_fraction;
    const char *why = NULL;
    if (i == 2 && column->values && !column->are_numbers && !column->are_dates)
        why = "column 3 holds words, so it is not known which columns are";
    else if (i == 2 && column->are_integers && occurs_as_id(s, i))
        why = "column 3 holds integers that may be ids, relations or weights, so it is not known "
              "which columns are";
    else if (is_fraction && is_beyond_float(column))
        why = "a column without a name holds large numbers with a fraction, which may be times; "
              "say which columns are";
    if (why)
        return edge_role_refuse(s, why, err);
    if (is_fraction && !take_column(s, i, EDGE_WEIGHT) &&
        s->request->features == EDGE_FEATURES_AUTO)
        (void)take_column(s, i, EDGE_FEATURE);
    s->is_assumed |= column->values && is_free(s, i);
    return ERROR_NONE;
}

static enum error_code take_positions(struct role_search *s, struct error *err)
{
    const struct table_look *look = s->request->look;
    const char *why = NULL;
    enum error_code rc = ERROR_NONE;
    if (look->header_is_weak)
        why = "the first line may be a header or an edge: none of its words occurs again, though "
              "most others do; name";
    else if (column_at(s, 0)->are_dates)
        why = "the first column holds dates, so it is not known which columns are";
    else if (s->count > 2 && look->rows > 2 && column_at(s, 0)->counts_up && may_be_ids(s, 1) &&
             may_be_ids(s, 2))
        why = "the first column may be a row number, so it is not known which columns are";
    if (why)
        return edge_role_refuse(s, why, err);
    (void)take_end(s, 0, EDGE_ROLE_SOURCE);
    (void)take_end(s, 1, EDGE_ROLE_TARGET);
    for (size_t i = 2; rc == ERROR_NONE && i < s->count; i++)
        rc = take_unnamed(s, i, err);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void fill_fields(struct role_search *s)
{
    struct edge_fields *fields = &s->out->fields;
    *fields = edge_fields_plain(s->request->look->delimiter, s->count);
    fields->decimal_comma = s->request->look->decimal_comma;
    fields->source = s->source;
    fields->target = s->target;
    s->out->type_field = EDGE_FIELD_NONE;
    for (size_t i = 0; i < s->count; i++) {
        if (s->use[i].role != EDGE_ROLE_COLUMN)
            continue;
        const bool is_kept = edge_fields_take(fields, i, s->use[i].column);
        if (is_kept && s->use[i].column == EDGE_TYPE) {
            s->out->type_field = (int)i;
            fields->use[i].column = EDGE_FIELD_NONE;
        }
    }
    if (s->request->features == EDGE_FEATURES_NONE)
        edge_fields_drop(fields, EDGE_FEATURE);
}

enum error_code edge_roles_find(const struct edge_roles_request *request, struct edge_roles *out,
                                struct error *err)
{
    struct role_search s = {.request = request,
                            .out = out,
                            .count = request->look->column_count,
                            .source = EDGE_FIELD_NONE,
                            .target = EDGE_FIELD_NONE};
    const bool has_setting = request->columns[0] != '\0';
    *out = (struct edge_roles){.type_field = EDGE_FIELD_NONE, .stated = STATED_NOTHING};
    enum error_code rc = has_setting ? take_setting(&s, err) : ERROR_NONE;
    if (rc == ERROR_NONE && has_setting)
        take_named_ends(&s);
    if (rc == ERROR_NONE && has_setting &&
        (s.source == EDGE_FIELD_NONE || s.target == EDGE_FIELD_NONE))
        rc = edge_role_refuse(&s, "ingest.edge_columns does not say which columns are", err);
    if (rc == ERROR_NONE && !has_setting)
        rc = request->look->header_line ? take_names(&s, err) : take_positions(&s, err);
    if (rc != ERROR_NONE)
        return rc;
    out->names_two_kinds = !has_setting && s.kinds == 2;
    fill_fields(&s);
    edge_role_say(&s);
    return ERROR_NONE;
}
