/* Writes the section about the work: what each worker did when, the cost, and the repaired
 * failures. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/report/charts/chart.h"
#include "pipelines/report/part_times.h"
#include "pipelines/report/report_sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LANES_MAX = 64, SPANS_MAX = 2000, PARTS_IN_TABLE_MAX = 64 };

/* The lanes of a timeline, and the spans of all lanes one after another. */
struct timeline {
    struct chart_lane lane[LANES_MAX];
    size_t lane_count;
    struct chart_span *span; /* [SPANS_MAX] */
    size_t span_count;
    double end;
};

static int colour_of(const struct stage_figures *stage, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(stage[i].stage, name) == 0)
            return (int)i;
    return 0;
}

static bool is_of(const struct time_span *span, const char *stage, const char *worker)
{
    return strcmp(span->stage, stage) == 0 && strcmp(span->worker, worker) == 0;
}

static double busy_seconds(const struct time_span *span)
{
    return span->read + span->compute + span->write + span->hand_over;
}

/* Makes a span. In an epoch of waiting alone the busy share is 0. */
static struct chart_span span_of(const struct time_span *span, double origin, int colour)
{
    const double length = span->last_end - span->first;
    struct chart_span out = {.begin = span->first - origin,
                             .end = span->last_end - origin,
                             .busy = length > 0.0 ? fmin(1.0, busy_seconds(span) / length) : 0.0,
                             .colour = colour};
    (void)snprintf(out.note, sizeof out.note,
                   "%.40s, epoch %" PRId64 ": %" PRId64 " units, busy %.3f s, waiting %.3f s",
                   span->unit, span->epoch, span->units, busy_seconds(span), span->wait);
    return out;
}

static bool is_listed(const struct timeline *line, const struct run_times *times, size_t index,
                      const size_t *first_span)
{
    for (size_t l = 0; l < line->lane_count; l++)
        if (is_of(&times->span[index], times->span[first_span[l]].stage,
                  times->span[first_span[l]].worker))
            return true;
    return false;
}

/* Fills the lanes, ordered by stage and within a stage as in the file. */
static void fill_lanes(struct timeline *line, const struct run_times *times,
                       const struct stage_figures *stage, size_t stage_count, double origin)
{
    size_t first_span[LANES_MAX] = {0};
    for (size_t s = 0; s < stage_count; s++)
        for (size_t i = 0; i < times->span_count && line->lane_count < LANES_MAX; i++) {
            if (strcmp(times->span[i].stage, stage[s].stage) != 0 ||
                is_listed(line, times, i, first_span))
                continue;
            struct chart_lane *lane = &line->lane[line->lane_count];
            first_span[line->lane_count++] = i;
            *lane =
                (struct chart_lane){.name = strchr(times->span[i].worker, '-') &&
                                                    strncmp(times->span[i].worker, stage[s].stage,
                                                            strlen(stage[s].stage)) == 0
                                                ? times->span[i].worker
                                                : stage[s].stage,
                                    .span = line->span + line->span_count};
            for (size_t k = i; k < times->span_count && line->span_count < SPANS_MAX; k++) {
                if (!is_of(&times->span[k], stage[s].stage, times->span[i].worker))
                    continue;
                line->span[line->span_count++] =
                    span_of(&times->span[k], origin, colour_of(stage, stage_count, stage[s].stage));
                lane->span_count++;
            }
        }
}

static void put_timeline(struct html_text *html, const struct run_times *times,
                         const struct stage_figures *stage, size_t stage_count)
{
    static struct timeline line;
    double origin = (double)INFINITY, end = -(double)INFINITY;
    line = (struct timeline){0};
    for (size_t i = 0; i < times->span_count; i++) {
        origin = fmin(origin, times->span[i].first);
        end = fmax(end, times->span[i].last_end);
    }
    if (times->span_count == 0 || memory_new(&line.span, SPANS_MAX, "a report", NULL) != ERROR_NONE)
        return;
    fill_lanes(&line, times, stage, stage_count, origin);
    chart_timeline(html, "Work of each worker; pale where it waited", line.lane, line.lane_count,
                   end - origin);
    memory_free(line.span);
}

static void put_stage_times(struct html_text *html, const struct stage_figures *stage, size_t count)
{
    static const char *const head[] = {"stage",       "workers", "units",          "open s",
                                       "wait s",      "read s",  "compute s",      "write s",
                                       "hand-over s", "CPU s",   "CV of busy time"};
    html_put(html, "<h3>Time, all workers of a stage together</h3>");
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < count; i++) {
        const struct stage_figures *s = &stage[i];
        const double seconds[] = {s->open,  s->wait,      s->read, s->compute,
                                  s->write, s->hand_over, s->cpu};
        html_put(html, "<tr>");
        html_put_element(html, "td", s->stage);
        html_put(html, "<td>%d</td>", s->workers);
        report_cell_count(html, (double)s->units);
        for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++)
            report_cell_seconds(html, seconds[k]);
        if (s->workers > 1)
            html_put(html, "<td>%.3f</td></tr>", s->busy_variation);
        else
            html_put(html, "<td>&ndash;</td></tr>");
    }
    report_table_end(html);
    html_put(html,
             "<p class=dim>CV of busy time: how unlike the workers of a stage are, deviation by "
             "mean; of one worker there is none</p>");
}

/* Writes the bytes of each stage. The last column is the share of the feature rows that did not
 * have to be read from disk. */
