#include "stages/infer/outputs/output_lines.h"

#include "common/base/memory.h"
#include "common/files/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

const char *const output_split_name[SPLIT_COUNT] = {"train", "valid", "test"};

struct piece {
    struct prediction_lines lines;
    struct tally tally[SPLIT_COUNT];
};

struct output_lines {
    struct output_lines_config config;
    struct piece *piece; /* [threads] */
    int fd_plus_one;
    uint64_t size; /* bytes of the file so far */
    struct checksum_stream *sum;
};

static enum error_code create(const char *path, int *fd, struct error *err)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *fd >= 0 ? ERROR_NONE : error_set_errno(err, ERROR_IO, "%s cannot be created", path);
}

static enum error_code allocate(struct output_lines *lines, struct error *err)
{
    const int pieces = thread_pool_size(lines->config.pool);
    enum error_code rc = checksum_stream_new(&lines->sum, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&lines->piece, (size_t)pieces, "lines of predictions", err);
    for (int i = 0; rc == ERROR_NONE && i < pieces * SPLIT_COUNT; i++)
        rc = tally_init_like(&lines->piece[i / SPLIT_COUNT].tally[i % SPLIT_COUNT],
                             &lines->config.tally[i % SPLIT_COUNT], err);
    return rc;
}

/* Appends to the file, if there is one. The hash always counts the text. */
static enum error_code append(struct output_lines *lines, const char *text, size_t size,
                              struct error *err)
{
    const char *path = lines->config.path;
    const enum error_code rc =
        path ? file_write_at(lines->fd_plus_one - 1, text, size, lines->size, path, err)
             : ERROR_NONE;
    checksum_stream_add(lines->sum, text, size);
    lines->size += size;
    return rc;
}

enum error_code output_lines_open(const struct output_lines_config *config,
                                  struct output_lines **out, struct error *err)
{
    const char *header = prediction_header(config->table->task);
    struct output_lines *lines = NULL;
    int fd = -1;
    enum error_code rc = memory_new(&lines, 1, "lines of predictions", err);
    if (rc != ERROR_NONE)
        return rc;
    lines->config = *config;
    rc = allocate(lines, err);
    if (rc == ERROR_NONE && config->path)
        rc = create(config->path, &fd, err);
    lines->fd_plus_one = fd + 1;
    if (rc == ERROR_NONE)
        rc = append(lines, header, strlen(header), err);
    if (rc != ERROR_NONE) {
        output_lines_close(lines);
        return rc;
    }
    *out = lines;
    return ERROR_NONE;
}

void output_lines_close(struct output_lines *lines)
{
    if (!lines)
        return;
    if (lines->fd_plus_one)
        (void)close(lines->fd_plus_one - 1);
    for (int i = 0; lines->piece && i < thread_pool_size(lines->config.pool); i++) {
        prediction_lines_release(&lines->piece[i].lines);
        for (int split = 0; split < SPLIT_COUNT; split++)
            tally_release(&lines->piece[i].tally[split]);
    }
    checksum_stream_free(lines->sum);
    memory_free(lines->piece);
    memory_free(lines);
}

static enum error_code make_line(const struct output_lines *lines, struct piece *piece,
                                 uint32_t row, struct error *err)
{
    const struct output_lines_config *config = &lines->config;
    const uint32_t node = config->node ? config->node[row] : row;
    const uint32_t own = config->to_partition ? config->to_partition[node] : node;
    const int split = config->split_of[own] - 1;
    const float *logit = output_row(config->rows, OUTPUT_LOGITS, row);
    const void *label = output_row(config->rows, OUTPUT_LABELS, row);
    enum error_code rc = config->table->task->label_check(label, config->label_classes, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "label of %s %" PRIu32,
                             task_examples[config->table->task->example].name, own);
    if (split >= 0)
        rc = tally_add(&piece->tally[split], logit, label, 1, err);
    if (rc != ERROR_NONE || !config->path)
        return rc;
    return prediction_lines_add(&piece->lines, config->table, node,
                                split < 0 ? "" : output_split_name[split], logit, label, err);
}

enum error_code output_lines_make(struct output_lines *lines, int thread, uint32_t first,
                                  uint32_t end, struct error *err)
{
    struct piece *piece = &lines->piece[thread];
    enum error_code rc = ERROR_NONE;
    piece->lines.size = 0;
    for (int split = 0; split < SPLIT_COUNT; split++)
        tally_reset(&piece->tally[split]);
    for (uint32_t row = first; rc == ERROR_NONE && row < end; row++)
        rc = make_line(lines, piece, row, err);
    return rc;
}

enum error_code output_lines_put(struct output_lines *lines, int thread, struct error *err)
{
    const struct piece *piece = &lines->piece[thread];
    enum error_code rc = append(lines, piece->lines.text, piece->lines.size, err);
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++) {
        const struct tally *part = &piece->tally[split];
        rc = tally_merge(&lines->config.tally[split], &part->loss, part->count, part->score,
                         part->truth, part->score_count, err);
    }
    return rc;
}

enum error_code output_lines_finish(struct output_lines *lines, uint64_t *size_bytes,
                                    struct checksum *sum, struct error *err)
{
    const int fd = lines->fd_plus_one - 1;
    lines->fd_plus_one = 0;
    *size_bytes = lines->size;
    *sum = checksum_stream_sum(lines->sum);
    return fd < 0 || close(fd) == 0
               ? ERROR_NONE
               : error_set_errno(err, ERROR_IO, "%s cannot be written", lines->config.path);
}

enum error_code output_lines_write_ids(const char *path, const struct prediction_table *table,
                                       const uint32_t *node, uint32_t node_count, struct error *err)
{
    enum { NODES = 4096 };
    const char *header = prediction_id_header(table->task);
    struct prediction_lines lines = {0};
    int fd = -1;
    enum error_code rc = create(path, &fd, err);
    if (rc == ERROR_NONE)
        rc = file_write_all(fd, header, strlen(header), path, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++) {
        rc = prediction_lines_add_id(&lines, table, node ? node[i] : i, err);
        if (rc == ERROR_NONE && (i % NODES == NODES - 1 || i == node_count - 1)) {
            rc = file_write_all(fd, lines.text, lines.size, path, err);
            lines.size = 0;
        }
    }
    if (fd >= 0 && close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be written", path);
    prediction_lines_release(&lines);
    return rc;
}
