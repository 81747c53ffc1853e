/* Attempts: how long between them, and when they end. */
#include "check.h"
#include "retry.h"

static uint64_t most_of(const chute_retry *retry, uint32_t attempts) {
    uint64_t most = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t delay = chute_retry_delay(retry, attempts);
        if (delay > most) most = delay;
    }
    return most;
}

static void check_near(uint64_t ceiling, uint64_t most) {
    CHECK(most <= ceiling);
    CHECK(most > ceiling - ceiling / 10);
}

static void delays(void) {
    const chute_retry usual = {0}, own = {.base_ms = 10, .max_ms = 35};
    check_near(100, most_of(&usual, 1));
    check_near(200, most_of(&usual, 2));
    check_near(1600, most_of(&usual, 5));
    check_near(30000, most_of(&usual, 10));
    check_near(30000, most_of(&usual, 4000000000));
    check_near(10, most_of(&own, 1));
    check_near(35, most_of(&own, 3));
    uint64_t sum = 0;
    for (int i = 0; i < 10000; i++) sum += chute_retry_delay(&usual, 1);
    CHECK(sum > 450000 && sum < 550000); /* uniform: full jitter */
}

static void ends(void) {
    uint64_t due = 0;
    chute_retry retry = {.attempts = 3, .base_ms = 10};
    CHECK(chute_retry_next(&retry, &(struct chute_tries){2, 0}, 1000, 0, &due));
    CHECK(due >= 1000 && due <= 1020);
    CHECK(!chute_retry_next(&retry, &(struct chute_tries){3, 0}, 1000, 0, &due));
    retry = (chute_retry){.deadline_ms = 500};
    CHECK(chute_retry_next(&retry, &(struct chute_tries){9, 1000}, 1400, 0, &due));
    CHECK(due <= 1500); /* a last one at the deadline */
    CHECK(!chute_retry_next(&retry, &(struct chute_tries){9, 1000}, 1500, 0, &due));
    retry = (chute_retry){0};
    CHECK(chute_retry_next(&retry, &(struct chute_tries){4000000000, 1}, 1 << 30, 0, &due));
}

static void least(void) {
    uint64_t due = 0;
    chute_retry retry = {.base_ms = 10};
    CHECK(chute_retry_next(&retry, &(struct chute_tries){1, 0}, 1000, 7000, &due));
    CHECK_INT(8000, due);
    CHECK(chute_retry_next(&retry, &(struct chute_tries){1, 0}, 1000, 9999999, &due));
    CHECK_INT(301000, due); /* nobody is told to wait for hours */
    retry.deadline_ms = 2000;
    CHECK(chute_retry_next(&retry, &(struct chute_tries){1, 500}, 1000, 7000, &due));
    CHECK_INT(2500, due);
}

int main(void) {
    delays();
    ends();
    least();
    return check_report("core/retry");
}
