//! Tests inventories with and without a GPU, as text and as JSON.

use super::*;

fn simulator() -> SimulatorEntry {
    SimulatorEntry { workers: 2, memory_bytes: 8 << 30, seed: 0 }
}

fn kernel(module: &'static str, name: &'static str) -> KernelEntry {
    let needs = KernelNeeds {
        registers: 32,
        static_shared_bytes: 2048,
        local_bytes: 0,
        max_threads_per_block: 1024,
        ptx_arch: 90,
        binary_arch: 90,
        block_threads: 256,
        blocks_per_multiprocessor: 8,
        occupancy: 1.0,
    };
    KernelEntry { module, name, family: name, cannot_be_loaded: None, needs: Some(needs) }
}

fn h200() -> GpuEntry {
    let details = GpuDetails {
        cuda_version: Some("13.0".into()),
        multiprocessors: 132,
        warp_size: 32,
        memory_free_bytes: 138 << 30,
        memory_bus_bits: Some(6144),
        memory_clock_mhz: Some(3201),
        clock_mhz: Some(1980),
        l2_bytes: Some(50 << 20),
        shared_bytes_per_block: 48 << 10,
        shared_bytes_per_block_optin: 227 << 10,
        shared_bytes_per_multiprocessor: Some(228 << 10),
        registers_per_block: Some(65536),
        registers_per_multiprocessor: Some(65536),
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: Some(2048),
    };
    let lost = KernelEntry {
        cannot_be_loaded: Some("the driver refuses".into()),
        needs: None,
        ..kernel("gpu::saxpy::monolithic", "saxpy_monolithic")
    };
    GpuEntry {
        ordinal: 0,
        name: "NVIDIA H200".into(),
        compute_capability: "9.0".into(),
        memory_bytes: 140 << 30,
        cannot_be_used: None,
        details: Some(details),
        kernels: vec![kernel("gpu::life::global", "life_global"), kernel("gpu::life::shared", "life_shared"), lost],
    }
}

#[test]
fn without_a_gpu_the_reason_and_the_remedy_are_told() {
    let no_gpu = Some(Absence { reason: "libcuda.so.1 not found".into(), remedy: "install the driver".into() });
    let inventory = Inventory { gpus: vec![], no_gpu, simulator: simulator() };
    let text = inventory.to_string();
    assert!(text.starts_with("no GPU: libcuda.so.1 not found\n  to use one: install the driver\n"), "{text}");
    assert!(text.contains("simulator") && text.contains("8 GiB"), "{text}");
    let object = serde_json::to_value(&inventory).unwrap();
    assert_eq!(object["gpus"], serde_json::json!([]));
    assert_eq!(object["no_gpu"]["remedy"], "install the driver");
    assert_eq!(object["simulator"]["workers"], 2);
}

#[test]
fn a_gpu_is_told_with_its_kernels_by_module() {
    let text = Inventory { gpus: vec![h200()], no_gpu: None, simulator: simulator() }.to_string();
    for part in
        ["GPU 0: NVIDIA H200", "9.0", "132", "140 GiB", "50 MiB", "227 KiB", "65536", "1980 MHz", "6144 bits", "100 %"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("kernels of gpu::life\n").count(), 1, "{text}");
    assert_eq!(text.matches("kernels of gpu::saxpy\n").count(), 1, "{text}");
    assert!(text.contains("saxpy_monolithic    the driver refuses"), "{text}");
}

#[test]
fn instances_of_a_kernel_are_one_row_with_the_worst_of_them() {
    let mut instances = ["sum_f32", "sum_f64"].map(|name| KernelEntry { family: "sum", ..kernel("gpu::sum", name) });
    let needs = instances[1].needs.as_mut().unwrap();
    (needs.registers, needs.blocks_per_multiprocessor, needs.occupancy) = (57, 4, 0.5);
    let text = GpuEntry { kernels: instances.into(), ..h200() }.to_string();
    let row: Vec<&str> = text.lines().find(|line| line.contains("sum (2)")).unwrap().split_whitespace().collect();
    assert_eq!(row, ["sum", "(2)", "57", "2", "KiB", "0", "B", "256", "4", "50", "%"]);
    assert!(text.contains("--json has each") && !text.contains("sum_f64"), "{text}");
    let refused = ["sum_f32", "sum_f64"].map(|name| {
        let reason = Some("the driver refuses".to_owned());
        KernelEntry { family: "sum", cannot_be_loaded: reason, needs: None, ..kernel("gpu::sum", name) }
    });
    let text = GpuEntry { kernels: refused.into(), ..h200() }.to_string();
    assert_eq!(text.matches("the driver refuses").count(), 1, "{text}");
}

#[test]
fn the_object_has_a_gpu_s_details_and_kernels_flat() {
    let object = serde_json::to_value(h200()).unwrap();
    assert_eq!(object["multiprocessors"], 132);
    assert_eq!(object["kernels"][0]["registers"], 32);
    assert_eq!(object["kernels"][2]["cannot_be_loaded"], "the driver refuses");
    assert!(object["kernels"][2].get("registers").is_none());
}

#[test]
fn a_gpu_that_cannot_be_used_says_why() {
    let reason = Some("the driver supports CUDA 10.0, and the kernels need 11.0".into());
    let text = GpuEntry { details: None, kernels: vec![], cannot_be_used: reason, ..h200() }.to_string();
    assert!(text.contains("cannot be used") && text.contains("CUDA 11") || text.contains("need 11.0"), "{text}");
}
