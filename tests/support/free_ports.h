/* free_ports - finds ports of the loopback device that nobody listens on. */
#ifndef TESTS_SUPPORT_FREE_PORTS_H
#define TESTS_SUPPORT_FREE_PORTS_H

/* Returns the first of `count` consecutive free ports whose ports `offset` above are free, too.
 * Other tests may take ports meanwhile, but start elsewhere. Aborts the program when there are
 * none. */
int free_ports(int count, int offset);

#endif
