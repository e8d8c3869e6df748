/*
 * chart - SVG pictures in a page: lines, columns, a matrix, a timeline.
 *
 * Colours come from CSS classes of the page (report_style.h), so one picture suits light, dark and
 * paper. Each picture is as wide as its column of the page and scales with it. Details are in the
 * titles of its elements, which a browser shows under the pointer.
 *
 * A chart_* function appends one <svg> to `html`, escapes all texts, and keeps nothing. It can only
 * fail for lack of memory, which html_text_finish() reports.
 */
#ifndef PIPELINES_REPORT_CHARTS_CHART_H
#define PIPELINES_REPORT_CHARTS_CHART_H

#include "pipelines/report/charts/html_text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CHART_COLOURS = 8,         /* classes c0 .. c7 of the page; more series reuse them */
    CHART_POINTS_MAX = 400,    /* most points of a drawn line */
    CHART_MATRIX_NUMBERS = 12, /* larger matrices show no numbers in their cells */
};

struct chart_series {
    const char *name;
    const double *x, *y; /* [count]; x ascends; a y that is not finite is a gap */
    size_t count;
};

struct chart_lines {
    const char *title, *x_name, *y_name; /* the title is read by screen readers */
    const struct chart_series *series;   /* [series_count] */
    size_t series_count;
    bool from_zero; /* the y axis begins at 0 */
};
/* Draws lines. A series of more than CHART_POINTS_MAX points keeps the least and the greatest point
 * of each stretch, so peaks stay visible. */
void chart_lines(struct html_text *html, const struct chart_lines *chart);

struct chart_column {
    char name[24];
    double value;  /* >= 0 */
    char note[64]; /* title of the column for the pointer */
};
/* Draws columns next to each other; the highest fills the height. */
void chart_columns(struct html_text *html, const char *title, const struct chart_column *column,
                   size_t count);

struct chart_matrix {
    const char *title, *row_name,
        *column_name;    /* meaning of rows and columns: "class", "predicted as" */
    const double *value; /* [size, size], row by row, >= 0 */
    /* [size], names of rows and columns, or NULL: they are numbered from 0 */
    const char *const *name;
    size_t size;
    /* the shade of a cell is its share of its row; otherwise of the largest cell */
    bool row_shares;
};
/* Draws a matrix. */
void chart_matrix(struct html_text *html, const struct chart_matrix *chart);

struct chart_span {
    double begin, end; /* seconds */
    double busy;       /* share of the span that was not waiting, 0 .. 1 */
    int colour;
    char note[128]; /* title for the pointer */
};
struct chart_lane {
    const char *name;
    const struct chart_span *span; /* [span_count] */
    size_t span_count;
};
/* Draws one lane for each worker; the more a span waited, the paler it is. The axis begins at 0 and
 * ends at `end`. */
void chart_timeline(struct html_text *html, const char *title, const struct chart_lane *lane,
                    size_t lane_count, double end);

/* Writes "<span class=key>" for each name, in the colours of series 0 and up. */
void chart_legend(struct html_text *html, const char *const *name, size_t count);

/* Returns a step of 1, 2 or 5 times a power of ten that divides an axis of length `span` into at
 * most `most` steps. */
double chart_step(double span, int most);

#endif
