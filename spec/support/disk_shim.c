/* disk_shim: a disk that fails where it is told. Preloaded into a program.
 *
 * Of libchute's calls of the function CHUTE_SPEC_DISK_NAME (in the environment) the
 * CHUTE_SPEC_DISK_CALL-th fails, once, with the error number CHUTE_SPEC_DISK_ERROR; the name is
 * then appended to CHUTE_SPEC_DISK_LOG.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define FAILS(name) fails(#name, __builtin_return_address(0))

static _Atomic long calls;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static bool is_library(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libchute");
}

static void note(const char *name) {
    const char *path = getenv("CHUTE_SPEC_DISK_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s\n", name);
    fclose(file);
}

static bool fails(const char *name, const void *caller) {
    const char *chosen = getenv("CHUTE_SPEC_DISK_NAME");
    if (!chosen || strcmp(name, chosen) != 0 || !is_library(caller)) return false;
    if (atomic_fetch_add(&calls, 1) + 1 != number("CHUTE_SPEC_DISK_CALL")) return false;
    note(name);
    errno = (int)number("CHUTE_SPEC_DISK_ERROR");
    return true;
}

VISIBLE int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return FAILS(open) ? -1 : REAL(open)(path, flags, mode);
}

VISIBLE int openat(int folder, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return FAILS(openat) ? -1 : REAL(openat)(folder, path, flags, mode);
}

VISIBLE int mkdir(const char *path, mode_t mode) {
    return FAILS(mkdir) ? -1 : REAL(mkdir)(path, mode);
}

VISIBLE int mkdirat(int folder, const char *path, mode_t mode) {
    return FAILS(mkdirat) ? -1 : REAL(mkdirat)(folder, path, mode);
}

VISIBLE int flock(int fd, int operation) {
    return FAILS(flock) ? -1 : REAL(flock)(fd, operation);
}

VISIBLE int posix_fallocate(int fd, off_t at, off_t len) {
    return FAILS(posix_fallocate) ? errno : REAL(posix_fallocate)(fd, at, len);
}

VISIBLE void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset) {
    return fd >= 0 && FAILS(mmap) ? MAP_FAILED : REAL(mmap)(at, len, protection, flags, fd, offset);
}

VISIBLE int renameat(int from, const char *name, int to, const char *as) {
    return FAILS(renameat) ? -1 : REAL(renameat)(from, name, to, as);
}

VISIBLE int unlinkat(int folder, const char *path, int flags) {
    return FAILS(unlinkat) ? -1 : REAL(unlinkat)(folder, path, flags);
}

VISIBLE int fstat(int fd, struct stat *out) {
    return FAILS(fstat) ? -1 : REAL(fstat)(fd, out);
}

VISIBLE int fstatat(int folder, const char *path, struct stat *out, int flags) {
    return FAILS(fstatat) ? -1 : REAL(fstatat)(folder, path, out, flags);
}

VISIBLE int fsync(int fd) {
    return FAILS(fsync) ? -1 : REAL(fsync)(fd);
}

VISIBLE int fdatasync(int fd) {
    return FAILS(fdatasync) ? -1 : REAL(fdatasync)(fd);
}

VISIBLE ssize_t pread(int fd, void *to, size_t len, off_t at) {
    return FAILS(pread) ? -1 : REAL(pread)(fd, to, len, at);
}

VISIBLE ssize_t pwrite(int fd, const void *from, size_t len, off_t at) {
    return FAILS(pwrite) ? -1 : REAL(pwrite)(fd, from, len, at);
}
