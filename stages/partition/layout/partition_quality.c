#include "stages/partition/layout/partition_quality.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/records/dataset/dataset_types.h"

#include <math.h>

/* Returns the columns of features; with several types the mean over all nodes, rounded up. */
static uint32_t mean_dim(const struct dataset_schema *schema)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        const struct node_type type = dataset_type(schema, t);
        sum += (uint64_t)type.feature_dim * type.node_count;
    }
    return (uint32_t)((sum + schema->node_count - 1) / schema->node_count);
}

static enum error_code init_relations(struct partition_quality *quality, struct error *err)
{
    struct partition_report *report = &quality->report;
    report->relation_count = quality->schema->edge_type_count;
    enum error_code rc =
        memory_new(&report->relation, report->relation_count, "the figures of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < report->relation_count; r++)
        must(text_copy(report->relation[r].name, sizeof report->relation[r].name,
                       quality->schema->edge_type[r].name));
    if (rc == ERROR_NONE)
        rc = memory_new(&quality->met_by_relation, report->node_count, "the halo count", err);
    return rc;
}

enum error_code partition_quality_init(struct partition_quality *quality, const char *partition_id,
                                       const struct dataset_schema *schema, int part_count,
                                       struct error *err)
{
    *quality = (struct partition_quality){.schema = schema};
    struct partition_report *report = &quality->report;
    must(text_copy(report->id, sizeof report->id, partition_id));
    report->part_count = part_count;
    report->node_count = schema->node_count;
    report->feature_dim = mean_dim(schema);
    enum error_code rc = memory_new(&report->part, (size_t)part_count, "the figures of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&quality->met, report->node_count, "the halo count", err);
    if (rc == ERROR_NONE && dataset_relation_count(schema) > 1)
        rc = init_relations(quality, err);
    if (rc != ERROR_NONE)
        partition_quality_release(quality);
    return rc;
}

void partition_quality_begin(struct partition_quality *quality, const struct part_measure *measure)
{
    quality->report.part[measure->part] =
        (struct part_figures){.nodes = measure->node_count, .train = measure->train_count};
}

void partition_quality_add_edges(struct partition_quality *quality,
                                 const struct part_measure *measure, uint32_t r,
                                 const uint32_t *neighbor, uint64_t count)
{
    const struct dataset_schema *schema = quality->schema;
    const uint32_t source_type = dataset_relation(schema, r).source_type;
    const uint32_t dim = dataset_type(schema, source_type).feature_dim;
    struct partition_report *report = &quality->report;
    struct part_figures *figures = &report->part[measure->part];
    const uint32_t mark = (uint32_t)measure->part + 1;
    const uint32_t own_mark = (uint32_t)measure->part * report->relation_count + r + 1;
    uint64_t cut = 0, halo = 0;
    for (uint64_t e = 0; e < count; e++) {
        const uint32_t source = neighbor[e];
        if (source >= measure->first_node && source - measure->first_node < measure->node_count)
            continue;
        cut++;
        if (quality->met[source] != mark) {
            figures->halo++;
            report->halo_bytes += dim * sizeof(float);
        }
        quality->met[source] = mark;
        if (quality->met_by_relation) {
            halo += quality->met_by_relation[source] != own_mark;
            quality->met_by_relation[source] = own_mark;
        }
    }
    figures->edges += count;
    figures->cut_edges += cut;
    if (report->relation_count) {
        report->relation[r].edges += count;
        report->relation[r].cut_edges += cut;
        report->relation[r].halo += halo;
    }
}

void partition_quality_add(struct partition_quality *quality, const struct part_measure *measure,
                           const struct topology_arrays *relation)
{
    partition_quality_begin(quality, measure);
    for (uint32_t r = 0; r < dataset_relation_count(quality->schema); r++)
        partition_quality_add_edges(quality, measure, r, relation[r].neighbor,
                                    relation[r].edge_count);
}

/* Counts a node at an end of an edge of relation `r` that the part holds, if its master is in
 * another part: once for the part, and once for the relation in it. */
static void meet_end(struct partition_quality *quality, const struct part_measure *measure,
                     uint32_t r, uint32_t type, uint32_t node)
{
    struct partition_report *report = &quality->report;
    const uint32_t mark = (uint32_t)measure->part + 1;
    const uint32_t own_mark = (uint32_t)measure->part * report->relation_count + r + 1;
    if (node >= measure->first_node && node - measure->first_node < measure->node_count)
        return;
    if (quality->met[node] != mark) {
        report->part[measure->part].halo++;
        report->halo_bytes += dataset_type(quality->schema, type).feature_dim * sizeof(float);
    }
    quality->met[node] = mark;
    if (!quality->met_by_relation)
        return;
    report->relation[r].halo += quality->met_by_relation[node] != own_mark;
    quality->met_by_relation[node] = own_mark;
}

/* Adds the edges of one relation that a part holds. */
static void add_held(struct partition_quality *quality, const struct part_measure *measure,
                     const uint32_t *book, uint32_t r, const struct topology_held *held)
{
    struct partition_report *report = &quality->report;
    const struct topology parts = {.part_count = report->part_count, .book = book};
    const struct relation relation = dataset_relation(quality->schema, r);
    uint64_t cut = 0;
    for (uint32_t row = 0; row < held->row_count; row++) {
        const uint32_t target = held->row_node[row];
        const int master = topology_part_of(&parts, target);
        meet_end(quality, measure, r, relation.target_type, target);
        for (uint64_t e = held->row_start[row]; e < held->row_start[row + 1]; e++) {
            const uint32_t source = held->neighbor[e];
            meet_end(quality, measure, r, relation.source_type, source);
            cut += source < book[master] || source >= book[master + 1];
        }
    }
    report->part[measure->part].edges += held->edge_count;
    report->part[measure->part].cut_edges += cut;
    if (report->relation_count) {
        report->relation[r].edges += held->edge_count;
        report->relation[r].cut_edges += cut;
    }
}

void partition_quality_add_held(struct partition_quality *quality,
                                const struct part_measure *measure, const uint32_t *book,
                                const struct topology_held *relation)
{
    partition_quality_begin(quality, measure);
    for (uint32_t r = 0; r < dataset_relation_count(quality->schema); r++)
        add_held(quality, measure, book, r, &relation[r]);
}

struct balance partition_quality_balance(const uint64_t *value, size_t stride, int count)
{
    struct balance balance = {.least = UINT64_MAX};
    double sum = 0.0, squares = 0.0;
    for (int p = 0; p < count; p++) {
        const uint64_t of_part = value[(size_t)p * stride];
        balance.least = of_part < balance.least ? of_part : balance.least;
        balance.most = of_part > balance.most ? of_part : balance.most;
        sum += (double)of_part;
    }
    const double mean = sum / count;
    for (int p = 0; p < count; p++) {
        const double apart = (double)value[(size_t)p * stride] - mean;
        squares += apart * apart;
    }
    if (balance.least > 0)
        balance.ratio = (double)balance.most / (double)balance.least;
    if (mean > 0.0)
        balance.variation = sqrt(squares / count) / mean;
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
    const size_t stride = sizeof *report->part / sizeof(uint64_t);
    report->nodes = partition_quality_balance(&report->part->nodes, stride, report->part_count);
    report->edges = partition_quality_balance(&report->part->edges, stride, report->part_count);
    report->train = partition_quality_balance(&report->part->train, stride, report->part_count);
    return report;
}

void partition_quality_release(struct partition_quality *quality)
{
    partition_report_release(&quality->report);
    memory_free(quality->met);
    memory_free(quality->met_by_relation);
    *quality = (struct partition_quality){0};
}
