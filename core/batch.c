#include "batch.h"

#include "error.h"
#include "slot.h"
#include "uuid.h"

#include <stdlib.h>

_Static_assert((int)CHUTE_UUID_TEXT == (int)CHUTE_TOKEN_LEN + 1, "a token is a UUID");

chute_batch *chute_batch_new(chute_buffer *buffer, chute_insert *insert, chute_error *err) {
    chute_batch *batch = calloc(1, sizeof *batch);
    if (!batch) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    if (chute_uuid_v4(batch->token) != 0) {
        free(batch);
        chute_fail(err, CHUTE_E_SYSTEM, "no random bytes for a token");
        return NULL;
    }
    batch->buffer = buffer;
    batch->insert = chute_insert_keep(insert);
    return batch;
}

void chute_batch_seal(chute_batch *batch) {
    size_t bytes;
    chute_buffer_data(batch->buffer, &bytes);
    batch->bytes = bytes;
    batch->rows = chute_buffer_rows(batch->buffer);
}

int chute_batch_renew(chute_batch *batch) {
    free(batch->body);
    batch->body = NULL;
    batch->body_len = 0;
    batch->rows = batch->bytes = 0;
    batch->attempts = 0;
    batch->aside = false;
    batch->error.kind = CHUTE_OK;
    batch->next = NULL;
    chute_buffer_reset(batch->buffer);
    if (chute_uuid_v4(batch->token) != 0) return CHUTE_E_SYSTEM;
    if (batch->slot) chute_slot_open(batch->slot, batch->token);
    return CHUTE_OK;
}

void chute_batch_attempt(chute_batch *batch) {
    batch->attempts++;
    if (batch->slot) chute_slot_attempt(batch->slot);
}

void chute_batch_free(chute_batch *batch) {
    if (!batch) return;
    chute_insert_free(batch->insert);
    chute_buffer_free(batch->buffer);
    chute_slot_free(batch->slot);
    free(batch->body);
    free(batch);
}
