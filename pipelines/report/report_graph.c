/* Writes the section about the graph and its parts. */
#include "common/base/text.h"
#include "pipelines/report/charts/chart.h"
#include "pipelines/report/report_sections.h"

#include <inttypes.h>
#include <stdio.h>

enum { PARTS_IN_TABLE_MAX = 64 };

static void put_fact(struct html_text *html, const char *name, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void put_fact(struct html_text *html, const char *name, const char *format, ...)
{
    char text[1100];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    html_put(html, "<tr>");
    html_put_element(html, "td", name);
    html_put_element(html, "td", text);
    html_put(html, "</tr>");
}

/* Writes the number of types; nothing for one type, as most graphs have. */
static const char *of_types(uint32_t count, char text[32])
{
    text[0] = '\0';
    if (count > 1)
        (void)snprintf(text, 32, " of %u types", count);
    return text;
}

/* Writes a row for each file and each warning that ingest stored with the dataset. */
static void put_input(struct html_text *html, const struct report_run *run)
{
    static const char *const key[] = {"input", "warnings"}, *const name[] = {"input", "warning"};
    for (int k = 0; run->input && k < 2; k++) {
        const struct json_node *lines = json_get(json_root(run->input), key[k]);
        for (size_t i = 0; lines && i < json_count(lines); i++)
            put_fact(html, name[k], "%s", json_text(json_at(lines, i)));
    }
}

static void put_dataset(struct html_text *html, const struct report_run *run)
{
    const struct dataset_schema *d = &run->dataset;
    char a[32], b[32], c[32], types[32];
    html_put(html, "<h3>Dataset</h3><div class='wide facts'><table><tbody>");
    put_fact(html, "id", "%s", d->id);
    put_fact(html, "nodes", "%s%s", text_count(d->node_count, a),
             of_types(d->node_type_count, types));
    put_fact(html, "edges", "%s as stored%s, %s; %s to themselves",
             text_count((int64_t)d->edge_count, a), of_types(d->edge_type_count, types),
             d->undirected ? "both ways" : "directed", text_count((int64_t)d->self_loop_count, b));
    put_fact(html, "removed", "%s repeated edges, %s self loops of %s lines read",
             text_count((int64_t)d->removed_duplicates, a),
             text_count((int64_t)d->removed_self_loops, b),
             text_count((int64_t)d->input_edge_rows, c));
    put_fact(html, "features", "%u columns, %s", d->feature_dim, d->feature_origin);
    if (d->class_count)
        put_fact(html, "labels", "%s, %u classes", task_name(d->task), d->class_count);
    else
        put_fact(html, "labels", "%s", task_name(d->task));
    put_fact(html, "train, valid, test", "%s, %s, %s", text_count(d->train_count, a),
             text_count(d->valid_count, b), text_count(d->test_count, c));
    put_input(html, run);
    html_put(html, "</tbody></table></div>");
}

static void put_degrees(struct html_text *html, const struct graph_figures *graph)
{
    struct chart_column column[DEGREE_BINS];
    size_t count = 0;
    char nodes[32];
    for (int bin = 0; bin < DEGREE_BINS; bin++) {
        const uint64_t least = bin ? UINT64_C(1) << (bin - 1) : 0;
        if (graph->largest_degree < least)
            break;
        const uint64_t most = bin ? 2 * least - 1 : 0;
        struct chart_column *c = &column[count++];
        c->value = (double)graph->nodes_of_degree[bin];
        (void)snprintf(c->name, sizeof c->name, "%" PRIu64, least);
        (void)snprintf(c->note, sizeof c->note, "in-degree %" PRIu64 " to %" PRIu64 ": %s nodes",
                       least, most, text_count((int64_t)graph->nodes_of_degree[bin], nodes));
    }
    if (graph->nodes == 0)
        return;
    chart_columns(html, "Nodes by in-degree, each column twice as wide as the one before", column,
                  count);
    html_put(html, "<p class=dim>mean %.2f, largest %" PRIu64 "</p>",
             (double)graph->edges / (double)graph->nodes, graph->largest_degree);
}

static void put_balance(struct html_text *html, const char *name,
                        const struct partition_report *report, const struct balance *balance)
{
    char text[32];
    html_put(html, "<tr><td>%s</td><td>%s</td>", name, text_count((int64_t)balance->least, text));
    html_put(html, "<td>%s</td><td>%.3f</td><td>%.4f</td><td>%.3f</td></tr>",
             text_count((int64_t)balance->most, text), balance->ratio, balance->variation,
             partition_report_efficiency(report, balance));
}

static void put_parts(struct html_text *html, const struct partition_report *report)
{
    static const char *const head[] = {"part", "nodes", "edges", "cut", "halo", "training nodes"};
    if (report->part_count > PARTS_IN_TABLE_MAX)
        return;
    html_put(html, "<details><summary>each part</summary>");
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (int p = 0; p < report->part_count; p++) {
        html_put(html, "<tr><td>%d</td>", p);
        report_cell_count(html, (double)report->part[p].nodes);
        report_cell_count(html, (double)report->part[p].edges);
        report_cell_count(html, (double)report->part[p].cut_edges);
        report_cell_count(html, (double)report->part[p].halo);
        report_cell_count(html, (double)report->part[p].train);
        html_put(html, "</tr>");
    }
    report_table_end(html);
    html_put(html, "</details>");
}

static void put_partition(struct html_text *html, const struct report_run *run)
{
    static const char *const head[] = {"of each part", "least", "most",
                                       "ratio",        "CV",    "mean / most"};
    const struct partition_report *report = &run->partition;
    char text[32];
    if (report->part_count == 0)
        return;
    html_put(html,
             "<h3>Partition</h3><p>%d parts; %.2f %% of the edges are cut; a node is in %.3f "
             "parts; %s of features are of halo nodes.</p>",
             report->part_count, 100.0 * report->cut_share, report->replication_factor,
             text_size(report->halo_bytes, text));
    report_table_begin(html, head, sizeof head / sizeof *head);
    put_balance(html, "nodes", report, &report->nodes);
    put_balance(html, "edges", report, &report->edges);
    put_balance(html, "training nodes", report, &report->train);
    report_table_end(html);
    html_put(html, "<p class=dim>CV: coefficient of variation, deviation by mean</p>");
    put_parts(html, report);
}

void report_put_graph(struct html_text *html, const struct report_run *run)
{
    const struct chart_matrix cut = {.title = "Edges between parts",
                                     .row_name = "into part",
                                     .column_name = "from part",
                                     .value = run->graph.cut,
                                     .size = (size_t)run->graph.cut_parts};
    html_put(html, "<section><h2>Graph</h2><div class=pair><div>");
    put_dataset(html, run);
    html_put(html, "</div><div>");
    put_degrees(html, &run->graph);
    html_put(html, "</div></div><div class=pair><div>");
    put_partition(html, run);
    html_put(html, "</div><div>");
    if (cut.value)
        chart_matrix(html, &cut);
    html_put(html, "</div></div></section>");
}
