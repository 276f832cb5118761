// contain/seccomp_table.h
// Which system calls a payload may make, and what the others answer: the table of RT-19. Rows name
// the call; a number in no row is ENOSYS, so that a libc newer than this table falls back. Where we
// answer something else, or test arguments, the reason stands beside the row.
// Decided here, at build time, and by the profile names of the Plan. Enforced by: the kernel, by
// the program that contain/seccomp_compiler.h makes of it. Recorded as: layer "seccomp". What is
// allowed is not thereby harmless: it is left to the namespaces, to Landlock and to the kernel's
// own permission checks without any capability.
#pragma once

#include <cstdint>

#include "sys/syscall_numbers.h"

namespace bawn::contain::seccomp {

using enum sys::SyscallNumber;
using sys::SyscallNumber;

enum class Rule : uint8_t {
  kNotImplemented,  // ENOSYS
  kAllow,
  kRefuse,  // EPERM
  // By argument. Every test is on the low 32 bits: the kernel takes these arguments as 32-bit
  // values, and a 64-bit compare is passed by setting bit 32 (RT-06, CVE-2019-10063).
  kClone,
  kCloneBrowser,
  kUnshare,
  kUnshareBrowser,
  kSocket,
  kSocketRestricted,
  kSocketpair,
  kSocketpairRestricted,
  kIoctl,
  kPersonality,
  kPrlimitOwn
};

struct Row {
  SyscallNumber number;
  Rule rule;
};

inline constexpr SyscallNumber kAllowed[] = {
    // Files by descriptor.
    kNrRead, kNrWrite, kNrClose, kNrCloseRange, kNrLseek, kNrPread64, kNrPwrite64, kNrReadv,
    kNrWritev, kNrPreadv, kNrPwritev, kNrPreadv2, kNrPwritev2, kNrDup, kNrDup2, kNrDup3, kNrFcntl,
    kNrFlock, kNrFsync, kNrFdatasync, kNrSyncFileRange, kNrFtruncate, kNrFallocate, kNrFadvise64,
    kNrReadahead, kNrSendfile, kNrCopyFileRange, kNrSplice, kNrTee, kNrVmsplice, kNrPipe, kNrPipe2,
    kNrFstat, kNrFstatfs, kNrFchdir, kNrFchmod, kNrFchown, kNrGetdents, kNrGetdents64, kNrSync,
    kNrSyncfs, kNrCachestat,
    // Files by path: the view and Landlock decide.
    kNrOpen, kNrOpenat, kNrOpenat2, kNrCreat, kNrStat, kNrLstat, kNrNewfstatat, kNrStatx, kNrStatfs,
    kNrAccess, kNrFaccessat, kNrFaccessat2, kNrTruncate, kNrGetcwd, kNrChdir, kNrRename,
    kNrRenameat, kNrRenameat2, kNrMkdir, kNrMkdirat, kNrRmdir, kNrLink, kNrLinkat, kNrUnlink,
    kNrUnlinkat, kNrSymlink, kNrSymlinkat, kNrReadlink, kNrReadlinkat, kNrChmod, kNrFchmodat,
    kNrFchmodat2, kNrChown, kNrLchown, kNrFchownat, kNrMknod, kNrMknodat, kNrUmask, kNrUtime,
    kNrUtimes, kNrFutimesat, kNrUtimensat, kNrSetxattr, kNrLsetxattr, kNrFsetxattr, kNrGetxattr,
    kNrLgetxattr, kNrFgetxattr, kNrListxattr, kNrLlistxattr, kNrFlistxattr, kNrRemovexattr,
    kNrLremovexattr, kNrFremovexattr,
    // A handle opens nothing without open_by_handle_at, which is refused; git and udev ask for it.
    kNrNameToHandleAt,
    // Memory.
    kNrMmap, kNrMprotect, kNrMunmap, kNrMremap, kNrBrk, kNrMsync, kNrMincore, kNrMadvise, kNrMlock,
    kNrMlock2, kNrMunlock, kNrMlockall, kNrMunlockall, kNrMemfdCreate, kNrMseal, kNrPkeyMprotect,
    kNrPkeyAlloc, kNrPkeyFree, kNrMbind, kNrSetMempolicy, kNrSetMempolicyHomeNode, kNrGetMempolicy,
    kNrMigratePages, kNrMovePages, kNrMembarrier, kNrProcessMadvise,
    // Processes and threads; clone is tested by argument.
    kNrFork, kNrVfork, kNrExecve, kNrExecveat, kNrExit, kNrExitGroup, kNrWait4, kNrWaitid,
    kNrGetpid, kNrGetppid, kNrGettid, kNrGetpgid, kNrGetpgrp, kNrSetpgid, kNrGetsid, kNrSetsid,
    kNrKill, kNrTkill, kNrTgkill, kNrPidfdOpen, kNrPidfdSendSignal, kNrPrctl, kNrArchPrctl,
    kNrSetTidAddress, kNrSetRobustList, kNrGetRobustList, kNrRseq, kNrFutex, kNrFutexWaitv,
    kNrFutexWake, kNrFutexWait, kNrFutexRequeue, kNrRestartSyscall, kNrGetcpu, kNrUname, kNrSysinfo,
    kNrGetrusage, kNrTimes, kNrGetrandom,
    // Where the kernel places the return of a uprobe; a process that never meets one gets SIGILL.
    kNrUretprobe,
    // Debuggers and sanitizers: with EPERM every ASan program exits 1 (RT-19). The kernel confines
    // them to the pid namespace, Landlock to the job; init is non-dumpable.
    kNrPtrace, kNrProcessVmReadv, kNrProcessVmWritev, kNrKcmp,
    // Scheduling.
    kNrSchedYield, kNrSchedSetparam, kNrSchedGetparam, kNrSchedSetscheduler, kNrSchedGetscheduler,
    kNrSchedGetPriorityMax, kNrSchedGetPriorityMin, kNrSchedRrGetInterval, kNrSchedSetaffinity,
    kNrSchedGetaffinity, kNrSchedSetattr, kNrSchedGetattr, kNrGetpriority, kNrSetpriority,
    kNrIoprioSet, kNrIoprioGet, kNrGetrlimit, kNrSetrlimit,
    // Identity: without a capability and with one id mapped these change nothing.
    kNrGetuid, kNrGeteuid, kNrGetgid, kNrGetegid, kNrGetgroups, kNrGetresuid, kNrGetresgid,
    kNrSetuid, kNrSetgid, kNrSetreuid, kNrSetregid, kNrSetresuid, kNrSetresgid, kNrSetgroups,
    kNrSetfsuid, kNrSetfsgid, kNrCapget, kNrCapset,
    // Signals, time and timers. adjtimex without CAP_SYS_TIME only reads.
    kNrRtSigaction, kNrRtSigprocmask, kNrRtSigreturn, kNrRtSigpending, kNrRtSigtimedwait,
    kNrRtSigqueueinfo, kNrRtTgsigqueueinfo, kNrRtSigsuspend, kNrSigaltstack, kNrSignalfd,
    kNrSignalfd4, kNrPause, kNrAlarm, kNrGetitimer, kNrSetitimer, kNrNanosleep, kNrClockNanosleep,
    kNrClockGettime, kNrClockGetres, kNrGettimeofday, kNrTime, kNrAdjtimex, kNrClockAdjtime,
    kNrTimerCreate, kNrTimerSettime, kNrTimerGettime, kNrTimerGetoverrun, kNrTimerDelete,
    kNrTimerfdCreate, kNrTimerfdSettime, kNrTimerfdGettime,
    // Waiting for descriptors, and the old asynchronous I/O (databases; io_uring is not there).
    kNrPoll, kNrPpoll, kNrSelect, kNrPselect6, kNrEpollCreate, kNrEpollCreate1, kNrEpollCtl,
    kNrEpollWait, kNrEpollPwait, kNrEpollPwait2, kNrEventfd, kNrEventfd2, kNrInotifyInit,
    kNrInotifyInit1, kNrInotifyAddWatch, kNrInotifyRmWatch, kNrIoSetup, kNrIoDestroy, kNrIoSubmit,
    kNrIoCancel, kNrIoGetevents, kNrIoPgetevents,
    // Sockets once made; socket and socketpair are tested by argument.
    kNrBind, kNrListen, kNrAccept, kNrAccept4, kNrConnect, kNrGetsockname, kNrGetpeername,
    kNrSetsockopt, kNrGetsockopt, kNrShutdown, kNrSendto, kNrSendmsg, kNrSendmmsg, kNrRecvfrom,
    kNrRecvmsg, kNrRecvmmsg,
    // System V IPC and message queues, in an IPC namespace of their own.
    kNrShmget, kNrShmat, kNrShmctl, kNrShmdt, kNrSemget, kNrSemop, kNrSemtimedop, kNrSemctl,
    kNrMsgget, kNrMsgsnd, kNrMsgrcv, kNrMsgctl, kNrMqOpen, kNrMqUnlink, kNrMqTimedsend,
    kNrMqTimedreceive, kNrMqNotify, kNrMqGetsetattr,
    // Walls that a payload puts around its own children only make it narrower.
    kNrSeccomp, kNrLandlockCreateRuleset, kNrLandlockAddRule, kNrLandlockRestrictSelf};

// EPERM: what a process without capabilities hears from the kernel anyway, so programs take it for
// a missing privilege and go on.
inline constexpr SyscallNumber kRefused[] = {
    // The mount family, namespaces, and ways around the view.
    kNrMount, kNrUmount2, kNrFsopen, kNrFsconfig, kNrFsmount, kNrFspick, kNrMoveMount, kNrOpenTree,
    kNrOpenTreeAttr, kNrMountSetattr, kNrPivotRoot, kNrChroot, kNrSetns, kNrOpenByHandleAt,
    // Kernel surface that CVEs come from: programs, counters, page faults, event filters.
    kNrBpf, kNrPerfEventOpen, kNrUserfaultfd, kNrFanotifyInit, kNrFanotifyMark,
    // Takes a descriptor out of another process; tools have SCM_RIGHTS.
    kNrPidfdGetfd,
    // The machine itself.
    kNrSyslog, kNrSwapon, kNrSwapoff, kNrInitModule, kNrFinitModule, kNrDeleteModule, kNrKexecLoad,
    kNrKexecFileLoad, kNrReboot, kNrAcct, kNrQuotactl, kNrQuotactlFd, kNrSethostname,
    kNrSetdomainname, kNrSettimeofday, kNrClockSettime, kNrVhangup,
    // x86 segments and ports.
    kNrIopl, kNrIoperm, kNrModifyLdt};

inline constexpr Row kByArgument[] = {
    {kNrClone, Rule::kClone},
    {kNrUnshare, Rule::kUnshare},
    {kNrSocket, Rule::kSocket},
    {kNrSocketpair, Rule::kSocketpair},
    {kNrIoctl, Rule::kIoctl},
    {kNrPersonality, Rule::kPersonality},
    // RT-22: the limits of pid 1 and of a neighbour job are not a payload's to change, and no
    // Landlock scope covers them. The caller's own are; "self" is pid 0, as every libc says it.
    {kNrPrlimit64, Rule::kPrlimitOwn}};

// ENOSYS on purpose and by name, held by a static assertion: callers fall back to older calls.
inline constexpr SyscallNumber kFallBack[] = {
    // Its flags lie behind a pointer, out of a filter's sight; glibc, Go and Rust then call clone.
    kNrClone3,
    // Would make calls that no filter sees; libuv and tokio fall back to epoll.
    kNrIoUringSetup, kNrIoUringEnter, kNrIoUringRegister,
    // Keyrings are per uid, not per namespace; Kerberos falls back to files.
    kNrKeyctl, kNrAddKey, kNrRequestKey, kNrMemfdSecret};

// ---- Rows that a profile replaces.

// A browser's own sandbox: user, pid and network namespaces and chroot, no mount namespace; the lid
// on user namespaces is raised to 16 with it. Root in a nested user namespace still meets every
// other row, so it gains no mounts, no nf_tables, no packet sockets.
inline constexpr Row kBrowserRows[] = {{kNrClone, Rule::kCloneBrowser},
                                       {kNrUnshare, Rule::kUnshareBrowser},
                                       {kNrChroot, Rule::kAllow}};

inline constexpr Row kDebugRows[] = {{kNrPerfEventOpen, Rule::kAllow},
                                     {kNrPidfdGetfd, Rule::kAllow},
                                     {kNrUserfaultfd, Rule::kAllow}};

// Level `restricted` has no namespaces of its own, so what these would keep apart is refused.
inline constexpr Row kRestrictedRows[] = {
    // Landlock covers neither UDP nor (below ABI 9) socket paths: no sockets at all (RT-12).
    {kNrSocket, Rule::kSocketRestricted},
    {kNrSocketpair, Rule::kSocketpairRestricted},
    // The host's own IPC objects of the same uid.
    {kNrShmget, Rule::kNotImplemented},
    {kNrShmat, Rule::kNotImplemented},
    {kNrShmctl, Rule::kNotImplemented},
    {kNrSemget, Rule::kNotImplemented},
    {kNrSemop, Rule::kNotImplemented},
    {kNrSemtimedop, Rule::kNotImplemented},
    {kNrSemctl, Rule::kNotImplemented},
    {kNrMsgget, Rule::kNotImplemented},
    {kNrMsgsnd, Rule::kNotImplemented},
    {kNrMsgrcv, Rule::kNotImplemented},
    {kNrMsgctl, Rule::kNotImplemented},
    {kNrMqOpen, Rule::kNotImplemented},
    {kNrMqUnlink, Rule::kNotImplemented}};

// ---- What the argument tests compare with.

// Every clone(2) flag but the namespaces: CSIGNAL, VM to THREAD, SYSVSEM to CHILD_SETTID, IO.
// CLONE_NEWTIME is 0x80, a signal number here; the kernel takes it from unshare and clone3 only.
inline constexpr uint32_t kCloneFlags = 0x81fdffff;
inline constexpr uint32_t kUnshareFlags =  // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
    0x00000100 | 0x00000200 | 0x00000400 | 0x00000800 | 0x00010000 | 0x00040000;
inline constexpr uint32_t kBrowserNamespaces =  // NEWUSER, NEWPID, NEWNET
    0x10000000 | 0x20000000 | 0x40000000;

inline constexpr uint32_t kFamilyUnix = 1, kFamilyInet = 2, kFamilyInet6 = 10, kFamilyNetlink = 16;
inline constexpr uint32_t kNetlinkRoute = 0;
// Types by number: with AF_INET, SOCK_PACKET (10) is an AF_PACKET socket and SOCK_SEQPACKET SCTP.
inline constexpr uint32_t kSocketTypeMask = 0xf;     // SOCK_CLOEXEC and SOCK_NONBLOCK lie above
inline constexpr uint32_t kInetTypes[] = {1, 2, 3};  // STREAM, DGRAM, RAW
inline constexpr uint32_t kInetProtocols[] = {0, 6, 17, 1, 58};  // default, TCP, UDP, ICMP, ICMPv6
// A datagram socketpair can still send to any socket path; a connected stream cannot be turned.
inline constexpr uint32_t kConnectedTypes[] = {1, 5};  // STREAM, SEQPACKET

// Keystrokes for whoever reads the terminal (O-06), the console's own, and line disciplines.
inline constexpr uint32_t kRefusedIoctls[] = {0x5412 /*TIOCSTI*/, 0x541c /*TIOCLINUX*/,
                                              0x5423 /*TIOCSETD*/};
// Plain Linux, ADDR_NO_RANDOMIZE (setarch -R, gdb, SBCL) and the query. The others change how
// system calls and mappings behave.
inline constexpr uint32_t kPersonalities[] = {0, 0x0040000, 0xffffffff};

}  // namespace bawn::contain::seccomp