static void put_stage_bytes(struct html_text *html, const struct stage_figures *stage, size_t count)
{
    static const char *const head[] = {"stage",           "peak memory",       "records read",
                                       "records written", "feature rows",      "from disk",
                                       "to disk",         "rows not from disk"};
    html_put(html, "<h3>Memory of the largest worker, and bytes of all</h3>");
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < count; i++) {
        const struct stage_figures *s = &stage[i];
        html_put(html, "<tr>");
        html_put_element(html, "td", s->stage);
        report_cell_bytes(html, s->peak_bytes);
        report_cell_bytes(html, s->bytes_read);
        report_cell_bytes(html, s->bytes_written);
        report_cell_bytes(html, s->row_bytes);
        report_cell_bytes(html, s->disk_bytes_read);
        report_cell_bytes(html, s->disk_bytes_written);
        if (s->row_bytes > 0.0)
            html_put(html, "<td>%.1f %%</td></tr>",
                     100.0 * fmax(0.0, 1.0 - s->disk_bytes_read / s->row_bytes));
        else
            html_put(html, "<td></td></tr>");
    }
    report_table_end(html);
}

/* Writes the figures of train-step.gradient, unless gradients are floats. */
static void put_encoding(struct html_text *html, const struct stage_figures *stage, size_t count)
{
    static const char *const head[] = {"stage", "seconds", "gradients as stored", "as floats",
                                       "ratio"};
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct stage_figures *s = &stage[i];
        if (s->encoding <= 0.0)
            continue;
        if (!any) {
            html_put(html, "<h3>Encoding of gradients: writing it, and reading it to add up</h3>");
            report_table_begin(html, head, sizeof head / sizeof *head);
        }
        any = true;
        html_put(html, "<tr>");
        html_put_element(html, "td", s->stage);
        report_cell_seconds(html, s->encoding);
        if (s->gradient_float_bytes > 0.0) {
            report_cell_bytes(html, s->gradient_bytes);
            report_cell_bytes(html, s->gradient_float_bytes);
            html_put(html, "<td>%.4f</td></tr>", s->gradient_bytes / s->gradient_float_bytes);
        } else {
            html_put(html, "<td></td><td></td><td></td></tr>");
        }
    }
    if (any)
        report_table_end(html);
}

static void put_part(struct html_text *html, int p, const struct part_figures *part,
                     const struct part_time *time)
{
    html_put(html, "<tr><td>%d</td>", p);
    report_cell_count(html, (double)part->nodes);
    report_cell_count(html, (double)part->edges);
    report_cell_count(html, time->rows);
    report_cell_seconds(html, time->sample);
    report_cell_seconds(html, time->step);
    report_cell_seconds(html, time->infer);
    report_cell_seconds(html, time->waited);
    html_put(html, "<td>%d</td></tr>", time->last);
}

/* Writes the parts, if there is more than one to compare. */
static void put_parts(struct html_text *html, const struct report_run *run)
{
    static const char *const head[] = {"part",    "nodes",    "edges",    "rows read", "drawing s",
                                       "steps s", "layers s", "waited s", "last"};
    const int count = run->partition.part_count;
    struct part_time time[PARTS_IN_TABLE_MAX];
    if (count < 2 || count > PARTS_IN_TABLE_MAX ||
        part_times_find(&run->times, count, time, NULL) != ERROR_NONE ||
        !part_times_are_known(time, count))
        return;
    html_put(html, "<h3>Time by part</h3>");
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (int p = 0; p < count; p++)
        put_part(html, p, &run->partition.part[p], &time[p]);
    report_table_end(html);
    html_put(html,
             "<p class=dim>Rows, drawing, steps: of training, where a unit is of no part: its "
             "seconds fall "
             "to parts by the rows and edges that it read of them. Layers: of inference. Waited: "
             "from the end of a layer of the part to the end of that layer of the last part, which "
             "it was itself as often as the last column says.</p>");
}

static void put_mended(struct html_text *html, const struct report_run *run,
                       const struct stage_figures *stage, size_t count)
{
    html_put(html, "<h3>Retried and mended</h3><p>");
    bool any = false;
    for (size_t i = 0; i < count; i++)
        if (stage[i].lives > stage[i].workers && stage[i].workers > 0) {
            html_put(html, "%s: %d workers in %d lives. ", stage[i].stage, stage[i].workers,
                     stage[i].lives);
            any = true;
        }
    if (run->warnings.warnings + run->warnings.errors == 0)
        html_put(html, "%sNo warning in any worker's log.</p>", any ? "" : "Nothing. ");
    else
        html_put(html, "%zu warnings and %zu errors in the workers' logs.</p>",
                 run->warnings.warnings, run->warnings.errors);
    if (run->warnings.line_count == 0)
        return;
    html_put(html, "<pre>");
    for (size_t i = 0; i < run->warnings.line_count; i++) {
        html_put_escaped(html, run->warnings.line[i]);
        html_put(html, "\n");
    }
    html_put(html, "</pre>");
}

void report_put_work(struct html_text *html, const struct report_run *run)
{
    static struct stage_figures stage[STAGE_FIGURES_MAX];
    const char *name[STAGE_FIGURES_MAX];
    const size_t count = run_times_by_stage(&run->times, stage);
    for (size_t i = 0; i < count; i++)
        name[i] = stage[i].stage;
    html_put(html, "<section><h2>Work</h2>");
    put_timeline(html, &run->times, stage, count);
    chart_legend(html, name, count);
    put_stage_times(html, stage, count);
    put_stage_bytes(html, stage, count);
    put_encoding(html, stage, count);
    put_parts(html, run);
    put_mended(html, run, stage, count);
    html_put(html, "</section>");
}
