/* Entries of `network allow`: hosts, domains, addresses, each with a port.
 *
 *   host:443   .example.com:443 (every name beneath, not example.com itself)   192.0.2.0/24:53   [2001:db8::/32]:443
 *   host:*     every port
 *
 * The canonical form: names in lower case, IDN as A-labels (libidn2, UTS 46 non-transitional), no final dot;
 * addresses as inet_ntop(3) prints them, host bits of a network zero, IPv6 in brackets.
 */
#ifndef SBX_NETWORK_H
#define SBX_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "ir.h"

/* Reads one entry of len bytes. NULL and *out filled (all but its span), or what is wrong, with text[*out_at]
 * the first offending byte and *out_hint what would be right, or NULL. */
const char *network_entry(struct arena *a, const char *text, size_t len, struct ir_endpoint *out, size_t *out_at,
                          const char **out_hint);
/* The canonical text of an entry. */
const char *network_text(struct arena *a, const struct ir_endpoint *e);
/* Total order of entries without regard to spans. */
int network_cmp(const struct ir_endpoint *a, const struct ir_endpoint *b);
/* Is all that `e` stands for within `cap`? A name is never within an address nor the other way. */
bool network_within(const struct ir_endpoint *e, const struct ir_endpoint *cap);
/* What both stand for, with the span of `a`: false if nothing. `out` may be one of them. */
bool network_meet(const struct ir_endpoint *a, const struct ir_endpoint *b, struct ir_endpoint *out);
/* Sorts, and drops entries that lie within another. Of equal ones the first in the text stays. */
size_t network_normalise(struct ir_endpoint *items, size_t n);
/* Does a program with network `mode` reach nothing that one with `cap` does not? Entries are compared apart. */
bool network_mode_within(enum ir_network_mode mode, enum ir_network_mode cap);
/* A port in decimal, 1-65535, no sign, no leading zero. */
bool network_port(const char *text, size_t len, uint16_t *out);

#endif
