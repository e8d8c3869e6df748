#include "common/base/text.h"
#include "pipelines/report/charts/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the picture's own units; the page scales it. */
enum {
    WIDTH = 640,
    COLUMNS_HEIGHT = 180,
    COLUMNS_BOTTOM = 24,
    MATRIX_LEFT = 44,
    MATRIX_TOP = 34,
    MATRIX_SIDE = 560,
    CELL_SIDE_MAX = 48,
    LABEL_WIDTH = 260,
    TIMELINE_WIDTH = 1040,
    LANE_LEFT = 110,
    LANE_HEIGHT = 22,
    LANE_BAR = 16
};

static void begin_figure(struct html_text *html, const char *title, int width, int height)
{
    html_put(html, "<figure><figcaption>");
    html_put_escaped(html, title);
    html_put(html,
             "</figcaption><svg viewBox='0 0 %d %d' style='max-width:%dpx' role=img aria-label='",
             width, height, width);
    html_put_escaped(html, title);
    html_put(html, "'>");
}

void chart_columns(struct html_text *html, const char *title, const struct chart_column *column,
                   size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, column[i].value);
    begin_figure(html, title, WIDTH, COLUMNS_HEIGHT + COLUMNS_BOTTOM);
    const double pitch = (double)WIDTH / (double)(count ? count : 1);
    for (size_t i = 0; i < count; i++) {
        const double height = most > 0.0 ? column[i].value / most * (COLUMNS_HEIGHT - 4) : 0.0;
        html_put(html, "<rect class='fill c0' x=%.1f y=%.1f width=%.1f height=%.1f><title>",
                 pitch * (double)i + pitch * 0.1, COLUMNS_HEIGHT - height, pitch * 0.8, height);
        html_put_escaped(html, column[i].note);
        html_put(html, "</title></rect><text class=tick x=%.1f y=%d text-anchor=middle>",
                 pitch * ((double)i + 0.5), COLUMNS_HEIGHT + 16);
        html_put_escaped(html, column[i].name);
        html_put(html, "</text>");
    }
    html_put(html, "</svg></figure>");
}

static double sum_of(const double *value, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return sum;
}

static double most_of(const double *value, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, value[i]);
    return most;
}

/* Writes 950, 46.6k or 1.2M: at most five characters. */
static const char *short_count(double value, char text[32])
{
    static const char unit[] = {' ', 'k', 'M', 'G', 'T'};
    size_t u = 0;
    for (; value >= 999.5 && u + 1 < sizeof unit; u++)
        value /= 1000.0;
    (void)snprintf(text, 32, u && value < 99.95 ? "%.1f%c" : "%.0f%c", value, unit[u]);
    text[strcspn(text, " ")] = '\0';
    return text;
}

/* Writes "class 3", or the name of the class. */
static void put_place(struct html_text *html, const struct chart_matrix *chart, const char *what,
                      size_t i)
{
    html_put(html, "%s ", what);
    if (chart->name)
        html_put_escaped(html, chart->name[i]);
    else
        html_put(html, "%zu", i);
}

static void put_cell(struct html_text *html, const struct chart_matrix *chart, size_t row,
                     size_t column, double of, double side)
{
    char count[32];
    const double value = chart->value[row * chart->size + column];
    const double share = of > 0.0 ? value / of : 0.0;
    const double x = MATRIX_LEFT + side * (double)column, y = MATRIX_TOP + side * (double)row;
    if (value <= 0.0)
        return;
    html_put(html,
             "<rect class='fill %s' x=%.1f y=%.1f width=%.1f height=%.1f fill-opacity=%.3f>"
             "<title>",
             row == column ? "c2" : "c0", x, y, side - 0.5, side - 0.5, 0.08 + 0.92 * share);
    put_place(html, chart, chart->row_name, row);
    html_put(html, ", ");
    put_place(html, chart, chart->column_name, column);
    html_put(html, ": %s (%.1f %%)</title></rect>", text_count((int64_t)llround(value), count),
             100.0 * share);
    if (chart->size <= CHART_MATRIX_NUMBERS)
        html_put(html, "<text class=cell x=%.1f y=%.1f text-anchor=middle>%s</text>", x + side / 2,
                 y + side / 2 + 4.0, short_count(value, count));
}

