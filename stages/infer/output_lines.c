#include "stages/infer/output_lines.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/parallel/first_failure.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PIECES_A_THREAD = 8 };

const char *const output_split_name[SPLIT_COUNT] = {"train", "valid", "test"};

struct piece {
    struct prediction_lines lines;
    uint64_t offset; /* in the file */
    struct tally tally[SPLIT_COUNT];
};

struct output_lines {
    struct output_lines_config config;
    struct piece *piece; /* [piece_count]: made at a time */
    int64_t piece_count;
    int fd_plus_one;
    uint64_t size;  /* of the file so far */
    uint32_t first; /* node that the first piece begins with */
    struct first_failure failure;
};

static enum error_code create(const char *path, int *fd, struct error *err)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *fd >= 0 ? ERROR_NONE : error_set_errno(err, ERROR_IO, "%s cannot be created", path);
}

static enum error_code allocate(struct output_lines *lines, struct error *err)
{
    const struct prediction_table *table = lines->config.table;
    lines->piece_count = (int64_t)thread_pool_size(lines->config.pool) * PIECES_A_THREAD;
    enum error_code rc =
        memory_new(&lines->piece, (size_t)lines->piece_count, "lines of predictions", err);
    for (int64_t i = 0; rc == ERROR_NONE && i < lines->piece_count * SPLIT_COUNT; i++)
        rc = tally_init(&lines->piece[i / SPLIT_COUNT].tally[i % SPLIT_COUNT], table->task,
                        lines->config.label_classes, err);
    return rc;
}

enum error_code output_lines_open(const struct output_lines_config *config,
                                  struct output_lines **out, struct error *err)
{
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
    lines->size = strlen(prediction_header);
    if (rc == ERROR_NONE && config->path)
        rc = file_write_at(fd, prediction_header, (size_t)lines->size, 0, config->path, err);
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
    for (int64_t i = 0; lines->piece && i < lines->piece_count; i++) {
        prediction_lines_release(&lines->piece[i].lines);
        for (int split = 0; split < SPLIT_COUNT; split++)
            tally_release(&lines->piece[i].tally[split]);
    }
    memory_free(lines->piece);
    memory_free(lines);
}

static enum error_code make_line(const struct output_lines *lines, struct piece *piece,
                                 uint32_t node, struct error *err)
{
    const struct output_lines_config *config = &lines->config;
    const uint32_t own = config->to_partition[node];
    const int split = config->split_of[own] - 1;
    const float *logit = output_row(config->rows, OUTPUT_LOGITS, node);
    const void *label = output_row(config->rows, OUTPUT_LABELS, node);
    enum error_code rc = config->table->task->label_check(label, config->label_classes, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "label of node %" PRIu32, own);
    if (split >= 0)
        rc = tally_add(&piece->tally[split], logit, label, 1, err);
    if (rc != ERROR_NONE || !config->path)
        return rc;
    return prediction_lines_add(&piece->lines, config->table, node,
                                split < 0 ? "" : output_split_name[split], logit, label, err);
}

static uint32_t piece_end(const struct output_lines *lines, uint32_t first)
{
    const uint32_t end = lines->config.rows->end;
    return end - first < OUTPUT_PIECE_ROWS ? end : first + OUTPUT_PIECE_ROWS;
}

static void make_piece(void *context, int64_t number, int thread)
{
    struct output_lines *lines = context;
    struct piece *piece = &lines->piece[number];
    const uint32_t first = lines->first + (uint32_t)number * OUTPUT_PIECE_ROWS;
    struct error err = {0};
    enum error_code rc = ERROR_NONE;
    (void)thread;
    piece->lines.size = 0;
    for (int split = 0; split < SPLIT_COUNT; split++)
        tally_reset(&piece->tally[split]);
    for (uint32_t node = first; rc == ERROR_NONE && node < piece_end(lines, first); node++)
        rc = make_line(lines, piece, node, &err);
    first_failure_keep(&lines->failure, rc, number, &err);
}

static void write_piece(void *context, int64_t number, int thread)
{
    struct output_lines *lines = context;
    const struct piece *piece = &lines->piece[number];
    struct error err = {0};
    (void)thread;
    const enum error_code rc =
        file_write_at(lines->fd_plus_one - 1, piece->lines.text, piece->lines.size, piece->offset,
                      lines->config.path, &err);
    first_failure_keep(&lines->failure, rc, number, &err);
}

/* What has an order: the counts, and where the lines go. */
static enum error_code place_pieces(struct output_lines *lines, int64_t count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t i = 0; i < count; i++) {
        lines->piece[i].offset = lines->size;
        lines->size += lines->piece[i].lines.size;
        for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++) {
            const struct tally *part = &lines->piece[i].tally[split];
            rc = tally_merge(&lines->config.tally[split], &part->loss, part->count, part->score,
                             part->truth, part->score_count, err);
        }
    }
    return rc;
}

static enum error_code run(struct output_lines *lines, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&lines->failure);
    thread_pool_run(lines->config.pool, count, body, lines);
    return first_failure_end(&lines->failure, err);
}

enum error_code output_lines_write(struct output_lines *lines, struct error *err)
{
    const struct output_rows *rows = lines->config.rows;
    const uint32_t at_a_time = (uint32_t)lines->piece_count * OUTPUT_PIECE_ROWS;
    enum error_code rc = ERROR_NONE;
    for (uint32_t first = rows->first, end = 0; rc == ERROR_NONE && first < rows->end;
         first = end) {
        end = rows->end - first < at_a_time ? rows->end : first + at_a_time;
        const int64_t count = ((int64_t)end - first + OUTPUT_PIECE_ROWS - 1) / OUTPUT_PIECE_ROWS;
        lines->first = first;
        rc = run(lines, count, make_piece, err);
        if (rc == ERROR_NONE)
            rc = place_pieces(lines, count, err);
        if (rc == ERROR_NONE && lines->config.path)
            rc = run(lines, count, write_piece, err);
    }
    return rc;
}

enum error_code output_lines_finish(struct output_lines *lines, struct error *err)
{
    const int fd = lines->fd_plus_one - 1;
    lines->fd_plus_one = 0;
    return fd < 0 || close(fd) == 0
               ? ERROR_NONE
               : error_set_errno(err, ERROR_IO, "%s cannot be written", lines->config.path);
}

enum error_code output_lines_write_ids(const char *path, const struct prediction_table *table,
                                       uint32_t node_count, struct error *err)
{
    enum { NODES = 4096 };
    struct prediction_lines lines = {0};
    int fd = -1;
    enum error_code rc = create(path, &fd, err);
    if (rc == ERROR_NONE)
        rc = file_write_all(fd, node_id_header, strlen(node_id_header), path, err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < node_count; node++) {
        rc = prediction_lines_add_id(&lines, table, node, err);
        if (rc == ERROR_NONE && (node % NODES == NODES - 1 || node == node_count - 1)) {
            rc = file_write_all(fd, lines.text, lines.size, path, err);
            lines.size = 0;
        }
    }
    if (fd >= 0 && close(fd) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be written", path);
    prediction_lines_release(&lines);
    return rc;
}
