/* Several runs beside each other: scores, curves, what their settings differ in, time by stage. */
#include "common/base/text.h"
#include "common/nn/tasks/task.h"
#include "pipelines/report/report_page.h"
#include "pipelines/report/report_sections.h"
#include "stages/plan/pipeline_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_run_heads(struct html_text *html, const char *first, struct report_run *const *run,
                          int count)
{
    const char *head[REPORT_RUNS_MAX + 1] = {first};
    for (int i = 0; i < count; i++)
        head[i + 1] = run[i]->folder.run.plan.id;
    report_table_begin(html, head, (size_t)count + 1);
}

static void put_score_row(struct html_text *html, struct report_run *const *run, int count,
                          const char *split, const struct metric_row *metric)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= isfinite(report_run_score(run[i], split, metric->name));
    if (!any)
        return;
    html_put(html, "<tr><td>%s %s</td>", split, metric->title);
    for (int i = 0; i < count; i++)
        report_cell_score(html, report_run_score(run[i], split, metric->name));
    html_put(html, "</tr>");
}

static void put_hashes(struct html_text *html, struct report_run *const *run, int count)
{
    html_put(html, "<tr><td>weights hash</td>");
    for (int i = 0; i < count; i++) {
        char hash[CHECKSUM_TEXT_SIZE] = "";
        if (run[i]->state.finished)
            checksum_text(&run[i]->seal.weights.sum, hash);
        html_put(html, "<td><code>%.12s</code></td>", hash);
    }
    html_put(html, "</tr>");
}

static void put_scores(struct html_text *html, struct report_run *const *run, int count)
{
    html_put(html, "<section><h2>Result</h2>");
    put_run_heads(html, "score", run, count);
    for (int s = REPORT_SPLITS - 1; s >= 0; s--)
        for (enum metric m = 0; m < METRIC_COUNT; m++)
            put_score_row(html, run, count, report_split[s], &metric_table[m]);
    put_hashes(html, run, count);
    report_table_end(html);
    html_put(html, "</section>");
}

static void put_differences(struct html_text *html, struct report_run *const *run, int count)
{
    const unsigned all = SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING |
                         SETTING_OF_TARGET | SETTING_OF_OUTPUTS | SETTING_OF_OPERATION;
    char text[SETTING_CHANGES_SIZE];
    html_put(html, "<section><h2>Settings, from the first run to each other</h2>");
    for (int i = 1; i < count; i++) {
        html_put(html, "<p><code>");
        html_put_escaped(html, run[i]->folder.run.plan.id);
        html_put(html, "</code>: ");
        const bool differ = pipeline_settings_changes(&run[0]->folder.run.settings,
                                                      &run[i]->folder.run.settings, all, text);
        html_put_escaped(html, differ ? text : "the same");
        html_put(html, "</p>");
    }
    html_put(html, "</section>");
}

static const struct stage_figures *find_stage(const struct stage_figures *stage, size_t count,
                                              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(stage[i].stage, name) == 0)
            return &stage[i];
    return NULL;
}

/* The rows are the stages of the run that has most. */
static void put_stages(struct html_text *html, struct report_run *const *run, int count)
{
    static struct stage_figures stage[REPORT_RUNS_MAX][STAGE_FIGURES_MAX];
    size_t stage_count[REPORT_RUNS_MAX] = {0};
    int longest = 0;
    for (int i = 0; i < count; i++) {
        stage_count[i] = run_times_by_stage(&run[i]->times, stage[i]);
        longest = stage_count[i] > stage_count[longest] ? i : longest;
    }
    html_put(html, "<section><h2>Seconds that the workers of a stage were busy, and the memory of "
                   "the largest</h2>");
    put_run_heads(html, "stage", run, count);
    for (size_t s = 0; s < stage_count[longest]; s++) {
        html_put(html, "<tr>");
        html_put_element(html, "td", stage[longest][s].stage);
        for (int i = 0; i < count; i++) {
            char size[32];
            const struct stage_figures *f =
                find_stage(stage[i], stage_count[i], stage[longest][s].stage);
            if (f)
                html_put(html, "<td>%.2f, %s</td>", f->read + f->compute + f->write + f->hand_over,
                         text_size((uint64_t)f->peak_bytes, size));
            else
                html_put(html, "<td></td>");
        }
        html_put(html, "</tr>");
    }
    report_table_end(html);
    html_put(html, "</section>");
}

void report_put_comparison(struct html_text *html, struct report_run *const *run, int count)
{
    html_put(html, "<h1>%d runs compared</h1>", count);
    put_scores(html, run, count);
    put_differences(html, run, count);
    report_put_learning(html, run, count);
    put_stages(html, run, count);
}
