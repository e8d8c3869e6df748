#include "stages/ingest/formats/shared/counted_lines.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"

#include <inttypes.h>
#include <string.h>

static enum error_code take_count(const char *path, const struct text_line *line, int64_t *count,
                                  struct error *err)
{
    struct field field[2];
    const size_t fields = delimited_split(line->text, line->size, DELIMITER_BLANKS, field, 2);
    if (fields == 1 && text_int64(field[0].text, field[0].size, count) && *count >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:1: expected the number of the lines that follow, alone, found '%.*s'",
                     path, line->size < 80 ? (int)line->size : 80, line->text);
}

static enum error_code take_line(const char *path, size_t field_count, const struct text_line *line,
                                 counted_visitor visit, void *context, struct error *err)
{
    const enum delimiter delimiter =
        memchr(line->text, '\t', line->size) ? DELIMITER_TAB : DELIMITER_BLANKS;
    struct field field[COUNTED_FIELDS_MAX] = {{0}};
    const size_t found = delimited_split_line(line, delimiter, field, COUNTED_FIELDS_MAX);
    must(field_count <= COUNTED_FIELDS_MAX);
    return found == field_count
               ? visit(context, field, line->number, err)
               : error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected %zu columns, found %zu" ADVISE_COLUMNS, path,
                           line->number, field_count, found);
}

enum error_code counted_lines_visit(const char *path, size_t field_count, counted_visitor visit,
                                    void *context, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    int64_t count = -1, lines = 0;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.number == 1)
            rc = take_count(path, &line, &count, err);
        else if (line.size && lines++ < count)
            rc = take_line(path, field_count, &line, visit, context, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && count < 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected the number of its lines in the first one, found an empty file",
                       path);
    return rc == ERROR_NONE && lines != count
               ? error_set(err, ERROR_INPUT,
                           "%s: expected %" PRId64
                           " lines after the first, as the first says, found %" PRId64,
                           path, count, lines)
               : rc;
}

struct naming { /* the state of one run */
    const char *path;
    char *text; /* the names, one after the other */
    size_t text_size, text_capacity;
    struct name {
        size_t at, size;
        int64_t line; /* 0: not read yet */
    } * name;         /* [count], by id */
    size_t count, capacity, seen;
};

static enum error_code take_name(void *context, const struct field *field, int64_t line,
                                 struct error *err)
{
    struct naming *naming = context;
    int64_t id = -1;
    if (!text_int64(field[1].text, field[1].size, &id) || id < 0 || id >= UINT32_MAX)
        return error_set(
            err, ERROR_INPUT, "%s:%" PRId64 ": expected a name and its number from 0, found '%.*s'",
            naming->path, line, field[1].size < 40 ? (int)field[1].size : 40, field[1].text);
    const size_t wanted = (size_t)id + 1;
    enum error_code rc = memory_grow(&naming->name, &naming->capacity, wanted, "names", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&naming->text, &naming->text_capacity, naming->text_size + field[0].size,
                         "names", err);
    if (rc != ERROR_NONE)
        return rc;
    for (; naming->count < wanted; naming->count++)
        naming->name[naming->count] = (struct name){0};
    struct name *name = &naming->name[id];
    if (name->line)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected each number once, found %" PRId64
                         " of line %" PRId64 " again",
                         naming->path, line, id, name->line);
    *name = (struct name){naming->text_size, field[0].size, line};
    memcpy(naming->text + naming->text_size, field[0].text, field[0].size);
    naming->text_size += field[0].size;
    naming->seen++;
    return ERROR_NONE;
}

static enum error_code note_names(const struct naming *naming, struct named_nodes *names,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (naming->seen != naming->count || naming->count == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: expected the numbers 0, 1, 2, ..., found %zu names up to number %zu",
                         naming->path, naming->seen, naming->count ? naming->count - 1 : 0);
    for (size_t i = 0; rc == ERROR_NONE && i < naming->count; i++) {
        const struct name *name = &naming->name[i];
        const struct field field = {naming->text + name->at, name->size};
        rc = named_nodes_note(names, &field, "name", naming->path, name->line, err);
        if (rc == ERROR_NONE && names->ids.count != i + 1)
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected another name for each number, found '%.*s' of "
                           "an earlier line again",
                           naming->path, name->line, field.size < 40 ? (int)field.size : 40,
                           field.text);
    }
    return rc;
}

enum error_code counted_lines_names(const char *path, struct named_nodes *names, struct error *err)
{
    struct naming naming = {.path = path};
    enum error_code rc = counted_lines_visit(path, 2, take_name, &naming, err);
    if (rc == ERROR_NONE)
        rc = note_names(&naming, names, err);
    if (rc == ERROR_NONE)
        named_nodes_finish(names);
    memory_free(naming.name);
    memory_free(naming.text);
    return rc;
}
