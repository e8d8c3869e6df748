/*
 * chart - pictures in SVG inside a page: lines, columns, a matrix, a timeline.
 *
 * Colours come from the page's classes (report_style.h), so that one picture fits light, dark and paper. Each is as wide as
 * its column of the page and scales with it. What a picture cannot show is in the titles of its parts, which a browser
 * shows under the pointer.
 *
 * A chart_* function appends one <svg> to `html`; texts are escaped. Nothing is kept. None fails but for memory, which
 * html_text_finish() tells.
 */
#ifndef PIPELINES_REPORT_CHART_H
#define PIPELINES_REPORT_CHART_H

#include "pipelines/report/html_text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CHART_COLOURS = 8,         /* classes c0 .. c7 of the page; series beyond begin again */
    CHART_POINTS_MAX = 400,    /* columns of pixels that a line is drawn through */
    CHART_MATRIX_NUMBERS = 12, /* larger matrices have no numbers in their cells */
};

struct chart_series {
    const char *name;
    const double *x, *y; /* [count]; x ascends; a y that is no number is a gap */
    size_t count;
};

struct chart_lines {
    const char *title, *x_name, *y_name; /* the title is what a screen reader says */
    const struct chart_series *series;   /* [series_count] */
    size_t series_count;
    bool from_zero; /* the y axis begins at 0 */
};
/* Of more than CHART_POINTS_MAX points a series keeps the least and the most of each stretch, so peaks stay. */
void chart_lines(struct html_text *html, const struct chart_lines *chart);

struct chart_column {
    char name[24];
    double value;  /* >= 0 */
    char note[64]; /* title of the column */
};
/* Columns beside each other, the highest as high as the picture. */
void chart_columns(struct html_text *html, const char *title, const struct chart_column *column,
                   size_t count);

struct chart_matrix {
    const char *title, *row_name,
        *column_name;        /* what rows and columns are: "class", "predicted as" */
    const double *value;     /* [size, size], row by row, >= 0 */
    const char *const *name; /* [size] of rows and columns, or NULL: they are numbered from 0 */
    size_t size;
    bool row_shares; /* a cell is as dark as its share of its row; else of the largest cell */
};
/* Row i, column i and so on are numbered from 0. */
void chart_matrix(struct html_text *html, const struct chart_matrix *chart);

struct chart_span {
    double begin, end; /* seconds */
    double busy;       /* share of the span, 0 .. 1, that was not waiting */
    int colour;
    char note[128]; /* its title */
};
struct chart_lane {
    const char *name;
    const struct chart_span *span; /* [span_count] */
    size_t span_count;
};
/* A lane a worker; a span is pale as far as it waited. `end`: of the axis, which begins at 0. */
void chart_timeline(struct html_text *html, const char *title, const struct chart_lane *lane,
                    size_t lane_count, double end);

/* "<span class=key>" for each name, in the colours of series 0 and up. */
void chart_legend(struct html_text *html, const char *const *name, size_t count);

/* A round step of an axis of `span` that has at most `most` of them: 1, 2 or 5 times a power of ten. */
double chart_step(double span, int most);

#endif
