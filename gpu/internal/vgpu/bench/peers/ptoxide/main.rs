//! One job of memwall's benchmark on ptoxide: prints a line of JSON with the CPU time of one run.
//!
//! Usage: memwall-peer-ptoxide SGEMM.ptx JOB…: the PTX that memwall itself executes, less what ptoxide does not parse:
//! .maxntid, .loc, .file and the .nc of loads.
//! ptoxide has no f16, shuffles or exponentials, so that sgemm is the only job it can do.

use ptoxide::{Argument, Context, LaunchParams};

const N: usize = 256;

extern "C" {
    fn clock() -> std::os::raw::c_long; // CPU time of the process in microseconds (POSIX)
}

fn cpu_ms() -> f64 {
    unsafe { clock() as f64 / 1e3 }
}

/// Numbers between -1 and 1, always the same.
fn numbers(count: usize, mut seed: u64) -> Vec<f32> {
    (0..count)
        .map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

fn sgemm(ptx: &str) -> Result<f64, String> {
    let mut context = Context::new_with_module(ptx).map_err(|e| format!("{e:?}"))?;
    let (a, b) = (numbers(N * N, 1), numbers(N * N, 2));
    let (da, db, dc) = (context.alloc(N * N), context.alloc(N * N), context.alloc(N * N));
    context.write(da, &a);
    context.write(db, &b);
    let side = (N / 16) as u32;
    let arguments = [Argument::ptr(dc), Argument::ptr(da), Argument::ptr(db), Argument::U32(N as u32)];
    let start = cpu_ms();
    context.run(LaunchParams::func_id(0).grid2d(side, side).block2d(16, 16), &arguments).map_err(|e| format!("{e:?}"))?;
    let used = cpu_ms() - start;
    let mut c = vec![0f32; N * N];
    context.read(dc, &mut c);
    for i in 0..N {
        for j in 0..N {
            let (mut want, mut scale) = (0f64, 0f64);
            for k in 0..N {
                let p = a[i * N + k] as f64 * b[k * N + j] as f64;
                want += p;
                scale += p.abs();
            }
            let distance = (c[i * N + j] as f64 - want).abs();
            if !(distance <= N as f64 * scale / 16777216.0) {
                return Err(format!("C[{i},{j}] is {}, the float64 reference {want}", c[i * N + j]));
            }
        }
    }
    Ok(used)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&arguments[1]).expect("PTX file");
    let unknown = |l: &str| [".maxntid", ".loc", ".file"].iter().any(|d| l.trim_start().starts_with(d));
    let ptx: String = text.lines().filter(|l| !unknown(l)).map(|l| l.replace("ld.global.nc", "ld.global") + "\n").collect();
    for job in &arguments[2..] {
        let result = match job.as_str() {
            "sgemm" => std::panic::catch_unwind(|| sgemm(&ptx)).unwrap_or_else(|_| Err("it panics".to_string())),
            _ => Err("ptoxide has no f16, no shuffles and no exponential".to_string()),
        };
        match result {
            Ok(ms) => println!("{{\"job\": \"{job}\", \"cpu_ms\": {ms}, \"size\": {N}}}"),
            Err(e) => println!("{{\"job\": \"{job}\", \"error\": {e:?}}}"),
        }
    }
}
