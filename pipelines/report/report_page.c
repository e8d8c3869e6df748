#include "pipelines/report/report_page.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/nn/tasks/task.h"
#include "pipelines/report/report_sections.h"
#include "pipelines/report/report_style.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const report_split[REPORT_SPLITS] = {"train", "valid", "test"};

void report_cell_score(struct html_text *html, double value)
{
    isfinite(value) ? html_put(html, "<td>%.4f</td>", value)
                    : html_put(html, "<td>&ndash;</td>"); /* undefined, or not measured */
}

void report_cell_bytes(struct html_text *html, double bytes)
{
    char text[32];
    html_put(html, "<td>%s</td>", bytes >= 1.0 ? text_size((uint64_t)bytes, text) : "");
}

void report_cell_seconds(struct html_text *html, double seconds)
{
    html_put(html, "<td>%.*f</td>", seconds < 10.0 ? 3 : 1, seconds);
}

void report_cell_count(struct html_text *html, double count)
{
    char text[32];
    html_put(html, "<td>%s</td>", text_count((int64_t)llround(count), text));
}

void report_table_begin(struct html_text *html, const char *const *head, size_t count)
{
    html_put(html, "<div class=wide><table><thead><tr>");
    for (size_t i = 0; i < count; i++)
        html_put_element(html, "th", head[i]);
    html_put(html, "</tr></thead><tbody>");
}

void report_table_end(struct html_text *html)
{
    html_put(html, "</tbody></table></div>");
}

static void put_card(struct html_text *html, const char *value, const char *name)
{
    html_put(html, "<div class=card>");
    html_put_element(html, "b", value);
    html_put_element(html, "span", name);
    html_put(html, "</div>");
}

/* Writes the first metric after the loss for each split: the numbers that readers look at first. */
static void put_score_cards(struct html_text *html, const struct report_run *run)
{
    for (int s = 0; s < REPORT_SPLITS; s++)
        for (enum metric m = 0; m < METRIC_COUNT; m++) {
            char score[32], name[96];
            const double value = report_run_score(run, report_split[s], metric_table[m].name);
            if (strcmp(metric_table[m].name, "loss") == 0 || !metric_table[m].is_told ||
                !isfinite(value))
                continue;
            (void)snprintf(name, sizeof name, "%s %s", report_split[s], metric_table[m].title);
            put_card(html, text_score(value, score), name);
            break;
        }
}

static double wall_seconds(const struct run_times *times)
{
    double first = (double)INFINITY, last = -(double)INFINITY;
    for (size_t i = 0; i < times->span_count; i++) {
        first = fmin(first, times->span[i].first);
        last = fmax(last, times->span[i].last_end);
    }
    return last > first ? last - first : 0.0;
}

static void put_cards(struct html_text *html, const struct report_run *run)
{
    char text[64];
    const struct schedule *schedule = &run->folder.run.schedule;
    html_put(html, "<div class=cards>");
    put_score_cards(html, run);
    put_card(html, text_count(run->dataset.node_count, text), "nodes");
    put_card(html, text_count((int64_t)run->dataset.edge_count, text), "edges");
    (void)snprintf(text, sizeof text, "%" PRId64 " of %" PRId64,
                   run->state.snapshot_version < 0 ? 0 : run->state.snapshot_version,
                   schedule->round_count);
    put_card(html, text, "rounds");
    (void)snprintf(text, sizeof text, "%.1f s", wall_seconds(&run->times));
    put_card(html, text, "from first unit to last");
    html_put(html, "</div>");
}

static void put_missing(struct html_text *html, const struct report_run *run)
{
    for (int i = 0; i < run->missing_count; i++) {
        html_put(html, "<p class=none>Left out: ");
        html_put_escaped(html, run->missing[i]);
        html_put(html, "</p>");
    }
}

static void put_run(struct html_text *html, struct report_run *const *run)
{
    const struct report_run *one = run[0];
    html_put_element(html, "h1", one->folder.run.plan.id);
    html_put(html, "<p class=dim>%s; %s; graphmill %s</p>",
             one->state.finished  ? "finished"
             : one->state.stopped ? "trained, outputs not written yet"
                                  : "not finished",
             task_name(one->dataset.task), GRAPHMILL_VERSION);
    put_cards(html, one);
    report_put_results(html, one);
    report_put_learning(html, run, 1);
    report_put_graph(html, one);
    report_put_work(html, one);
    report_put_again(html, one);
    put_missing(html, one);
}

static void put_head(struct html_text *html, const char *title)
{
    html_put(html,
             "<!doctype html><html lang=en><head><meta charset=utf-8><meta " REPORT_PAGE_MARK ">"
             "<meta name=viewport content='width=device-width,initial-scale=1'>"
             "<meta name=color-scheme content='light dark'><title>");
    html_put_escaped(html, title);
    html_put(html, "</title><style>%s</style></head><body><main>", report_style);
}

enum error_code report_page_write(const char *path, struct report_run *const *run, int count,
                                  struct error *err)
{
    struct html_text html = {0};
    put_head(&html, count == 1 ? run[0]->folder.run.plan.id : "graphmill: runs compared");
    if (count == 1)
        put_run(&html, run);
    else
        report_put_comparison(&html, run, count);
    html_put(&html, "</main></body></html>\n");
    enum error_code rc = html_text_finish(&html, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, html.text, html.size, false, err);
    html_text_release(&html);
    return rc;
}

enum error_code report_page_make(const char *folder, const char *run_id, struct error *err)
{
    struct report_run *run = NULL;
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/report.html", folder);
    if (rc == ERROR_NONE)
        rc = memory_new(&run, 1, "a report", err);
    if (rc == ERROR_NONE)
        rc = report_run_open(run, folder, run_id, true, err);
    if (rc == ERROR_NONE) {
        rc = report_page_write(path, &run, 1, err);
        report_run_close(run);
    }
    memory_free(run);
    return rc;
}
