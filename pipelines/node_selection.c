#include "pipelines/node_selection.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/line_reader.h"
#include "common/formats/npy.h"
#include "store/objects/keys.h"
#include "store/records/node_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- ids --- */

struct wanted_id {
    char *text; /* [size], owned */
    size_t size;
    int64_t line;
    bool is_found;
};

struct wanted {           /* {0} is empty */
    struct wanted_id *id; /* [count], sorted by text */
    size_t count, capacity;
};

static int compare_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_text(const void *a, const void *b)
{
    const struct wanted_id *x = a, *y = b;
    return compare_text(x->text, x->size, y->text, y->size);
}

static void release_wanted(struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        memory_free(wanted->id[i].text);
    memory_free(wanted->id);
    *wanted = (struct wanted){0};
}

static enum error_code add_line(struct wanted *wanted, const struct text_line *line,
                                struct error *err)
{
    enum error_code rc =
        memory_grow(&wanted->id, &wanted->capacity, wanted->count + 1, "ids of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    struct wanted_id *id = &wanted->id[wanted->count];
    *id = (struct wanted_id){.size = line->size, .line = line->number};
    rc = memory_new(&id->text, line->size, "the id of a node", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(id->text, line->text, line->size);
    wanted->count++;
    return ERROR_NONE;
}

static enum error_code read_wanted(struct wanted *wanted, const char *path, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc == ERROR_NONE && found && line.size)
            rc = add_line(wanted, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && !wanted->count)
        rc = error_set(err, ERROR_INPUT, "%s: expected the id of a node a line, found none", path);
    if (rc == ERROR_NONE && wanted->id)
        qsort(wanted->id, wanted->count, sizeof *wanted->id, by_text);
    return rc;
}

/* Marks all lines with this id; how many there are. */
static bool mark_id(struct wanted *wanted, const char *text, size_t size)
{
    size_t low = 0, high = wanted->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_text(wanted->id[middle].text, wanted->id[middle].size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = false;
    for (; low < wanted->count &&
           compare_text(wanted->id[low].text, wanted->id[low].size, text, size) == 0;
         low++)
        found = wanted->id[low].is_found = true;
    return found;
}

static void mark_nodes(struct node_selection *s, struct wanted *wanted, const struct node_ids *ids)
{
    for (uint32_t node = 0; node < s->node_count; node++) {
        char number[32];
        const char *text = number;
        size_t size = 0;
        if (ids->offset) {
            text = ids->text + ids->offset[node];
            size = (size_t)(ids->offset[node + 1] - ids->offset[node]);
        } else {
            size = (size_t)snprintf(number, sizeof number, "%" PRId64,
                                    ids->integer ? ids->integer[node] : (int64_t)node);
        }
        s->is_in[node] = mark_id(wanted, text, size);
        s->count += s->is_in[node];
    }
}

static enum error_code check_all_found(const struct wanted *wanted, const char *path,
                                       struct error *err)
{
    const struct wanted_id *first = NULL;
    for (size_t i = 0; i < wanted->count; i++)
        if (!wanted->id[i].is_found && (!first || wanted->id[i].line < first->line))
            first = &wanted->id[i];
    if (!first)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected the id of a node of the graph, found '%.*s'", path,
                     first->line, first->size < 60 ? (int)first->size : 60, first->text);
}

enum error_code node_selection_read(struct node_selection *s, const char *path, struct store *store,
                                    const char *dataset_id, uint32_t node_count, struct error *err)
{
    struct wanted wanted = {0};
    struct node_ids ids = {0};
    bool has_ids = false;
    enum error_code rc = store_has(store, key_dataset(dataset_id, "node_ids").text, &has_ids, err);
    if (rc == ERROR_NONE && has_ids)
        rc = node_ids_get(store, dataset_id, &ids, err);
    if (rc == ERROR_NONE)
        rc = read_wanted(&wanted, path, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->is_in, node_count, "a selection of nodes", err);
    if (rc == ERROR_NONE) {
        s->node_count = node_count;
        mark_nodes(s, &wanted, &ids);
        rc = check_all_found(&wanted, path, err);
    }
    release_wanted(&wanted);
    store_release_record(&ids.view);
    return rc;
}

void node_selection_release(struct node_selection *s)
{
    memory_free(s->is_in);
    *s = (struct node_selection){0};
}

/* --- outputs --- */

static enum error_code other_nodes(const char *path, struct error *err)
{
    return error_set(err, ERROR_INPUT, "%s: it is not of the nodes of this graph", path);
}

/* An id may hold line ends, in quotes. */
static enum error_code copy_lines(const struct node_selection *s, const char *path, FILE *in,
                                  FILE *out, struct error *err)
{
    uint32_t node = 0;
    bool is_header = true, in_quotes = false;
    for (int c = getc(in); c != EOF; c = getc(in)) {
        if (!is_header && node >= s->node_count)
            return other_nodes(path, err);
        if (is_header || s->is_in[node])
            (void)putc(c, out);
        in_quotes ^= c == '"';
        if (c != '\n' || in_quotes)
            continue;
        node += !is_header;
        is_header = false;
    }
    if (ferror(in) || ferror(out))
        return error_set_errno(err, ERROR_IO, "%s cannot be copied", path);
    return node == s->node_count ? ERROR_NONE : other_nodes(path, err);
}

static enum error_code select_lines(const struct node_selection *s, const char *from,
                                    const char *to, struct error *err)
{
    char beside[FILE_PATH_SIZE];
    enum error_code rc = file_path(beside, err, "%s.part", to);
    if (rc != ERROR_NONE)
        return rc;
    FILE *in = fopen(from, "re"), *out = fopen(beside, "we");
    if (!in || !out)
        rc = error_set_errno(err, ERROR_IO, "%s", in ? beside : from);
    if (rc == ERROR_NONE)
        rc = copy_lines(s, from, in, out, err);
    if (in)
        (void)fclose(in);
    if (out && fclose(out) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be written", beside);
    return rc == ERROR_NONE ? file_rename(beside, to, err) : rc;
}

static enum error_code copy_rows(const struct node_selection *s, const struct npy_reader *in,
                                 struct npy_writer *out, float *row, uint64_t dim,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < s->node_count; node++) {
        if (!s->is_in[node])
            continue;
        rc = npy_reader_float(in, node * dim, (size_t)dim, row, err);
        if (rc == ERROR_NONE)
            rc = npy_writer_add(out, row, dim, err);
    }
    return rc == ERROR_NONE ? npy_writer_finish(out, err) : rc;
}

static enum error_code select_rows(const struct node_selection *s, const char *from, const char *to,
                                   struct error *err)
{
    struct npy_reader in = {0};
    struct npy_writer out = {0};
    float *row = NULL;
    uint64_t dim = 0;
    enum error_code rc = npy_reader_open(&in, from, err);
    if (rc == ERROR_NONE && (in.header.dimension_count != 2 || in.header.shape[0] != s->node_count))
        rc = other_nodes(from, err);
    if (rc == ERROR_NONE) {
        dim = in.header.shape[1];
        rc = memory_new(&row, (size_t)dim, "a row of embeddings", err);
    }
    if (rc == ERROR_NONE)
        rc = npy_writer_open(&out, to, NPY_F32, s->count, dim, err);
    if (rc == ERROR_NONE)
        rc = copy_rows(s, &in, &out, row, dim, err);
    npy_writer_close(&out);
    npy_reader_close(&in);
    memory_free(row);
    return rc;
}

enum error_code node_selection_write(const struct node_selection *s, const char *outputs,
                                     const char *to, struct error *err)
{
    static const struct {
        const char *name;
        enum error_code (*select)(const struct node_selection *s, const char *from, const char *to,
                                  struct error *err);
    } files[] = {{"predictions.csv", select_lines}, {"embeddings.npy", select_rows}};
    enum error_code rc = file_make_folders(to, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof files / sizeof *files; i++) {
        char from[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
        bool is_there = false;
        rc = file_path(from, err, "%s/%s", outputs, files[i].name);
        if (rc == ERROR_NONE)
            rc = file_path(path, err, "%s/%s", to, files[i].name);
        if (rc == ERROR_NONE)
            rc = file_is_there(from, &is_there, err);
        if (rc == ERROR_NONE && is_there)
            rc = files[i].select(s, from, path, err);
        else if (rc == ERROR_NONE)
            rc = file_remove_all(path, err); /* of another --set infer.embeddings */
    }
    return rc;
}
