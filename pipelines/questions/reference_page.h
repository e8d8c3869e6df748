/*
 * reference_page - what `graphmill help reference` prints: pipelines/guide/reference.md.
 *
 * The page is made from the rows that the programs themselves use: options, settings, and the lists
 * of samplers, layers, formats and the rest. tests/tree/reference_test.sh compares it with the
 * file.
 */
#ifndef PIPELINES_QUESTIONS_REFERENCE_PAGE_H
#define PIPELINES_QUESTIONS_REFERENCE_PAGE_H

/* Prints `text` to stdout as a cell of a table in Markdown. */
void reference_print_cell(const char *text);
/* Prints the sections about settings, the choices of settings, and stores. */
void reference_print_settings(void);

#endif