/* Numbers rows and columns if there is room. */
static void put_numbers(struct html_text *html, const struct chart_matrix *chart, double side)
{
    const size_t step = (size_t)fmax(1.0, ceil(14.0 / side));
    for (size_t i = 0; i < chart->size; i += step) {
        const double middle = side * ((double)i + 0.5);
        html_put(html, "<text class=head x=%d y=%.1f text-anchor=end>%zu</text>", MATRIX_LEFT - 5,
                 MATRIX_TOP + middle + 4.0, i);
        html_put(html, "<text class=head x=%.1f y=%d text-anchor=middle>%zu</text>",
                 MATRIX_LEFT + middle, MATRIX_TOP - 5, i);
    }
    html_put(html, "<text class=head x=%d y=12>%s by row, %s by column</text>", MATRIX_LEFT,
             chart->row_name, chart->column_name);
}

void chart_matrix(struct html_text *html, const struct chart_matrix *chart)
{
    const double side = fmin((double)CELL_SIDE_MAX, (double)MATRIX_SIDE / (double)chart->size);
    const int extent = (int)ceil(side * (double)chart->size);
    begin_figure(html, chart->title,
                 MATRIX_LEFT + (extent > LABEL_WIDTH ? extent : LABEL_WIDTH) + 4,
                 MATRIX_TOP + extent + 4);
    put_numbers(html, chart, side);
    const double most = most_of(chart->value, chart->size * chart->size);
    for (size_t row = 0; row < chart->size; row++) {
        const double of =
            chart->row_shares ? sum_of(chart->value + row * chart->size, chart->size) : most;
        for (size_t column = 0; column < chart->size; column++)
            put_cell(html, chart, row, column, of, side);
    }
    html_put(html, "</svg></figure>");
}

static void put_span(struct html_text *html, const struct chart_span *span, double y, double scale)
{
    const double x = LANE_LEFT + span->begin * scale;
    const double width = fmax(0.5, (span->end - span->begin) * scale);
    const double busy = LANE_BAR * fmin(1.0, fmax(0.0, span->busy));
    html_put(
        html,
        "<g><rect class='pale c%d' x=%.1f y=%.1f width=%.1f height=%d /><rect class='fill c%d' "
        "x=%.1f y=%.1f width=%.1f height=%.1f /><title>",
        span->colour % CHART_COLOURS, x, y, width, LANE_BAR, span->colour % CHART_COLOURS, x,
        y + LANE_BAR - busy, width, busy);
    html_put_escaped(html, span->note);
    html_put(html, "</title></g>");
}

void chart_timeline(struct html_text *html, const char *title, const struct chart_lane *lane,
                    size_t lane_count, double end)
{
    const double length = end > 0.0 ? end : 1.0;
    const double scale = (TIMELINE_WIDTH - LANE_LEFT - 20) / length, step = chart_step(length, 10);
    const int height = (int)lane_count * LANE_HEIGHT;
    html_put(html, "<div class='wide long'>");
    begin_figure(html, title, TIMELINE_WIDTH, height + 24);
    for (int i = 0; i * step <= length * 1.0001; i++) {
        const double x = LANE_LEFT + i * step * scale;
        html_put(html,
                 "<line class=grid x1=%.1f x2=%.1f y1=0 y2=%d /><text class=tick x=%.1f y=%d "
                 "text-anchor=middle>%.6g s</text>",
                 x, x, height, x, height + 16, i * step);
    }
    for (size_t l = 0; l < lane_count; l++) {
        const int y = (int)l * LANE_HEIGHT;
        html_put(html, "<text class=tick x=%d y=%d text-anchor=end>", LANE_LEFT - 6, y + 13);
        html_put_escaped(html, lane[l].name);
        html_put(html, "</text>");
        for (size_t s = 0; s < lane[l].span_count; s++)
            put_span(html, &lane[l].span[s], y + 1, scale);
    }
    html_put(html, "</svg></figure></div>");
}
