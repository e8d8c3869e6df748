#include "stages/ingest/formats/collections/ogb_links.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"

#include <inttypes.h>

enum { PIECE_ELEMENTS = 1 << 15, ENDS = 2, COLUMNS = 5 };

struct column { /* one array of a split */
    struct npy_reader reader;
    char where[FILE_PATH_SIZE];
    bool is_there;
    uint64_t rows, width; /* number of rows, elements of a row */
    int64_t *piece;       /* [rows of a piece, width] */
};

struct links { /* the links of one split */
    const struct ogb_split_arrays *splits;
    struct dataset_builder *builder;
    enum split split;
    uint64_t rows;
    struct column edge, source, target, type, negative;
};

/* Opens an array of `dimensions`. If it is missing, does nothing. */
static enum error_code open_column(const struct links *links, const char *name, uint32_t dimensions,
                                   struct column *column, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc =
        ogb_split_arrays_path(links->splits, links->split, name, path, column->where, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = npy_reader_open(&column->reader, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct npy_header *header = &column->reader.header;
    column->is_there = true;
    if (header->dimension_count != dimensions || !npy_is_integer(header))
        return error_set(err, ERROR_INPUT,
                         "%s: expected integers of %" PRIu32 " dimension%s, a row an edge, found "
                         "%s of %" PRIu32,
                         column->where, dimensions, dimensions == 1 ? "" : "s",
                         npy_is_integer(header) ? "some" : "other numbers",
                         header->dimension_count);
    column->rows = header->shape[0];
    column->width = dimensions == 1 ? 1 : header->shape[1];
    return ERROR_NONE;
}

static void close_links(struct links *links)
{
    struct column *columns[COLUMNS] = {&links->edge, &links->source, &links->target, &links->type,
                                       &links->negative};
    for (int i = 0; i < COLUMNS; i++) {
        npy_reader_close(&columns[i]->reader);
        memory_free(columns[i]->piece);
    }
}

static enum error_code open_ends(struct links *links, struct error *err)
{
    enum error_code rc = open_column(links, "edge", ENDS, &links->edge, err);
    if (rc == ERROR_NONE && links->edge.is_there && links->edge.width != ENDS)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a shape [edges, 2], found rows of %" PRIu64,
                         links->edge.where, links->edge.width);
    if (rc == ERROR_NONE && !links->edge.is_there)
        rc = open_column(links, "source_node", 1, &links->source, err);
    if (rc == ERROR_NONE && links->source.is_there)
        return open_column(links, "target_node", 1, &links->target, err);
    if (rc == ERROR_NONE && !links->edge.is_there)
        rc = open_column(links, "head", 1, &links->source, err);
    return rc == ERROR_NONE && links->source.is_there
               ? open_column(links, "tail", 1, &links->target, err)
               : rc;
}

/* Opens the nodes that an edge is ranked among. The dataset stores them whatever infer.ranking is,
 * so all ways of ranking share one dataset. */
static enum error_code open_negatives(struct links *links, const struct pipeline_settings *settings,
                                      struct error *err)
{
    if (settings->ingest.negative_file[links->split][0])
        return ERROR_NONE;
    enum error_code rc = open_column(links, "target_node_neg", ENDS, &links->negative, err);
    if (rc == ERROR_NONE && !links->negative.is_there)
        rc = open_column(links, "tail_neg", ENDS, &links->negative, err);
    if (rc == ERROR_NONE && !links->negative.is_there && settings->infer.ranking == RANKING_GIVEN)
        return error_set(
            err, ERROR_INPUT,
            "%s: expected an array target_node_neg or tail_neg for infer.ranking: "
            "given, found none: " ADVICE "write `ranking: sampled` below `infer:`, or name a "
            "file by ingest.%s_negatives",
            links->splits->file[links->split], links->split == SPLIT_VALID ? "valid" : "test");
    if (rc == ERROR_NONE && links->negative.is_there && links->negative.width == 0)
        return error_set(err, ERROR_INPUT, "%s: expected nodes in each row, found none",
                         links->negative.where);
    return rc;
}

static enum error_code check_rows(const struct links *links, const struct column *column,
                                  const struct column *first, struct error *err)
{
    if (!column->is_there || column->rows == links->rows)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: expected %" PRIu64 " rows, as many as %s has, found %" PRIu64,
                     column->where, links->rows, first->where, column->rows);
}

