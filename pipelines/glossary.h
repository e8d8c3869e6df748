/*
 * glossary - the words of this project, each with one meaning: `graphmill help glossary`, and
 * pipelines/guide/glossary.md, which tests/tree/reference_test.sh compares with it.
 */
#ifndef PIPELINES_GLOSSARY_H
#define PIPELINES_GLOSSARY_H

/* Prints the words to stdout, as a terminal shows them. */
void glossary_print(void);
/* Prints the page in Markdown. */
void glossary_print_markdown(void);

#endif
