/* type_tag: a type in ClickHouse's binary encoding, which goes before a value of Dynamic. */
#ifndef CHUTE_TYPE_TAG_H
#define CHUTE_TYPE_TAG_H

#include "text.h"
#include "type.h"

/* Appends the type's encoding. CHUTE_E_SCHEMA: the type has none here (a function with
 * parameters), CHUTE_E_NOMEM. */
int chute_type_tag(const chute_type *type, chute_text *out, chute_error *err);

#endif
