//! Writes sentences that say what the figures of a source line mean.

use units::{grouped, number, short_percent};

use crate::sites::{AccessSite, BranchSite, Kind, Memory, SECTOR};

/// The smallest share that a sentence calls "all".
const NEARLY_ALL: f64 = 0.995;

/// The number of lanes of a warp.
const LANES: f64 = 32.0;

/// Returns a sentence that says what the figures of an access mean.
pub fn of_access(site: &AccessSite) -> String {
    match (site.memory, site.kind) {
        (Memory::Shared, _) => of_shared(site),
        (Memory::Global, Kind::Atomic) => of_atomic(site),
        (Memory::Global, Kind::Load | Kind::Store) => of_global(site),
    }
}

fn of_global(site: &AccessSite) -> String {
    let verb = if site.kind == Kind::Store { "write" } else { "read" };
    let (sectors, ideal) = (site.per_request(), site.ideal_per_request());
    let efficiency = site.efficiency.unwrap_or(1.0);
    let asked = site.traffic.lanes as f64 * f64::from(site.bytes_per_lane);
    let moved = site.traffic.sectors as f64 * SECTOR as f64;
    if efficiency < NEARLY_ALL {
        let used = short_percent(efficiency);
        let touches = format!("each request touches {} sectors where {} would do", number(sectors), number(ideal));
        let sectors_per_lane = sectors / site.lanes_per_request().max(1.0);
        let stride = site.stride.filter(|stride| stride.unsigned_abs() > u64::from(site.bytes_per_lane));
        let why = match stride {
            _ if sectors - ideal <= 1.05
                && site.stride.is_none_or(|stride| stride == i64::from(site.bytes_per_lane)) =>
            {
                format!("the bytes that a warp {verb}s do not begin and end at multiples of {SECTOR} bytes")
            }
            Some(stride) => {
                let own = if sectors_per_lane > 0.95 { ", so that each moves a sector of its own" } else { "" };
                format!("neighbouring lanes {verb} addresses {} bytes apart{own}", stride.unsigned_abs())
            }
            None if sectors_per_lane > 0.95 => "each lane moves a sector of its own".into(),
            None => "between the addresses of a warp's lanes lie bytes that no lane uses".into(),
        };
        return format!("{touches}: {why}; {used} of the bytes moved are used");
    }
    let lanes = site.lanes_per_request();
    if asked > 1.05 * moved {
        let share = if ideal <= 1.0 { "the same few bytes" } else { "some of the same bytes" };
        return format!(
            "lanes of a warp {verb} {share}, which move once: {} of 32 lanes share {} per request",
            number(lanes),
            sector_count(sectors)
        );
    }
    if asked < 0.9 * moved {
        return format!(
            "only {} of 32 lanes take part, but memory moves whole sectors: {} of their bytes are used",
            number(lanes),
            short_percent(asked / moved)
        );
    }
    let idle = if lanes < 0.9 * LANES { format!(" ({} of 32 lanes take part)", number(lanes)) } else { String::new() };
    format!(
        "neighbouring lanes {verb} neighbouring elements{idle}: all bytes moved are used, {} per request",
        sector_count(sectors)
    )
}

fn of_atomic(site: &AccessSite) -> String {
    let lanes = site.lanes_per_request();
    let updates = format!("{} updates in {} requests", grouped(site.traffic.lanes), grouped(site.traffic.requests));
    let who = match lanes < 1.05 {
        true => "one lane of a warp updates for all of them".to_owned(),
        false => {
            let sectors = sector_count(site.per_request());
            format!("{} of 32 lanes update at a time, in {sectors} per request", number(lanes))
        }
    };
    format!("{who}: {updates}; updates of one address wait for each other")
}

fn of_shared(site: &AccessSite) -> String {
    let ways = site.traffic.ways().unwrap_or(1.0);
    let ideal = number(site.ideal_per_request());
    if ways < 1.0 + (1.0 - NEARLY_ALL) {
        let bytes = site.bytes_per_lane;
        let wide = match site.ideal_per_request() > 1.05 {
            true => format!("; {bytes} bytes per lane take {ideal} wavefronts per request even without conflicts"),
            false => String::new(),
        };
        return format!("no bank conflicts: the lanes access different banks, or the same word{wide}");
    }
    if site.kind == Kind::Atomic {
        let found = number(site.per_request());
        return format!(
            "{found} wavefronts per request where {ideal} would do: updates of one word come one after the other"
        );
    }
    let ways_text = format!("{}-way bank conflict", number(ways));
    if site.most_ways >= 32 && ways > 31.0 {
        return format!(
            "{ways_text}: all lanes of a warp access words of one bank, and are served one after the other; rows \
             longer by one element would spread a column over the banks"
        );
    }
    let most = f64::from(site.most_ways);
    let at_most = if most > ways + 0.5 { format!(" on average, {} at most", number(most)) } else { String::new() };
    format!(
        "{ways_text}{at_most}: lanes access different words of one bank, and are served one after the other; padding, \
         or another order of the elements, would spread them over the banks"
    )
}

/// Returns a sentence that says what the figures of a branch mean.
pub fn of_branch(branch: &BranchSite) -> String {
    let taken = branch.taken as f64 / branch.lanes.max(1) as f64;
    match branch.divergent_share {
        0.0 if branch.taken == 0 => "no lane takes it".into(),
        0.0 if branch.taken == branch.lanes => "every lane takes it".into(),
        0.0 => format!("every warp goes one way, {} of the lanes take it: no warp is split", short_percent(taken)),
        share if share > NEARLY_ALL => format!(
            "in every warp some lanes take it and some do not: each way runs while the lanes of the other one wait; {} \
             of the lanes take it",
            short_percent(taken)
        ),
        share => format!(
            "{} of the warps that come here are split: each way runs while the lanes of the other one wait; {} of the \
             lanes take it",
            short_percent(share),
            short_percent(taken)
        ),
    }
}

