/* Writes the results of the run: scores of each split, and of each class. */
#include "common/nn/tasks/task.h"
#include "pipelines/report/charts/chart.h"
#include "pipelines/report/report_sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES_IN_MATRIX_MAX = 128, MISTAKES_SHOWN = 10, FEW_CLASSES = 20 };

static bool any_split_has(const struct report_run *run, enum metric m)
{
    bool any = false;
    for (int s = 0; s < REPORT_SPLITS; s++)
        any |= isfinite(report_run_score(run, report_split[s], metric_table[m].name));
    return any;
}

/* Writes rows of EdgeBank (stages/infer/outputs/edge_bank.h) below those of the model, for links that are
 * split by time, with the metrics that EdgeBank has. */
static void put_baseline(struct html_text *html, const struct report_run *run, const char *split,
                         const char *name, const char *prefix)
{
    char key[64];
    (void)snprintf(key, sizeof key, "%s%s", prefix, metric_table[METRIC_AVERAGE_PRECISION].name);
    if (!json_get(json_get(json_root(run->scores), split), key))
        return;
    html_put(html, "<tr><td>%s, %s</td>", split, name);
    for (enum metric m = 0; m < METRIC_COUNT; m++) {
        (void)snprintf(key, sizeof key, "%s%s", prefix, metric_table[m].name);
        if (any_split_has(run, m))
            report_cell_score(html, report_run_score(run, split, key));
    }
    html_put(html, "</tr>");
}

/* Writes which earlier events were used to score an event of validation or test. */
static void put_history(struct html_text *html, const struct report_run *run)
{
    const char *history = json_text(json_get(json_root(run->scores), "history"));
    if (history)
        html_put(html, "<p>History: %s</p>",
                 strcmp(history, "all") == 0
                     ? "an event of validation or test sees all events before it "
                       "(infer.history: all)."
                     : "an event of validation or test sees the events of training alone "
                       "(infer.history: training).");
}

static void put_scores(struct html_text *html, const struct report_run *run)
{
    const char *head[METRIC_COUNT + 1] = {"split"};
    size_t count = 1;
    for (enum metric m = 0; m < METRIC_COUNT; m++)
        if (any_split_has(run, m))
            head[count++] = metric_table[m].title;
    report_table_begin(html, head, count);
    for (int s = 0; s < REPORT_SPLITS; s++) {
        if (!json_get(json_root(run->scores), report_split[s]))
            continue;
        html_put(html, "<tr><td>%s</td>", report_split[s]);
        for (enum metric m = 0; m < METRIC_COUNT; m++)
            if (any_split_has(run, m))
                report_cell_score(html,
                                  report_run_score(run, report_split[s], metric_table[m].name));
        html_put(html, "</tr>");
        put_baseline(html, run, report_split[s], "EdgeBank", "edgebank_");
        put_baseline(html, run, report_split[s], "EdgeBank of a time window", "edgebank_window_");
    }
    report_table_end(html);
    put_history(html, run);
}

/* Writes a cell with the name of a class, or its number. */
static void put_class(struct html_text *html, const struct column_encoding *words, uint32_t c)
{
    html_put(html, "<td>");
    if (c < words->class_count)
        html_put_escaped(html, words->class_name[c]);
    else
        html_put(html, "%u", c);
    html_put(html, "</td>");
}

static void put_classes(struct html_text *html, const struct class_counts *counts,
                        const struct column_encoding *words)
{
    static const char *const head[] = {"class", "nodes", "predicted", "precision", "recall", "F1"};
    html_put(html, "<h3>By class, of the %s split</h3>", counts->split);
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (uint32_t c = 0; c < counts->classes; c++) {
        const struct class_score score = class_counts_score(counts, c);
        if (score.support + score.predicted <= 0.0)
            continue;
        html_put(html, "<tr>");
        put_class(html, words, c);
        report_cell_count(html, score.support);
        report_cell_count(html, score.predicted);
        report_cell_score(html, score.precision);
        report_cell_score(html, score.recall);
        report_cell_score(html, score.f1);
        html_put(html, "</tr>");
    }
    report_table_end(html);
}

struct mistake {
    uint32_t label, prediction;
    double count;
};

/* Finds the cells off the diagonal with most nodes, largest first. */
static size_t worst_mistakes(const struct class_counts *counts, struct mistake *out)
{
    size_t found = 0;
    for (uint32_t i = 0; i < counts->classes; i++)
        for (uint32_t j = 0; j < counts->classes; j++) {
            const struct mistake cell = {i, j, counts->count[(size_t)i * counts->classes + j]};
            if (i == j || cell.count <= 0.0)
                continue;
            size_t at = found < MISTAKES_SHOWN ? found++ : MISTAKES_SHOWN;
            for (; at > 0 && out[at - 1].count < cell.count; at--)
                if (at < MISTAKES_SHOWN)
                    out[at] = out[at - 1];
            if (at < MISTAKES_SHOWN)
                out[at] = cell;
        }
    return found;
}

static void put_mistakes(struct html_text *html, const struct class_counts *counts,
                         const struct column_encoding *words)
{
    static const char *const head[] = {"class", "predicted as", "nodes", "of the class"};
    struct mistake mistake[MISTAKES_SHOWN + 1];
    const size_t count = worst_mistakes(counts, mistake);
    if (count == 0)
        return;
    html_put(html, "<h3>Mistakes made most</h3>");
    report_table_begin(html, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < count; i++) {
        html_put(html, "<tr>");
        put_class(html, words, mistake[i].label);
        put_class(html, words, mistake[i].prediction);
        report_cell_count(html, mistake[i].count);
        html_put(html, "<td>%.1f %%</td></tr>",
                 100.0 * mistake[i].count / class_counts_score(counts, mistake[i].label).support);
    }
    report_table_end(html);
}

static void put_matrix(struct html_text *html, const struct class_counts *counts,
                       const struct column_encoding *words)
{
    const struct chart_matrix matrix = {.title = "Confusion: each cell by its share of the row",
                                        .row_name = "class",
                                        .column_name = "predicted as",
                                        .value = counts->count,
                                        .name = words->class_count == counts->classes
                                                    ? (const char *const *)words->class_name
                                                    : NULL,
                                        .size = counts->classes,
                                        .row_shares = true};
    if (counts->classes <= CLASSES_IN_MATRIX_MAX)
        chart_matrix(html, &matrix);
}

void report_put_results(struct html_text *html, const struct report_run *run)
{
    if (!run->scores)
        return;
    html_put(html, "<section><h2>Result</h2>");
    put_scores(html, run);
    if (run->classes.count) {
        html_put(html, "<div class=pair><div>");
        /* below the shorter of the two */
        const bool few = run->classes.classes <= FEW_CLASSES;
        put_classes(html, &run->classes, &run->words);
        if (few)
            put_mistakes(html, &run->classes, &run->words);
        html_put(html, "</div><div>");
        put_matrix(html, &run->classes, &run->words);
        if (!few)
            put_mistakes(html, &run->classes, &run->words);
        html_put(html, "</div></div>");
    }
    html_put(html, "</section>");
}
