#include "stages/partition/check/partition_quality.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <math.h>
#include <stddef.h>

enum error_code partition_quality_init(struct partition_quality *quality, const char *partition_id,
                                       uint32_t node_count, int part_count, uint32_t feature_dim,
                                       struct error *err)
{
    *quality = (struct partition_quality){0};
    struct partition_report *report = &quality->report;
    must(text_copy(report->id, sizeof report->id, partition_id));
    report->part_count = part_count;
    report->node_count = node_count;
    report->feature_dim = feature_dim;
    enum error_code rc = memory_new(&report->part, (size_t)part_count, "the figures of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&quality->met, node_count, "the halo count", err);
    if (rc != ERROR_NONE)
        partition_quality_release(quality);
    return rc;
}

void partition_quality_add(struct partition_quality *quality, int part,
                           const struct topology_arrays *rows, uint64_t train_count)
{
    struct part_figures *figures = &quality->report.part[part];
    const uint32_t mark = (uint32_t)part + 1;
    *figures = (struct part_figures){
        .nodes = rows->node_count, .edges = rows->edge_count, .train = train_count};
    for (uint64_t e = 0; e < rows->edge_count; e++) {
        const uint32_t source = rows->neighbor[e];
        if (source >= rows->first_node && source - rows->first_node < rows->node_count)
            continue;
        figures->cut_edges++;
        figures->halo += quality->met[source] != mark;
        quality->met[source] = mark;
    }
}

/* The balance of the uint64_t at `offset` in each part's figures. */
static struct balance balance_of(const struct partition_report *report, size_t offset)
{
    struct balance balance = {.least = UINT64_MAX};
    double sum = 0.0, squares = 0.0;
    for (int p = 0; p < report->part_count; p++) {
        const uint64_t value = *(const uint64_t *)((const char *)&report->part[p] + offset);
        balance.least = value < balance.least ? value : balance.least;
        balance.most = value > balance.most ? value : balance.most;
        sum += (double)value;
    }
    const double mean = sum / report->part_count;
    for (int p = 0; p < report->part_count; p++) {
        const uint64_t value = *(const uint64_t *)((const char *)&report->part[p] + offset);
        squares += ((double)value - mean) * ((double)value - mean);
    }
    if (balance.least > 0)
        balance.ratio = (double)balance.most / (double)balance.least;
    if (mean > 0.0)
        balance.variation = sqrt(squares / report->part_count) / mean;
    return balance;
}

const struct partition_report *partition_quality_finish(struct partition_quality *quality)
{
    struct partition_report *report = &quality->report;
    report->edge_count = report->cut_edges = report->halo = 0;
    for (int p = 0; p < report->part_count; p++) {
        report->edge_count += report->part[p].edges;
        report->cut_edges += report->part[p].cut_edges;
        report->halo += report->part[p].halo;
    }
    report->cut_share =
        report->edge_count ? (double)report->cut_edges / (double)report->edge_count : 0.0;
    report->replication_factor =
        (double)(report->node_count + report->halo) / (double)report->node_count;
    report->halo_bytes = report->halo * report->feature_dim * sizeof(float);
    report->nodes = balance_of(report, offsetof(struct part_figures, nodes));
    report->edges = balance_of(report, offsetof(struct part_figures, edges));
    report->train = balance_of(report, offsetof(struct part_figures, train));
    return report;
}

void partition_quality_release(struct partition_quality *quality)
{
    partition_report_release(&quality->report);
    memory_free(quality->met);
    *quality = (struct partition_quality){0};
}
