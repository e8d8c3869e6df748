#include "stages/ingest/build/edge_buffer.h"

#include "common/base/memory.h"

enum error_code edge_buffer_init(struct edge_buffer *buffer, struct dataset_builder *builder,
                                 const char *where, const struct edge_widths *width,
                                 struct error *err)
{
    static const char *const what = "a piece of the edges";
    *buffer = (struct edge_buffer){
        .builder = builder, .where = where, .has_columns = edge_widths_bytes(width) > 0};
    enum error_code rc = memory_new(&buffer->source, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&buffer->target, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&buffer->columns, width, EDGE_BUFFER_SIZE, what, err);
    if (rc != ERROR_NONE)
        edge_buffer_release(buffer);
    return rc;
}

void edge_buffer_release(struct edge_buffer *buffer)
{
    memory_free(buffer->source);
    memory_free(buffer->target);
    edge_columns_release(&buffer->columns);
    *buffer = (struct edge_buffer){0};
}

enum error_code edge_buffer_add(struct edge_buffer *buffer, int64_t line, int64_t source,
                                int64_t target, const struct edge_columns_view *values,
                                struct error *err)
{
    const bool follows = line == buffer->first_line + (int64_t)buffer->count;
    if (buffer->count == EDGE_BUFFER_SIZE || !follows) {
        const enum error_code rc = edge_buffer_flush(buffer, err);
        if (rc != ERROR_NONE)
            return rc;
        buffer->first_line = line;
    }
    const size_t i = buffer->count++;
    buffer->source[i] = source;
    buffer->target[i] = target;
    if (buffer->has_columns)
        edge_columns_copy(&buffer->columns, i, values, 0, 1);
    buffer->total++;
    return ERROR_NONE;
}

enum error_code edge_buffer_flush(struct edge_buffer *buffer, struct error *err)
{
    if (buffer->count == 0)
        return ERROR_NONE;
    const struct edge_piece piece = {.where = buffer->where,
                                     .first_line = buffer->first_line,
                                     .count = buffer->count,
                                     .source = buffer->source,
                                     .target = buffer->target,
                                     .columns = edge_columns_read(&buffer->columns, 0)};
    const size_t count = buffer->count;
    buffer->count = 0;
    const enum error_code rc = buffer->bring
                                   ? buffer->bring(buffer->bring_context, buffer->total - count,
                                                   count, &buffer->columns, err)
                                   : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    return buffer->aside ? piece_spool_add(buffer->aside, buffer->builder, &piece, err)
                         : dataset_builder_add_edges(buffer->builder, &piece, err);
}
