/*
 * no_held_out - stands in for parts of ingest's builder: graphs of one kind of edge, without
 * held-out edges and given negatives, whose nodes have no times.
 */
#ifndef TESTS_SUPPORT_NO_HELD_OUT_H
#define TESTS_SUPPORT_NO_HELD_OUT_H

#include "stages/ingest/build/dataset_builder.h"

enum error_code dataset_builder_hold_out(struct dataset_builder *builder, enum held_out split,
                                         const struct given_edge *given, struct error *err)
{
    (void)builder;
    (void)split;
    (void)given;
    (void)err;
    return ERROR_NONE;
}

enum error_code dataset_builder_give_negatives(struct dataset_builder *builder, enum split split,
                                               const struct given_edge *edge, const int64_t *node,
                                               size_t count, struct error *err)
{
    (void)builder;
    (void)split;
    (void)edge;
    (void)node;
    (void)count;
    (void)err;
    return ERROR_NONE;
}

enum error_code dataset_builder_expect_edges(const struct dataset_builder *builder,
                                             uint64_t edge_count, struct error *err)
{
    (void)builder;
    (void)edge_count;
    (void)err;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_time(struct dataset_builder *builder, int64_t node,
                                         int64_t time, struct error *err)
{
    (void)builder;
    (void)node;
    (void)time;
    (void)err;
    return ERROR_NONE;
}

uint32_t dataset_builder_edge_types(const struct dataset_builder *builder)
{
    (void)builder;
    return 0;
}

int32_t dataset_builder_find_edge_type(const struct dataset_builder *builder, const char *name,
                                       size_t size)
{
    (void)builder;
    (void)name;
    (void)size;
    return -1;
}

/* Notes are for people, and only tests read these graphs. */
enum error_code dataset_builder_note(struct dataset_builder *builder, enum note_kind kind,
                                     struct error *err, const char *format, ...)
{
    (void)builder;
    (void)kind;
    (void)err;
    (void)format;
    return ERROR_NONE;
}

void dataset_builder_note_lacks(struct dataset_builder *builder, uint32_t edge_type,
                                unsigned columns)
{
    (void)builder, (void)edge_type, (void)columns;
}

#endif
