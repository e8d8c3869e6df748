#include "pipelines/questions/link_questions.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIELDS_MOST = 4 };

void link_questions_release(struct link_questions *questions)
{
    node_lookup_release(&questions->ids);
    memory_free(questions->link);
    *questions = (struct link_questions){0};
}

static enum error_code add(struct link_questions *q, const struct field *end, int64_t type,
                           int64_t line, struct error *err)
{
    enum error_code rc =
        memory_grow(&q->link, &q->capacity, q->count + 1, "the links that are asked for", err);
    for (int i = 0; rc == ERROR_NONE && i < (q->are_pairs ? 2 : 1); i++)
        rc = node_lookup_add(&q->ids, end[i].text, end[i].size, line, err);
    if (rc == ERROR_NONE)
        q->link[q->count++] = (struct asked_link){.type = (uint16_t)type};
    return rc;
}

/* Returns the type of a dataset node. The nodes of a type are consecutive. */
static uint32_t type_of_node(const struct partition_book *book, uint32_t node)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    uint32_t type = 0, end = 0;
    for (; type < book->type_count; type++) {
        for (int p = 0; p < ranges.part_count; p++)
            end += type_ranges_count(&ranges, p, type);
        if (node < end)
            break;
    }
    return type;
}

static enum error_code check_end(const struct wanted_node *node, const struct relation *relation,
                                 enum pair_end end, const char *where,
                                 const struct partition_book *book, struct error *err)
{
    const uint32_t found = type_of_node(book, node->node);
    const uint32_t expected = end == PAIR_SOURCE ? relation->source_type : relation->target_type;
    const int shown = node->size < 40 ? (int)node->size : 40;
    char place[32] = "";
    if (found == expected)
        return ERROR_NONE;
    if (node->line)
        (void)snprintf(place, sizeof place, ":%" PRId64, node->line);
    return error_set(err, ERROR_INPUT,
                     "%s%s: node '%.*s' is of type %s, expected one of type %s as the %s of "
                     "relation %s",
                     where, place, shown, node->text, book->type_name[found],
                     book->type_name[expected], end == PAIR_SOURCE ? "source" : "target",
                     relation->name);
}

/* Checks that the ends of question `i` have the types that its relation connects. */
static enum error_code check_ends(const struct link_questions *q, size_t i, const char *where,
                                  const struct partition_book *book, struct error *err)
{
    const struct relation *relation = &book->relation[q->link[i].type];
    const struct wanted_node *node = q->ids.wanted + (q->are_pairs ? 2 * i : i);
    const enum error_code rc =
        check_end(node, relation, q->are_pairs ? PAIR_SOURCE : q->end, where, book, err);
    return rc == ERROR_NONE && q->are_pairs
               ? check_end(node + 1, relation, PAIR_TARGET, where, book, err)
               : rc;
}

/* Finds the nodes, after all ids were collected. */
static enum error_code find(struct link_questions *q, const char *where,
                            const struct run_folder *folder, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    enum error_code rc =
        node_lookup_find(&q->ids, where, folder->store, book->dataset_id, book->node_count, err);
    for (size_t i = 0; rc == ERROR_NONE && i < q->count; i++) {
        const struct wanted_node *end = q->ids.wanted + (q->are_pairs ? 2 * i : i);
        q->link[i].source = end[0].node;
        q->link[i].target = end[q->are_pairs ? 1 : 0].node;
    }
    for (size_t i = 0; rc == ERROR_NONE && book->relation && i < q->count; i++)
        rc = check_ends(q, i, where, book, err);
    return rc;
}

static enum error_code check_type(const char *where, int64_t line, int64_t type, bool is_number,
                                  const struct partition_book *book, struct error *err)
{
    char place[32] = "";
    if (is_number && type >= 0 &&
        type < (int64_t)(book->pair_type_count ? book->pair_type_count : 1))
        return ERROR_NONE;
    if (line)
        (void)snprintf(place, sizeof place, ":%" PRId64, line);
    if (!book->pair_type_count)
        return error_set(err, ERROR_INPUT, "%s%s: expected no type, as edges have none", where,
                         place);
    return error_set(err, ERROR_INPUT, "%s%s: expected the type of the edge, from 0 to %" PRIu32,
                     where, place, book->pair_type_count - 1);
}

static bool is_header(const struct field *first)
{
    static const char *const words[] = {"source", "src", "id", "node", "head"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found = found || field_is(first, words[i]);
    return found;
}

static enum error_code read_line(struct link_questions *q, const char *path,
                                 const struct text_line *line, enum delimiter delimiter,
                                 const struct partition_book *book, struct error *err)
{
    struct field field[FIELDS_MOST] = {{0}};
    const size_t ends = q->are_pairs ? 2 : 1, wanted = ends + (book->pair_type_count > 0);
    const size_t found = delimited_split_line(line, delimiter, field, FIELDS_MOST);
    int64_t type = 0;
    bool is_number = true;
    if (found < ends || found > wanted)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s%s, found %zu column%s",
                         path, line->number, q->are_pairs ? "source,target" : "the id of a node",
                         book->pair_type_count ? ",type" : "", found, found == 1 ? "" : "s");
    if (wanted > ends)
        is_number = found == wanted && text_int64(field[ends].text, field[ends].size, &type);
    const enum error_code rc = check_type(path, line->number, type, is_number, book, err);
    return rc == ERROR_NONE ? add(q, field, type, line->number, err) : rc;
}

static enum error_code read_lines(struct link_questions *q, const char *path,
                                  struct line_reader *reader, const struct partition_book *book,
                                  struct error *err)
{
    struct text_line line;
    struct field first;
    enum delimiter delimiter = DELIMITER_COMMA;
    bool found = true, is_first = true;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && found) {
        rc = delimited_read(reader, is_first ? NULL : &delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found || !line.size)
            continue;
        if (is_first)
            delimiter = delimited_guess(line.text, line.size);
        const bool heads =
            is_first && delimited_split_line(&line, delimiter, &first, 1) >= 1 && is_header(&first);
        is_first = false;
        if (!heads)
            rc = read_line(q, path, &line, delimiter, book, err);
    }
    return rc;
}

enum error_code link_questions_read(struct link_questions *questions, const char *path,
                                    bool are_pairs, enum pair_end end,
                                    const struct run_folder *folder, struct error *err)
{
    struct line_reader *reader = NULL;
    questions->are_pairs = are_pairs;
    questions->end = end;
    enum error_code rc = line_reader_open(path, &reader, err);
    if (rc == ERROR_NONE)
        rc = read_lines(questions, path, reader, &folder->run.book, err);
    line_reader_close(reader);
    if (rc == ERROR_NONE && !questions->count)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line for each %s, found none", path,
                       are_pairs ? "pair" : "node");
    return rc == ERROR_NONE ? find(questions, path, folder, err) : rc;
}

enum error_code link_questions_ask(struct link_questions *questions, const char *where,
                                   const char *id, int64_t type, enum pair_end end,
                                   const struct run_folder *folder, struct error *err)
{
    const struct field field[2] = {{.text = id, .size = strlen(id)}};
    enum error_code rc = check_type("--type", 0, type, true, &folder->run.book, err);
    questions->end = end;
    if (rc == ERROR_NONE)
        rc = add(questions, field, type, 0, err);
    return rc == ERROR_NONE ? find(questions, where, folder, err) : rc;
}
