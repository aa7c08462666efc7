//! The sandbox of a child: resource limits, no files, and only a few system calls.
//!
//! The interpreter is compiled without access to files, sockets or processes. This module is the second line
//! of defence. On a kernel without landlock or seccomp the resource limits remain, and the child reports
//! what it has. All `unsafe` code of this crate is here.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetStatus};
use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_dumpable_behavior,
    set_parent_process_death_signal, setrlimit,
};
use rustix::time::{ClockId, clock_gettime};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::job::Isolation;
use crate::wire::Spawn;

/// The stack size of the single thread. The kernel leaves at least 128 MiB of address space below it.
const STACK_BYTES: u64 = 64 << 20;

/// The approximate memory use of the loaded interpreter.
const HEAP_BYTES: usize = 32 << 20;

/// Allocates the heap in one piece and in large pages, as an optimization: loading touches all of it, and
/// forking copies a table with an entry per page.
#[expect(
    unsafe_code,
    reason = "`sbrk`, `mallopt` and `madvise` have no safe wrapper for the heap"
)]
pub(super) fn widen_heap() {
    let Ok(bytes) = i32::try_from(HEAP_BYTES) else {
        return;
    };
    // SAFETY: the process has one thread. The first call changes a number that the allocator reads, the
    // second reads where the heap ends. The advised range is inside the heap, because the allocation has
    // grown it by that much, and advice does not change its contents.
    unsafe {
        let start = libc::sbrk(0);
        libc::mallopt(libc::M_TOP_PAD, bytes);
        // Keeps free memory at the end of the heap, which loading will use.
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        // Together larger than the initial heap, but each too small for a separate mapping.
        drop(std::hint::black_box([
            vec![1_u8; 100 << 10],
            vec![1_u8; 100 << 10],
        ]));
        let grown = libc::sbrk(0) as usize - start as usize;
        if grown >= HEAP_BYTES {
            let page = start.map_addr(|address| address.next_multiple_of(1 << 21));
            libc::madvise(page, HEAP_BYTES - (1 << 21), libc::MADV_HUGEPAGE);
        }
        libc::mallopt(libc::M_TOP_PAD, 1 << 17);
    }
}

/// Strips the zygote of everything inherited except three descriptors.
pub(super) fn strip() -> Result<(), String> {
    let input = rustix::net::sockopt::socket_type(rustix::stdio::stdin());
    if input.is_err() {
        return Err("this command is started by deft itself, with a socket as input".to_owned());
    }
    close_from(3);
    clear_environment();
    let to_text = |error: rustix::io::Errno| error.to_string();
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(to_text)?;
    limit(Resource::Core, 0).map_err(to_text)?;
    let hard = getrlimit(Resource::Stack).maximum;
    let soft = STACK_BYTES.min(hard.unwrap_or(u64::MAX));
    let stack = Rlimit {
        current: Some(soft),
        maximum: hard,
    };
    setrlimit(Resource::Stack, stack).map_err(to_text)
}

/// State prepared once in the zygote for all children.
pub(super) struct Guard {
    /// The address space of the loaded interpreter, in bytes.
    base_bytes: u64,
    /// The file from which the kernel reports it; must be opened before files are denied.
    statm: Option<File>,
    filter: Option<BpfProgram>,
    isolation: Isolation,
    zygote: Option<Pid>,
}

impl Guard {
    /// Denies files to this process and all its children, and compiles the system call filter for the
    /// children.
    pub(super) fn prepare() -> Guard {
        // Opened first, because no file can be opened later.
        let statm = File::open("/proc/self/statm").ok();
        let no_new_privileges = rustix::thread::set_no_new_privs(true).is_ok();
        let isolation = Isolation {
            seccomp: false,
            landlock: no_new_privileges && restrict_files(),
            no_new_privileges,
        };
        Guard {
            base_bytes: 0,
            statm,
            filter: filter(),
            isolation,
            zygote: Some(rustix::process::getpid()),
        }
    }

    /// Measures the current size of the process; the memory limit of a child is added to it.
    pub(super) fn measure(&mut self) {
        let size = self.statm.as_ref().and_then(address_space);
        self.base_bytes = size.unwrap_or(1 << 30);
    }

    /// Puts the calling child into the sandbox, and returns the isolation achieved.
    pub(super) fn close(&self, spawn: &Spawn) -> rustix::io::Result<Isolation> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != self.zygote {
            // The zygote died between the fork and the line above.
            exit(0);
        }
        let memory = self.base_bytes.saturating_add(spawn.memory_bytes);
        limit(Resource::As, memory)?;
        limit(Resource::Data, memory)?;
        limit(Resource::Fsize, 0)?;
        limit(Resource::Nofile, 0)?;
        limit(Resource::Nproc, 0)?;
        limit(Resource::Memlock, 0)?;
        let seccomp = self
            .filter
            .as_ref()
            .is_some_and(|filter| seccompiler::apply_filter(filter).is_ok());
        Ok(Isolation {
            seccomp,
            ..self.isolation
        })
    }
}

