/*
 * terminal - lines for people, no wider than the screen, and a panel of lines on stderr that is
 * redrawn in place.
 *
 * There is one panel, because there is one stderr. Other output to stderr removes the panel first,
 * so that nothing is overwritten and nothing scrolls: log lines do so by themselves, other writers
 * call terminal_panel_clear(). The next draw puts the panel below that output. Colour is used on
 * terminals only, and not at all when NO_COLOR is set (https://no-color.org) or TERM is dumb.
 */
#ifndef PIPELINES_SHARED_TERMINAL_H
#define PIPELINES_SHARED_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_DRAW_MS = 250, TERMINAL_BAR_SIZE = 256 };

/* Returns the columns of the terminal that `fd` is; 80 if it does not say. It asks each time,
 * because the window may change. */
int terminal_columns(int fd);
/* Returns how many bytes of text [size] fit into `columns`: whole characters of UTF-8, each counted
 * as one column; escape sequences count as none. */
int terminal_fit(const char *text, size_t size, int columns);
/* Returns the escape sequence of a style, such as "\033[1m", if `fd` accepts colour, otherwise
 * "". */
enum terminal_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD };
const char *terminal_style(int fd, enum terminal_style style);
/* Writes a bar of `columns` into `bar`, full if `share` is 1. Returns `bar`. */
const char *terminal_bar(double share, int columns, char bar[TERMINAL_BAR_SIZE]);

/* Draws `text`, whole lines, in place of the panel. */
void terminal_panel_draw(const char *text);
void terminal_panel_clear(void);
/* Leaves the panel on the screen as it is; later output is below it. */
void terminal_panel_keep(void);

#endif
