/* ip: addresses as text. Both return 0, or -1 where the text is no address (nothing is written).
 * No blanks, no port, no prefix length, no zone index. */
#ifndef CHUTE_IP_H
#define CHUTE_IP_H

#include <stddef.h>
#include <stdint.h>

/* a.b.c.d, each part decimal without leading zeroes: the number whose high byte is a. */
int chute_parse_ipv4(const char *s, size_t n, uint32_t *address);

/* Any form of RFC 4291, "::" and an IPv4 tail included; a text that is an IPv4 address alone
 * becomes ::ffff:a.b.c.d. Network order. */
int chute_parse_ipv6(const char *s, size_t n, uint8_t address[16]);

#endif
