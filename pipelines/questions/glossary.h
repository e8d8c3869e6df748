/*
 * glossary - the terms of this project, each with one meaning. `graphmill help glossary` prints
 * them; tests/tree/reference_test.sh compares them with pipelines/guide/glossary.md.
 */
#ifndef PIPELINES_QUESTIONS_GLOSSARY_H
#define PIPELINES_QUESTIONS_GLOSSARY_H

/* Prints the terms to stdout for a terminal. */
void glossary_print(void);
/* Prints the page in Markdown. */
void glossary_print_markdown(void);

#endif
