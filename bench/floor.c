// The floor of a fresh run: what the kernel alone takes for the walls that `bawn run` puts up, in
// plain C, with nothing decided, read, proven or recorded. Seven namespaces, identity maps, a root
// of its own (tmpfs, the system read-only, an overlay of the work tree with its changes in memory,
// proc, /tmp, a home, six devices), pivot_root, loopback, a second user namespace, Landlock, a
// filter, no privileges, one exec of a static pid 1 (this program again), one of the command.
// usage: floor WORK_TREE COMMAND [ARG…]   as an ordinary user
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call)                                                \
  do {                                                            \
    if ((long)(call) < 0) {                                       \
      fprintf(stderr, "floor: %s: %s\n", #call, strerror(errno)); \
      _exit(125);                                                 \
    }                                                             \
  } while (0)

static void Write(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  MUST(fd);
  MUST(write(fd, text, strlen(text)));
  close(fd);
}

static void MapSelf(unsigned uid, unsigned gid) {
  char text[64];
  snprintf(text, sizeof text, "%u %u 1\n", uid, uid);
  Write("/proc/self/uid_map", text);
  Write("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%u %u 1\n", gid, gid);
  Write("/proc/self/gid_map", text);
}

static void MakeDirs(const char* path) {
  char part[4096];
  for (const char* at = strchr(path + 1, '/');; at = strchr(at + 1, '/')) {
    size_t size = at ? (size_t)(at - path) : strlen(path);
    memcpy(part, path, size);
    part[size] = '\0';
    mkdir(part, 0755);
    if (!at) return;
  }
}

static void Bind(const char* from, const char* to, int read_only) {
  MUST(mount(from, to, NULL, MS_BIND, NULL));
  if (read_only) {
    MUST(mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL));
  }
}

static void Build(const char* tree) {
  static const char* const kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};
  char target[4200], options[9000];
  MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  MUST(mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=0755"));
  MUST(chdir("/tmp"));
  static const char* const kDirs[] = {"usr", "dev", "proc", "tmp", "upper", "work", "private"};
  for (size_t i = 0; i < sizeof kDirs / sizeof *kDirs; ++i) MUST(mkdir(kDirs[i], 0755));
  Bind("/usr", "usr", 1);
  static const char* const kLinks[] = {"bin", "lib", "lib64", "sbin"};
  for (size_t i = 0; i < sizeof kLinks / sizeof *kLinks; ++i) {
    snprintf(target, sizeof target, "usr/%s", kLinks[i]);
    MUST(symlink(target, kLinks[i]));
  }
  snprintf(target, sizeof target, "/tmp%s", tree);
  MakeDirs(target);
  snprintf(options, sizeof options, "userxattr,lowerdir=%s,upperdir=/tmp/upper,workdir=/tmp/work",
           tree);
  MUST(mount("none", target, "overlay", MS_NOSUID | MS_NODEV, options));
  MUST(mount("none", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
  MUST(mount("none", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL));
  MUST(mount("none", "private", "tmpfs", MS_NOSUID | MS_NODEV, NULL));
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; ++i) {
    char from[32];
    snprintf(from, sizeof from, "/dev/%s", kDevices[i]);
    snprintf(target, sizeof target, "dev/%s", kDevices[i]);
    MUST(mknod(target, S_IFREG | 0644, 0));
    Bind(from, target, 0);
  }
  MUST(syscall(SYS_pivot_root, ".", "."));
  MUST(umount2(".", MNT_DETACH));
  MUST(chdir("/"));
  MUST(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL));
}

static void LoopbackUp(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  MUST(fd);
  MUST(ioctl(fd, SIOCSIFFLAGS, &request));
  close(fd);
}

static void Confine(const char* tree) {
  struct landlock_ruleset_attr attributes = {.handled_access_fs = (1ULL << 13) - 1};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  MUST(ruleset);
  const char* paths[] = {"/", tree, "/tmp", "/dev", "/proc"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    struct landlock_path_beneath_attr rule = {.allowed_access = i == 0 ? 0xd : (1ULL << 13) - 1,
                                              .parent_fd = open(paths[i], O_PATH | O_CLOEXEC)};
    MUST(rule.parent_fd);
    MUST(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
    close(rule.parent_fd);
  }
  for (int capability = 0; capability <= 40; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0);
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  MUST(syscall(SYS_landlock_restrict_self, ruleset, 0));
  close(ruleset);
  struct sock_filter code[256];
  size_t count = sizeof code / sizeof *code;
  code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
  for (size_t i = 1; i + 1 < count; ++i) {
    code[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 100000 + (unsigned)i, 0, 0);
  }
  code[count - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)count, code};
  MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

// Pid 1, in its namespaces, with every capability there.
static int Inside(char** argv) {
  unsigned uid = getuid(), gid = getgid();
  LoopbackUp();
  Build(argv[2]);
  MUST(unshare(CLONE_NEWUSER | CLONE_NEWNS));
  MapSelf(uid, gid);
  struct clone_args plain = {.exit_signal = SIGCHLD};
  long child = syscall(SYS_clone3, &plain, sizeof plain);
  MUST(child);
  if (child == 0) {
    Confine(argv[2]);
    MUST(chdir(argv[2]));
    execv(argv[3], argv + 3);
    _exit(127);
  }
  int status = 0;
  MUST(waitpid((int)child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

int main(int argc, char** argv) {
  if (argc > 3 && strcmp(argv[1], "inside") == 0) return Inside(argv);
  if (argc < 3) return 2;
  unsigned uid = getuid(), gid = getgid();
  struct clone_args args = {.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                     CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
                            .exit_signal = SIGCHLD};
  long child = syscall(SYS_clone3, &args, sizeof args);
  MUST(child);
  if (child == 0) {
    MapSelf(uid, gid);
    // Execution drops what an ordinary id holds, unless it is ambient.
    struct {
      unsigned version;
      int pid;
    } head = {0x20080522, 0};
    unsigned sets[6] = {~0U, ~0U, ~0U, 0x1ff, 0x1ff, 0x1ff};
    MUST(syscall(SYS_capset, &head, sets));
    for (int capability = 0; capability <= 40; ++capability) {
      MUST(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0));
    }
    char* inner[64] = {argv[0], "inside"};
    for (int i = 1; i < argc && i < 61; ++i) inner[i + 1] = argv[i];
    execv("/proc/self/exe", inner);
    _exit(127);
  }
  int status = 0;
  MUST(waitpid((int)child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
