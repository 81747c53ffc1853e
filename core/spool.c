#include "spool.h"

#include "aside.h"
#include "error.h"
#include "kill.h"
#include "uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LOCK[] = "lock";

int chute_spool_refuse(const chute_spool *spool, const char *what, chute_error *err) {
    const char *hint = errno == ENOENT ? " (the folder has vanished)" : "";
    return chute_fail(err, CHUTE_E_SPOOL, "the spool %.512s: cannot %s: %s%s", spool->root, what,
                      strerror(errno), hint);
}

/* ---- folders ------------------------------------------------------------------------------- */

/* Whether the lock file is still the one of that name: its last owner may have removed it after we
 * opened it and before we locked it. */
static bool is_current(int folder, int lock) {
    struct stat held, named;
    return fstat(lock, &held) == 0 && fstatat(folder, LOCK, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

static bool take_lock(struct chute_folder *folder) {
    folder->lock =
        openat(folder->fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (folder->lock < 0 || flock(folder->lock, LOCK_EX | LOCK_NB) != 0) return false;
    if (is_current(folder->fd, folder->lock)) return true;
    errno = EWOULDBLOCK;
    return false;
}

static void close_folder(struct chute_folder *folder) {
    int why = errno;
    if (folder->lock >= 0) close(folder->lock);
    if (folder->fd >= 0) close(folder->fd);
    folder->fd = folder->lock = -1;
    errno = why;
}

bool chute_folder_lock(struct chute_folder *folder, int root, const char *name, bool make) {
    folder->fd = folder->lock = -1;
    snprintf(folder->name, sizeof folder->name, "%s", name);
    if (make && mkdirat(root, name, S_IRWXU) != 0) return false;
    chute_kill_point();
    folder->fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder->fd >= 0 && take_lock(folder)) return true;
    close_folder(folder);
    return false;
}

int chute_spool_new_name(char name[CHUTE_FOLDER_NAME]) {
    strcpy(name, "stream-");
    return chute_uuid_v4(name + strlen(name));
}

/* Other files than the lock make rmdir fail: they wait for the next owner, and so does a lock. */
void chute_folder_release(struct chute_folder *folder, int root) {
    unlinkat(folder->fd, LOCK, 0);
    chute_kill_point();
    unlinkat(root, folder->name, AT_REMOVEDIR);
    close_folder(folder);
}

void chute_folder_leave(struct chute_folder *folder, const char *root) {
    if (folder->fd < 0) return;
    int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) {
        close_folder(folder);
        return;
    }
    chute_folder_release(folder, at);
    close(at);
}

static bool lock_new_folder(struct chute_folder *folder, const char *root) {
    bool made = false;
    int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return false;
    for (int tries = 0; tries < 16 && !made; tries++) {
        char name[CHUTE_FOLDER_NAME];
        if (chute_spool_new_name(name) != 0) break;
        made = chute_folder_lock(folder, at, name, true);
        if (!made && errno != EEXIST && errno != EWOULDBLOCK && errno != ENOENT) break;
    }
    int why = errno;
    if (made) fsync(at);
    close(at);
    errno = why;
    return made;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int find_root(chute_spool *spool, const char *root, chute_error *err) {
    char found[PATH_MAX];
    struct stat seen;
    spool->root = strdup(root);
    if (!spool->root) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    if (mkdir(root, S_IRWXU) != 0 && errno != EEXIST)
        return chute_spool_refuse(spool, "make the folder", err);
    if (!realpath(root, found) || stat(found, &seen) != 0)
        return chute_spool_refuse(spool, "find the folder", err);
    errno = ENOTDIR;
    if (!S_ISDIR(seen.st_mode)) return chute_spool_refuse(spool, "use it", err);
    if (access(found, R_OK | W_OK | X_OK) != 0) return chute_spool_refuse(spool, "use it", err);
    free(spool->root);
    spool->root = strdup(found);
    return spool->root ? CHUTE_OK : chute_fail(err, CHUTE_E_NOMEM, "out of memory");
}

chute_spool *chute_spool_open(const char *root, chute_error *err) {
    chute_spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&spool->lock, NULL);
    spool->folder.fd = spool->folder.lock = -1;
    if (find_root(spool, root, err) == CHUTE_OK) return spool;
    chute_spool_close(spool);
    return NULL;
}

void chute_spool_close(chute_spool *spool) {
    if (!spool) return;
    if (spool->root) chute_folder_leave(&spool->folder, spool->root);
    pthread_mutex_destroy(&spool->lock);
    free(spool->root);
    free(spool);
}

/* ---- files --------------------------------------------------------------------------------- */

/* The folder, made where there is none, or where ours was taken away under us. One that is merely
 * not to be seen is kept: its lock guards batches. Under the lock. */
static bool has_folder(chute_spool *spool) {
    struct stat seen;
    if (spool->folder.fd >= 0) {
        if (fstat(spool->folder.fd, &seen) != 0) return false;
        if (seen.st_nlink > 0) return true;
        close_folder(&spool->folder);
    }
    return lock_new_folder(&spool->folder, spool->root);
}

static void new_name(const char *name, char out[CHUTE_SLOT_NAME]) {
    snprintf(out, CHUTE_SLOT_NAME, "%.*s.new", (int)strcspn(name, "."), name);
}

/* posix_fallocate: a disk that is full has to be found out here, not by a store to a page that
 * cannot be had. */
static int take_room(chute_spool *spool, const char *name, uint64_t bytes, int *fd,
                     chute_error *err) {
    *fd = openat(spool->folder.fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (*fd < 0) return chute_spool_refuse(spool, "make a batch file", err);
    errno = posix_fallocate(*fd, 0, (off_t)bytes);
    if (errno == 0) return CHUTE_OK;
    int rc = chute_spool_refuse(spool, "make room for a batch file", err);
    unlinkat(spool->folder.fd, name, 0);
    close(*fd);
    *fd = -1;
    return rc;
}

int chute_spool_make_file(chute_spool *spool, char name[CHUTE_SLOT_NAME], uint64_t bytes, int *fd,
                          chute_error *err) {
    char first[CHUTE_SLOT_NAME];
    pthread_mutex_lock(&spool->lock);
    bool made = has_folder(spool);
    snprintf(name, CHUTE_SLOT_NAME, "%06llu.slot", (unsigned long long)++spool->files);
    pthread_mutex_unlock(&spool->lock);
    if (!made) {
        name[0] = '\0';
        return chute_spool_refuse(spool, "make a folder in it", err);
    }
    new_name(name, first);
    int rc = take_room(spool, first, bytes, fd, err);
    if (rc != CHUTE_OK) name[0] = '\0';
    return rc;
}

int chute_spool_name_file(chute_spool *spool, const char *name, chute_error *err) {
    char first[CHUTE_SLOT_NAME];
    new_name(name, first);
    spool->unsynced_names = true;
    if (renameat(spool->folder.fd, first, spool->folder.fd, name) == 0) return CHUTE_OK;
    return chute_spool_refuse(spool, "name a batch file", err);
}

void chute_spool_remove_file(chute_spool *spool, const char *name) {
    char first[CHUTE_SLOT_NAME];
    new_name(name, first);
    unlinkat(spool->folder.fd, name, 0);
    unlinkat(spool->folder.fd, first, 0);
}

/* ---- slots --------------------------------------------------------------------------------- */

void chute_spool_add(chute_spool *spool, chute_spool_slot *slot) {
    pthread_mutex_lock(&spool->lock);
    slot->next = spool->slots;
    spool->slots = slot;
    pthread_mutex_unlock(&spool->lock);
}

void chute_spool_drop(chute_spool *spool, chute_spool_slot *slot) {
    pthread_mutex_lock(&spool->lock);
    chute_spool_slot **at = &spool->slots;
    while (*at && *at != slot) at = &(*at)->next;
    if (*at) *at = slot->next;
    pthread_mutex_unlock(&spool->lock);
}

uint64_t chute_spool_next(chute_spool *spool) {
    return atomic_fetch_add_explicit(&spool->sequence, 1, memory_order_relaxed) + 1;
}

static int sync_names(chute_spool *spool, chute_error *err) {
    if (!atomic_exchange(&spool->unsynced_names, false)) return CHUTE_OK;
    if (fsync(spool->folder.fd) == 0) return CHUTE_OK;
    return chute_spool_refuse(spool, "sync the folder", err);
}

static chute_spool_slot *first_slot(chute_spool *spool) {
    pthread_mutex_lock(&spool->lock);
    chute_spool_slot *slot = spool->slots;
    pthread_mutex_unlock(&spool->lock);
    return slot;
}

uint64_t chute_spool_dead_bytes(chute_spool *spool) {
    uint64_t bytes = chute_aside_dead_bytes(spool->root), own = 0;
    for (chute_spool_slot *slot = first_slot(spool); slot; slot = slot->next)
        if (slot->dead) own += chute_slot_file_bytes(slot);
    return bytes > own ? bytes - own : 0;
}

/* The disk takes its time: the lock is not held meanwhile, so that new slots can be added. */
int chute_spool_sync(chute_spool *spool, chute_error *err) {
    int rc = CHUTE_OK;
    for (chute_spool_slot *slot = first_slot(spool); slot; slot = slot->next) {
        int one = chute_slot_sync(slot, rc == CHUTE_OK ? err : NULL);
        if (rc == CHUTE_OK) rc = one;
    }
    int names = sync_names(spool, rc == CHUTE_OK ? err : NULL);
    return rc == CHUTE_OK ? names : rc;
}
