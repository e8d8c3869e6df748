#include "stages/ingest/build/edge_buffer.h"

#include "common/base/memory.h"

enum error_code edge_buffer_init(struct edge_buffer *buffer, struct dataset_builder *builder,
                                 const char *where, unsigned extras, struct error *err)
{
    static const char *const what = "a piece of the edges";
    *buffer = (struct edge_buffer){.builder = builder, .where = where};
    enum error_code rc = memory_new(&buffer->source, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&buffer->target, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE && (extras & EDGE_WEIGHT))
        rc = memory_new(&buffer->weight, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE && (extras & EDGE_TIME))
        rc = memory_new(&buffer->time, EDGE_BUFFER_SIZE, what, err);
    if (rc == ERROR_NONE && (extras & EDGE_TYPE))
        rc = memory_new(&buffer->edge_type, EDGE_BUFFER_SIZE, what, err);
    if (rc != ERROR_NONE)
        edge_buffer_release(buffer);
    return rc;
}

void edge_buffer_release(struct edge_buffer *buffer)
{
    memory_free(buffer->source);
    memory_free(buffer->target);
    memory_free(buffer->weight);
    memory_free(buffer->time);
    memory_free(buffer->edge_type);
    *buffer = (struct edge_buffer){0};
}

enum error_code edge_buffer_add(struct edge_buffer *buffer, int64_t line, const struct edge *edge,
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
    buffer->source[i] = edge->source;
    buffer->target[i] = edge->target;
    if (buffer->weight)
        buffer->weight[i] = edge->weight;
    if (buffer->time)
        buffer->time[i] = edge->time;
    if (buffer->edge_type)
        buffer->edge_type[i] = edge->type;
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
                                     .weight = buffer->weight,
                                     .time = buffer->time,
                                     .edge_type = buffer->edge_type};
    buffer->count = 0;
    return dataset_builder_add_edges(buffer->builder, &piece, err);
}
