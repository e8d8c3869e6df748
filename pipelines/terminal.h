/* terminal - lines on stderr for people, no wider than the screen. */
#ifndef PIPELINES_TERMINAL_H
#define PIPELINES_TERMINAL_H

/* Columns of the terminal that stderr is; 80 when it does not say. Asked each time: windows change. */
int terminal_columns(void);
/* Over what stood in the current line, cut to the width: a wrapped line would be drawn over at the wrong place. */
void terminal_line(const char *text);

/* The same without an end, so that the next is drawn over it. */
void terminal_draw_over(const char *text);

#endif
