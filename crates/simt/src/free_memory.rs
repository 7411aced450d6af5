//! Finds out how much memory the process can still allocate.

use std::fs;
use std::path::Path;

/// Returns the number of bytes that this process can still allocate before the system ends a process for lack of
/// memory. This is the minimum of the system's available memory, of the memory that is left in each control group of
/// the process, and of the address space that is left. Returns `None` if the system does not report it.
pub fn available() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| value(&text, "MemAvailable:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = groups.lines().filter_map(|line| group_left(Path::new("/sys/fs/cgroup"), line));
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let addresses = addresses_left(&text("/proc/self/limits"), &text("/proc/self/status"));
    system.map(|kibibytes| kibibytes.saturating_mul(1024)).into_iter().chain(left).chain(addresses).min()
}

/// Returns the number of bytes that the limit of the address space (`ulimit -v`) leaves. Returns `None` without such a
/// limit.
fn addresses_left(limits: &str, status: &str) -> Option<u64> {
    let limits = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limits.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(value(status, "VmSize:")?.saturating_mul(1024)))
}

/// Returns the number after `key` in a text that has a name and a number per line.
fn value(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

/// Returns the number of bytes that a control group can still allocate. This is the minimum of the memory that is left
/// in the group and in each group above it. `line` is from `/proc/self/cgroup`; the files of the groups are under
/// `root`.
fn group_left(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, group) = (parts.next()?, parts.next()?.trim_start_matches('/'));
    // Version 2 of control groups has one hierarchy without a name. Version 1 has a hierarchy for memory.
    let (root, limit, used, reclaimable) = match controllers {
        "" => (root.to_owned(), "memory.max", "memory.current", "inactive_file"),
        names if names.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        }
        _ => return None,
    };
    // In a container the path of the group may be missing. The group's files are then at the root.
    let groups = Path::new(group).ancestors().map(|group| root.join(group));
    let number = |path: &Path| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let left = groups.filter_map(|group| {
        let limit = number(&group.join(limit))?;
        // The system frees inactive pages of files first.
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let held = number(&group.join(used))?.saturating_sub(value(&stat, reclaimable).unwrap_or(0));
        Some(limit.saturating_sub(held))
    });
    left.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_group_counts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("a/memory.max", "1000\n");
        put("a/memory.current", "900\n");
        put("a/memory.stat", "anon 5\ninactive_file 400\n");
        put("a/b/memory.max", "max\n");
        put("a/b/memory.current", "10\n");
        assert_eq!(group_left(root.path(), "0::/a/b"), Some(500));
        put("a/b/memory.max", "300\n");
        assert_eq!(group_left(root.path(), "0::/a/b"), Some(290));
        assert_eq!(group_left(root.path(), "0::/elsewhere"), None);
        put("memory/c/memory.limit_in_bytes", "64\n");
        put("memory/c/memory.usage_in_bytes", "70\n");
        assert_eq!(group_left(root.path(), "4:cpu,memory:/c"), Some(0));
        assert_eq!(group_left(root.path(), "4:cpu:/c"), None);
        let limits = "Max cpu time  unlimited unlimited seconds\nMax address space    1048576000 unlimited bytes\n";
        assert_eq!(addresses_left(limits, "Name:\tx\nVmSize:\t   1000 kB\n"), Some(1048576000 - 1024000));
        assert_eq!(addresses_left("Max address space   unlimited   unlimited   bytes\n", "VmSize: 1 kB\n"), None);
        assert_eq!(value("MemTotal: 5 kB\nMemAvailable:   77 kB\n", "MemAvailable:"), Some(77));
    }
}
