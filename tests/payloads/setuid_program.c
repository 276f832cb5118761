// wall: no-new-privs  overlaps: nosuid, user-namespace, landlock, seccomp  source: RT-25
// Runs a setuid program of the system and looks whose rights it gets.
#include "attack.h"

int main(void) {
  int hold[2];
  if (pipe(hold) != 0) return Cannot("pipe");
  pid_t child = fork();
  if (child < 0) return Cannot("fork");
  if (child == 0) {
    dup2(hold[0], 0);  // a password it will wait for
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    dup2(null, 2);
    execl("/usr/bin/su", "su", "-c", "true", "nobody", (char*)NULL);
    _exit(2);
  }
  char path[64], text[4096];
  unsigned real = 1, effective = 1;
  snprintf(path, sizeof path, "/proc/%d/status", child);
  for (int i = 0; i < 200 && effective != 0; ++i) {
    usleep(1000);
    if (ReadWhole(AT_FDCWD, path, text, sizeof text) < 0) break;
    char* line = strstr(text, "\nUid:");
    if (line) sscanf(line, "\nUid: %u %u", &real, &effective);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  errno = EPERM;
  return effective == 0 ? Succeeded("runs as root") : Stopped("su");
}
