#include "pipelines/export/export_parts.h"

#include "common/base/memory.h"
#include "common/files/text_file.h"
#include "pipelines/export/batch_loads.h"
#include "store/records/partition/partition_report.h"

#include <inttypes.h>
#include <stdio.h>

struct parts_table { /* {0} is empty */
    int count;
    bool has_rows, has_times;
    struct partition_report report;
    struct load_figures figures;
    struct part_time *time; /* [count], owned */
};

enum error_code export_part_times(const struct run_folder *folder, struct part_time **out,
                                  struct error *err)
{
    const int parts = folder->run.book.part_count;
    struct run_times times = {0};
    char path[FILE_PATH_SIZE];
    enum error_code rc = memory_new(out, (size_t)parts, "times of parts", err);
    if (rc != ERROR_NONE || !folder->path[0]) /* a store elsewhere has no times */
        return rc;
    rc = file_path(path, err, "%s/times", folder->path);
    if (rc == ERROR_NONE)
        rc = run_times_read(path, folder->run.plan.id, &times, err);
    if (rc == ERROR_NONE)
        rc = part_times_find(&times, parts, *out, err);
    run_times_release(&times);
    return rc;
}

static enum error_code read_rows(const struct run_folder *folder, struct parts_table *table,
                                 struct error *err)
{
    struct node_loads loads = {0};
    const enum error_code rc = batch_loads_count(folder, &loads, &table->figures, err);
    node_loads_release(&loads);
    table->has_rows = rc == ERROR_NONE;
    return rc == ERROR_NOT_FOUND && table->figures.batches == 0 ? ERROR_NONE : rc;
}

static enum error_code read_table(const struct run_folder *folder, struct parts_table *table,
                                  struct error *err)
{
    table->count = folder->run.book.part_count;
    enum error_code rc =
        partition_report_get(folder->store, folder->run.book.id, &table->report, err);
    if (rc == ERROR_NONE && table->report.part_count != table->count)
        rc = error_set(err, ERROR_CORRUPT, "report of partition %s: %d parts, expected %d",
                       folder->run.book.id, table->report.part_count, table->count);
    if (rc == ERROR_NONE)
        rc = export_part_times(folder, &table->time, err);
    if (rc != ERROR_NONE)
        return rc;
    table->has_times = part_times_are_known(table->time, table->count);
    rc = read_rows(folder, table, err);
    if (rc == ERROR_NONE && !table->has_rows && !table->has_times)
        rc = error_set(err, ERROR_NOT_FOUND,
                       "run %s keeps no mini-batch (checkpoint.keep: 0 keeps every one), and its "
                       "folder has no times of parts",
                       folder->run.plan.id);
    return rc;
}

static void put_rows(const struct parts_table *table, int p, FILE *file)
{
    if (table->has_rows)
        (void)fprintf(file, ",%" PRIu64 ",%" PRIu64, table->figures.reads[p],
                      table->figures.remote[p]);
    else
        (void)fputs(",,", file);
}

static void put_times(const struct parts_table *table, int p, FILE *file)
{
    const struct part_time *time = &table->time[p];
    if (table->has_times)
        (void)fprintf(file, ",%.6f,%.6f,%.6f,%.6f,%d", time->sample, time->step, time->infer,
                      time->waited, time->last);
    else
        (void)fputs(",,,,,", file);
}

static void put_from(const struct parts_table *table, int p, FILE *file)
{
    const size_t count = (size_t)table->count;
    for (size_t other = 0; other < count; other++)
        if (table->has_rows)
            (void)fprintf(file, ",%" PRIu64, table->figures.from[(size_t)p * count + other]);
        else
            (void)fputc(',', file);
}

static enum error_code write_lines(void *context, FILE *file, struct error *err)
{
    const struct parts_table *table = context;
    (void)err;
    (void)fputs("part,nodes,edges,reads,remote,sample,step,infer,waited,last", file);
    for (int p = 0; p < table->count; p++)
        (void)fprintf(file, ",from_%d", p);
    (void)fputc('\n', file);
    for (int p = 0; p < table->count; p++) {
        const struct part_figures *part = &table->report.part[p];
        (void)fprintf(file, "%d,%" PRIu64 ",%" PRIu64, p, part->nodes, part->edges);
        put_rows(table, p, file);
        put_times(table, p, file);
        put_from(table, p, file);
        (void)fputc('\n', file);
    }
    return ERROR_NONE;
}

enum error_code export_parts(const struct run_folder *folder, const char *path, struct error *err)
{
    struct parts_table table = {0};
    enum error_code rc = read_table(folder, &table, err);
    if (rc == ERROR_NONE)
        rc = text_file_write(path, write_lines, &table, err);
    partition_report_release(&table.report);
    load_figures_release(&table.figures);
    memory_free(table.time);
    return rc;
}
