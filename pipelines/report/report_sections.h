/* report_sections - the sections of a page (report_page.h). Each function appends one <section>, or
 * nothing if there are no data. */
#ifndef PIPELINES_REPORT_REPORT_SECTIONS_H
#define PIPELINES_REPORT_REPORT_SECTIONS_H

#include "pipelines/report/charts/html_text.h"
#include "pipelines/report/report_run.h"

void report_put_results(struct html_text *html, const struct report_run *run);
void report_put_learning(struct html_text *html, struct report_run *const *run, int count);
void report_put_graph(struct html_text *html, const struct report_run *run);
void report_put_work(struct html_text *html, const struct report_run *run);
void report_put_again(struct html_text *html, const struct report_run *run);
void report_put_comparison(struct html_text *html, struct report_run *const *run, int count);

enum { REPORT_SPLITS = 3 };
extern const char *const report_split[REPORT_SPLITS]; /* "train", ... */

/* Write cells of tables: 0.8123, 1.5 GiB, 12.3 s; empty for a value that is not finite. */
void report_cell_score(struct html_text *html, double value);
void report_cell_bytes(struct html_text *html, double bytes);
void report_cell_seconds(struct html_text *html, double seconds);
void report_cell_count(struct html_text *html, double count);
/* Write "<table><thead>..." with these column heads, and the end of the table. The first column has
 * names. */
void report_table_begin(struct html_text *html, const char *const *head, size_t count);
void report_table_end(struct html_text *html);

#endif
