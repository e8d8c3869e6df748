/* Compares several runs: scores, curves, differing settings, time by stage. */
#include "common/base/text.h"
#include "common/nn/tasks/task.h"
#include "pipelines/report/report_page.h"
#include "pipelines/report/report_sections.h"

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

/* --- settings --- */

/* Returns the value [size] after "KEY = " in lines of settings, or NULL. */
static const char *find_value(const char *lines, const char *key, size_t key_size, size_t *size)
{
    for (const char *line = lines; *line; line += line[0] == '\n') {
        const size_t length = strcspn(line, "\n");
        if (length > key_size + 3 && strncmp(line, key, key_size) == 0 &&
            strncmp(line + key_size, " = ", 3) == 0) {
            *size = length - key_size - 3;
            return line + key_size + 3;
        }
        line += length;
    }
    *size = 0;
    return NULL;
}

static void put_value(struct html_text *html, const char *value, size_t size)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%.*s", (int)size, value ? value : "");
    html_put(html, "<td>");
    html_put_escaped(html, text_shorten_fractions(text));
    html_put(html, "</td>");
}

/* Writes a row if the runs differ in the setting. Returns whether they do. */
static bool put_setting(struct html_text *html, struct report_run *const *run, int count,
                        const char *key, size_t key_size)
{
    size_t first_size = 0, size = 0;
    const char *first = find_value(run[0]->folder.run.plan.settings, key, key_size, &first_size);
    bool differs = false;
    for (int i = 1; i < count; i++) {
        const char *value = find_value(run[i]->folder.run.plan.settings, key, key_size, &size);
        differs |= size != first_size || (size && memcmp(first, value, size) != 0);
    }
    if (!differs)
        return false;
    /* a name from our table, so it needs no escaping */
    html_put(html, "<tr><td>%.*s</td>", (int)key_size, key);
    for (int i = 0; i < count; i++) {
        const char *value = find_value(run[i]->folder.run.plan.settings, key, key_size, &size);
        put_value(html, value, size);
    }
    html_put(html, "</tr>");
    return true;
}

/* Writes the settings of the first run that differ, and those that only other runs have. */
static void put_differences(struct html_text *html, struct report_run *const *run, int count)
{
    bool any = false;
    html_put(html, "<section class=settings><h2>Settings that differ</h2>");
    put_run_heads(html, "setting", run, count);
    for (int i = 0; i < count; i++)
        for (const char *line = run[i]->folder.run.plan.settings; *line;) {
            const size_t length = strcspn(line, "\n"), name = strcspn(line, " =\n");
            size_t size = 0;
            bool is_listed = name == 0;
            for (int k = 0; k < i; k++)
                is_listed |=
                    find_value(run[k]->folder.run.plan.settings, line, name, &size) != NULL;
            if (!is_listed)
                any |= put_setting(html, run, count, line, name);
            line += length + (line[length] == '\n');
        }
    report_table_end(html);
    if (!any)
        html_put(html, "<p class=none>none</p>");
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

/* Writes the stages of the run that has most of them as rows. */
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
