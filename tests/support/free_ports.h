/* free_ports - ports of the loopback device that nobody listens on. */
#ifndef TESTS_SUPPORT_FREE_PORTS_H
#define TESTS_SUPPORT_FREE_PORTS_H

/* The first of `count` that are free, one behind the other, and whose ports `offset` above are free, too. Others may take them
 * meanwhile, but begin elsewhere. Aborts the program when there are none. */
int free_ports(int count, int offset);

#endif