/// Allows the child `seconds` more of processor time, after which the kernel ends it.
pub(super) fn allow_cpu(seconds: u64) {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    let total = u64::try_from(used).unwrap_or(0).saturating_add(seconds);
    let rule = Rlimit {
        current: Some(total),
        maximum: None,
    };
    // A backup: usually the client's timer ends the child first.
    let _ = setrlimit(Resource::Cpu, rule);
}

fn limit(resource: Resource, value: u64) -> rustix::io::Result<()> {
    let rule = Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(resource, rule)
}

fn address_space(statm: &File) -> Option<u64> {
    let mut bytes = [0; 128];
    let length = statm.read_at(&mut bytes, 0).ok()?;
    let text = str::from_utf8(bytes.get(..length)?).ok()?;
    let pages: u64 = text.split_whitespace().next()?.parse().ok()?;
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    Some(pages.saturating_mul(page))
}

/// Applies a landlock rule set that allows nothing. Returns whether the kernel enforces it.
fn restrict_files() -> bool {
    let abi = ABI::V5;
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    ruleset.is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

/// Compiles the seccomp filter: system calls that are not in the tables fail with EPERM.
fn filter() -> Option<BpfProgram> {
    let rules = always()
        .into_iter()
        .map(|call| (call, Vec::new()))
        .chain(conditional_rules()?)
        .collect();
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    // An error instead of a kill, because the C library tries to open files before an abort.
    let denied = SeccompAction::Errno(u32::try_from(libc::EPERM).ok()?);
    let filter = SeccompFilter::new(rules, denied, SeccompAction::Allow, arch).ok()?;
    BpfProgram::try_from(filter).ok()
}

/// System calls that an interpreter without files needs.
fn always() -> [i64; 19] {
    [
        // The data socket, and stderr.
        libc::SYS_read,
        libc::SYS_write,
        // Memory.
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        // Locks of the C library and of Rust's runtime.
        libc::SYS_futex,
        libc::SYS_sched_yield,
        // The measurement of a job's duration.
        libc::SYS_clock_gettime,
        // Handlers of stack overflows, and the way to an abort.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_close,
    ]
}

/// System calls that are allowed only with certain arguments.
fn conditional_rules() -> Option<Vec<(i64, Vec<SeccompRule>)>> {
    let is = |argument, value| {
        SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            u64::try_from(value).ok()?,
        )
        .ok()
    };
    let data_only = || {
        let exec = u64::try_from(libc::PROT_EXEC).ok()?;
        let operator = SeccompCmpOp::MaskedEq(exec);
        let no_code = SeccompCondition::new(2, SeccompCmpArgLen::Dword, operator, 0).ok()?;
        SeccompRule::new(vec![no_code]).ok()
    };
    let own_cpu = SeccompRule::new(vec![is(0, 0)?, is(1, RLIMIT_CPU)?]).ok()?;
    let abort = SeccompRule::new(vec![is(2, libc::SIGABRT)?]).ok()?;
    Some(vec![
        (libc::SYS_mmap, vec![data_only()?]),
        (libc::SYS_mprotect, vec![data_only()?]),
        (libc::SYS_prlimit64, vec![own_cpu]),
        (libc::SYS_tgkill, vec![abort]),
    ])
}

/// The type of the constant in `libc` depends on the C library.
const RLIMIT_CPU: i32 = 0;

/// Closes all descriptors in the child except the data socket (as standard input) and stderr.
pub(super) fn keep_only(data: OwnedFd, words: OwnedFd) -> rustix::io::Result<()> {
    rustix::stdio::dup2_stdin(data.as_fd())?;
    rustix::stdio::dup2_stderr(words.as_fd())?;
    // `close_from` below closes these descriptors; nothing else may close them again.
    std::mem::forget((data, words));
    close_range(1, 1);
    close_from(3);
    Ok(())
}

fn close_from(first: u32) {
    close_range(first, u32::MAX);
}

#[expect(
    unsafe_code,
    reason = "no safe call closes descriptors without an owner"
)]
fn close_range(first: u32, last: u32) {
    // SAFETY: the process has one thread, and no value that owns one of these descriptors is used or dropped
    // afterwards: the zygote has none yet, and a child never returns to its structures.
    unsafe {
        libc::syscall(libc::SYS_close_range, first, last, 0);
    }
}

#[expect(unsafe_code, reason = "the environment has no safe way to be changed")]
fn clear_environment() {
    // SAFETY: the process has one thread, so no other thread reads the environment at the same time.
    unsafe {
        libc::clearenv();
    }
}

/// Forks; returns the pid of the child, or `None` in the child.
#[expect(unsafe_code, reason = "a fork has no safe form")]
pub(super) fn fork() -> rustix::io::Result<Option<Pid>> {
    // SAFETY: the process has one thread, so the child's copy of memory is consistent: no lock is held by a
    // thread that the child lacks.
    let pid = unsafe { libc::fork() };
    match pid {
        ..0 => Err(rustix::io::Errno::AGAIN),
        _ => Ok(Pid::from_raw(pid)),
    }
}

/// Exits without running exit handlers.
#[expect(
    unsafe_code,
    reason = "std's exit runs handlers that belong to the zygote"
)]
pub(super) fn exit(status: i32) -> ! {
    // SAFETY: it does not return and touches no memory.
    unsafe { libc::_exit(status) }
}
