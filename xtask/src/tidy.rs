//! stub
use crate::workspace::Workspace;
use anyhow::Result;
/// stub
pub fn run(_w: &Workspace) -> Result<()> {
    Ok(())
}
