/* Draws curves: each value that rounds or snapshots have, for one run or several. */
#include "pipelines/report/charts/chart.h"
#include "pipelines/report/report_page.h"
#include "pipelines/report/report_sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERIES_MAX = 2 * REPORT_RUNS_MAX, SERIES_NAME_SIZE = 160 };

/* A picture of a value by round and, with a prefix to its name, by snapshot. */
struct curve {
    const char *title, *by_round, *by_snapshot;
};

struct series_list {
    struct chart_series series[SERIES_MAX];
    char name[SERIES_MAX][SERIES_NAME_SIZE];
    size_t count;
};

/* Returns whether a column is worth a curve: a constant learning rate or a column of nulls is
 * not. */
static bool is_drawn(const struct metric_column *column, size_t count)
{
    double first = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(column->value[i]))
            continue;
        if (isfinite(first) && column->value[i] != first)
            return true;
        first = column->value[i];
    }
    return isfinite(first) && count == 1;
}

static void add_series(struct series_list *list, const struct metric_table *table,
                       const char *column_name, const char *name, const char *run_id)
{
    const struct metric_column *column = column_name ? metric_table_find(table, column_name) : NULL;
    if (!column || list->count == SERIES_MAX || !is_drawn(column, table->count))
        return;
    (void)snprintf(list->name[list->count], SERIES_NAME_SIZE, "%s%s%.100s", name, run_id ? " " : "",
                   run_id ? run_id : "");
    list->series[list->count] = (struct chart_series){.name = list->name[list->count],
                                                      .x = table->number,
                                                      .y = column->value,
                                                      .count = table->count};
    list->count++;
}

static void put_curve(struct html_text *html, const struct curve *curve,
                      struct report_run *const *run, int count)
{
    static struct series_list list;
    list.count = 0;
    for (int i = 0; i < count; i++) {
        const char *run_id = count > 1 ? run[i]->folder.run.plan.id : NULL;
        if (count == 1 || !curve->by_snapshot)
            add_series(&list, &run[i]->metrics.rounds, curve->by_round, "training", run_id);
        add_series(&list, &run[i]->metrics.snapshots, curve->by_snapshot, "validation", run_id);
    }
    if (list.count == 0)
        return;
    chart_lines(html, &(struct chart_lines){.title = curve->title,
                                            .x_name = "round",
                                            .series = list.series,
                                            .series_count = list.count});
}

/* Returns whether one of the curves has the name. Other values of snapshots, such as "valid_mrr",
 * get pictures of their own. */
static bool is_listed(const struct curve *curve, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (curve[i].by_snapshot && strcmp(curve[i].by_snapshot, name) == 0)
            return true;
    return false;
}

void report_put_learning(struct html_text *html, struct report_run *const *run, int count)
{
    static const struct curve curves[] = {
        {"Loss", "loss", "valid_loss"},
        {"Accuracy", "accuracy", "valid_accuracy"},
        {"Norm of the gradient", "gradient_norm", NULL},
        {"Learning rate", "learning_rate", NULL},
        {"Error of the gradients' encoding", "gradient_error", NULL},
    };
    enum { CURVES = sizeof curves / sizeof *curves };
    html_put(html, "<section><h2>Learning</h2><div class=pair>");
    for (size_t i = 0; i < CURVES; i++)
        put_curve(html, &curves[i], run, count);
    const struct metric_table *snapshots = &run[0]->metrics.snapshots;
    for (size_t i = 0; i < snapshots->column_count; i++) {
        const char *name = snapshots->column[i].name;
        const struct curve curve = {name, NULL, name};
        if (strncmp(name, "valid_", 6) == 0 && !is_listed(curves, CURVES, name))
            put_curve(html, &curve, run, count);
    }
    html_put(html, "</div></section>");
}
