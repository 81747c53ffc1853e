/* zone: a time zone of the IANA database, as the system's zoneinfo folder has it.
 *
 * A zone never changes once open, so any number of threads may read it. Offsets are seconds east
 * of UTC.
 */
#ifndef CHUTE_ZONE_H
#define CHUTE_ZONE_H

#include "chute.h"

typedef struct chute_zone chute_zone;

/* Opens a zone by name ("Europe/Berlin"), from the folder that TZDIR names, else
 * /usr/share/zoneinfo. UTC, Etc/UTC and GMT need no file. NULL: no such zone, or a file that is
 * not sound (CHUTE_E_SCHEMA), or no memory; the error says which. The caller frees it. */
chute_zone *chute_zone_open(const char *name, size_t len, chute_error *err);
void chute_zone_free(chute_zone *zone); /* taken; NULL is fine */

/* Reads a zone from the bytes of a TZif file, version 2 or later. */
chute_zone *chute_zone_parse(const void *bytes, size_t len, chute_error *err);

/* The offset in force at an instant. */
int32_t chute_zone_offset_at(const chute_zone *zone, int64_t utc_seconds);

/* The instant of a local time, both in seconds from 1970-01-01 00:00 (local, and UTC). A time
 * that comes twice is taken as the first; one that is skipped moves forward by the gap. */
int64_t chute_zone_to_utc(const chute_zone *zone, int64_t local_seconds);

#endif
