#include "pipelines/node_selection.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/line_reader.h"
#include "common/formats/npy.h"
#include "pipelines/node_lookup.h"

#include <stdio.h>
#include <string.h>

/* --- ids --- */

static enum error_code read_wanted(struct node_lookup *lookup, const char *path, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc == ERROR_NONE && found && line.size)
            rc = node_lookup_add(lookup, line.text, line.size, line.number, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && !lookup->count)
        rc = error_set(err, ERROR_INPUT, "%s: expected the id of a node a line, found none", path);
    return rc;
}

enum error_code node_selection_read(struct node_selection *s, const char *path, struct store *store,
                                    const char *dataset_id, uint32_t node_count, struct error *err)
{
    struct node_lookup lookup = {0};
    enum error_code rc = read_wanted(&lookup, path, err);
    if (rc == ERROR_NONE)
        rc = node_lookup_find(&lookup, path, store, dataset_id, node_count, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->is_in, node_count, "a selection of nodes", err);
    if (rc == ERROR_NONE)
        s->node_count = node_count;
    for (size_t i = 0; rc == ERROR_NONE && i < lookup.count; i++) {
        s->count += !s->is_in[lookup.wanted[i].node];
        s->is_in[lookup.wanted[i].node] = 1;
    }
    node_lookup_release(&lookup);
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