static enum error_code open_links(struct links *links, const struct pipeline_settings *settings,
                                  struct error *err)
{
    enum error_code rc = open_ends(links, err);
    const struct column *first = links->edge.is_there ? &links->edge : &links->source;
    if (rc == ERROR_NONE &&
        (!first->is_there || (!links->edge.is_there && !links->target.is_there)))
        return error_set(err, ERROR_INPUT,
                         "%s: expected arrays edge, source_node and target_node, or head and tail "
                         "for ingest.edge_split: given, found none of these: " ADVICE
                         "write `edge_split: "
                         "random 85/5/10`, or name files by ingest.valid_edges and test_edges",
                         links->splits->file[links->split]);
    links->rows = first->rows;
    if (rc == ERROR_NONE && dataset_builder_edge_types(links->builder) > 0) {
        rc = open_column(links, "relation", 1, &links->type, err);
        if (rc == ERROR_NONE && !links->type.is_there)
            return error_set(err, ERROR_INPUT,
                             "%s: expected an array relation, since the edges of the input have "
                             "types, found none",
                             links->splits->file[links->split]);
    }
    if (rc == ERROR_NONE)
        rc = open_negatives(links, settings, err);
    if (rc == ERROR_NONE)
        rc = check_rows(links, &links->target, first, err);
    if (rc == ERROR_NONE)
        rc = check_rows(links, &links->type, first, err);
    return rc == ERROR_NONE ? check_rows(links, &links->negative, first, err) : rc;
}

static enum error_code read_rows(struct column *column, uint64_t first, size_t count,
                                 struct error *err)
{
    return column->is_there ? npy_reader_int64(&column->reader, first * column->width,
                                               count * column->width, column->piece, err)
                            : ERROR_NONE;
}

static enum error_code push_row(struct links *links, uint64_t row, size_t i, struct error *err)
{
    const struct column *own = links->edge.is_there ? &links->edge : &links->source;
    const uint32_t type_count = dataset_builder_edge_types(links->builder);
    struct given_edge edge = {.where = own->where, .line = (int64_t)row};
    edge.source = links->edge.is_there ? links->edge.piece[2 * i] : links->source.piece[i];
    edge.target = links->edge.is_there ? links->edge.piece[2 * i + 1] : links->target.piece[i];
    const int64_t type = links->type.is_there ? links->type.piece[i] : 0;
    if (links->type.is_there && (type < 0 || type >= (int64_t)type_count))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRIu64 ": expected the type of the edge, from 0 to %" PRIu32
                         ", as the edges of the input have one, found %" PRId64,
                         links->type.where, row, type_count - 1, type);
    edge.type = (uint16_t)type;
    enum error_code rc = dataset_builder_hold_out(
        links->builder, links->split == SPLIT_VALID ? HELD_OUT_VALID : HELD_OUT_TEST, &edge, err);
    if (rc != ERROR_NONE || !links->negative.is_there)
        return rc;
    edge.where = links->negative.where;
    return dataset_builder_give_negatives(links->builder, links->split, &edge,
                                          links->negative.piece + i * (size_t)links->negative.width,
                                          (size_t)links->negative.width, err);
}

static enum error_code push_rows(struct links *links, struct error *err)
{
    struct column *columns[COLUMNS] = {&links->edge, &links->source, &links->target, &links->type,
                                       &links->negative};
    const uint64_t width = links->negative.width > ENDS ? links->negative.width : ENDS;
    const size_t step = width < PIECE_ELEMENTS ? (size_t)(PIECE_ELEMENTS / width) : 1;
    enum error_code rc = ERROR_NONE;
    for (int c = 0; rc == ERROR_NONE && c < COLUMNS; c++)
        if (columns[c]->is_there)
            rc = memory_new(&columns[c]->piece, step * (size_t)columns[c]->width,
                            "a piece of held-out edges", err);
    for (uint64_t row = 0; rc == ERROR_NONE && row < links->rows; row += step) {
        const size_t count = step < links->rows - row ? step : (size_t)(links->rows - row);
        for (int c = 0; rc == ERROR_NONE && c < COLUMNS; c++)
            rc = read_rows(columns[c], row, count, err);
        for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
            rc = push_row(links, row + i, i, err);
    }
    return rc;
}

static enum error_code say_unused(const struct links *links, struct error *err)
{
    char path[FILE_PATH_SIZE], where[FILE_PATH_SIZE];
    const enum error_code rc =
        ogb_split_arrays_path(links->splits, links->split, "edge_neg", path, where, err);
    if (rc == ERROR_NONE && path[0])
        log_info("%s is not used: its pairs belong to no single edge, but each edge is ranked "
                 "among negatives of its own (infer.ranking)",
                 where);
    return rc;
}

enum error_code ogb_links_push(const struct pipeline_settings *settings,
                               const struct ogb_split_arrays *splits,
                               struct dataset_builder *builder, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = SPLIT_VALID; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        struct links links = {.splits = splits, .builder = builder, .split = (enum split)s};
        if (settings->ingest.edge_file[s][0] || !splits->file[s][0])
            continue;
        rc = open_links(&links, settings, err);
        if (rc == ERROR_NONE)
            rc = push_rows(&links, err);
        if (rc == ERROR_NONE)
            rc = say_unused(&links, err);
        close_links(&links);
    }
    return rc;
}
