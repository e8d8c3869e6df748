#include "pipelines/report/charts/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The size of the picture in its own units; the page scales it. */
enum { WIDTH = 640, HEIGHT = 260, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 40 };

struct frame {
    double x_least, x_most, y_least, y_most;
};

double chart_step(double span, int most)
{
    if (!(span > 0.0) || !isfinite(span))
        return 1.0;
    const double rough = span / most;
    const double power = pow(10.0, floor(log10(rough)));
    const double share = rough / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static double x_at(const struct frame *f, double x)
{
    return LEFT + (x - f->x_least) / (f->x_most - f->x_least) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const struct frame *f, double y)
{
    return TOP + (f->y_most - y) / (f->y_most - f->y_least) * (HEIGHT - TOP - BOTTOM);
}

static void include(struct frame *f, double x, double y, bool *any)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    if (!*any)
        *f = (struct frame){x, x, y, y};
    *any = true;
    f->x_least = fmin(f->x_least, x);
    f->x_most = fmax(f->x_most, x);
    f->y_least = fmin(f->y_least, y);
    f->y_most = fmax(f->y_most, y);
}

/* Computes the axes for all series, with y rounded to whole steps. Returns false if there is
 * nothing to draw. */
static bool frame_of(const struct chart_lines *chart, struct frame *f)
{
    bool any = false;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            include(f, chart->series[s].x[i], chart->series[s].y[i], &any);
    if (!any)
        return false;
    if (chart->from_zero)
        f->y_least = fmin(f->y_least, 0.0);
    if (f->x_most <= f->x_least)
        f->x_most = f->x_least + 1.0;
    if (f->y_most <= f->y_least)
        f->y_most = f->y_least + (f->y_least != 0.0 ? fabs(f->y_least) * 0.1 : 1.0);
    const double step = chart_step(f->y_most - f->y_least, 5);
    f->y_least = floor(f->y_least / step) * step;
    f->y_most = ceil(f->y_most / step) * step;
    return true;
}

static void put_axes(struct html_text *html, const struct chart_lines *chart, const struct frame *f)
{
    const double y_step = chart_step(f->y_most - f->y_least, 5);
    const double x_step = chart_step(f->x_most - f->x_least, 8);
    const int lines = (int)lround((f->y_most - f->y_least) / y_step);
    for (int i = 0; i <= lines; i++) {
        const double value = f->y_least + i * y_step;
        html_put(html,
                 "<line class=grid x1=%d x2=%d y1=%.1f y2=%.1f /><text class=tick x=%d y=%.1f "
                 "text-anchor=end>%.6g</text>",
                 LEFT, WIDTH - RIGHT, y_at(f, value), y_at(f, value), LEFT - 6,
                 y_at(f, value) + 4.0, fabs(value) < y_step * 1e-6 ? 0.0 : value);
    }
    const double x_first = ceil(f->x_least / x_step) * x_step;
    const int x_ticks = (int)floor((f->x_most - x_first) / x_step + 1e-6);
    for (int i = 0; i <= x_ticks; i++)
        html_put(html, "<text class=tick x=%.1f y=%d text-anchor=middle>%.6g</text>",
                 x_at(f, x_first + i * x_step), HEIGHT - BOTTOM + 16, x_first + i * x_step);
    html_put(html, "<text class=axis x=%d y=%d text-anchor=middle>", (LEFT + WIDTH - RIGHT) / 2,
             HEIGHT - 4);
    html_put_escaped(html, chart->x_name);
    html_put(html, "</text>");
}

/* State of a line: `open` if the next point continues it. */
struct pen {
    struct html_text *html;
    const struct frame *frame;
    bool open;
};

static void pen_put(struct pen *pen, double x, double y)
{
    html_put(pen->html, "%s%.1f %.1f", pen->open ? "L" : "M", x_at(pen->frame, x),
             y_at(pen->frame, y));
    pen->open = true;
}

/* Draws the points [first, end), which share one column of pixels, so their least and greatest
 * represent them all. */
static void put_stretch(struct pen *pen, const struct chart_series *s, size_t first, size_t end)
{
    size_t least = end, most = end;
    for (size_t i = first; i < end; i++) {
        if (!isfinite(s->y[i]))
            continue;
        least = least == end || s->y[i] < s->y[least] ? i : least;
        most = most == end || s->y[i] > s->y[most] ? i : most;
    }
    if (least == end) {
        pen->open = false;
        return;
    }
    const size_t early = least < most ? least : most, late = least < most ? most : least;
    pen_put(pen, s->x[early], s->y[early]);
    if (late != early)
        pen_put(pen, s->x[late], s->y[late]);
}

static void put_series(struct html_text *html, const struct frame *f, const struct chart_series *s,
                       size_t number)
{
    struct pen pen = {.html = html, .frame = f};
    const size_t stretches = s->count < CHART_POINTS_MAX ? s->count : CHART_POINTS_MAX;
    const size_t colour = number % CHART_COLOURS;
    html_put(html, "<path class='line c%zu' d='", colour);
    for (size_t i = 0; i < stretches; i++)
        put_stretch(&pen, s, i * s->count / stretches, (i + 1) * s->count / stretches);
    html_put(html, "'><title>");
    html_put_escaped(html, s->name);
    html_put(html, "</title></path>");
    if (s->count == 1 && isfinite(s->y[0]))
        html_put(html, "<circle class='dot c%zu' r=3 cx=%.1f cy=%.1f />", colour, x_at(f, s->x[0]),
                 y_at(f, s->y[0]));
}

static void put_key(struct html_text *html, size_t number, const char *name)
{
    html_put(html, "<span class=entry><span class='key c%zu'></span>", number % CHART_COLOURS);
    html_put_escaped(html, name);
    html_put(html, "</span> ");
}

void chart_legend(struct html_text *html, const char *const *name, size_t count)
{
    html_put(html, "<p class=legend>");
    for (size_t i = 0; i < count; i++)
        put_key(html, i, name[i]);
    html_put(html, "</p>");
}

void chart_lines(struct html_text *html, const struct chart_lines *chart)
{
    struct frame frame = {0};
    html_put(html, "<figure><figcaption>");
    html_put_escaped(html, chart->title);
    html_put(html, "</figcaption>");
    if (!frame_of(chart, &frame)) {
        html_put(html, "<p class=none>nothing was measured</p></figure>");
        return;
    }
    html_put(html, "<svg viewBox='0 0 %d %d' role=img aria-label='", WIDTH, HEIGHT);
    html_put_escaped(html, chart->title);
    html_put(html, "'>");
    put_axes(html, chart, &frame);
    for (size_t s = 0; s < chart->series_count; s++)
        put_series(html, &frame, &chart->series[s], s);
    html_put(html, "</svg>");
    if (chart->series_count == 1 && strcmp(chart->series[0].name, "training") == 0) {
        html_put(html, "</figure>"); /* one curve of training needs no legend */
        return;
    }
    html_put(html, "<p class=legend>");
    for (size_t s = 0; s < chart->series_count; s++)
        put_key(html, s, chart->series[s].name);
    html_put(html, "</p></figure>");
}