/// Returns a number of sectors as text, such as `1 sector` or `4 sectors`.
fn sector_count(sectors: f64) -> String {
    let text = number(sectors);
    if text == "1" { "1 sector".into() } else { format!("{text} sectors") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::{SourceSite, Traffic};

    fn site(memory: Memory, kind: Kind, bytes_per_lane: u32, traffic: Traffic) -> AccessSite {
        let place = SourceSite { file: "gpu/src/a.rs".into(), line: 1, column: 1, source: None };
        let efficiency = match memory {
            Memory::Global => traffic.efficiency(),
            Memory::Shared => traffic.ways().map(f64::recip),
        };
        let arrays = vec!["x"];
        let (bytes_moved, seconds, meaning, most_ways, stride) = (0, 0.0, String::new(), 0, None);
        AccessSite {
            place,
            memory,
            kind,
            arrays,
            bytes_per_lane,
            traffic,
            most_ways,
            stride,
            bytes_moved,
            efficiency,
            seconds,
            meaning,
        }
    }

    fn global(kind: Kind, bytes: u32, lanes: u64, sectors: u64, ideal_sectors: u64) -> AccessSite {
        let traffic = Traffic { requests: 10, lanes: 10 * lanes, sectors, ideal_sectors, ..Traffic::default() };
        site(Memory::Global, kind, bytes, traffic)
    }

    fn shared(kind: Kind, bytes: u32, wavefronts: u64, ideal_wavefronts: u64, most_ways: u32) -> AccessSite {
        let traffic = Traffic { requests: 10, lanes: 320, wavefronts, ideal_wavefronts, ..Traffic::default() };
        AccessSite { most_ways, ..site(Memory::Shared, kind, bytes, traffic) }
    }

    #[track_caller]
    fn assert_says(site: &AccessSite, parts: &[&str]) {
        let text = of_access(site);
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }

    #[test]
    fn global_accesses() {
        let strided = AccessSite { stride: Some(4096), ..global(Kind::Store, 4, 32, 320, 40) };
        let parts = ["32 sectors where 4 would do", "lanes write addresses 4096 bytes apart", "its own", "12.5 %"];
        assert_says(&strided, &parts);
        let every_second = AccessSite { stride: Some(8), ..global(Kind::Load, 4, 32, 80, 40) };
        assert_says(&every_second, &["8 sectors where 4 would do", "lanes read addresses 8 bytes apart; 50 %"]);
        assert_says(
            &global(Kind::Load, 4, 32, 320, 40),
            &["32 sectors where 4", "each lane moves a sector of its own"],
        );
        assert_says(&global(Kind::Load, 4, 32, 120, 40), &["12 sectors where 4", "bytes that no lane uses"]);
        let misaligned = AccessSite { stride: Some(4), ..global(Kind::Load, 4, 32, 50, 40) };
        assert_says(&misaligned, &["5 sectors where 4 would do", "begin and end at multiples of 32 bytes", "80 %"]);
        assert_says(
            &global(Kind::Load, 4, 32, 40, 40),
            &["neighbouring lanes read", "all bytes", "4 sectors per request"],
        );
        assert_says(&global(Kind::Load, 16, 16, 80, 80), &["(16 of 32 lanes take part)", "8 sectors per request"]);
        assert_says(&global(Kind::Load, 4, 32, 10, 10), &["the same few bytes", "share 1 sector per request"]);
        assert_says(&global(Kind::Store, 4, 1, 10, 10), &["only 1 of 32 lanes", "12.5 % of their bytes"]);
        assert_says(&global(Kind::Atomic, 4, 1, 10, 10), &["one lane of a warp updates", "10 updates in 10 requests"]);
        assert_says(&global(Kind::Atomic, 4, 32, 40, 40), &["32 of 32 lanes update at a time", "4 sectors"]);
    }

    #[test]
    fn shared_accesses() {
        assert_says(&shared(Kind::Load, 4, 10, 10, 1), &["no bank conflicts"]);
        assert_says(&shared(Kind::Load, 16, 40, 40, 4), &["no bank conflicts", "16 bytes per lane take 4 wavefronts"]);
        assert_says(&shared(Kind::Load, 4, 320, 10, 32), &["32-way bank conflict: all lanes", "longer by one element"]);
        assert_says(&shared(Kind::Store, 4, 25, 10, 4), &["2.5-way bank conflict on average, 4 at most", "padding"]);
        assert_says(&shared(Kind::Store, 4, 20, 10, 2), &["2-way bank conflict: lanes access different words"]);
        assert_says(&shared(Kind::Atomic, 4, 320, 10, 32), &["32 wavefronts per request where 1 would do", "one word"]);
    }

    #[test]
    fn branches() {
        let place = SourceSite { file: "a.rs".into(), line: 1, column: 1, source: None };
        let branch = |divergent, taken| {
            let (executions, lanes) = (10, 320);
            let divergent_share = divergent as f64 / 10.0;
            let meaning = String::new();
            of_branch(&BranchSite {
                place: place.clone(),
                executions,
                divergent,
                lanes,
                taken,
                divergent_share,
                meaning,
            })
        };
        assert_eq!(branch(0, 0), "no lane takes it");
        assert_eq!(branch(0, 320), "every lane takes it");
        assert!(branch(0, 160).contains("every warp goes one way, 50 % of the lanes"));
        assert!(branch(10, 160).starts_with("in every warp some lanes take it and some do not"));
        assert!(branch(1, 316).starts_with("10 % of the warps that come here are split"));
    }
}
